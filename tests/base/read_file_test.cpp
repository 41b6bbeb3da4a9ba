#include <cotouch/base/error.h>
#include <cotouch/base/read_file.h>

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <fstream>

#include "support/child_process.h"
#include "support/error_code.h"
#include "support/questions.h"
#include "support/temporary_folder.h"

namespace cotouch::this_file {
namespace {

std::string text_of(const FileCopy& copy) {
  return {reinterpret_cast<const char*>(copy.bytes.data()), copy.bytes.size()};
}

void make_socket(const std::string& path) {
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
  ASSERT_EQ(bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  close(fd);
}

}  // namespace

TEST(ReadFile, KeepsWhatItReadWhateverBecomesOfTheFile) {
  const TemporaryFolder folder;
  const std::string was(100'000, 'a');
  std::ofstream(folder / "a") << was;
  // In a child: a mapping of the file would end the process.
  EXPECT_EQ(in_a_child([&] {
              const FileCopy copy = read_file(folder / "a");
              std::ofstream(folder / "a") << std::string(100'000, 'b');
              if (text_of(copy) != was) return 1;
              std::filesystem::resize_file(folder / "a", 0);
              return text_of(copy) == was ? 0 : 2;
            }),
            0);
}

TEST(ReadFile, OpensNothingButFilesAndNeverWaits) {
  const TemporaryFolder folder;
  ASSERT_EQ(mkfifo((folder / "pipe").c_str(), 0600), 0);
  make_socket(folder / "socket");
  const std::pair<std::filesystem::path, const char*> others[] = {{folder / "pipe", "a pipe"},
                                                                  {folder / "socket", "a socket"},
                                                                  {folder.path(), "a folder"},
                                                                  {"/dev/zero", "a device"}};
  for (const auto& [path, kind] : others)
    EXPECT_EQ(in_a_child([&] {
                alarm(30);
                try {
                  read_text(path, 100);
                } catch (const Error& error) {
                  const std::string said = error.what();
                  if (error.code() != ErrorCode::invalid_argument) return 2;
                  return said.find(kind) != std::string::npos && said.find(path) != std::string::npos ? 0 : 3;
                }
                return 1;
              }),
              0)
        << path;
}

TEST(ReadFile, EndsOnTheWay) {
  const TemporaryFolder folder;
  std::ofstream(folder / "a").flush();
  std::filesystem::resize_file(folder / "a", std::uintmax_t{8} << 20U);
  EXPECT_GE(questions_of([&] { read_file(folder / "a"); }), 8U);
  Questions some(4);
  const CancelScope scope(some.question());
  EXPECT_THROW(read_file(folder / "a"), Cancelled);
}

TEST(ReadFile, SaysWhatIsMissingAndWhatIsTooLarge) {
  const TemporaryFolder folder;
  std::ofstream(folder / "a") << "0123456789";
  EXPECT_EQ(read_text(folder / "a", 10), "0123456789");
  EXPECT_EQ(code_of([&] { read_text(folder / "a", 9); }), ErrorCode::too_large);
  EXPECT_EQ(code_of([&] { read_file(folder / "b"); }), ErrorCode::not_found);
  std::ofstream(folder / "empty").flush();
  EXPECT_EQ(read_text(folder / "empty", 0), "");
  // Eight terabytes of nothing take no room on the disk.
  std::filesystem::resize_file(folder / "a", std::uintmax_t{1} << 43U);
  EXPECT_EQ(code_of([&] { read_file(folder / "a"); }), ErrorCode::too_large);
}

// Before it takes the memory: others need some, and so does what is made of the file.
TEST(ReadFile, TakesNoMoreThanHalfOfTheMemoryThatIsFree) {
  const TemporaryFolder folder;
  std::ofstream(folder / "a").flush();
  std::filesystem::resize_file(folder / "a", free_memory() / 4 * 3);
  Questions none(1);  // it asks before it reads the first bytes
  const CancelScope scope(none.question());
  EXPECT_EQ(code_of([&] { read_file(folder / "a"); }), ErrorCode::too_large);
  EXPECT_EQ(none.asked(), 0U);
}

// Root may read everything.
TEST(ReadFile, SaysWhatToDo) {
  const TemporaryFolder folder;
  std::ofstream(folder / "a") << "0123456789";
  const auto said = [&](std::uint64_t most) -> std::string {
    try {
      read_text(folder / "a", most);
    } catch (const Error& error) {
      return error.what();
    }
    return {};
  };
  EXPECT_NE(said(9).find("bytes allowed; name another."), std::string::npos) << said(9);
  std::filesystem::permissions(folder / "a", std::filesystem::perms::none);
  if (geteuid() != 0) {
    EXPECT_NE(said(10).find("ask its owner"), std::string::npos) << said(10);
  }
}

}  // namespace cotouch::this_file
