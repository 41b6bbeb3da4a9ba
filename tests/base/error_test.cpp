#include <cotouch/base/error.h>
#include <cotouch/base/file.h>
#include <cotouch/base/read_file.h>
#include <cotouch/base/units.h>

#include <gtest/gtest.h>

#include <string>

#include "support/error_code.h"
#include "support/temporary_folder.h"

namespace cotouch::this_file {
namespace {

TEST(Errors, HaveACodeBesideTheirSentence) {
  const Error plain("Nothing more is known.");
  EXPECT_STREQ(plain.what(), "Nothing more is known.");
  EXPECT_EQ(plain.code(), ErrorCode::other);
  const Error coded("There is no such scene.", ErrorCode::not_found);
  EXPECT_STREQ(coded.what(), "There is no such scene.");
  EXPECT_EQ(coded.code(), ErrorCode::not_found);
  EXPECT_EQ(Cancelled().code(), ErrorCode::cancelled);
}

TEST(Errors, OfFilesTellAMissingFileFromOneThatCannotBeUsed) {
  const TemporaryFolder folder;
  EXPECT_EQ(code_of([&] { read_file(folder / "missing.cot"); }), ErrorCode::not_found);
  EXPECT_EQ(code_of([&] { read_file(folder.path()); }), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([&] { write_file(folder / "missing" / "part.cot", "x"); }), ErrorCode::not_found);
  EXPECT_EQ(code_of([&] { check_writable(folder.path()); }), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([] { write_file("/dev/full", std::string(1 << 16, 'x')); }), ErrorCode::io);
  EXPECT_EQ(code_of([] { metres_per("furlong"); }), ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace cotouch::this_file
