#include <cotouch/app/command.h>
#include <cotouch/app/progress_bar.h>
#include <cotouch/app/say.h>
#include <cotouch/app/scene_argument.h>
#include <cotouch/app/web_folder.h>
#include <cotouch/base/error.h>
#include <cotouch/experiment/viewer_pictures.h>
#include <cotouch/serve/access.h>
#include <cotouch/serve/page_host.h>

#include <fmt/format.h>
#include <spawn.h>

#include <chrono>
#include <cstdio>
#include <thread>

extern char** environ;

namespace cotouch {
namespace {

constexpr std::uint16_t k_usual_port = 7117;

std::unique_ptr<HttpServer> open_server(const PlayCommand& command, PageFiles page) {
  ServerSettings settings;
  settings.listen = command.listen;
  settings.names = command.hosts;
  settings.port = command.port >= 0 ? static_cast<std::uint16_t>(command.port) : k_usual_port;
  if (command.port >= 0) return std::make_unique<HttpServer>(settings, std::move(page));
  try {
    return std::make_unique<HttpServer>(settings, page);
  } catch (const Error&) {
    settings.port = 0;  // another cotouch has the usual one
    return std::make_unique<HttpServer>(settings, std::move(page));
  }
}

void open_in_browser(const std::string& address) {
  std::string program = "xdg-open", argument = address;
  char* arguments[] = {program.data(), argument.data(), nullptr};
  pid_t child = 0;
  if (::posix_spawnp(&child, program.c_str(), nullptr, nullptr, arguments, environ) != 0)
    fmt::print(stderr, "Cannot open a browser by itself (xdg-open is missing); open the address below.\n");
}

}  // namespace

void run_play(const PlayCommand& command) {
  catch_interrupts();
  const std::filesystem::path web = web_folder(command.web);
  PageFiles page;
  if (web.empty())
    fmt::print(
        stderr,
        "The page is not built, so there is nothing to look at; run `./dev demo`, or name its folder with --web.\n");
  else
    page = PageFiles(web);
  const std::filesystem::path state = state_folder();
  // Before the scene, which may take a while: an address that cannot be had is known at once.
  const std::unique_ptr<HttpServer> server = open_server(command, std::move(page));
  FolderLibrary library(state / "scenes", draw_thumbnail);
  ProgressBar bar;
  Scene scene = load_scene(command.scene, library, bar);
  bar.clear();

  std::string no_spacemouse;
  SessionSettings session_settings;
  session_settings.recordings = state / "recordings";
  session_settings.sharing.identity = state / "identity";
  session_settings.sharing.received = state / "received";
  Session session(session_settings, library, SpaceMouse::open(no_spacemouse));
  PageHostSettings settings;
  settings.version = "cotouch " + version();
  settings.draw_summary = [](const RecordingSummary& summary) { return to_svg(plot_summary(summary)); };
  PageHost host(settings, session, *server);
  const Closing closing{*server};
  server->set_token(kept_token(state, server->port()));
  say(scene.title + ": " + scene.summary);
  if (!no_spacemouse.empty()) fmt::print("{}\n", no_spacemouse);
  session.command(session.join(ParticipantKind::program, "cotouch play"), ShowScene{std::move(scene)});
  session.start();
  server->start(host, host);
  if (command.listen != "127.0.0.1" && command.listen != "::1")
    fmt::print("Other machines can reach this; whoever has the address can move things and upload files.\n");
  if (command.open) open_in_browser(server->address());
  fmt::print("Ctrl-C stops. Open:\n{}\n", server->address());
  std::fflush(stdout);

  while (!interrupted()) std::this_thread::sleep_for(std::chrono::milliseconds(50));
  server->stop();
  session.stop();
  fmt::print("\nStopped.\n");
}

}  // namespace cotouch
