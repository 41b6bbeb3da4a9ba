// A running session: the open scene, its touch loop, hands, recordings, jobs and those who take part. Pages, devices,
// programs and later peers all use it alike: commands in, views and events out, nothing about HTTP.
//
// One thread of its own (the session's thread) owns all of this and makes the views. Others meet it in two ways: they
// leave it commands, or they move a hand, which goes straight to the touch loop's device so that nothing the session
// does delays a hand. The touch loop itself meets only channels. Who may do what is decided in arbitration.h.
//
// Nothing slow happens on that thread: worlds are made on another, the builder's. What is asked for meanwhile waits
// until it is its turn, so that everything is done in the order in which it was asked for; views go on. Only letting go
// of a body and switching a device wait for nothing.
#pragma once

#include <cotouch/session/allowance.h>
#include <cotouch/session/background.h>
#include <cotouch/session/command.h>
#include <cotouch/session/listener.h>
#include <cotouch/session/scene_library.h>
#include <cotouch/session/session_devices.h>
#include <cotouch/session/shared_session_listener.h>
#include <cotouch/session/sight.h>
#include <cotouch/session/unsaved_changes.h>

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <future>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <thread>

namespace cotouch {

class SharedSession;

struct SessionSettings {
  std::filesystem::path recordings;  // folder
  double views_per_second = 60;
  double hand_patience = 5;                              // seconds of silence after which somebody else may take a hand
  double recording_seconds = 600;                        // the longest recording
  std::uint64_t recording_bytes = 2ULL << 30U;           // that all recordings together may take on the disk
  std::size_t most_recordings = RecordingStore::k_most;  // more would not be listed, and so not counted
  double unsaved_after = 1;  // seconds after a change, what was not saved is kept (scene_library.h)
  PartSettings added{{.resolution = 96}, {.points = 16384}, {}};  // how added parts are prepared
  double stall_seconds = TouchLoopSettings{}.stall_seconds;       // until the watchdog takes all forces away
  SharedSessionSettings sharing = {};  // over the network; its folder and identity must be given before it is used
};

// Where a participant wants a hand to be.
struct HandMotion {
  HandId hand = HandId::none;
  std::uint32_t generation = 0;  // of the scene it is meant for
  std::uint32_t sequence = 0;    // comes back in HandView::input_sequence
  std::uint32_t buttons = 0;
  Pose pose;
};

class Session {
 public:
  // The library must outlive the session. Throws Error if there are too many devices. `missing` are shown beside them.
  Session(SessionSettings settings, SceneLibrary& library, std::vector<std::unique_ptr<HandDevice>> devices = {},
          MissingDevices missing = {});
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // Before start(); must outlive stop().
  void add_listener(SessionListener& listener) { listeners_.push_back(&listener); }
  void start();
  // Ends the loop with zero force, then the threads. What was changed and not saved is kept before.
  void stop();
  // After stop(): why that failed, a sentence; empty if nothing is lost.
  const std::string& lost() const { return lost_; }

  // From here on, for any thread.

  // Without a name they are "Guest" and their number.
  ParticipantId join(ParticipantKind kind, std::string name, Rights rights = Rights::own);
  // Lets go of what they hold at once. What they asked for before is still done.
  void leave(ParticipantId who);
  void rename(ParticipantId who, std::string name);
  static std::string color_of(MemberId member);  // everywhere the same

  using Answered = std::function<void(const CommandResult&)>;
  // Returns at once; `answered` is called on the session's thread.
  void command(ParticipantId who, SessionCommand command, Answered answered = nullptr);
  // The same, waiting. Throws Error if the session does not answer for ten seconds.
  CommandResult command_and_wait(ParticipantId who, SessionCommand command);
  // Writes the scene as it stands, on the caller's thread because that takes a while. A scene of that name is replaced
  // only if that is wanted; otherwise the answer says that there is one. Throws Error if it cannot be written.
  CommandResult save_scene(ParticipantId who, const std::string& name, Replacing replacing = Replacing::refused);

