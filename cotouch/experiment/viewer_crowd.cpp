#include <cotouch/base/error.h>
#include <cotouch/experiment/viewer_crowd.h>

#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/websocket/stream.hpp>
#include <chrono>
#include <cstring>
#include <memory>

namespace cotouch {
namespace {

namespace net = boost::asio;
namespace beast = boost::beast;
namespace websocket = boost::beast::websocket;
using tcp = net::ip::tcp;

struct Order {
  std::uint32_t viewers = 0;
  std::uint16_t port = 0;
  char key[129] = {};
};

class CrowdMember : public std::enable_shared_from_this<CrowdMember> {
 public:
  explicit CrowdMember(net::io_context& io) : socket_(io) {}

  bool connect(const Order& order) {
    try {
      socket_.next_layer().connect({net::ip::address_v4::loopback(), order.port});
      const std::string host = "127.0.0.1:" + std::to_string(order.port);
      socket_.set_option(websocket::stream_base::decorator([&](websocket::request_type& request) {
        request.set(beast::http::field::sec_websocket_protocol, std::string("cotouch, key.") + order.key);
      }));
      socket_.handshake(host, "/feed");
      socket_.write(net::buffer(std::string(R"({"type":"hello","protocol":2})")));
      socket_.write(net::buffer(std::string(R"({"type":"view","traversed":true,"near":true,"fps":60})")));
      return true;
    } catch (const std::exception&) {
      return false;
    }
  }
  void listen() {
    socket_.async_read(buffer_, [self = shared_from_this()](boost::system::error_code error, std::size_t size) {
      if (error) {
        self->lost = true;
        return;
      }
      const auto* data = static_cast<const unsigned char*>(self->buffer_.data().data());
      if (self->socket_.got_binary() && size > 4 && data[3] == 1) {
        ++self->frames;
        self->bytes += size;
      }
      self->buffer_.consume(self->buffer_.size());
      self->listen();
    });
  }
  void close() {
    boost::system::error_code ignored;
    socket_.next_layer().close(ignored);
  }

  std::uint64_t frames = 0, bytes = 0;
  bool lost = false;

 private:
  websocket::stream<tcp::socket, false> socket_;
  beast::flat_buffer buffer_;
};

void run_for(net::io_context& io, double seconds) {
  io.restart();
  io.run_for(std::chrono::nanoseconds(static_cast<std::int64_t>(seconds * 1e9)));
}

// The child's whole life: orders come in, counts go out, until the pipe closes.
void serve_orders(int in, int out) {
  for (Order order; WorkerProcess::read_value(in, order);) {
    net::io_context io(1);
    std::vector<std::shared_ptr<CrowdMember>> members;
    std::uint32_t failed = 0;
    for (std::uint32_t i = 0; i < order.viewers; ++i) {
      auto member = std::make_shared<CrowdMember>(io);
      if (member->connect(order)) {
        member->listen();
        members.push_back(std::move(member));
      } else {
        ++failed;
      }
    }
    double seconds = 0;
    if (!WorkerProcess::write_value(out, failed) || !WorkerProcess::read_value(in, seconds)) return;
    run_for(io, 0.3);  // what had piled up while connecting does not count
    for (const auto& member : members) member->frames = member->bytes = 0;
    const auto start = std::chrono::steady_clock::now();
    run_for(io, seconds);
    const double took = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    std::uint64_t frames = 0, bytes = 0;
    const auto count = static_cast<std::uint32_t>(members.size());
    if (!WorkerProcess::write_value(out, count)) return;
    for (const auto& member : members) {
      failed += member->lost ? 1U : 0U;
      frames += member->frames;
      bytes += member->bytes;
      if (!WorkerProcess::write_value(out, static_cast<double>(member->frames) / took)) return;
    }
    if (!WorkerProcess::write_value(out, failed) || !WorkerProcess::write_value(out, frames) ||
        !WorkerProcess::write_value(out, bytes))
      return;
    for (const auto& member : members) member->close();
    run_for(io, 0.1);
  }
}

}  // namespace

ViewerCrowd::ViewerCrowd() : process_("the scripted viewers", serve_orders) {
}

void ViewerCrowd::connect(std::uint16_t port, const std::string& key, std::uint32_t viewers) {
  Order order;
  order.viewers = viewers;
  order.port = port;
  std::strncpy(order.key, key.c_str(), sizeof order.key - 1);
  process_.tell(order);
  if (const auto failed = process_.hear<std::uint32_t>(); failed > 0)
    throw Error(std::to_string(failed) + " scripted viewers could not connect.");
}

void ViewerCrowd::begin_counting(double seconds) {
  process_.tell(seconds);
}

CrowdResult ViewerCrowd::result() {
  CrowdResult result;
  const auto count = process_.hear<std::uint32_t>();
  for (std::uint32_t i = 0; i < count; ++i) result.frames_per_second.push_back(process_.hear<double>());
  result.failed = process_.hear<std::uint32_t>();
  const auto frames = process_.hear<std::uint64_t>(), bytes = process_.hear<std::uint64_t>();
  if (frames > 0) result.bytes_per_frame = static_cast<double>(bytes) / static_cast<double>(frames);
  return result;
}

}  // namespace cotouch
