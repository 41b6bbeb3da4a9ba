// A client that breaks rules, which a proper library would not let it: plain bytes over a TCP socket of this machine.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace cotouch {

class RudeClient {
 public:
  using Clock = std::chrono::steady_clock;

  // Everything it does ends at `until`. `receive_buffer` in bytes is what the system keeps unread; 0: as usual.
  RudeClient(std::uint16_t port, Clock::time_point until, int receive_buffer = 0);
  ~RudeClient();
  RudeClient(const RudeClient&) = delete;
  RudeClient& operator=(const RudeClient&) = delete;

  bool open() const { return socket_ >= 0; }
  // False where the other side has closed or takes nothing within `patience`.
  bool send(std::string_view bytes, std::chrono::milliseconds patience = std::chrono::milliseconds(1000));
  // What has come within `patience`, at most 64 KiB; empty where nothing has. Closes itself where the other side has.
  std::string receive(std::chrono::milliseconds patience = std::chrono::milliseconds(1000));
  // Reads until the other side closes, also past the end; false if it has not by then.
  bool is_closed_within(std::chrono::milliseconds patience);

  // The feed: its request, the answer (true for 101), and the page's first words.
  bool become_viewer(const std::string& key);
  bool send_text(std::string_view text) { return send(frame(0x81, text)); }

  // Does this answer begin with an error's status?
  static bool is_refusal(std::string_view answer) {
    return answer.size() > 12 && (answer[9] == '4' || answer[9] == '5');
  }
  // The number that an answer of JSON has under this key; empty if it has none.
  static std::string number_in(std::string_view answer, std::string_view key);
  // A WebSocket frame as a client sends it. `head` is FIN and opcode.
  static std::string frame(unsigned char head, std::string_view payload);
  static std::string request(std::uint16_t port, std::string_view method, std::string_view target,
                             const std::string& key, std::string_view more_head = {});

 private:
  bool wait(short events, std::chrono::milliseconds patience) const;

  int socket_ = -1;
  std::uint16_t port_;
  Clock::time_point until_;
};

}  // namespace cotouch
