// How a member is introduced to the others: who it is, how its messages are opened and where it may be reached.
#pragma once

#include <cotouch/net/address.h>
#include <cotouch/net/credential.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cotouch {

struct Introduction {
  static constexpr std::size_t k_most_addresses = 8;
  static constexpr std::size_t k_longest_name = 96;  // bytes: 24 characters of any script

  std::string name;
  bool observer = false;
  Credential credential;
  std::vector<NetAddress> addresses;

  friend bool operator==(const Introduction&, const Introduction&) = default;
};

// At most k_longest_event bytes (peer_input.h).
std::string write_introduction(const Introduction& introduction);
// Nothing if it is none. Neither the name nor the credential is checked.
std::optional<Introduction> read_introduction(std::string_view bytes);

}  // namespace cotouch
