// A real server, and up to three clients that say whatever the input says: requests and pieces of them, feeds, frames
// of WebSockets in any order. However that goes, the server lives and answers the next honest request.
#include "net_input.h"

#include <cotouch/experiment/rude_client.h>
#include <cotouch/serve/http_server.h>
#include <cotouch/serve/link_book.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

using namespace cotouch;
using namespace cotouch::fuzzing;

namespace {

class Server final : public RequestHandler, public FeedListener {
 public:
  Server() : http_({}) {
    http_.start(*this, *this, links_);
    key_ = links_.own_key("127.0.0.1:" + std::to_string(http_.port()));
  }
  std::uint16_t port() const { return http_.port(); }
  const std::string& key() const { return key_; }

  HttpResponse answer(HttpRequest request) override {
    require(request.body.size() <= 4096 && request.target.path.starts_with("/api/"));
    return json_response("{\"ok\":true}");
  }
  void viewer_joined(ViewerId viewer, const PageHello& hello) override {
    require(hello.name.size() <= 4096);
    http_.send_text(viewer, "{\"type\":\"hello\"}");
  }
  void viewer_left(ViewerId) override {}
  void viewer_command(ViewerId viewer, const ViewerCommand& command) override {
    if (command.id) http_.send_text(viewer, "{\"type\":\"reply\"}");
  }
  std::string_view viewer_input(ViewerId, const PageInput& input) override {
    require(is_finite(input.pose));
    return {};
  }

 private:
  LinkBook links_{std::string(32, 't')};
  HttpServer http_;
  std::string key_;
};

std::string text_of(const Datagram& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

class Game {
 public:
  Game(Choices& choices, Server& server) : choices_(choices), server_(server) {}

  void play() {
    for (int steps = 0; steps < 24 && !choices_.done(); ++steps) step(clients_[choices_.byte() % clients_.size()]);
    RudeClient honest = open();
    honest.send(RudeClient::request(server_.port(), "GET", "/api/hello", server_.key()));
    const std::string answer = honest.receive();
    if (!answer.starts_with("HTTP/1.1 200")) {
      std::fprintf(stderr, "An honest request got: '%s'\n", answer.c_str());
      std::abort();
    }
  }

 private:
  RudeClient open() { return {server_.port(), RudeClient::Clock::now() + std::chrono::seconds(10)}; }

  void step(std::optional<RudeClient>& client) {
    if (!client || !client->open()) client.emplace(server_.port(), RudeClient::Clock::now() + std::chrono::seconds(10));
    constexpr auto k_now = std::chrono::milliseconds(0);
    static constexpr std::array k_targets{
        "/api/scene", "/api/upload?name=", "/feed", "/door?link=", "/", "/api/links?"};
    static constexpr std::array k_commands{R"({"type":"view","fps":)", R"({"type":"grasp","body":)",
                                           R"({"type":"hello","protocol":2,"name":")", R"({"type":"settings","id":1,)"};
    switch (choices_.byte() % 8) {
      case 0: client->send(text_of(choices_.bytes(300)), k_now); break;
      case 1: {
        const std::string target = k_targets[choices_.byte() % k_targets.size()] + text_of(choices_.bytes(40));
        const char* method = choices_.byte() % 2 == 0 ? "GET" : "POST";
        client->send(RudeClient::request(server_.port(), method, target, server_.key(), text_of(choices_.bytes(80))),
                     k_now);
        break;
      }
      case 2:
        client->send(RudeClient::request(server_.port(), "GET", "/feed", server_.key(),
                                         "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
                                         "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"),
                     k_now);
        client->receive(std::chrono::milliseconds(5));  // what comes before its answer would be refused
        client->send(RudeClient::frame(0x81, R"({"type":"hello","protocol":2})"), k_now);
        break;
      case 3: client->send(RudeClient::frame(choices_.byte(), text_of(choices_.bytes(200))), k_now); break;
      case 4: {
        const std::string command = k_commands[choices_.byte() % k_commands.size()] + text_of(choices_.bytes(60));
        client->send(RudeClient::frame(0x81, command), k_now);
        break;
      }
      case 5: client->receive(k_now); break;
      case 6: client.reset(); break;
      default: client->send(RudeClient::frame(0x82, "CT\x02\x02" + text_of(choices_.bytes(120))), k_now);
    }
  }

  Choices& choices_;
  Server& server_;
  std::array<std::optional<RudeClient>, 3> clients_;
};

}  // namespace

// The server's threads hold something after every run, which would be taken for a leak and searched for each time.
extern "C" const char* __asan_default_options() {  // NOLINT(bugprone-reserved-identifier)
  return "detect_leaks=0";
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static Server& server = *new Server;  // never ends: its threads may be in the midst of something
  Choices choices(data, std::min<std::size_t>(size, 4096));
  Game(choices, server).play();
  return 0;
}
