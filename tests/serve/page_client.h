// A client of the server over real loopback sockets. Boost.Beast, which is slow to compile, stays in the source file.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cotouch::testing_serve {

using Json = nlohmann::json;
using Headers = std::vector<std::pair<std::string, std::string>>;

inline const std::string k_token(32, 't');
inline const Json k_hello{{"type", "hello"}, {"protocol", 2}};

// The server refused the connection or ended it.
struct ConnectionLost : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Answer {
  unsigned status = 0;
  std::string body;
  std::map<std::string, std::string> headers;  // by name in lower case

  // Empty if there is none.
  std::string header(const std::string& lower_case_name) const {
    const auto found = headers.find(lower_case_name);
    return found == headers.end() ? std::string() : found->second;
  }
};

struct Request {
  std::string method = "GET";
  std::string target = "/";
  std::string body = {};
  Headers headers = {};    // these replace what the client would say itself
  bool chunked = false;    // does not say how long its body is
  std::string token = {};  // not empty: proves first, on the same connection, that it knows it
  std::string key = {};    // of somebody who did so already
};

// One request on a connection of its own.
Answer ask(std::uint16_t port, const Request& request);
Answer get(std::uint16_t port, const std::string& target, const Headers& headers = {});
Answer post(std::uint16_t port, const std::string& target, const std::string& body = {});
// By the link with this token.
Answer get_in(std::uint16_t port, const std::string& target, const Headers& headers = {},
              const std::string& token = k_token);
Answer post_in(std::uint16_t port, const std::string& target, const std::string& body = {},
               const std::string& token = k_token);

// A connection that says something which is no whole request.
class RawConnection {
 public:
  RawConnection(std::uint16_t port, const std::string& text);
  ~RawConnection();
  void send(const std::string& text);
  // Waits until the server hangs up, for ever if it never does; false if it says something first.
  bool hung_up();
  // All that the server says until it hangs up.
  std::string rest();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

struct PageSettings {
  std::string token = k_token;
  std::string origin = {};  // none if empty
  int receive_buffer = 0;   // bytes; the system's choice if 0
  Json hello = k_hello;     // said at once; nothing if null
};

// A page, as far as the server can tell. Whatever it does throws ConnectionLost once the server has closed the feed.
class Page {
 public:
  explicit Page(std::uint16_t port, const PageSettings& settings = {});
  ~Page();

  struct Message {
    bool text = false;
    std::string bytes;
  };
  Message read();
  Json read_text(const std::string& type);
  // The next state frame for which `wanted` holds.
  std::string read_state(const std::function<bool(const std::string&)>& wanted = nullptr);

  void send(const Json& json);
  void send_text(std::string_view text);
  void send_binary(std::string_view bytes);
  // A piece of a text, which others follow until the last.
  void send_piece(std::string_view text, bool last);
  void ping();

  // Reads until the server closes; the code and reason it gave.
  struct Closed {
    unsigned code = 0;
    std::string reason;
  };
  Closed closed();

  const std::string& key() const;  // that it came with

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace cotouch::testing_serve
