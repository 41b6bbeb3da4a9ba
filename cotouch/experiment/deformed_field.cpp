// Paper 001, Figure 10: the approximate distance field of a bent body against the exact one, with one domain and with
// several.
#include <cotouch/base/parallel.h>
#include <cotouch/base/random.h>
#include <cotouch/elastic/deformed_field.h>
#include <cotouch/elastic/modal_body.h>
#include <cotouch/experiment/experiment.h>
#include <cotouch/experiment/picture.h>
#include <cotouch/field/isosurface.h>
#include <cotouch/mesh/closest.h>
#include <cotouch/mesh/winding.h>
#include <cotouch/part/part.h>
#include <cotouch/shapes/shapes.h>
#include <cotouch/shapes/solids.h>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace cotouch {
namespace {

constexpr Vec3d k_torso{0.06, 0.03, 0.03}, k_leg{0.02, 0.02, 0.1};
constexpr double k_between = 0.03;  // the legs' middles
constexpr double k_apart = 0.025;   // metres that each foot is pulled outward
constexpr int k_near = 5;           // cells: places farther from the surface are not compared

// A torso with two legs that are close together, in one surface.
TriangleMesh two_legs(int resolution, Progress& progress) {
  TriangleMesh all;
  const auto add = [&](TriangleMesh piece, const Vec3d& at) {
    translate(piece, at);
    append(all, piece);
  };
  add(make_box(k_torso), {});
  for (const double side : {-0.5, 0.5}) add(make_box(k_leg), {side * k_between, 0, -k_leg.z / 2});
  FieldSettings settings;
  settings.resolution = resolution;
  return extract_isosurface(build_field(all, settings, progress), 0);
}

// The body in a pose: its exact surface, and its approximate field.
class BentBody {
 public:
  BentBody(const Part& part, std::span<const double> q)
      : shape_(*part.elastic), field_(*part.elastic, part.field), surface_(part.mesh) {
    shape_.set(q.data());
    field_.set(shape_);
    for (std::size_t i = 0; i < surface_.vertices.size(); ++i)
      surface_.vertices[i] += shape_.displacement_at(part.elastic->data().mesh[i]);
    closest_ = ClosestTriangle(surface_);
    winding_ = WindingNumber(surface_);
  }

  double exact(const Vec3d& at) const {
    const double distance = std::sqrt(closest_.closest(at).distance_squared);
    return winding_.at(at) > 0.5 ? -distance : distance;
  }
  double approximate(const Vec3d& at) const {
    const Vec3f place(at);
    float distance = 0;
    field_.distances(&place, 1, 1, &distance);  // a metre: everything counts
    return static_cast<double>(distance);
  }
  const TriangleMesh& surface() const { return surface_; }

 private:
  Deformation shape_;
  DeformedField field_;
  TriangleMesh surface_;
  ClosestTriangle closest_;
  WindingNumber winding_;
};

// Both feet pulled outward by hands.
std::vector<double> legs_apart(const Part& part) {
  const ElasticModel& model = *part.elastic;
  std::array<EmbeddedPoint, 2> feet{};
  for (std::size_t side = 0; side < 2; ++side) {
    const Vec3d foot{(side == 0 ? -0.5 : 0.5) * k_between, 0, -k_leg.z};
    std::size_t best = 0;
    const auto& vertices = part.mesh.vertices;
    for (std::size_t i = 1; i < vertices.size(); ++i)
      if (norm_squared(vertices[i] - foot) < norm_squared(vertices[best] - foot)) best = i;
    feet[side] = model.data().mesh[best];
  }
  ModalBody body(model, {});
  const std::vector<double> load(model.size());
  std::array<Vec3d, 2> forces;
  constexpr int k_pull = 2000, k_rest = 2000;
  for (int i = 1; i <= k_pull + k_rest; ++i) {
    const double way = k_apart * std::min(1.0, static_cast<double>(i) / k_pull);
    // Up as well, as a leg that swings does.
    const double up = way * way / (2 * k_leg.z) * 1.2;
    body.step(load, std::array<HeldPoint, 2>{{{feet[0], {-way, 0, up}}, {feet[1], {way, 0, up}}}}, forces);
  }
  return {body.q().begin(), body.q().end()};
}

struct FieldErrors {
  double mean_voxels = 0, false_contact = 0;
};

// At places drawn evenly from the box around the bent body.
FieldErrors compare(const BentBody& body, double cell, std::size_t count, std::uint64_t seed) {
  Box3d box = body.surface().bounds();
  const Vec3d margin = Vec3d{1, 1, 1} * (k_near * cell);
  box.low -= margin;
  box.high += margin;
  Random random(seed);
  std::vector<Vec3d> places;
  for (std::size_t i = 0; i < count; ++i)
    places.push_back({random.uniform(box.low.x, box.high.x), random.uniform(box.low.y, box.high.y),
                      random.uniform(box.low.z, box.high.z)});
  std::vector<double> exact(count), approximate(count);
  parallel_for(count, 256, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      exact[i] = body.exact(places[i]);
      approximate[i] = body.approximate(places[i]);
    }
  });
  double sum = 0;
  std::size_t near = 0, outside = 0, wrong = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (std::fabs(exact[i]) <= k_near * cell) {
      sum += std::fabs(approximate[i] - exact[i]) / cell;
      ++near;
    }
    if (exact[i] > cell) {
      ++outside;
      if (approximate[i] <= 0) ++wrong;
    }
  }
  return {sum / static_cast<double>(std::max<std::size_t>(1, near)),
          static_cast<double>(wrong) / static_cast<double>(std::max<std::size_t>(1, outside))};
}

