// What the serve tests share: two balls to show, and what pages send and are sent about them.
#pragma once

#include <cotouch/serve/page_host.h>
#include <cotouch/serve/wire_layout.h>

#include <cstring>
#include <string>

#include "serve/page_client.h"
#include "session/session_fixture.h"
#include "support/eventually.h"

namespace cotouch::testing_serve {

using testing_session::ball;
using testing_session::TestLibrary;
using testing_session::two_balls;

template <class T>
T number_at(const std::string& bytes, std::size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

// Where the entries of a state frame's section begin, and how many there are; nothing if it has no such section.
struct Section {
  std::size_t at = 0;
  std::uint32_t count = 0;
};
inline Section section_of(const std::string& frame, wire::SectionType type) {
  for (std::size_t at = wire::MessageHead::k_bytes; at < frame.size();) {
    wire::SectionHead head;
    wire::get(frame, at, head);
    at += wire::SectionHead::k_bytes;
    if (head.type == static_cast<std::uint16_t>(type)) return {at, head.count};
    at += (std::size_t{head.entry_bytes} * head.count + 3) / 4 * 4;
  }
  return {};
}
template <class Entry>
Entry first_entry(const std::string& frame, wire::SectionType type) {
  Entry entry;
  if (const Section section = section_of(frame, type); section.count > 0) wire::get(frame, section.at, entry);
  return entry;
}
inline wire::ClockEntry clock_of(const std::string& frame) {
  return first_entry<wire::ClockEntry>(frame, wire::SectionType::clock);
}
inline wire::HandEntry hand_of(const std::string& frame) {
  return first_entry<wire::HandEntry>(frame, wire::SectionType::hands);
}
inline wire::BodyEntry body_of(const std::string& frame) {
  return first_entry<wire::BodyEntry>(frame, wire::SectionType::bodies);
}

// Of the two balls the upper one, body 2, can be taken; the first who takes it gets the hand 1.
inline const Json k_grasp{{"type", "grasp"}, {"body", 2}};
inline const Json k_release{{"type", "release_hand"}, {"hand", 1}};

inline std::string hand_input(std::uint32_t sequence, std::uint32_t generation, const Vec3d& position) {
  std::string bytes;
  wire::MessageHead head{wire::k_version, static_cast<std::uint8_t>(wire::MessageType::hand_input), 0, sequence,
                         generation};
  head.length = wire::MessageHead::k_bytes + wire::HandInput::k_bytes;
  wire::put(bytes, head);
  wire::put(bytes, wire::HandInput{1, 0, {position, {}}});
  return bytes;
}

// With the two balls open before anybody is there.
inline void start_with_balls(Session& session) {
  session.start();
  const ParticipantId who = session.join(ParticipantKind::program, "test");
  session.command_and_wait(who, ShowScene{two_balls()});
  session.leave(who);
}

}  // namespace cotouch::testing_serve