  // Dropped without a word unless `who` holds that hand in that scene. Returns the rule that it breaks, empty if it
  // breaks none. Never waits for more than another hand's motion.
  std::string_view move_hand(ParticipantId who, const HandMotion& motion);

  // Throws Error like command_and_wait.
  SessionSnapshot snapshot();
  // The open scene if it is the one a recording was made in.
  std::shared_ptr<const ShownScene> scene_of(const Recording& recording);
  const RecordingStore& recordings() const { return recordings_; }
  SceneLibrary& library() { return library_; }
  // How long the touch loop's cycles took since the scene was opened; null if no loop runs. For measuring.
  const CycleHistogram* cycle_times() const { return loop_times_.load(std::memory_order_acquire); }
  // Seconds that the longest task since the last call kept the session's thread from making views, which do not count.
  double take_longest_task() { return longest_task_.exchange(0, std::memory_order_relaxed); }

 private:
  using Clock = std::chrono::steady_clock;

  // A hand that somebody may hold; there are as many as the loop serves.
  struct Hand {
    HandId id = HandId::none;
    std::size_t index = 0;                        // of its device
    ParticipantId owner = ParticipantId::nobody;  // a plugged device's
    BodyId body = 0;                              // held; 0: none
    Vec3d point;                                  // of the body
    std::optional<std::uint64_t> taken_in;        // cycle in which its device had taken hold, or the one before
    ParticipantId holder = ParticipantId::nobody;
    Clock::time_point last_input{};
  };

  void post(std::function<void()> task);
  // Until what it was given before is done and nothing is left of it: of places that a scene was kept in, for one.
  void wait_for_background();
  // Runs `question` on the session's thread and waits for its answer.
  enum class When : std::uint8_t { now, in_turn };
  template <class T>
  T ask(When when, std::function<T()> question);
  // With people_mutex_ held.
  Hand* find_hand(HandId id);
  Hand* hand_for(ParticipantId who, HandId wanted);
  const Participant* find_participant(ParticipantId id) const;
  std::string free_color() const;
  Situation situation() const;
  HandDevice& device_of(const Hand& hand) const { return devices_.hand(hand.index); }
  void release(Hand& hand);
  // Takes the lock itself. None: all that they hold.
  std::vector<HandEvent> release_held_by(ParticipantId who, HandId which);

  // The session's thread only, from here on.
  void run(const std::stop_token& stop);
  void tick();
  // Whatever changes the scene or its world takes turns: `task` is done now, or once those before it are done.
  void in_turn(std::function<void()> task);
  void take_turns();
  // `make`, ended by stop() wherever it is (base/cancel.h): a world that nobody will feel, and its pictures.
  template <class Make>
  auto endable(Make make);
  // For the task whose turn it is: `make` on the builder's thread, then `use` here with what was made, which ends the
  // turn. What either throws is the answer.
  template <class Make, class Use>
  void make_then(Make make, Use use, Answered answered);
  template <class Make, class Use>
  void make_then(Background& where, Make make, Use use, Answered answered);
  template <class Tell>
  void tell(const Tell& what);
  void tell_problem(ParticipantId whom, const std::string& reason);
  std::vector<Participant> people();
  void tell_people();
  SessionSnapshot snapshot_now();

  // session_view.cpp
  ViewDemand demand() const;
  SessionView make_view(const WorldFrame& frame, bool traversed);
  void measure_cycles(SessionView& view);
  void make_nearness(const WorldState& state);

  // session_hands.cpp
  std::vector<HandView> hand_views(const WorldFrame& frame);
  void notice_lost_grasps(const WorldFrame& frame);
  // What the people at plugged devices ask for, and how those are doing.
  void serve_devices(const WorldFrame* frame);
  void carry_out_request(SessionDevices::Plugged& plugged, HandRequest request, const WorldState& state);
  void lose_hand_of(const SessionDevices::Plugged& plugged);
  void leave_hanging_devices(const TouchFrame& frame);
  std::vector<DeviceView> device_views(const TouchFrame* frame);
  void tell_devices(const TouchFrame* frame, bool at_once);

