// Walks through text, word by word, without copying or looking at the locale.
#pragma once

#include <cotouch/base/cancel.h>

#include <charconv>
#include <cstddef>
#include <span>
#include <string_view>

namespace cotouch {

// Without the byte order mark that some editors put before a text.
inline std::string_view as_text(std::span<const std::byte> bytes) {
  std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  return text;
}

class TextScanner {
 public:
  explicit TextScanner(std::string_view text) : rest_(text) {}

  // The next word, empty at the end of the text.
  std::string_view word() {
    skip(" \t\r\n\v\f");
    return take(" \t\r\n\v\f");
  }
  // The next line without its end, which is \n, \r\n or \r; false when there is none.
  bool line(std::string_view& out) {
    if (rest_.empty()) return false;
    out = take("\r\n");
    rest_.remove_prefix(rest_.starts_with("\r\n") ? 2 : rest_.empty() ? 0 : 1);
    return true;
  }
  std::string_view rest() const { return rest_; }

 private:
  void skip(std::string_view set) {
    rest_.remove_prefix(first([set](std::string_view piece) { return piece.find_first_not_of(set); }));
  }
  std::string_view take(std::string_view set) {
    const std::string_view found =
        rest_.substr(0, first([set](std::string_view piece) { return piece.find_first_of(set); }));
    rest_.remove_prefix(found.size());
    return found;
  }
  // Where something first is, or the end. A word or a gap may be as long as the file, so it asks on the way.
  template <class Find>
  std::size_t first(const Find& find) const {
    constexpr std::size_t k_piece = 1U << 16U;
    for (std::size_t begin = 0; begin < rest_.size(); begin += k_piece) {
      if (begin > 0) throw_if_cancelled();
      if (const std::size_t at = find(rest_.substr(begin, k_piece)); at != std::string_view::npos) return begin + at;
    }
    return rest_.size();
  }

  std::string_view rest_;
};

// A text line by line, without comments after a '#' and lines that hold nothing.
class ContentLines {
 public:
  explicit ContentLines(std::string_view text) : scanner_(text) {}

  // What is left of the line last taken.
  TextScanner& words() { return words_; }
  std::size_t number() const { return number_; }

  bool next() {
    std::string_view line;
    while (scanner_.line(line)) {
      if (++number_ % k_ask_every == 0) throw_if_cancelled();
      line = line.substr(0, line.find('#'));
      if (TextScanner(line).word().empty()) continue;
      words_ = TextScanner(line);
      return true;
    }
    return false;
  }

 private:
  static constexpr std::size_t k_ask_every = 1U << 12U;

  TextScanner scanner_, words_{{}};
  std::size_t number_ = 0;
};

// The whole word must be a number. Accepts a leading plus, nan and inf; what is too large for T is refused.
template <class T>
bool parse_number(std::string_view word, T& out) {
  if (!word.empty() && word.front() == '+') word.remove_prefix(1);
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), out);
  return error == std::errc{} && end == word.data() + word.size();
}

}  // namespace cotouch
