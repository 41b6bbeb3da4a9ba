// The command as users meet it: run as a program, judged by exit code, output and what it leaves on the disk.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fcntl.h>
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "support/temporary_folder.h"

namespace cotouch::testing_app {

struct Outcome {
  int code = -1;
  std::string out, err;
};

class Command : public ::testing::Test {
 protected:
  // Runs `cotouch` in the test's folder, which is also its cache and its home. Where a signal is given, `until` is
  // waited for (two minutes at most) and the signal sent.
  Outcome run(const std::vector<std::string>& arguments, int signal = 0,
              const std::function<bool(const Outcome&)>& until = said_something) const {
    const std::string out = folder_ / ".out", err = folder_ / ".err";
    for (const std::string& file : {out, err}) std::filesystem::remove(file);
    const pid_t child = fork();
    if (child == 0) {
      std::vector<char*> argv{const_cast<char*>("cotouch")};
      for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
      argv.push_back(nullptr);
      dup2(open(out.c_str(), O_CREAT | O_TRUNC | O_WRONLY, 0600), STDOUT_FILENO);
      dup2(open(err.c_str(), O_CREAT | O_TRUNC | O_WRONLY, 0600), STDERR_FILENO);
      setenv("COTOUCH_CACHE", (folder_ / ".cache").c_str(), 1);
      setenv("XDG_STATE_HOME", (folder_ / ".state").c_str(), 1);
      if (chdir(folder_.path().c_str()) != 0 || (yields_ && nice(19) == -1)) _exit(99);
      execv(COTOUCH_COMMAND, argv.data());
      _exit(99);
    }
    int status = 0;
    if (signal != 0) {
      for (int i = 0; i < 60000 && waitpid(child, &status, WNOHANG) == 0; ++i) {
        if (until({0, text_of(out), text_of(err)})) break;
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
      }
      kill(child, signal);
    }
    waitpid(child, &status, 0);
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status), text_of(out), text_of(err)};
  }
  // Once the first stage is announced, signals are handled and the work is under way.
  static bool said_something(const Outcome& now) { return !now.err.empty(); }

  static std::string text_of(const std::filesystem::path& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void write(const std::string& name, const std::string& text) const { std::ofstream(folder_ / name) << text; }
  // Visible files only: the test's own begin with a dot.
  std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder_.path()))
      if (entry.path().filename().string()[0] != '.') names.push_back(entry.path().filename().string());
    return names;
  }

  TemporaryFolder folder_;
  bool yields_ = false;  // what is run leaves the processor to the test, so that it is not done before the signal comes
};

inline void expect_one_sentence(const Outcome& outcome) {
  EXPECT_EQ(outcome.code, 2);
  EXPECT_EQ(outcome.out, "");
  EXPECT_FALSE(outcome.err.empty());
  EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
}

}  // namespace cotouch::testing_app