  // session_scene.cpp
  // How fast contact is on this machine, measured on the largest pair of parts of some world.
  struct Speed {
    std::shared_ptr<const WorldModel> model;
    double nodes_per_us = 0;
  };
  // A scene that is ready to be felt and shown. Making one takes a while and disturbs nothing: on any thread.
  struct Stage {
    std::shared_ptr<const ShownScene> scene;
    FeelSettings feel;
    Speed speed;
    std::unique_ptr<Sight> sight;
    std::unique_ptr<RunningWorld> world;  // none if the scene has nothing that moves
    std::optional<MemberId> following;
  };
  // What a stage depends on besides its scene.
  struct StageSettings {
    FeelSettings feel;
    Speed speed;
    std::optional<MemberId> following;
  };
  StageSettings stage_settings() const { return {feel_, speed_, following_}; }
  // Throws Error if there cannot be such a world.
  Stage make_stage(std::shared_ptr<const ShownScene> scene, const StageSettings& settings);
  std::unique_ptr<RunningWorld> make_world(const Scene& scene, const FeelSettings& feel,
                                           std::optional<MemberId> following);
  // `why` is for those who hold a hand and lose it by this. If it throws, the old scene goes on.
  void install(Stage stage, std::string_view why);
  // Makes the stage of a changed scene and installs it. `pictures` are those of what is new in it, if there are any.
  void change_scene(Scene scene, std::string why, Answered answered, const std::vector<ShownPart>& pictures = {});
  // The end of a job that changes the scene, when it is its turn. If somebody holds a hand by then, it waits until they
  // let go, and whoever started it hears that.
  struct JobChange {
    ParticipantId who;
    std::function<std::optional<Scene>()> make;  // nothing: no longer wanted
    std::string why;
    std::vector<ShownPart> pictures;  // of what is new
    // What is made takes the place of the open scene, which is kept first.
    struct Alone {
      std::uint32_t opening = 0;
      bool may_lose_changes = false;
    };
    std::optional<Alone> alone = {};
    bool waits = false;
  };
  void change_after_job(JobChange job);
  void try_what_is_ready();
  // After any change of what could be saved: soon, what cannot be opened by a name is kept.
  void note_change();
  // Before it is asked whether there is something to keep: what hands moved since the last time counts too.
  void note_movement();
  void keep_unsaved();
  // What keeps the changes so far, on the background's thread. Throws Error if they cannot be kept.
  std::function<void()> keeping();
  // Right before another scene takes the place of this one, which was kept: what was changed since.
  void keep_the_rest();
  // What keeps them if there is something to keep, and where to run it; it returns why it failed, empty if it did not.
  struct Keeping {
    std::function<std::string()> keep;
    Background* where;
  };
  Keeping keeping_first(bool may_lose_changes);
  // Another scene in the place of the open one, whose changes are kept first: if that fails, it stays, and the answer
  // is `unkept`. `place` is where the other one is kept, if it was not saved. `then` comes last.
  struct Replacement {
    std::function<Stage()> make;
    std::shared_ptr<UnsavedPlace> place;
    std::function<void()> then;
    bool may_lose_changes = false;
  };
  void replace_scene(Replacement other, Answered answered);
  // A copy to be changed and installed: as it is felt and where things stand now, and without a name, because it will
  // no longer be what can be opened by that name.
  Scene scene_to_edit();
  // The same bodies go on where they are, in a world that differs in gravity, masses and such. `then` comes last.
  void go_on_with(Scene scene, std::function<void()> then, Answered answered);
  // A new loop, for bodies that are put somewhere else: it begins with zero force fading in.
  void restart_loop(std::string why, std::function<void()> then, Answered answered);
  void exchange_world(std::unique_ptr<RunningWorld> world);
  void start_loop();
  void end_loop();
  void release_all(std::string_view why);
  std::optional<Scene> with_bodies(Scene scene, ParticipantId who, std::vector<SceneBody> bodies,
                                   std::optional<Motion> motion, bool as_in_file);
  // Beside what is there, a tenth of its size away, on the same height; in a world in which things fall, above its
  // place and all that is there, or it would fall past the table.
  Pose place_beside(const Scene& scene, const SceneBody& body) const;

