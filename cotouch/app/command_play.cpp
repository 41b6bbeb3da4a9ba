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
  OpenedDevices devices = open_devices(command.devices);
  PageServer server(command.page);
  OpenedScene opened = [&] {
    ProgressBar bar;  // gone with the reading: what is done after Ctrl-C is not to end on the way
    return open_scene(command.scene, server.library(), bar);
  }();

  const std::string no_spacemouse = devices.no_spacemouse;
  Session& session = server.make_session({}, std::move(devices));
  say(opened.scene.title + ": " + opened.scene.summary);
  if (!no_spacemouse.empty()) say(no_spacemouse);
  if (command.scene.empty() && !server.library().unsaved().empty())
    say("What was changed and not saved is in the gallery; the newest of it is: cotouch play " +
        std::string(k_unsaved_scene));
  server.start(session.join(ParticipantKind::program, "cotouch play"), std::move(opened));
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
