// What the serve tests share: a client over real loopback sockets.
#pragma once

#include <cotouch/serve/page_host.h>
#include <cotouch/serve/wire_layout.h>

#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/buffers_to_string.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/websocket.hpp>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>

#include "session/session_fixture.h"
#include "support/eventually.h"

namespace cotouch::testing_serve {

namespace net = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
namespace websocket = beast::websocket;
using tcp = net::ip::tcp;
using Json = nlohmann::json;
using testing_session::ball;
using testing_session::TestLibrary;
using testing_session::two_balls;

inline const std::string k_token(32, 't');

struct Answer {
  unsigned status = 0;
  std::string body;
  http::response<http::string_body> head;
};

// One request on a connection of its own; `change` may spoil it before it is sent.
inline Answer ask(std::uint16_t port, http::verb method, const std::string& target, const std::string& body = {},
                  const std::function<void(http::request<http::string_body>&)>& change = nullptr) {
  net::io_context io;
  beast::tcp_stream stream(io);
  stream.connect({net::ip::address_v4::loopback(), port});
  http::request<http::string_body> request(method, target, 11);
  request.set(http::field::host, "127.0.0.1:" + std::to_string(port));
  request.body() = body;
  request.prepare_payload();
  if (change) change(request);
  boost::system::error_code ignored;  // the server may hang up before it has read everything
  http::write(stream, request, ignored);
  beast::flat_buffer buffer;
  http::response_parser<http::string_body> parser;
  parser.body_limit(boost::none);
  http::read(stream, buffer, parser);
  Answer answer;
  answer.head = parser.release();
  answer.status = answer.head.result_int();
  answer.body = answer.head.body();
  return answer;
}

inline const Json k_hello{{"type", "hello"}, {"protocol", 2}};

// A page, as far as the server can tell. Says `hello` at once, or nothing if that is null.
class Page {
 public:
  explicit Page(std::uint16_t port, const std::string& token = k_token,
                const std::function<void(websocket::request_type&)>& change = nullptr, int receive_buffer = 0,
                const Json& hello = k_hello)
      : socket_(io_) {
    auto& lowest = socket_.next_layer();
    lowest.open(tcp::v4());
    if (receive_buffer > 0) lowest.set_option(net::socket_base::receive_buffer_size(receive_buffer));
    lowest.connect({net::ip::address_v4::loopback(), port});
    if (change) socket_.set_option(websocket::stream_base::decorator(change));
    socket_.read_message_max(0);
    socket_.handshake("127.0.0.1:" + std::to_string(port), "/feed?token=" + token);
    if (!hello.is_null()) send(hello);
  }

  struct Message {
    bool text = false;
    std::string bytes;
  };
  // Throws when the server has closed the feed.
  Message read() {
    beast::flat_buffer buffer;
    socket_.read(buffer);
    return {socket_.got_text(), beast::buffers_to_string(buffer.data())};
  }
  Json read_text(const std::string& type) {
    for (;;) {
      const Message message = read();
      if (!message.text) continue;
      Json json = Json::parse(message.bytes);
      if (json["type"] == type) return json;
    }
  }
  // The next state frame for which `wanted` holds.
  std::string read_state(const std::function<bool(const std::string&)>& wanted = nullptr) {
    for (;;) {
      const Message message = read();
      if (!message.text && message.bytes[3] == 1 && (!wanted || wanted(message.bytes))) return message.bytes;
    }
  }
  void send(const Json& json) { send_text(json.dump()); }
  void send_text(const std::string& text) {
    socket_.text(true);
    socket_.write(net::buffer(text));
  }
  void send_binary(const std::string& bytes) {
    socket_.binary(true);
    socket_.write(net::buffer(bytes));
  }
  // Reads until the server closes; the code and reason it gave.
  websocket::close_reason closed() {
    boost::system::error_code error;
    while (!error) {
      beast::flat_buffer buffer;
      socket_.read(buffer, error);
    }
    return socket_.reason();
  }
  websocket::stream<tcp::socket>& socket() { return socket_; }

 private:
  net::io_context io_;
  websocket::stream<tcp::socket> socket_;
};

template <class T>
T number_at(const std::string& bytes, std::size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

// Where the entries of a state frame's section begin, and how many there are; nothing if it has no such section.
struct Section {
  std::size_t at = 0;
  std::uint32_t count = 0;
};
inline Section section_of(const std::string& frame, wire::SectionType type) {
  for (std::size_t at = wire::MessageHead::k_bytes; at < frame.size();) {
    wire::SectionHead head;
    wire::get(frame, at, head);
    at += wire::SectionHead::k_bytes;
    if (head.type == static_cast<std::uint16_t>(type)) return {at, head.count};
    at += (std::size_t{head.entry_bytes} * head.count + 3) / 4 * 4;
  }
  return {};
}
template <class Entry>
Entry first_entry(const std::string& frame, wire::SectionType type) {
  Entry entry;
  if (const Section section = section_of(frame, type); section.count > 0) wire::get(frame, section.at, entry);
  return entry;
}
inline wire::ClockEntry clock_of(const std::string& frame) {
  return first_entry<wire::ClockEntry>(frame, wire::SectionType::clock);
}
inline wire::HandEntry hand_of(const std::string& frame) {
  return first_entry<wire::HandEntry>(frame, wire::SectionType::hands);
}
inline wire::BodyEntry body_of(const std::string& frame) {
  return first_entry<wire::BodyEntry>(frame, wire::SectionType::bodies);
}

// Of the two balls the upper one, body 2, can be taken; the first who takes it gets the hand 1.
inline const Json k_grasp{{"type", "grasp"}, {"body", 2}};
inline const Json k_release{{"type", "release_hand"}, {"hand", 1}};

inline std::string hand_input(std::uint32_t sequence, std::uint32_t generation, const Vec3d& position) {
  std::string bytes;
  wire::MessageHead head{wire::k_version, static_cast<std::uint8_t>(wire::MessageType::hand_input), 0, sequence,
                         generation};
  head.length = wire::MessageHead::k_bytes + wire::HandInput::k_bytes;
  wire::put(bytes, head);
  wire::put(bytes, wire::HandInput{1, 0, {position, {}}});
  return bytes;
}

// Opens the two balls, before anybody is there.
inline void show_balls(Session& session) {
  const ParticipantId who = session.join(ParticipantKind::program, "test");
  session.command(who, ShowScene{two_balls()});
  session.leave(who);
}

}  // namespace cotouch::testing_serve
