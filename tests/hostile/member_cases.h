// What a lying member does to a real host and an honest member, and what must hold.
#pragma once

#include "hostile/guest.h"

namespace cotouch::hostile {

// Members of the table: the real host and the honest real guest.
constexpr MemberId k_anna = 0, k_ben = 1;

enum class Fate : std::uint8_t {
  any,         // it may go on taking part, or be given up
  thrown_out,  // the others must give it up
};

struct MemberCase {
  std::string name;
  std::string sends;
  // Called in every round, with the seconds since it began to lie.
  std::function<void(Guest& liar, double since)> lie;
  double seconds = 0.3;
  Fate fate = Fate::any;
  bool differs = false;            // the honest may differ for a while, and be put right
  std::size_t to_third_party = 0;  // bytes that may go there
  bool introduces_third_party = false;
};

std::vector<MemberCase> member_cases();
MemberCase random_lie(std::uint64_t seed);

}  // namespace cotouch::hostile
