// `cotouch host`, `join` and `observe`.
#include <cotouch/app/command.h>
#include <cotouch/app/headless_peer.h>
#include <cotouch/app/own_identity.h>
#include <cotouch/app/page_server.h>
#include <cotouch/app/progress_bar.h>
#include <cotouch/app/say.h>
#include <cotouch/app/scene_argument.h>
#include <cotouch/app/sharing_report.h>
#include <cotouch/app/web_folder.h>
#include <cotouch/base/error.h>
#include <cotouch/base/file.h>
#include <cotouch/base/hash.h>
#include <cotouch/net/invite.h>
#include <cotouch/net/resolve.h>

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <ctime>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

namespace cotouch {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr std::uint16_t k_usual_udp_port = 7117;
constexpr auto k_look_interval = std::chrono::milliseconds(20);
// An orderly end takes a second at most; then the others notice by themselves.
constexpr auto k_longest_leaving = std::chrono::milliseconds(1500);

std::uint64_t unix_now() {
  return static_cast<std::uint64_t>(std::time(nullptr));
}

std::string own_name(const ShareCommand& command) {
  if (!command.name.empty()) return command.name;
  const char* user = std::getenv("USER");
  return user != nullptr && *user != '\0' ? user : "guest";
}

// The invite alone, of what people paste: a whole command, in quotes, broken over lines.
std::string invite_in(std::string text) {
  const std::size_t begin = text.find("cotouch:");
  if (begin == std::string::npos) return text;  // reading it says what is wrong
  text.erase(0, begin);
  std::erase_if(text, [](char c) { return c == '\n' || c == '\r'; });
  return text.substr(0, text.find_first_of(" \t\"'`<>"));
}

// One that is free, so that a host can say which. Throws Error if the wanted port is taken; the usual one is only a
// suggestion, unless others are told an address that leads to it.
std::uint16_t udp_port(const ShareCommand& command) {
  UdpSettings settings;
  settings.port = command.udp_port >= 0 ? static_cast<std::uint16_t>(command.udp_port) : k_usual_udp_port;
  try {
    return UdpSocket(settings).port();
  } catch (const Error& error) {
    if (command.udp_port < 0 && command.advertise.empty()) return UdpSocket().port();
    const char* cure = command.advertise.empty()
                           ? "Say which with --udp-port."
                           : "Say which with --udp-port, and let the addresses of --advertise lead there.";
    throw Error(fmt::format("{} {}", error.what(), cure), error.code());
  }
}

SharedSessionSettings settings_of(const ShareCommand& command) {
  const bool hosts = command.invite.empty();
  SharedSessionSettings settings;
  settings.name = own_name(command);
  if (hosts || command.udp_port > 0) settings.udp.port = udp_port(command);
  settings.peer.patience_alone *= command.patience / settings.peer.patience;
  settings.peer.patience = command.patience;
  for (const std::string& text : command.advertise) settings.advertised.push_back(resolve(text));
  if (settings.advertised.size() > Invite::k_most_addresses)
    throw Error(fmt::format("--advertise takes up to {} addresses.", Invite::k_most_addresses),
                ErrorCode::invalid_argument);
  if (command.expires > 0)
    settings.invite_expires = static_cast<std::uint32_t>(static_cast<double>(unix_now()) + 60 * command.expires);
  return settings;
}

SharingReport::Form form_of(const ShareCommand& command, const SharedSessionSettings& settings) {
  return {command.json, command.qr || (!command.json && ::isatty(STDOUT_FILENO) == 1), settings.udp.port};
}

// What has not happened that was to, in a sentence; empty if all has.
std::string missing(const ShareCommand& command, const SharingReport& report) {
  const std::string when =
      command.seconds > 0 ? fmt::format(" within {:g} s (--seconds).", command.seconds) : " before the end.";
  if (!report.was_shared()) return (command.invite.empty() ? "The scene was not shared" : "Nobody let you in") + when;
  return command.until_docked && !report.is_docked() ? "The scene's task was not done" + when : "";
}

// Prints what happens until Ctrl-C, until the time is up or there is nothing more to wait for. Returns what is missing.
std::string watch(const ShareCommand& command, SharingInbox& inbox, SharingReport& report) {
  const auto end = Clock::now() + std::chrono::duration<double>(command.seconds);
  while (!interrupted() && (command.seconds <= 0 || Clock::now() < end)) {
    inbox.deliver(report);
    if (command.headless && report.is_over()) break;  // a page may go on alone, or share again
    if (command.until_docked && report.is_docked()) break;
    if (!report.failure().empty() && (command.headless || !report.was_shared())) throw Error(report.failure());
    std::this_thread::sleep_for(k_look_interval);
  }
  return missing(command, report);
}

// Once all is left in order: throws what gives the exit code.
void check_nothing_missing(const std::string& missing) {
  if (missing.empty()) return;
  if (interrupted()) throw Cancelled();
  throw Error(missing);
}

// ------------------------------------------------------------------------------------------------ without a page

void run_headless(const ShareCommand& command, SharedSessionSettings settings) {
  const fs::path state = state_folder();
  const OwnIdentity identity(state);
  settings.identity = identity.file();
  settings.received = state / "received";
  FolderLibrary library(state / "scenes", nullptr);
  std::optional<Scene> scene;
  if (command.invite.empty()) {
    ProgressBar bar(command.json);
    scene = load_scene(command.scene, library, bar);
  }
  SharingInbox inbox;
  SharingReport report(form_of(command, settings));
  HeadlessPeer peer(settings, library, inbox, command.hand == "scripted");
  if (scene) {
    FeelSettings feel;
    feel.contact_stiffness = scene->contact_stiffness;
    peer.session().host(std::move(*scene), feel);
  } else {
    peer.session().join(command.invite);
  }
  const std::string missing = watch(command, inbox, report);
  peer.session().leave();
  inbox.deliver(report);
  report.end(peer.session().agreed());
  check_nothing_missing(missing);
}

// ------------------------------------------------------------------------------------------------ with a page

// Passes on what a session tells about sharing.
class PageSharing final : public SessionListener {
 public:
  explicit PageSharing(SharingInbox& inbox) : inbox_(inbox) {}

