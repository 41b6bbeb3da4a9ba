// Gmsh's files: sections between lines "$Name" and "$EndName". Version 2 lists nodes and elements one by one, version 4
// in blocks, one for each piece of the geometry. A binary file has the same numbers without the spaces.
#include <cotouch/base/cancel.h>
#include <cotouch/base/error.h>
#include <cotouch/elastic/tet_file.h>
#include <cotouch/mesh/scan.h>

#include <array>
#include <cstring>

namespace cotouch {
namespace {

enum class Version { v2, v4_0, v4_1 };

constexpr std::uint64_t k_tet = 4;

// Nodes of an element by Gmsh's number for its kind; 0 for kinds that are not known here.
std::uint64_t nodes_of_kind(std::uint64_t kind) {
  static constexpr std::array<std::uint8_t, 32> k_nodes{0, 2,  3,  4,  4, 8,  6,  5,  3,  6,  9, 10, 27, 18, 14, 1,
                                                        8, 20, 15, 13, 9, 10, 12, 15, 15, 21, 4, 5,  6,  20, 35, 56};
  if (kind < k_nodes.size()) return k_nodes[kind];
  return kind == 92 ? 64 : kind == 93 ? 125 : 0;
}
bool is_higher_tet(std::uint64_t kind) {
  return kind == 11 || (kind >= 29 && kind <= 31);
}
// Hexahedra, prisms and pyramids.
bool is_other_volume(std::uint64_t kind) {
  return (kind >= 5 && kind <= 7) || (kind >= 12 && kind <= 14) || (kind >= 17 && kind <= 19) || kind == 92 ||
         kind == 93;
}

class MshReader {
 public:
  MshReader(FileBytes bytes, const TetFileOptions& options) : text_(as_text(bytes)), options_(options) {}

  TetFile read() {
    read_format();
    bool has_nodes = false, has_elements = false;
    for (std::string_view name = text_.word(); !name.empty(); name = text_.word()) {
      if (!name.starts_with('$'))
        throw Error("is damaged: '" + std::string(name.substr(0, 40)) + "' is between two sections. Export it again.");
      if (name == "$Nodes") {
        if (has_nodes) throw Error("is damaged: it lists its nodes twice. Export it again.");
        has_nodes = true;
        version_ == Version::v2 ? read_nodes_2() : read_nodes_4();
      } else if (name == "$Elements") {
        if (has_elements) throw Error("is damaged: it lists its elements twice. Export it again.");
        has_elements = true;
        version_ == Version::v2 ? read_elements_2() : read_elements_4();
      }
      end_section(name);
    }
    if (!has_nodes || !has_elements) throw Error("is cut short: it lacks nodes or elements. Export it again.");
    return std::move(file_);
  }
  std::size_t other_volumes() const { return other_volumes_; }

 private:
  void read_format() {
    if (text_.word() != "$MeshFormat")
      throw Error(
          "is no Gmsh file of version 2 or 4: it does not begin with '$MeshFormat'. Save it with '-format msh2'.",
          ErrorCode::unsupported);
    double version = 0;
    int kind = 0, size = 0;
    if (!parse_number(text_.word(), version) || !parse_number(text_.word(), kind) || !parse_number(text_.word(), size))
      throw Error("is damaged: it does not say its format. Export it again.");
    version_ = version < 4 ? Version::v2 : version < 4.1 ? Version::v4_0 : Version::v4_1;
    binary_ = kind == 1;
    const bool known = (version >= 2 && version < 3) || (version >= 4 && version < 4.2);
    if (!known || (binary_ && version_ == Version::v4_0))
      throw Error("is a Gmsh file of a version that is not read. Save it with '-format msh2' or '-format msh41'.",
                  ErrorCode::unsupported);
    if (binary_ && size != 8)
      throw Error("has numbers of another size than 8 bytes, which are not read. Save it as text.",
                  ErrorCode::unsupported);
    if (binary_) {
      end_line();
      if (take<std::int32_t>() != 1)
        throw Error("was written by a machine with another order of bytes. Save it as text.", ErrorCode::unsupported);
    }
    end_section("$MeshFormat");
  }

  // Goes on after "$EndName", wherever it is.
  void end_section(std::string_view name) {
    const std::string end = "$End" + std::string(name.substr(1));
    const std::string_view rest = text_.rest();
    std::size_t at = std::string_view::npos;
    // Piece by piece, each with the beginning of the next: a section may be as long as the file.
    constexpr std::size_t k_piece = 1U << 20U;
    for (std::size_t begin = 0; at == std::string_view::npos && begin < rest.size(); begin += k_piece) {
      throw_if_cancelled();
      const std::size_t found = rest.substr(begin, k_piece + end.size() - 1).find(end);
      if (found != std::string_view::npos) at = begin + found;
    }
    if (at == std::string_view::npos)
      throw Error("is cut short: it has no '" + end.substr(0, 40) + "'. Export or download it again.");
    text_ = TextScanner(rest.substr(at + end.size()));
  }
  // What is binary begins right after the line.
  void end_line() {
    std::string_view rest = text_.rest();
    while (rest.starts_with(' ') || rest.starts_with('\r')) rest.remove_prefix(1);
    if (rest.starts_with('\n')) rest.remove_prefix(1);
    text_ = TextScanner(rest);
  }

