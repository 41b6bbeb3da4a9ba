// One program's part in a session over the network: the thread that drives a SharedPeer with a real clock, a real
// network and a real world, and everything around it: hosting, joining, fetching the scene, handing out snapshots,
// coming back after being cut off, recording and the journal.
//
// Others leave it wishes from any thread; it tells what happens through its listener, on its own thread.
#pragma once

#include <cotouch/session/journal_writer.h>
#include <cotouch/session/peer_network.h>
#include <cotouch/session/running_world.h>
#include <cotouch/session/scene_library.h>
#include <cotouch/session/shared_session_listener.h>
#include <cotouch/session/unsettled_ticks.h>
#include <cotouch/session/world_runner.h>
#include <cotouch/touch/recording_stream.h>

#include <atomic>
#include <filesystem>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace cotouch {

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
  void leave();  // orderly; waits until the others know, a second at most (three if it has not taken part yet)
  void say(const std::string& text);
  void mark(std::uint32_t body, const Vec3d& point);
  void unmark(const SessionMark& mark);
  void reset_world();
  void synchronise(bool on);
  void emulate(const NetworkProfile& profile);
  // What is objective here from now on goes to the stream, until the world is taken over from the others or this part
  // of the session goes on alone, as a branch. The newest of it is not known to be agreed yet, and may turn out to be
  // the branch's. stop_recording() finishes the stream, or the end of the session.
  void record(const std::string& scene_name, std::shared_ptr<RecordingStream> stream);
  void stop_recording();
  bool is_over() const { return over_.load(); }
  AgreedTick agreed() const;  // the newest that was told

 private:
  enum class Phase : std::uint8_t { idle, knocking, loading, fetching, ready, running, over };
  static constexpr double k_pieces_per_second = 4096, k_pieces_at_once = 256;  // to one guest
  static constexpr const char* k_taken_over = "the world was taken over from the others";
  static constexpr std::uint32_t k_warm_nodes = 4096;  // for each pair of parts, in every shared world
  struct Guest {
    Introduction introduction;
    std::optional<MemberId> member;
    bool admitted = false;
    double told = -1, alive_told = -1, snapshot_made = -1;
    double wanted = -1;  // when it last asked for a piece
    ObjectName snapshot;
    Allowance pieces{k_pieces_per_second, k_pieces_at_once};
  };
  // What a member may have of us beyond the messages of cores.
  struct Served {
    Allowance pieces{k_pieces_per_second / 16, k_pieces_at_once}, notices{10, 40}, marks{10, 64};
    ObjectName snapshot;
    double snapshot_made = -1;
  };
  struct Loaded {
    Scene scene;
    std::shared_ptr<const WorldModel> model;
    std::string missing;  // why it has to come from the others
  };

  // From the network, on this thread. shared_session_door.cpp
  void from_member(double now, MemberId member, std::span<const std::byte> message) override;
  void from_guest(double now, GuestId guest, std::span<const std::byte> message) override;
  Decision asked(double now, GuestId guest, const JoinRequest& request) override;
  // shared_session_joining.cpp
  void handshake_over(double now, ClientHandshake& handshake) override;
  void from_doorkeeper(double now, std::span<const std::byte> message) override;

  // shared_session.cpp
  void post(std::function<void()> task);
  void run(const std::stop_token& stop);
  void run_once(double now);
  void poll_peer(double now);
  void carry_out(double now, PeerRequest& request);
  void confirmed(const ConfirmTick& confirm);
  AgreedTick tick_of(Tick tick, const WorldState& state, std::uint64_t hash) const;
  void set_agreed(const AgreedTick& now);
  void settle();
  void noticed(const SessionNotice& notice);
  void branch_off(Tick agreed);
  void tell(SharingStatus::State state, const std::string& reason = {});
  void tell_stage(const std::string& stage, double progress);
  void tell_people();
  void tell_peers(double now);
  void compare_views(double now);
  void fail(const std::string& sentence);
  const WorldState& shown() const { return loosely_ ? loose_ : runner_->now(); }
  void announce(SessionEvent event);
  static std::optional<std::uint32_t> hand_of(MemberId member) {
    return member < k_shared_hands ? std::optional<std::uint32_t>(member) : std::nullopt;
  }

  // shared_session_start.cpp
  std::filesystem::path take_scene_from_files();
  void begin_hosting();
  void start_peer(MemberId self, const ObjectiveSnapshot& snapshot);
  void end_recording(const std::string& why);
  void finish_stream();
  // Hands that people lead besides those of their numbers, as they were told to a recording or a journal.
  struct ToldFurther {
    HandLeaders leaders = leaders_none();
    Allowance changes{20, 100};  // in a second of ticks: who changes them all the time must not fill a file
  };
  template <class Tell>
  void tell_further(ToldFurther& told, const ConfirmTick& confirm, const Tell& tell) const;
  void start_world(const WorldState& state, Tick tick);
  std::vector<NetAddress> own_addresses() const;
  Introduction own_introduction() const;
  static std::string short_name(const Invite& invite);  // of its session

  // shared_session_joining.cpp
  void knock(const Invite& invite, double now);
  void knock_again(double now);
  void be_ready(double now);
  void load_scene(bool from_folder);
  void poll_joining(double now);
  void join_again(const std::string& introduction, double now);
  void search_former(double now);
  std::optional<Invite> invite_to(const std::string& introduction) const;

  // shared_session_fetching.cpp
  void begin_fetching();
  void poll_fetching(double now);
  bool take_manifest(std::span<const std::byte> bytes);
  void take_snapshot(std::span<const std::byte> bytes, double now);
  bool is_stored(const std::string& name, const ObjectName& object) const;
  std::filesystem::path received_folder() const;
  void heal(double now);

  // shared_session_door.cpp
  std::filesystem::path write_scene_files() const;
  void shelve_scene(const std::filesystem::path& files);
  void unshelve(ObjectName& object);
  Decision compared(double now, const Credential& by, ByteReader& question);
  void poll_guests(double now);
  bool may_be_admitted(GuestId id) const;
  bool takes_part(const Credential& credential) const;
  Bytes snapshot_bytes(Tick latest) const;
  void make_snapshot(Guest& guest, double now);
  void hand_out_snapshot(double now, MemberId member, Tick latest);
  template <class Send>
  void answer_want(double now, std::span<const std::byte> want, Allowance& pieces, const Send& send);

  // shared_session_journal.cpp
  bool open_journal();
  void go_on_with_journal();
  void close_journal();
  void look_at_journal(double now);
  void write_journal(const ConfirmTick& confirm, const WorldState& state, std::uint64_t hash);
  void begin_journal(Tick tick, const WorldState& state, const std::string& reason);
  bool resume_from_journal();
  void resume(Journal journal);
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
  std::string scene_folder_;  // among what came from the others; empty if the scene was here
  std::string description_;   // format_recorded_scene
  std::uint64_t model_hash_ = 0;
  std::shared_ptr<const WorldModel> model_;
  std::optional<SharedPeer> peer_;
  std::unique_ptr<WorldRunner> runner_;
  WorldState start_state_, loose_;
  std::unique_ptr<StepScratch> loose_scratch_;
  bool loosely_ = false, hosts_ = false, leaving_ = false, again_ = false;
  double began_ = 0, told_peers_ = -1, showed_view_ = -1, alive_sent_ = -1, ready_sent_ = -1, ready_since_ = 0,
         ready_progress_ = 0, piece_came_ = 0, searched_ = 0, refused_until_ = 0, looked_at_journal_ = 0;
  int knocks_ = 0;
  std::size_t searches_ = 0;
  std::array<std::optional<Introduction>, k_most_members> introductions_;
  std::map<GuestId, Guest> guests_;
  std::array<Served, k_most_members> served_;
  Allowance all_pieces_{2 * k_pieces_per_second, 2 * k_pieces_at_once};
  ObjectShelf shelf_;
  ObjectName manifest_;
  std::future<Loaded> loading_;
  struct Load {
    std::atomic<double> done{0};  // a share of it
    std::atomic<bool> stops{false};
  };
  std::shared_ptr<Load> load_ = std::make_shared<Load>();
  std::vector<std::pair<std::string, ObjectName>> files_;
  std::set<std::string> fetched_;  // names of those that are on the disk
  std::optional<ObjectFetch> fetch_;
  std::optional<MemberId> admitted_as_;
  std::optional<ObjectFetch> healing_;
  MemberId healer_ = 0;
  double heal_asked_ = -1;  // when; -1: nobody was asked
  Tick world_since_ = 0;    // the first tick whose state is known here
  int desyncs_kept_ = 0;    // on the disk
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
  std::optional<Recording> recording_;  // what its stream has not taken yet
  std::shared_ptr<RecordingStream> recording_stream_;
  ToldFurther recorded_further_, noted_further_;
  bool recording_ended_ = false;      // before it was stopped
  std::optional<Recording> rolling_;  // the newest seconds, for the desync alarm
  std::optional<JournalWriter> journal_;
  bool journal_outdated_ = false;  // who takes part or what is marked is not as the newest snapshot in it says
  Tick journal_snapshot_ = 0;      // tick of that one
  std::string journal_status_;
  UnsettledTicks unsettled_;
  Tick session_until_ = 0;  // ticks before this one are the session's
  mutable std::mutex agreed_mutex_;
  AgreedTick agreed_;

  std::jthread thread_;
};

}  // namespace cotouch