  // session_commands.cpp
  // What stands in the way of a request; empty if nothing does.
  std::string obstacle(const ActionRequest& request);
  // The same at the end of a job, whose starter may have left.
  std::string obstacle_after_job(ParticipantId who, SessionAction action);
  void perform(ParticipantId who, const SessionCommand& command, const Answered& answered);
  // Those with `answered` are answered once it is done, elsewhere or later.
  void carry_out(ParticipantId who, const DeleteRecording& wanted, const Answered& answered);
  void carry_out(ParticipantId who, const DeleteScene& wanted, const Answered& answered);
  void carry_out(ParticipantId who, const OpenScene& wanted, const Answered& answered);
  CommandResult start_opening(ParticipantId who, const OpenScene& wanted);
  // As long as what it returns is there, scenes that were asked for later wait.
  std::shared_ptr<void> begin_opening(std::uint32_t opening, const std::string& name);
  void carry_out(ParticipantId who, const ShowScene& wanted, const Answered& answered);
  void carry_out(ParticipantId who, const ResetScene& wanted, const Answered& answered);
  CommandResult carry_out(ParticipantId who, const GraspBody& wanted);
  CommandResult carry_out(ParticipantId who, const ReleaseHand& wanted);
  CommandResult carry_out(ParticipantId who, const SwitchDevice& wanted);
  void carry_out(ParticipantId who, const ChangeSettings& wanted, const Answered& answered);
  CommandResult carry_out(ParticipantId who, const StartRecording& wanted);
  CommandResult carry_out(ParticipantId who, const StopRecording& wanted);
  void carry_out(ParticipantId who, const AddPart& wanted, const Answered& answered);
  CommandResult start_adding(ParticipantId who, const AddPart& wanted);
  CommandResult carry_out(ParticipantId who, const Reimport& wanted);
  void carry_out(ParticipantId who, const SetGravity& wanted, const Answered& answered);
  void carry_out(ParticipantId who, const SetBody& wanted, const Answered& answered);
  CommandResult carry_out(ParticipantId who, const BendBody& wanted);
  void carry_out(ParticipantId who, const CopyBody& wanted, const Answered& answered);
  void carry_out(ParticipantId who, const RemoveBody& wanted, const Answered& answered);
  void carry_out(ParticipantId who, const ResetTask& wanted, const Answered& answered);
  CommandResult carry_out(ParticipantId who, const CancelJob& wanted);

  // session_reimport.cpp
  // `before` is what the body was made of when this was asked for.
  void reimport_now(ParticipantId who, BodyId id, const std::shared_ptr<const Part>& before, const ScenePart& after,
                    const std::vector<ShownPart>& pictures);

  // session_bending.cpp
  // `before` is what the body was made of when this was asked for.
  void bend_now(ParticipantId who, BodyId body, const std::shared_ptr<const Part>& before,
                const std::shared_ptr<const Part>& bent, const std::vector<ShownPart>& pictures);

