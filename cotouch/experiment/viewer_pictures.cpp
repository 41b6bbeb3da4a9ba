#include <cotouch/experiment/picture.h>
#include <cotouch/experiment/viewer_pictures.h>

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>

namespace cotouch {
namespace {

Color color_of(const std::string& text) {
  const unsigned long value = std::strtoul(text.c_str() + 1, nullptr, 16);
  const auto channel = [value](int shift) { return static_cast<std::uint8_t>(value >> shift & 0xff); };
  return {channel(16), channel(8), channel(0)};
}

}  // namespace

std::string draw_thumbnail(const std::vector<FolderLibrary::Placed>& meshes) {
  constexpr int k_width = 320, k_height = 200;
  Box3d box;
  for (const FolderLibrary::Placed& placed : meshes)
    for (const Vec3d& vertex : placed.mesh->vertices) box.add(transform(placed.pose, vertex));
  if (box.empty()) box = {{-1, -1, -1}, {1, 1, 1}};
  const Camera camera = camera_for(box, {0.9, -1.4, 0.8}, double{k_width} / k_height, true);
  const auto before = [&](Color background) {
    Picture picture(k_width, k_height, camera, background);
    for (const FolderLibrary::Placed& placed : meshes) picture.draw(*placed.mesh, placed.pose, color_of(placed.color));
    return picture.image();
  };
  return encode_cutout_png(before({0, 0, 0}), before({255, 255, 255}));
}

Plot plot_summary(const RecordingSummary& summary) {
  Plot plot;
  plot.title = fmt::format("{}: up to {:.2f} N", summary.scene, summary.peak_force);
  plot.x_label = "time (s)";
  plot.panel_height = 150;
  PlotPanel force, clearance, path;
  force.y_label = "force (N)";
  force.series = {{"", summary.time, summary.force}};
  clearance.y_label = "clearance (mm)";
  clearance.series = {{"", summary.time, {}}};
  for (const double metres : summary.clearance) clearance.series[0].y.push_back(metres * 1e3);
  clearance.thresholds = {{"contact", 0}};
  path.y_label = "position (mm)";
  path.series = {{"x", summary.time, {}}, {"y", summary.time, {}}, {"z", summary.time, {}}};
  for (const Vec3d& p : summary.path)
    for (std::size_t axis = 0; axis < 3; ++axis) path.series[axis].y.push_back(p[axis] * 1e3);
  plot.panels.push_back(std::move(force));
  if (!summary.clearance.empty()) plot.panels.push_back(std::move(clearance));
  plot.panels.push_back(std::move(path));
  return plot;
}

}  // namespace cotouch
