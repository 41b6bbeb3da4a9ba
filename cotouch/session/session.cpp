#include <cotouch/session/session.h>

#include <cotouch/base/error.h>
#include <cotouch/base/hash.h>
#include <cotouch/base/invariant.h>
#include <cotouch/session/names.h>
#include <cotouch/session/session_ask.h>
#include <cotouch/session/shared_session.h>
#include <cotouch/session/world_view.h>

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <limits>
#include <utility>

namespace cotouch {
namespace {

constexpr int k_niceness = 5;
constexpr std::size_t k_most_waiting = 32;  // commands of one participant
constexpr auto k_people_pace = std::chrono::milliseconds(100);
constexpr std::array<std::string_view, 10> k_people_colors{"#e4572e", "#17b890", "#f3a712", "#7768ae", "#2e86ab",
                                                           "#c6488e", "#8ab17d", "#b5651d", "#4f9dd9", "#9c9c4b"};

std::string guest_name(ParticipantId id) {
  return "Guest " + std::to_string(static_cast<std::uint32_t>(id));
}

}  // namespace

Session::Session(SessionSettings settings, SceneLibrary& library, std::vector<std::unique_ptr<HandDevice>> devices,
                 MissingDevices missing)
    : settings_(std::move(settings)),
      library_(library),
      recordings_(settings_.recordings),
      devices_(std::move(devices), std::move(missing)),
      self_(join(ParticipantKind::program, "session")),
      scene_(std::make_shared<const ShownScene>()) {
  for (std::size_t i = 0; i < hands_.size(); ++i) {
    hands_[i].id = static_cast<HandId>(i + 1);
    hands_[i].index = i;
  }
  for (SessionDevices::Plugged& plugged : devices_.plugged()) {
    plugged.who = join(ParticipantKind::device, plugged.name);
    hands_[plugged.hand].owner = plugged.who;
  }
  background_ = std::make_unique<Background>();
  builder_ = std::make_unique<Background>();
  jobs_ = std::make_unique<JobQueue>([this](const JobStatus& status) {
    post([this, status] {
      if (status.state != JobState::running) job_starters_.erase(status.id);
      tell([&](SessionListener& listener) { listener.job_changed(status); });
    });
  });
}

Session::~Session() {
  stop();
}

void Session::start() {
  background_->post([this] {
    const std::size_t found = recordings_.recover();
    if (found == 0) return;
    post([this, found] {
      tell_problem(ParticipantId::nobody, std::to_string(found) +
                                              (found == 1 ? " recording that broke" : " recordings that broke") +
                                              " off when cotouch was ended can be found in the list of recordings.");
    });
  });
  post([this] { list_recordings(); });
  thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

void Session::stop() {
  stopping_ = true;
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
  jobs_.reset();
  builder_.reset();
  background_.reset();
  if (!unsaved_->are_kept()) lost_ = unsaved_->problem();
  unsaved_ = std::make_shared<UnsavedChanges>();  // others may have its place now
  // What nobody will do any more may hold a world, which must not outlive its devices.
  waiting_.clear();
  std::deque<std::function<void()>> forgotten;
  {
    const std::scoped_lock lock(tasks_mutex_);
    forgotten.swap(tasks_);
  }
}

void Session::post(std::function<void()> task) {
  {
    const std::scoped_lock lock(tasks_mutex_);
    tasks_.push_back(std::move(task));
  }
  tasks_wake_.notify_one();
}

void Session::wait_for_background() {
  std::promise<void> done;
  background_->post([&] { done.set_value(); });
  done.get_future().wait();
}

void Session::in_turn(std::function<void()> task) {
  waiting_.push_back(std::move(task));
  take_turns();
}

void Session::take_turns() {
  if (std::exchange(taking_turns_, true)) return;
  while (!turn_is_taken_ && !waiting_.empty()) {
    const std::function<void()> task = std::move(waiting_.front());
    waiting_.pop_front();
    try {
      task();
    } catch (const std::exception& error) {
      tell_problem(ParticipantId::nobody, error.what());
    }
  }
  taking_turns_ = false;
}

void Session::run(const std::stop_token& stop) {
  // The touch loop comes first where the system does not give it a priority of its own.
  ::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), k_niceness);
  opened_ = Clock::now();
  const auto interval =
      std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(1 / settings_.views_per_second));
  Clock::time_point next = Clock::now();
  while (!stop.stop_requested()) {
    std::deque<std::function<void()>> tasks;
    {
      std::unique_lock lock(tasks_mutex_);
      tasks_wake_.wait_until(lock, stop, next, [this] { return !tasks_.empty(); });
      tasks.swap(tasks_);
    }
    for (const std::function<void()>& task : tasks) {
      const Clock::time_point begun = Clock::now();
      try {
        task();
      } catch (const std::exception& error) {
        // A scene that cannot be felt, for one. Everybody hears why, and everything else goes on.
        tell_problem(ParticipantId::nobody, error.what());
      }
      const double took = std::chrono::duration<double>(Clock::now() - begun).count();
      if (took > longest_task_) longest_task_ = took;
    }
    const Clock::time_point now = Clock::now();
    if (now < next) continue;
    try {
      tick();
    } catch (const std::exception& error) {
      tell_problem(ParticipantId::nobody, error.what());
    }
    // A late view is not made up for.
    next = std::max(next + interval, now);
  }
  if (recording_) finish_recording();
  note_movement();
  if (!unsaved_->are_kept()) keep_unsaved();
  bridge_.set_world(nullptr);
  shared_.reset();
  end_loop();
  finishing_.clear();
}

