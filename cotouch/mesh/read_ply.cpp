#include <cotouch/base/error.h>
#include <cotouch/mesh/readers.h>
#include <cotouch/mesh/scan.h>
#include <cotouch/mesh/triangulate.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <utility>

namespace cotouch {
namespace {

static_assert(std::endian::native == std::endian::little, "big-endian files are turned on reading");

enum class Format { text, little, big };
enum class Type { int8, uint8, int16, uint16, int32, uint32, float32, float64 };

struct Property {
  std::string name;
  bool list = false;
  Type count_type = Type::uint8;  // of a list
  Type type = Type::float32;
};
struct Element {
  std::string name;
  std::uint64_t count = 0;
  std::vector<Property> properties;
};
struct Header {
  Format format = Format::text;
  std::vector<Element> elements;
};

Type type_named(std::string_view name) {
  static constexpr std::array<std::pair<std::string_view, Type>, 16> k_types{{{"char", Type::int8},
                                                                              {"int8", Type::int8},
                                                                              {"uchar", Type::uint8},
                                                                              {"uint8", Type::uint8},
                                                                              {"short", Type::int16},
                                                                              {"int16", Type::int16},
                                                                              {"ushort", Type::uint16},
                                                                              {"uint16", Type::uint16},
                                                                              {"int", Type::int32},
                                                                              {"int32", Type::int32},
                                                                              {"uint", Type::uint32},
                                                                              {"uint32", Type::uint32},
                                                                              {"float", Type::float32},
                                                                              {"float32", Type::float32},
                                                                              {"double", Type::float64},
                                                                              {"float64", Type::float64}}};
  for (const auto& [known, type] : k_types)
    if (known == name) return type;
  throw Error("has a property of unknown type '" + std::string(name.substr(0, 40)) + "'. Export it again.");
}

Header read_header(TextScanner& lines) {
  Header header;
  std::string_view line;
  if (!lines.line(line) || line != "ply") throw Error("is no PLY file: it does not begin with 'ply'.");
  bool has_format = false;
  while (lines.line(line)) {
    TextScanner words(line);
    const std::string_view keyword = words.word();
    if (keyword == "end_header") {
      if (!has_format) throw Error("is damaged: its header names no format. Export it again.");
      return header;
    }
    if (keyword == "format") {
      const std::string_view format = words.word();
      has_format = true;
      if (format == "ascii")
        header.format = Format::text;
      else if (format == "binary_little_endian")
        header.format = Format::little;
      else if (format == "binary_big_endian")
        header.format = Format::big;
      else
        throw Error("has the unknown format '" + std::string(format.substr(0, 40)) + "'. Export it again.");
    } else if (keyword == "element") {
      Element element;
      element.name = words.word();
      if (!parse_number(words.word(), element.count))
        throw Error("is damaged: an element has no count. Export it again.");
      header.elements.push_back(std::move(element));
    } else if (keyword == "property") {
      if (header.elements.empty()) throw Error("is damaged: a property belongs to no element. Export it again.");
      Property property;
      std::string_view type = words.word();
      if (type == "list") {
        property.list = true;
        property.count_type = type_named(words.word());
        type = words.word();
      }
      property.type = type_named(type);
      property.name = words.word();
      header.elements.back().properties.push_back(std::move(property));
    }
  }
  throw Error("is cut short: its header has no end. Export or download it again.");
}

// Reads one value after another, whatever the format. Every value fits a double exactly.
class Values {
 public:
  Values(std::string_view body, Format format) : format_(format), text_(body), rest_(body) {}

  double next(Type type) {
    if (format_ == Format::text) {
      const std::string_view word = text_.word();
      double value = 0;
      if (word.empty()) end();
      if (!parse_number(word, value))
        throw Error("is damaged: '" + std::string(word.substr(0, 40)) + "' is no number. Export it again.");
      return value;
    }
    switch (type) {
      case Type::int8: return binary<std::int8_t>();
      case Type::uint8: return binary<std::uint8_t>();
      case Type::int16: return binary<std::int16_t>();
      case Type::uint16: return binary<std::uint16_t>();
      case Type::int32: return binary<std::int32_t>();
      case Type::uint32: return binary<std::uint32_t>();
      case Type::float32: return static_cast<double>(binary<float>());
      default: return binary<double>();
    }
  }
  // What is left bounds how many values there can be: a byte each at least.
  std::size_t left() const { return format_ == Format::text ? text_.rest().size() : rest_.size(); }
  bool more() { return format_ == Format::text ? !text_.word().empty() : !rest_.empty(); }

