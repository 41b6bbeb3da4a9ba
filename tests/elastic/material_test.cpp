#include <cotouch/elastic/material.h>

#include "support/error_code.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace cotouch::this_file {
namespace {

TEST(Material, AllNamedOnesAreSound) {
  ASSERT_GE(material_names().size(), 8U);
  for (const std::string& name : material_names()) EXPECT_NO_THROW(check_material(material_named(name))) << name;
}

TEST(Material, SteelIsAsInTextbooks) {
  const Material steel = material_named("steel");
  EXPECT_NEAR(steel.mu(), 78e9, 2e9);                               // shear modulus
  EXPECT_NEAR(steel.lambda() + 2.0 / 3 * steel.mu(), 160e9, 10e9);  // bulk modulus
  EXPECT_NEAR(std::sqrt(steel.young / steel.density), 5050, 100);   // speed of sound in a rod
  EXPECT_GT(material_named("rubber").young, 5 * material_named("silicone").young - 1);
  EXPECT_LT(material_named("foam").density, 100);
}

TEST(Material, NamesAreFoundWhateverTheirCaseAndHyphens) {
  for (const char* name : {"soft tissue", "Soft Tissue", "soft-tissue", "SOFT_TISSUE"})
    EXPECT_EQ(material_named(name), material_named("soft tissue"));
  EXPECT_EQ(material_named("ABS"), material_named("abs"));
}

TEST(Material, IsKnownByItsNameWhateverItsStiffness) {
  for (const std::string& name : material_names()) {
    Material material = material_named(name);
    material.young *= 5;  // silicone becomes as stiff as rubber
    EXPECT_EQ(name_but_for_stiffness(material), name);
    material.density += 1;
    EXPECT_EQ(name_but_for_stiffness(material), "");
  }
}

TEST(Material, AnUnknownNameIsAnsweredWithTheKnownOnes) {
  try {
    material_named("unobtainium");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::not_found);
    for (const std::string& name : material_names())
      EXPECT_NE(std::string(error.what()).find(name), std::string::npos) << name;
  }
}

TEST(Material, NumbersThatMakeNoSenseAreRefused) {
  const double nan = std::nan(""), infinity = std::numeric_limits<double>::infinity();
  const auto refused = [](const auto& change) {
    Material material;
    check_material(material);
    change(material);
    return code_of([&] { check_material(material); }) == ErrorCode::invalid_argument;
  };
  for (const double x : {nan, infinity, -infinity, 0.0, -1e6, 99.0, 1.1e13})
    EXPECT_TRUE(refused([x](Material& m) { m.young = x; })) << x;
  for (const double x : {nan, infinity, -1.0, 0.5, 0.4951, 0.7})
    EXPECT_TRUE(refused([x](Material& m) { m.poisson = x; })) << x;
  for (const double x : {nan, infinity, 0.0, -1.0, 1e6}) EXPECT_TRUE(refused([x](Material& m) { m.density = x; })) << x;
  for (const double x : {nan, infinity, -1e-9}) {
    EXPECT_TRUE(refused([x](Material& m) { m.mass_damping = x; })) << x;
    EXPECT_TRUE(refused([x](Material& m) { m.stiffness_damping = x; })) << x;
  }
}

TEST(Material, TheRangesEndsAreAllowed) {
  for (const Material& material : {Material{100, 0.495, 0.1, 0, 0}, Material{1e13, -0.999, 1e5, 10, 1}})
    EXPECT_NO_THROW(check_material(material));
}

TEST(Material, NearlyIncompressibleOnesAreSaidToLock) {
  Material material;
  material.poisson = 0.499;
  try {
    check_material(material);
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("lock"), std::string::npos);
  }
}

}  // namespace
}  // namespace cotouch::this_file
