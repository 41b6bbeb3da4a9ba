#include <cotouch/session/recorded_events.h>

#include <cotouch/session/names.h>

#include <algorithm>
#include <array>

namespace cotouch {

std::vector<NamedEvent> named_events(const Recording& recording) {
  std::array<std::string, k_recorded_hands> owners;  // names; the last words of one who leaves may come after
  std::vector<NamedEvent> events;
  for (const RecordedEvent& recorded : recording.events) {
    if (recorded.kind == RecordedEvent::Kind::leads) continue;  // recorded_people() tells who led what
    RecordedEvent event = recorded;
    event.text = printable(recorded.text);
    std::string* const owner = event.hand && *event.hand < owners.size() ? &owners[*event.hand] : nullptr;
    const bool joined = event.kind == RecordedEvent::Kind::joined;
    if (joined && owner != nullptr) *owner = clean_name(event.text);
    std::string who = owner != nullptr ? *owner : "";
    if (joined || (who.empty() && event.kind == RecordedEvent::Kind::left)) who = clean_name(event.text);
    if (who.empty()) who = event.hand ? "hand " + std::to_string(*event.hand + 1) : "somebody";
    events.push_back({std::move(event), std::move(who)});
  }
  std::stable_sort(events.begin(), events.end(),
                   [](const NamedEvent& a, const NamedEvent& b) { return a.event.tick < b.event.tick; });
  return events;
}

const char* word_of(RecordedEvent::Kind kind) {
  static constexpr std::array<const char*, 6> k_words{"joined", "left", "said", "marked", "reset", "leads"};
  return k_words[static_cast<std::size_t>(kind)];
}

}  // namespace cotouch
