#include <cotouch/session/recorded_events.h>

#include <cotouch/session/names.h>

#include <algorithm>
#include <array>

namespace cotouch {

std::vector<NamedEvent> named_events(const Recording& recording) {
  const std::vector<RecordedPerson> people = recorded_people(recording);
  std::vector<NamedEvent> events;
  for (const RecordedEvent& recorded : recording.events) {
    RecordedEvent event = recorded;
    event.text = printable(recorded.text);
    std::string who;
    for (const RecordedPerson& person : people)
      if (event.hand && person.hand == event.hand && event.tick >= person.from && event.tick <= person.to)
        who = clean_name(person.name);
    if (event.kind == RecordedEvent::Kind::joined || (who.empty() && event.kind == RecordedEvent::Kind::left))
      who = clean_name(event.text);
    if (who.empty()) who = event.hand ? "hand " + std::to_string(*event.hand + 1) : "somebody";
    events.push_back({std::move(event), std::move(who)});
  }
  std::stable_sort(events.begin(), events.end(),
                   [](const NamedEvent& a, const NamedEvent& b) { return a.event.tick < b.event.tick; });
  return events;
}

const char* word_of(RecordedEvent::Kind kind) {
  static constexpr std::array<const char*, 5> k_words{"joined", "left", "said", "marked", "reset"};
  return k_words[static_cast<std::size_t>(kind)];
}

}  // namespace cotouch
