// Files that change in place while somebody feels what is in them: truncated, overwritten, or replaced by a plain copy.
//
// All in processes of their own, one after another: what a file does to its reader may be that reader's end, which is
// counted.
#pragma once

#include <cotouch/experiment/siege_attack.h>
#include <cotouch/experiment/worker_process.h>

#include <filesystem>

namespace cotouch {

struct ChangedFiles {
  std::uint64_t changed = 0;     // while in use
  std::uint64_t deaths = 0;      // of those who felt them
  std::uint64_t felt_other = 0;  // who felt something else than before

  ChangedFiles& operator+=(const ChangedFiles& other);
};

// The process is made by the constructor, which must come before any thread is started, and waits to be told.
class FileChangers {
 public:
  FileChangers();

  static AttackKind kind() { return {"changed-files", "a part in use", "changes", 3}; }
  // `part` is a prepared part, which stays as it is; a copy beside it is changed.
  void attack(const std::filesystem::path& part, double seconds);
  // Waits for the end.
  ChangedFiles result() { return process_.hear<ChangedFiles>(); }

 private:
  WorkerProcess process_;
};

}  // namespace cotouch
