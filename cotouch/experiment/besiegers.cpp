#include <cotouch/base/error.h>
#include <cotouch/experiment/besiegers.h>
#include <cotouch/experiment/rude_client.h>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <memory>
#include <string_view>
#include <thread>

namespace cotouch {
namespace {

constexpr std::size_t k_copied = 4U << 20;  // bytes, more than a core's own cache holds

using Clock = RudeClient::Clock;
using std::chrono::milliseconds;

struct Order {
  std::uint16_t port = 0;
  char key[129] = {};
  double seconds = 0;
  std::uint32_t kinds = 0;  // a bit each; none is a load without an attack
};
struct Count {
  std::uint64_t tried = 0, refused = 0;
  void refuse_if(bool refusal) { refused += std::uint64_t{refusal}; }
};

// One attack: who to attack and when to stop.
struct Target {
  std::uint16_t port;
  std::string key;
  Clock::time_point until;
  std::string request(std::string_view method, std::string_view what, std::string_view more_head = {}) const {
    return RudeClient::request(port, method, what, key, more_head);
  }
  bool goes_on() const { return Clock::now() < until; }
  void pause(milliseconds time) const { std::this_thread::sleep_for(time); }
};

bool is_refusal(std::string_view answer) {
  return answer.size() > 12 && (answer[9] == '4' || answer[9] == '5');
}

using Crowd = std::vector<std::unique_ptr<RudeClient>>;

void count_open(const Crowd& crowd, Count& count) {
  for (const auto& client : crowd) count.refuse_if(!client->open());
}

// Feeds that ask for everything and read nothing.
Count never_read(const Target& target) {
  Count count;
  Crowd crowd;
  while (target.goes_on()) {
    if (crowd.size() < 24) {
      crowd.push_back(std::make_unique<RudeClient>(target.port, target.until, 4096));
      ++count.tried;
      if (!crowd.back()->become_viewer(target.key) ||
          !crowd.back()->send_text(R"({"type":"view","traversed":true,"near":true,"fps":60})"))
        ++count.refused;
    }
    target.pause(milliseconds(20));
  }
  return count;
}

// Many connections, each with requests one after another whose answers it does not read.
Count pipeline(const Target& target) {
  Count count;
  Crowd crowd;
  std::string requests;
  for (int i = 0; i < 50; ++i) requests += target.request("GET", "/api/scene");
  while (target.goes_on()) {
    if (crowd.size() == 256) crowd.erase(crowd.begin());
    crowd.push_back(std::make_unique<RudeClient>(target.port, target.until, 4096));
    ++count.tried;
    count.refuse_if(!crowd.back()->send(requests, milliseconds(5)));
    for (const auto& client : crowd)
      if (client->open()) client->send(requests.substr(0, 200), milliseconds(0));
    target.pause(milliseconds(2));
  }
  return count;
}

// A message that never ends, in pieces that hold nothing.
Count empty_continuations(const Target& target) {
  Count count;
  std::string pieces;
  for (int i = 0; i < 500; ++i) pieces += RudeClient::frame(0x00, {});
  while (target.goes_on()) {
    RudeClient client(target.port, target.until);
    if (!client.become_viewer(target.key) || !client.send(RudeClient::frame(0x01, "{"))) {
      target.pause(milliseconds(50));
      continue;
    }
    ++count.tried;
    const auto begin = Clock::now();
    while (target.goes_on() && client.send(pieces) && Clock::now() - begin < std::chrono::seconds(5)) {
      while (!client.receive(milliseconds(0)).empty()) {
      }
    }
    count.refuse_if(client.is_closed_within(milliseconds(200)));
  }
  return count;
}

// The same with pings in between, each of which asks for an answer.
Count pings_between(const Target& target) {
  Count count;
  std::string pieces;
  for (int i = 0; i < 200; ++i) pieces += RudeClient::frame(0x00, "x") + RudeClient::frame(0x89, std::string(125, 'p'));
  while (target.goes_on()) {
    RudeClient client(target.port, target.until, 4096);
    if (!client.become_viewer(target.key) || !client.send(RudeClient::frame(0x01, "{"))) {
      target.pause(milliseconds(50));
      continue;
    }
    ++count.tried;
    while (target.goes_on() && client.send(pieces)) {
    }
    count.refuse_if(client.is_closed_within(milliseconds(200)));
  }
  return count;
}

// Commands whose effect every page is told of, as fast as they are taken.
Count text_flood(const Target& target) {
  Count count;
  const std::array<std::string_view, 4> commands{
      R"({"type":"hello","protocol":2,"name":"a","id":1})", R"({"type":"hello","protocol":2,"name":"b"})",
      R"({"type":"settings","contact_stiffness":20000,"id":2})", R"({"type":"chat","text":"look here","id":3})"};
  while (target.goes_on()) {
    RudeClient client(target.port, target.until);
    if (!client.become_viewer(target.key)) {
      target.pause(milliseconds(50));
      continue;
    }
    bool taken = true;
    for (std::size_t i = 0; taken && target.goes_on(); ++i) {
      ++count.tried;
      taken = client.send_text(commands[i % commands.size()]);
      const std::string answer = client.receive(milliseconds(0));
      for (std::size_t at = answer.find("\"ok\":false"); at != std::string::npos;
           at = answer.find("\"ok\":false", at + 1))
        ++count.refused;
      taken = taken && client.open();
      if (i % 16 == 0) target.pause(milliseconds(5));
    }
    if (!taken) ++count.refused;
  }
  return count;
}

// Recordings begun and ended over and over, to fill the disk.
Count recording_loop(const Target& target) {
  Count count;
  while (target.goes_on()) {
    RudeClient client(target.port, target.until);
    if (!client.become_viewer(target.key)) {
      target.pause(milliseconds(50));
      continue;
    }
    while (target.goes_on() && client.open()) {
      ++count.tried;
      client.send_text(R"({"type":"record_start","id":1})");
      client.send_text(R"({"type":"record_stop","id":2})");
      std::string answer = client.receive(milliseconds(20));
      count.refuse_if(answer.find("\"ok\":false") != std::string::npos || !client.open());
      while (!client.receive(milliseconds(0)).empty()) {
      }
    }
  }
  return count;
}

// Long answers that nobody reads.
Count unread_exports(const Target& target) {
  Count count;
  Crowd crowd;
  while (target.goes_on()) {
    if (crowd.size() == 48) crowd.erase(crowd.begin());
    crowd.push_back(std::make_unique<RudeClient>(target.port, target.until, 4096));
    for (const char* what : {"/api/mesh/1?scene=1", "/api/mesh/2?scene=1", "/assets/", "/api/recordings"}) {
      ++count.tried;
      count.refuse_if(!crowd.back()->send(target.request("GET", what), milliseconds(5)));
    }
    target.pause(milliseconds(10));
  }
  return count;
}

// Heads that come one letter at a time.
Count slow_heads(const Target& target) {
  Count count;
  Crowd crowd;
  const std::string head = target.request("GET", "/api/hello");
  for (std::size_t letter = 0; target.goes_on(); ++letter) {
    while (crowd.size() < 64) {
      crowd.push_back(std::make_unique<RudeClient>(target.port, target.until));
      ++count.tried;
    }
    for (auto& client : crowd) {
      client->send(std::string_view(head).substr(letter % (head.size() - 2), 1), milliseconds(0));
      client->receive(milliseconds(0));
    }
    count_open(crowd, count);
    std::erase_if(crowd, [](const auto& client) { return !client->open(); });
    target.pause(milliseconds(100));
  }
  return count;
}

// Files that are announced and then come slowly, are too long, or are no files.
Count false_uploads(const Target& target) {
  Count count;
  Crowd crowd;
  while (target.goes_on()) {
    const auto announce = [&](std::uint64_t length) {
      std::string more = "Content-Length: ";
      more.append(std::to_string(length)).append("\r\n");
      return target.request("POST", "/api/upload?name=part.stl", more);
    };
    if (crowd.size() == 16) crowd.erase(crowd.begin());
    crowd.push_back(std::make_unique<RudeClient>(target.port, target.until));
    crowd.back()->send(announce(200U << 20), milliseconds(5));
    crowd.back()->send(std::string(64U << 10, 's'), milliseconds(5));
    RudeClient huge(target.port, target.until), rubbish(target.port, target.until);
    huge.send(announce(std::uint64_t{1} << 50), milliseconds(5));
    rubbish.send(announce(20) + "solid rubbish facet!", milliseconds(5));
    count.tried += 3;
    count.refuse_if(is_refusal(crowd.back()->receive(milliseconds(20))));
    count.refuse_if(is_refusal(huge.receive(milliseconds(20))));
    count.refuse_if(is_refusal(rubbish.receive(milliseconds(20))));
  }
  return count;
}

// Guesses of the key, half of them as feeds.
Count wrong_keys(const Target& target) {
  Count count;
  std::string guess = target.key;
  while (target.goes_on()) {
    RudeClient client(target.port, target.until);
    for (std::size_t digit = 0; digit < 16; ++digit)
      guess[guess.size() - 1 - digit] = "0123456789abcdef"[count.tried >> (4 * digit) & 15];
    ++count.tried;
    client.send(RudeClient::request(target.port, "GET", count.tried % 2 ? "/api/scene" : "/feed", guess),
                milliseconds(5));
    const std::string answer = client.receive(milliseconds(100));
    count.refuse_if(is_refusal(answer) || !client.open());
    target.pause(milliseconds(1));
  }
  return count;
}

// What is no HTTP at all, and heads without end.
Count garbage(const Target& target) {
  Count count;
  std::string noise(4096, '\0');
  for (std::size_t i = 0; i < noise.size(); ++i) noise[i] = static_cast<char>(i * 37 + i / 7);
  while (target.goes_on()) {
    RudeClient client(target.port, target.until);
    ++count.tried;
    if (count.tried % 2)
      client.send(noise, milliseconds(5));
    else
      client.send("GET / HTTP/1.1\r\nX: " + std::string(20'000, 'x'), milliseconds(5));
    const std::string answer = client.receive(milliseconds(100));
    count.refuse_if(is_refusal(answer) || !client.open());
    target.pause(milliseconds(2));
  }
  return count;
}

// What many connections do to the caches, with nobody at the other end.
void copy_memory(const Target& target) {
  std::vector<char> from(k_copied), to(k_copied);
  while (target.goes_on()) {
    std::memcpy(to.data(), from.data(), from.size());
    std::swap(from, to);
  }
}

struct Kind {
  const char* name;
  Count (*attack)(const Target&);
};
constexpr std::array k_kinds{Kind{"never-read", never_read},
                             Kind{"pipeline", pipeline},
                             Kind{"empty-continuations", empty_continuations},
                             Kind{"pings-between", pings_between},
                             Kind{"text-flood", text_flood},
                             Kind{"recording-loop", recording_loop},
                             Kind{"unread-exports", unread_exports},
                             Kind{"slow-heads", slow_heads},
                             Kind{"false-uploads", false_uploads},
                             Kind{"wrong-keys", wrong_keys},
                             Kind{"garbage", garbage}};

template <class T>
bool write_all(int fd, const T& value) {
  return ::write(fd, &value, sizeof value) == static_cast<ssize_t>(sizeof value);
}
template <class T>
bool read_all(int fd, T& value) {
  return ::read(fd, &value, sizeof value) == static_cast<ssize_t>(sizeof value);
}

void command(int child, const Order& order) {
  if (!write_all(child, order)) throw Error("The besiegers' process ended.");
}

// The child's whole life: orders come in, counts go out, until the pipe closes.
void serve_orders(int in, int out) {
  // The real ones have processors of their own; what they take of this machine's is not what is tried here.
  ::setpriority(PRIO_PROCESS, 0, 19);
  for (Order order; read_all(in, order);) {
    const Target target{order.port, order.key,
                        Clock::now() + milliseconds(static_cast<std::int64_t>(order.seconds * 1000))};
    std::array<Count, k_kinds.size()> counts{};
    {
      std::vector<std::jthread> threads;
      for (std::size_t i = 0; i < k_kinds.size(); ++i)
        if (order.kinds >> i & 1U) threads.emplace_back([&, i] { counts[i] = k_kinds[i].attack(target); });
      for (unsigned core = 0; order.kinds == 0 && core < std::thread::hardware_concurrency(); ++core)
        threads.emplace_back([&target] { copy_memory(target); });
    }
    if (!write_all(out, counts)) return;
  }
}

}  // namespace

Besiegers::Besiegers() {
  int down[2], up[2];
  if (::pipe(down) != 0 || ::pipe(up) != 0) throw Error("The system gave no pipe for the besiegers.");
  child_ = ::fork();
  if (child_ < 0) throw Error("The system started no process for the besiegers.");
  if (child_ == 0) {
    ::close(down[1]);
    ::close(up[0]);
    serve_orders(down[0], up[1]);
    ::_exit(0);
  }
  ::close(down[0]);
  ::close(up[1]);
  to_child_ = down[1];
  from_child_ = up[0];
}

Besiegers::~Besiegers() {
  ::close(to_child_);
  ::close(from_child_);
  ::waitpid(child_, nullptr, 0);
}

std::vector<std::string> Besiegers::kinds() {
  std::vector<std::string> names;
  for (const Kind& kind : k_kinds) names.emplace_back(kind.name);
  return names;
}

void Besiegers::attack(std::uint16_t port, const std::string& key, double seconds,
                       const std::vector<std::string>& kinds) {
  Order order;
  order.port = port;
  std::strncpy(order.key, key.c_str(), sizeof order.key - 1);
  order.seconds = seconds;
  for (std::size_t i = 0; i < k_kinds.size(); ++i) {
    bool wanted = kinds.empty();
    for (const std::string& kind : kinds) wanted = wanted || kind == k_kinds[i].name;
    if (wanted) order.kinds |= 1U << i;
  }
  command(to_child_, order);
}

void Besiegers::only_load(double seconds) {
  Order order;
  order.seconds = seconds;
  command(to_child_, order);
}

std::vector<AttackCount> Besiegers::result() {
  std::array<Count, k_kinds.size()> counts{};
  if (!read_all(from_child_, counts)) throw Error("The besiegers' process ended.");
  std::vector<AttackCount> out;
  for (std::size_t i = 0; i < k_kinds.size(); ++i)
    if (counts[i].tried > 0) out.push_back({k_kinds[i].name, counts[i].tried, counts[i].refused});
  return out;
}

}  // namespace cotouch
