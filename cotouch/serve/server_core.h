// The server's inside, shared by http_server.cpp and feed.cpp. Nobody else includes this: Boost is heavy.
#pragma once

#include <cotouch/serve/door_stream.h>
#include <cotouch/serve/http_server.h>
#include <cotouch/serve/long_answers.h>

#include <array>
#include <atomic>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/string_body.hpp>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>

namespace cotouch {

namespace net = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using tcp = boost::asio::ip::tcp;

inline std::chrono::nanoseconds to_duration(double seconds) {
  return std::chrono::nanoseconds(static_cast<std::int64_t>(seconds * 1e9));
}

// Whoever has a socket open: counted while it lives, and hung up on when the server stops.
class Peer {
 public:
  explicit Peer(HttpServer::Impl& server);
  virtual ~Peer();
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;
  virtual void hang_up() = 0;
  // Since when it has been waiting for a request; nothing where it is of use to someone.
  virtual std::optional<std::chrono::steady_clock::time_point> idle_since() const { return std::nullopt; }
  // Since when an answer is on its way that was asked for and is not taken.
  virtual std::optional<std::chrono::steady_clock::time_point> waits_since() const { return std::nullopt; }

 protected:
  HttpServer::Impl& server_;
};

// A connection that became a feed. Lives on the I/O thread.
class Viewer {
 public:
  virtual ~Viewer() = default;
  virtual void send_text(const std::shared_ptr<const std::string>& text) = 0;
  virtual void send_newest(const std::string& topic, const std::shared_ptr<const std::string>& text) = 0;
  virtual void offer(const std::shared_ptr<const FrameSet>& frame) = 0;
  virtual void offer_near(std::uint32_t part, const std::shared_ptr<const std::string>& message) = 0;
  virtual void close(FeedClose code, std::string_view reason) = 0;
  Visitor visitor;
  bool wants_traversed = false, wants_near = false;
  bool greeted = false;  // was sent its first text; only then does it get what everyone gets
};

struct HttpServer::Impl {
  explicit Impl(const ServerSettings& settings_, PageFiles page_);

  void accept();
  // Whether one more connection may be taken. At the limit the one that has been idle longest makes room, or the one
  // whose answer has been on its way longest, so that connections which say or take nothing cannot keep everyone else
  // out.
  bool make_room();
  // Whether one more page may come by this link. At the limit a page makes room whose link has more of them, so that
  // nobody keeps the others out; for owners any that is not an owner's.
  bool make_room_for(const Visitor& newcomer);
  HttpResponse answer(HttpRequest request);
  void update_demand();
  void forget_viewer(ViewerId viewer);
  // Runs `work` on the I/O thread.
  void on_io(std::function<void()> work);
  void deliver();
  // Every second: pages whose link has expired are closed.
  void watch_links();
  void close_link(const std::string& link, const std::string& why);

  ServerSettings settings;
  std::optional<net::ssl::context> tls;
  PageFiles page;
  LinkBook* links = nullptr;
  RequestHandler* handler = nullptr;
  FeedListener* listener = nullptr;

  // The I/O thread's. First, because what the queues below still hold at the end refers to it.
  std::set<Peer*> peers;
  std::uint32_t uploads = 0;
  Spool spool;
  UnsentAnswers unsent;
  std::atomic<std::uint32_t> feeds_open{0};

  net::io_context io{1};
  net::io_context requests;
  LongAnswers long_answers;
  tcp::acceptor acceptor{io};
  net::steady_timer accept_pause{io}, link_timer{io};
  std::uint16_t port = 0;
  std::thread io_thread;
  std::array<std::thread, 2> request_threads;  // so that a long answer does not hold up every other one
  net::executor_work_guard<net::io_context::executor_type> io_guard{io.get_executor()};
  net::executor_work_guard<net::io_context::executor_type> request_guard{requests.get_executor()};

  // The I/O thread's.
  ViewerId last_viewer = 0;
  std::map<ViewerId, std::shared_ptr<Viewer>> viewers;
  bool stopping = false;

  std::atomic<std::uint32_t> viewer_count{0};
  std::atomic<bool> any_traversed{false}, any_near{false};

  // What was published and not yet picked up by the I/O thread: only the newest.
  std::mutex published_mutex;
  std::shared_ptr<const FrameSet> published;
  std::map<std::uint32_t, std::shared_ptr<const std::string>> published_near;
  bool delivery_due = false;
};

// Takes over a connection whose upgrade request has been read and found in order.
void start_viewer(HttpServer::Impl& server, DoorStream&& stream, Visitor visitor,
                  http::request<http::string_body>&& request);

}  // namespace cotouch
