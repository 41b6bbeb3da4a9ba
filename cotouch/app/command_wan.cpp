#include <cotouch/app/command.h>
#include <cotouch/app/progress_bar.h>
#include <cotouch/app/say.h>
#include <cotouch/base/error.h>
#include <cotouch/net/network_profile.h>
#include <cotouch/net/resolve.h>
#include <cotouch/net/udp_relay.h>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace cotouch {
namespace {

constexpr double k_seconds_between_lines = 5;

// "5" or "5:8": the parts of an option, at least and at most so many.
std::vector<double> numbers_of(const char* option, std::string_view text, std::size_t least, std::size_t most,
                               const char* form) {
  std::vector<double> out;
  for (std::string_view rest = text;;) {
    const std::size_t colon = std::min(rest.find(':'), rest.size());
    double number = 0;
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + colon, number);
    if (error != std::errc{} || end != rest.data() + colon) break;
    out.push_back(number);
    if (colon == rest.size()) {
      if (out.size() < least || out.size() > most) break;
      return out;
    }
    rest.remove_prefix(colon + 1);
  }
  throw Error(fmt::format("'{} {}' is not understood; write it as {} {}.", option, text, option, form),
              ErrorCode::invalid_argument);
}

// What the flags say of a link, on top of what it is already.
void apply(const WanCommand& command, LinkProfile& link) {
  const auto set = [](const std::optional<double>& given, double divide, double& value) {
    if (given) value = *given / divide;
  };
  // The profile's limits go with its delay, and are not for another jitter.
  if (command.delay_ms && !command.jitter_ms && link.jitter > 0) {
    link.shortest = std::max(0.0, link.shortest + (*command.delay_ms / 1000 - link.delay));
    link.longest = std::min(k_longest_delay, link.longest + (*command.delay_ms / 1000 - link.delay));
  } else if (command.delay_ms || command.jitter_ms) {
    link.shortest = 0;
    link.longest = k_longest_delay;
  }
  set(command.delay_ms, 1000, link.delay);
  set(command.jitter_ms, 1000, link.jitter);
  if (!command.jitter_kind.empty())
    find_jitter(command.jitter_kind, link.jitter_kind);
  else if (command.jitter_ms && link.jitter_kind == Jitter::none)
    link.jitter_kind = Jitter::normal;
  set(command.shortest_ms, 1000, link.shortest);
  set(command.longest_ms, 1000, link.longest);
  if (command.any_order) link.keep_order = false;
  set(command.loss_percent, 100, link.loss);
  set(command.duplicate_percent, 100, link.duplicate);
  set(command.corrupt_percent, 100, link.corrupt);
  if (!command.pattern.empty()) link.pattern = command.pattern;
  if (!command.burst.empty()) {
    const auto numbers = numbers_of("--burst", command.burst, 1, 2, "PERCENT or PERCENT:LENGTH");
    link.burst_share = numbers[0] / 100;
    link.burst_length = numbers.size() > 1 ? numbers[1] : 5;
  }
  if (!command.reorder.empty()) {
    const auto numbers = numbers_of("--reorder", command.reorder, 1, 2, "PERCENT or PERCENT:MS");
    link.reorder = numbers[0] / 100;
    if (numbers.size() > 1) link.reorder_by = numbers[1] / 1000;
  }
  if (!command.rate.empty()) {
    const auto numbers = numbers_of("--rate", command.rate, 1, 2, "MBIT or MBIT:QUEUE_MS");
    link.bytes_per_second = numbers[0] * 125'000;
    if (numbers.size() > 1) link.queue_seconds = numbers[1] / 1000;
  }
  if (!command.outage.empty()) {
    const auto numbers = numbers_of("--outage", command.outage, 2, 3, "START:LENGTH or START:LENGTH:EVERY, in seconds");
    link.outage_start = numbers[0];
    link.outage_length = numbers[1];
    link.outage_every = numbers.size() > 2 ? numbers[2] : 0;
  }
  check(link);
}

NetworkProfile named_network(const std::string& name) {
  if (name.empty()) return *find_network("perfect");
  if (const NetworkProfile* found = find_network(name)) return *found;
  std::error_code unreachable;
  if (std::filesystem::exists(name, unreachable) || unreachable) return read_network(name);
  throw Error(fmt::format("There is no network '{}' and no such file; 'cotouch wan --list' shows the networks.", name),
              ErrorCode::not_found);
}

