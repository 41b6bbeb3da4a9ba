// Those who would bring a server down, in a process of their own, each kind of attack in a thread of its own.
//
// What they do is bounded in time, and goes to this machine only.
#pragma once

#include <cotouch/experiment/siege_attack.h>
#include <cotouch/experiment/worker_process.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace cotouch {

struct AttackCount {
  std::string kind;
  AttackTally tally;
};

// A server, and how one comes in.
struct BesiegedServer {
  std::uint16_t port = 0;
  char key[129] = {};
  BesiegedServer() = default;
  BesiegedServer(std::uint16_t at, const std::string& with_key);
};

// The process is made by the constructor, which must come before any thread is started, and waits to be told.
class Besiegers {
 public:
  static constexpr const char* k_polygons = "endless-polygons";

  Besiegers();

  static std::vector<AttackKind> kinds();
  // `uploads` is a server that takes files; all other attacks are against `scene`.
  void attack(const BesiegedServer& scene, const BesiegedServer& uploads, std::uint32_t corners, double seconds);
  // Keeps the processors as busy as an attack does, and attacks nobody: what is lost to it is not lost to the attacks.
  void only_load(double seconds);
  // Waits for the end of either; of a load nothing is counted.
  std::vector<AttackCount> result();

 private:
  WorkerProcess process_;
};

}  // namespace cotouch
