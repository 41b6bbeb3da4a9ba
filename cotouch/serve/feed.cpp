#include <cotouch/serve/server_core.h>
#include <cotouch/serve/wire_layout.h>

#include <algorithm>
#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/beast/core/bind_handler.hpp>
#include <boost/beast/core/buffers_to_string.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/websocket/stream.hpp>
#include <deque>
#include <optional>

namespace cotouch {
namespace {

namespace websocket = boost::beast::websocket;
using Clock = std::chrono::steady_clock;

// A shared session has up to 64 marks and 100 lines of chat to tell at once: only who does not read comes to the limit.
constexpr std::size_t k_max_texts = 256;
// Of longer messages no more is kept; between this and the protocol's own limit a page is told which rule it broke.
constexpr std::size_t k_max_message = 64U << 10;
constexpr std::size_t k_control_head = 6;  // bytes of a page's ping or pong before what it holds
constexpr auto k_close_patience = std::chrono::seconds(2);
constexpr auto k_hello_patience = std::chrono::seconds(5);

class Connection final : public Viewer, public Peer, public std::enable_shared_from_this<Connection> {
 public:
  Connection(HttpServer::Impl& server, DoorStream&& stream, Visitor&& from)
      : Peer(server), socket_(std::move(stream)), timer_(server.io), id_(++server.last_viewer) {
    visitor = std::move(from);
    ++server_.feeds_open;
  }
  ~Connection() override { --server_.feeds_open; }

  void start(http::request<http::string_body>&& request) {
    socket_.next_layer().tcp().expires_never();
    boost::system::error_code ignored;
    auto& tcp_socket = socket_.next_layer().tcp().socket();
    tcp_socket.set_option(tcp::no_delay(true), ignored);
    tcp_socket.set_option(net::socket_base::send_buffer_size(server_.settings.limits.viewer_send_buffer), ignored);
    websocket::stream_base::timeout patience{};
    patience.handshake_timeout = std::chrono::seconds(5);
    patience.idle_timeout = websocket::stream_base::none();
    patience.keep_alive_pings = false;
    socket_.set_option(patience);
    socket_.auto_fragment(false);
    socket_.read_message_max(0);  // read() keeps the limit: Beast's own may hang up before the page has heard why
    socket_.control_callback([this](websocket::frame_type, beast::string_view payload) {
      control_bytes_ += k_control_head + payload.size();
      // Closing must wait until the read in which this is called has ended.
      if (!count_message()) net::post(server_.io, [self = shared_from_this()] { self->close_for_flood(); });
    });
    request_ = std::move(request);
    // Of the protocols that it asks for a page must be told one; the other was its key.
    if (!request_[http::field::sec_websocket_protocol].empty())
      socket_.set_option(websocket::stream_base::decorator(
          [](websocket::response_type& response) { response.set(http::field::sec_websocket_protocol, "cotouch"); }));
    socket_.async_accept(request_, [self = shared_from_this()](boost::system::error_code error) {
      if (!error) self->on_open();
    });
  }

  void send_text(const std::shared_ptr<const std::string>& text) override {
    if (closing_) return;
    if (texts_.size() >= k_max_texts)
      return close(FeedClose::too_slow, "Too many messages were waiting for this page.");
    texts_.push_back({{}, text});
    greeted = true;
    pump();
  }

  void send_newest(const std::string& topic, const std::shared_ptr<const std::string>& text) override {
    // To the end: among the other texts it stays in the order in which things happened.
    std::erase_if(texts_, [&](const WaitingText& waiting) { return waiting.topic == topic; });
    if (closing_) return;
    if (texts_.size() >= k_max_texts)
      return close(FeedClose::too_slow, "Too many messages were waiting for this page.");
    texts_.push_back({topic, text});
    pump();
  }

  void offer(const std::shared_ptr<const FrameSet>& frame) override {
    if (closing_ || !greeted) return;
    const Clock::time_point now = Clock::now();
    // Half a tick of grace, so that a rate which divides the server's is met exactly.
    if (now - last_offer_ + std::chrono::milliseconds(5) < frame_interval_) return;
    last_offer_ = now;
    if (state_) ++left_out_;
    state_ = frame;
    pump();
  }

  void offer_near(std::uint32_t part, const std::shared_ptr<const std::string>& message) override {
    if (closing_ || !greeted || !wants_near) return;
    near_[part] = message;
    pump();
  }

  void close(FeedClose code, std::string_view reason) override {
    if (closing_) return;
    closing_ = true;
    leave();
    texts_.clear();
    state_.reset();
    near_.clear();
    // A control frame holds at most 123 bytes of reason.
    const websocket::close_reason why(static_cast<websocket::close_code>(code),
                                      beast::string_view(reason.data(), std::min<std::size_t>(reason.size(), 123)));
    socket_.async_close(why, [self = shared_from_this()](boost::system::error_code) { self->hang_up(); });
    timer_.expires_after(k_close_patience);
    timer_.async_wait([self = shared_from_this()](boost::system::error_code error) {
      if (!error) self->hang_up();
    });
  }