NetworkProfile wanted_network(const WanCommand& command) {
  NetworkProfile network = named_network(command.profile);
  const NetworkProfile before = network;
  if (command.way != "back") apply(command, network.there);
  if (command.way != "there") apply(command, network.back);
  if (network == before) return network;
  network.summary = command.profile.empty() ? "Set by options." : fmt::format("Like {}, with options.", network.name);
  network.name = "custom";
  return network;
}

std::string in_words(const LinkProfile& link) {
  std::string out = fmt::format("{:g} ms", link.delay * 1e3);
  const auto add = [&]<class... Values>(fmt::format_string<Values...> form, Values&&... values) {
    out += ", " + fmt::format(form, std::forward<Values>(values)...);
  };
  if (link.jitter > 0) {
    add("{} jitter of {:g} ms", name_of(link.jitter_kind), link.jitter * 1e3);
    if (link.longest < k_longest_delay) out += fmt::format(" up to {:g} ms in all", link.longest * 1e3);
    if (!link.keep_order) out += " in any order";
  }
  if (link.loss > 0) add("{:g} % lost", link.loss * 100);
  if (link.burst_share > 0) add("{:g} % lost in bursts of {:g}", link.burst_share * 100, link.burst_length);
  if (!link.pattern.empty()) add("lost by the pattern {}", link.pattern);
  if (link.reorder > 0) add("{:g} % held back by up to {:g} ms", link.reorder * 100, link.reorder_by * 1e3);
  if (link.duplicate > 0) add("{:g} % twice", link.duplicate * 100);
  if (link.corrupt > 0) add("{:g} % corrupted", link.corrupt * 100);
  if (link.bytes_per_second > 0)
    add("{:g} Mb/s with a queue of {:g} ms", link.bytes_per_second / 125'000, link.queue_seconds * 1e3);
  if (link.outage_length > 0) {
    add("down after {:g} s for {:g} s", link.outage_start, link.outage_length);
    if (link.outage_every > 0) out += fmt::format(", again every {:g} s", link.outage_every);
  }
  return out;
}

void list_networks(bool json) {
  if (!json) {
    for (const NetworkProfile& network : builtin_networks()) fmt::print("  {:<14} {}\n", network.name, network.summary);
    return;
  }
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const NetworkProfile& network : builtin_networks())
    all.push_back({{"name", network.name},
                   {"summary", network.summary},
                   {"round_trip_ms", mean_round_trip(network) * 1e3},
                   {"loss", lost_share(network.there)}});
  fmt::print("{}\n", all.dump(2));
}

nlohmann::ordered_json to_json(const LinkStatistics& link) {
  return {{"sent", link.sent},
          {"sent_bytes", link.sent_bytes},
          {"arrived", link.arrived},
          {"arrived_bytes", link.arrived_bytes},
          {"lost", link.lost()},
          {"lost_at_random", link.lost_at_random},
          {"lost_in_bursts", link.lost_in_bursts},
          {"lost_by_pattern", link.lost_by_pattern},
          {"lost_in_outages", link.lost_in_outages},
          {"dropped_by_queue", link.dropped_by_queue},
          {"held_back", link.held_back},
          {"duplicated", link.duplicated},
          {"corrupted", link.corrupted}};
}

void print_json(const char* event, const UdpRelayStatistics& now) {
  nlohmann::ordered_json json{{"event", event},
                              {"seconds", now.seconds},
                              {"clients", now.clients},
                              {"clients_ever", now.clients_ever},
                              {"refused", now.refused},
                              {"overflow", now.overflow},
                              {"under_way", now.under_way},
                              {"late_mean_ms", now.late_mean * 1e3},
                              {"late_most_ms", now.late_most * 1e3}};
  json["there"] = to_json(now.there);
  json["back"] = to_json(now.back);
  say(json.dump());
  std::fflush(stdout);
}

std::string in_words(const LinkStatistics& link) {
  const double share = link.sent > 0 ? 100 * static_cast<double>(link.lost()) / static_cast<double>(link.sent) : 0;
  std::string out = fmt::format("{} sent, {} lost ({:.1f} %)", link.sent, link.lost(), share);
  if (link.held_back > 0) out += fmt::format(", {} held back", link.held_back);
  if (link.duplicated > 0) out += fmt::format(", {} twice", link.duplicated);
  if (link.corrupted > 0) out += fmt::format(", {} corrupted", link.corrupted);
  return out;
}

