#include <cotouch/serve/studio.h>

#include <cotouch/base/error.h>
#include <cotouch/serve/messages.h>

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>

namespace cotouch {
namespace {

constexpr double k_largest_share = 0.995;                           // of the largest force: as good as all of it
constexpr double k_near_rate = 15;                                  // near frames a second, at most
constexpr auto k_near_repeat = std::chrono::seconds(2);             // for pages that joined since
constexpr auto k_spacemouse_rest = std::chrono::milliseconds(500);  // at rest for so long, the device lets go
// How far a rate control may lead the hand away from the object: pushed against a wall, it would otherwise have to come
// all the way back.
constexpr double k_leash = 0.25;      // of the scene's size
constexpr double k_leash_turn = 1.0;  // rad
constexpr int k_niceness = 5;

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

Studio::Studio(StudioSettings settings, SceneLibrary& library, std::unique_ptr<SpaceMouse> spacemouse)
    : settings_(std::move(settings)),
      library_(library),
      spacemouse_(std::move(spacemouse)),
      recordings_(settings_.recordings),
      scene_(std::make_shared<const LoadedScene>()) {
  jobs_ = std::make_unique<JobQueue>([this](const JobStatus& status) { broadcast(job_message(status)); });
}

Studio::~Studio() {
  stop();
}

void Studio::start(Feed& feed) {
  feed_ = &feed;
  thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

void Studio::stop() {
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
  jobs_.reset();
  feed_ = nullptr;
}

void Studio::post(std::function<void()> task) {
  {
    const std::scoped_lock lock(tasks_mutex_);
    tasks_.push_back(std::move(task));
  }
  tasks_wake_.notify_one();
}

void Studio::broadcast(std::string text) {
  if (Feed* feed = feed_) feed->broadcast_text(std::move(text));
}

void Studio::run(const std::stop_token& stop) {
  // The touch loop comes first where the system does not give it a priority of its own.
  ::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), k_niceness);
  opened_ = Clock::now();
  const auto interval =
      std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(1 / settings_.frames_per_second));
  Clock::time_point next = Clock::now();
  while (!stop.stop_requested()) {
    std::deque<std::function<void()>> tasks;
    {
      std::unique_lock lock(tasks_mutex_);
      tasks_wake_.wait_until(lock, stop, next, [this] { return !tasks_.empty(); });
      tasks.swap(tasks_);
    }
    for (const std::function<void()>& task : tasks) {
      try {
        task();
      } catch (const std::exception& error) {
        // A scene that cannot be felt, for one. The page hears why, and everything else goes on.
        broadcast(error_message(error.what()));
      }
    }
    const Clock::time_point now = Clock::now();
    if (now < next) continue;
    try {
      tick();
    } catch (const std::exception& error) {
      broadcast(error_message(error.what()));
    }
    // A late frame is not made up for.
    next = std::max(next + interval, now);
  }
  if (recording_) finish_recording();
  end_session();
}

void Studio::open_scene(LoadedScene scene) {
  post([this, shared = std::make_shared<const LoadedScene>(std::move(scene))] { install(shared); });
}

void Studio::end_session() {
  loop_times_ = nullptr;
  if (!session_) return;
  session_->loop().stop();
  const TouchFrame& last = session_->loop().frame();
  earlier_cycles_ += last.cycle;
  earlier_missed_ += last.missed;
  session_->collect(recording_ ? &*recording_ : nullptr);
  session_.reset();
}

// A new loop, for a new scene or for an object that is put somewhere else: it begins with zero force fading in.
void Studio::rebuild_session(const Pose& start) {
  end_session();
  if (scene_->moving_part() == nullptr) return;
  session_ = std::make_unique<TouchSession>(scene_, feel_, device_, start);
  seen_cycles_.fill(0);
  session_->loop().start();
  loop_times_ = &session_->loop().cycle_times();
}

void Studio::install(std::shared_ptr<const LoadedScene> scene, std::string_view why) {
  if (recording_) finish_recording();
  end_session();
  ++generation_;
  {
    const std::scoped_lock lock(hand_mutex_);
    if (held_by_ == HeldBy::viewer)
      if (Feed* feed = feed_) feed->send_text(holder_, hand_message(0, "lost", why));
    release_hand_locked();
    hand_generation_ = generation_;
    scene_center_ = scene->bounds().center();
    farthest_ = 10 * scene->size();
  }
  scene_ = std::move(scene);
  sight_ = std::make_unique<Sight>(scene_);
  feel_.contact_stiffness = scene_->contact_stiffness;
  feel_.max_force = scene_->coupling.max_force;
  for (const ScenePart& part : scene_->parts) last_part_id_ = std::max(last_part_id_, part.id);
  earlier_cycles_ = earlier_missed_ = 0;
  opened_ = Clock::now();
  last_near_ = {};
  // No loop runs here, so nothing disturbs the measurement and the measurement disturbs nobody.
  nodes_per_us_ = measured_nodes_per_us(*scene_);
  feel_.warm_nodes = nodes_for(*scene_, nodes_per_us_, feel_.budget_us);
  const ScenePart* held = scene_->moving_part();
  rebuild_session(held != nullptr ? held->pose : Pose{});
  broadcast(scene_message(generation_, scene_->name));
  broadcast(settings_message(feel_));
}

