#include <cotouch/session/rollback.h>

#include <algorithm>
#include <cassert>
#include <utility>

namespace cotouch {

namespace {

// What a member would do with a hand, if nobody comes before it; null: nothing.
const HandInput* wanted_of(std::uint8_t hand, MemberId member, const PeerInput& input) {
  if (member >= k_shared_hands) return nullptr;  // it only observes
  if (hand == member) return input.hand.present ? &input.hand : nullptr;
  const auto named = std::find_if(input.further.begin(), input.further.end(),
                                  [hand](const FurtherHand& further) { return further.number == hand; });
  return named != input.further.end() ? &named->hand : nullptr;
}

bool comes_before(MemberId a, MemberId b, std::uint8_t hand) {
  return b == k_nobody || a == hand || (b != hand && a < b);
}

}  // namespace

TickInputs together(const InputsOfMembers& members) {
  TickInputs all;
  for (std::uint8_t hand = 0; hand < k_shared_hands; ++hand)
    for (MemberId m = 0; m < k_shared_hands; ++m) {
      const HandInput* const wanted = members[m] != nullptr ? wanted_of(hand, m, *members[m]) : nullptr;
      if (wanted == nullptr || !comes_before(m, all.leaders[hand], hand)) continue;
      all.leaders[hand] = m;
      all.hands[hand] = *wanted;
    }
  return all;
}

Rollback::Rollback(const RollbackSettings& settings, Tick start)
    : settings_(settings), objective_(start), now_(start), begun_(start), used_(k_widest_window) {
  settings_.window = std::clamp<Tick>(settings_.window, 1, k_widest_window - 1);
}

std::uint32_t Rollback::awaited() const {
  std::uint32_t members = 0;
  for (std::size_t m = 0; m < sources_.size(); ++m)
    if (sources_[m] && !sources_[m]->stream.known(objective_)) members |= 1U << m;
  return members;
}

void Rollback::open(MemberId member, Tick first) {
  if (sources_[member]) replaced_ = std::max(replaced_, sources_[member]->stream.end());
  sources_[member].emplace(
      Source{InputStream(first), HandPredictor(settings_.prediction, settings_.tick_seconds), {}, first});
}

const InputStream* Rollback::stream(MemberId member) const {
  return member < sources_.size() && sources_[member] ? &sources_[member]->stream : nullptr;
}

bool Rollback::receive(MemberId member, Tick tick, PeerInput input) {
  if (stream(member) == nullptr) return false;
  // Nobody is further ahead, because all wait for each other; what is not confirmed yet must stay in the ring.
  if (tick >= now_ + 2 * k_widest_window) return false;
  InputStream& stream = sources_[member]->stream;
  if (!stream.add(tick, std::move(input))) return false;
  compare(member, tick, *stream.at(tick));
  observe(member);
  return true;
}

void Rollback::finish(MemberId member, Tick end) {
  if (stream(member) == nullptr) return;
  InputStream& stream = sources_[member]->stream;
  assert(end >= objective_);
  stream.finish(end);
  for (Tick tick = std::max(stream.end(), objective_); tick < now_; ++tick) compare(member, tick, {});
}

void Rollback::set_jitter(MemberId member, double seconds) {
  if (!sources_[member]) return;
  Source& source = *sources_[member];
  source.jitter = seconds;
  source.predictor.set_jitter(seconds);
  for (auto& [number, predictor] : source.further) predictor.set_jitter(seconds);
}

// A stream ends with a leave only once all before it is known: whoever is gone could not fill the gap.
void Rollback::observe(MemberId member) {
  Source& source = *sources_[member];
  for (; source.observed < source.stream.next(); ++source.observed) {
    const PeerInput* input = source.stream.at(source.observed);
    if (input == nullptr) continue;
    observe(source, source.observed, *input);
    if (input->has(SessionEvent::Kind::leave)) finish(member, source.observed + 1);
  }
}

void Rollback::observe(Source& source, Tick tick, const PeerInput& input) {
  source.predictor.observe(tick, input.hand);
  const auto named = [&](std::uint8_t number) {
    return std::any_of(input.further.begin(), input.further.end(),
                       [number](const FurtherHand& further) { return further.number == number; });
  };
  std::erase_if(source.further, [&](const auto& known) { return !named(known.first); });
  for (const FurtherHand& further : input.further) {
    const auto [known, is_new] =
        source.further.try_emplace(further.number, settings_.prediction, settings_.tick_seconds);
    if (is_new) known->second.set_jitter(source.jitter);
    known->second.observe(tick, further.hand);
  }
}

PeerInput Rollback::predict(const Source& source, Tick tick) {
  PeerInput input;
  input.hand = source.predictor.predict(tick);
  for (const auto& [number, predictor] : source.further) input.further.push_back({number, predictor.predict(tick)});
  return input;
}

// Was something else simulated? What was taken for another member's is compared when that one's input is known.
void Rollback::compare(MemberId member, Tick tick, const PeerInput& input) {
  if (tick < objective_ || tick >= now_) return;
  const TickInputs& used = used_[index(tick)];
  bool same = used.reset == is_reset(tick);
  for (std::uint8_t hand = 0; hand < k_shared_hands; ++hand) {
    const HandInput* const wanted = wanted_of(hand, member, input);
    const MemberId leader = used.leaders[hand];
    if (leader == member)
      same = same && wanted != nullptr && used.hands[hand] == *wanted;
    else
      same = same && (wanted == nullptr || !comes_before(member, leader, hand));
  }
  if (!same) first_wrong_ = std::min(first_wrong_, tick);
}

bool Rollback::is_reset(Tick tick) const {
  return std::any_of(sources_.begin(), sources_.end(), [&](const std::optional<Source>& source) {
    const PeerInput* known = source && source->stream.known(tick) ? source->stream.at(tick) : nullptr;
    return known != nullptr && known->has(SessionEvent::Kind::reset);
  });
}

TickInputs Rollback::inputs_of(Tick tick) const {
  std::array<PeerInput, k_most_members> predicted;
  InputsOfMembers inputs{};
  for (std::size_t m = 0; m < sources_.size(); ++m) {
    if (!sources_[m]) continue;
    const Source& source = *sources_[m];
    inputs[m] = source.stream.known(tick) ? source.stream.at(tick) : nullptr;
    if (inputs[m] == nullptr) inputs[m] = &(predicted[m] = predict(source, tick));
  }
  TickInputs all = together(inputs);
  all.reset = is_reset(tick);
  return all;
}

void Rollback::simulate(Tick tick, std::vector<WorldRequest>& requests) {
  TickInputs& inputs = used_[index(tick)];
  inputs = inputs_of(tick);
  requests.emplace_back(AdvanceState{tick, inputs});
  requests.emplace_back(SaveState{tick + 1});
}

Tick Rollback::repair(std::vector<WorldRequest>& requests) {
  const Tick from = std::exchange(first_wrong_, k_never);
  if (from >= now_) return 0;
  requests.emplace_back(LoadState{from});
  for (Tick tick = from; tick < now_; ++tick) simulate(tick, requests);
  return now_ - from;
}

void Rollback::advance(std::vector<WorldRequest>& requests) {
  simulate(now_, requests);
  ++now_;
}

bool Rollback::confirm(std::vector<WorldRequest>& requests) {
  if (objective_ >= now_ || first_wrong_ <= objective_ || awaited() != 0) return false;
  requests.emplace_back(ConfirmTick{objective_, used_[index(objective_)]});
  ++objective_;
  return true;
}

bool Rollback::restart(Tick tick) {
  if (tick > objective_ || tick < replaced_) return false;
  for (const std::optional<Source>& source : sources_)
    if (source && tick < source->stream.next() && tick >= source->stream.first() && !source->stream.keeps(tick))
      return false;
  objective_ = now_ = begun_ = tick;
  first_wrong_ = k_never;
  return true;
}

}  // namespace cotouch