void print_line(const UdpRelayStatistics& now) {
  say(fmt::format("{:7.0f} s  {} client{}; there {}; back {}", now.seconds, now.clients, now.clients == 1 ? "" : "s",
                  in_words(now.there), in_words(now.back)));
  std::fflush(stdout);
}

void print_summary(const UdpRelayStatistics& end) {
  const auto line = [](const char* word, const std::string& text) { say(fmt::format("  {:<8} {}", word, text)); };
  say(fmt::format("After {:.1f} s:", end.seconds));
  line("clients", fmt::format("{}", end.clients_ever));
  for (const auto& [word, link] : {std::pair{"there", &end.there}, std::pair{"back", &end.back}}) {
    line(word, in_words(*link));
    const auto part = [&](const char* what, std::uint64_t count) {
      if (count > 0) line("", fmt::format("{} {}", count, what));
    };
    part("lost at random", link->lost_at_random);
    part("lost in bursts", link->lost_in_bursts);
    part("lost by the pattern", link->lost_by_pattern);
    part("lost in outages", link->lost_in_outages);
    part("dropped by the full queue", link->dropped_by_queue);
  }
  if (end.refused > 0) line("refused", fmt::format("{} datagrams, because there were too many clients", end.refused));
  if (end.overflow > 0) line("dropped", fmt::format("{} datagrams, because too many were under way", end.overflow));
  line("timing", fmt::format("{:.2f} ms late on average, {:.2f} ms at most", end.late_mean * 1e3, end.late_most * 1e3));
}

// A port alone is one of this machine only.
NetAddress listening_address(const std::string& text, const NetAddress& target) {
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error == std::errc{} && end == text.data() + text.size()) {
    std::array<std::uint8_t, 16> loopback{};
    loopback.back() = 1;
    return target.is_v6() ? NetAddress::v6(loopback, port) : NetAddress::v4({127, 0, 0, 1}, port);
  }
  if (const auto address = NetAddress::parse(text)) return *address;
  throw Error(
      fmt::format("'--listen {}' is neither a port nor an address with one, such as 7200 or 0.0.0.0:7200.", text),
      ErrorCode::invalid_argument);
}

}  // namespace

void run_wan(const WanCommand& command) {
  if (command.list) return list_networks(command.json);
  UdpRelaySettings settings;
  settings.profile = wanted_network(command);
  if (command.print) {
    fmt::print("{}", format_network(settings.profile));
    return;
  }
  if (command.to.empty())
    throw Error("Say where to: cotouch wan --listen 7200 --to HOST:PORT --profile network-1.",
                ErrorCode::invalid_argument);
  catch_interrupts();
  catch_closed_output();
  settings.target = resolve(command.to);
  if (settings.target.port() == 0)
    throw Error(fmt::format("Nothing can be sent to port 0; say which one with --to, not '{}'.", command.to),
                ErrorCode::invalid_argument);
  settings.listen = listening_address(command.listen, settings.target);
  settings.seed = command.seed;
  UdpRelay relay(settings);
  if (relay.address() == settings.target)
    throw Error(fmt::format("The target {} is where it would listen; give it another port.", settings.target.text()),
                ErrorCode::invalid_argument);
  const NetworkProfile& network = settings.profile;
  if (command.json) {
    fmt::print("{}\n", nlohmann::ordered_json{{"event", "listening"},
                                              {"listen", relay.address().text()},
                                              {"to", settings.target.text()},
                                              {"profile", network.name},
                                              {"seed", command.seed}}
                           .dump());
  } else {
    say(fmt::format("Emulates {}: {}", network.name, network.summary));
    const bool alike = network.there == network.back;
    fmt::print("  {:<8} {}\n", alike ? "each way" : "there", in_words(network.there));
    if (!alike) fmt::print("  {:<8} {}\n", "back", in_words(network.back));
    fmt::print("Listens on {} and forwards to {}. Ctrl-C stops.\n", relay.address().text(), settings.target.text());
  }
  std::fflush(stdout);

  relay.start();
  double next_line = k_seconds_between_lines;
  for (UdpRelayStatistics now; !interrupted() && (command.seconds <= 0 || now.seconds < command.seconds);) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    now = relay.statistics();
    if (now.seconds < next_line) continue;
    next_line += k_seconds_between_lines;
    if (command.json)
      print_json("statistics", now);
    else
      print_line(now);
  }
  relay.stop();
  if (command.json)
    print_json("end", relay.statistics());
  else
    print_summary(relay.statistics());
}

}  // namespace cotouch
