// A connection's bytes, in the clear or encrypted, as one type: what reads requests and what feeds pages is written
// once.
#pragma once

#include <boost/asio/associated_allocator.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/ssl/ssl_stream.hpp>
#include <boost/beast/websocket/teardown.hpp>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <variant>

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
    Counted<std::decay_t<Handler>> counted{std::forward<Handler>(handler), *this};
    std::visit([&](auto& stream) { stream.async_read_some(buffers, std::move(counted)); }, stream_);
  }
  template <class Buffers, class Handler>
  void async_write_some(const Buffers& buffers, Handler&& handler) {
    std::visit([&](auto& stream) { stream.async_write_some(buffers, std::forward<Handler>(handler)); }, stream_);
  }

  // Bytes that came, decrypted. What is built upon this may take some of them without a word.
  std::uint64_t received() const { return received_; }

 private:
  // Does what the handler does, in the same place.
  template <class Handler>
  struct Counted {
    using allocator_type = boost::asio::associated_allocator_t<Handler>;
    using executor_type = boost::asio::associated_executor_t<Handler, DoorStream::executor_type>;
    Handler handler;
    DoorStream& stream;

    allocator_type get_allocator() const noexcept { return boost::asio::get_associated_allocator(handler); }
    executor_type get_executor() const noexcept {
      return boost::asio::get_associated_executor(handler, stream.get_executor());
    }
    void operator()(boost::system::error_code error, std::size_t bytes) {
      stream.received_ += bytes;
      std::move(handler)(error, bytes);
    }
  };

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
