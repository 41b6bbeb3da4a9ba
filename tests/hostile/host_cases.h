// What a hostile host does to a real program that joins it, and what must hold.
#pragma once

#include "hostile/crafted.h"
#include "hostile/false_host.h"

namespace cotouch::hostile {

enum class Course : std::uint8_t {
  fails,    // the program ends by itself, with a sentence
  goes_on,  // it takes part, and agrees on ticks
  stays,    // it goes on or waits, as long as its user wants
  any,      // ends or goes on
};

struct HostCase {
  std::string name;
  std::string sends;  // in words
  Course course = Course::fails;
  std::string words;  // that its user must be told
  std::function<void(FalseHost& host, const NetAddress& third_party)> prepare;
  double seconds = 0.3;            // that it is watched for, if it goes on
  std::size_t to_third_party = 0;  // bytes that may go there, with headers
  bool takes_long = false;         // left out of the short run
  std::size_t longest_there = 26;  // bytes of a datagram to a third party: nothing, sealed
  double patience = 15;            // of both, seconds; generous, because machines are shared
};

std::vector<HostCase> host_cases();
std::vector<HostCase> part_cases();  // host_case_parts.cpp: prepared parts
HostCase random_case(std::uint64_t seed);

}  // namespace cotouch::hostile
