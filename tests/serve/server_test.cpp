// Requests and connections as strangers make them.
#include <chrono>
#include <fstream>
#include <thread>

#include "serve/server_fixture.h"
#include "support/sanitized.h"

namespace cotouch::this_file {
namespace {

using namespace testing_serve;

TEST_F(Server, ServesThePageWithoutATokenAndNothingElse) {
  start();
  const Answer page = get("/");
  EXPECT_EQ(page.status, 200U);
  EXPECT_EQ(page.header("content-type"), "text/html; charset=utf-8");
  EXPECT_EQ(page.header("cache-control"), "no-cache");
  EXPECT_NE(page.header("content-security-policy").find("frame-ancestors 'none'"), std::string::npos);
  EXPECT_EQ(page.header("referrer-policy"), "no-referrer");
  EXPECT_EQ(get("/", {{"If-None-Match", page.header("etag")}}).status, 304U);
  const Answer script = get("/assets/a-123.js?token=x");
  EXPECT_EQ(script.status, 200U);
  EXPECT_EQ(script.header("content-type"), "text/javascript; charset=utf-8");
  EXPECT_NE(script.header("cache-control").find("immutable"), std::string::npos);
  for (const char* target : {"/../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "/assets/../../x", "/assets"})
    EXPECT_EQ(get(target).status, 404U) << target;
}

TEST_F(Server, RefusesAWrongTokenHostOrOrigin) {
  start();
  EXPECT_EQ(get("/api/hello").status, 401U);
  EXPECT_EQ(get("/api/hello", {{"X-Cotouch-Key", "x"}}).status, 401U);
  EXPECT_EQ(get("/api/hello", {{"X-Cotouch-Key", k_token}}).status, 401U);
  EXPECT_EQ(get("/api/hello?token=" + k_token).status, 401U);  // a token is never sent
  EXPECT_EQ(get_in("/api/hello").status, 200U);
  EXPECT_EQ(get_in("/api/hello", {{"Host", "evil.example"}}).status, 403U);
  EXPECT_EQ(get("/", {{"Host", "evil.example"}}).status, 403U);
  EXPECT_EQ(get_in("/api/hello", {{"Origin", "http://evil.example"}}).status, 403U);
  EXPECT_EQ(get_in("/api/hello", {{"Origin", "http://127.0.0.1:" + std::to_string(port())}}).status, 200U);
  const Answer refused = get("/api/scene");
  EXPECT_TRUE(Json::parse(refused.body)["error"].is_string());
}

TEST_F(Server, RefusesAFeedBeforeTheUpgrade) {
  start();
  EXPECT_THROW(Page(port(), {.token = std::string(32, 'x')}), ConnectionLost);
  EXPECT_THROW(Page(port(), {.origin = "http://evil.example"}), ConnectionLost);
  EXPECT_EQ(get_in("/feed").status, 400U);
}

TEST_F(Server, AnswersUnknownRequestsWithASentence) {
  start();
  EXPECT_EQ(get_in("/api/nothing").status, 404U);
  EXPECT_EQ(ask(port(), {.method = "DELETE", .target = "/api/hello", .token = k_token}).status, 405U);
  EXPECT_EQ(post_in("/api/nothing", "x").status, 405U);
  EXPECT_EQ(post("/", "x").status, 405U);
  EXPECT_EQ(get("/" + std::string(20000, 'a')).status, 431U);
  EXPECT_EQ(get_in("/api/mesh/1?scene=999").status, 409U);
  EXPECT_EQ(get_in("/api/recording/..%2Fx.csv").status, 404U);
  EXPECT_EQ(get_in("/api/thumbnail/balls.jpg").status, 404U);
}

TEST_F(Server, HasNothingToSayWhereThereIsNoPictureOfAScene) {
  start();
  const Answer answer = get_in("/api/thumbnail/balls.png");
  EXPECT_EQ(answer.status, 204U);
  EXPECT_EQ(answer.body, "");
}

TEST_F(Server, DescribesTheSceneAndItsMeshes) {
  start();
  Json scene;
  ASSERT_TRUE(eventually([&] {
    scene = Json::parse(get_in("/api/scene").body);
    return scene["generation"] == 1;
  }));
  EXPECT_EQ(scene["name"], "balls");
  ASSERT_EQ(scene["parts"].size(), 2U);
  EXPECT_EQ(scene["parts"][0]["role"], "static");
  EXPECT_EQ(scene["parts"][1]["role"], "moving");
  EXPECT_EQ(scene["parts"][1]["body"], 2);
  EXPECT_EQ(scene["parts"][1]["pose"]["position"][2], 0.05);
  EXPECT_EQ(scene["parts"][1]["place"]["position"][2], 0);
  ASSERT_EQ(scene["bodies"].size(), 2U);
  EXPECT_EQ(scene["bodies"][0]["motion"], "fixed");
  EXPECT_EQ(scene["bodies"][0]["graspable"], false);
  EXPECT_EQ(scene["bodies"][1]["id"], 2);
  EXPECT_EQ(scene["bodies"][1]["parts"], Json::array({2}));
  EXPECT_EQ(scene["bodies"][1]["graspable"], true);
  EXPECT_EQ(scene["bodies"][1]["copy"], true);
  EXPECT_EQ(scene["bodies"][1]["removable"], false);
  EXPECT_EQ(scene["bodies"][1]["pose"]["position"][2], 0.05);
  EXPECT_EQ(scene["bodies"][1]["density"], 1000);
  // A ball of 2 cm radius and the density of water weighs 33.5 g; its field has 24 cells along an edge.
  EXPECT_NEAR(scene["bodies"][1]["mass"].get<double>(), 0.0335, 0.001);
  EXPECT_EQ(scene["gravity"], 0);
  EXPECT_TRUE(scene["task"].is_null());
  // The ball's radius is 2 cm, its middle at 5 cm.
  EXPECT_NEAR(scene["bounds"]["max"][2].get<double>(), 0.07, 1e-9);
  const Answer mesh = get_in("/api/mesh/2?scene=1");
  ASSERT_EQ(mesh.status, 200U);
  EXPECT_TRUE(mesh.body == encode_mesh(make_picture(ball())->mesh, 1));
  EXPECT_EQ(Json::parse(get_in("/api/scenes").body)["scenes"][0]["name"], "balls");
}

TEST_F(Server, RefusesUploadsThatAreTooBigOrOfNoKnownKind) {
  ServerLimits limits;
  limits.upload_bytes = 10'000;
  start(limits);
  const std::string target = "/api/upload?name=a.stl&unit=mm";
  EXPECT_EQ(post_in(target, std::string(10'001, 'x')).status, 413U);
  // A body that does not say how long it is.
  EXPECT_EQ(
      ask(port(),
          {.method = "POST", .target = target, .body = std::string(50'000, 'x'), .chunked = true, .token = k_token})
          .status,
      413U);
  EXPECT_EQ(post_in("/api/upload?name=a.exe", "x").status, 400U);
  EXPECT_EQ(post_in("/api/upload?name=a.stl&unit=parsec", "x").status, 400U);
  EXPECT_EQ(post_in(target, "").status, 400U);
  EXPECT_EQ(post_in("/api/upload?name=a.stl&role=king", "x").status, 400U);
  EXPECT_EQ(post("/api/upload?name=a.stl", "x").status, 401U);
}

// Peak of the process's memory in bytes since the last call of forget_peak().
std::uint64_t status_bytes(const char* key) {
  std::ifstream status("/proc/self/status");
  std::string line;
  while (std::getline(status, line))
    if (line.starts_with(key)) return std::stoull(line.substr(line.find(':') + 1)) << 10;
  return 0;
}
void forget_peak() {
  std::ofstream("/proc/self/clear_refs") << "5";
}

TEST_F(Server, KeepsALargeUploadOnTheDiskAndNotInMemory) {
  if (is_sanitized()) GTEST_SKIP() << "A sanitizer keeps memory that was given back.";
  start();
  constexpr std::size_t k_megabytes = 200;
  const std::string piece(1 << 20, 'x');
  // What a first request and the opening of the scene take is not what this is about.
  EXPECT_EQ(post_in("/api/upload?name=a.stl", piece).status, 200U);
  EXPECT_TRUE(eventually([&] { return session_->snapshot().jobs.empty() && session_->snapshot().generation == 1; }));
  forget_peak();
  const std::uint64_t before = status_bytes("VmRSS");
  const Page page(port());
  RawConnection sender(port(), upload_head(page, "/api/upload?name=a.stl", k_megabytes << 20));
  for (std::size_t i = 0; i < k_megabytes; ++i) sender.send(piece);
  EXPECT_FALSE(sender.hung_up());  // it answers
  EXPECT_LT(status_bytes("VmHWM") - before, 40U << 20);
}

TEST_F(Server, RefusesUploadsBeyondTheQuotaOfTheDisk) {
  ServerLimits limits;
  limits.spool_bytes = 10'000;
  settings_.spool = folder_ / "spool";
  start(limits);
  const Page page(port());
  const std::string target = "/api/upload?name=a.stl&unit=mm";
  const Answer refused = post_in(target, std::string(10'001, 'x'));
  EXPECT_EQ(refused.status, 507U);
  EXPECT_NE(refused.body.find("no room for this one"), std::string::npos);
  // A body that does not say how long it is.
  EXPECT_EQ(
      ask(port(),
          {.method = "POST", .target = target, .body = std::string(50'000, 'x'), .chunked = true, .token = k_token})
          .status,
      507U);
  // What is refused, read or given up goes away, and its room is there for others.
  for (int i = 0; i < 5; ++i) EXPECT_EQ(post_in("/api/upload?name=a.exe", std::string(9000, 'x')).status, 400U);
  {
    RawConnection half(port(), upload_head(page, target, 9000) + "only this");
    EXPECT_TRUE(eventually([&] { return post_in(target, std::string(9000, 'x')).status == 507U; }));
  }
  EXPECT_TRUE(eventually([&] { return post_in(target, std::string(9000, 'x')).status == 200U; }));
  EXPECT_TRUE(std::filesystem::is_empty(folder_ / "spool"));
}

TEST_F(Server, TakesSoManyUploadsAtOnceAndWaitsForNoneForEver) {
  ServerLimits limits;
  limits.uploads = 1;
  limits.upload_seconds = 2;
  start(limits);
  const Page page(port());
  const std::string target = "/api/upload?name=a.stl";
  RawConnection half(port(), upload_head(page, target, 9000) + "only this");
  EXPECT_TRUE(eventually([&] {
    const Answer refused = post_in(target, "");  // empty, so that no job is made of it
    return refused.status == 429U && refused.body.find("being uploaded") != std::string::npos;
  }));
  EXPECT_TRUE(half.hung_up());
  EXPECT_TRUE(eventually([&] { return post_in(target, "x").status == 200U; }));
}

TEST_F(Server, HangsUpOnWhoDoesNotTakeAnAnswer) {
  std::filesystem::create_directories(folder_ / "web/assets");
  std::ofstream(folder_ / "web/assets/large-1.js") << std::string(32 << 20, ' ');
  ServerLimits limits;
  limits.connections = 1;
  limits.upload_seconds = 0.5;
  start(limits);
  RawConnection deaf(port(),
                     "GET /assets/large-1.js HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(port()) + "\r\n\r\n");
  EXPECT_FALSE(deaf.hung_up());  // one byte of it was read, so it is being sent
  EXPECT_TRUE(eventually([&] {
    try {
      return get("/").status == 200U;
    } catch (const ConnectionLost&) {
      return false;
    }
  }));
}

TEST_F(Server, RefusesUploadsInWordsIfTheDiskTakesNone) {
  std::ofstream(folder_ / "no-folder") << "in its place";
  settings_.spool = folder_ / "no-folder";
  start();
  const Answer refused = post_in("/api/upload?name=a.stl", "solid");
  EXPECT_EQ(refused.status, 507U);
  EXPECT_NE(refused.body.find("cannot be kept on the server's disk"), std::string::npos);
}

TEST_F(Server, DropsAConnectionThatNeverFinishesItsRequest) {
  ServerLimits limits;
  limits.head_seconds = 0.2;
  start(limits);
  RawConnection slow(port(), "GET / HTTP/1.1\r\nHost: 127");
  EXPECT_TRUE(slow.hung_up());
}

TEST_F(Server, TakesNoMoreConnectionsThanItsLimit) {
  ServerLimits limits;
  limits.connections = 2;
  start(limits);
  auto first = std::make_unique<Page>(port());
  Page second(port());
  first->read_text("hello");
  second.read_text("hello");
  EXPECT_THROW(get("/"), ConnectionLost);
  first.reset();
  EXPECT_TRUE(eventually([&] {
    try {
      return get("/").status == 200U;
    } catch (const ConnectionLost&) {
      return false;
    }
  }));
}

TEST_F(Server, ConnectionsThatSayNothingMakeRoomForOthers) {
  ServerLimits limits;
  limits.connections = 4;
  limits.head_seconds = limits.idle_seconds = 600;
  start(limits);
  std::vector<std::unique_ptr<RawConnection>> silent;
  for (int i = 0; i < 20; ++i)
    silent.push_back(std::make_unique<RawConnection>(port(), "GET /api/hello HTTP/1.1\r\nHost: "));
  EXPECT_EQ(get("/").status, 200U);
  Page page(port());
  page.read_text("hello");
}

TEST_F(Server, ConnectionsThatTakeNoAnswerMakeRoomForOthers) {
  ServerLimits limits;
  limits.connections = 4;
  limits.idle_seconds = limits.upload_seconds = 600;
  std::filesystem::create_directories(folder_ / "web/assets");
  // More than the system keeps for a connection that does not read.
  std::ofstream(folder_ / "web/assets/large.js") << std::string(32U << 20, ' ');
  start(limits);
  const std::string request = "GET /assets/large.js HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(port()) + "\r\n\r\n";
  std::vector<std::unique_ptr<RawConnection>> greedy;
  for (int i = 0; i < 8; ++i) {
    greedy.push_back(std::make_unique<RawConnection>(port(), request));
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  EXPECT_EQ(get("/").status, 200U);
  Page page(port());
  page.read_text("hello");
}

TEST_F(Server, WhatFollowsAGetIsNotTakenForAnotherRequest) {
  ServerLimits limits;
  limits.idle_seconds = 0.2;
  start(limits);
  const std::string host = "Host: 127.0.0.1:" + std::to_string(port()) + "\r\n";
  const std::string hidden = "GET /door HTTP/1.1\r\n" + host + "\r\n";
  const auto answers = [&](const std::string& request) {
    const std::string text = RawConnection(port(), request).rest();
    int count = 0;
    for (std::size_t at = text.find("HTTP/1.1 "); at != std::string::npos; at = text.find("HTTP/1.1 ", at + 1)) ++count;
    return count;
  };
  EXPECT_EQ(answers(hidden + hidden), 2);  // these are two
  for (const char* target : {"/", "/door", "/nothing"}) {
    const std::string head = "GET " + std::string(target) + " HTTP/1.1\r\n" + host;
    EXPECT_EQ(answers(head + "Content-Length: " + std::to_string(hidden.size()) + "\r\n\r\n" + hidden), 1) << target;
    EXPECT_EQ(answers(head + "Transfer-Encoding: chunked\r\n\r\n" + hidden), 1) << target;
  }
  // An answer to HEAD has no body, but ours has: nothing may come after it.
  EXPECT_EQ(answers("HEAD / HTTP/1.1\r\n" + host + "\r\n" + hidden), 1);
}

}  // namespace
}  // namespace cotouch::this_file
