#include <cotouch/base/cancel.h>
#include <cotouch/base/error.h>
#include <cotouch/shell/shell.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace cotouch {
namespace {

// A file may hold anything; these bound the work of checking it. Four points to one gives 2^32 points in 16 levels.
constexpr std::size_t k_most_levels = 32;
constexpr float k_farthest_coordinate = 1e9F;  // metres; squares stay finite in float

void require(bool holds, const char* what) {
  if (!holds)
    throw Error(std::string("The pointshell is damaged (") + what + "); prepare the part again from its mesh.",
                ErrorCode::damaged_file);
}

void check_sizes(const ShellData& data) {
  require(data.level_begin.size() >= 2 && data.level_begin.size() <= k_most_levels + 1, "number of levels");
  require(data.nodes.size() < std::numeric_limits<std::uint32_t>::max(), "too many nodes");
  require(data.level_begin.front() == 0 && (data.nodes.empty() || data.level_begin.back() == data.nodes.size()),
          "ends of the levels");
  std::size_t above = 1;
  for (std::size_t l = 0; l + 1 < data.level_begin.size(); ++l) {
    require(data.level_begin[l] < data.level_begin[l + 1], "order of the levels");
    const std::size_t nodes = data.level_begin[l + 1] - data.level_begin[l] - 1;
    require(nodes >= above, "a level smaller than the one above");
    above = nodes;
  }
  require(data.positions.size() == above && data.inward_normals.size() == above, "number of points");
}

void check_points(const ShellData& data) {
  for_each_cancellable(data.positions.size(), [&](std::size_t i) {
    const Vec3f& p = data.positions[i];
    require(std::fabs(p.x) <= k_farthest_coordinate && std::fabs(p.y) <= k_farthest_coordinate &&
                std::fabs(p.z) <= k_farthest_coordinate,
            "a position that is no number");
  });
  // The length of a normalised float vector is off by a few roundings; a thousandth is generous and still harmless to
  // the force.
  for_each_cancellable(data.inward_normals.size(), [&](std::size_t i) {
    require(std::fabs(norm_squared(Vec3d(data.inward_normals[i])) - 1) <= 2e-3, "a normal that is not of length one");
  });
}

// Children in the order of their parents, copies first, new points numbered as they appear.
void check_order(const ShellData& data) {
  const std::size_t levels = data.level_begin.size() - 1;
  std::uint32_t next_point = 0;
  for (std::uint32_t i = 0; i + 1 < data.level_begin[1]; ++i)
    require(data.nodes[i].point == next_point++, "numbering of the points");
  for (std::size_t l = 0; l < levels; ++l) {
    const std::uint32_t end = data.level_begin[l + 1] - 1;  // the sentinel
    const bool deepest = l + 1 == levels;
    if (!deepest) {
      require(data.nodes[data.level_begin[l]].first_child == data.level_begin[l + 1], "links to children");
      require(data.nodes[end].first_child == data.level_begin[l + 2] - 1, "links to children");
    }
    for (std::uint32_t i = data.level_begin[l]; i < end; ++i) {
      throw_if_cancelled();
      const ShellNode& node = data.nodes[i];
      const std::uint32_t child_end = data.nodes[i + 1].first_child;
      require(node.point < data.positions.size() && node.position == data.positions[node.point],
              "a node away from its point");
      require(node.radius >= 0 && node.radius <= 4 * k_farthest_coordinate, "a radius that is no number");
      if (deepest) {
        require(node.first_child == 0 && child_end == 0, "children below the deepest level");
        require(node.radius == 0, "a radius on the deepest level");
        continue;
      }
      // Increasing from the first to the sentinel, so every index between them lies in the next level.
      require(node.first_child < child_end && child_end <= data.nodes[end].first_child, "links to children");
      require(data.nodes[node.first_child].point == node.point, "a first child that is no copy");
      for (std::uint32_t child = node.first_child + 1; child < child_end; ++child)
        require(data.nodes[child].point == next_point++, "numbering of the points");
    }
  }
}

// Every ball holds the points below it: a subtree is one range of the deepest level, because children lie in the order
// of their parents.
void check_radii(const ShellData& data) {
  const std::size_t levels = data.level_begin.size() - 1;
  std::vector<std::uint32_t> leaf_begin(data.nodes.size());
  for (std::uint32_t i = data.level_begin[levels - 1]; i < data.level_begin[levels]; ++i) leaf_begin[i] = i;
  for (std::size_t l = levels - 1; l-- > 0;) {
    for (std::uint32_t i = data.level_begin[l]; i < data.level_begin[l + 1]; ++i)
      leaf_begin[i] = leaf_begin[data.nodes[i].first_child];
    for (std::uint32_t i = data.level_begin[l]; i + 1 < data.level_begin[l + 1]; ++i) {
      throw_if_cancelled();
      const ShellNode& node = data.nodes[i];
      const double radius_squared = static_cast<double>(node.radius) * static_cast<double>(node.radius);
      const Vec3d center(node.position);
      for (std::uint32_t leaf = leaf_begin[i]; leaf < leaf_begin[i + 1]; ++leaf)
        require(norm_squared(Vec3d(data.nodes[leaf].position) - center) <= radius_squared,
                "a radius too small for what lies below");
    }
  }
}

std::shared_ptr<const ShellBranch[]> branches_of(const ShellData& data) {
  const std::uint32_t count = data.level_begin[data.level_begin.size() - 2];
  auto branches = std::make_shared<ShellBranch[]>(count);
  for (std::uint32_t i = 0; i < count; ++i) branches[i] = {data.nodes[i].radius, data.nodes[i].first_child};
  return branches;
}

}  // namespace

Shell::Shell(const ShellData& data, std::shared_ptr<const void> keep_alive)
    : data_(data), keep_alive_(std::move(keep_alive)) {
  check_sizes(data);
  check_points(data);
  if (has_tree()) {
    check_order(data);
    check_radii(data);
    branches_ = branches_of(data);
  }
  double reach_squared = 0;
  for (const Vec3f& p : data.positions) reach_squared = std::max(reach_squared, norm_squared(Vec3d(p)));
  // Rounded up, so that it stays a bound.
  reach_ = std::nextafter(static_cast<float>(std::sqrt(reach_squared)), std::numeric_limits<float>::infinity());
}

}  // namespace cotouch