std::shared_ptr<LoadedScene> Studio::scene_to_edit() {
  auto scene = std::make_shared<LoadedScene>(*scene_);
  scene->name.clear();
  scene->contact_stiffness = feel_.contact_stiffness;
  scene->coupling.max_force = feel_.max_force;
  for (ScenePart& part : scene->parts)
    if (part.moving) part.pose = object_pose();
  return scene;
}

Pose Studio::object_pose() {
  if (!session_) return {};
  const TouchFrame& frame = session_->loop().frame();
  return frame.cycle == 0 ? session_->start() : frame.sample.object;
}

void Studio::tick() {
  Feed* feed = feed_;
  if (feed == nullptr) return;
  TouchFrame touch;
  if (session_) {
    touch = session_->loop().frame();
    if (touch.cycle == 0) touch.sample.object = touch.sample.hand = session_->start();
    session_->collect(recording_ ? &*recording_ : nullptr);
    follow_spacemouse(touch.sample.object);
  }
  if (recording_) {
    const double seconds = static_cast<double>(recording_->samples.size()) * recording_->limits.period;
    if (Clock::now() - recording_told_ > std::chrono::seconds(1)) {
      recording_told_ = Clock::now();
      broadcast(recording_message(true, seconds));
    }
    if (seconds > settings_.recording_seconds) {
      finish_recording();
      broadcast(error_message("The recording was stopped because it had become very long."));
    }
  }
  const FeedDemand demand = feed->demand();
  if (demand.viewers == 0) return;
  publish_frame(touch, demand);
  if (session_) publish_nearness(touch.sample.object, demand);
}

void Studio::publish_frame(const TouchFrame& touch, const FeedDemand& demand) {
  auto set = std::make_shared<FrameSet>();
  StateFrame frame;
  frame.sequence = ++sequence_;
  frame.generation = generation_;
  frame.time = seconds_since(opened_);
  frame.running = session_ != nullptr && session_->loop().running();
  frame.recording = recording_.has_value();
  frame.viewers = static_cast<std::uint16_t>(std::min(demand.viewers, 65535U));
  frame.cycles = static_cast<std::uint32_t>(earlier_cycles_ + touch.cycle);
  frame.missed = static_cast<std::uint32_t>(earlier_missed_ + touch.missed);
  if (session_) {
    measure_cycles(frame);
    const ScenePart& part = *scene_->moving_part();
    HandState hand;
    hand.part = part.id;
    hand.hand = touch.sample.hand;
    hand.object = touch.sample.object;
    hand.felt = touch.sample.felt;
    // The coupling saturates at the largest force by itself, so the limiter need not have cut anything.
    hand.force_limited = norm(touch.wanted.force - touch.sample.felt.force) > 1e-6 ||
                         norm(touch.sample.felt.force) > k_largest_share * feel_.max_force;
    hand.level = static_cast<std::uint8_t>(std::min(touch.contact.level, 255U));
    const Shell* shell = nullptr;
    for (const ScenePart& p : scene_->parts)
      if (p.moving == (scene_->moving == Moving::shell)) shell = &p.part->shell;
    hand.detail_limited = shell != nullptr && touch.contact.in_contact > 0 && touch.contact.level + 1 < shell->levels();
    hand.visited = touch.contact.visited;
    hand.in_contact = touch.contact.in_contact;
    hand.deepest = touch.contact.deepest;
    hand.input_sequence = device_.applied_sequence();
    {
      const std::scoped_lock lock(hand_mutex_);
      hand.holder = held_by_ == HeldBy::device ? Holder::device : Holder::nobody;
      set->holders.push_back(held_by_ == HeldBy::viewer ? holder_ : 0);
    }
    frame.hands.push_back(hand);
    sight_->look(touch.sample.object, demand.traversed, frame);
  }
  set->plain = encode_state(frame, false);
  if (demand.traversed) set->with_traversed = encode_state(frame, true);
  feed_.load()->publish(std::move(set));
}