  AgreedTick last_agreed() const {
    const std::scoped_lock lock(mutex_);
    return last_;
  }

 private:
  void sharing_changed(const SharingStatus& sharing) override {
    inbox_.post([sharing](SharingReport& report) { report.sharing(sharing); });
  }
  void peers_changed(const PeersView& peers) override {
    std::vector<SharedPerson> people;
    std::string key;  // of who is there
    for (const PeerView& peer : peers.peers) {
      people.push_back({static_cast<MemberId>(peer.peer), peer.name, peer.self, peer.observer, peer.fingerprint});
      key += fmt::format("{} {} {}\n", peer.peer, peer.fingerprint, peer.name);
    }
    if (key == std::exchange(key_, key)) return;
    inbox_.post([people = std::move(people)](SharingReport& report) { report.people(people); });
  }
  void agreed(const AgreedTick& now) override {
    if (agreed_.takes(now)) inbox_.post([now](SharingReport& report) { report.agreed(now); });
    const std::scoped_lock lock(mutex_);
    last_ = now;
  }
  void problem(ParticipantId whom, const std::string& reason) override {
    if (whom == ParticipantId::nobody) inbox_.post([reason](SharingReport& report) { report.problem(reason); });
  }

  SharingInbox& inbox_;
  std::string key_;
  AgreedNews agreed_;
  mutable std::mutex mutex_;
  AgreedTick last_;
};

// Declared after what listens to the session, so that it is told nothing any more when it goes.
struct Stopped {
  PageServer& server;
  ~Stopped() { server.stop(); }
};

// Leaves, and waits until the others know.
void leave(Session& session, ParticipantId self, SharingInbox& inbox, SharingReport& report) {
  session.command(self, LeaveSharing{});
  for (const auto end = Clock::now() + k_longest_leaving; !report.is_over() && Clock::now() < end;) {
    inbox.deliver(report);
    std::this_thread::sleep_for(k_look_interval);
  }
}

void run_with_page(const ShareCommand& command, const SharedSessionSettings& settings) {
  OpenedDevices devices = open_devices(command.devices);
  PageServer server(command.page);
  std::optional<OpenedScene> opened;
  if (command.invite.empty()) {
    ProgressBar bar(command.json);
    opened = open_scene(command.scene, server.library(), bar);
  }
  SharingInbox inbox;
  SharingReport report(form_of(command, settings));
  PageSharing sharing(inbox);
  SessionSettings session_settings;
  session_settings.sharing = settings;
  const std::string no_spacemouse = devices.no_spacemouse;
  Session& session = server.make_session(std::move(session_settings), std::move(devices));
  session.add_listener(sharing);
  const Stopped stopped{server};
  const ParticipantId self = session.join(ParticipantKind::program, "cotouch " + std::string(opened ? "host" : "join"));
  if (!command.json && opened) say(opened->scene.title + ": " + opened->scene.summary);
  if (!command.json && !no_spacemouse.empty()) say(no_spacemouse);
  const bool hosts = opened.has_value();
  server.start(self, std::move(opened));
  const CommandResult result = hosts ? session.command_and_wait(self, StartSharing{settings.name})
                                     : session.command_and_wait(self, JoinSharing{command.invite, settings.name});
  if (!result.done()) throw Error(result.reason);
  report.page(server.address());
  if (!command.json)
    if (const std::string others = server.for_others(false); !others.empty()) say(others);
  const std::string missing = watch(command, inbox, report);
  if (report.failure().empty() && !report.is_over()) leave(session, self, inbox, report);
  report.end(sharing.last_agreed());
  check_nothing_missing(missing);
}

void share(const ShareCommand& command) {
  catch_interrupts();
  catch_closed_output();
  if (command.headless && !command.devices.empty())
    throw Error("A device takes part together with a page: leave out --headless.", ErrorCode::invalid_argument);
  const SharedSessionSettings settings = settings_of(command);
  if (command.headless)
    run_headless(command, settings);
  else
    run_with_page(command, settings);
}

}  // namespace

void run_host(const ShareCommand& command) {
  share(command);
}

void run_join(const ShareCommand& given) {
  ShareCommand command = given;
  command.invite = invite_in(given.invite);
  parse_invite(command.invite, unix_now());  // what is wrong with it is known before anything is opened
  share(command);
}

void run_observe(const ShareCommand& given) {
  catch_interrupts();
  catch_closed_output();
  if (!given.journal.empty()) check_writable(given.journal);
  ShareCommand command = given;
  command.headless = true;
  command.invite = invite_in(given.invite);
  if (command.name.empty()) command.name = "observer";
  const SessionId session = parse_invite(command.invite, unix_now()).session();
  SharedSessionSettings settings = settings_of(command);
  settings.observer = true;
  settings.journal = command.journal;
  if (settings.journal.empty()) {
    settings.journal = state_folder() / "journals" / (hex(hash_bytes(session)) + ".journal");
    std::error_code ignored;  // opening says what is wrong
    fs::create_directories(settings.journal.parent_path(), ignored);
  }
  if (!command.json) say("The journal is " + settings.journal.string() + ".");
  run_headless(command, settings);
}

}  // namespace cotouch
