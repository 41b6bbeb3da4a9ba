// What the readers of tetrahedra share: the content of a file before it is checked.
#pragma once

#include <cotouch/elastic/read_tets.h>

namespace cotouch {

struct TetFile {
  struct Node {
    std::uint64_t name;  // as elements refer to it
    Vec3d at;            // in the file's unit
  };
  struct Element {
    std::uint64_t name;
    std::array<std::uint64_t, 4> nodes;  // by name
  };
  std::vector<Node> nodes;
  std::vector<Element> tets;

  // Throw Error beyond the limits.
  void add(const Node& node, const TetFileOptions& options);
  void add(const Element& tet, const TetFileOptions& options);
};

// Throws Error if the file's content is no sound volume.
TetMesh checked_mesh(const TetFile& file, const TetFileOptions& options, std::vector<std::string>& notes);

// Throws Error if a file promises more things than it has bytes left.
void check_promise(std::uint64_t count, std::size_t bytes_left, const char* what);
[[noreturn]] void refuse_second_order();

}  // namespace cotouch