void Studio::measure_cycles(StateFrame& frame) {
  const CycleHistogram& times = session_->loop().cycle_times();
  std::array<std::uint32_t, CycleHistogram::k_buckets> fresh;
  std::uint64_t count = 0;
  for (std::size_t i = 0; i < fresh.size(); ++i) {
    const std::uint64_t now = times.in_bucket(i);
    fresh[i] = static_cast<std::uint32_t>(now - seen_cycles_[i]);
    seen_cycles_[i] = now;
    count += fresh[i];
  }
  std::uint64_t below = 0;
  bool found = false;
  for (std::size_t i = 0; i < fresh.size(); ++i) {
    if (fresh[i] == 0) continue;
    below += fresh[i];
    const float us = (static_cast<float>(i) + 0.5F) * static_cast<float>(CycleHistogram::k_bucket_ns) * 1e-3F;
    if (!found && below * 2 >= count) {
      median_us_ = us;
      found = true;
    }
    // The last bucket has no upper end; the longest cycle ever is the best that is known.
    longest_us_ = i + 1 < fresh.size() ? us : static_cast<float>(times.longest() * 1e6);
  }
  // Two frames close together may see no cycle in between; that is no reason to say that cycles take no time.
  frame.cycle_median_us = median_us_;
  frame.cycle_longest_us = longest_us_;
}

void Studio::publish_nearness(const Pose& object, const FeedDemand& demand) {
  if (!demand.near || !sight_) return;
  const Clock::time_point now = Clock::now();
  const double waited = std::chrono::duration<double>(now - last_near_).count();
  const bool moved = !(object == last_near_pose_);
  if (waited < 1 / k_near_rate || (!moved && now - last_near_ < k_near_repeat)) return;
  last_near_ = now;
  last_near_pose_ = object;
  std::vector<std::uint8_t> values;
  for (const ScenePart& part : scene_->parts)
    if (sight_->nearness(object, part, values))
      feed_.load()->publish_near(part.id, std::make_shared<const std::string>(encode_near(
                                              ++near_sequence_, generation_, part.id, sight_->range(), values)));
}

// The cap is a rate control: pushed to the stop, the hand crosses the scene in two seconds.
void Studio::follow_spacemouse(const Pose& object) {
  if (!spacemouse_) return;
  const SpaceMouse::Deflection cap = spacemouse_->poll();
  const Clock::time_point now = Clock::now();
  const std::scoped_lock lock(hand_mutex_);
  if (cap.moved && held_by_ == HeldBy::nobody) {
    held_by_ = HeldBy::device;
    device_.hold();
    spacemouse_pose_ = object;
  }
  if (held_by_ != HeldBy::device) return;
  if (cap.moved) spacemouse_used_ = now;
  const double dt = 1 / settings_.frames_per_second;
  const Pose wanted = moved(spacemouse_pose_, {cap.push * (0.5 * scene_->size() * dt), cap.turn * (1.5 * dt)});
  spacemouse_pose_ = glide(object, wanted, 1, k_leash * scene_->size(), k_leash_turn);
  device_.move(spacemouse_pose_, cap.buttons, 0);
  if (now - spacemouse_used_ > k_spacemouse_rest) release_hand_locked();
}

void Studio::release_hand_locked() {
  held_by_ = HeldBy::nobody;
  holder_ = 0;
  device_.release();
}

std::string_view Studio::viewer_input(ViewerId viewer, const HandInput& input) {
  const std::scoped_lock lock(hand_mutex_);
  if (input.generation != hand_generation_) return {};
  if (!(norm(input.pose.position - scene_center_) <= farthest_))
    return "a hand is no farther than ten scene sizes away";
  if (input.hand != 0 || held_by_ != HeldBy::viewer || holder_ != viewer) return {};
  last_input_ = Clock::now();
  device_.move(input.pose, input.buttons, input.sequence);
  return {};
}

void Studio::viewer_joined(ViewerId viewer) {
  post([this, viewer] {
    Feed* feed = feed_;
    if (feed == nullptr) return;
    feed->send_text(viewer, hello_message(settings_.version, viewer, settings_.upload_bytes));
    feed->send_text(viewer, scene_message(generation_, scene_->name));
    feed->send_text(viewer, settings_message(feel_));
    feed->send_text(viewer, recordings_message(recordings_.list()));
    if (recording_) feed->send_text(viewer, recording_message(true, 0));
    jobs_->tell_unfinished([&](const JobStatus& job) { feed->send_text(viewer, job_message(job)); });
    last_near_ = {};
  });
}

void Studio::viewer_left(ViewerId viewer) {
  const auto let_go = [this, viewer] {
    const std::scoped_lock lock(hand_mutex_);
    if (held_by_ == HeldBy::viewer && holder_ == viewer) release_hand_locked();
  };
  let_go();      // at once, whatever the studio is busy with
  post(let_go);  // and after the last command of this viewer, which may have been to take the hand
}

void Studio::viewer_command(ViewerId viewer, const ViewerCommand& command) {
  post([this, viewer, command] { perform(viewer, command); });
}

}  // namespace cotouch