void Session::tick() {
  if (people_due_) tell_people();
  try_what_is_ready();
  if (world_) {
    world_->enable_hands();
    world_->collect(recording_ && !recording_shared_ ? &*recording_ : nullptr);
    if (recording_ && !recording_shared_) stream_->take(*recording_);
    // A copy: what is done here looks at newer frames, which gives the loop this one back to write to.
    const WorldFrame frame = world_->loop().world_frame();
    const char* const broken = frame.touch.broken;
    if (std::exchange(told_broken_, broken) == nullptr && broken != nullptr)
      tell_problem(ParticipantId::nobody, "Nothing is felt any more. " + invariant_report(broken));
    notice_lost_grasps(frame);
    serve_devices(&frame);
  } else {
    serve_devices(nullptr);
  }
  if (recording_) {
    if (Clock::now() - recording_told_ > std::chrono::seconds(1)) {
      recording_told_ = Clock::now();
      tell([&](SessionListener& listener) { listener.recording_changed(true, recorded_seconds()); });
    }
    if (const std::string problem = stream_->problem(); !problem.empty()) {
      finish_recording();
      tell_problem(ParticipantId::nobody, problem);
    } else if (recorded_seconds() > settings_.recording_seconds) {
      finish_recording();
      tell_problem(ParticipantId::nobody, "The recording was stopped because it had become very long.");
    }
  }
  if (unsaved_->are_due(Clock::now())) keep_unsaved();
  const ViewDemand wanted = demand();
  if (!wanted.views) return;
  static const WorldFrame k_nothing;
  const WorldFrame frame = world_ ? world_->loop().world_frame() : k_nothing;
  const SessionView view = make_view(frame, wanted.traversed);
  tell([&](SessionListener& listener) { listener.view(view); });
  if (world_ && wanted.near) make_nearness(frame.world);
}

void Session::tell_problem(ParticipantId whom, const std::string& reason) {
  {
    // If those it concerns have left, whoever is there may wonder what became of it.
    const std::scoped_lock lock(people_mutex_);
    if (find_participant(whom) == nullptr) whom = ParticipantId::nobody;
  }
  tell([&](SessionListener& listener) { listener.problem(whom, reason); });
}

// All but the session itself, which nobody can meet.
std::vector<Participant> Session::people() {
  const std::scoped_lock lock(people_mutex_);
  std::vector<Participant> others = participants_;
  std::erase_if(others, [this](const Participant& p) { return p.id == self_; });
  return others;
}

void Session::tell_people() {
  // Everybody is told, so names that change all the time are told no faster than they can be read.
  people_due_ = Clock::now() - people_told_ < k_people_pace;
  if (people_due_) return;  // by the next tick that may
  people_told_ = Clock::now();
  const std::vector<Participant> people = this->people();
  tell([&](SessionListener& listener) { listener.people_changed(people); });
}

ParticipantId Session::join(ParticipantKind kind, std::string name, Rights rights) {
  Participant participant;
  participant.rights = rights;
  participant.kind = kind;
  participant.name = std::move(name);
  {
    const std::scoped_lock lock(people_mutex_);
    participant.color = free_color();
    participant.id = static_cast<ParticipantId>(++last_participant_);
    if (participant.name.empty()) participant.name = guest_name(participant.id);
    participants_.push_back(participant);
  }
  post([this, participant] {
    const SessionSnapshot now = snapshot_now();
    tell([&](SessionListener& listener) { listener.joined(participant, now); });
    tell_people();
    last_near_at_ = {};  // everybody is told anew
  });
  return participant.id;
}

