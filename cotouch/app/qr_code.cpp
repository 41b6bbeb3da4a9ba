#include <cotouch/app/qr_code.h>

#include <qrencode.h>

#include <memory>

namespace cotouch {
namespace {

constexpr int k_quiet = 4;  // modules around the code

// Black on white of the 256-colour palette, which themes do not change as they do the first sixteen.
constexpr const char* k_black_on_white = "\033[38;5;16;48;5;231m";
constexpr const char* k_as_before = "\033[0m";

}  // namespace

std::string qr_code(std::string_view text) {
  const std::unique_ptr<QRcode, decltype(&QRcode_free)> code(
      QRcode_encodeString8bit(std::string(text).c_str(), 0, QR_ECLEVEL_L), QRcode_free);
  if (code == nullptr) return {};
  const auto is_dark = [&](int row, int column) {
    const bool inside = row >= 0 && column >= 0 && row < code->width && column < code->width;
    return inside && (code->data[row * code->width + column] & 1U) != 0;
  };
  std::string out;
  for (int row = -k_quiet; row < code->width + k_quiet; row += 2) {
    out += k_black_on_white;
    for (int column = -k_quiet; column < code->width + k_quiet; ++column) {
      const bool upper = is_dark(row, column), lower = is_dark(row + 1, column);
      out += upper && lower ? "█" : upper ? "▀" : lower ? "▄" : " ";
    }
    out += k_as_before;
    out += '\n';
  }
  return out;
}

}  // namespace cotouch
