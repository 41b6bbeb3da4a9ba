#include <cotouch/base/error.h>
#include <cotouch/base/trig.h>
#include <cotouch/experiment/picture.h>
#include <cotouch/shapes/shapes.h>

#include <gtest/gtest.h>
#include <png.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "support/temporary_folder.h"

namespace cotouch::this_file {
namespace {

constexpr Color k_white{255, 255, 255};

// Looks along +y; one metre is the picture's height.
Camera front() {
  return {{0, -5, 0}, {0, 0, 0}, {0, 0, 1}, 1.0, false};
}

std::size_t covered(const Image& image) {
  return static_cast<std::size_t>(
      std::count_if(image.pixels.begin(), image.pixels.end(), [](const Color& c) { return !(c == k_white); }));
}

}  // namespace

TEST(Picture, ABoxCoversItsArea) {
  Picture picture(200, 100, front());
  picture.draw(make_box({0.4, 0.2, 0.6}), Pose{}, {200, 100, 50});
  // 100 pixels a metre: 40 by 60, its edges on pixel borders.
  EXPECT_EQ(covered(picture.image()), 2400U);
}

TEST(Picture, ABallCoversADisc) {
  Picture picture(200, 200, front());
  picture.draw(make_sphere(0.4, 4), Pose{{0.05, 0, 0}, {}}, {120, 120, 120});
  // pi (80 pixels)^2; the picture counts every pixel the rim touches, half a pixel more on each side.
  EXPECT_NEAR(static_cast<double>(covered(picture.image())), k_pi * 80 * 80, k_pi * 160);
}

TEST(Picture, TheNearerThingHidesTheFartherInAnyOrder) {
  for (const bool near_first : {true, false}) {
    Picture picture(50, 50, front());
    for (int i = 0; i < 2; ++i) {
      const bool near = (i == 0) == near_first;
      picture.draw(make_box({0.5, 0.1, 0.5}), Pose{{0, near ? -1.0 : 1.0, 0}, {}},
                   near ? Color{200, 0, 0} : Color{0, 0, 200});
    }
    const Color middle = picture.image().at(25, 25);
    EXPECT_GT(middle.r, 100);
    EXPECT_EQ(middle.b, 0);
  }
}

TEST(Picture, PerspectiveMakesFarThingsSmaller) {
  Camera camera = front();
  camera.perspective = true;
  std::size_t area[2];
  for (const bool far : {false, true}) {
    Picture picture(200, 200, camera);
    picture.draw(make_box({0.4, 1e-6, 0.4}), Pose{{0, far ? 5.0 : 0.0, 0}, {}}, {100, 100, 100});
    area[far ? 1 : 0] = covered(picture.image());
  }
  // At twice the distance, half the size: 80 x 80 and 40 x 40 pixels.
  EXPECT_EQ(area[0], 6400U);
  EXPECT_EQ(area[1], 1600U);
}

TEST(Picture, PointsShowOnTheSurfaceAndNotThroughIt) {
  Picture picture(100, 100, front());
  picture.draw(make_box({0.5, 0.5, 0.5}), Pose{}, {60, 60, 60});
  picture.draw(Vec3d{0.1, -0.25, 0.1}, {0, 255, 0}, 2);
  picture.draw(Vec3d{-0.1, 0.25, -0.1}, {255, 0, 0}, 2);
  const Image image = picture.image();
  EXPECT_EQ(image.at(60, 40), (Color{0, 255, 0}));
  EXPECT_EQ(image.at(40, 60).r, image.at(40, 60).g);
}

TEST(Picture, TheCameraSeesTheWholeBoxFromAnywhere) {
  const TriangleMesh mesh = make_box({0.3, 0.1, 0.02});
  for (const Vec3d from : {Vec3d{1, 0, 0}, {0, 0, 1}, {1, -2, 1}, {-1, 1, -3}}) {
    for (const bool perspective : {false, true}) {
      Picture picture(120, 80, camera_for(mesh.bounds(), from, 1.5, perspective));
      picture.draw(mesh, Pose{}, {90, 90, 90});
      const Image image = picture.image();
      EXPECT_GT(covered(image), 100U);
      for (int x = 0; x < image.width; ++x) EXPECT_TRUE(image.at(x, 0) == k_white && image.at(x, 79) == k_white);
      for (int y = 0; y < image.height; ++y) EXPECT_TRUE(image.at(0, y) == k_white && image.at(119, y) == k_white);
    }
  }
}

TEST(Picture, PngHoldsExactlyTheImage) {
  const TemporaryFolder folder;
  Image image(3, 2, {1, 2, 3});
  image.at(2, 1) = {250, 128, 0};
  write_png(image, folder / "a.png");

  png_image png{};
  png.version = PNG_IMAGE_VERSION;
  ASSERT_NE(png_image_begin_read_from_file(&png, (folder / "a.png").c_str()), 0);
  ASSERT_EQ(png.width, 3U);
  ASSERT_EQ(png.height, 2U);
  png.format = PNG_FORMAT_RGB;
  std::vector<Color> pixels(6);
  ASSERT_NE(png_image_finish_read(&png, nullptr, pixels.data(), 0, nullptr), 0);
  EXPECT_EQ(pixels, image.pixels);
}

TEST(Picture, AFolderThatIsNotThereIsNamed) {
  const TemporaryFolder folder;
  try {
    write_png(Image(2, 2, {}), folder / "missing/a.png");
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("missing/a.png"), std::string::npos);
  }
}

TEST(Picture, ACutoutKeepsItsColoursAndShowsWhatIsBehindIt) {
  // One pixel covered, one half covered, one free; half of 200 before black is 100, before white 100 + 127.
  Image black(3, 1, {}), white(3, 1, k_white);
  black.at(0, 0) = white.at(0, 0) = {200, 100, 50};
  black.at(1, 0) = {100, 50, 25};
  white.at(1, 0) = {227, 177, 152};
  const std::string bytes = encode_cutout_png(black, white);
  png_image png{};
  png.version = PNG_IMAGE_VERSION;
  ASSERT_NE(png_image_begin_read_from_memory(&png, bytes.data(), bytes.size()), 0);
  png.format = PNG_FORMAT_RGBA;
  std::vector<int> wanted{200, 100, 50, 255, 200, 100, 50, 128, 0, 0, 0, 0};
  std::vector<std::uint8_t> pixels(wanted.size());
  ASSERT_NE(png_image_finish_read(&png, nullptr, pixels.data(), 0, nullptr), 0);
  for (std::size_t i = 0; i < wanted.size(); ++i) EXPECT_NEAR(pixels[i], wanted[i], 2) << i;
}

}  // namespace cotouch::this_file
