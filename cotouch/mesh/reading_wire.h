// What cotouch-read-mesh and the program that starts it say to each other, in the byte order and layout of the machine
// that both run on.
//
// The reader is started with the arguments of ReadingTask and these descriptors: 0, 1 and 2 are /dev/null, and
//   k_reading_socket  a stream socket for what follows
//   k_reading_file    the file, for reading
// It sends messages that begin with a ReadingTag; texts and lists are a 64-bit count and their items.
#pragma once

#include <cotouch/mesh/readers.h>

#include <cstdint>
#include <string>
#include <vector>

namespace cotouch {

constexpr int k_reading_socket = 3, k_reading_file = 4;

enum class ReadingTag : std::uint8_t {
  error = 1,  // an ErrorCode's byte, the rest of a sentence that begins with the file's name; the last message
  need,       // the name of a file beside the first; answered by a byte, 1 with a descriptor or 0 without
  mesh,  // name, metres per unit, up axis, vertices, triangles, number of pieces and each, number of notes and each
  done,  // the last message
};

// The reader ends with it when it does not understand its arguments: the two programs are of different versions.
constexpr int k_reading_misunderstood = 64;

struct ReadingTask {
  std::string extension;  // in lower case and without its dot
  MeshLimits limits;
  // Address space beyond what the reader is born with: for the file alone, and at most, whatever it is given besides.
  std::uint64_t memory_bytes = 0, most_memory_bytes = 0;
  bool unit_is_known = false;   // what the file says about its unit does not matter, even if it makes no sense
  bool may_need_files = false;  // asking for further files can be of use

  std::vector<std::string> arguments() const;
  // False if they were not written by this version.
  static bool parse(const std::vector<std::string>& arguments, ReadingTask& task);
};

}  // namespace cotouch