  void hang_up() override {
    boost::system::error_code ignored;
    socket_.next_layer().tcp().socket().close(ignored);
    timer_.cancel();
  }

 private:
  void on_open() {
    if (server_.stopping) return close(FeedClose::going_away, "The server is shutting down.");
    if (!server_.make_room_for(visitor))
      return close(FeedClose::too_many, "Too many pages are watching; close one of them.");
    last_heard_ = Clock::now();
    told_of_ = received();
    server_.viewers[id_] = shared_from_this();
    joined_ = true;
    server_.update_demand();
    read();
    timer_.expires_after(k_hello_patience);
    timer_.async_wait([self = shared_from_this()](boost::system::error_code error) {
      if (!error && !self->closing_)
        self->close(FeedClose::other_version, "The page did not say which version it speaks: reload the page.");
    });
  }

  void leave() {
    if (!joined_) return;
    joined_ = false;
    server_.forget_viewer(id_);
  }

  void read() {
    const std::size_t room = k_max_message + 1 - buffer_.size();
    socket_.async_read_some(buffer_, room, [self = shared_from_this()](boost::system::error_code error, std::size_t) {
      if (self->closing_) return;
      self->told_of_ = self->received();
      self->unheard_since_.reset();
      if (error) {
        self->closing_ = true;
        self->leave();
        return self->hang_up();
      }
      if (self->buffer_.size() > k_max_message)
        return self->close(FeedClose::too_long, "A message was longer than 64 KiB.");
      if (!self->socket_.is_message_done()) {
        if (!self->message_begun_) self->message_begun_ = Clock::now();
        return self->read();
      }
      self->message_begun_.reset();
      self->on_message();
    });
  }

  // Bytes, without pings and pongs.
  std::uint64_t received() { return socket_.next_layer().received() - control_bytes_; }

  // False where there were too many within a second.
  bool count_message() {
    last_heard_ = Clock::now();
    if (last_heard_ - window_start_ >= std::chrono::seconds(1)) {
      window_start_ = last_heard_;
      window_messages_ = 0;
    }
    return ++window_messages_ <= server_.settings.limits.messages_per_second;
  }

  void close_for_flood() { close(FeedClose::flood, "The page sent too many messages in one second."); }

  void on_message() {
    if (!count_message()) return close_for_flood();
    const std::string_view bytes(static_cast<const char*>(buffer_.data().data()), buffer_.data().size());
    const std::string_view broken_rule = socket_.got_text() ? take_text(bytes) : take_binary(bytes);
    buffer_.consume(buffer_.size());
    if (!broken_rule.empty()) return close(FeedClose::garbage, "Not the protocol: " + std::string(broken_rule) + ".");
    if (!closing_) read();
  }

  std::string_view take_text(std::string_view text) {
    const ParsedCommand parsed = parse_command(text);
    if (!parsed.broken_rule.empty()) return parsed.broken_rule;
    if (!introduced_) return take_hello(parsed.command), std::string_view();
    if (parsed.command.type == "view" && parsed.command.senseless.empty())
      take_wishes(parsed.command);
    else
      server_.listener->viewer_command(id_, parsed.command);
    return {};
  }

  void take_hello(const ViewerCommand& command) {
    if (command.type != "hello" || !command.protocol)
      return close(FeedClose::other_version, "The page did not say which version it speaks: reload the page.");
    if (*command.protocol != wire::k_version)
      return close(FeedClose::other_version, "The page speaks version " + std::to_string(*command.protocol) +
                                                 " of the protocol, the server version " +
                                                 std::to_string(wire::k_version) + ": reload the page.");
    introduced_ = true;
    server_.listener->viewer_joined(id_, {command.name, command.features, visitor});
    watch();
  }

  std::string_view take_binary(std::string_view bytes) {
    const DecodedInput decoded = decode_input(bytes);
    if (!introduced_) return "a page says hello first";
    if (!decoded.broken_rule.empty() || !decoded.known) return decoded.broken_rule;
    return server_.listener->viewer_input(id_, decoded.input);
  }

  void take_wishes(const ViewerCommand& command) {
    wants_traversed = command.traversed.value_or(wants_traversed);
    wants_near = command.near.value_or(wants_near);
    if (!wants_near) near_.clear();
    if (command.fps)
      frame_interval_ = std::chrono::duration_cast<Clock::duration>(
          std::chrono::duration<double>(1 / std::clamp(*command.fps, 1.0, 60.0)));
    server_.update_demand();
    if (command.id) {
      const std::string reply =
          "{\"type\":\"reply\",\"id\":" + std::to_string(*command.id) + ",\"ok\":true,\"reason\":\"\"}";
      send_text(std::make_shared<const std::string>(reply));
    }
  }

