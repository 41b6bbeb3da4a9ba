#include <cotouch/session/names.h>

#include <gtest/gtest.h>

namespace cotouch {
namespace {

TEST(Names, LabelsAreHarmless) {
  EXPECT_EQ(clean_label("../../etc/passwd.stl"), "passwd.stl");
  EXPECT_EQ(clean_label("C:\\temp\\a.stl"), "a.stl");
  EXPECT_EQ(clean_label("a\x01\x7f"
                        "b\xff\xc3.stl"),
            "ab.stl");
  EXPECT_EQ(clean_label("größe.stl"), "größe.stl");
  EXPECT_EQ(clean_label(std::string(1000, 'x')).size(), 64U);
  EXPECT_EQ(clean_label("/"), "part");
}

TEST(Names, OfPeopleAreCutToTwentyFourCharactersAndCleaned) {
  EXPECT_EQ(clean_name("Ann"), "Ann");
  EXPECT_EQ(clean_name("  Ann  Lee \t"), "Ann  Lee");
  EXPECT_EQ(clean_name(std::string(30, 'x')), std::string(24, 'x'));
  std::string greek, cut;
  for (int i = 0; i < 30; ++i) greek += "α";
  for (int i = 0; i < 24; ++i) cut += "α";
  EXPECT_EQ(clean_name(greek), cut);
  EXPECT_EQ(clean_name("a\xff"
                       "b\n\x7f"),
            "ab");
  EXPECT_EQ(clean_name("\u202e\u200b\u0085\ufeffeve"), "eve");  // direction, no width, control, byte order
  EXPECT_EQ(clean_name(" \n "), "");
}

}  // namespace
}  // namespace cotouch
