#include <cotouch/app/own_identity.h>

#include <gtest/gtest.h>

#include <optional>

#include "support/temporary_folder.h"

namespace cotouch::this_file {
namespace {

TEST(OwnIdentity, IsAnotherForEachProgramThatRuns) {
  const TemporaryFolder folder;
  std::optional<OwnIdentity> first(folder.path());
  const OwnIdentity second(folder.path());
  EXPECT_EQ(first->file(), folder / "identity");
  EXPECT_EQ(second.file(), folder / "identity-2");
  first.reset();
  EXPECT_EQ(OwnIdentity(folder.path()).file(), folder / "identity");
}

TEST(OwnIdentity, IsKeptWhereOtherUsersDoNotLook) {
  const TemporaryFolder folder;
  const OwnIdentity identity(folder / "state/cotouch");
  const auto mode = std::filesystem::status(folder / "state/cotouch").permissions();
  EXPECT_EQ(mode, std::filesystem::perms::owner_all);
}

TEST(OwnIdentity, DoesNotMindAFolderThatCannotBe) {
  EXPECT_EQ(OwnIdentity("/dev/null/state").file(), "/dev/null/state/identity");
}

}  // namespace
}  // namespace cotouch::this_file
