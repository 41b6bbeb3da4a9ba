// Who may talk to the server: tokens, the Host and the Origin of a request.
//
// The server is a local program that a browser can reach, so the danger is not only the network but every other page
// the browser has open. Three things keep them out: a key that only who knows a link's token can make (door.h); an
// Origin that must be our own; and a Host that must be an address or a name we answer to, so that a stranger's name
// rebound to loopback is refused.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace cotouch {

// 128 bits from the operating system as 32 hexadecimal digits.
std::string make_token();

// The token kept for this port in `folder`, made where there is none, readable only by this user: for those who want
// the address to stay the same. Falls back to a fresh token where the folder cannot be used.
std::string kept_token(const std::filesystem::path& folder, std::uint16_t port);

// Takes the same time wherever the two differ.
bool equal_in_constant_time(std::string_view a, std::string_view b) noexcept;

// `host` is the Host header. True for an address literal or "localhost" with this port, and for `names` with any port
// (they may be reached through a proxy).
bool host_is_ours(std::string_view host, std::uint16_t port, const std::vector<std::string>& names);

// `origin` is the Origin header, which must be https://host, or http://host unless this server encrypts. One that does
// not may be behind a proxy that does.
bool origin_is_ours(std::string_view origin, std::string_view host, bool tls);

}  // namespace cotouch
