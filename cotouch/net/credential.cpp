#include <cotouch/net/credential.h>

#include <algorithm>
#include <tuple>

namespace cotouch {
namespace {

Digest signed_digest(const SessionId& session, const ExchangeKey& join_key) {
  return hash_of("cotouch credential", {session, join_key.bytes});
}

template <std::size_t Size>
void read_into(ByteReader& in, std::array<std::byte, Size>& out) {
  const std::span<const std::byte> bytes = in.raw(Size);
  std::copy(bytes.begin(), bytes.end(), out.begin());
}

}  // namespace

bool Credential::valid_in(const SessionId& session) const noexcept {
  return verify(identity, signed_digest(session, join_key), signature);
}

void Credential::write(ByteWriter& out) const {
  out.raw(identity.bytes);
  out.raw(join_key.bytes);
  out.raw(signature);
}

Credential Credential::read(ByteReader& in) {
  Credential credential;
  read_into(in, credential.identity.bytes);
  read_into(in, credential.join_key.bytes);
  read_into(in, credential.signature);
  return credential;
}

JoinKey::JoinKey(const Identity& identity, const SessionId& session) : session_(session), pair_(ExchangePair::make()) {
  credential_.identity = identity.public_key();
  credential_.join_key = pair_.public_key();
  credential_.signature = identity.sign(signed_digest(session, credential_.join_key));
}

std::optional<ChannelKeys> JoinKey::meet(const Credential& other, const InviteSecret& secret) {
  if (other.join_key == credential_.join_key || met_.contains(other.join_key) || met_.size() >= k_most_met)
    return std::nullopt;
  if (!other.valid_in(session_)) return std::nullopt;
  const std::optional<SharedSecret> shared = pair_.shared_with(other.join_key);
  if (!shared) return std::nullopt;
  met_.insert(other.join_key);

  const bool we_are_first =
      std::tie(credential_.identity, credential_.join_key) < std::tie(other.identity, other.join_key);
  const Credential& first = we_are_first ? credential_ : other;
  const Credential& second = we_are_first ? other : credential_;
  const SharedSecret root = derive(secret.bytes(), "pair",
                                   {session_, shared->bytes(), first.identity.bytes, first.join_key.bytes,
                                    second.identity.bytes, second.join_key.bytes});
  const SharedSecret forth = derive(root.bytes(), "first to second", {});
  const SharedSecret back = derive(root.bytes(), "second to first", {});
  return we_are_first ? ChannelKeys{forth, back} : ChannelKeys{back, forth};
}

}  // namespace cotouch
