// Profile files: TOML, read and written. docs/networks.md describes them for users.
#include <cotouch/net/network_profile.h>

#include <cotouch/base/error.h>
#include <cotouch/base/read_file.h>
#include <cotouch/net/toml.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>

namespace cotouch {
namespace {

constexpr std::size_t k_most_text = 64U << 10;
constexpr std::size_t k_longest_name = 64, k_longest_summary = 500;

// A number of a profile as files spell it.
struct Field {
  const char* key;
  double LinkProfile::*value;
  double multiply, divide;  // from the file's unit to ours; one of them is 1, so that there is one rounding
  double low, high;         // in the file's unit
};

constexpr double k_longest_ms = k_longest_delay * 1000;
constexpr std::array k_fields{
    Field{"delay_ms", &LinkProfile::delay, 1, 1000, 0, k_longest_ms},
    Field{"jitter_ms", &LinkProfile::jitter, 1, 1000, 0, k_longest_ms},
    Field{"shortest_ms", &LinkProfile::shortest, 1, 1000, 0, k_longest_ms},
    Field{"longest_ms", &LinkProfile::longest, 1, 1000, 0, k_longest_ms},
    Field{"loss_percent", &LinkProfile::loss, 1, 100, 0, 100},
    Field{"burst_percent", &LinkProfile::burst_share, 1, 100, 0, 100},
    Field{"burst_length", &LinkProfile::burst_length, 1, 1, 1, 1e6},
    Field{"reorder_percent", &LinkProfile::reorder, 1, 100, 0, 100},
    Field{"reorder_by_ms", &LinkProfile::reorder_by, 1, 1000, 0, k_longest_ms},
    Field{"duplicate_percent", &LinkProfile::duplicate, 1, 100, 0, 100},
    Field{"corrupt_percent", &LinkProfile::corrupt, 1, 100, 0, 100},
    Field{"rate_mbit", &LinkProfile::bytes_per_second, 125'000, 1, 0, 8e6},
    Field{"queue_ms", &LinkProfile::queue_seconds, 1, 1000, 0, k_longest_ms},
    Field{"outage_start_s", &LinkProfile::outage_start, 1, 1, 0, 1e6},
    Field{"outage_length_s", &LinkProfile::outage_length, 1, 1, 0, 1e6},
    Field{"outage_every_s", &LinkProfile::outage_every, 1, 1, 0, 1e6},
};

double to_ours(const Field& field, double value) {
  return value * field.multiply / field.divide;
}

// The number in the file's unit that gives this one; the nearest if none does.
double to_file(const Field& field, double value) {
  constexpr double k_infinity = std::numeric_limits<double>::infinity();
  const double guess = value / field.multiply * field.divide;
  for (const double near : {guess, std::nextafter(guess, -k_infinity), std::nextafter(guess, k_infinity)})
    if (to_ours(field, near) == value) return near;
  return guess;
}

std::string plain(double value) {
  char buffer[400];  // the largest number has 309 digits
  return {buffer, std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::fixed).ptr};
}

bool is_printable(char c) {
  return c >= 0x20 && c < 0x7f;
}

class ProfileReader {
 public:
  explicit ProfileReader(std::string refusal) : refusal_(std::move(refusal)) {}

  NetworkProfile read(const toml::table& table) const {
    const auto version = table["cotouch_network"].value_exact<std::int64_t>();
    if (!version) fail("it does not begin with `cotouch_network = 1`, so it is no network profile");
    if (*version != 1)
      fail("it is of a version that this cotouch does not know; use a newer cotouch", ErrorCode::unsupported);
    for (const auto& [key, value] : table)
      if (!is_one_of(key.str(), {"cotouch_network", "name", "summary", "both", "there", "back"}))
        unknown(key.str(), value);
    NetworkProfile profile;
    profile.name = text(table, "name", "custom", k_longest_name);
    profile.summary = text(table, "summary", "", k_longest_summary);
    const bool both = table.contains("both");
    if (both == (table.contains("there") || table.contains("back")))
      fail("give it either [both] or [there] and [back]");
    profile.there = link(table, both ? "both" : "there");
    profile.back = link(table, both ? "both" : "back");
    return profile;
  }

 private:
  [[noreturn]] void fail(const std::string& why, ErrorCode code = ErrorCode::damaged_file) const {
    throw Error(refusal_ + why + ".", code);
  }
  [[noreturn]] void fail_at(const toml::node& node, const std::string& why) const {
    fail("line " + std::to_string(node.source().begin.line) + ": " + why);
  }
  // A misspelt key would otherwise change nothing, without a word.
  [[noreturn]] void unknown(std::string_view key, const toml::node& node) const {
    std::string shown(key.substr(0, k_longest_name));
    std::replace_if(
        shown.begin(), shown.end(), [](char c) { return !is_printable(c); }, ' ');
    fail_at(node, "nothing is called `" + shown + "` here");
  }
  static bool is_one_of(std::string_view key, std::initializer_list<std::string_view> keys) {
    return std::find(keys.begin(), keys.end(), key) != keys.end();
  }

