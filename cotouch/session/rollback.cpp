#include <cotouch/session/rollback.h>

#include <algorithm>
#include <cassert>
#include <utility>

namespace cotouch {

Rollback::Rollback(const RollbackSettings& settings, Tick start)
    : settings_(settings), objective_(start), now_(start), used_(k_widest_window) {
  settings_.window = std::clamp<Tick>(settings_.window, 1, k_widest_window - 1);
}

std::uint32_t Rollback::awaited() const {
  std::uint32_t members = 0;
  for (std::size_t m = 0; m < sources_.size(); ++m)
    if (sources_[m] && !sources_[m]->stream.known(objective_)) members |= 1U << m;
  return members;
}

void Rollback::open(MemberId member, Tick first) {
  sources_[member].emplace(
      Source{InputStream(first), HandPredictor(settings_.prediction, settings_.tick_seconds), first});
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
  if (sources_[member]) sources_[member]->predictor.set_jitter(seconds);
}

// A stream ends with a leave only once all before it is known: whoever is gone could not fill the gap.
void Rollback::observe(MemberId member) {
  Source& source = *sources_[member];
  for (; source.observed < source.stream.next(); ++source.observed) {
    const PeerInput* input = source.stream.at(source.observed);
    if (input == nullptr) continue;
    source.predictor.observe(source.observed, input->hand);
    if (input->has(SessionEvent::Kind::leave)) finish(member, source.observed + 1);
  }
}

// Was something else simulated?
void Rollback::compare(MemberId member, Tick tick, const PeerInput& input) {
  if (tick < objective_ || tick >= now_) return;
  const TickInputs& used = used_[index(tick)];
  const bool same_hand = member >= k_shared_hands || used.hands[member] == input.hand;
  if (!same_hand || used.reset != is_reset(tick)) first_wrong_ = std::min(first_wrong_, tick);
}

bool Rollback::is_reset(Tick tick) const {
  return std::any_of(sources_.begin(), sources_.end(), [&](const std::optional<Source>& source) {
    const PeerInput* known = source && source->stream.known(tick) ? source->stream.at(tick) : nullptr;
    return known != nullptr && known->has(SessionEvent::Kind::reset);
  });
}

TickInputs Rollback::inputs_of(Tick tick) const {
  TickInputs all;
  for (std::size_t m = 0; m < sources_.size(); ++m) {
    if (!sources_[m]) continue;
    const Source& source = *sources_[m];
    const PeerInput* known = source.stream.known(tick) ? source.stream.at(tick) : nullptr;
    if (m < k_shared_hands) all.hands[m] = known != nullptr ? known->hand : source.predictor.predict(tick);
  }
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
  if (tick > objective_) return false;
  for (const std::optional<Source>& source : sources_)
    if (source && tick < source->stream.next() && tick >= source->stream.first() && !source->stream.keeps(tick))
      return false;
  objective_ = now_ = tick;
  first_wrong_ = k_never;
  return true;
}

}  // namespace cotouch