void Session::leave(ParticipantId who) {
  const auto let_go = [this, who] {
    for (Hand& hand : hands_)
      if (hand.holder == who) release(hand);
  };
  {
    const std::scoped_lock lock(people_mutex_);
    let_go();  // at once, whatever the session is busy with
  }
  const auto forget = [this, who, let_go] {
    Participant gone;
    {
      // After the last command of this participant, which may have been to take a hand.
      const std::scoped_lock lock(people_mutex_);
      let_go();
      const Participant* found = find_participant(who);
      if (found == nullptr) return;
      gone = *found;
      std::erase_if(participants_, [who](const Participant& p) { return p.id == who; });
    }
    words_.erase(who);
    tell([&](SessionListener& listener) { listener.left(gone); });
    tell_people();
  };
  post([this, forget] { in_turn(forget); });
}

void Session::rename(ParticipantId who, std::string name) {
  if (name.empty()) name = guest_name(who);
  {
    const std::scoped_lock lock(people_mutex_);
    const auto found =
        std::find_if(participants_.begin(), participants_.end(), [who](const Participant& p) { return p.id == who; });
    if (found != participants_.end()) found->name = std::move(name);
  }
  post([this] { tell_people(); });
}

// The first that nobody has; beyond as many as there are, they are given out again.
std::string Session::free_color() const {
  for (const std::string_view color : k_people_colors)
    if (std::none_of(participants_.begin(), participants_.end(),
                     [&](const Participant& p) { return p.color == color; }))
      return std::string(color);
  return std::string(k_people_colors[participants_.size() % k_people_colors.size()]);
}

std::string Session::color_of(MemberId member) {
  return std::string(k_people_colors[member % k_people_colors.size()]);
}

const Participant* Session::find_participant(ParticipantId id) const {
  const auto found =
      std::find_if(participants_.begin(), participants_.end(), [id](const Participant& p) { return p.id == id; });
  return found == participants_.end() ? nullptr : &*found;
}

Session::Hand* Session::find_hand(HandId id) {
  const auto found = std::find_if(hands_.begin(), hands_.end(), [id](const Hand& h) { return h.id == id; });
  return found == hands_.end() ? nullptr : &*found;
}

void Session::release(Hand& hand) {
  hand.holder = ParticipantId::nobody;
  hand.body = 0;
  device_of(hand).release();
  let_go_ = true;
}

Situation Session::situation() const {
  Situation now;
  now.present = participants_;
  for (const Hand& hand : hands_) {
    const Participant* holder = find_participant(hand.holder);
    const double silent = std::chrono::duration<double>(Clock::now() - hand.last_input).count();
    // A device lets go by itself once it is at rest.
    const bool endless = holder != nullptr && holder->kind == ParticipantKind::device;
    now.hands.push_back({hand.id, hand.holder,
                         endless ? std::numeric_limits<double>::infinity() : settings_.hand_patience - silent,
                         hand.owner});
  }
  now.recording = recording_.has_value();
  now.recorded_by = recorded_by_;
  now.world_is_full = world_ && !world_->has_room();
  return now;
}

std::string_view Session::move_hand(ParticipantId who, const HandMotion& motion) {
  const std::scoped_lock lock(people_mutex_);
  if (motion.generation != hand_generation_) return {};
  if (!(norm(motion.pose.position - scene_center_) <= farthest_))
    return "a hand is no farther than ten scene sizes away";
  Hand* hand = find_hand(motion.hand);
  if (hand == nullptr || who == ParticipantId::nobody || hand->holder != who) return {};
  hand->last_input = Clock::now();
  if (PageDevice* page = devices_.page(hand->index)) page->move(motion.pose, motion.buttons, motion.sequence);
  return {};
}

SessionSnapshot Session::snapshot_now() {
  SessionSnapshot now;
  now.generation = generation_;
  now.scene = scene_;
  now.feel = feel_;
  now.people = people();
  if (world_) {
    const WorldFrame frame = world_->loop().world_frame();
    now.hands = hand_views(frame);
    now.bodies = body_views(world_->model(), frame.world, world_->contacts());
  }
  now.devices = device_views(world_ ? &world_->loop().frame() : nullptr);
  now.recording = recording_.has_value();
  now.recording_seconds = recorded_seconds();
  now.recordings = recorded_;
  now.sharing = sharing_;
  now.network = network_;
  for (const auto& [number, mark] : marks_) now.marks.push_back(mark.first);
  jobs_->tell_unfinished([&](const JobStatus& job) { now.jobs.push_back(job); });
  return now;
}

