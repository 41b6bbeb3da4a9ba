#include <cotouch/base/error.h>
#include <cotouch/base/file.h>
#include <cotouch/experiment/picture.h>

#include <png.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>

namespace cotouch {
namespace {

std::uint8_t channel(double value) {
  return static_cast<std::uint8_t>(std::clamp(value + 0.5, 0.0, 255.0));
}

Color mix(Color a, Color b, double t) {
  return {channel(a.r + (b.r - a.r) * t), channel(a.g + (b.g - a.g) * t), channel(a.b + (b.b - a.b) * t)};
}

}  // namespace

Image::Image(int width_, int height_, Color background)
    : width(width_),
      height(height_),
      pixels(static_cast<std::size_t>(width_) * static_cast<std::size_t>(height_), background) {
}

Image beside(std::span<const Image> images, int gap, Color background) {
  int width = 0, height = 0;
  for (const Image& image : images) {
    width += image.width + (width > 0 ? gap : 0);
    height = std::max(height, image.height);
  }
  Image whole(width, height, background);
  int left = 0;
  for (const Image& image : images) {
    for (int y = 0; y < image.height; ++y)
      for (int x = 0; x < image.width; ++x) whole.at(left + x, y) = image.at(x, y);
    left += image.width + gap;
  }
  return whole;
}

Camera camera_for(const Box3d& box, const Vec3d& from, double aspect, bool perspective) {
  Camera camera;
  camera.target = box.center();
  camera.perspective = perspective;
  const Vec3d direction = normalized(from);
  if (norm(cross(direction, camera.up)) < 1e-3) camera.up = {0, 1, 0};
  const Vec3d right = normalized(cross(camera.up, direction)), up = cross(direction, right);
  const double diameter = std::max(norm(box.size()), 1e-9);
  camera.eye = camera.target + direction * (diameter * 2.5);
  // What the corners need, each seen larger in perspective the nearer it is.
  double needed = 0;
  for (int corner = 0; corner < 8; ++corner) {
    const Vec3d p = Vec3d{(corner & 1) != 0 ? box.high.x : box.low.x, (corner & 2) != 0 ? box.high.y : box.low.y,
                          (corner & 4) != 0 ? box.high.z : box.low.z} -
                    camera.target;
    const double growth = perspective ? 2.5 * diameter / (2.5 * diameter - dot(p, direction)) : 1;
    needed = std::max({needed, std::abs(dot(p, up)) * growth, std::abs(dot(p, right)) * growth / aspect});
  }
  camera.height = std::max(2 * needed * 1.06, 1e-9);
  return camera;
}

Picture::Picture(int width, int height, const Camera& camera, Color background)
    : width_(width * k_samples),
      height_(height * k_samples),
      camera_(camera),
      forward_(normalized(camera.target - camera.eye)),
      distance_(norm(camera.target - camera.eye)),
      samples_per_metre_(height * k_samples / camera.height),
      samples_(width_, height_, background) {
  depth_.assign(samples_.pixels.size(), std::numeric_limits<float>::infinity());
  right_ = normalized(cross(forward_, camera.up));
  up_ = cross(right_, forward_);
}

Picture::Projected Picture::project(const Vec3d& point) const {
  const Vec3d from_eye = point - camera_.eye;
  const double depth = dot(from_eye, forward_);
  // In perspective, things shrink in proportion to their distance; at the target both kinds agree.
  const double shrink = camera_.perspective ? distance_ / std::max(depth, 1e-9) : 1;
  return {0.5 * width_ + dot(from_eye, right_) * samples_per_metre_ * shrink,
          0.5 * height_ - dot(from_eye, up_) * samples_per_metre_ * shrink, depth, depth > 0.01 * distance_};
}

void Picture::put(int x, int y, double depth, Color color) {
  float& nearest = depth_[samples_.index(x, y)];
  if (static_cast<float>(depth) >= nearest) return;
  nearest = static_cast<float>(depth);
  samples_.at(x, y) = color;
}

void Picture::draw(const TriangleMesh& mesh, const Pose& pose, Color color) {
  const Vec3d key = normalized(up_ * 0.7 - right_ * 0.5 - forward_);
  const Vec3d fill = normalized(right_ - up_ * 0.3 - forward_ * 0.4);
  for (std::size_t t = 0; t < mesh.triangles.size(); ++t) {
    std::array<Vec3d, 3> corners = mesh.corners(t);
    std::array<Projected, 3> p;
    bool visible = true;
    for (std::size_t i = 0; i < 3; ++i) {
      corners[i] = transform(pose, corners[i]);
      p[i] = project(corners[i]);
      visible = visible && p[i].visible;
    }
    const double area = (p[1].x - p[0].x) * (p[2].y - p[0].y) - (p[2].x - p[0].x) * (p[1].y - p[0].y);
    if (!visible || !std::isfinite(area) || area == 0) continue;

    Vec3d normal = normalized(cross(corners[1] - corners[0], corners[2] - corners[0]));
    if (dot(normal, forward_) > 0) normal = -normal;
    const double light = 0.22 + 0.68 * std::max(0.0, dot(normal, key)) + 0.25 * std::max(0.0, dot(normal, fill));
    const Color shade{channel(color.r * light), channel(color.g * light), channel(color.b * light)};

    const auto [x_low, x_high] = std::minmax({p[0].x, p[1].x, p[2].x});
    const auto [y_low, y_high] = std::minmax({p[0].y, p[1].y, p[2].y});
    const int first_x = static_cast<int>(std::clamp(std::floor(x_low), 0.0, width_ - 1.0));
    const int last_x = static_cast<int>(std::clamp(std::ceil(x_high), 0.0, width_ - 1.0));
    const int first_y = static_cast<int>(std::clamp(std::floor(y_low), 0.0, height_ - 1.0));
    const int last_y = static_cast<int>(std::clamp(std::ceil(y_high), 0.0, height_ - 1.0));
    for (int y = first_y; y <= last_y; ++y)
      for (int x = first_x; x <= last_x; ++x) {
        // Barycentric coordinates of the sample's middle.
        const double sx = x + 0.5, sy = y + 0.5;
        const double b1 = ((sx - p[0].x) * (p[2].y - p[0].y) - (p[2].x - p[0].x) * (sy - p[0].y)) / area;
        const double b2 = ((p[1].x - p[0].x) * (sy - p[0].y) - (sx - p[0].x) * (p[1].y - p[0].y)) / area;
        if (b1 < 0 || b2 < 0 || b1 + b2 > 1) continue;
        put(x, y, p[0].depth + b1 * (p[1].depth - p[0].depth) + b2 * (p[2].depth - p[0].depth), shade);
      }
  }
}

void Picture::draw(const Vec3d& point, Color color, double radius) {
  const Projected p = project(point);
  if (!p.visible || !std::isfinite(p.x) || !std::isfinite(p.y)) return;
  const double r = std::max(0.5, radius * k_samples);
  if (p.x < -r || p.y < -r || p.x > width_ + r || p.y > height_ + r) return;
  // Points lie on the surface they describe: brought forward by their radius, their disc is not cut by it.
  const double depth = p.depth - r / samples_per_metre_ - 0.002 * camera_.height;
  for (int y = std::max(0, static_cast<int>(p.y - r)); y <= std::min(height_ - 1, static_cast<int>(p.y + r)); ++y)
    for (int x = std::max(0, static_cast<int>(p.x - r)); x <= std::min(width_ - 1, static_cast<int>(p.x + r)); ++x) {
      const double dx = x + 0.5 - p.x, dy = y + 0.5 - p.y;
      if (dx * dx + dy * dy <= r * r) put(x, y, depth, color);
    }
}

Image Picture::image() const {
  Image image(width_ / k_samples, height_ / k_samples, {});
  for (int y = 0; y < image.height; ++y)
    for (int x = 0; x < image.width; ++x) {
      int r = 0, g = 0, b = 0;
      for (int i = 0; i < k_samples * k_samples; ++i) {
        const Color& sample = samples_.at(x * k_samples + i % k_samples, y * k_samples + i / k_samples);
        r += sample.r;
        g += sample.g;
        b += sample.b;
      }
      constexpr int k_count = k_samples * k_samples;
      image.at(x, y) = {static_cast<std::uint8_t>(r / k_count), static_cast<std::uint8_t>(g / k_count),
                        static_cast<std::uint8_t>(b / k_count)};
    }
  return image;
}

Color diverging_color(double value) {
  const double v = std::clamp(value, -1.0, 1.0);
  constexpr Color k_middle{245, 243, 238}, k_inside{33, 84, 160}, k_outside{178, 52, 36};
  return v < 0 ? mix(k_middle, k_inside, std::sqrt(-v)) : mix(k_middle, k_outside, std::sqrt(v));
}

Color level_color(std::uint32_t level) {
  constexpr std::array<Color, 8> k_colors{Color{200, 40, 40}, {230, 130, 20}, {190, 160, 10}, {50, 150, 70},
                                          {30, 140, 170},     {50, 90, 200},  {130, 70, 190}, {190, 60, 140}};
  return k_colors[level % k_colors.size()];
}

namespace {

std::string encode(int width, int height, png_uint_32 format, const void* pixels) {
  png_image png{};
  png.version = PNG_IMAGE_VERSION;
  png.width = static_cast<png_uint_32>(width);
  png.height = static_cast<png_uint_32>(height);
  png.format = format;
  // Once for the size, once for the bytes.
  png_alloc_size_t size = 0;
  std::string bytes;
  bool ok = png_image_write_to_memory(&png, nullptr, &size, 0, pixels, 0, nullptr) != 0;
  if (ok) {
    bytes.resize(size);
    ok = png_image_write_to_memory(&png, bytes.data(), &size, 0, pixels, 0, nullptr) != 0;
  }
  const std::string why = png.message;
  png_image_free(&png);
  if (!ok) throw Error("Cannot make a picture: " + why + ".");
  bytes.resize(size);
  return bytes;
}

}  // namespace

std::string encode_png(const Image& image) {
  static_assert(sizeof(Color) == 3);
  return encode(image.width, image.height, PNG_FORMAT_RGB, image.pixels.data());
}

std::string encode_cutout_png(const Image& on_black, const Image& on_white) {
  std::vector<std::uint8_t> pixels;
  pixels.reserve(4 * on_black.pixels.size());
  for (std::size_t i = 0; i < on_black.pixels.size(); ++i) {
    const Color black = on_black.pixels[i], white = on_white.pixels[i];
    // What shows through is the same for every channel; green has it with the least rounding to the eye.
    const int covered = std::clamp(255 - (white.g - black.g), 0, 255);
    const auto own = [covered](std::uint8_t channel) {
      return static_cast<std::uint8_t>(covered > 0 ? std::min(255, channel * 255 / covered) : 0);
    };
    for (const std::uint8_t channel : {own(black.r), own(black.g), own(black.b), static_cast<std::uint8_t>(covered)})
      pixels.push_back(channel);
  }
  return encode(on_black.width, on_black.height, PNG_FORMAT_RGBA, pixels.data());
}

void write_png(const Image& image, const std::filesystem::path& path) {
  write_file(path, encode_png(image));
}

}  // namespace cotouch
