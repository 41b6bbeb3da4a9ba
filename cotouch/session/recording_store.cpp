#include <cotouch/session/recording_store.h>

#include <cotouch/base/error.h>
#include <cotouch/base/file.h>
#include <cotouch/base/read_file.h>
#include <cotouch/session/names.h>
#include <cotouch/session/running_world.h>

#include <sys/file.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <ctime>
#include <nlohmann/json.hpp>
#include <system_error>

namespace cotouch {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t k_largest_note = 4096;

bool read_note(const fs::path& file, RecordingEntry& entry) {
  std::string text;
  try {
    text = read_text(file, k_largest_note);
  } catch (const Error&) {
    return false;
  }
  const auto json = nlohmann::json::parse(text, nullptr, false);
  if (!json.is_object()) return false;
  const auto number = [&](const char* key) {
    const auto found = json.find(key);
    return found != json.end() && found->is_number() ? found->get<double>() : 0.0;
  };
  const auto scene = json.find("scene");
  if (scene != json.end() && scene->is_string()) entry.scene = scene->get<std::string>();
  entry.seconds = number("seconds");
  entry.peak_force = number("peak_force");
  const auto recovered = json.find("recovered");
  entry.recovered = recovered != json.end() && recovered->is_boolean() && recovered->get<bool>();
  return true;
}

RecordingEntry entry_of(const std::string& id, const Recording& recording) {
  RecordingEntry entry;
  entry.id = id;
  entry.scene = parse_recorded_scene(recording.scene).name;
  entry.seconds = static_cast<double>(recording.samples.size()) * recording.limits.period;
  entry.peak_force = peak_force(recording);
  entry.recovered = !recording.finished;
  return entry;
}

// Nobody writes to it any more.
bool is_left_alone(const fs::path& file) {
  const ReadableFile opened(file);
  return ::flock(opened.descriptor(), LOCK_SH | LOCK_NB) == 0 || errno != EWOULDBLOCK;
}

}  // namespace

bool RecordingStore::find_note(RecordingEntry& entry) const {
  if (read_note(folder_ / (entry.id + ".json"), entry)) return true;
  const std::scoped_lock lock(mutex_);
  const auto found = unwritten_.find(entry.id);
  if (found == unwritten_.end()) return false;
  entry = found->second;
  return true;
}

// If this throws, the recording is listed all the same as long as the program runs, and found again by the next one.
void RecordingStore::write_note(const RecordingEntry& entry) const {
  {
    const std::scoped_lock lock(mutex_);
    unwritten_[entry.id] = entry;
  }
  nlohmann::ordered_json note{{"scene", entry.scene}, {"seconds", entry.seconds}, {"peak_force", entry.peak_force}};
  if (entry.recovered) note["recovered"] = true;
  write_file(folder_ / (entry.id + ".json"), note.dump());
  const std::scoped_lock lock(mutex_);
  unwritten_.erase(entry.id);
}

std::vector<RecordingEntry> RecordingStore::list() const {
  std::vector<RecordingEntry> entries;
  std::error_code error;
  for (fs::directory_iterator it(folder_, error), end; !error && it != end; it.increment(error)) {
    RecordingEntry entry;
    entry.id = it->path().stem().string();
    if (it->path().extension() != ".cotrec" || !is_identifier(entry.id)) continue;
    if (!find_note(entry)) continue;
    std::error_code no_size;
    entry.bytes = it->file_size(no_size);
    entries.push_back(std::move(entry));
  }
  // The ids are dates.
  std::sort(entries.begin(), entries.end(),
            [](const RecordingEntry& a, const RecordingEntry& b) { return a.id > b.id; });
  if (entries.size() > k_most) entries.resize(k_most);
  return entries;
}

std::uint64_t RecordingStore::used_bytes() const {
  std::uint64_t used = 0;
  std::error_code error;
  for (fs::directory_iterator it(folder_, error), end; !error && it != end; it.increment(error)) {
    std::error_code no_size;
    const std::uintmax_t bytes = it->path().extension() == ".cotrec" ? it->file_size(no_size) : 0;
    if (!no_size) used += bytes;
  }
  return used;
}

std::string RecordingStore::new_id() const {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  localtime_r(&now, &local);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%d-%H%M%S", &local);
  std::string id = text;
  std::error_code error;
  for (int i = 2; fs::exists(folder_ / (id + ".cotrec"), error); ++i) id = std::string(text) + "-" + std::to_string(i);
  return id;
}

RecordingEntry RecordingStore::save(const std::string& id, const Recording& recording) const {
  make_folders(folder_);
  RecordingEntry entry = entry_of(id, recording);
  write_recording(recording, new_file(id));
  std::error_code error;
  entry.bytes = fs::file_size(new_file(id), error);
  write_note(entry);
  return entry;
}

void RecordingStore::keep(const std::string& id, const RecordingStream::Result& made) const {
  if (made.samples == 0) {
    std::error_code error;
    if (made.bytes > 0) fs::remove(new_file(id), error);
    return;
  }
  RecordingEntry entry;
  entry.id = id;
  entry.scene = parse_recorded_scene(made.scene).name;
  entry.seconds = made.seconds;
  entry.peak_force = made.peak_force;
  write_note(entry);
}

std::size_t RecordingStore::recover() const {
  std::size_t found = 0;
  std::error_code error;
  for (fs::directory_iterator it(folder_, error), end; !error && it != end; it.increment(error)) {
    const std::string id = it->path().stem().string();
    RecordingEntry entry;
    entry.id = id;
    if (it->path().extension() != ".cotrec" || !is_identifier(id) || find_note(entry)) continue;
    try {
      if (!is_left_alone(it->path())) continue;
      const Recording recording = read_recording(it->path());
      if (recording.samples.empty()) continue;
      if (!recording.finished) ++found;
      write_note(entry_of(id, recording));
    } catch (const std::exception&) {
      // Not a recording, one of which nothing is left, or the disk is still full.
    }
  }
  return found;
}

bool RecordingStore::remove(std::string_view id) const {
  if (!is_identifier(id)) return false;
  {
    const std::scoped_lock lock(mutex_);
    unwritten_.erase(std::string(id));
  }
  std::error_code error;
  fs::remove(folder_ / (std::string(id) + ".json"), error);
  return fs::remove(folder_ / (std::string(id) + ".cotrec"), error);
}

fs::path RecordingStore::file(std::string_view id) const {
  fs::path path = folder_ / (std::string(id) + ".cotrec");
  std::error_code error;
  if (!is_identifier(id) || !fs::is_regular_file(path, error))
    throw Error("There is no recording '" + std::string(id) + "'; it may have been deleted.", ErrorCode::not_found);
  return path;
}

double peak_force(const Recording& recording) {
  double peak = 0;
  for (const RecordedSample& sample : recording.samples)
    for (const HandSample& hand : sample.hands) peak = std::max(peak, norm(hand.felt.force));
  return peak;
}

}  // namespace cotouch
