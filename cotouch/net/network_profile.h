// Networks by name: a link there and a link back. Built-in ones are those of the papers; others come from files.
//
// Paper 000 (Fig. 6) and paper 004 (section 5) give round trips, of which each direction gets half: its delay is half
// of the shortest round trip, its longest half of the longest, and the tail between is such that the mean is half of
// the mean. The papers' loss is taken as that of each direction. Delays hold for datagrams far apart: with `keep_order`
// those close together wait for each other.
#pragma once

#include <cotouch/net/link.h>

#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace cotouch {

struct NetworkProfile {
  std::string name;
  std::string summary;  // a sentence
  LinkProfile there, back;

  bool operator==(const NetworkProfile&) const = default;
};

// perfect, lan, network-1, network-2, network-3, transatlantic, awful. Of these only `awful` reorders.
std::span<const NetworkProfile> builtin_networks();
// Null if there is none of this name.
const NetworkProfile* find_network(std::string_view name);

// The network "custom" with this round trip, half of it each way; the jitter (standard deviation of the round trip) is
// normal. Throws Error for what makes no sense.
NetworkProfile network_with(double round_trip, double jitter, double loss);

// For display: of datagrams far apart, without rate limit and outages.
double mean_round_trip(const NetworkProfile& profile);

// The text of a profile file. `source` names it in errors: "The network profile x.toml cannot be used: ...". Nothing is
// taken that is not understood.
NetworkProfile parse_network(std::string_view text, const std::string& source);
NetworkProfile read_network(const std::filesystem::path& path);
// A text that is read back as the same profile. Its units are ms, percent and Mb/s: a value that no number in such a
// unit gives exactly comes back rounded in its last digit.
std::string format_network(const NetworkProfile& profile);

// The words of files and of the command for each kind: "none", "uniform", "normal", "exponential", "heavy-tail".
std::string_view name_of(Jitter kind);
// Returns whether it is one.
bool find_jitter(std::string_view name, Jitter& kind);

}  // namespace cotouch