  // One write at a time; what is sent next is decided when the last one is done, so it is always the newest.
  void pump() {
    if (writing_ || closing_) return;
    std::array<net::const_buffer, 2> buffers;
    if (!texts_.empty()) {
      sending_ = std::move(texts_.front().text);
      texts_.pop_front();
      socket_.text(true);
      buffers[0] = net::buffer(*sending_);
    } else if (state_ && (near_.empty() || !near_is_next_)) {
      near_is_next_ = true;
      const bool traversed = wants_traversed && !state_->with_traversed.head.empty();
      const EncodedState& encoded = traversed ? state_->with_traversed : state_->plain;
      head_ = encoded.head;
      set_frames_left_out(head_, left_out_);
      sending_ = encoded.rest;
      state_.reset();
      socket_.binary(true);
      buffers = {net::buffer(head_), net::buffer(*sending_)};
    } else if (!near_.empty()) {
      near_is_next_ = false;
      sending_ = std::move(near_.begin()->second);
      near_.erase(near_.begin());
      socket_.binary(true);
      buffers[0] = net::buffer(*sending_);
    } else {
      return;
    }
    writing_ = true;
    write_start_ = Clock::now();
    socket_.async_write(buffers, [self = shared_from_this()](boost::system::error_code error, std::size_t) {
      self->writing_ = false;
      self->sending_.reset();
      // The reader notices a broken connection too, and cleans up.
      if (!error) self->pump();
    });
  }

  // Every few seconds: a ping, and a look at whether the other side is still there.
  void watch() {
    timer_.expires_after(to_duration(server_.settings.limits.ping_seconds));
    timer_.async_wait([self = shared_from_this()](boost::system::error_code error) {
      if (error || self->closing_) return;
      const auto patience = to_duration(self->server_.settings.limits.silent_seconds);
      const Clock::time_point now = Clock::now();
      if (self->writing_ && now - self->write_start_ > patience)
        return self->close(FeedClose::too_slow, "Nothing could be sent to this page for too long.");
      // Pieces that hold nothing are read by Beast without a word to us, for ever: only the clock sees them, and the
      // first of them only who counts bytes.
      const auto whole = to_duration(self->server_.settings.limits.message_seconds);
      if (self->received() <= self->told_of_)
        self->unheard_since_.reset();
      else if (!self->unheard_since_)
        self->unheard_since_ = now;
      for (const auto& begun : {self->message_begun_, self->unheard_since_})
        if (begun && now - *begun > whole)
          return self->close(FeedClose::garbage, "A message was begun and never ended.");
      if (now - self->last_heard_ > patience) {
        self->closing_ = true;
        self->leave();
        return self->hang_up();
      }
      if (!self->pinging_) {
        self->pinging_ = true;
        self->socket_.async_ping({}, [self](boost::system::error_code) { self->pinging_ = false; });
      }
      self->watch();
    });
  }

  websocket::stream<DoorStream, false> socket_;  // without compression, which takes long to compile
  net::steady_timer timer_;
  ViewerId id_;
  http::request<http::string_body> request_;
  beast::flat_buffer buffer_;
  bool joined_ = false, introduced_ = false, closing_ = false, writing_ = false, pinging_ = false;

  struct WaitingText {
    std::string topic;  // empty: none, it is told in any case
    std::shared_ptr<const std::string> text;
  };
  std::deque<WaitingText> texts_;
  std::shared_ptr<const FrameSet> state_;
  std::map<std::uint32_t, std::shared_ptr<const std::string>> near_;
  bool near_is_next_ = false;                   // they take turns, so that a slow link shows both
  std::shared_ptr<const std::string> sending_;  // keeps alive what is being written
  std::string head_;
  std::uint32_t left_out_ = 0;
  Clock::duration frame_interval_ = std::chrono::microseconds(16667);
  Clock::time_point last_offer_{}, last_heard_{}, write_start_{}, window_start_{};
  std::optional<Clock::time_point> message_begun_;  // one of which more is to come
  std::optional<Clock::time_point> unheard_since_;  // bytes come of which Beast does not tell
  std::uint64_t control_bytes_ = 0;                 // of pings and pongs
  std::uint64_t told_of_ = 0;                       // received() when Beast last told of what it read
  std::uint32_t window_messages_ = 0;
};

}  // namespace

void start_viewer(HttpServer::Impl& server, DoorStream&& stream, Visitor visitor,
                  http::request<http::string_body>&& request) {
  std::make_shared<Connection>(server, std::move(stream), std::move(visitor))->start(std::move(request));
}

}  // namespace cotouch