// The plane of x and z through the legs: what is inside green, lines of equal exact distance grey, of `distance`
// orange.
Image draw(const BentBody& body, double cell, int width, bool approximate) {
  Box3d box = body.surface().bounds();
  const Vec3d margin = Vec3d{1, 1, 1} * (2.4 * k_near * cell);
  box.low -= margin;
  box.high += margin;
  const double metres = box.size().x / width;
  const int height = static_cast<int>(box.size().z / metres);
  const auto columns = static_cast<std::size_t>(width) + 1, rows = static_cast<std::size_t>(height) + 1;
  std::vector<double> exact(columns * rows), shown(columns * rows);
  parallel_for(rows, 8, [&](std::size_t begin, std::size_t end) {
    for (std::size_t y = begin; y < end; ++y)
      for (std::size_t x = 0; x < columns; ++x) {
        const Vec3d at{box.low.x + static_cast<double>(x) * metres, 0, box.high.z - static_cast<double>(y) * metres};
        exact[y * columns + x] = body.exact(at);
        shown[y * columns + x] = approximate ? body.approximate(at) : exact[y * columns + x];
      }
  });
  Image image(width, height, {255, 255, 255});
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      const std::size_t i = static_cast<std::size_t>(y) * columns + static_cast<std::size_t>(x);
      const auto crosses = [&](const std::vector<double>& values) {
        const double step = 0.5 * k_near * cell;
        const double here = std::floor(values[i] / step);
        return here != std::floor(values[i + 1] / step) || here != std::floor(values[i + columns] / step);
      };
      if (shown[i] < 0) image.at(x, y) = {170, 220, 160};
      if (crosses(exact)) image.at(x, y) = {140, 140, 140};
      if (approximate && crosses(shown)) image.at(x, y) = {225, 110, 20};
      if ((exact[i] < 0) != (exact[i + 1] < 0) || (exact[i] < 0) != (exact[i + columns] < 0)) image.at(x, y) = {};
    }
  return image;
}

}  // namespace

ExperimentReport run_deformed_field(const ExperimentOptions& options) {
  ExperimentReport report;
  const int resolution = options.quick ? 48 : 128;
  const TriangleMesh mesh = two_legs(resolution, *options.progress);
  PartSettings settings;
  settings.field.resolution = resolution;
  settings.shell.points = 4096;
  settings.shell.seed = options.seed;
  ElasticSettings elastic;
  elastic.material = material_named("rubber");
  elastic.law = ElasticLaw::warped;
  elastic.coordinates = 20;
  elastic.tets.target_tets = options.quick ? 2000 : 8000;
  elastic.anchors = {PlaneAnchor{2, true, k_torso.z / 4}};

  std::vector<double> q;
  std::vector<Image> images;
  FieldErrors last;
  std::size_t proxies = 0;
  for (const std::uint32_t domains : {1U, 2U}) {
    elastic.domains = domains;
    settings.elastic = elastic;
    const Part part = prepare_part(mesh, settings, *options.progress);
    proxies = part.elastic->data().proxies.size();
    if (q.empty()) q = legs_apart(part);
    const BentBody body(part, q);
    const auto cell = static_cast<double>(part.field.spacing());
    options.progress->update("Comparing distances", 0);
    last = compare(body, cell, options.quick ? 20'000 : 200'000, options.seed);
    const char* const name = domains == 1 ? "one-domain" : "several-domains";
    report.add(fmt::format("deformed-field/{}/mean-error-voxels", name), last.mean_voxels, "cells");
    report.add(fmt::format("deformed-field/{}/false-contact-share", name), last.false_contact, "of places outside");
    const int width = options.quick ? 160 : 420;
    if (images.empty()) images.push_back(draw(body, cell, width, false));
    images.push_back(draw(body, cell, width, true));
  }
  report.add("deformed-field/mean-error-voxels", last.mean_voxels, "cells");
  report.add("deformed-field/false-contact-share", last.false_contact, "of places outside");
  const std::filesystem::path path = options.folder / "deformed-field.png";
  write_png(beside(images, 12, {255, 255, 255}), path);
  report.figures.push_back(path);
  report.notes.push_back(fmt::format(
      "A torso with two legs, each foot pulled outward by {} mm; 20 modes, warped; {} proxies, {} cells along the "
      "longest "
      "side. Errors over places within {} cells of the bent surface, whose distance is that of its triangles; false "
      "contact: the share of places more than a cell outside that the approximate field has inside. Names without a "
      "number of domains are of two.",
      k_apart * 1e3, proxies, resolution, k_near));
  report.notes.push_back(
      "Picture: exact, approximate with one domain, with two. Black: the exact surface; grey: lines of equal exact "
      "distance; orange: of equal approximate distance; green: inside.");
  return report;
}

}  // namespace cotouch
