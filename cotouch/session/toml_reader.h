// Values of a TOML file that somebody else wrote: each is checked, and what is wrong with it is told in a sentence.
// Only for the files that parse: toml++ takes a while to compile.
#pragma once

#include <cotouch/base/error.h>
#include <cotouch/net/toml.h>
#include <cotouch/session/arbitration.h>
#include <cotouch/session/names.h>
#include <cotouch/session/plain_number.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace cotouch {

constexpr std::size_t k_most_text_bytes = 500;

// toml++ 3.3 runs into undefined behaviour on some signs beyond ASCII outside of texts, so it sees none: their bytes
// travel as %XX (and % as %25) and are turned back in the texts that come out.
inline std::string to_ascii(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x80 && c != '%') {
      out += c;
      continue;
    }
    out += '%';
    out += "0123456789ABCDEF"[byte >> 4];
    out += "0123456789ABCDEF"[byte & 15];
  }
  return out;
}

inline std::string from_ascii(std::string_view text) {
  const auto digit = [](char c) { return c <= '9' ? c - '0' : c - 'A' + 10; };
  const auto is_digit = [](char c) { return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'F'); };
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size() && is_digit(text[i + 1]) && is_digit(text[i + 2])) {
      out += static_cast<char>(digit(text[i + 1]) * 16 + digit(text[i + 2]));
      i += 2;
    } else {
      out += text[i];
    }
  }
  return out;
}

class TomlReader {
 public:
  explicit TomlReader(const std::string& refusal) : refusal_(refusal) {}

  [[noreturn]] void fail(const std::string& why, ErrorCode code = ErrorCode::damaged_file) const {
    throw Error(refusal_ + where_ + why + ".", code);
  }

  // A misspelt key would otherwise change nothing, without a word.
  void allow_only(const toml::table& table, std::initializer_list<std::string_view> keys) const {
    for (const auto& [key, value] : table)
      if (std::find(keys.begin(), keys.end(), key.str()) == keys.end())
        fail("nothing is called `" + clean_label(from_ascii(key.str())) + "` here");
  }

  std::vector<const toml::table*> tables(const toml::table& table, const char* key, const char* heading,
                                         std::size_t most) const {
    std::vector<const toml::table*> out;
    const toml::node* node = table.get(key);
    if (node == nullptr) return out;
    const toml::array* list = node->as_array();
    const std::string advice = std::string("; write ") + heading + " above each";
    if (list == nullptr) fail(std::string("`") + key + "` is not a list" + advice);
    if (list->size() > most)
      fail("there are more than " + std::to_string(most) + " of `" + key + "`", ErrorCode::too_large);
    for (const toml::node& entry : *list) {
      if (!entry.is_table()) fail(std::string("`") + key + "` is not a list of tables" + advice);
      out.push_back(entry.as_table());
    }
    return out;
  }

  std::string text(const toml::table& table, const char* key, std::string otherwise) const {
    const toml::node* node = table.get(key);
    if (node == nullptr) return otherwise;
    const auto value = node->value_exact<std::string>();
    if (!value) fail(std::string("`") + key + "` is not a text in quotes");
    std::string out = from_ascii(*value);
    if (out.size() > k_most_text_bytes)
      fail(std::string("`") + key + "` is longer than " + std::to_string(k_most_text_bytes) + " bytes");
    return out;
  }

  double number(const toml::table& table, const char* key, double otherwise, double low, double high) const {
    const toml::node* node = table.get(key);
    if (node == nullptr) return otherwise;
    const auto value = node->value<double>();
    // The negation also catches what is not a number.
    if (!node->is_number() || !value || !(*value >= low && *value <= high))
      fail(std::string("`") + key + "` is not a number from " + long_number(low) + " to " + long_number(high));
    return *value;
  }

  double number(const toml::table& table, const char* key, double otherwise, const SettingRange& range) const {
    return number(table, key, otherwise, range.low, range.high);
  }

  std::uint32_t whole_number(const toml::table& table, const char* key, std::uint32_t otherwise, std::uint32_t low,
                             std::uint32_t high) const {
    const double value = number(table, key, otherwise, low, high);
    if (value != std::floor(value)) fail(std::string("`") + key + "` is not a whole number");
    return static_cast<std::uint32_t>(value);
  }

  // The place of the word among those allowed.
  std::size_t choice(const toml::table& table, const char* key, std::initializer_list<const char*> words,
                     std::size_t otherwise) const {
    if (!table.contains(key)) return otherwise;
    const std::string value = text(table, key, "");
    const auto found = std::find(words.begin(), words.end(), value);
    if (found != words.end()) return static_cast<std::size_t>(found - words.begin());
    std::string all;
    for (const char* word : words) all += std::string(all.empty() ? "\"" : ", \"") + word + "\"";
    fail(std::string("`") + key + "` is none of " + all);
  }

  template <std::size_t count>
  std::array<double, count> numbers(const toml::node& node, const char* key) const {
    const toml::array* list = node.as_array();
    std::array<double, count> out{};
    bool good = list != nullptr && list->size() == count;
    for (std::size_t i = 0; good && i < count; ++i) {
      const toml::node& entry = *list->get(i);
      const auto value = entry.value<double>();
      good = entry.is_number() && value && std::isfinite(*value);
      if (good) out[i] = *value;
    }
    if (!good) fail(std::string("`") + key + "` is not a list of " + std::to_string(count) + " numbers");
    return out;
  }

  Vec3d vector(const toml::table& table, const char* key, double largest = 1e9) const {
    const toml::node* node = table.get(key);
    if (node == nullptr) return {};
    const auto v = numbers<3>(*node, key);
    const Vec3d out{v[0], v[1], v[2]};
    if (!(norm(out) <= largest)) fail(std::string("`") + key + "` is larger than " + long_number(largest));
    return out;
  }

  std::string refusal_;  // how its sentences begin
  std::string where_;    // and what they are about
};

}  // namespace cotouch
