#include <cotouch/app/whole_recording.h>

#include <cotouch/base/error.h>

#include <fmt/format.h>

namespace cotouch {
namespace {

// Behind what of it could be read.
std::string what_is_missing(const Recording& recording) {
  if (recording.unread == 0) return "It breaks off there: the program that made it was ended.";
  return fmt::format(
      "The {} bytes behind that cannot be read: the file is damaged, or the program that made it was ended.",
      recording.unread);
}

}  // namespace

void check_holds_samples(const Recording& recording, const std::filesystem::path& file) {
  if (!recording.samples.empty()) return;
  throw Error(fmt::format("The recording {} has a beginning and nothing that was felt. {} Use an intact copy.",
                          file.string(), recording.finished ? "It was ended at once." : what_is_missing(recording)),
              ErrorCode::damaged_file);
}

void check_whole(const Recording& recording, const std::filesystem::path& file) {
  if (recording.finished) return;
  throw Error(
      fmt::format("The recording {} is not whole: {:.3f} s of it could be read. {}", file.string(),
                  static_cast<double>(recording.samples.size()) * recording.limits.period, what_is_missing(recording)),
      ErrorCode::damaged_file);
}

}  // namespace cotouch
