#include <cotouch/base/error.h>
#include <cotouch/base/file.h>
#include <cotouch/base/read_file.h>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>

#include "support/child_process.h"
#include "support/temporary_folder.h"

namespace cotouch::this_file {
namespace {

std::string contents(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::size_t files_in(const TemporaryFolder& folder) {
  const std::filesystem::directory_iterator files(folder.path());
  return static_cast<std::size_t>(std::distance(begin(files), end(files)));
}

std::string message_of(const std::filesystem::path& path, const std::string& text) {
  try {
    write_file(path, text);
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

}  // namespace

TEST(File, IsWrittenWholeAndReplacesTheOldOne) {
  const TemporaryFolder folder;
  write_file(folder / "a", "first");
  write_file(folder / "a", "the second, longer");
  EXPECT_EQ(contents(folder / "a"), "the second, longer");
  EXPECT_EQ(files_in(folder), 1U);
}

TEST(File, AFullDiskLeavesTheOldFileAndNothingElse) {
  const TemporaryFolder folder;
  write_file(folder / "a", "old");
  // A limit on the size of files stands in for a full disk: the write fails half-way in the same manner.
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit small{100'000, before.rlim_max};
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  const std::string message = message_of(folder / "a", std::string(1'000'000, 'x'));
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, handler);
  EXPECT_NE(message.find("Cannot write"), std::string::npos);
  EXPECT_EQ(contents(folder / "a"), "old");
  EXPECT_EQ(files_in(folder), 1U);
}

TEST(File, AKilledWriterNeverLeavesHalfAFile) {
  const TemporaryFolder folder;
  const std::string text(3'000'000, 'y');
  write_file(folder / "a", text);
  for (int round = 0; round < 8; ++round) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      for (;;) write_file(folder / "a", text);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(3 + 5 * round));
    kill(child, SIGKILL);
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(contents(folder / "a").size(), text.size());
  }
}

TEST(File, DevicesAreWrittenToNotReplaced) {
  write_file("/dev/null", "gone");
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
  EXPECT_NE(message_of("/dev/full", "x").find("No space left"), std::string::npos);
}

// Opening one waits for somebody who reads, for ever and whatever signal comes.
TEST(File, APipeThatNobodyReadsIsNotWaitedFor) {
  const TemporaryFolder folder;
  const std::filesystem::path pipe = folder / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(in_a_child([&] {
              alarm(10);
              return message_of(pipe, "x").find("a pipe that nobody reads") != std::string::npos ? 0 : 1;
            }),
            0);
  const int reader = open(pipe.c_str(), O_RDONLY | O_NONBLOCK);
  write_file(pipe, "told");
  char told[5] = {};
  EXPECT_EQ(read(reader, told, 4), 4);
  EXPECT_STREQ(told, "told");
  close(reader);
}

TEST(File, LinksAreFollowed) {
  const TemporaryFolder folder;
  write_file(folder / "real", "1");
  std::filesystem::create_symlink("real", folder / "link");
  write_file(folder / "link", "22");
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "link"));
  EXPECT_EQ(contents(folder / "real"), "22");
}

TEST(File, WhatCannotBeWrittenIsKnownBefore) {
  const TemporaryFolder folder;
  EXPECT_NO_THROW(check_writable(folder / "new"));
  EXPECT_NO_THROW(check_writable("/dev/null"));
  try {
    check_writable(folder.path());
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("is a folder"), std::string::npos) << error.what();
  }
  EXPECT_THROW(check_writable(folder / "missing" / "file"), Error);
  EXPECT_EQ(files_in(folder), 0U);
}

TEST(File, AnOutputIsNeverItsOwnInput) {
  const TemporaryFolder folder;
  write_file(folder / "in", std::string("x"));
  std::filesystem::create_symlink(folder / "in", folder / "link");
  for (const char* same : {"in", "./in", "../in", "link"}) {
    const std::filesystem::path output =
        same == std::string("../in") ? folder.path() / ".." / folder.path().filename() / "in" : folder / same;
    EXPECT_THROW(check_not_input(output, folder / "in"), Error) << output;
  }
  EXPECT_NO_THROW(check_not_input(folder / "out", folder / "in"));
  EXPECT_NO_THROW(check_not_input({}, folder / "in"));
}

TEST(File, WhatCannotBeWrittenIsNamedWithItsReason) {
  const TemporaryFolder folder;
  EXPECT_NE(message_of(folder / "no/such/folder", "x").find("No such file or directory"), std::string::npos);
}

}  // namespace cotouch::this_file
