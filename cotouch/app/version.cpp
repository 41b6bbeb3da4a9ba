#include <cotouch/app/command.h>

namespace cotouch {

std::string version() {
  return COTOUCH_VERSION;
}

}  // namespace cotouch