  // session_sharing.cpp
  bool is_shared() const { return shared_ != nullptr; }
  std::string own_name(ParticipantId who, const std::string& wanted);
  // Joining takes the open scene away, whose changes are kept first; hosting loses none.
  void begin_sharing(ParticipantId who, const std::string& name, std::function<void(SharedSession&)> begin,
                     bool may_lose_changes, const Answered& answered);
  void end_sharing(const SharingStatus& status, const Answered& answered);
  void follow_shared(const Scene& scene, const FeelSettings& feel, MemberId self);
  void meet(const std::vector<SharedPerson>& people);
  void show_peers(PeersView peers);
  void add_remote_hands(const WorldFrame& frame, std::vector<HandView>& views);
  void tell_network();
  // Which wishes cannot be granted while others are in the same world; empty: it can.
  static std::string obstacle_while_shared(const SessionCommand& command);
  void carry_out(ParticipantId who, const StartSharing& wanted, const Answered& answered);
  void carry_out(ParticipantId who, const JoinSharing& wanted, const Answered& answered);
  void carry_out(ParticipantId who, const LeaveSharing& wanted, const Answered& answered);
  CommandResult carry_out(ParticipantId who, const SetNetwork& wanted);
  CommandResult carry_out(ParticipantId who, const SetSynchronised& wanted);
  CommandResult carry_out(ParticipantId who, const Say& wanted);
  bool may_speak_now(ParticipantId who);
  CommandResult carry_out(ParticipantId who, const PlaceMark& wanted);
  CommandResult carry_out(ParticipantId who, const RemoveMark& wanted);
  bool is_in_place(BodyId body);
  CommandResult start_job(ParticipantId who, JobLane lane, std::string name, JobQueue::Work work);
  void finish_recording();
  std::shared_ptr<RecordingStream> new_stream(const std::string& id);
  void list_recordings();  // in the background; everybody is told
  // A part that was dropped goes into the scene that was open or asked for then.
  void when_opened(std::uint32_t opening, std::function<void()> task);
  void opening_ended(std::uint32_t opening);
  double recorded_seconds() const;

  SessionSettings settings_;
  SceneLibrary& library_;
  RecordingStore recordings_;
  std::vector<SessionListener*> listeners_;

  std::mutex tasks_mutex_;
  std::condition_variable_any tasks_wake_;
  std::deque<std::function<void()>> tasks_;

  // Who is there and who holds what: the session's thread decides, any thread moves its hand or leaves.
  std::mutex people_mutex_;
  std::uint32_t last_participant_ = 0;
  std::vector<Participant> participants_;
  SessionDevices devices_;
  std::array<Hand, k_session_hands> hands_;
  std::uint32_t hand_generation_ = 0;
  Vec3d scene_center_;
  double farthest_ = 0;  // metres from the centre that a hand may be sent to
  bool let_go_ = false;  // a hand did, since that was noted
  ParticipantId self_;

  // The session's thread's.
  std::uint32_t generation_ = 0;
  std::shared_ptr<const ShownScene> scene_;
  std::unique_ptr<Sight> sight_;
  FeelSettings feel_;
  Speed speed_;                          // what this machine manages in this scene
  std::unique_ptr<RunningWorld> world_;  // none if the scene has nothing that moves
  std::atomic<const CycleHistogram*> loop_times_{nullptr};
  Clock::time_point opened_{};
  std::uint64_t earlier_cycles_ = 0, earlier_missed_ = 0, earlier_stalls_ = 0;  // of loops before, in the same scene
  std::vector<std::pair<Pose, bool>> last_near_;  // of each body: where it was, and whether that was news
  std::vector<double> last_bending_;              // of all bodies
  std::size_t near_left_ = 0;                     // parts of this round
  Clock::time_point last_near_at_{};
  std::array<std::uint64_t, CycleHistogram::k_buckets> seen_cycles_{};
  float median_us_ = 0, longest_us_ = 0;  // of the last view that saw a cycle end
  std::optional<Recording> recording_;    // its head, and what its stream has not taken yet
  std::shared_ptr<RecordingStream> stream_;
  std::map<std::string, std::shared_ptr<RecordingStream>> finishing_;
  std::vector<RecordingEntry> recorded_;  // as far as is known
  std::uint64_t recorded_bytes_ = 0;      // that all of them take, also those that are not listed
  std::string recording_id_;
  ParticipantId recorded_by_ = ParticipantId::nobody;
  Clock::time_point recording_told_{};
  const char* told_broken_ = nullptr;  // TouchFrame::broken, once people know
  Clock::time_point people_told_{};
  bool people_due_ = false;
  std::vector<DeviceView> devices_told_;
  Clock::time_point devices_told_at_{};
  std::uint64_t standing_cycle_ = 0;  // the loop's newest, and since when
  Clock::time_point standing_since_{};
  BodyId last_body_ = 0;
  std::optional<double> drag_without_gravity_;  // the scene's own, if turning gravity on has lowered it
  // Who made what since the session was started.
  std::map<std::string, ParticipantId> recording_makers_, scene_makers_;
  std::map<std::uint32_t, ParticipantId> job_starters_;
  std::map<ParticipantId, Allowance> words_;
  Allowance recordings_begun_{1, 10};
  std::map<std::uint32_t, std::string> opening_;    // scenes that jobs are reading, by the order of asking
  std::uint32_t last_opening_ = 0, opened_as_ = 0;  // asked for, and the one that is open
  std::vector<std::pair<std::uint32_t, std::function<void()>>> after_opening_;
  std::string lost_;
  std::shared_ptr<UnsavedChanges> unsaved_ = std::make_shared<UnsavedChanges>();  // of the open scene
  bool opened_by_name_ = false;   // and not changed since, but for settings
  std::vector<JobChange> ready_;  // and waits until nobody holds a hand
  Clock::time_point tried_ready_{};
  bool turn_is_taken_ = false, taking_turns_ = false;
  std::deque<std::function<void()>> waiting_;  // for their turn
  std::map<ParticipantId, std::size_t> waiting_commands_;
  std::atomic<double> longest_task_{0};

