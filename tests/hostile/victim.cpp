#include "hostile/victim.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fcntl.h>
#include <spawn.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace cotouch::hostile {
namespace {

namespace fs = std::filesystem;

constexpr const char* k_state = "state";  // below its folder: the only one in which it may leave anything

std::string text_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> out;
  for (std::string& text : texts) out.push_back(text.data());
  out.push_back(nullptr);
  return out;
}

}  // namespace

Victim::Victim(fs::path folder, std::vector<std::string> arguments, std::size_t most_memory)
    : folder_(std::move(folder)) {
  fs::create_directories(folder_ / "work");
  arguments.insert(arguments.begin(), COTOUCH_COMMAND);
  arguments.insert(arguments.end(), {"--seconds", "900"});  // if nobody is left to stop it
  std::vector<std::string> variables{"XDG_STATE_HOME=" + (folder_ / k_state).string(),
                                     "COTOUCH_CACHE=" + (folder_ / k_state / "cache").string(),
                                     "HOME=" + (folder_ / k_state).string(), "PATH=/usr/bin:/bin", "NO_COLOR=1"};
  std::vector<char*> argv = pointers(arguments), environment = pointers(variables);
  const std::string out = folder_ / "out", err = folder_ / "err", work = folder_ / "work";
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, out.c_str(), O_CREAT | O_TRUNC | O_WRONLY, 0600);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, err.c_str(), O_CREAT | O_TRUNC | O_WRONLY, 0600);
  posix_spawn_file_actions_addchdir_np(&actions, work.c_str());
  const int problem = posix_spawn(&child_, COTOUCH_COMMAND, &actions, nullptr, argv.data(), environment.data());
  posix_spawn_file_actions_destroy(&actions);
  if (problem != 0) throw std::runtime_error(std::string("cannot start ") + COTOUCH_COMMAND);
  const rlimit limit{most_memory, most_memory};
  ::prlimit(child_, RLIMIT_AS, &limit, nullptr);
}

Victim::~Victim() {
  kill();
}

void Victim::kill() {
  if (end_) return;
  ::kill(child_, SIGKILL);
  int status = 0;
  ::waitpid(child_, &status, 0);
  end_ = End{-1, SIGKILL, 0, 0};
}

void Victim::interrupt() const {
  if (!end_) ::kill(child_, SIGINT);
}

void Victim::look() {
  if (end_) return;
  int status = 0;
  rusage used{};
  const bool ended = ::wait4(child_, &status, WNOHANG, &used) == child_;
  read_lines();
  if (!ended) return;
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  rusage own{};
  ::getrusage(RUSAGE_SELF, &own);
  // Until it was another program, its memory was ours.
  if (used.ru_maxrss <= own.ru_maxrss) used.ru_maxrss = 0;
  end_ = End{WIFEXITED(status) ? WEXITSTATUS(status) : -1, WIFSIGNALED(status) ? WTERMSIG(status) : 0,
             static_cast<std::size_t>(used.ru_maxrss) * 1024, seconds(used.ru_utime) + seconds(used.ru_stime)};
}

void Victim::read_lines() {
  std::ifstream in(folder_ / "out", std::ios::binary);
  in.seekg(read_);
  for (std::string line; std::getline(in, line) && !in.eof();) {
    read_ += static_cast<std::streamoff>(line.size()) + 1;
    Json json = Json::parse(line, nullptr, false);
    if (json.is_object()) events_.push_back(std::move(json));
  }
}

std::size_t Victim::peak_memory() const {
  if (end_) return end_->peak_memory;
  std::ifstream in("/proc/" + std::to_string(child_) + "/status");
  for (std::string line; std::getline(in, line);)
    if (line.starts_with("VmHWM:")) return std::stoull(line.substr(6)) * 1024;
  return 0;
}

const Victim::Json* Victim::last(const std::string& kind) const {
  const auto found =
      std::find_if(events_.rbegin(), events_.rend(), [&](const Json& json) { return json["event"] == kind; });
  return found == events_.rend() ? nullptr : &*found;
}

bool Victim::was_in_state(const std::string& state) const {
  return std::any_of(events_.begin(), events_.end(),
                     [&](const Json& json) { return json["event"] == "sharing" && json["state"] == state; });
}

std::string Victim::words() const {
  std::string all;
  for (const Json& json : events_) {
    if (json["event"] == "problem" || json["event"] == "said") all += json.value("text", "") + "\n";
    if (json["event"] == "sharing" && json["state"] == "failed") all += json.value("reason", "") + "\n";
  }
  return all + errors();
}

std::string Victim::errors() const {
  return text_of(folder_ / "err");
}

std::vector<std::string> Victim::stray_files() const {
  std::vector<std::string> stray;
  std::error_code ignored;
  for (fs::recursive_directory_iterator it(folder_, ignored), end; it != end; it.increment(ignored)) {
    const std::string name = fs::relative(it->path(), folder_, ignored).generic_string();
    const bool expected = name == "work" || name == "out" || name == "err" || name == k_state ||
                          name.starts_with(std::string(k_state) + "/");
    if (!expected) stray.push_back(name);
  }
  return stray;
}

}  // namespace cotouch::hostile
