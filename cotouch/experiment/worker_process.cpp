#include <cotouch/base/error.h>
#include <cotouch/experiment/worker_process.h>

#include <sys/wait.h>

#include <utility>

namespace cotouch {

WorkerProcess::WorkerProcess(std::string who, const Life& life) : who_(std::move(who)) {
  int down[2], up[2];
  if (::pipe(down) != 0 || ::pipe(up) != 0) throw Error("The system gave no pipe for " + who_ + ".");
  child_ = ::fork();
  if (child_ < 0) throw Error("The system started no process for " + who_ + ".");
  if (child_ == 0) {
    ::close(down[1]);
    ::close(up[0]);
    life(down[0], up[1]);
    ::_exit(0);
  }
  ::close(down[0]);
  ::close(up[1]);
  to_child_ = down[1];
  from_child_ = up[0];
}

WorkerProcess::~WorkerProcess() {
  ::close(to_child_);
  ::close(from_child_);
  ::waitpid(child_, nullptr, 0);
}

bool WorkerProcess::read_bytes(int pipe, void* to, std::size_t size) {
  for (char* at = static_cast<char*>(to); size > 0;) {
    const ssize_t got = ::read(pipe, at, size);
    if (got <= 0) return false;
    at += got;
    size -= static_cast<std::size_t>(got);
  }
  return true;
}

void WorkerProcess::has_ended() const {
  throw Error("The process of " + who_ + " ended.");
}

}  // namespace cotouch
