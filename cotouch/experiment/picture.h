// Pictures of meshes and points without a graphics card: a small z-buffer renderer and PNG output.
#pragma once

#include <cotouch/base/pose.h>
#include <cotouch/mesh/mesh.h>

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace cotouch {

struct Color {
  std::uint8_t r = 0, g = 0, b = 0;
  friend constexpr bool operator==(const Color&, const Color&) = default;
};

// Row by row from the top left.
struct Image {
  int width = 0, height = 0;
  std::vector<Color> pixels;

  Image() = default;
  Image(int width_, int height_, Color background);
  Color& at(int x, int y) { return pixels[index(x, y)]; }
  const Color& at(int x, int y) const { return pixels[index(x, y)]; }
  std::size_t index(int x, int y) const {
    return static_cast<std::size_t>(y) * static_cast<std::size_t>(width) + static_cast<std::size_t>(x);
  }
};

// Images side by side, tops aligned.
Image beside(std::span<const Image> images, int gap, Color background);

struct Camera {
  Vec3d eye, target, up{0, 0, 1};
  double height = 1;         // metres seen at the target's distance, from the bottom to the top of the picture
  bool perspective = false;  // else parallel
};

// Looks at the middle of `box` from the direction `from`, near enough to fill a picture of the given width / height.
Camera camera_for(const Box3d& box, const Vec3d& from, double aspect, bool perspective = false);

class Picture {
 public:
  Picture(int width, int height, const Camera& camera, Color background = {255, 255, 255});

  // Flat-shaded by two lights fixed to the camera; both sides of a triangle are lit.
  void draw(const TriangleMesh& mesh, const Pose& pose, Color color);
  // A disc of `radius` pixels, hidden where something is nearer by more than a hair.
  void draw(const Vec3d& point, Color color, double radius);
  // Smoothed by averaging k_samples^2 samples for each pixel.
  Image image() const;

 private:
  struct Projected {
    double x, y, depth;  // samples, samples, metres towards the scene
    bool visible;
  };
  static constexpr int k_samples = 3;

  Projected project(const Vec3d& point) const;
  void put(int x, int y, double depth, Color color);

  int width_, height_;  // samples
  Camera camera_;
  Vec3d right_, up_, forward_;
  double distance_, samples_per_metre_;
  std::vector<float> depth_;
  Image samples_;
};

// A diverging scale: blue at -1, near white at 0, red at 1.
Color diverging_color(double value);
// Distinct colours for small numbers (tree levels).
Color level_color(std::uint32_t level);

std::string encode_png(const Image& image);
// Without a background, for pages of any colour: from the same picture drawn before black and before white, whose
// difference tells how much of the background shows through each pixel.
std::string encode_cutout_png(const Image& on_black, const Image& on_white);
void write_png(const Image& image, const std::filesystem::path& path);

}  // namespace cotouch