  void ask_now_and_then() {
    if (++taken_ % (1U << 12U) == 0) throw_if_cancelled();
  }
  template <class T>
  T take() {
    ask_now_and_then();
    const std::string_view rest = text_.rest();
    T value{};
    if (rest.size() < sizeof value) throw Error("is cut short. Export or download it again.");
    std::memcpy(&value, rest.data(), sizeof value);
    text_ = TextScanner(rest.substr(sizeof value));
    return value;
  }
  template <class T>
  T word() {
    ask_now_and_then();
    const std::string_view next = text_.word();
    T value{};
    if (next.empty() || next.starts_with('$'))
      throw Error("is cut short: it has fewer nodes or elements than it promises. Export or download it again.");
    if (!parse_number(next, value))
      throw Error("is damaged: '" + std::string(next.substr(0, 40)) +
                  "' is no number that belongs there. Export it again.");
    return value;
  }
  double real() { return binary_ ? take<double>() : word<double>(); }
  // Four bytes if binary. Some are negative, none of those that matter.
  std::uint64_t small() {
    return static_cast<std::uint64_t>(binary_ ? std::int64_t{take<std::int32_t>()} : word<std::int64_t>());
  }
  // Eight bytes if binary.
  std::uint64_t large() { return binary_ ? take<std::uint64_t>() : word<std::uint64_t>(); }
  std::uint64_t count(std::uint64_t number, const char* what) {
    check_promise(number, text_.rest().size(), what);
    return number;
  }
  Vec3d point() {
    const double x = real(), y = real(), z = real();
    return {x, y, z};
  }

  void read_nodes_2() {
    std::uint64_t left = count(word<std::uint64_t>(), "nodes");
    if (binary_) end_line();
    for (; left > 0; --left) {
      const std::uint64_t name = small();
      file_.add(TetFile::Node{name, point()}, options_);
    }
  }

  void read_nodes_4() {
    if (binary_) end_line();
    std::uint64_t blocks = count(large(), "blocks of nodes");
    large();                                          // all nodes
    if (version_ == Version::v4_1) large(), large();  // smallest and largest number
    for (; blocks > 0; --blocks) {
      const std::uint64_t first = small(), second = small();  // 4.0: number, dimension; 4.1: dimension, number
      const std::uint64_t dimension = version_ == Version::v4_1 ? first : second;
      // Beside its place a node may have parameters on its curve, surface or volume.
      const std::uint64_t parameters = small() != 0 ? std::min<std::uint64_t>(dimension, 3) : 0;
      const std::uint64_t nodes = count(large(), "nodes");
      std::vector<std::uint64_t> names;
      if (version_ == Version::v4_1)
        for (std::uint64_t i = 0; i < nodes; ++i) names.push_back(large());
      for (std::uint64_t i = 0; i < nodes; ++i) {
        const std::uint64_t name = version_ == Version::v4_1 ? names[i] : large();
        file_.add(TetFile::Node{name, point()}, options_);
        for (std::uint64_t k = 0; k < parameters; ++k) real();
      }
    }
  }

  std::uint64_t nodes_of(std::uint64_t kind) const {
    if (is_higher_tet(kind)) refuse_second_order();
    const std::uint64_t nodes = nodes_of_kind(kind);
    if (nodes == 0)
      throw Error("has elements of a kind that is not known (" + std::to_string(kind) +
                      "). Save it with elements of first order.",
                  ErrorCode::unsupported);
    return nodes;
  }

  // The nodes of one element, which have eight bytes in version 4.1.
  void read_element(std::uint64_t name, std::uint64_t kind, std::uint64_t nodes) {
    TetFile::Element element{name, {}};
    for (std::uint64_t i = 0; i < nodes; ++i) {
      const std::uint64_t node = version_ == Version::v4_1 ? large() : small();
      if (i < 4) element.nodes[i] = node;
    }
    if (kind == k_tet) file_.add(element, options_);
    if (is_other_volume(kind)) ++other_volumes_;
  }

  void read_elements_2() {
    std::uint64_t left = count(word<std::uint64_t>(), "elements");
    if (!binary_) {
      for (; left > 0; --left) {
        const std::uint64_t name = small(), kind = small(), nodes = nodes_of(kind);
        for (std::uint64_t tags = count(small(), "tags"); tags > 0; --tags) small();
        read_element(name, kind, nodes);
      }
      return;
    }
    end_line();
    while (left > 0) {
      const std::uint64_t kind = small(), nodes = nodes_of(kind);
      const std::uint64_t elements = count(small(), "elements"), tags = count(small(), "tags");
      if (elements == 0 || elements > left)
        throw Error("is damaged: it has another number of elements than it promises. Export it again.");
      for (std::uint64_t i = 0; i < elements; ++i) {
        const std::uint64_t name = small();
        for (std::uint64_t k = 0; k < tags; ++k) small();
        read_element(name, kind, nodes);
      }
      left -= elements;
    }
  }

  void read_elements_4() {
    if (binary_) end_line();
    std::uint64_t blocks = count(large(), "blocks of elements");
    large();                                          // all elements
    if (version_ == Version::v4_1) large(), large();  // smallest and largest number
    for (; blocks > 0; --blocks) {
      small(), small();  // dimension and number of the piece of geometry, in either order
      const std::uint64_t kind = small(), nodes = nodes_of(kind);
      for (std::uint64_t left = count(large(), "elements"); left > 0; --left) {
        const std::uint64_t name = large();
        read_element(name, kind, nodes);
      }
    }
  }

  TextScanner text_;
  const TetFileOptions& options_;
  Version version_ = Version::v2;
  bool binary_ = false;
  TetFile file_;
  std::size_t other_volumes_ = 0;
  std::size_t taken_ = 0;  // numbers
};

}  // namespace

TetMesh read_msh(FileBytes file, const TetFileOptions& options, std::vector<std::string>& notes) {
  MshReader reader(file, options);
  const TetFile content = reader.read();
  TetMesh mesh = checked_mesh(content, options, notes);
  if (reader.other_volumes() > 0)
    notes.push_back(std::to_string(reader.other_volumes()) +
                    " hexahedra, prisms and pyramids were left out: the body is missing there.");
  return mesh;
}

}  // namespace cotouch
