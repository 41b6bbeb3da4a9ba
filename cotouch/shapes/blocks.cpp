#include <cotouch/shapes/blocks.h>

#include <cotouch/shapes/block_model.h>
#include <cotouch/shapes/shapes.h>
#include <cotouch/shapes/solids.h>

#include <algorithm>

namespace cotouch {
namespace {

// Eight pieces of a ball at the corners, joined by pieces of cylinders along the edges and by flat faces.
class RoundedBox {
 public:
  RoundedBox(const Vec3d& size, double radius, int steps)
      : core_(size * 0.5 - Vec3d{radius, radius, radius}), radius_(radius), steps_(steps) {}

  TriangleMesh run() {
    for (int corner = 0; corner < 8; ++corner) add_corner(corner);
    for (int axis = 0; axis < 3; ++axis) {
      const int along = 1 << axis, u = 1 << (axis + 1) % 3, v = 1 << (axis + 2) % 3;
      for (const int across : {0, u, v, u + v}) add_edge(axis, across, (across == u || across == v));
      add_face(axis, 0, u, v, false);
      add_face(axis, along, u, v, true);
    }
    return std::move(mesh_);
  }

 private:
  // Vertex (i, j, k) of a corner, i + j + k = steps: where the direction (i, j, k) leaves the ball. Bits 0, 1, 2 of
  // `corner` are set for high x, y, z.
  std::uint32_t vertex(int corner, int i, int j) const {
    const int per_corner = (steps_ + 1) * (steps_ + 2) / 2;
    const int before = i * (2 * steps_ + 3 - i) / 2;  // in the rows of smaller i
    return static_cast<std::uint32_t>(corner * per_corner + before + j);
  }
  std::uint32_t vertex_along(int corner, int axis,
                             int other) const {  // on the edge of the corner's piece across `axis`
    const int rest = steps_ - other;
    return axis == 0 ? vertex(corner, 0, other) : axis == 1 ? vertex(corner, rest, 0) : vertex(corner, other, rest);
  }

  void add_corner(int corner) {
    const Vec3d sign{corner & 1 ? 1.0 : -1.0, corner & 2 ? 1.0 : -1.0, corner & 4 ? 1.0 : -1.0};
    for (int i = 0; i <= steps_; ++i)
      for (int j = 0; i + j <= steps_; ++j) {
        const Vec3d n = normalized(Vec3d{double(i), double(j), double(steps_ - i - j)});
        const Vec3d p = core_ + n * radius_;
        mesh_.vertices.push_back({sign.x * p.x, sign.y * p.y, sign.z * p.z});
      }
    const bool mirrored = sign.x * sign.y * sign.z < 0;
    for (int i = 0; i < steps_; ++i)
      for (int j = 0; i + j < steps_; ++j) {
        add(vertex(corner, i, j), vertex(corner, i + 1, j), vertex(corner, i, j + 1), !mirrored);
        if (i + j + 1 < steps_)
          add(vertex(corner, i + 1, j), vertex(corner, i + 1, j + 1), vertex(corner, i, j + 1), !mirrored);
      }
  }

  // The edge along `axis` between two corners that differ only there.
  void add_edge(int axis, int corner, bool forward) {
    const int other = corner | 1 << axis;
    for (int s = 0; s < steps_; ++s) {
      const std::uint32_t a = vertex_along(corner, axis, s), b = vertex_along(corner, axis, s + 1);
      const std::uint32_t c = vertex_along(other, axis, s + 1), d = vertex_along(other, axis, s);
      add(a, b, c, forward);
      add(a, c, d, forward);
    }
  }

  void add_face(int axis, int corner, int u, int v, bool forward) {
    const auto tip = [&](int at) {
      return axis == 0 ? vertex(at, steps_, 0) : axis == 1 ? vertex(at, 0, steps_) : vertex(at, 0, 0);
    };
    const std::uint32_t a = tip(corner), b = tip(corner + u), c = tip(corner + u + v), d = tip(corner + v);
    add(a, b, c, forward);
    add(a, c, d, forward);
  }

  void add(std::uint32_t a, std::uint32_t b, std::uint32_t c, bool forward) {
    mesh_.triangles.push_back(forward ? Triangle{a, b, c} : Triangle{a, c, b});
  }

  Vec3d core_;
  double radius_;
  int steps_;
  TriangleMesh mesh_;
};

}  // namespace

TriangleMesh make_block(const Vec3d& size, double edge_radius, int steps) {
  require(edge_radius > 0 && 2 * edge_radius < std::min({size.x, size.y, size.z}),
          "A block's edge radius must be less than half its shortest side.");
  require(steps >= 1 && steps <= 100, "A block's edges can have 1 to 100 steps.");
  TriangleMesh mesh = RoundedBox(size, edge_radius, steps).run();
  mesh.name = "block";
  return mesh;
}

TriangleMesh make_plate(const PlateShape& shape) {
  TriangleMesh mesh = make_block(shape.size, shape.edge_radius);
  translate(mesh, {0, 0, -0.5 * shape.size.z});
  mesh.name = "plate";
  return mesh;
}

TriangleMesh make_billiard_table(const BilliardShape& shape) {
  require(shape.ball_radius > 0 && shape.cushion_height > shape.ball_radius && shape.bed > 0 && shape.cushion_width > 0,
          "A billiard table needs a bed and cushions higher than the balls' centres.");
  require(shape.length > 4 * shape.ball_radius && shape.width > 4 * shape.ball_radius,
          "A billiard table needs room for two balls.");
  const double x = 0.5 * shape.length, y = 0.5 * shape.width, w = shape.cushion_width;
  BlockModel model;
  model.add_box({-x - w, -y - w, -shape.bed}, {x + w, y + w, shape.cushion_height});
  model.remove_box({-x, -y, 0}, {x, y, shape.cushion_height});
  return model.mesh("billiard table");
}

TriangleMesh make_billiard_ball(const BilliardShape& shape) {
  TriangleMesh mesh = make_sphere(shape.ball_radius, 5);
  mesh.name = "billiard ball";
  return mesh;
}

}  // namespace cotouch