 private:
  [[noreturn]] static void end() {
    throw Error(
        "is cut short: it ends before the last of the vertices and faces it promises. Export or download it again.");
  }
  template <class T>
  T binary() {
    if (rest_.size() < sizeof(T)) end();
    std::array<char, sizeof(T)> bytes;
    std::memcpy(bytes.data(), rest_.data(), sizeof(T));
    if (format_ == Format::big) std::reverse(bytes.begin(), bytes.end());
    rest_.remove_prefix(sizeof(T));
    return std::bit_cast<T>(bytes);
  }

  Format format_;
  TextScanner text_;
  std::string_view rest_;
};

std::size_t list_length(Values& values, const Property& property) {
  const double length = values.next(property.count_type);
  if (!(length >= 0 && length <= static_cast<double>(values.left())))
    throw Error("is cut short or damaged: a list is longer than the file. Export or download it again.");
  return static_cast<std::size_t>(length);
}

void read_vertices(const Element& element, Values& values, TriangleMesh& mesh) {
  std::size_t coordinates = 0;
  for (const Property& property : element.properties)
    if (!property.list && (property.name == "x" || property.name == "y" || property.name == "z")) ++coordinates;
  if (coordinates != 3) throw Error("is damaged: its vertices have no x, y and z. Export it again.");
  for (std::uint64_t i = 0; i < element.count; ++i) {
    Vec3d v;
    for (const Property& property : element.properties) {
      if (property.list) {
        for (std::size_t left = list_length(values, property); left > 0; --left) values.next(property.type);
        continue;
      }
      const double value = values.next(property.type);
      if (property.name == "x") v.x = value;
      if (property.name == "y") v.y = value;
      if (property.name == "z") v.z = value;
    }
    mesh.vertices.push_back(v);
  }
}

// Faces by name; anything else is read past. Indices are checked at the end, when all vertices are known.
void read_other(const Element& element, Values& values, const MeshLimits& limits,
                std::vector<std::vector<std::uint32_t>>& polygons, std::vector<Triangle>& triangles) {
  std::vector<std::uint32_t> corners;
  for (std::uint64_t i = 0; i < element.count; ++i) {
    // An element without properties takes no bytes, so its count proves nothing.
    if (element.properties.empty()) return;
    for (const Property& property : element.properties) {
      if (!property.list) {
        values.next(property.type);
        continue;
      }
      const bool is_face =
          element.name == "face" && (property.name == "vertex_indices" || property.name == "vertex_index");
      corners.clear();
      for (std::size_t left = list_length(values, property); left > 0; --left) {
        const double index = values.next(property.type);
        if (!is_face) continue;
        if (!(index >= 0 && index < 4294967295.0))
          throw Error("is damaged: face " + std::to_string(i + 1) + " refers to no vertex. Export it again.");
        corners.push_back(static_cast<std::uint32_t>(index));
      }
      if (corners.size() == 3) triangles.push_back({corners[0], corners[1], corners[2]});
      if (corners.size() > 3) polygons.push_back(corners);
      if (triangles.size() + polygons.size() > limits.triangles)
        throw Error("has more than the " + std::to_string(limits.triangles) + " triangles allowed. Simplify it first.",
                    ErrorCode::too_large);
    }
  }
}

}  // namespace

TriangleMesh read_ply(FileBytes file, const MeshLimits& limits, std::vector<std::string>& notes) {
  TextScanner lines(as_text(file));
  const Header header = read_header(lines);
  Values values(lines.rest(), header.format);
  TriangleMesh mesh;
  std::vector<std::vector<std::uint32_t>> polygons;
  for (const Element& element : header.elements) {
    if (element.name == "vertex") {
      if (element.count > limits.vertices)
        throw Error("has " + std::to_string(element.count) + " vertices, more than the " +
                        std::to_string(limits.vertices) + " allowed. Simplify it first.",
                    ErrorCode::too_large);
      read_vertices(element, values, mesh);
    } else {
      if (element.name == "tristrips") notes.push_back("Triangle strips are not read; export the file with faces.");
      read_other(element, values, limits, polygons, mesh.triangles);
    }
  }
  const auto check = [&](std::uint32_t index) {
    if (index >= mesh.vertices.size())
      throw Error("is damaged: a face refers to vertex " + std::to_string(index) + " of " +
                  std::to_string(mesh.vertices.size()) + ". Export it again.");
  };
  for (const Triangle& t : mesh.triangles)
    for (const std::uint32_t index : t) check(index);
  for (const std::vector<std::uint32_t>& polygon : polygons) {
    for (const std::uint32_t index : polygon) check(index);
    add_polygon(mesh, polygon);
    if (mesh.triangles.size() > limits.triangles)
      throw Error("has more than the " + std::to_string(limits.triangles) + " triangles allowed. Simplify it first.",
                  ErrorCode::too_large);
  }
  if (values.more()) notes.emplace_back("The file goes on after what it promises; the rest was ignored.");
  return mesh;
}

}  // namespace cotouch
