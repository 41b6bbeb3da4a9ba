// One program's part in a session over the network: the thread that drives a SharedPeer with a real clock, a real
// network and a real world, and everything around it: hosting, joining, fetching the scene, handing out snapshots,
// coming back after being cut off, recording and the journal.
//
// Others leave it wishes from any thread; it tells what happens through its listener, on its own thread.
#pragma once

#include <cotouch/session/journal.h>
#include <cotouch/session/peer_network.h>
#include <cotouch/session/running_world.h>
#include <cotouch/session/scene_library.h>
#include <cotouch/session/shared_peer.h>
#include <cotouch/session/sharing.h>
#include <cotouch/session/world_runner.h>

#include <atomic>
#include <filesystem>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace cotouch {

struct SharedSessionSettings {
  std::string name;                // of the person here, for the others
  bool observer = false;           // no hand, no display
  std::filesystem::path identity;  // file of the identity; made if there is none
  std::filesystem::path received;  // folder for scenes that come from others
  std::filesystem::path journal;   // file; empty: none
  UdpSettings udp;
  std::vector<NetAddress> advertised;  // addresses for the invite instead of this machine's own
  std::uint32_t invite_expires = 0;    // seconds since 1970; 0: never
  PeerSettings peer;
};

// What all have agreed on: the world before `tick`.
struct AgreedTick {
  Tick tick = 0;
  std::uint64_t hash = 0;  // of the state
  bool task_done = false;
  double task_seconds = 0;
};

// Somebody who takes part.
struct SharedPerson {
  MemberId member = 0;
  std::string name;
  bool self = false, observer = false;
  std::string fingerprint;
};

class SharedSessionListener {
 public:
  virtual ~SharedSessionListener() = default;
  virtual void sharing(const SharingStatus& /*status*/) {}
  // The session's world is there: `feel` is what all peers feel with, `self` the own hand's number. Comes again after
  // having been away.
  virtual void world_ready(const Scene& /*scene*/, const FeelSettings& /*feel*/, MemberId /*self*/) {}
  // The newest subjective state, after every tick.
  virtual void view(const WorldState& /*state*/) {}
  // Every tick that has become objective, in order; after having been away, from a later one on.
  virtual void agreed(const AgreedTick& /*now*/) {}
  // What the own hand does now; after taken() its action has been sent.
  virtual HandInput hand() { return {}; }
  virtual void hand_taken() {}
  virtual void people(const std::vector<SharedPerson>& /*people*/) {}
  virtual void peers(const PeersView& /*peers*/) {}  // participants are not known here; four times a second
  virtual void said(MemberId /*by*/, const std::string& /*text*/, double /*seconds*/) {}
  virtual void marked(const SessionMark& /*mark*/, bool /*removed*/) {}
  virtual void synchronised(bool /*on*/) {}
  virtual void problem(const std::string& /*sentence*/) {}
};

class SharedSession final : private PeerNetworkListener {
 public:
  // The listener and the library must outlive this. Throws Error if the port or the identity cannot be had.
  SharedSession(SharedSessionSettings settings, SharedSessionListener& listener, SceneLibrary& library);
  ~SharedSession() override;

  // One of these, once.
  void host(Scene scene, FeelSettings feel);
  // Throws Error if the text is no invitation.
  void join(const std::string& invite);

  // From any thread.
  void leave();  // orderly, waits a second at most
  void say(const std::string& text);
  void mark(std::uint32_t body, const Vec3d& point);
  void unmark(const SessionMark& mark);
  void reset_world();
  void synchronise(bool on);
  void emulate(const NetworkProfile& profile);
  void record(const std::string& scene_name);
  // What was agreed on since record(); nothing if it was not called.
  std::optional<Recording> stop_recording();
  bool is_over() const { return over_.load(); }
  AgreedTick agreed() const;  // the newest

 private:
  enum class Phase : std::uint8_t { idle, knocking, loading, fetching, ready, running, over };
  struct Guest {
    Credential credential;
    Introduction introduction;
    std::optional<MemberId> member;
    bool admitted = false;
    double told = -1, snapshot_made = -1;
    ObjectName snapshot;
  };
  struct Loaded {
    Scene scene;
    std::shared_ptr<const WorldModel> model;
    std::string missing;  // why it has to come from the others
  };

