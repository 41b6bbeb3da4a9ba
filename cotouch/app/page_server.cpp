#include <cotouch/app/page_server.h>
#include <cotouch/app/progress_bar.h>
#include <cotouch/app/qr_code.h>
#include <cotouch/app/web_folder.h>
#include <cotouch/base/error.h>
#include <cotouch/experiment/viewer_pictures.h>
#include <cotouch/net/resolve.h>
#include <cotouch/serve/access.h>

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <future>
#include <utility>

extern char** environ;

namespace cotouch {
namespace {

constexpr std::uint16_t k_usual_port = 7117;
constexpr UnixSeconds k_printed_link_lasts = 12 * 3600;

PageFiles built_page(const std::filesystem::path& given) {
  const std::filesystem::path web = web_folder(given);
  if (!web.empty()) return PageFiles(web);
  fmt::print(stderr,
             "The page is not built, so there is nothing to look at; run `./dev demo`, or name its folder with "
             "--web.\n");
  return {};
}

std::unique_ptr<HttpServer> open_server(const PageOptions& options, PageFiles page,
                                        const std::filesystem::path& state) {
  ServerSettings settings;
  settings.spool = state / "uploads";
  settings.listen = options.listen;
  settings.names = options.hosts;
  if (options.tls.size() == 2) {
    settings.certificate = options.tls[0];
    settings.key = options.tls[1];
  }
  // Browsers keep what a page leaves (service workers, cached files) for the next one at the same port, whoever served
  // it. So it is another port each time, which nobody else at this machine could have had before us.
  const bool usual = options.port < 0 && options.keep_address;
  settings.port = usual ? k_usual_port : static_cast<std::uint16_t>(std::max(0, options.port));
  if (!usual) return std::make_unique<HttpServer>(settings, std::move(page));
  try {
    return std::make_unique<HttpServer>(settings, page);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::io) throw;
    settings.port = 0;  // another cotouch has the usual one
    return std::make_unique<HttpServer>(settings, std::move(page));
  }
}

// Only this user can read it, and it does not follow a link that somebody put there.
bool write_private(const std::filesystem::path& file, const std::string& text) {
  ::unlink(file.c_str());
  const int fd = ::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (fd < 0) return false;
  const bool written = ::write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  return ::close(fd) == 0 && written;
}

bool is_loopback(const std::string& listen) {
  return listen == "::1" || listen.starts_with("127.");
}

}  // namespace

PageServer::PageServer(PageOptions options)
    : options_(std::move(options)),
      state_(state_folder()),
      identity_(state_),
      server_(open_server(options_, built_page(options_.web), state_)),
      library_(state_ / "scenes", draw_thumbnail) {
}

PageServer::~PageServer() {
  stop();
}

Session& PageServer::make_session(SessionSettings settings, OpenedDevices devices) {
  settings.recordings = state_ / "recordings";
  settings.sharing.identity = identity_.file();
  settings.sharing.received = state_ / "received";
  session_ =
      std::make_unique<Session>(std::move(settings), library_, std::move(devices.devices), std::move(devices.missing));
  PageHostSettings host;
  host.version = "cotouch " + version();
  host.origins = origins_for_others(options_.listen, server_->port(), !options_.tls.empty());
  host.draw_summary = [](const RecordingSummary& summary) { return to_svg(plot_summary(summary)); };
  links_ = std::make_unique<LinkBook>(options_.keep_address ? kept_token(state_, server_->port()) : make_token());
  host_ = std::make_unique<PageHost>(std::move(host), *session_, *server_, *links_);
  return *session_;
}

void PageServer::start(ParticipantId who, std::optional<OpenedScene> opened) {
  session_->start();
  if (opened) {
    // However long that takes, unless somebody stops it: large parts are drawn anew.
    const auto answer = std::make_shared<std::promise<CommandResult>>();
    std::future<CommandResult> shown = answer->get_future();
    session_->command(who, ShowScene{std::move(opened->scene), std::move(opened->place)},
                      [answer](const CommandResult& result) { answer->set_value(result); });
    while (shown.wait_for(std::chrono::milliseconds(50)) != std::future_status::ready)
      if (interrupted()) throw Cancelled();
    if (const CommandResult result = shown.get(); !result.done()) throw Error(result.reason);
  }
  server_->start(*host_, *host_, *links_);
  if (options_.open) open_in_browser();
}

// The address holds a secret, and everybody at this machine sees what programs are started with. So the browser is sent
// to a file that only this user can read, which sends it on.
void PageServer::open_in_browser() {
  const std::filesystem::path file = state_ / fmt::format("open-{}.html", server_->port());
  const std::string text = fmt::format(
      "<!doctype html><meta charset=\"utf-8\"><meta name=\"referrer\" content=\"no-referrer\"><title>cotouch</title>"
      "<script>location.replace(\"{0}\")</script><p><a href=\"{0}\">Open cotouch</a></p>\n",
      address());
  if (!write_private(file, text)) {
    fmt::print(stderr, "Cannot write {} for the browser; open the address below.\n", file.string());
    return;
  }
  doorway_ = file;
  std::string program = "xdg-open", argument = file.string();
  char* arguments[] = {program.data(), argument.data(), nullptr};
  pid_t child = 0;
  // The browser may live longer than we do: it must not keep our port, and has no business with our files.
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1);
  const int error = ::posix_spawnp(&child, program.c_str(), &actions, nullptr, arguments, environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (error != 0)
    fmt::print(stderr, "Cannot open a browser by itself (xdg-open is missing); open the address below.\n");
}

std::vector<std::string> origins_for_others(const std::string& listen, std::uint16_t port, bool tls) {
  if (is_loopback(listen)) return {};
  std::vector<std::string> origins;
  if (listen != "0.0.0.0" && listen != "::") return {origin_of(tls, listen, port)};
  for (const NetAddress& address : local_addresses(port)) {
    if (listen == "0.0.0.0" && address.is_v6()) continue;
    origins.push_back(std::string(tls ? "https://" : "http://").append(address.text()));
  }
  return origins;
}

std::string PageServer::for_others(bool with_code) {
  if (is_loopback(options_.listen)) return {};
  std::string text =
      options_.tls.empty()
          ? "Other machines can reach this, and nothing is encrypted: whoever can listen to the network between sees "
            "all, "
            "and can take part as whoever is there. Use it only in a network you trust, or give a certificate with "
            "--tls.\n"
          : "Other machines can reach this, encrypted.\n";
  const std::vector<std::string> origins = origins_for_others(options_.listen, server_->port(), !options_.tls.empty());
  const UnixSeconds now = unix_seconds();
  const PageLink link = links_->add(Rights::hand, "Printed at the start", now + k_printed_link_lasts, now);
  text += "A colleague opens this to hold and move things, for 12 hours (the page's Settings make and revoke links):";
  for (const std::string& origin : origins) text.append("\n  ").append(address_with(origin, link.token));
  if (with_code) text.append("\n").append(qr_code(address_with(origins.front(), link.token)));
  return text;
}

// Viewers leave before what serves them does.
void PageServer::stop() {
  server_->stop();
  if (!doorway_.empty()) ::unlink(doorway_.c_str());
  if (!session_) return;
  session_->stop();
  if (const std::string lost = session_->lost(); !lost.empty() && !std::exchange(told_lost_, true))
    fmt::print(stderr, "What was changed and not saved is lost, for it could not be kept: {}\n", lost);
}

}  // namespace cotouch
