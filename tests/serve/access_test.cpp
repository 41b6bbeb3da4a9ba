#include <cotouch/serve/access.h>
#include <cotouch/serve/target.h>
#include <cotouch/serve/viewer_command.h>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <set>

#include "support/temporary_folder.h"

namespace cotouch::this_file {
namespace {

TEST(Access, TokensAreLongAndNeverTheSame) {
  std::set<std::string> tokens;
  for (int i = 0; i < 100; ++i) tokens.insert(make_token());
  EXPECT_EQ(tokens.size(), 100U);
  EXPECT_EQ(tokens.begin()->size(), 32U);
}

TEST(Access, KeptTokenSurvivesARestartAndIsPrivate) {
  const TemporaryFolder folder;
  const std::string first = kept_token(folder.path() / "state", 7117);
  EXPECT_EQ(kept_token(folder.path() / "state", 7117), first);
  EXPECT_NE(kept_token(folder.path() / "state", 7118), first);
  struct stat info {};
  const std::filesystem::path file = folder.path() / "state/token-7117";
  ASSERT_EQ(::stat(file.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600U);
  // Once others could read it, it is no secret any more.
  ASSERT_EQ(::chmod(file.c_str(), 0644), 0);
  EXPECT_NE(kept_token(folder.path() / "state", 7117), first);
}

TEST(Access, OnlyOurOwnHostsAreAnswered) {
  EXPECT_TRUE(host_is_ours("127.0.0.1:80", 80, {}));
  EXPECT_TRUE(host_is_ours("LOCALHOST:7117", 7117, {}));
  EXPECT_TRUE(host_is_ours("[::1]:7117", 7117, {}));
  EXPECT_TRUE(host_is_ours("192.168.1.5:7117", 7117, {}));
  EXPECT_TRUE(host_is_ours("touch.example", 7117, {"touch.example"}));
  EXPECT_FALSE(host_is_ours("evil.example:7117", 7117, {}));  // a name rebound to loopback
  EXPECT_FALSE(host_is_ours("127.0.0.1.evil.example:7117", 7117, {}));
  EXPECT_FALSE(host_is_ours("127.0.0.1:1", 7117, {}));
  EXPECT_FALSE(host_is_ours("", 7117, {}));
  EXPECT_FALSE(host_is_ours(":7117", 7117, {}));
}

TEST(Access, OriginMustBeTheHost) {
  EXPECT_TRUE(origin_is_ours("http://127.0.0.1:7117", "127.0.0.1:7117", false));
  EXPECT_TRUE(origin_is_ours("https://127.0.0.1:7117", "127.0.0.1:7117", false));  // a proxy may encrypt
  EXPECT_TRUE(origin_is_ours("https://127.0.0.1:7117", "127.0.0.1:7117", true));
  EXPECT_FALSE(origin_is_ours("http://127.0.0.1:7117", "127.0.0.1:7117", true));
  EXPECT_FALSE(origin_is_ours("http://127.0.0.1:7118", "127.0.0.1:7117", false));
  EXPECT_FALSE(origin_is_ours("null", "127.0.0.1:7117", false));
  EXPECT_FALSE(origin_is_ours("http://evil.example", "127.0.0.1:7117", false));
}

TEST(Access, TokensCompareEqualOnlyWhenTheyAre) {
  EXPECT_TRUE(equal_in_constant_time("abc", "abc"));
  EXPECT_FALSE(equal_in_constant_time("abc", "abd"));
  EXPECT_FALSE(equal_in_constant_time("abc", "abcd"));
  EXPECT_FALSE(equal_in_constant_time("", "abc"));
}

TEST(Target, IsTakenApart) {
  const auto target = parse_target("/api/upload?name=a%20b%2F..%2Fc.stl&unit=mm&empty&x=1+2");
  ASSERT_TRUE(target);
  EXPECT_EQ(target->path, "/api/upload");
  EXPECT_EQ(target->value("name"), "a b/../c.stl");
  EXPECT_EQ(target->value("unit"), "mm");
  EXPECT_EQ(target->value("empty"), "");
  EXPECT_EQ(target->value("x"), "1 2");
  EXPECT_FALSE(parse_target("http://x/"));
  EXPECT_FALSE(parse_target("/a%2"));
  EXPECT_FALSE(parse_target("/a%zz"));
  EXPECT_FALSE(parse_target("/a%00b"));
}

TEST(ViewerCommands, AreReadAndGarbageIsNamed) {
  const ParsedCommand parsed =
      parse_command(R"({"type":"settings","id":4,"max_force":3.5,"budget_us":"no","extra":[1]})");
  EXPECT_TRUE(parsed.broken_rule.empty());
  EXPECT_EQ(parsed.command.type, "settings");
  EXPECT_EQ(parsed.command.id, 4);
  EXPECT_EQ(parsed.command.max_force, 3.5);
  EXPECT_FALSE(parsed.command.budget_us);
  EXPECT_EQ(parsed.command.senseless, "budget_us");
  for (const char* garbage : {"", "[]", "7", "{", "{\"a\":1}x", "\xff\xfe"})
    EXPECT_FALSE(parse_command(garbage).broken_rule.empty()) << garbage;
  EXPECT_FALSE(parse_command("{\"a\":\"" + std::string(5000, 'x') + "\"}").broken_rule.empty());
  EXPECT_FALSE(parse_command(std::string(2000, '[')).broken_rule.empty());
  EXPECT_FALSE(parse_command("{\"a\":" + std::string(1000, '[') + std::string(1000, ']') + "}").broken_rule.empty());
  for (const char* senseless : {R"({"type":"x","hand":-1})", R"({"type":"x","hand":0.5})",
                                R"({"type":"x","hand":1e300})", R"({"type":"x","hand":"0"})"}) {
    EXPECT_FALSE(parse_command(senseless).command.hand) << senseless;
    EXPECT_EQ(parse_command(senseless).command.senseless, "hand") << senseless;
  }
  const ViewerCommand grasp = parse_command(R"({"type":"grasp","body":7,"point":[1,-2,0.5]})").command;
  EXPECT_EQ(grasp.body, 7U);
  EXPECT_EQ(grasp.point, (Vec3d{1, -2, 0.5}));
  for (const char* senseless : {R"({"point":[1,2]})", R"({"point":[1,2,"3"]})", R"({"point":{}})", R"({"point":1})"})
    EXPECT_EQ(parse_command(senseless).command.senseless, "point") << senseless;
  const ViewerCommand hello =
      parse_command(R"({"type":"hello","protocol":2,"name":"Ann","features":["a",3,"b"]})").command;
  EXPECT_EQ(hello.protocol, 2);
  EXPECT_EQ(hello.features, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(hello.senseless, "");
  const ViewerCommand body = parse_command(R"({"mass":2,"density":900,"gravity":9.81,"motion":"free"})").command;
  EXPECT_EQ(body.mass, 2);
  EXPECT_EQ(body.density, 900);
  EXPECT_EQ(body.gravity, 9.81);
  EXPECT_EQ(body.motion, "free");
  EXPECT_EQ(parse_command(R"({"type":"x","id":1.5})").command.senseless, "id");
  EXPECT_EQ(parse_command(R"({"type":5})").command.senseless, "type");
  EXPECT_EQ(parse_command(R"({"type":"x","near":1})").command.senseless, "near");
  EXPECT_EQ(parse_command(R"({"type":"x","hand":null,"near":true})").command.senseless, "");
}

}  // namespace
}  // namespace cotouch::this_file
