// Work in a process of its own, for what cannot be undone in this one.
#pragma once

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <exception>

namespace cotouch {

// Runs `work` in a child. The thread sanitizer wants no other thread when one begins.
template <class Work>
pid_t begin_child(const Work& work) {
  const pid_t child = fork();
  if (child == 0) {
    int code = 90;
    try {
      code = work();
    } catch (const std::exception& error) {
      fprintf(stderr, "%s\n", error.what());
    }
    _exit(code);
  }
  return child;
}

// Waits for it: its code, or minus the signal that ended it.
inline int end_of(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

template <class Work>
int in_a_child(const Work& work) {
  return end_of(begin_child(work));
}

// The largest file that this process may write: what a full disk does, without one.
inline void allow_bytes(rlim_t most) {
  rlimit limit{};
  getrlimit(RLIMIT_FSIZE, &limit);
  limit.rlim_cur = most;
  setrlimit(RLIMIT_FSIZE, &limit);
}

}  // namespace cotouch
