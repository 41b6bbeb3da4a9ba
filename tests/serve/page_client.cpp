#include "serve/page_client.h"

#include <cotouch/serve/door.h>

#include <atomic>
#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/buffers_to_string.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>
#include <boost/beast/websocket/stream.hpp>

namespace cotouch::testing_serve {
namespace {

namespace net = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
namespace websocket = beast::websocket;
using tcp = net::ip::tcp;

// Tests know of no Boost, so they are told in other words.
template <class Action>
auto or_lost(Action action) {
  try {
    return action();
  } catch (const boost::system::system_error& error) {
    throw ConnectionLost(error.what());
  }
}

std::string lower_case(std::string text) {
  for (char& c : text)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return text;
}

std::string host(std::uint16_t port) {
  return "127.0.0.1:" + std::to_string(port);
}

// The key of somebody who knows the token; empty if the server has no such link. Throws ConnectionLost if the server
// does not know the token itself.
std::string sign_in(tcp::socket& socket, std::uint16_t port, const std::string& token) {
  static std::atomic<std::uint64_t> number{1000};
  const std::string page = "abcdef0123456789" + std::to_string(++number);
  http::request<http::empty_body> message(http::verb::get, "/door?link=" + link_id(token) + "&number=" + page, 11);
  message.set(http::field::host, host(port));
  http::write(socket, message);
  beast::flat_buffer buffer;
  http::response<http::string_body> answer;
  http::read(socket, buffer, answer);
  if (answer.result_int() != 200) return {};
  const Json told = Json::parse(answer.body());
  const std::string server = told["number"], own_host = host(port);
  const DoorMeeting meeting{page, server, own_host};
  if (told["proof"] != server_proof(token, meeting)) throw ConnectionLost("the server does not know the token");
  return make_key(token, meeting);
}

}  // namespace

Answer ask(std::uint16_t port, const Request& request) {
  return or_lost([&] {
    net::io_context io;
    tcp::socket socket(io);
    socket.connect({net::ip::address_v4::loopback(), port});
    const std::string key = request.token.empty() ? request.key : sign_in(socket, port, request.token);
    http::request<http::string_body> message;
    message.version(11);
    message.method_string(request.method);
    message.target(request.target);
    message.set(http::field::host, host(port));
    if (!key.empty()) message.set("X-Cotouch-Key", key);
    message.body() = request.body;
    message.prepare_payload();
    if (request.chunked) {
      message.erase(http::field::content_length);
      message.chunked(true);
    }
    for (const auto& [name, value] : request.headers) message.set(name, value);
    boost::system::error_code ignored;  // the server may hang up before it has read everything
    http::write(socket, message, ignored);
    beast::flat_buffer buffer;
    http::response_parser<http::string_body> parser;
    parser.body_limit(boost::none);
    http::read(socket, buffer, parser);
    Answer answer;
    answer.status = parser.get().result_int();
    for (const auto& field : parser.get())
      answer.headers[lower_case(std::string(field.name_string()))] = std::string(field.value());
    answer.body = std::move(parser.get().body());
    return answer;
  });
}

Answer get(std::uint16_t port, const std::string& target, const Headers& headers) {
  return ask(port, {.target = target, .headers = headers});
}

Answer post(std::uint16_t port, const std::string& target, const std::string& body) {
  return ask(port, {.method = "POST", .target = target, .body = body});
}

Answer get_in(std::uint16_t port, const std::string& target, const Headers& headers, const std::string& token) {
  return ask(port, {.target = target, .headers = headers, .token = token});
}

Answer post_in(std::uint16_t port, const std::string& target, const std::string& body, const std::string& token) {
  return ask(port, {.method = "POST", .target = target, .body = body, .token = token});
}

// ------------------------------------------------------------------------------------------------ raw

struct RawConnection::Impl {
  net::io_context io;
  tcp::socket socket{io};
};

RawConnection::RawConnection(std::uint16_t port, const std::string& text) : impl_(std::make_unique<Impl>()) {
  or_lost([&] {
    impl_->socket.connect({net::ip::address_v4::loopback(), port});
    net::write(impl_->socket, net::buffer(text));
  });
}

RawConnection::~RawConnection() = default;

void RawConnection::send(const std::string& text) {
  or_lost([&] { net::write(impl_->socket, net::buffer(text)); });
}

bool RawConnection::hung_up() {
  char byte = 0;
  boost::system::error_code error;
  net::read(impl_->socket, net::buffer(&byte, 1), error);
  return error.failed();
}

std::string RawConnection::rest() {
  std::string text;
  boost::system::error_code error;
  net::read(impl_->socket, net::dynamic_buffer(text), error);
  return text;
}

// ------------------------------------------------------------------------------------------------ page

struct Page::Impl {
  net::io_context io;
  websocket::stream<tcp::socket, false> socket{io};
  std::string key;
};

Page::Page(std::uint16_t port, const PageSettings& settings) : impl_(std::make_unique<Impl>()) {
  or_lost([&] {
    auto& socket = impl_->socket;
    tcp::socket& lowest = socket.next_layer();
    lowest.open(tcp::v4());
    if (settings.receive_buffer > 0) lowest.set_option(net::socket_base::receive_buffer_size(settings.receive_buffer));
    lowest.connect({net::ip::address_v4::loopback(), port});
    impl_->key = sign_in(lowest, port, settings.token);
    socket.set_option(websocket::stream_base::decorator([&](websocket::request_type& request) {
      if (!settings.origin.empty()) request.set(http::field::origin, settings.origin);
      request.set(http::field::sec_websocket_protocol, "cotouch, key." + impl_->key);
    }));
    socket.read_message_max(0);
    socket.handshake(host(port), "/feed");
  });
  if (!settings.hello.is_null()) send(settings.hello);
}

Page::~Page() = default;

const std::string& Page::key() const {
  return impl_->key;
}

Page::Message Page::read() {
  return or_lost([&] {
    beast::flat_buffer buffer;
    impl_->socket.read(buffer);
    return Message{impl_->socket.got_text(), beast::buffers_to_string(buffer.data())};
  });
}

Json Page::read_text(const std::string& type) {
  for (;;) {
    const Message message = read();
    if (!message.text) continue;
    Json json = Json::parse(message.bytes);
    if (json["type"] == type) return json;
  }
}

std::string Page::read_state(const std::function<bool(const std::string&)>& wanted) {
  for (;;) {
    const Message message = read();
    if (!message.text && message.bytes[3] == 1 && (!wanted || wanted(message.bytes))) return message.bytes;
  }
}

void Page::send(const Json& json) {
  send_text(json.dump());
}

void Page::send_text(std::string_view text) {
  send_piece(text, true);
}

void Page::send_binary(std::string_view bytes) {
  impl_->socket.binary(true);
  or_lost([&] { impl_->socket.write(net::buffer(bytes)); });
}

void Page::send_piece(std::string_view text, bool last) {
  impl_->socket.text(true);
  or_lost([&] { impl_->socket.write_some(last, net::buffer(text)); });
}

void Page::ping() {
  or_lost([&] { impl_->socket.ping({}); });
}

Page::Closed Page::closed() {
  boost::system::error_code error;
  while (!error) {
    beast::flat_buffer buffer;
    impl_->socket.read(buffer, error);
  }
  const websocket::close_reason& reason = impl_->socket.reason();
  return {reason.code, reason.reason.c_str()};
}

}  // namespace cotouch::testing_serve
