// How a page and the server prove to each other that they know the token of a link, without ever sending it.
//
// The token is in the part of the address after '#', which browsers do not send. The page asks the server to prove
// first that it knows the token; whoever took the port after the server ended cannot, and learns nothing from being
// asked. With both random numbers the page then makes its key, which it sends with every request:
//
//   ID      first 16 hex digits of SHA-256("cotouch link " TOKEN): tells the server which link is meant
//   proof   HMAC-SHA-256(TOKEN, "server\n" page's number "\n" server's number "\n" HOST), in hex
//   key     ID "." page's number "." HMAC-SHA-256(TOKEN, "page\n" ... the same), in hex
//
// HOST is the Host header, so that nobody can pass the messages on from another port of this machine. The server makes
// its number from the page's by a secret of its own (LinkBook), so a key is worthless once the server has ended.
#pragma once

#include <string>
#include <string_view>

namespace cotouch {

std::string link_id(std::string_view token);

// The two random numbers (hex digits) and the Host header of a meeting.
struct DoorMeeting {
  std::string_view page, server, host;
};
std::string server_proof(std::string_view token, const DoorMeeting& meeting);
std::string make_key(std::string_view token, const DoorMeeting& meeting);

// A page's number has 16 to 64 lower-case hex digits.
bool is_door_number(std::string_view text);

// HMAC-SHA-256 in lower-case hex.
std::string hmac_hex(std::string_view secret, std::string_view text);

}  // namespace cotouch
