#include <cotouch/app/qr_code.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <vector>

namespace cotouch::this_file {
namespace {

// The modules that a terminal shows: true where it is dark.
std::vector<std::vector<bool>> shown(const std::string& code) {
  std::vector<std::vector<bool>> rows;
  std::istringstream lines(code);
  for (std::string line; std::getline(lines, line);) {
    std::vector<bool> upper, lower;
    for (std::size_t i = 0; i < line.size();) {
      if (line[i] == '\033') {
        i = line.find('m', i) + 1;
        continue;
      }
      const std::string sign = line[i] == ' ' ? " " : line.substr(i, 3);
      upper.push_back(sign == "█" || sign == "▀");
      lower.push_back(sign == "█" || sign == "▄");
      i += sign.size();
    }
    rows.push_back(std::move(upper));
    rows.push_back(std::move(lower));
  }
  return rows;
}

// The fixed patterns of ISO/IEC 18004: finders in three corners, timing lines between them, and one dark module.
TEST(QrCode, HasItsPatternsInsideAQuietZone) {
  constexpr std::size_t k_quiet = 4;
  for (const std::size_t length : {10U, 150U, 400U}) {
    const auto rows = shown(qr_code(std::string(length, 'x')));
    ASSERT_GT(rows.size(), 2 * k_quiet);
    const std::size_t width = rows[0].size() - 2 * k_quiet;
    ASSERT_EQ((width - 17) % 4, 0U);
    ASSERT_GE(rows.size(), width + 2 * k_quiet);
    for (std::size_t row = 0; row < rows.size(); ++row) {
      ASSERT_EQ(rows[row].size(), rows[0].size());
      for (std::size_t column = 0; column < rows[row].size(); ++column) {
        const bool inside = row >= k_quiet && column >= k_quiet && row < width + k_quiet && column < width + k_quiet;
        EXPECT_FALSE(!inside && rows[row][column]) << row << ' ' << column;
      }
    }
    const auto dark = [&](std::size_t row, std::size_t column) { return rows[row + k_quiet][column + k_quiet]; };
    for (std::size_t row = 0; row < 7; ++row)
      for (std::size_t column = 0; column < 7; ++column) {
        const std::size_t ring = std::min({row, column, 6 - row, 6 - column});
        EXPECT_EQ(dark(row, column), ring != 1);
        EXPECT_EQ(dark(row, width - 7 + column), ring != 1);
        EXPECT_EQ(dark(width - 7 + row, column), ring != 1);
      }
    for (std::size_t i = 8; i < width - 8; ++i) {
      EXPECT_EQ(dark(6, i), i % 2 == 0);
      EXPECT_EQ(dark(i, 6), i % 2 == 0);
    }
    EXPECT_TRUE(dark(width - 8, 8));
    EXPECT_LE(rows[0].size(), 100U);
  }
}

TEST(QrCode, IsNoneForWhatIsTooLong) {
  EXPECT_EQ(qr_code(std::string(5000, 'x')), "");
}

}  // namespace
}  // namespace cotouch::this_file
