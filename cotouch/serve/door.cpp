#include <cotouch/base/error.h>
#include <cotouch/serve/door.h>

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <algorithm>
#include <array>

namespace cotouch {
namespace {

using Digest = std::array<unsigned char, 32>;

std::string hex(const Digest& bytes) {
  std::string text;
  for (const unsigned char byte : bytes) {
    text += "0123456789abcdef"[byte >> 4];
    text += "0123456789abcdef"[byte & 15];
  }
  return text;
}

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return out;
}

std::string said(std::string_view by, const DoorMeeting& meeting) {
  return std::string(by) + "\n" + std::string(meeting.page) + "\n" + std::string(meeting.server) + "\n" +
         lower(meeting.host);
}

}  // namespace

std::string hmac_hex(std::string_view secret, std::string_view text) {
  Digest digest{};
  unsigned length = 0;
  if (::HMAC(::EVP_sha256(), secret.data(), static_cast<int>(secret.size()),
             reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest.data(), &length) == nullptr ||
      length != digest.size())
    throw Error("OpenSSL computes no HMAC here; is it configured without SHA-256?");
  return hex(digest);
}

std::string link_id(std::string_view token) {
  const std::string text = "cotouch link " + std::string(token);
  Digest digest{};
  unsigned length = 0;
  if (::EVP_Digest(text.data(), text.size(), digest.data(), &length, ::EVP_sha256(), nullptr) != 1)
    throw Error("OpenSSL computes no SHA-256 here.");
  return hex(digest).substr(0, 16);
}

std::string server_proof(std::string_view token, const DoorMeeting& meeting) {
  return hmac_hex(token, said("server", meeting));
}

std::string make_key(std::string_view token, const DoorMeeting& meeting) {
  return link_id(token) + "." + std::string(meeting.page) + "." + hmac_hex(token, said("page", meeting));
}

bool is_door_number(std::string_view text) {
  return text.size() >= 16 && text.size() <= 64 &&
         std::all_of(text.begin(), text.end(), [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

}  // namespace cotouch
