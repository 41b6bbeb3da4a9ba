// What the serve tests share: a small scene from functions, and a client over real loopback sockets.
#pragma once

#include <cotouch/base/error.h>
#include <cotouch/serve/scene_file.h>
#include <cotouch/serve/studio.h>
#include <cotouch/shapes/shapes.h>

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

#include "support/eventually.h"

namespace cotouch::testing_serve {

namespace net = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
namespace websocket = beast::websocket;
using tcp = net::ip::tcp;
using Json = nlohmann::json;

inline const std::string k_token(32, 't');

// A ball of 2 cm radius at the origin and another one 5 cm above it, in the hand.
inline std::shared_ptr<const Part> ball() {
  static const auto k_part = [] {
    auto part = std::make_shared<Part>();
    part->name = "ball";
    part->mesh = make_sphere(0.02, 2);
    part->settings.field.resolution = 24;
    part->settings.shell.points = 256;
    part->field = build_field([](const Vec3d& p) { return norm(p) - 0.02; }, part->mesh.bounds(), part->settings.field);
    NoProgress none;
    part->shell = build_shell(part->field, part->settings.shell, none);
    return part;
  }();
  return k_part;
}

inline LoadedScene two_balls() {
  LoadedScene scene;
  scene.name = "balls";
  scene.title = "Two balls";
  scene.moving = Moving::shell;
  ScenePart rest = make_scene_part(ball()), held = make_scene_part(ball());
  rest.id = 1;
  held.id = 2;
  held.moving = true;
  held.pose.position = {0, 0, 0.05};
  scene.parts = {rest, held};
  return scene;
}

class TestLibrary final : public SceneLibrary {
 public:
  explicit TestLibrary(std::filesystem::path folder) : folder_(std::move(folder)) {}
  std::vector<SceneEntry> list() override { return {{"balls", "Two balls", "Two balls.", false, false}}; }
  LoadedScene load(const std::string& name, Progress& progress) override {
    if (name == "balls") return two_balls();
    if (!std::filesystem::exists(folder_ / name / "scene.toml")) throw Error("There is no scene '" + name + "'.");
    LoadedScene scene = load_scene_file(folder_ / name / "scene.toml", progress);
    scene.name = name;
    return scene;
  }
  std::string thumbnail(const std::string&) override { return {}; }
  std::filesystem::path save(const LoadedScene& scene, const std::string& name) override {
    return save_scene(scene, name, folder_ / name);
  }
  void remove(const std::string& name) override {
    if (std::filesystem::remove_all(folder_ / name) == 0) throw Error("There is no scene '" + name + "'.");
  }

 private:
  std::filesystem::path folder_;
};

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

// A page, as far as the server can tell.
class Page {
 public:
  explicit Page(std::uint16_t port, const std::string& token = k_token,
                const std::function<void(websocket::request_type&)>& change = nullptr, int receive_buffer = 0)
      : socket_(io_) {
    auto& lowest = socket_.next_layer();
    lowest.open(tcp::v4());
    if (receive_buffer > 0) lowest.set_option(net::socket_base::receive_buffer_size(receive_buffer));
    lowest.connect({net::ip::address_v4::loopback(), port});
    if (change) socket_.set_option(websocket::stream_base::decorator(change));
    socket_.read_message_max(0);
    socket_.handshake("127.0.0.1:" + std::to_string(port), "/feed?token=" + token);
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

inline std::string hand_input(std::uint32_t sequence, std::uint32_t generation, const Vec3d& position) {
  std::string bytes = "CT\x01\x10";
  const auto put = [&](const auto& value) { bytes.append(reinterpret_cast<const char*>(&value), sizeof value); };
  put(std::uint32_t{48});
  put(sequence);
  put(generation);
  put(std::uint32_t{0});
  for (const double v : {position.x, position.y, position.z, 1.0, 0.0, 0.0, 0.0}) put(static_cast<float>(v));
  return bytes;
}

}  // namespace cotouch::testing_serve
