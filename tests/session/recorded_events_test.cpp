#include <cotouch/session/recorded_events.h>

#include <gtest/gtest.h>

namespace cotouch::this_file {
namespace {

using Kind = RecordedEvent::Kind;

std::vector<std::string> names_in(const std::vector<RecordedEvent>& events) {
  Recording recording;
  recording.events = events;
  std::vector<std::string> names;
  for (const NamedEvent& named : named_events(recording)) names.push_back(named.who);
  return names;
}

RecordedEvent event(std::uint64_t tick, Kind kind, std::optional<std::uint32_t> hand, const std::string& text) {
  RecordedEvent made;
  made.tick = tick;
  made.kind = kind;
  made.hand = hand;
  made.text = text;
  return made;
}

TEST(RecordedEvents, AHandThatIsGivenAgainHasItsNewOwnersName) {
  EXPECT_EQ(names_in({event(0, Kind::joined, 0, "Anna"), event(5, Kind::said, 0, "hello"),
                      event(9, Kind::left, 0, "Anna"), event(9, Kind::said, 0, "good bye"),
                      event(20, Kind::joined, 0, "Ben"), event(21, Kind::said, 0, "hello")}),
            (std::vector<std::string>{"Anna", "Anna", "Anna", "Anna", "Ben", "Ben"}));
}

TEST(RecordedEvents, WhoeverIsUnknownHasAHandOrNoName) {
  EXPECT_EQ(names_in({event(0, Kind::said, 3, "hello"), event(1, Kind::reset, {}, ""),
                      event(2, Kind::joined, {}, "Watcher"), event(3, Kind::left, {}, "Watcher")}),
            (std::vector<std::string>{"hand 4", "somebody", "Watcher", "Watcher"}));
}

}  // namespace
}  // namespace cotouch::this_file
