// The user's recordings: a folder of `<id>.cotrec` files, each with a small `<id>.json` beside it for the list, which
// is written when the recording is finished.
#pragma once

#include <cotouch/session/sight.h>
#include <cotouch/touch/recording_stream.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace cotouch {

struct RecordingEntry {
  std::string id, scene;
  double seconds = 0;
  double peak_force = 0;  // newtons
  std::uint64_t bytes = 0;
  bool recovered = false;  // it breaks off where the program that made it was ended
};

class RecordingStore {
 public:
  explicit RecordingStore(std::filesystem::path folder) : folder_(std::move(folder)) {}

  static constexpr std::size_t k_most = 500;

  // Newest first, at most k_most. Files that are no recordings are left out.
  std::vector<RecordingEntry> list() const;
  // Of all that are on the disk, also of those that a list is too short for and of what is still being made.
  std::uint64_t used_bytes() const;
  // A free id for a recording that starts now: "2026-01-31-101500".
  std::string new_id() const;
  RecordingEntry save(const std::string& id, const Recording& recording) const;
  // Where a stream with this id writes, and the note about what it has written. Without a sample there is nothing to
  // keep.
  std::filesystem::path new_file(const std::string& id) const { return folder_ / (id + ".cotrec"); }
  void keep(const std::string& id, const RecordingStream::Result& made) const;
  // Finds what was left without a note, by programs that were ended or because the disk was full, and writes it;
  // returns how many of them break off. What is still being made is left alone. Reads whole recordings, which takes a
  // while.
  std::size_t recover() const;
  bool remove(std::string_view id) const;  // false where there is none
  // Where a recording lies; throws Error where there is none of that id.
  std::filesystem::path file(std::string_view id) const;

 private:
  bool find_note(RecordingEntry& entry) const;  // by its id
  void write_note(const RecordingEntry& entry) const;

  std::filesystem::path folder_;
  mutable std::mutex mutex_;
  mutable std::map<std::string, RecordingEntry> unwritten_;  // notes for which the disk had no room
};

double peak_force(const Recording& recording);

// One line a cycle: time, contact, and for every hand that was there and every body that may move where it was and what
// it felt. SI units, as many digits as it takes to read back the same numbers. Steps the recording again for the
// bodies.
std::string to_csv(const Recording& recording, const std::shared_ptr<const WorldModel>& model);

// What a summary picture shows, thinned out to a few hundred points of time.
struct RecordingSummary {
  std::string scene;
  std::vector<double> time, force, torque;  // s, N, N m: of the hand that feels most
  std::vector<double> clearance;            // m; empty if the bodies are not at hand
  std::vector<Vec3d> path;                  // of the first hand that was there, m
  double peak_force = 0;
};
// Without the bodies if `scene` is null.
RecordingSummary summarise(const Recording& recording, const std::shared_ptr<const ShownScene>& scene);

}  // namespace cotouch
