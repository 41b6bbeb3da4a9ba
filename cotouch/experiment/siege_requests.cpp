// Attacks by requests: many, slow, unread, forged, or none at all.
#include <cotouch/experiment/siege_attack.h>

#include <array>
#include <thread>

namespace cotouch {
namespace {

// Of the scene that is open: meshes are asked for by it.
std::string generation_of_scene(const AttackTarget& target, const AttackTally& count) {
  const auto client = target.client(count);
  client->send(target.request("GET", "/api/scene"));
  return RudeClient::number_in(client->receive(), "generation");
}

}  // namespace

// Many connections, each with requests one after another whose answers it does not read.
AttackTally pipeline(const AttackTarget& target) {
  AttackTally count;
  RudeCrowd crowd;
  std::string requests;
  for (int i = 0; i < 50; ++i) requests += target.request("GET", "/api/scene");
  while (target.goes_on(count)) {
    if (crowd.size() == 256) crowd.erase(crowd.begin());
    crowd.push_back(target.client(count, 4096));
    ++count.tried;
    count.refuse_if(!crowd.back()->send(requests, std::chrono::milliseconds(5)));
    for (const auto& client : crowd)
      if (client->open()) client->send(requests.substr(0, 200), std::chrono::milliseconds(0));
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return count;
}

// Long answers that nobody reads.
AttackTally unread_exports(const AttackTarget& target) {
  AttackTally count;
  RudeCrowd crowd;
  const std::string scene = "?scene=" + generation_of_scene(target, count);
  const std::array<std::string, 4> exports{"/api/mesh/1" + scene, "/api/mesh/2" + scene, "/assets/", "/api/recordings"};
  while (target.goes_on(count)) {
    if (crowd.size() == 48) crowd.erase(crowd.begin());
    crowd.push_back(target.client(count, 4096));
    for (const std::string& what : exports) {
      ++count.tried;
      count.refuse_if(!crowd.back()->send(target.request("GET", what), std::chrono::milliseconds(5)));
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return count;
}

// Heads that come one letter at a time.
AttackTally slow_heads(const AttackTarget& target) {
  AttackTally count;
  RudeCrowd crowd;
  const std::string head = target.request("GET", "/api/hello");
  for (std::size_t letter = 0; target.goes_on(count); ++letter) {
    while (crowd.size() < 64) {
      crowd.push_back(target.client(count));
      ++count.tried;
    }
    for (auto& client : crowd) {
      client->send(std::string_view(head).substr(letter % (head.size() - 2), 1), std::chrono::milliseconds(0));
      client->receive(std::chrono::milliseconds(0));
    }
    for (const auto& client : crowd) count.refuse_if(!client->open());
    std::erase_if(crowd, [](const auto& client) { return !client->open(); });
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  return count;
}

// Guesses of the key, half of them as feeds.
AttackTally wrong_keys(const AttackTarget& target) {
  AttackTally count;
  std::string guess = target.key;
  while (target.goes_on(count)) {
    const auto client = target.client(count);
    for (std::size_t digit = 0; digit < 16; ++digit)
      guess[guess.size() - 1 - digit] = "0123456789abcdef"[count.tried >> (4 * digit) & 15];
    ++count.tried;
    client->send(RudeClient::request(target.port, "GET", count.tried % 2 ? "/api/scene" : "/feed", guess),
                 std::chrono::milliseconds(5));
    const std::string answer = client->receive(std::chrono::milliseconds(100));
    count.refuse_if(RudeClient::is_refusal(answer) || !client->open());
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return count;
}

// What is no HTTP at all, and heads without end.
AttackTally garbage(const AttackTarget& target) {
  AttackTally count;
  std::string noise(4096, '\0');
  for (std::size_t i = 0; i < noise.size(); ++i) noise[i] = static_cast<char>(i * 37 + i / 7);
  while (target.goes_on(count)) {
    const auto client = target.client(count);
    ++count.tried;
    if (count.tried % 2)
      client->send(noise, std::chrono::milliseconds(5));
    else
      client->send("GET / HTTP/1.1\r\nX: " + std::string(20'000, 'x'), std::chrono::milliseconds(5));
    const std::string answer = client->receive(std::chrono::milliseconds(100));
    count.refuse_if(RudeClient::is_refusal(answer) || !client->open());
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return count;
}

}  // namespace cotouch
