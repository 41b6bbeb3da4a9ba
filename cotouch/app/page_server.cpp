#include <cotouch/app/page_server.h>
#include <cotouch/app/web_folder.h>
#include <cotouch/base/error.h>
#include <cotouch/experiment/viewer_pictures.h>
#include <cotouch/serve/access.h>

#include <fmt/format.h>
#include <spawn.h>

#include <cstdio>
#include <utility>

extern char** environ;

namespace cotouch {
namespace {

constexpr std::uint16_t k_usual_port = 7117;

PageFiles built_page(const std::filesystem::path& given) {
  const std::filesystem::path web = web_folder(given);
  if (!web.empty()) return PageFiles(web);
  fmt::print(stderr,
             "The page is not built, so there is nothing to look at; run `./dev demo`, or name its folder with "
             "--web.\n");
  return {};
}

std::unique_ptr<HttpServer> open_server(const PageOptions& options, PageFiles page) {
  ServerSettings settings;
  settings.listen = options.listen;
  settings.names = options.hosts;
  settings.port = options.port >= 0 ? static_cast<std::uint16_t>(options.port) : k_usual_port;
  if (options.port >= 0) return std::make_unique<HttpServer>(settings, std::move(page));
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

PageServer::PageServer(PageOptions options)
    : options_(std::move(options)),
      state_(state_folder()),
      identity_(state_),
      server_(open_server(options_, built_page(options_.web))),
      library_(state_ / "scenes", draw_thumbnail) {
}

PageServer::~PageServer() {
  stop();
}

Session& PageServer::make_session(SessionSettings settings, std::string& no_spacemouse) {
  settings.recordings = state_ / "recordings";
  settings.sharing.identity = identity_.file();
  settings.sharing.received = state_ / "received";
  session_ = std::make_unique<Session>(std::move(settings), library_, SpaceMouse::open(no_spacemouse));
  PageHostSettings host;
  host.version = "cotouch " + version();
  host.draw_summary = [](const RecordingSummary& summary) { return to_svg(plot_summary(summary)); };
  host_ = std::make_unique<PageHost>(std::move(host), *session_, *server_);
  server_->set_token(kept_token(state_, server_->port()));
  return *session_;
}

void PageServer::start() {
  session_->start();
  server_->start(*host_, *host_);
  if (options_.open) open_in_browser(address());
}

bool PageServer::is_open_to_others() const {
  return options_.listen != "127.0.0.1" && options_.listen != "::1";
}

// Viewers leave before what serves them does.
void PageServer::stop() {
  server_->stop();
  if (session_) session_->stop();
}

}  // namespace cotouch
