#include <cotouch/base/error.h>
#include <cotouch/base/invariant.h>

#include <gtest/gtest.h>

#include <string>
#include <thread>

namespace cotouch::this_file {
namespace {

TEST(Invariant, ThatHoldsDoesNothing) {
  const InvariantWatch watch;
  EXPECT_TRUE(invariant(true, "Never"));
  EXPECT_EQ(watch.broken(), nullptr);
}

TEST(Invariant, ThatIsBrokenThrowsItsSentence) {
  try {
    (void)invariant(1 + 1 == 3, "One and one is three");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()).find("One and one is three. "), 0U) << error.what();
  }
}

TEST(Invariant, IsNotedByTheInnermostWatchOfItsThread) {
  const InvariantWatch outer;
  {
    const InvariantWatch inner;
    EXPECT_FALSE(invariant(false, "First"));
    EXPECT_FALSE(invariant(false, "Second"));
    EXPECT_STREQ(inner.broken(), "First");
  }
  EXPECT_EQ(outer.broken(), nullptr);
  EXPECT_FALSE(invariant(false, "Third"));
  EXPECT_STREQ(outer.broken(), "Third");
  bool thrown = false;
  std::thread([&] {
    try {
      (void)invariant(false, "In another thread");
    } catch (const Error&) {
      thrown = true;
    }
  }).join();
  EXPECT_TRUE(thrown);
}

TEST(Invariant, AnInjectedFaultBreaksTheOneThatItNames) {
  const InvariantWatch watch;
  {
    const InjectedFault fault("The state");
    EXPECT_TRUE(invariant(true, "A force is too large"));
    EXPECT_FALSE(invariant(true, "The state has another layout"));
  }
  EXPECT_TRUE(invariant(true, "The state has another layout"));
  EXPECT_STREQ(watch.broken(), "The state has another layout");
}

}  // namespace
}  // namespace cotouch::this_file
