#include <cotouch/base/error.h>
#include <cotouch/experiment/rude_client.h>
#include <cotouch/experiment/upload_desk.h>

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>

namespace cotouch {
namespace {

using std::chrono::milliseconds;
using DeskClock = std::chrono::steady_clock;

constexpr const char* k_name = "siege-uploads";
constexpr std::string_view k_tetrahedron =
    "v 0 0 0\nv 30 0 0\nv 0 30 0\nv 0 0 30\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";

SessionSettings desk_settings(const std::filesystem::path& recordings) {
  SessionSettings settings;
  settings.recordings = recordings;
  settings.added.field.resolution = 16;
  settings.added.shell.points = 256;
  return settings;
}

}  // namespace

UploadDesk::UploadDesk(std::size_t most)
    : most_(most), recordings_(k_name), served_(k_name, desk_settings(recordings_.path), this) {
  clear();
}

UploadWaits& UploadWaits::operator+=(const UploadWaits& other) {
  done += other.done;
  given_up += other.given_up;
  longest = std::max(longest, other.longest);
  return *this;
}

void UploadDesk::job_changed(const JobStatus& job) {
  const std::scoped_lock lock(mutex_);
  jobs_[job.id] = job.state;
  ended_.notify_all();
}

void UploadDesk::begin(double seconds) {
  waits_ = {};
  honest_ = std::jthread([this, seconds] { bring_files(seconds); });
}

UploadWaits UploadDesk::result() {
  honest_ = {};
  clear();
  return waits_;
}

void UploadDesk::bring_files(double seconds) {
  const auto end = DeskClock::now() + milliseconds(static_cast<std::int64_t>(seconds * 1000));
  do {
    const auto begun = DeskClock::now();
    const bool done = bring_one(begun + milliseconds(static_cast<std::int64_t>(k_patience * 1000)));
    ++(done ? waits_.done : waits_.given_up);
    waits_.longest = std::max(waits_.longest, std::chrono::duration<double>(DeskClock::now() - begun).count());
    make_room();
    std::this_thread::sleep_for(milliseconds(200));
  } while (DeskClock::now() < end && waits_.given_up == 0);
}

// Knocks until there is room, as a person would who presses the button again.
bool UploadDesk::bring_one(DeskClock::time_point end) {
  const std::string file(k_tetrahedron);
  const std::string request = RudeClient::request(port(), "POST", "/api/upload?role=static&name=honest.obj", key(),
                                                  fmt::format("Content-Length: {}\r\n", file.size()));
  std::string number;
  while (number.empty()) {
    if (DeskClock::now() > end) return false;
    RudeClient client(port(), end);
    if (client.send(request + file)) number = RudeClient::number_in(client.receive(milliseconds(5000)), "job");
    if (number.empty()) std::this_thread::sleep_for(milliseconds(200));
  }
  const auto job = static_cast<std::uint32_t>(std::stoul(number));
  std::unique_lock lock(mutex_);
  return ended_.wait_until(lock, end, [&] { return jobs_.count(job) > 0 && jobs_[job] != JobState::running; }) &&
         jobs_[job] == JobState::done;
}

void UploadDesk::clear() {
  for (const JobStatus& job : served_.session().snapshot().jobs)
    served_.session().command_and_wait(served_.own(), CancelJob{job.id});
  show_empty();
}

void UploadDesk::show_empty() {
  Scene empty;
  empty.name = k_name;
  empty.editable = true;
  served_.command(ShowScene{std::move(empty)});
  // What was brought is kept as an unsaved scene, of which there may not be ever more.
  for (const std::string& scene : served_.library().unsaved()) try {
      served_.library().remove(scene);
    } catch (const Error&) {
      // The session is just leaving it; it goes the next time.
    }
}

void UploadDesk::make_room() {
  try {
    served_.command(ReleaseHand{});  // takes its turn, after what was prepared has come in
    if (bodies() >= most_) show_empty();
  } catch (const Error&) {
    // The session has too much to do; there is room for now, and the next file asks again.
  }
}

}  // namespace cotouch
