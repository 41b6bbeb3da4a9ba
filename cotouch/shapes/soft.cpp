#include <cotouch/shapes/soft.h>

#include <cotouch/base/trig.h>
#include <cotouch/mesh/subdivide.h>
#include <cotouch/shapes/block_model.h>
#include <cotouch/shapes/blocks.h>
#include <cotouch/shapes/shapes.h>
#include <cotouch/shapes/solids.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace cotouch {
namespace {

constexpr std::size_t k_most_triangles = 20'000;
constexpr double k_flat = 0.001;  // of a hook and of a ridge, between their slopes

// y over z along the slopes of hooks and ridges.
struct HookSlopes {
  double in, out;
};
HookSlopes slopes_of(const ClipShape& shape) {
  require(shape.thickness > 0 && shape.thickness < shape.arm && shape.hook > shape.side_room && shape.side_room >= 0,
          "A clip needs arms with room between them and hooks that reach behind the ridges.");
  require(shape.way_in > 0 && shape.way_in < 80 && shape.way_out > 0 && shape.way_out < 80,
          "A clip's hooks need slopes of less than 80 degrees.");
  const SinCos in = sin_cos(shape.way_in * k_pi / 180), out = sin_cos(shape.way_out * k_pi / 180);
  return {in.sin / in.cos, out.sin / out.cos};
}

// A prism over an outline in the yz plane, `width` along x and centred there.
TriangleMesh stood_up(const std::vector<Vec3d>& outline, double width) {
  TriangleMesh mesh = extrude(outline, width);
  for (Vec3d& v : mesh.vertices) v = {v.z - 0.5 * width, v.x, v.y};
  return mesh;
}

}  // namespace

TriangleMesh make_hanging_hose(const HangingHoseShape& shape) {
  require(shape.segments >= 2 && shape.radius > 0 && shape.sag > 0 && 2 * shape.sag < shape.length,
          "A hanging hose needs a radius and an arc of less than half a circle.");
  const double half = 0.5 * shape.length;
  const double circle = (half * half + shape.sag * shape.sag) / (2 * shape.sag);
  std::vector<Vec3d> path;
  for (int i = 0; i <= shape.segments; ++i) {
    const double x = shape.length * i / shape.segments - half;
    path.push_back({x, 0, circle - shape.sag - std::sqrt(circle * circle - x * x)});
  }
  TriangleMesh mesh = sweep_tube(path, std::vector<double>(path.size(), shape.radius), shape.steps);
  mesh.name = "hose";
  return mesh;
}

TriangleMesh make_fitting(const FittingShape& shape) {
  const double r = shape.radius, stem = shape.stem_radius;
  require(stem > 0 && stem < r, "A fitting needs a stem thinner than itself.");
  TriangleMesh mesh = turn_profile({{0, -2 * r},
                                    {0.3 * r, -2 * r},
                                    {0.5 * r, -1.7 * r},
                                    {r, -0.5 * r},
                                    {r, 0.5 * r},
                                    {stem, 1.5 * r},
                                    {stem, 3 * r},
                                    {1.3 * stem, 3.2 * r},
                                    {1.3 * stem, 3.5 * r},
                                    {0, 3.5 * r}},
                                   false, shape.steps);
  mesh.name = "fitting";
  return mesh;
}

TriangleMesh make_frame(const FrameShape& shape) {
  const Vec3d outer = Vec3d{shape.length, shape.width, shape.height} * 0.5;
  const Vec3d inner = outer - Vec3d{shape.border, shape.border, 0};
  require(shape.border > 0 && inner.x > 0 && inner.y > 0, "A frame needs a border that leaves an opening.");
  BlockModel model;
  model.add_box(-outer, outer);
  model.remove_box(-inner, inner);
  return model.mesh("frame");
}

TriangleMesh make_soft_bar(const Vec3d& size) {
  const double thin = std::min({size.x, size.y, size.z});
  TriangleMesh mesh = with_short_edges(make_block(size, 0.15 * thin, 4), 0.4 * thin, k_most_triangles);
  mesh.name = "bar";
  return mesh;
}

TriangleMesh make_bar_rest(double between) {
  constexpr double k_post = 0.012, k_height = 0.05, k_base = 0.012, k_side = 0.03;
  const double x = 0.5 * between;
  BlockModel model;
  model.add_box({-x - 0.03, -k_side, -k_height - k_base}, {x + 0.03, k_side, -k_height});
  for (const double at : {-x, x})
    model.add_box({at - 0.5 * k_post, -k_side, -k_height}, {at + 0.5 * k_post, k_side, 0});
  return model.mesh("rest");
}

TriangleMesh make_clip(const ClipShape& shape) {
  const HookSlopes slopes = slopes_of(shape);
  const double inner = shape.arm - shape.thickness, tip = shape.arm - 0.45 * shape.thickness;
  const double ridge = shape.arm + shape.side_room, crest = shape.arm + shape.hook;
  const double behind = -shape.depth - k_flat - shape.room_behind;  // of the ridge
  const double widest = behind - (crest - ridge) / slopes.out, top = behind + (ridge - shape.arm) / slopes.out;
  const double end = widest - k_flat - (crest - tip) / slopes.in;
  constexpr double k_base = 0.01, k_knob = 0.028, k_over = 0.009;
  const std::vector<Vec3d> half{{inner, 0, 0},
                                {inner, end, 0},
                                {tip, end, 0},
                                {crest, widest - k_flat, 0},
                                {crest, widest, 0},
                                {shape.arm, top, 0},
                                {shape.arm, 0, 0},
                                {shape.arm + k_over, 0, 0},
                                {shape.arm + k_over, k_base, 0},
                                {0.8 * shape.arm, k_base, 0},
                                {0.8 * shape.arm, k_knob, 0}};
  std::vector<Vec3d> outline = half;
  for (auto p = half.rbegin(); p != half.rend(); ++p) outline.push_back({-p->x, p->y, 0});
  TriangleMesh mesh = with_short_edges(stood_up(outline, shape.width), 0.5 * shape.width, k_most_triangles);
  mesh.name = "clip";
  return mesh;
}

TriangleMesh make_latch(const ClipShape& shape) {
  const HookSlopes slopes = slopes_of(shape);
  constexpr double k_wall = 0.005, k_play = 0.002;
  const double ridge = shape.arm + shape.side_room, inner = shape.arm + shape.hook + k_play, outer = inner + k_wall;
  const double begin = -shape.depth + (inner - ridge) / slopes.in;
  const double end = -shape.depth - k_flat - (inner - ridge) / slopes.out;
  require(begin < 0, "A latch must be deeper than its ridges are long.");
  const std::vector<Vec3d> right{
      {inner, 0, 0},   {inner, begin, 0}, {ridge, -shape.depth, 0}, {ridge, -shape.depth - k_flat, 0}, {inner, end, 0},
      {outer, end, 0}, {outer, 0, 0}};
  std::vector<Vec3d> left;
  for (auto p = right.rbegin(); p != right.rend(); ++p) left.push_back({-p->x, p->y, 0});
  const double room = shape.width + 0.003;  // along x
  TriangleMesh mesh = stood_up(right, room);
  append(mesh, stood_up(left, room));
  for (const double side : {-1.0, 1.0}) {
    TriangleMesh wall = make_box({k_wall, 2 * outer, -end});
    translate(wall, {side * 0.5 * (room + k_wall), 0, 0.5 * end});
    append(mesh, wall);
  }
  mesh.name = "latch";
  return mesh;
}

}  // namespace cotouch