SessionSnapshot Session::snapshot() {
  return ask<SessionSnapshot>(When::now, [this] { return snapshot_now(); });
}

std::shared_ptr<const ShownScene> Session::scene_of(const Recording& recording) {
  std::shared_ptr<const ShownScene> open = snapshot().scene;
  const RecordedScene recorded = parse_recorded_scene(recording.scene);
  if (open->scene.name != recorded.name || open->scene.bodies.empty()) return nullptr;
  return felt_model(open->scene, recorded.feel, recorded.pace)->hash() == recording.model_hash ? open : nullptr;
}

void Session::command(ParticipantId who, SessionCommand command, Answered answered) {
  // Letting go acts at once, whatever the session is busy with. What was asked for before it is still done before it,
  // and may be to take a hand; that is let go when it is the command's turn.
  std::vector<HandEvent> released;
  if (const auto* wanted = std::get_if<ReleaseHand>(&command)) released = release_held_by(who, wanted->hand);
  if (!answered) answered = [](const CommandResult&) {};
  post([this, who, command = std::move(command), answered = std::move(answered), released = std::move(released)] {
    for (const HandEvent& event : released) tell([&](SessionListener& listener) { listener.hand_changed(event); });
    // What pushes can be switched off at any time. On likewise, so that the last of several switches is what counts.
    if (std::holds_alternative<SwitchDevice>(command)) return perform(who, command, answered);
    // Nobody keeps others waiting by asking for ever more.
    std::size_t& waiting = waiting_commands_[who];
    if (waiting == k_most_waiting && !std::holds_alternative<ReleaseHand>(command))
      return answered({CommandResult::Kind::too_many, "Too much is waiting to be done already; wait a moment.", 0, {}});
    ++waiting;
    in_turn([this, who, command, answered] {
      if (--waiting_commands_[who] == 0) waiting_commands_.erase(who);
      perform(who, command, answered);
    });
  });
}

std::vector<HandEvent> Session::release_held_by(ParticipantId who, HandId which) {
  std::vector<HandEvent> released;
  const std::scoped_lock lock(people_mutex_);
  for (Hand& hand : hands_) {
    // It may have been lost on the way.
    if (hand.holder != who || (which != HandId::none && hand.id != which)) continue;
    released.push_back({who, hand.id, HandChange::released, hand.body, {}, {}});
    release(hand);
  }
  return released;
}

CommandResult Session::command_and_wait(ParticipantId who, SessionCommand command) {
  auto promise = std::make_shared<std::promise<CommandResult>>();
  std::future<CommandResult> answer = promise->get_future();
  this->command(who, std::move(command), [promise](const CommandResult& result) { promise->set_value(result); });
  return wait_for(answer);
}

CommandResult Session::save_scene(ParticipantId who, const std::string& name, Replacing replacing) {
  using Kind = CommandResult::Kind;
  if (!is_identifier(name))
    return {Kind::wrong, "A scene's name is made of letters, digits, - and _, at most 64 of them.", 0, {}};
  struct Now {
    std::string obstacle;
    Scene scene;
    std::shared_ptr<UnsavedChanges> unsaved;
    std::uint64_t changes = 0;
  };
  Now now = ask<Now>(When::in_turn, [this, who, name] {
    ActionRequest request;
    request.who = who;
    request.action = SessionAction::save_scene;
    if (const auto made = scene_makers_.find(name); made != scene_makers_.end()) request.maker = made->second;
    note_movement();
    return Now{obstacle(request), scene_to_edit(), unsaved_, unsaved_->count()};
  });
  if (now.obstacle.empty() && now.scene.bodies.empty())
    now.obstacle = "There is nothing to save yet; drop a part first.";
  if (!now.obstacle.empty()) return {Kind::not_now, now.obstacle, 0, {}};
  now.scene.title = scene_title(name);
  std::filesystem::path file;
  try {
    file = library_.save(now.scene, name, replacing);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::exists) throw;
    return {Kind::exists, error.what(), 0, {}};
  }
  post([this, who, name, unsaved = now.unsaved, changes = now.changes] {
    scene_makers_[name] = who;
    background_->post([this, unsaved, changes] {
      unsaved->saved(library_, changes);
      post([this] { tell([](SessionListener& listener) { listener.scenes_changed(); }); });
    });
    tell([](SessionListener& listener) { listener.scenes_changed(); });
  });
  return {Kind::done, {}, 0, file.string()};
}

}  // namespace cotouch
