#include <cotouch/touch/recording.h>

#include <cotouch/base/error.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>

namespace cotouch {
namespace {

void check_scene(const std::string& scene) {
  if (scene.size() > k_recorded_scene) throw Error("The scene's description is too long to be recorded.");
}

// A text that is cut ends with a whole UTF-8 character.
void shorten(std::string& text) {
  if (text.size() <= k_event_text) return;
  std::size_t end = k_event_text;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0U) == 0x80U) --end;
  text.resize(end);
}

}  // namespace

const HandSample& RecordedSample::hand(std::size_t index) const noexcept {
  static const HandSample k_absent;
  return index < hands.size() ? hands[index] : k_absent;
}

Recording begin_recording(const WorldModel& model, const WorldMark& mark, const LimitSettings& limits,
                          std::size_t hands, std::string scene) {
  Recording recording;
  recording.scene = std::move(scene);
  check_scene(recording.scene);
  recording.model_hash = model.hash();
  recording.limits = limits;
  recording.hands = static_cast<std::uint32_t>(std::min(hands, k_loop_hands));
  recording.pairs = static_cast<std::uint32_t>(std::min(model.pairs().size(), k_recorded_pairs));
  recording.levels_recorded = model.pairs().size() <= k_recorded_pairs;
  recording.may_lack_data = model.may_lack_data();
  recording.limiters.assign(mark.mark.limiters.begin(), mark.mark.limiters.begin() + recording.hands);
  recording.motors.assign(mark.mark.motors.begin(), mark.mark.motors.begin() + recording.hands);
  recording.state.assign(mark.world.bytes().begin(), mark.world.bytes().end());
  return recording;
}

void collect_samples(TouchLoop& loop, Recording& recording, std::uint64_t first) {
  const double period = recording.limits.period;
  TouchSample sample;
  while (loop.next_sample(sample)) {
    const auto cycle = static_cast<std::uint64_t>(std::llround(sample.time / period));
    if (cycle < first) continue;
    RecordedSample& kept = recording.samples.emplace_back();
    kept.time = static_cast<double>(cycle - first) * period;
    std::size_t hands = recording.hands;
    while (hands > 0 && !sample.hands[hands - 1].input.present) --hands;
    kept.hands.assign(sample.hands.begin(), sample.hands.begin() + static_cast<std::ptrdiff_t>(hands));
    kept.levels = sample.levels;
    kept.missing.assign(sample.missing.pieces().begin(), sample.missing.pieces().end());
    kept.state_hash = sample.state_hash;
    kept.in_contact = sample.in_contact;
    kept.visited = sample.visited;
    kept.deepest = sample.deepest;
    kept.cycle_ns = sample.cycle_ns;
    kept.late = sample.late;
  }
}

Recording begin_shared_recording(const WorldModel& model, const WorldState& state, std::string scene) {
  if (model.settings().hands > k_recorded_hands || !is_loop_period(model.settings().tick))
    throw Error("A recording has room for sixteen hands in a world that steps at least once a second.",
                ErrorCode::too_large);
  Recording recording;
  recording.scene = std::move(scene);
  check_scene(recording.scene);
  recording.model_hash = model.hash();
  recording.limits.period = model.settings().tick;
  recording.limits.max_force = model.settings().coupling.max_force;
  recording.levels_recorded = false;
  recording.limited = false;
  recording.hands = model.settings().hands;
  recording.state.assign(state.bytes().begin(), state.bytes().end());
  return recording;
}

void append_tick(Recording& recording, std::span<const HandInput> inputs, const WorldState& after) {
  std::size_t hands = std::min<std::size_t>({inputs.size(), recording.hands, after.hands().size()});
  while (hands > 0 && !inputs[hands - 1].present) --hands;
  RecordedSample& kept = recording.samples.emplace_back();
  kept.time = static_cast<double>(recording.length() - 1) * recording.limits.period;
  kept.hands.reserve(hands);
  for (std::size_t i = 0; i < hands; ++i)
    kept.hands.push_back(inputs[i].present ? HandSample{inputs[i], after.hands()[i].felt, Motors::on} : HandSample{});
  kept.state_hash = after.hash();
}

bool append_event(Recording& recording, RecordedEvent event) {
  using Kind = RecordedEvent::Kind;
  constexpr std::size_t k_for_resets = 4096;
  const std::size_t most = event.kind == Kind::reset   ? k_recorded_events
                           : event.kind == Kind::leads ? k_recorded_events / 2  // a program sends them by itself
                                                       : k_recorded_events - k_for_resets;
  if (recording.events_handed_on + recording.events.size() >= most || (event.hand && *event.hand >= recording.hands))
    return false;
  shorten(event.text);
  recording.events.push_back(std::move(event));
  return true;
}

