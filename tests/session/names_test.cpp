#include <cotouch/session/names.h>

#include <gtest/gtest.h>

namespace cotouch::this_file {
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

TEST(Names, LabelsEndWithAWholeCharacter) {
  EXPECT_EQ(clean_label(std::string(63, 'x') + "ö"), std::string(63, 'x'));
  EXPECT_EQ(clean_label(std::string(62, 'x') + "ö"), std::string(62, 'x') + "ö");
}

TEST(Names, WhatATerminalShowsCannotMoveItsCursor) {
  EXPECT_EQ(printable("plain, größer, 部品 100 %"), "plain, größer, 部品 100 %");
  EXPECT_EQ(printable("a\x1b]0;title\x07"
                      "b\x1b[2Jc"),
            "a]0;titleb[2Jc");
  EXPECT_EQ(printable("one\r\ntwo\b\x7f"), "onetwo");
  EXPECT_EQ(printable("\u009b2J"), "2J");  // the same sequence, begun by one character
  EXPECT_EQ(printable("\u202egnp.exe\u200b"), "gnp.exe");
  EXPECT_EQ(printable("a\xff\xc3"), "a");
  EXPECT_EQ(clean_label("\u009b2J.stl"), "2J.stl");
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
  // The other marks of direction, tags, fillers and what else takes no room.
  EXPECT_EQ(clean_name("A\u061cn\u00adn\ufe0fa\U000e0041\u2069\ufff9"), "Anna");
  EXPECT_EQ(clean_name("\u3164\u2800\u115f"), "");
  EXPECT_EQ(clean_name(" \n "), "");
}

TEST(Names, OfTwoTheSecondHasANumber) {
  const std::vector<std::string> taken{"Ben", "Ben 2", std::string(24, 'a')};
  EXPECT_EQ(different_name("Anna", taken), "Anna");
  EXPECT_EQ(different_name(" Ben ", taken), "Ben 3");
  EXPECT_EQ(different_name(std::string(30, 'a'), taken), std::string(22, 'a') + " 2");
}

}  // namespace
}  // namespace cotouch::this_file
