#include <cotouch/experiment/part_picture.h>

#include <algorithm>
#include <cmath>

namespace cotouch {
namespace {

constexpr Vec3d k_from{0.9, -1.6, 0.9};
constexpr Color k_clay{196, 178, 150}, k_pale{225, 222, 215};

double aspect_of(int width, int height) {
  return static_cast<double>(width) / height;
}

Color darkened(Color color, double factor) {
  const auto channel = [factor](std::uint8_t value) { return static_cast<std::uint8_t>(value * factor); };
  return {channel(color.r), channel(color.g), channel(color.b)};
}

}  // namespace

Image draw_mesh(const Part& part, int width, int height) {
  Picture picture(width, height, camera_for(part.mesh.bounds(), k_from, aspect_of(width, height)));
  picture.draw(part.mesh, Pose{}, k_clay);
  return picture.image();
}

Image draw_field_slice(const Field& field, int width, int height) {
  const Box3f box = field.box();
  const Vec3f size = box.size(), middle = box.center();
  // The plane of x and z; metres to a pixel so that the whole box fits.
  const float metres = std::max(size.x / static_cast<float>(width), size.z / static_cast<float>(height));
  const auto point = [&](double x, double y) {
    return Vec3f{middle.x + static_cast<float>(x - 0.5 * width) * metres, middle.y,
                 middle.z - static_cast<float>(y - 0.5 * height) * metres};
  };
  const auto at = [&](double x, double y) { return static_cast<double>(field.distance(point(x, y))); };
  const double range = 0.35 * static_cast<double>(std::min({size.x, size.y, size.z}));
  const double line_step = range / 5;
  // Pixels on the border between two bricks where one of them is fine.
  const auto on_brick_border = [&](int x, int y) {
    const FieldData& data = field.data();
    const auto brick_at = [&](double px, double py) {
      const Vec3f cell = field.to_cells(point(px, py));
      Index3 brick;
      for (std::size_t axis = 0; axis < 3; ++axis) {
        brick[axis] = static_cast<std::int32_t>(std::floor(cell[axis] / FieldData::k_brick_cells));
        if (brick[axis] < 0 || brick[axis] >= data.bricks[axis]) return std::size_t{0};
      }
      const std::size_t index = flat_index(brick, data.bricks);
      return data.brick_index[index] == FieldData::k_coarse ? std::size_t{0} : index + 1;
    };
    const std::size_t here = brick_at(x + 0.5, y + 0.5);
    return here != brick_at(x + 1.5, y + 0.5) || here != brick_at(x + 0.5, y + 1.5);
  };
  Image image(width, height, {});
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      const double here = at(x + 0.5, y + 0.5), right = at(x + 1.5, y + 0.5), below = at(x + 0.5, y + 1.5);
      Color color = diverging_color(here / range);
      const auto crosses = [&](double step) {
        return std::floor(here / step) != std::floor(right / step) ||
               std::floor(here / step) != std::floor(below / step);
      };
      if (on_brick_border(x, y)) color = darkened(color, 0.93);
      if (crosses(line_step)) color = darkened(color, 0.8);
      if ((here < 0) != (right < 0) || (here < 0) != (below < 0)) color = {0, 0, 0};
      image.at(x, y) = color;
    }
  return image;
}

Image draw_shell(const Part& part, int width, int height, std::uint32_t deepest_level) {
  const Camera camera = camera_for(part.mesh.bounds(), k_from, aspect_of(width, height));
  Picture picture(width, height, camera);
  picture.draw(part.mesh, Pose{}, k_pale);
  const std::uint32_t levels = std::min(part.shell.levels(), deepest_level < ~0U ? deepest_level + 1 : ~0U);
  std::uint32_t first = 0;
  for (std::uint32_t level = 0; level < levels; ++level) {
    const std::uint32_t end = part.shell.points_to_level(level);
    // A fifth of the distance to the next point, so that levels can be told apart and the part is seen between them.
    const double spacing =
        level < part.shell_quality.levels.size() ? part.shell_quality.levels[level].mean_spacing : camera.height / 50;
    const double radius = std::clamp(0.2 * spacing * height / camera.height, 0.5, 4.0);
    for (std::uint32_t i = first; i < end; ++i)
      picture.draw(Vec3d(part.shell.data().positions[i]), level_color(level), radius);
    first = end;
  }
  return picture.image();
}

}  // namespace cotouch
