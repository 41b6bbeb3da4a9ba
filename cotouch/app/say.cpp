#include <cotouch/app/say.h>
#include <cotouch/session/names.h>

#include <algorithm>
#include <cstdio>

namespace cotouch {
namespace {

void print(std::FILE* out, std::string_view text) {
  for (std::size_t end = 0; !text.empty(); text.remove_prefix(std::min(text.size(), end + 1))) {
    end = std::min(text.size(), text.find('\n'));
    std::fprintf(out, "%s\n", printable(text.substr(0, end)).c_str());
  }
}

}  // namespace

void say(std::string_view text) {
  print(stdout, text);
}

void complain(std::string_view text) {
  print(stderr, text);
}

}  // namespace cotouch