  // A session over the network, if there is one. Its thread meets the running world here, without waiting for more than
  // the exchange of a pointer.
  class Bridge final : public SharedSessionListener {
   public:
    explicit Bridge(Session& session) : session_(session) {}
    void set_world(RunningWorld* world);

    void sharing(const SharingStatus& status) override;
    void world_ready(const Scene& scene, const FeelSettings& feel, MemberId self) override;
    void view(const WorldState& state, const SharedHands& hands) override;
    void agreed(const AgreedTick& now) override;
    MemberHands hands() override;
    void hands_taken() override;
    void people(const std::vector<SharedPerson>& people) override;
    void peers(const PeersView& peers) override;
    void said(MemberId by, const std::string& text, double seconds) override;
    void marked(const SessionMark& mark, bool removed) override;
    void synchronised(bool on) override;
    void problem(const std::string& sentence) override;

    // Another session, or none: what is still on its way from the one before does not count.
    void begin_anew() { ++epoch_; }
    std::uint32_t epoch() const { return epoch_; }
    HandLeaders leaders();  // of the newest tick

   private:
    void post(std::function<void()> task);  // in turn; forgotten if it comes too late

    Session& session_;
    std::atomic<std::uint32_t> epoch_ = 0;
    std::mutex mutex_;
    RunningWorld* world_ = nullptr;
    HandLeaders leaders_ = leaders_none();
    std::array<std::uint32_t, k_shared_hands> told_{}, newest_{};  // grasps of each hand
  };
  Bridge bridge_{*this};
  std::unique_ptr<SharedSession> shared_;
  std::shared_future<void> leaving_;  // one that is being left
  std::optional<MemberId> following_;
  bool others_scene_ = false;  // the open scene is that of the session that was joined last
  SharingStatus sharing_;
  NetworkStatus network_;
  std::map<MemberId, ParticipantId> peers_;
  std::map<MemberId, std::string> peer_names_;
  std::map<std::uint32_t, std::pair<MarkView, SessionMark>> marks_;
  std::uint32_t last_mark_ = 0;
  bool recording_shared_ = false;

  std::jthread thread_;
  // Last: their threads use everything above.
  std::atomic<bool> stopping_{false};
  std::unique_ptr<Background> background_;  // for files
  std::unique_ptr<Background> builder_;     // for worlds
  std::unique_ptr<JobQueue> jobs_;
};

}  // namespace cotouch
