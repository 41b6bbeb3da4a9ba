#include <cotouch/app/own_identity.h>
#include <cotouch/base/error.h>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>
#include <system_error>

namespace cotouch {
namespace {

constexpr int k_most_programs = 64;

}  // namespace

OwnIdentity::OwnIdentity(const std::filesystem::path& folder) {
  std::error_code ignored;
  // Recordings and scenes are kept here too, which no link of theirs lets other users of this machine read.
  std::filesystem::create_directories(folder.parent_path(), ignored);
  ::mkdir(folder.c_str(), 0700);
  for (int number = 1; number <= k_most_programs; ++number) {
    file_ = folder / (number == 1 ? "identity" : "identity-" + std::to_string(number));
    lock_ = ::open((file_.string() + ".lock").c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600);
    if (lock_ < 0 || ::flock(lock_, LOCK_EX | LOCK_NB) == 0) return;
    ::close(lock_);
  }
  throw Error("Too many programs of this user share scenes at the same time; stop some of them.", ErrorCode::busy);
}

OwnIdentity::~OwnIdentity() {
  if (lock_ >= 0) ::close(lock_);
}

}  // namespace cotouch
