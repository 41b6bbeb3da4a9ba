// A crowd of scripted viewers in a process of its own, as the pages of other people would be.
#pragma once

#include <cotouch/experiment/worker_process.h>

#include <cstdint>
#include <string>
#include <vector>

namespace cotouch {

struct CrowdResult {
  std::vector<double> frames_per_second;  // of each viewer
  double bytes_per_frame = 0;             // mean over all state frames
  std::uint32_t failed = 0;               // viewers that could not connect or were thrown out
};

// The process is made by the constructor, which must come before any thread is started, and waits to be told.
class ViewerCrowd {
 public:
  ViewerCrowd();

  // Connects `viewers` viewers, which ask for everything a page can ask for. Returns once all are connected.
  void connect(std::uint16_t port, const std::string& key, std::uint32_t viewers);
  // Counts what arrives for so long, then disconnects.
  void begin_counting(double seconds);
  CrowdResult result();

 private:
  WorkerProcess process_;
};

}  // namespace cotouch
