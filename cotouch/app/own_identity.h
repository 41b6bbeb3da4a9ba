// Under which identity a program takes part in shared sessions.
#pragma once

#include <filesystem>

namespace cotouch {

// The user's identity file in a folder. Programs that run at the same time are different peers: the first has
// "identity", the second "identity-2" and so on, each as long as it runs.
class OwnIdentity {
 public:
  // Whether the folder can be written shows when the identity is used.
  explicit OwnIdentity(const std::filesystem::path& folder);
  ~OwnIdentity();
  OwnIdentity(const OwnIdentity&) = delete;
  OwnIdentity& operator=(const OwnIdentity&) = delete;

  const std::filesystem::path& file() const { return file_; }

 private:
  std::filesystem::path file_;
  int lock_ = -1;
};

}  // namespace cotouch
