#include <cotouch/net/invite.h>

#include <cotouch/base/error.h>

#include <sodium.h>

#include <algorithm>

namespace cotouch {
namespace {

constexpr std::string_view k_prefix = "cotouch:";
constexpr std::uint8_t k_invite_version = 1;
constexpr std::size_t k_checksum_bytes = 4;
constexpr std::size_t k_longest_text = 1024;  // twice what a newer version may need
constexpr std::size_t k_longest_bytes = 768;
constexpr int k_base64 = sodium_base64_VARIANT_URLSAFE_NO_PADDING;
constexpr std::string_view k_white_space = " \t\r\n";

std::span<const std::byte> checksum_bytes(const Digest& digest) {
  return std::span(digest).first(k_checksum_bytes);
}

[[noreturn]] void mistyped() {
  throw Error("The invite is mistyped or cut off; copy the whole text, from \"cotouch:\" to its end.",
              ErrorCode::invalid_argument);
}

// What is encoded, with a right checksum, without it.
std::vector<std::byte> decode(std::string_view text) {
  std::vector<std::byte> bytes(k_longest_bytes);
  std::size_t size = 0;
  const char* end = nullptr;
  if (sodium_base642bin(reinterpret_cast<unsigned char*>(bytes.data()), bytes.size(), text.data(), text.size(),
                        k_white_space.data(), &size, &end, k_base64) != 0 ||
      end != text.data() + text.size() || size < 1 + k_checksum_bytes)
    mistyped();
  bytes.resize(size);
  const std::span<const std::byte> content = std::span(bytes).first(size - k_checksum_bytes);
  if (!std::ranges::equal(std::span(bytes).last(k_checksum_bytes),
                          checksum_bytes(hash_of("cotouch invite", {content}))))
    mistyped();
  bytes.resize(content.size());
  return bytes;
}

template <std::size_t Size>
void copy(std::span<const std::byte> from, std::span<std::byte, Size> to) {
  if (from.size() == Size) std::copy(from.begin(), from.end(), to.begin());
}

Invite read_content(std::span<const std::byte> bytes) {
  ByteReader in(bytes);
  if (in.number<std::uint8_t>() != k_invite_version)
    throw Error("The invite was made by a newer version of cotouch; update yours to join.", ErrorCode::unsupported);
  Invite invite;
  copy(in.raw(32), std::span(invite.host.bytes));
  copy(in.raw(16), invite.secret.bytes());
  invite.expires = in.number<std::uint32_t>();
  const auto count = in.number<std::uint8_t>();
  if (count < 1 || count > Invite::k_most_addresses) in.fail();
  for (std::size_t i = 0; in.ok() && i < count; ++i) invite.addresses.push_back(NetAddress::read(in));
  // The checksum was right, so somebody has made it so.
  if (!in.at_end() || !exchange_key_of(invite.host) ||
      !std::all_of(invite.addresses.begin(), invite.addresses.end(),
                   [](const NetAddress& address) { return address.can_be_sent_to(); }))
    throw Error("The invite is not sound: no version of cotouch makes one like it. Ask for a new one.",
                ErrorCode::invalid_argument);
  return invite;
}

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(k_white_space);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(k_white_space) - first + 1);
}

}  // namespace

SessionId Invite::session() const noexcept {
  const SharedSecret derived = derive(secret.bytes(), "cotouch session", {});
  SessionId id;
  std::copy_n(derived.bytes().begin(), id.size(), id.begin());
  return id;
}

Invite make_invite(const PublicKey& host, std::vector<NetAddress> addresses, std::uint32_t expires) {
  if (addresses.empty() || addresses.size() > Invite::k_most_addresses)
    throw Error("An invite needs between 1 and " + std::to_string(Invite::k_most_addresses) + " addresses of the host.",
                ErrorCode::invalid_argument);
  for (const NetAddress& address : addresses)
    if (!address.can_be_sent_to())
      throw Error("Nobody can be sent to " + address.text() + "; give an address at which others reach this machine.",
                  ErrorCode::invalid_argument);
  Invite invite;
  invite.host = host;
  invite.expires = expires;
  invite.addresses = std::move(addresses);
  random_bytes(invite.secret.bytes());
  return invite;
}

std::string format_invite(const Invite& invite) {
  std::vector<std::byte> bytes;
  bytes.reserve(k_longest_bytes);
  ByteWriter out(bytes);
  out.number(k_invite_version);
  out.raw(invite.host.bytes);
  out.raw(invite.secret.bytes());
  out.number(invite.expires);
  out.number(static_cast<std::uint8_t>(invite.addresses.size()));
  for (const NetAddress& address : invite.addresses) address.write(out);
  out.raw(checksum_bytes(hash_of("cotouch invite", {bytes})));
  std::string text(sodium_base64_encoded_len(bytes.size(), k_base64), '\0');
  sodium_bin2base64(text.data(), text.size(), reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(),
                    k_base64);
  text.pop_back();  // the zero at its end
  return std::string(k_prefix) + text;
}

Invite parse_invite(std::string_view given, std::uint64_t unix_seconds) {
  const std::string_view text = trimmed(given);
  if (!text.starts_with(k_prefix))
    throw Error("This is not an invite; one begins with \"cotouch:\".", ErrorCode::invalid_argument);
  if (text.size() > k_longest_text) mistyped();
  Invite invite = read_content(decode(text.substr(k_prefix.size())));
  if (invite.expired(unix_seconds))
    throw Error("The invite has expired; ask the host for a new one.", ErrorCode::refused);
  return invite;
}

}  // namespace cotouch