std::vector<RecordedPerson> recorded_people(const Recording& recording) {
  using Kind = RecordedEvent::Kind;
  std::vector<RecordedPerson> people;
  // A hand has one owner; of those without a hand there may be many, told apart by their names.
  using Place = std::pair<std::optional<std::uint32_t>, std::string>;
  std::map<Place, std::size_t> there;
  for (const RecordedEvent& event : recording.events) {
    if (event.kind != Kind::joined && event.kind != Kind::left && event.kind != Kind::leads) continue;
    const Place place{event.hand, event.hand ? "" : event.text};
    const auto found = there.find(place);
    const bool is_own = found != there.end() && people[found->second].own == event.hand;
    // Who has come since is not gone because somebody else let go of the hand.
    if (event.kind == Kind::leads && (is_own || !event.hand)) continue;
    if (found != there.end()) {
      RecordedPerson& person = people[found->second];
      person.to = std::max(person.from, event.tick);
      there.erase(found);
    }
    RecordedPerson person{event.hand, event.hand, event.text, event.tick,
                          std::max<std::uint64_t>(event.tick, recording.samples.size())};
    if (event.kind == Kind::leads) {
      std::uint32_t own = 0;
      const char* const end = event.text.data() + event.text.size();
      if (event.text.empty() || std::from_chars(event.text.data(), end, own).ptr != end) continue;
      const auto leader = there.find({own, ""});
      if (leader == there.end()) continue;
      person.own = own;
      person.name = people[leader->second].name;
    } else if (event.kind == Kind::left) {
      continue;
    }
    there[place] = people.size();
    people.push_back(std::move(person));
  }
  return people;
}

// Levels of more pairs than a sample has room for were not what the world went by.
Replay::Replay(const Recording& recording, const std::shared_ptr<const WorldModel>& model)
    : recording_(recording),
      exact_levels_(recording.levels_recorded && recording.pairs == model->pairs().size()),
      world_(model, {exact_levels_ ? Detail::Rule::exactly : Detail::Rule::by_state, {}, {}}),
      start_(*model) {
  if (model->hash() != recording.model_hash)
    throw Error("The recording was made in another world: a part, a place or a setting differs.", ErrorCode::refused);
  if (recording.hands > model->settings().hands ||
      recording.limiters.size() != (recording.limited ? recording.hands : 0) ||
      recording.motors.size() != recording.limiters.size() || !world_.state().restore(recording.state))
    throw Error("The recording's world is damaged. Record it again or use an intact copy.", ErrorCode::damaged_file);
  for (std::size_t i = 0; i < recording.limiters.size(); ++i) {
    limited_.push_back(std::make_unique<Limited>(recording.motors[i], recording.limits));
    limited_.back()->limiter.resume(recording.limiters[i]);
  }
  felt_.hands.reserve(k_recorded_hands);  // so that steps allocate nothing
  felt_.missing.reserve(MissingPieces::k_most);
}

bool Replay::next() noexcept {
  if (done_ >= recording_.samples.size()) return false;
  const RecordedSample& was = recording_.samples[done_];
  felt_ = was;
  std::array<HandInput, k_recorded_hands> inputs;
  const std::size_t there = std::min<std::size_t>(was.hands.size(), recording_.hands);
  for (std::size_t i = 0; i < there; ++i) {
    inputs[i] = was.hands[i].input;
    world_.set_stiffness(i, was.hands[i].stiffness);
  }
  if (exact_levels_) world_.set_levels(was.levels, was.missing);
  for (; next_event_ < recording_.events.size() && recording_.events[next_event_].tick <= done_; ++next_event_)
    if (recording_.events[next_event_].kind == RecordedEvent::Kind::reset) world_.state() = start_;
  world_.cycle(std::span(inputs).first(there));
  const double passed = std::max(0.0, recording_.limits.period + was.late);
  for (const auto& limited : limited_) limited->limiter.let_pass(passed);
  for (std::size_t i = there; i < limited_.size(); ++i) limited_[i]->limiter.release();
  for (std::size_t i = 0; i < there; ++i) {
    HandSample& hand = felt_.hands[i];
    const Wrench& given = world_.state().hands()[i].felt;
    if (!recording_.limited) {
      hand.felt = hand.input.present ? given : Wrench{};
      continue;
    }
    ForceLimiter& limiter = limited_[i]->limiter;
    if (hand.motors == Motors::off || hand.motors == Motors::restarted) limiter.release();
    hand.felt = {};
    if (hand.motors == Motors::off) continue;
    const ForceLimiter::Written written =
        hand.motors == Motors::fading ? limiter.fade_out(given) : limiter.write(given);
    hand.felt = written.wrench;
    hand.motors = written.motors;
  }
  const ContactStats stats = world_.scratch().stats();
  felt_.in_contact = stats.in_contact;
  felt_.deepest = stats.deepest;
  felt_.visited = stats.visited;
  felt_.state_hash = world_.state().hash();
  if (same_ == done_ && is_same(was)) ++same_;
  ++done_;
  return true;
}

// Bit for bit, but for how long the cycles took, and how many nodes temporal coherence spared.
bool Replay::is_same(const RecordedSample& was) const noexcept {
  for (std::size_t i = 0; i < felt_.hands.size(); ++i)
    if (!(felt_.hands[i].felt == was.hands[i].felt && felt_.hands[i].motors == was.hands[i].motors)) return false;
  if (felt_.state_hash != was.state_hash) return false;
  return !recording_.limited || (felt_.in_contact == was.in_contact && felt_.deepest == was.deepest);
}

RecordedDevice::RecordedDevice(const Recording& recording, std::size_t hand) {
  if (hand >= recording.hands) throw Error("The recording has no such hand.", ErrorCode::invalid_argument);
  samples_.reserve(recording.samples.size());
  for (const RecordedSample& sample : recording.samples) samples_.push_back(sample.hand(hand));
}

bool RecordedDevice::read(DeviceReading& reading) noexcept {
  if (next_ >= samples_.size()) return false;
  const HandSample& sample = samples_[next_++];
  if (!sample.input.present) return false;
  reading = {sample.input.pose, sample.input.buttons, sample.motors, sample.input.action, sample.input.body};
  return true;
}

}  // namespace cotouch
