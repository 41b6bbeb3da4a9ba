// Commands that run at the same time, each a process with its own state folder.
#pragma once

#include <nlohmann/json.hpp>

#include <netinet/in.h>
#include <sys/socket.h>

#include <cstdint>
#include <optional>
#include <sstream>
#include <utility>

#include "app/command_fixture.h"
#include "support/eventually.h"

namespace cotouch::testing_app {

// A UDP port that nobody has, and that nobody is given who asks for any: those are from 32768 on.
inline std::uint16_t unused_udp_port() {
  for (int i = 0; i < 100; ++i) {
    const auto port = static_cast<std::uint16_t>(20000 + (::getpid() + 1009 * i) % 10000);
    const int probe = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    const bool is_free = ::bind(probe, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
    ::close(probe);
    if (is_free) return port;
  }
  ADD_FAILURE() << "There is no port that nobody has.";
  return 0;
}

class Process {
 public:
  using Json = nlohmann::json;

  // `name` is of its state folder and output files; `before` goes before the command, such as "ip netns exec a".
  Process(const TemporaryFolder& folder, const std::string& name, std::vector<std::string> arguments,
          std::vector<std::string> before = {})
      : out_(folder / (name + ".out")), err_(folder / (name + ".err")) {
    before.emplace_back(COTOUCH_COMMAND);
    arguments.insert(arguments.begin(), before.begin(), before.end());
    for (const std::filesystem::path& file : {out_, err_}) std::filesystem::remove(file);
    child_ = fork();
    if (child_ != 0) return;
    std::vector<char*> argv;
    for (std::string& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    dup2(open(out_.c_str(), O_CREAT | O_TRUNC | O_WRONLY, 0600), STDOUT_FILENO);
    dup2(open(err_.c_str(), O_CREAT | O_TRUNC | O_WRONLY, 0600), STDERR_FILENO);
    setenv("COTOUCH_CACHE", (folder / ".cache").c_str(), 1);
    setenv("XDG_STATE_HOME", (folder / name).c_str(), 1);
    if (chdir(folder.path().c_str()) != 0) _exit(99);
    execvp(argv[0], argv.data());
    _exit(99);
  }
  ~Process() {
    if (child_ <= 0) return;
    ::kill(child_, SIGKILL);
    waitpid(child_, nullptr, 0);
  }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  pid_t id() const { return child_; }
  void signal(int number) const { ::kill(child_, number); }

  // Waits a minute at most for its end.
  Outcome finish() {
    int status = 0;
    const bool ended = eventually([&] { return child_ <= 0 || waitpid(child_, &status, WNOHANG) == child_; });
    EXPECT_TRUE(ended) << words();
    if (!ended) return {};
    child_ = -1;
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status), text_of(out_), text_of(err_)};
  }

  // Those with this "event", of the lines that are complete.
  std::vector<Json> events(const std::string& kind) const {
    std::vector<Json> found;
    std::istringstream lines(text_of(out_));
    for (std::string line; std::getline(lines, line) && !lines.eof();)
      if (Json json = Json::parse(line); json["event"] == kind) found.push_back(std::move(json));
    return found;
  }
  // Waits for one of them; null if it does not come.
  template <class Condition>
  Json wait_for(const std::string& kind, const Condition& holds) const {
    Json result;
    EXPECT_TRUE(eventually([&] {
      for (const Json& json : events(kind))
        if (holds(json)) result = json;
      return !result.is_null();
    })) << words();
    return result;
  }
  // Once the state of sharing is this.
  Json wait_for_state(const std::string& state) const {
    return wait_for("sharing", [&](const Json& json) { return json["state"] == state; });
  }
  std::string invite() const { return wait_for_state("hosting").value("invite", ""); }
  // Once so many people are there.
  void wait_for_people(std::size_t count) const {
    wait_for("people", [&](const Json& json) { return json["people"].size() == count; });
  }
  std::string words() const { return text_of(out_) + text_of(err_); }

 private:
  static std::string text_of(const std::filesystem::path& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  std::filesystem::path out_, err_;
  pid_t child_ = -1;
};

}  // namespace cotouch::testing_app
