#include <cotouch/session/door_message.h>

#include <cotouch/base/hash.h>

namespace cotouch {
namespace {

std::uint64_t hash_of_keeper(const SessionRank& rank) {
  return hash_bytes(std::as_bytes(std::span(rank.keeper)));
}

}  // namespace

void write_rank(ByteWriter& out, const SessionRank& rank) {
  out.number(rank.size_byte());
  out.number(rank.lowest);
  out.number(hash_of_keeper(rank));
}

SessionRank read_rank(ByteReader& in) {
  SessionRank rank;
  rank.set_size(in.number<std::uint8_t>());
  rank.lowest = in.number<std::uint8_t>();
  if (rank.members > k_most_members || rank.lowest >= k_most_members) in.fail();
  rank.keeper = hex(in.number<std::uint64_t>());
  return rank;
}

SessionRank with_hashed_keeper(SessionRank rank) {
  rank.keeper = hex(hash_of_keeper(rank));
  return rank;
}

}  // namespace cotouch