  std::string text(const toml::table& table, const char* key, std::string otherwise, std::size_t longest) const {
    const toml::node* node = table.get(key);
    if (node == nullptr) return otherwise;
    const auto value = node->value_exact<std::string>();
    if (!value || value->size() > longest || !std::all_of(value->begin(), value->end(), is_printable))
      fail_at(*node, std::string("`") + key + "` is not a text in quotes of at most " + std::to_string(longest) +
                         " signs in one line");
    return *value;
  }

  LinkProfile link(const toml::table& root, const char* name) const {
    LinkProfile link;
    const toml::node* node = root.get(name);
    if (node == nullptr) return link;
    const toml::table* table = node->as_table();
    if (table == nullptr) fail_at(*node, std::string("`") + name + "` is not a table; write [" + name + "]");
    for (const auto& [key, value] : *table) read(key.str(), value, *table, link);
    if (link.jitter > 0 && !table->contains("jitter_kind")) link.jitter_kind = Jitter::normal;
    try {
      check(link);
    } catch (const Error& error) {
      throw Error(refusal_ + "[" + name + "]: " + error.what(), ErrorCode::damaged_file);
    }
    return link;
  }

  void read(std::string_view key, const toml::node& node, const toml::table& table, LinkProfile& link) const {
    if (key == "jitter_kind") {
      if (!find_jitter(text(table, "jitter_kind", "", k_longest_name), link.jitter_kind))
        fail_at(node, "`jitter_kind` is none of \"none\", \"uniform\", \"normal\", \"exponential\", \"heavy-tail\"");
      return;
    }
    if (key == "pattern") {
      link.pattern = text(table, "pattern", "", k_longest_loss_pattern);
      return;
    }
    if (key == "keep_order") {
      const auto value = node.value_exact<bool>();
      if (!value) fail_at(node, "`keep_order` is neither true nor false");
      link.keep_order = *value;
      return;
    }
    const auto field = std::find_if(k_fields.begin(), k_fields.end(), [&](const Field& f) { return key == f.key; });
    if (field == k_fields.end()) unknown(key, node);
    const auto value = node.value<double>();
    // The negation also catches what is not a number.
    if (!node.is_number() || !value || !(*value >= field->low && *value <= field->high))
      fail_at(node, std::string("`") + field->key + "` is not a number from " + plain(field->low) + " to " +
                        plain(field->high));
    link.*field->value = to_ours(*field, *value);
  }

  std::string refusal_;  // how its sentences begin
};

std::string in_quotes(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += is_printable(c) ? c : ' ';
  }
  return out + '"';
}

// Only what differs from a perfect link.
std::string format_link(const LinkProfile& link) {
  const LinkProfile perfect;
  std::string out;
  for (const Field& field : k_fields)
    if (link.*field.value != perfect.*field.value)
      out += std::string(field.key) + " = " + plain(to_file(field, link.*field.value)) + "\n";
  if (link.jitter_kind != perfect.jitter_kind) out += "jitter_kind = " + in_quotes(name_of(link.jitter_kind)) + "\n";
  if (!link.keep_order) out += "keep_order = false\n";
  if (!link.pattern.empty()) out += "pattern = " + in_quotes(link.pattern) + "\n";
  return out;
}

}  // namespace

NetworkProfile parse_network(std::string_view text, const std::string& source) {
  const std::string refusal = "The network profile " + source + " cannot be used: ";
  if (text.size() > k_most_text) throw Error(refusal + "it is larger than 64 KiB.", ErrorCode::too_large);
  // toml++ 3.3 runs into undefined behaviour on some signs beyond ASCII.
  const auto strange = std::find_if_not(text.begin(), text.end(),
                                        [](char c) { return is_printable(c) || c == '\n' || c == '\r' || c == '\t'; });
  if (strange != text.end())
    throw Error(refusal + "line " + std::to_string(1 + std::count(text.begin(), strange, '\n')) +
                    " has a sign that is not plain ASCII.",
                ErrorCode::damaged_file);
  toml::table table;
  try {
    table = toml::parse(text);
  } catch (const toml::parse_error& error) {
    throw Error(
        refusal + "line " + std::to_string(error.source().begin.line) + ": " + std::string(error.description()) + ".",
        ErrorCode::damaged_file);
  }
  return ProfileReader(refusal).read(table);
}

NetworkProfile read_network(const std::filesystem::path& path) {
  return parse_network(read_text(path, k_most_text), path.string());
}

std::string format_network(const NetworkProfile& profile) {
  std::string out = "# A network for: cotouch wan --profile FILE\n";
  out += "cotouch_network = 1\n";
  out += "name = " + in_quotes(profile.name) + "\n";
  out += "summary = " + in_quotes(profile.summary) + "\n";
  if (profile.there == profile.back) return out + "\n[both]\n" + format_link(profile.there);
  return out + "\n[there]\n" + format_link(profile.there) + "\n[back]\n" + format_link(profile.back);
}

}  // namespace cotouch
