// Sealed datagrams in any order, repeated and altered: only what was sealed is opened, and only once. Invites,
// credentials and envelopes from strangers are read or refused with an Error, and what is read can be written again.
#include "net_input.h"

#include <cotouch/base/error.h>
#include <cotouch/net/credential.h>
#include <cotouch/net/invite.h>

#include <algorithm>
#include <set>
#include <string>

using namespace cotouch;
using namespace cotouch::fuzzing;

namespace {

void open_datagrams(Choices& choices) {
  ChannelKeys keys;
  keys.send.bytes()[0] = std::byte{1};
  const std::uint64_t first = choices.byte() % 2 == 0 ? 0 : (1ULL << 32) - 8;
  SealedChannel here(keys, first), there(ChannelKeys{keys.receive, keys.send});
  std::vector<Datagram> sealed;
  std::set<std::size_t> opened;
  Datagram message, out;
  // The first arrives, so that the receiver knows where the counter is.
  require(here.seal({}, message) && there.open(message, out) == OpenStatus::opened);
  sealed.push_back(message);
  opened.insert(0);
  for (int steps = 0; steps < 400 && !choices.done(); ++steps) {
    const std::uint8_t step = choices.byte();
    if (step % 4 == 0) {
      for (std::size_t count = 1 + (step % 16 == 0 ? choices.below(1500) : 0); count > 0; --count) {
        require(here.seal(choices.bytes(20), message));
        sealed.push_back(message);
      }
      continue;
    }
    const std::size_t which = sealed.size() - 1 - choices.below(sealed.size());
    const Datagram datagram = step % 4 == 1 ? choices.altered(sealed[which]) : sealed[which];
    const OpenStatus status = there.open(datagram, out);
    const bool genuine = datagram == sealed[which];
    if (status == OpenStatus::opened) {
      require(genuine && opened.insert(which).second && out.size() + k_sealed_overhead == datagram.size());
    } else {
      require(out.empty());
      const bool old = !opened.empty() && which + SealedChannel::k_window <= *opened.rbegin();
      if (genuine)
        require(status == (old ? OpenStatus::too_old : OpenStatus::repeated) && (old || opened.contains(which)));
    }
  }
}

std::string text_of(const Datagram& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

void read_invite(const std::string& text) {
  try {
    const Invite invite = parse_invite(text, 1000);
    require(!invite.addresses.empty() && invite.addresses.size() <= Invite::k_most_addresses && !invite.expired(1000));
    const Invite again = parse_invite(format_invite(invite), 1000);
    require(again.host == invite.host && again.addresses == invite.addresses && again.session() == invite.session());
  } catch (const Error&) {
  }
}

// The same bytes with a right checksum, or the fuzzer would never get past it.
std::string with_checksum(Datagram bytes) {
  const Digest digest = hash_of("cotouch invite", {bytes});
  bytes.insert(bytes.end(), digest.begin(), digest.begin() + 4);
  std::string text(sodium_base64_encoded_len(bytes.size(), sodium_base64_VARIANT_URLSAFE_NO_PADDING), '\0');
  sodium_bin2base64(text.data(), text.size(), reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(),
                    sodium_base64_VARIANT_URLSAFE_NO_PADDING);
  text.pop_back();
  return "cotouch:" + text;
}

Datagram genuine_invite(Choices& choices) {
  static const PublicKey host = Identity::make().public_key();
  Datagram bytes;
  ByteWriter out(bytes);
  out.number(std::uint8_t{1});
  out.raw(host.bytes);
  out.raw(InviteSecret().bytes());
  out.number(std::uint32_t{choices.byte()} << 5);
  const std::size_t count = choices.byte() % 10;
  out.number(static_cast<std::uint8_t>(count));
  for (std::size_t i = 0; i < count; ++i)
    (i % 2 == 0 ? NetAddress::v4({192, 0, 2, 1}, 7117) : *NetAddress::parse("[2001:db8::1]:7117")).write(out);
  return bytes;
}

void read_small_things(const Datagram& bytes) {
  static const SessionId session{};
  static JoinKey join_key(Identity::make(), session);
  ByteReader in(bytes);
  require(!join_key.meet(Credential::read(in), InviteSecret()));
  if (const auto envelope = read_relay(bytes)) {
    Datagram again;
    write_relay(again, *envelope);
    require(again == bytes);
  }
  if (const auto address = NetAddress::parse(text_of(bytes))) require(NetAddress::parse(address->text()) == address);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  draw_the_same_again();
  Choices choices(data, size);
  switch (choices.byte() % 5) {
    case 0: read_invite("cotouch:" + text_of(choices.bytes(1200))); break;
    case 1: read_invite(with_checksum(choices.altered(genuine_invite(choices)))); break;
    case 2: read_small_things(choices.bytes(1200)); break;
    default: open_datagrams(choices);
  }
  return 0;
}
