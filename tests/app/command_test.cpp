// The command as users meet it: run as a program, judged by exit code, output and what it leaves on the disk.
#include <cotouch/contact/asset.h>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fcntl.h>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "support/temporary_folder.h"

using namespace cotouch;

namespace {

struct Outcome {
  int code = -1;
  std::string out, err;
};

class Command : public ::testing::Test {
 protected:
  // Runs `cotouch` in the test's folder; sends it `signal` after a while where one is given.
  Outcome run(const std::vector<std::string>& arguments, int signal = 0) const {
    const std::string out = folder_ / ".out", err = folder_ / ".err";
    const pid_t child = fork();
    if (child == 0) {
      std::vector<char*> argv{const_cast<char*>("cotouch")};
      for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
      argv.push_back(nullptr);
      dup2(open(out.c_str(), O_CREAT | O_TRUNC | O_WRONLY, 0600), STDOUT_FILENO);
      dup2(open(err.c_str(), O_CREAT | O_TRUNC | O_WRONLY, 0600), STDERR_FILENO);
      setenv("COTOUCH_CACHE", (folder_ / ".cache").c_str(), 1);
      if (chdir(folder_.path().c_str()) != 0) _exit(99);
      execv(COTOUCH_COMMAND, argv.data());
      _exit(99);
    }
    if (signal != 0) {
      // Once the first stage is announced, the signal is handled and the work is under way.
      for (int i = 0; i < 2000 && text_of(err).empty(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
      kill(child, signal);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status), text_of(out), text_of(err)};
  }

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
};

// A tetrahedron with edges of about 30 units.
constexpr const char* k_tetrahedron = "v 0 0 0\nv 30 0 0\nv 0 30 0\nv 0 0 30\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";

void expect_one_sentence(const Outcome& outcome) {
  EXPECT_EQ(outcome.code, 2);
  EXPECT_EQ(outcome.out, "");
  EXPECT_FALSE(outcome.err.empty());
  EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
}

}  // namespace

TEST_F(Command, TellsItsVersionAndHelps) {
  EXPECT_EQ(run({"--version"}).out.substr(0, 8), "cotouch ");
  const Outcome help = run({"--help"});
  EXPECT_EQ(help.code, 0);
  for (const char* command : {"prepare", "inspect", "feel", "scenes", "experiment"})
    EXPECT_NE(help.out.find(command), std::string::npos) << command;
  EXPECT_NE(run({"prepare", "--help"}).out.find("Example:"), std::string::npos);
}

TEST_F(Command, WrongUseIsExitCodeTwo) {
  EXPECT_EQ(run({}).code, 2);
  EXPECT_EQ(run({"juggle"}).code, 2);
  EXPECT_EQ(run({"prepare", "a.obj"}).code, 2);
  EXPECT_EQ(run({"prepare", "a.obj", "-o", "a.cot", "--resolution", "-3"}).code, 2);
}

TEST_F(Command, PreparesAndInspectsAMesh) {
  write("a.obj", k_tetrahedron);
  const Outcome prepared =
      run({"prepare", "a.obj", "--unit", "mm", "--resolution", "16", "--points", "256", "-o", "a.cot"});
  ASSERT_EQ(prepared.code, 0) << prepared.err;
  const Part part = read_asset(folder_ / "a.cot");
  EXPECT_EQ(part.shell.point_count(), 256U);
  EXPECT_NEAR(part.mesh.bounds().size().x, 0.030, 1e-12);  // millimetres became metres

  const Outcome inspected = run({"inspect", "a.cot", "--png", "a.png"});
  EXPECT_EQ(inspected.code, 0) << inspected.err;
  EXPECT_NE(inspected.out.find("30 x 30 x 30 mm"), std::string::npos) << inspected.out;
  EXPECT_EQ(text_of(folder_ / "a.png").substr(1, 3), "PNG");
  EXPECT_NE(run({"inspect", "a.cot", "--json"}).out.find("\"triangles\": 4"), std::string::npos);
}

TEST_F(Command, WhatCannotBeReadIsOneSentenceAndWritesNothing) {
  write("empty.stl", "");
  write("text.obj", "no mesh at all\n");
  write("nan.obj", "v 0 0 0\nv nan 0 0\nv 0 1 0\nf 1 2 3\n");
  write("point.ply", "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\n");
  for (const char* name : {"missing.stl", "empty.stl", "text.obj", "nan.obj", "point.ply"}) {
    SCOPED_TRACE(name);
    const Outcome outcome = run({"prepare", name, "--json", "-o", "part.cot"});
    expect_one_sentence(outcome);
    EXPECT_NE(outcome.err.find(name), std::string::npos) << outcome.err;
    EXPECT_FALSE(std::filesystem::exists(folder_ / "part.cot"));
  }
  EXPECT_EQ(files().size(), 4U);
}

TEST_F(Command, APlaceThatCannotBeWrittenIsKnownBeforeTheWork) {
  write("a.obj", k_tetrahedron);
  expect_one_sentence(run({"prepare", "a.obj", "-o", "no/such/folder/a.cot"}));
  expect_one_sentence(run({"prepare", "a.obj", "-o", "."}));
}

TEST_F(Command, ForeignAndDamagedPartsAreRefusedWithAReason) {
  write("a.cot", "something else");
  const Outcome foreign = run({"inspect", "a.cot"});
  expect_one_sentence(foreign);
  EXPECT_NE(foreign.err.find("not a cotouch part"), std::string::npos);
  expect_one_sentence(run({"inspect", "missing.cot"}));
}

TEST_F(Command, CtrlCLeavesNothingHalfWritten) {
  write("a.obj", k_tetrahedron);
  write("a.cot", "what was there before");
  const Outcome stopped =
      run({"prepare", "a.obj", "--resolution", "512", "--points", "4000000", "-o", "a.cot"}, SIGINT);
  EXPECT_EQ(stopped.code, 130) << stopped.err;
  EXPECT_EQ(text_of(folder_ / "a.cot"), "what was there before");
  EXPECT_EQ(files().size(), 2U);
}

TEST_F(Command, EverySceneCanBeNamedAndAnUnknownOneIsRefused) {
  EXPECT_EQ(run({"scenes"}).code, 0);
  const Outcome unknown = run({"feel", "no-such-scene"});
  EXPECT_EQ(unknown.code, 2);
  EXPECT_NE(unknown.err.find("no-such-scene"), std::string::npos);
}
