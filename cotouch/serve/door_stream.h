// A connection's bytes, in the clear or encrypted, as one type: what reads requests and what feeds pages is written
// once.
#pragma once

#include <boost/asio/associated_executor.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/beast/core/bind_handler.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/ssl/ssl_stream.hpp>
#include <boost/beast/websocket/teardown.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <variant>
#include <vector>

namespace cotouch {

class DoorStream {
 public:
  using Plain = boost::beast::tcp_stream;
  using Tls = boost::beast::ssl_stream<Plain>;
  using executor_type = Plain::executor_type;

  explicit DoorStream(boost::asio::ip::tcp::socket&& socket) : stream_(std::in_place_type<Plain>, std::move(socket)) {}
  DoorStream(boost::asio::ip::tcp::socket&& socket, boost::asio::ssl::context& context)
      : stream_(std::in_place_type<Tls>, std::move(socket), context) {}

  // Below the encryption: its deadlines and its socket.
  Plain& tcp() { return tls() != nullptr ? tls()->next_layer() : std::get<Plain>(stream_); }
  // Null if it is in the clear.
  Tls* tls() { return std::get_if<Tls>(&stream_); }

  executor_type get_executor() { return tcp().get_executor(); }

  template <class Buffers, class Handler>
  void async_read_some(const Buffers& buffers, Handler&& handler) {
    read_some({boost::asio::buffer_sequence_begin(buffers), boost::asio::buffer_sequence_end(buffers)},
              [this, done = plain(std::forward<Handler>(handler))](boost::system::error_code error, std::size_t bytes) {
                received_ += bytes;
                done(error, bytes);
              });
  }
  template <class Buffers, class Handler>
  void async_write_some(const Buffers& buffers, Handler&& handler) {
    write_some({boost::asio::buffer_sequence_begin(buffers), boost::asio::buffer_sequence_end(buffers)},
               plain(std::forward<Handler>(handler)));
  }

  // Bytes that came, decrypted. What is built upon this may take some of them without a word.
  std::uint64_t received() const { return received_; }

 private:
  // Beast's handlers have types that fill pages; with each of them both kinds of stream would be compiled again, which
  // takes minutes. One type for all of them costs an allocation.
  using Done = std::function<void(boost::system::error_code, std::size_t)>;
  template <class Handler>
  Done plain(Handler&& handler) {
    auto executor = boost::asio::get_associated_executor(handler, get_executor());
    auto kept = std::make_shared<std::decay_t<Handler>>(std::forward<Handler>(handler));
    return [kept, executor](boost::system::error_code error, std::size_t bytes) {
      boost::asio::dispatch(executor, boost::beast::bind_front_handler(std::move(*kept), error, bytes));
    };
  }
  void read_some(std::vector<boost::asio::mutable_buffer> buffers, Done done);
  void write_some(std::vector<boost::asio::const_buffer> buffers, Done done);

  std::variant<Plain, Tls> stream_;
  std::uint64_t received_ = 0;
};

// How a WebSocket ends on such a stream. Without a goodbye of TLS: the WebSocket has said its own, which nobody can
// forge.
template <class Handler>
void async_teardown(boost::beast::role_type role, DoorStream& stream, Handler&& handler) {
  using boost::beast::websocket::async_teardown;
  async_teardown(role, stream.tcp().socket(), std::forward<Handler>(handler));
}
inline void teardown(boost::beast::role_type role, DoorStream& stream, boost::system::error_code& error) {
  using boost::beast::websocket::teardown;
  teardown(role, stream.tcp().socket(), error);
}

// What Beast calls when a deadline passes.
inline void beast_close_socket(DoorStream& stream) {
  stream.tcp().close();
}

}  // namespace cotouch
