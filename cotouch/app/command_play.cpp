#include <cotouch/app/command.h>
#include <cotouch/app/page_server.h>
#include <cotouch/app/progress_bar.h>
#include <cotouch/app/say.h>
#include <cotouch/app/scene_argument.h>

#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <thread>

namespace cotouch {

void run_play(const PlayCommand& command) {
  catch_interrupts();
  PageServer server(command.page);
  ProgressBar bar;
  Scene scene = load_scene(command.scene, server.library(), bar);
  bar.clear();

  std::string no_spacemouse;
  Session& session = server.make_session({}, no_spacemouse);
  say(scene.title + ": " + scene.summary);
  if (!no_spacemouse.empty()) fmt::print("{}\n", no_spacemouse);
  session.command(session.join(ParticipantKind::program, "cotouch play"), ShowScene{std::move(scene)});
  server.start();
  if (server.is_open_to_others())
    fmt::print("Other machines can reach this; whoever has the address can move things and upload files.\n");
  fmt::print("Ctrl-C stops. Open:\n{}\n", server.address());
  std::fflush(stdout);

  while (!interrupted()) std::this_thread::sleep_for(std::chrono::milliseconds(50));
  server.stop();
  fmt::print("\nStopped.\n");
}

}  // namespace cotouch
