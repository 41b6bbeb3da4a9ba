#include <cotouch/base/error.h>
#include <cotouch/elastic/anchor.h>
#include <cotouch/elastic/tet_faces.h>
#include <cotouch/elastic/thin_ends.h>
#include <cotouch/mesh/scan.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>

namespace cotouch {
namespace {

Box3d bounds(const TetMesh& mesh) {
  Box3d box;
  for (const Vec3d& node : mesh.nodes) box.add(node);
  return box;
}

double longest_edge(const TetMesh& mesh) {
  double longest = 0;
  for (const Tet& tet : mesh.tets)
    for (std::size_t i = 0; i < 4; ++i)
      for (std::size_t k = 0; k < i; ++k)
        longest = std::max(longest, norm_squared(mesh.nodes[tet[i]] - mesh.nodes[tet[k]]));
  return std::sqrt(longest);
}

[[noreturn]] void refuse(const Anchor& anchor, const std::string& why, const TetMesh& mesh) {
  const Box3d box = bounds(mesh);
  char place[240];
  std::snprintf(place, sizeof place, "The body reaches from (%.4g, %.4g, %.4g) to (%.4g, %.4g, %.4g) m.", box.low.x,
                box.low.y, box.low.z, box.high.x, box.high.y, box.high.z);
  throw Error("The anchor '" + to_string(anchor) + "' " + why + ". " + place, ErrorCode::invalid_argument);
}

// The place that an anchor holds, as a question and as how far a point is from it.
double distance_to(const Anchor& anchor, const Vec3d& p) {
  if (const auto* plane = std::get_if<PlaneAnchor>(&anchor)) {
    const double beyond = p[plane->axis] - plane->at;
    return std::max(0.0, plane->above ? -beyond : beyond);
  }
  if (const auto* box = std::get_if<BoxAnchor>(&anchor)) return norm(p - max(box->low, min(box->high, p)));
  const auto& pick = std::get<PointAnchor>(anchor);
  return std::max(0.0, norm(p - pick.point) - pick.radius);
}

bool holds(const Anchor& anchor, const Vec3d& p) {
  if (const auto* plane = std::get_if<PlaneAnchor>(&anchor))
    return plane->above ? p[plane->axis] >= plane->at : p[plane->axis] <= plane->at;
  if (const auto* box = std::get_if<BoxAnchor>(&anchor)) return p == max(box->low, min(box->high, p));
  const auto& pick = std::get<PointAnchor>(anchor);
  return norm_squared(p - pick.point) <= pick.radius * pick.radius;
}

std::uint32_t nearest_surface_node(const TetMesh& mesh, const Vec3d& point) {
  const TetSurface surface = surface_of(mesh);
  std::uint32_t nearest = surface.node.front();
  for (const std::uint32_t node : surface.node)
    if (norm_squared(mesh.nodes[node] - point) < norm_squared(mesh.nodes[nearest] - point)) nearest = node;
  return nearest;
}

constexpr double k_thin_end = 4;  // edges, that a part may reach beyond its tetrahedra

[[noreturn]] void refuse_empty(const Anchor& anchor, const TetMesh& mesh) {
  double nearest = distance_to(anchor, mesh.nodes.front());
  for (const Vec3d& node : mesh.nodes) nearest = std::min(nearest, distance_to(anchor, node));
  const char* const cure = nearest <= k_thin_end * longest_edge(mesh)
                               ? "Hold more of it, or cut it into more tetrahedra (--tets, or Detail in the page), "
                                 "which reach farther into thin ends"
                               : "Put it where the body is";
  char why[240];
  std::snprintf(why, sizeof why, "holds no node of the body: the nearest is %.3g mm away. %s", nearest * 1e3, cure);
  refuse(anchor, why, mesh);
}

// The nodes that an anchor holds.
std::vector<std::uint32_t> held_by(const Anchor& anchor, const TetMesh& mesh, const TriangleMesh& surface) {
  std::vector<std::uint32_t> nodes;
  for (std::uint32_t i = 0; i < mesh.nodes.size(); ++i)
    if (holds(anchor, mesh.nodes[i])) nodes.push_back(i);
  const double edge = longest_edge(mesh);
  const auto* const pick = std::get_if<PointAnchor>(&anchor);
  if (pick != nullptr) {
    const std::uint32_t nearest = nearest_surface_node(mesh, pick->point);
    if (norm(mesh.nodes[nearest] - pick->point) <= std::max(pick->radius, edge)) nodes.push_back(nearest);
  }
  if (pick == nullptr || nodes.empty()) {
    const auto inside = [&](const Vec3d& p) { return holds(anchor, p); };
    const auto more = nodes_behind_thin_ends(mesh, surface, inside, nodes, k_thin_end * edge);
    nodes.insert(nodes.end(), more.begin(), more.end());
  }
  if (nodes.empty()) refuse_empty(anchor, mesh);
  return nodes;
}

[[noreturn]] void refuse_text(std::string_view text, const char* why) {
  throw Error("The anchor '" + std::string(text.substr(0, 80)) + "' " + why +
                  ". Write 'x<0.01' or 'z>-0.2' for one side of a plane, 'box:' and two corners as in "
                  "'box:0,0,0,0.1,0.1,0.1', or 'point:' and a radius as in 'point:0,0,0@0.005', in metres.",
              ErrorCode::invalid_argument);
}

constexpr double k_largest = 1e4;  // metres, as for the nodes of a mesh

double number(std::string_view word, std::string_view text) {
  while (word.starts_with(' ')) word.remove_prefix(1);
  while (word.ends_with(' ')) word.remove_suffix(1);
  double value = 0;
  if (!parse_number(word, value)) refuse_text(text, "lacks a number");
  if (!(std::fabs(value) <= k_largest)) refuse_text(text, "has a number that is no length of a body");
  return value;
}

// Exactly N numbers between commas.
template <std::size_t N>
std::array<double, N> numbers(std::string_view list, std::string_view text) {
  std::array<double, N> values{};
  for (std::size_t i = 0; i < N; ++i) {
    const std::size_t comma = list.find(',');
    if ((comma == std::string_view::npos) != (i + 1 == N))
      refuse_text(text, N == 6 ? "should have six numbers with commas between them"
                               : "should have three numbers with commas between them");
    values[i] = number(list.substr(0, comma), text);
    list.remove_prefix(comma == std::string_view::npos ? list.size() : comma + 1);
  }
  return values;
}

void append(std::string& text, double value) {
  char digits[32];
  text.append(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
}

void append(std::string& text, const Vec3d& v) {
  for (std::size_t i = 0; i < 3; ++i) {
    if (i > 0) text += ',';
    append(text, v[i]);
  }
}

}  // namespace

std::vector<std::uint32_t> anchored_nodes(const TetMesh& mesh, std::span<const Anchor> anchors,
                                          const TriangleMesh& surface) {
  std::vector<bool> held(mesh.nodes.size(), false);
  if (mesh.tets.empty() && !anchors.empty())
    throw Error("A body without tetrahedra cannot be anchored.", ErrorCode::invalid_argument);
  for (const Anchor& anchor : anchors)
    for (const std::uint32_t node : held_by(anchor, mesh, surface)) held[node] = true;
  std::vector<std::uint32_t> nodes;
  for (std::uint32_t i = 0; i < held.size(); ++i)
    if (held[i]) nodes.push_back(i);
  if (!nodes.empty() && nodes.size() == mesh.nodes.size())
    refuse(anchors.back(), "and those before it hold the whole body, so that nothing can bend", mesh);
  return nodes;
}

Anchor parse_anchor(std::string_view text) {
  std::string_view rest = text;
  while (rest.starts_with(' ')) rest.remove_prefix(1);
  if (rest.starts_with("box:")) {
    const auto v = numbers<6>(rest.substr(4), text);
    const BoxAnchor box{{v[0], v[1], v[2]}, {v[3], v[4], v[5]}};
    if (min(box.low, box.high) != box.low)
      refuse_text(text, "is no box: its second corner must not be below the first");
    return box;
  }
  if (rest.starts_with("point:")) {
    rest.remove_prefix(6);
    const std::size_t at = rest.find('@');
    const auto v = numbers<3>(rest.substr(0, at), text);
    const double radius = at == std::string_view::npos ? 0 : number(rest.substr(at + 1), text);
    if (radius < 0) refuse_text(text, "has a radius below zero");
    return PointAnchor{{v[0], v[1], v[2]}, radius};
  }
  const std::size_t axis = rest.empty() ? std::string_view::npos : std::string_view("xyz").find(rest.front());
  if (axis == std::string_view::npos) refuse_text(text, "is not understood");
  rest.remove_prefix(1);
  while (rest.starts_with(' ')) rest.remove_prefix(1);
  if (!rest.starts_with('<') && !rest.starts_with('>')) refuse_text(text, "lacks a '<' or '>'");
  const bool above = rest.front() == '>';
  rest.remove_prefix(rest.substr(1).starts_with('=') ? 2 : 1);
  return PlaneAnchor{static_cast<std::uint8_t>(axis), above, number(rest, text)};
}

std::string to_string(const Anchor& anchor) {
  std::string text;
  if (const auto* plane = std::get_if<PlaneAnchor>(&anchor)) {
    text += "xyz"[plane->axis];
    text += plane->above ? ">=" : "<=";
    append(text, plane->at);
  } else if (const auto* box = std::get_if<BoxAnchor>(&anchor)) {
    text = "box:";
    append(text, box->low);
    text += ',';
    append(text, box->high);
  } else {
    const auto& pick = std::get<PointAnchor>(anchor);
    text = "point:";
    append(text, pick.point);
    text += '@';
    append(text, pick.radius);
  }
  return text;
}

}  // namespace cotouch
