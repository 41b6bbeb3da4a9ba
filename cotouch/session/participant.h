// Who takes part in a session, and what they may take hold of.
#pragma once

#include <cstdint>
#include <string>

namespace cotouch {

enum class ParticipantKind : std::uint8_t {
  page,     // somebody looking at a page
  device,   // at this machine, without a screen of its own
  program,  // a script, or the program that the session is part of
  peer,     // another session over a network
};

enum class ParticipantId : std::uint32_t { nobody = 0 };  // given out by the session, never twice

// What somebody may do at all, whatever others are doing (docs/security.md has the table).
enum class Rights : std::uint8_t {
  own,    // everything
  hand,   // hold and move things, speak and mark
  watch,  // see
};

struct Participant {
  ParticipantId id = ParticipantId::nobody;
  ParticipantKind kind = ParticipantKind::page;
  std::string name;   // for other people to read
  std::string color;  // "#rrggbb", their own as long as there are enough colours
  Rights rights = Rights::own;
};

enum class HandId : std::uint32_t { none = 0 };

using BodyId = std::uint32_t;  // a body's id in its scene; 0 is none

}  // namespace cotouch
