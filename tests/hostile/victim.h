// A real, unmodified `cotouch` in a folder of its own, with what it may take of the machine, and what it did.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace cotouch::hostile {

class Victim {
 public:
  using Json = nlohmann::json;
  struct End {
    int code = -1;                // of its exit; -1 if a signal ended it
    int signal = 0;               // that ended it
    std::size_t peak_memory = 0;  // bytes that were resident at once; 0 if no more than this program has
    double processor_seconds = 0;
  };

  // `folder` is all that it may write to. Its address space is bounded by `most_memory`.
  Victim(std::filesystem::path folder, std::vector<std::string> arguments,
         std::size_t most_memory = std::size_t{4} << 30U);
  ~Victim();
  Victim(const Victim&) = delete;
  Victim& operator=(const Victim&) = delete;

  // Looks whether it has ended, and at what it has printed since.
  void look();
  const std::optional<End>& end() const { return end_; }
  bool is_alive() const { return !end_; }
  void interrupt() const;
  void kill();
  // What is resident now, at most, while it lives.
  std::size_t peak_memory() const;

  // Of what was printed until the last look.
  const std::vector<Json>& events() const { return events_; }
  const Json* last(const std::string& kind) const;
  bool was_in_state(const std::string& state) const;
  // Why it says that it failed, and what else it told its user; each a line.
  std::string words() const;
  std::string errors() const;  // what it wrote to stderr
  // Files that are not where a program may put them.
  std::vector<std::string> stray_files() const;

 private:
  void read_lines();

  std::filesystem::path folder_;
  pid_t child_ = -1;
  std::optional<End> end_;
  std::streamoff read_ = 0;
  std::vector<Json> events_;
};

}  // namespace cotouch::hostile
