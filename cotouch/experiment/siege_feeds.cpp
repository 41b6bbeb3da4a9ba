// Attacks by feeds: WebSockets that break the rules, and pages that ask for too much.
#include <cotouch/experiment/siege_attack.h>

#include <array>
#include <thread>

namespace cotouch {

// Feeds that ask for everything and read nothing.
AttackTally never_read(const AttackTarget& target) {
  AttackTally count;
  RudeCrowd crowd;
  while (target.goes_on(count)) {
    if (crowd.size() < 24) {
      crowd.push_back(target.client(count, 4096));
      ++count.tried;
      if (!crowd.back()->become_viewer(target.key) ||
          !crowd.back()->send_text(R"({"type":"view","traversed":true,"near":true,"fps":60})"))
        ++count.refused;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return count;
}

// A message that never ends, in pieces that hold nothing.
AttackTally empty_continuations(const AttackTarget& target) {
  AttackTally count;
  std::string pieces;
  for (int i = 0; i < 500; ++i) pieces += RudeClient::frame(0x00, {});
  while (target.goes_on(count)) {
    const auto client = target.client(count);
    if (!client->become_viewer(target.key) || !client->send(RudeClient::frame(0x01, "{"))) {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      continue;
    }
    ++count.tried;
    const auto begin = RudeClient::Clock::now();
    while (target.goes_on(count) && client->send(pieces) &&
           RudeClient::Clock::now() - begin < std::chrono::seconds(5)) {
      while (!client->receive(std::chrono::milliseconds(0)).empty()) {
      }
    }
    count.refuse_if(client->is_closed_within(std::chrono::milliseconds(200)));
  }
  return count;
}

// The same with pings in between, each of which asks for an answer.
AttackTally pings_between(const AttackTarget& target) {
  AttackTally count;
  std::string pieces;
  for (int i = 0; i < 200; ++i) pieces += RudeClient::frame(0x00, "x") + RudeClient::frame(0x89, std::string(125, 'p'));
  while (target.goes_on(count)) {
    const auto client = target.client(count, 4096);
    if (!client->become_viewer(target.key) || !client->send(RudeClient::frame(0x01, "{"))) {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      continue;
    }
    ++count.tried;
    while (target.goes_on(count) && client->send(pieces)) {
    }
    count.refuse_if(client->is_closed_within(std::chrono::milliseconds(200)));
  }
  return count;
}

// Commands whose effect every page is told of, as fast as they are taken.
AttackTally flood_of_commands(const AttackTarget& target) {
  AttackTally count;
  const std::array<std::string_view, 4> commands{
      R"({"type":"hello","protocol":2,"name":"a","id":1})", R"({"type":"hello","protocol":2,"name":"b"})",
      R"({"type":"settings","contact_stiffness":20000,"id":2})", R"({"type":"chat","text":"look here","id":3})"};
  while (target.goes_on(count)) {
    const auto client = target.client(count);
    if (!client->become_viewer(target.key)) {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      continue;
    }
    bool taken = true;
    for (std::size_t i = 0; taken && target.goes_on(count); ++i) {
      ++count.tried;
      taken = client->send_text(commands[i % commands.size()]);
      const std::string answer = client->receive(std::chrono::milliseconds(0));
      for (std::size_t at = answer.find("\"ok\":false"); at != std::string::npos;
           at = answer.find("\"ok\":false", at + 1))
        ++count.refused;
      taken = taken && client->open();
      if (i % 16 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    if (!taken) ++count.refused;
  }
  return count;
}

// Recordings begun and ended over and over, to fill the disk.
AttackTally recordings_in_a_loop(const AttackTarget& target) {
  AttackTally count;
  while (target.goes_on(count)) {
    const auto client = target.client(count);
    if (!client->become_viewer(target.key)) {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      continue;
    }
    while (target.goes_on(count) && client->open()) {
      ++count.tried;
      client->send_text(R"({"type":"record_start","id":1})");
      client->send_text(R"({"type":"record_stop","id":2})");
      std::string answer = client->receive(std::chrono::milliseconds(20));
      count.refuse_if(answer.find("\"ok\":false") != std::string::npos || !client->open());
      while (!client->receive(std::chrono::milliseconds(0)).empty()) {
      }
    }
  }
  return count;
}

}  // namespace cotouch
