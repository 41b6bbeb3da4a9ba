// Those who would bring a server down, in a process of their own, each kind of attack in a thread of its own.
//
// They hold a link that lets them do everything a page may do: a server that stands this stands what strangers can do.
// What they do is bounded in time, and goes to this machine only.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace cotouch {

struct AttackCount {
  std::string kind;
  std::uint64_t tried = 0;    // connections, requests or commands
  std::uint64_t refused = 0;  // answered with an error, closed, or not taken in
};

// The process is made by the constructor, which must come before any thread is started, and waits to be told.
class Besiegers {
 public:
  Besiegers();
  ~Besiegers();
  Besiegers(const Besiegers&) = delete;
  Besiegers& operator=(const Besiegers&) = delete;

  static std::vector<std::string> kinds();
  // Attacks with these kinds (all if none is named) for so long.
  void attack(std::uint16_t port, const std::string& key, double seconds, const std::vector<std::string>& kinds = {});
  // Keeps the processors as busy as an attack does, and attacks nobody: what is lost to it is not lost to the attacks.
  void only_load(double seconds);
  // Waits for the end of either.
  std::vector<AttackCount> result();

 private:
  int to_child_ = -1, from_child_ = -1;
  int child_ = -1;
};

}  // namespace cotouch
