// Answers that take long, to make or to send, over real loopback sockets: whoever asks for many waits for themselves.
#include <cotouch/serve/http_server.h>

#include <gtest/gtest.h>

#include <condition_variable>
#include <future>
#include <mutex>

#include "serve/page_client.h"
#include "support/eventually.h"

namespace cotouch::this_file {
namespace {

using namespace testing_serve;

constexpr std::size_t k_large = 16U << 20;  // more than the system keeps for a connection that does not read

// Recordings take until they are released, meshes are large.
class SlowHandler final : public RequestHandler {
 public:
  HttpResponse answer(HttpRequest request) override {
    HttpResponse response;
    response.body = std::make_shared<const std::string>("done");
    if (request.target.path.starts_with("/api/mesh/"))
      response.body = std::make_shared<const std::string>(k_large, 'm');
    if (!request.target.path.starts_with("/api/recording/")) return response;
    std::unique_lock lock(mutex_);
    order_ += request.target.path.back();
    wake_.wait(lock, [this] { return released_; });
    return response;
  }
  void release() {
    const std::scoped_lock lock(mutex_);
    released_ = true;
    wake_.notify_all();
  }
  std::string order() {
    const std::scoped_lock lock(mutex_);
    return order_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable wake_;
  bool released_ = false;
  std::string order_;
};

class Nobody final : public FeedListener {
 public:
  void viewer_joined(ViewerId, const PageHello&) override {}
  void viewer_left(ViewerId) override {}
  void viewer_command(ViewerId, const ViewerCommand&) override {}
  std::string_view viewer_input(ViewerId, const PageInput&) override { return {}; }
};

class LongAnswersTest : public ::testing::Test {
 protected:
  void start(const ServerLimits& limits = {}) {
    ServerSettings settings;
    settings.limits = limits;
    server_ = std::make_unique<HttpServer>(settings);
    server_->start(handler_, nobody_, links_);
  }
  ~LongAnswersTest() override {
    handler_.release();
    waiting_.clear();
    if (server_) server_->stop();
  }
  std::uint16_t port() const { return server_->port(); }
  std::string key_of(const std::string& token) { return Page(port(), {.token = token, .hello = nullptr}).key(); }
  // Asks and does not read the answer.
  void ask_for(const std::string& target, const std::string& key) {
    waiting_.push_back(std::make_unique<RawConnection>(
        port(), "GET " + target + " HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(port()) +
                    "\r\nX-Cotouch-Key: " + key + "\r\n\r\n"));
  }
  // 0 if there is none for as long as the slowest machine may need.
  unsigned status_soon(const std::string& target, const std::string& token) {
    auto answer = std::async(std::launch::async, [=, this] { return get_in(port(), target, {}, token).status; });
    const bool soon = answer.wait_for(std::chrono::seconds(60)) == std::future_status::ready;
    if (!soon) handler_.release();
    return soon ? answer.get() : 0;
  }

  SlowHandler handler_;
  Nobody nobody_;
  LinkBook links_{k_token};
  std::string watch_ = links_.add(Rights::watch, "watch", 0, unix_seconds()).token;
  std::unique_ptr<HttpServer> server_;
  std::vector<std::unique_ptr<RawConnection>> waiting_;
};

TEST_F(LongAnswersTest, OfRecordingsHoldNobodyElseUp) {
  start();
  const std::string key = key_of(watch_);
  for (int i = 0; i < 10; ++i) ask_for("/api/recording/a", key);
  ASSERT_TRUE(eventually([&] { return !handler_.order().empty(); }));
  EXPECT_EQ(status_soon("/api/links", k_token), 200U);
  EXPECT_EQ(status_soon("/api/scene", watch_), 200U);
}

TEST_F(LongAnswersTest, LinksTakeTurns) {
  start();
  const std::string key = key_of(watch_), own = key_of(k_token);
  ask_for("/api/recording/a", key);
  ASSERT_TRUE(eventually([&] { return handler_.order() == "a"; }));
  for (int i = 0; i < 5; ++i) ask_for("/api/recording/b", key);
  // Those have come before the next one does.
  ASSERT_EQ(status_soon("/api/scene", watch_), 200U);
  ask_for("/api/recording/c", own);
  ASSERT_EQ(status_soon("/api/scene", k_token), 200U);
  handler_.release();
  ASSERT_TRUE(eventually([&] { return handler_.order().size() == 7; }));
  EXPECT_LE(handler_.order().find('c'), 2U) << handler_.order();
}

TEST_F(LongAnswersTest, ThatNobodyFetchesAreBoundedForEachLink) {
  ServerLimits limits;
  limits.unsent_bytes = 4 * k_large;
  limits.upload_seconds = 600;
  start(limits);
  const std::string key = key_of(watch_);
  for (int i = 0; i < 12; ++i) ask_for("/api/mesh/1", key);
  EXPECT_TRUE(eventually([&] { return get_in(port(), "/api/scene", {}, watch_).status == 429U; }));
  EXPECT_EQ(get_in(port(), "/api/mesh/1").body.size(), k_large);  // the owner's link is another
  waiting_.clear();
  EXPECT_TRUE(eventually([&] { return get_in(port(), "/api/scene", {}, watch_).status == 200U; }));
}

}  // namespace
}  // namespace cotouch::this_file
