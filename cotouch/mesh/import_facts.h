// How a mesh came out of its file, for whoever wants to show or change it.
#pragma once

#include <string>

namespace cotouch {

// What was taken for a file's unit and axes, and why.
struct ImportFacts {
  enum class From { stated, guessed, given };
  std::string unit;  // "mm"; "0.002 m" for one without a name
  double metres_per_unit = 1;
  From unit_from = From::guessed;
  char up_axis = 'z';
  From up_from = From::guessed;
  std::string guess;  // why this unit, if it was guessed: "180 across; read as mm because a part of 180 m is unlikely"
};

}  // namespace cotouch
