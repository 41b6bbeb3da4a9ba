// Walks through text, word by word, without copying or looking at the locale.
#pragma once

#include <charconv>
#include <cstddef>
#include <span>
#include <string_view>

namespace cotouch {

inline std::string_view as_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

class TextScanner {
 public:
  explicit TextScanner(std::string_view text) : rest_(text) {}

  // The next word, empty at the end of the text.
  std::string_view word() {
    skip(" \t\r\n\v\f");
    return take(" \t\r\n\v\f");
  }
  // The next line without its end; false when there is none.
  bool line(std::string_view& out) {
    if (rest_.empty()) return false;
    const std::size_t end = rest_.find('\n');
    out = rest_.substr(0, end);
    rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 1);
    if (!out.empty() && out.back() == '\r') out.remove_suffix(1);
    return true;
  }
  std::string_view rest() const { return rest_; }

 private:
  void skip(std::string_view set) {
    const std::size_t at = rest_.find_first_not_of(set);
    rest_.remove_prefix(at == std::string_view::npos ? rest_.size() : at);
  }
  std::string_view take(std::string_view set) {
    const std::string_view found = rest_.substr(0, rest_.find_first_of(set));
    rest_.remove_prefix(found.size());
    return found;
  }

  std::string_view rest_;
};

// The whole word must be a number. Accepts a leading plus, nan and inf; what is too large for T is refused.
template <class T>
bool parse_number(std::string_view word, T& out) {
  if (!word.empty() && word.front() == '+') word.remove_prefix(1);
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), out);
  return error == std::errc{} && end == word.data() + word.size();
}

}  // namespace cotouch
