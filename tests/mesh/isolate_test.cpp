#include <cotouch/base/error.h>
#include <cotouch/base/sanitized.h>
#include <cotouch/mesh/isolate.h>
#include <support/error_code.h>

#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <stdexcept>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace cotouch {
namespace {

using Result = std::vector<std::byte>;

std::string failure(const std::function<Result()>& work, const IsolationLimits& limits = {}) {
  try {
    run_isolated(work, limits);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Isolation, BringsBackWhatTheWorkReturns) {
  // More than a pipe holds at once.
  const Result sent(300'000, std::byte{7});
  EXPECT_EQ(run_isolated([&] { return Result(sent); }, {}), sent);
  EXPECT_TRUE(run_isolated([] { return Result{}; }, {}).empty());
}

TEST(Isolation, BringsBackTheMessageAndTheCodeOfAnError) {
  EXPECT_EQ(failure([]() -> Result { throw Error("is too green"); }), "is too green");
  EXPECT_EQ(code_of([] { run_isolated([]() -> Result { throw Error("is far away", ErrorCode::not_found); }, {}); }),
            ErrorCode::not_found);
  EXPECT_EQ(code_of([] { run_isolated([]() -> Result { throw Error(""); }, {}); }), ErrorCode::other);
  // What a parser says to itself is no message for the user.
  EXPECT_NE(failure([]() -> Result { throw std::runtime_error("vector::at"); }).find("damaged"), std::string::npos);
  EXPECT_NE(failure([]() -> Result { throw 7; }).find("damaged"), std::string::npos);
}

TEST(Isolation, SurvivesEveryWayToDie) {
  EXPECT_NE(failure([]() -> Result {
              std::raise(SIGSEGV);
              return {};
            }).find("damaged"),
            std::string::npos);
  EXPECT_NE(failure([]() -> Result { std::abort(); }).find("damaged"), std::string::npos);
  EXPECT_NE(failure([]() -> Result { _exit(0); }).find("damaged"), std::string::npos);
  EXPECT_NE(failure([]() -> Result { _exit(3); }).find("damaged"), std::string::npos);
}

TEST(Isolation, PassesOnAnInterruption) {
  EXPECT_THROW(run_isolated(
                   []() -> Result {
                     std::raise(SIGINT);
                     return {};
                   },
                   {}),
               Cancelled);
}

TEST(Isolation, LimitsTheMemoryOfTheWorkAndNotOfItsParent) {
  // Address space is plentiful: threads and libraries reserve far more than they use.
  constexpr std::size_t k_reserved = std::size_t{6} << 30;
  void* reserved = mmap(nullptr, k_reserved, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  ASSERT_NE(reserved, MAP_FAILED);
  IsolationLimits limits;
  limits.memory_bytes = std::size_t{256} << 20;
  EXPECT_EQ(failure([] { return Result(20 << 20); }, limits), "");
#ifndef COTOUCH_SANITIZED
  EXPECT_NE(failure([] { return Result(std::size_t{512} << 20); }, limits).find("more memory"), std::string::npos);
#endif
  munmap(reserved, k_reserved);
}

TEST(Isolation, RefusesMoreThanItWasToldToTake) {
  IsolationLimits limits;
  limits.result_bytes = 1000;
  EXPECT_NE(failure([] { return Result(100'000); }, limits).find("more than"), std::string::npos);
}

TEST(Isolation, KeepsFilesOutOfReach) {
  IsolationLimits limits;
  limits.may_open_files = false;
  // Not a stream: the undefined-behaviour sanitizer checks its virtual table by way of a pipe, which is out of reach
  // too.
  const auto try_to_open = []() -> Result { return Result(open("/dev/zero", O_RDONLY | O_CLOEXEC) >= 0 ? 1 : 0); };
  EXPECT_EQ(run_isolated(try_to_open, {}).size(), 1u);
  EXPECT_EQ(run_isolated(try_to_open, limits).size(), 0u);
}

TEST(Isolation, EndsAnEndlessLoop) {
  IsolationLimits limits;
  limits.seconds = 1;
  EXPECT_NE(failure(
                []() -> Result {
                  volatile bool forever = true;
                  while (forever) {
                  }
                  return {};
                },
                limits)
                .find("too long"),
            std::string::npos);
}

TEST(Isolation, EndsAnEndlessWait) {
  IsolationLimits limits;
  limits.seconds = 1;
  EXPECT_NE(failure(
                []() -> Result {
                  for (;;) pause();
                },
                limits)
                .find("too long"),
            std::string::npos);
}

}  // namespace
}  // namespace cotouch
