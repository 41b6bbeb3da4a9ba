#include <cotouch/app/command.h>
#include <cotouch/app/page_server.h>
#include <cotouch/app/progress_bar.h>
#include <cotouch/app/say.h>
#include <cotouch/app/scene_argument.h>
#include <cotouch/app/web_folder.h>

#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <thread>

namespace cotouch {

void run_play(const PlayCommand& command) {
  catch_interrupts();
  catch_closed_output();
  PageServer server(command.page);
  ProgressBar bar;
  Scene scene = load_scene(command.scene, server.library(), bar);
  bar.clear();

  std::string no_spacemouse;
  Session& session = server.make_session({}, no_spacemouse);
  say(scene.title + ": " + scene.summary);
  if (!no_spacemouse.empty()) say(no_spacemouse);
  std::error_code ignored;
  if (command.scene.empty() && std::filesystem::exists(state_folder() / "scenes" / k_unsaved_scene, ignored))
    say("What was changed and not saved is in the gallery, or: cotouch play " + std::string(k_unsaved_scene));
  server.start(session.join(ParticipantKind::program, "cotouch play"), std::move(scene));
  // Not by say(), which would take the code's colours away; nothing of a stranger's file is in it.
  if (const std::string others = server.for_others(::isatty(STDOUT_FILENO) == 1); !others.empty())
    std::puts(others.c_str());
  say("Ctrl-C stops. Open, at this machine and for nobody else:\n" + server.address());
  std::fflush(stdout);

  while (!interrupted()) std::this_thread::sleep_for(std::chrono::milliseconds(50));
  server.stop();
  say("\nStopped.");
}

}  // namespace cotouch
