#include <cotouch/experiment/inputs.h>
#include <cotouch/experiment/peer_fcl.h>

#include <fmt/format.h>

namespace cotouch {

void add_peer_rows(const PeerTimes& times, ExperimentReport& report) {
  const double ours = median(times.ours_us);
  const std::string cold = times.scene + "/contact-cold-us";
  if (times.peer_us.empty()) {
    report.add(cold, ours, "us");
    report.notes.push_back(
        "FCL: this program was built without it, so nothing is compared. Install it (Debian: libfcl-dev) and build "
        "with -DCOTOUCH_FCL=ON.");
    return;
  }
  const double peer = median(times.peer_us);
  report.add(cold, ours, "us", {}, peer);
  report.add(times.scene + "/faster-than-fcl", peer / ours, "times");
  report.notes.push_back(fmt::format(
      "FCL: all contacts between the two meshes ({} and {} triangles, OBBRSS trees) in the same pose, {} found; "
      "ours without help from earlier cycles, at the level the 1 ms budget allows.",
      times.triangles[0], times.triangles[1], times.peer_contacts));
}

}  // namespace cotouch
