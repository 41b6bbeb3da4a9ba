#include <cotouch/session/names.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <utility>

namespace cotouch {
namespace {

constexpr std::size_t k_max_label = 64;  // bytes
constexpr std::size_t k_name_characters = 24;

// Bytes in the UTF-8 character that begins at `at`; 0 where there is none.
std::size_t character_bytes(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned first = byte(at);
  const std::size_t count = first < 0x80   ? 1
                            : first < 0xc2 ? 0
                            : first < 0xe0 ? 2
                            : first < 0xf0 ? 3
                            : first < 0xf5 ? 4
                                           : 0;
  if (count == 0 || at + count > text.size()) return 0;
  for (std::size_t i = 1; i < count; ++i)
    if ((byte(at + i) & 0xc0) != 0x80) return 0;
  // Overlong forms, surrogates and what lies beyond Unicode.
  if (first == 0xe0 && byte(at + 1) < 0xa0) return 0;
  if (first == 0xed && byte(at + 1) >= 0xa0) return 0;
  if (first == 0xf0 && byte(at + 1) < 0x90) return 0;
  if (first == 0xf4 && byte(at + 1) >= 0x90) return 0;
  return count;
}

// The number of the character in `bytes`, which is one whole UTF-8 character.
std::uint32_t code_point(std::string_view bytes) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[i])); };
  if (bytes.size() == 1) return byte(0);
  std::uint32_t code = byte(0) & (0xffU >> (bytes.size() + 1));
  for (std::size_t i = 1; i < bytes.size(); ++i) code = code << 6U | (byte(i) & 0x3fU);
  return code;
}

// What has no width or turns the direction of writing would make one name look like another.
bool is_shown(std::uint32_t code) {
  const bool control = code < 0x20 || (code >= 0x7f && code < 0xa0);
  constexpr std::pair<std::uint32_t, std::uint32_t> k_invisible[] = {
      {0xad, 0xad},     {0x34f, 0x34f},   {0x61c, 0x61c},   {0x115f, 0x1160},   {0x17b4, 0x17b5},   {0x180b, 0x180f},
      {0x200b, 0x200f}, {0x2028, 0x202e}, {0x2060, 0x206f}, {0x2800, 0x2800},   {0x3164, 0x3164},   {0xfe00, 0xfe0f},
      {0xfeff, 0xfeff}, {0xffa0, 0xffa0}, {0xfff0, 0xfffb}, {0x1bca0, 0x1bca3}, {0x1d173, 0x1d17a}, {0xe0000, 0xe0fff}};
  return !control && std::none_of(std::begin(k_invisible), std::end(k_invisible),
                                  [code](const auto& range) { return code >= range.first && code <= range.second; });
}

// As many whole characters of a printable text as fit.
std::string shortened(std::string_view text, std::size_t most_bytes) {
  std::size_t size = 0;
  while (size < text.size() && size + character_bytes(text, size) <= most_bytes) size += character_bytes(text, size);
  return std::string(text.substr(0, size));
}

std::string clean_name(std::string_view name, std::size_t characters) {
  std::string out;
  std::size_t count = 0;
  for (std::size_t i = 0; i < name.size() && count < characters;) {
    const std::size_t bytes = character_bytes(name, i);
    const std::string_view character = name.substr(i, std::max<std::size_t>(bytes, 1));
    i += character.size();
    if (bytes == 0 || !is_shown(code_point(character)) || (out.empty() && character == " ")) continue;
    out += character;
    ++count;
  }
  out.erase(out.find_last_not_of(' ') + 1);
  return out;
}

}  // namespace

bool is_identifier(std::string_view text) {
  return !text.empty() && text.size() <= 64 && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '-';
  });
}

std::string printable(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t bytes = character_bytes(text, i);
    const std::string_view character = text.substr(i, std::max<std::size_t>(bytes, 1));
    i += character.size();
    if (bytes > 0 && is_shown(code_point(character))) out += character;
  }
  return out;
}

std::string clean_label(std::string_view name) {
  name.remove_prefix(std::min(name.size(), name.find_last_of("/\\") + 1));
  std::string out = printable(name);
  if (out.size() > k_max_label) out = shortened(out, k_max_label);
  return out.empty() ? "part" : out;
}

std::string with_ending(std::string_view label, std::string_view ending) {
  return shortened(clean_label(label), k_max_label - std::min(ending.size(), k_max_label)) + std::string(ending);
}

std::string clean_name(std::string_view name) {
  return clean_name(name, k_name_characters);
}

std::string different_name(std::string_view name, std::span<const std::string> taken) {
  std::string different = clean_name(name);
  for (std::size_t number = 2; std::find(taken.begin(), taken.end(), different) != taken.end(); ++number) {
    const std::string ending = std::string(1, ' ').append(std::to_string(number));
    different = clean_name(name, k_name_characters - ending.size()) + ending;
  }
  return different;
}

}  // namespace cotouch