  // From the network, on this thread.
  void from_member(double now, MemberId member, std::span<const std::byte> message) override;
  void from_guest(double now, GuestId guest, std::span<const std::byte> message) override;
  Decision asked(double now, GuestId guest, const JoinRequest& request) override;
  void handshake_over(double now, ClientHandshake& handshake) override;
  void from_doorkeeper(double now, std::span<const std::byte> message) override;

  // shared_session.cpp
  void post(std::function<void()> task);
  void run(const std::stop_token& stop);
  void run_once(double now);
  void poll_peer(double now);
  void carry_out(double now, PeerRequest& request);
  void confirmed(const ConfirmTick& confirm);
  void noticed(const SessionNotice& notice);
  void tell(SharingStatus::State state, const std::string& reason = {});
  void tell_stage(const std::string& stage, double progress);
  void tell_people();
  void tell_peers(double now);
  void compare_views(double now);
  void fail(const std::string& sentence);
  const WorldState& shown() const { return loosely_ ? loose_ : runner_->now(); }
  void announce(SessionEvent event);

  // shared_session_joining.cpp
  void begin_hosting();
  void start_peer(MemberId self, const ObjectiveSnapshot& snapshot);
  void start_world(const WorldState& state, Tick tick);
  void knock(const Invite& invite, double now);
  void load_scene(bool from_folder);
  void poll_joining(double now);
  void begin_fetching();
  void poll_fetching(double now);
  void receive_files();
  void poll_guests(double now);
  void make_snapshot(Guest& guest, double now);
  void join_again(const std::string& introduction, double now);
  void search_former(double now);
  void heal(double now);
  Bytes snapshot_bytes(Tick latest) const;
  Introduction own_introduction() const;
  std::optional<Invite> invite_to(const std::string& introduction) const;

  // shared_session_journal.cpp
  void open_journal();
  void write_journal(const ConfirmTick& confirm);
  bool resume_from_journal();
  void report_desync(const SessionNotice& notice);

  SharedSessionSettings settings_;
  SharedSessionListener& listener_;
  SceneLibrary& library_;
  std::unique_ptr<PeerNetwork> network_;
  std::mutex tasks_mutex_;
  std::vector<std::function<void()>> tasks_;
  std::atomic<bool> over_{false};

  // The thread's own.
  Phase phase_ = Phase::idle;
  SharingStatus status_;
  Invite invite_;  // to the session; of the one who let us in
  Scene scene_;
  FeelSettings feel_;
  std::string description_;  // format_recorded_scene
  std::uint64_t model_hash_ = 0;
  std::shared_ptr<const WorldModel> model_;
  std::optional<SharedPeer> peer_;
  std::unique_ptr<WorldRunner> runner_;
  WorldState start_state_, loose_;
  std::unique_ptr<StepScratch> loose_scratch_;
  bool loosely_ = false, hosts_ = false, leaving_ = false, again_ = false;
  double began_ = 0, told_peers_ = -1, showed_view_ = -1, alive_sent_ = -1, ready_sent_ = -1, searched_ = 0,
         knocked_ = 0, refused_until_ = 0, flushed_ = 0;
  int knocks_ = 0;
  std::array<std::optional<Introduction>, k_most_members> introductions_;
  std::map<GuestId, Guest> guests_;
  ObjectShelf shelf_;
  ObjectName manifest_;
  std::future<Loaded> loading_;
  std::shared_ptr<std::atomic<double>> load_progress_ = std::make_shared<std::atomic<double>>(0);
  std::vector<std::pair<std::string, ObjectName>> files_;
  std::map<std::string, std::shared_ptr<const Bytes>> fetched_;
  std::optional<ObjectFetch> fetch_;
  std::optional<MemberId> admitted_as_;
  std::optional<ObjectFetch> healing_;
  MemberId healer_ = 0;
  struct Seen {
    Tick tick = -1;
    Pose pose;
  };
  std::vector<Seen> seen_;  // of the body whose views are compared
  std::uint32_t compared_body_ = 0;
  double divergence_ = 0, divergence_angle_ = 0;
  Tick longest_rollback_ = 0;
  NetworkCounts counted_;
  double counted_at_ = 0;
  std::int64_t last_mark_ = 0;
  bool state_changed_ = false;
  std::optional<Recording> recording_;
  std::optional<Recording> rolling_;  // the newest seconds, for the desync alarm
  std::optional<Journal> journal_;
  std::string journal_status_;
  mutable std::mutex agreed_mutex_;
  AgreedTick agreed_;

  std::jthread thread_;
};

}  // namespace cotouch
