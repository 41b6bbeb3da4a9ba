// A scene that runs: its world, its hands and the loop that makes it felt, built together and thrown away together.
// Alone the world steps in the loop; shared with others it steps elsewhere, and the loop follows it
// (touch/followed_world.h).
//
// What the forces depend on may change while the loop runs: a new world is built here, handed to the touch thread,
// which goes on from the state it has, and the old one is freed once the loop's frames say that it was left. The force
// goes on.
#pragma once

#include <cotouch/device/hand_device.h>
#include <cotouch/session/watched_world.h>
#include <cotouch/touch/loop.h>
#include <cotouch/touch/recording.h>
#include <cotouch/world/scene.h>

#include <deque>
#include <memory>
#include <string>
#include <vector>

namespace cotouch {

inline constexpr std::size_t k_session_hands = 8;
static_assert(k_session_hands <= k_loop_hands);
using HandDevices = std::vector<HandDevice*>;  // at most k_session_hands, none of them null

// What the forces depend on besides bodies and hands.
struct FeelSettings {
  double contact_stiffness = ContactSettings{}.stiffness;  // N/m of a single point
  double max_force = 8;                                    // N
  double budget_us = 800;                                  // for contact, in each cycle
  std::uint32_t warm_nodes = 0;                            // the budget in nodes for each pair of parts; 0: no limit
};

// Units of work that a microsecond of contact affords on this machine, measured on the largest pair of parts of each
// kind of engine; the slowest counts. Takes a moment. 0 if there is nothing to measure.
double measured_nodes_per_us(const WorldModel& model);
// The budget in nodes for each pair of parts; 0 if there is no speed to tell.
std::uint32_t nodes_for(const WorldModel& model, double nodes_per_us, double budget_us);

// How a world steps: alone with the touch loop; shared more slowly, and with a hand for every peer.
struct Pace {
  double tick = 1e-3;  // seconds
  std::uint32_t hands = k_session_hands;
};
inline constexpr Pace k_shared_pace{0.01, 16};
static_assert(k_shared_pace.hands <= k_recorded_hands);

// The world of a scene as it is felt.
std::shared_ptr<const WorldModel> felt_model(const Scene& scene, const FeelSettings& feel, const Pace& pace = {});
LimitSettings limit_settings(const FeelSettings& feel);

// The world steps elsewhere, at k_shared_pace; the first device that is there is hand `self` of it
// (touch/followed_world.h).
struct Following {
  std::size_t self = 0;
};

class RunningWorld {
 public:
  // The devices must outlive this; all of them are attached to it, or will be once it is its turn: one can be made
  // while another still runs with the same devices.
  enum class Attaching : std::uint8_t { now, later };
  RunningWorld(const Scene& scene, const FeelSettings& feel, HandDevices devices, Attaching attaching = Attaching::now,
               double stall_seconds = TouchLoopSettings{}.stall_seconds);
  // Its states have the layout of those of felt_model(scene, feel, k_shared_pace).
  RunningWorld(const Scene& scene, const FeelSettings& feel, HandDevices devices, const Following& following,
               Attaching attaching = Attaching::now, double stall_seconds = TouchLoopSettings{}.stall_seconds);
  // If it was left for later: as many devices, which may be others by now. No loop runs with them.
  void attach(HandDevices devices);

  TouchLoop& loop() { return loop_; }
  const WorldModel& model() const { return worlds_.back().world->model(); }
  // Which hand of the world's state a device is; k_no_hand: none.
  std::size_t hand_of(std::size_t device) const { return worlds_.back().world->hand_of(device); }
  // For the loop's one reading thread: contact of each body in the newest cycle, in the order of the model's bodies.
  const std::vector<ContactStats>& contacts() { return worlds_.front().contacts->contacts(); }

  // Could one more device that takes hold of something have a hand?
  bool has_room() const { return followed_ == nullptr || followed_->has_room(); }

  // Only if it follows; these from one thread, which may be another than the loop's reading thread.
  bool is_following() const { return followed_ != nullptr; }
  std::size_t self() const noexcept { return followed_->self(); }
  bool follow(const WorldState& newest) noexcept { return followed_->follow(newest); }
  void set_usable(std::uint32_t hands) noexcept { followed_->set_usable(hands); }
  const LocalHands& local_hands() noexcept { return followed_->local_hands(); }

  // A world to feel differently in; the scene may differ in gravity, masses and such, not in which bodies there are.
  // One that follows takes over the largest force that is felt and nothing else. Takes a while and disturbs nothing: on
  // any thread. Throws Error if a body would be too heavy (check_weight).
  class Change;
  static Change make_change(const Scene& scene, const FeelSettings& feel, bool follows);
  // From the next cycle on, with the bodies where they are. Throws Error if the loop stands still.
  void take(Change change);
  // Begins with the next cycle, for which this waits, and does not disturb the loop. `scene` says where a replay finds
  // the scene. Throws Error if the loop stands still, or if the world is followed: then its own inputs are recorded.
  Recording start_recording(const std::string& scene);
  // Takes what the loop has felt since the last call; a recording keeps what belongs to it.
  void collect(Recording* recording);
  // A machine that stands for some milliseconds may have the watchdog disable a device whose driver did nothing wrong.
  // What has no motors is a hand again as soon as possible, unless somebody switched it off; what has some waits for
  // somebody to enable it. To be called often.
  void enable_hands() noexcept;
  // False if samples were lost since the recording was started, so that a replay differs.
  bool recorded_wholly();

 private:
  struct World {
    std::uint64_t change = 0;  // the loop's number for it
    std::unique_ptr<TouchWorld> world;
    WatchedContacts* contacts = nullptr;  // the same world's
  };
  RunningWorld(const Scene& scene, const FeelSettings& feel, HandDevices devices, World world, double stall_seconds);
  static World local_world(const Scene& scene, const FeelSettings& feel);
  static World followed_world(const Scene& scene, const FeelSettings& feel, std::size_t self);
  void wait_for(std::uint64_t change);

  FeelSettings feel_;
  HandDevices devices_;
  SceneExtent extent_;
  std::deque<World> worlds_;  // the last is the newest; those before it may still be in use
  FollowedWorld* followed_ = nullptr;
  std::uint64_t first_recorded_ = 0, dropped_before_ = 0;
  TouchLoop loop_;
};

class RunningWorld::Change {
 private:
  friend class RunningWorld;
  World world_;  // none: that of the loop goes on
  FeelSettings feel_;
};

// What a recording's `scene` says, for recordings made here: the scene's name, what differs from it, and how its world
// stepped.
struct RecordedScene {
  std::string name;
  FeelSettings feel;
  Pace pace = {};
};
std::string format_recorded_scene(const RecordedScene& scene);
// A text that is no such description is taken for a bare name.
RecordedScene parse_recorded_scene(const std::string& text);

// The model that a recording was made in, from its scene; throws Error if the scene is not the same any more. The other
// takes what recordings and journals say of their scene, and the hash of the model.
std::shared_ptr<const WorldModel> recorded_model(const Recording& recording, const Scene& scene);
std::shared_ptr<const WorldModel> recorded_model(const std::string& description, std::uint64_t model_hash,
                                                 const Scene& scene);

}  // namespace cotouch
