#include <cotouch/session/roll.h>

#include <cmath>

namespace cotouch {
namespace {

constexpr std::uint8_t k_format = 1, k_branch_format = 2;

}  // namespace

bool SessionRank::outranks(const SessionRank& other) const {
  if (branch != other.branch) return other.branch;
  if (members != other.members) return members > other.members;
  if (lowest != other.lowest) return lowest < other.lowest;
  return keeper < other.keeper;
}

std::vector<std::byte> encode_snapshot(const ObjectiveSnapshot& snapshot) {
  std::vector<std::byte> bytes;
  ByteWriter out(bytes);
  out.number(snapshot.branch == 0 ? k_format : k_branch_format);
  if (snapshot.branch != 0) out.number(snapshot.branch);
  out.varint(static_cast<std::uint64_t>(snapshot.tick));
  out.varint(snapshot.decided.round);
  out.number(snapshot.decided.proposer);
  out.number(static_cast<std::uint8_t>(snapshot.synchronised));
  for (const std::optional<Member>& member : snapshot.members) {
    out.number(static_cast<std::uint8_t>(member.has_value()));
    if (!member) continue;
    out.varint(static_cast<std::uint64_t>(member->first));
    out.text(member->introduction);
  }
  out.varint(snapshot.marks.size());
  for (const SessionMark& mark : snapshot.marks) {
    out.number(mark.by);
    out.signed_varint(mark.number);
    out.varint(mark.body);
    out.number(mark.point.x), out.number(mark.point.y), out.number(mark.point.z);
  }
  out.varint(snapshot.former.size());
  for (const std::string& introduction : snapshot.former) out.text(introduction);
  out.varint(snapshot.state.size());
  out.raw(snapshot.state);
  return bytes;
}

std::optional<ObjectiveSnapshot> decode_snapshot(std::span<const std::byte> bytes) {
  ByteReader in(bytes);
  const auto tick = [&] { return static_cast<Tick>(in.varint(1ULL << 48)); };
  const auto member_id = [&] {
    const auto number = in.number<std::uint8_t>();
    if (number >= k_most_members) in.fail();
    return number;
  };
  ObjectiveSnapshot snapshot;
  const auto format = in.number<std::uint8_t>();
  if (format == k_branch_format) snapshot.branch = in.number<BranchId>();
  if (format != (snapshot.branch == 0 ? k_format : k_branch_format)) in.fail();
  snapshot.tick = tick();
  snapshot.decided.round = static_cast<std::uint32_t>(in.varint(0xffffffff));
  snapshot.decided.proposer = member_id();
  snapshot.synchronised = in.number<std::uint8_t>() != 0;
  for (std::optional<Member>& member : snapshot.members) {
    if (in.number<std::uint8_t>() == 0) continue;
    member.emplace();
    member->first = tick();
    member->introduction = in.text(k_longest_event);
  }
  const std::uint64_t marks = in.varint(k_most_marks);
  for (std::uint64_t i = 0; i < marks && in.ok(); ++i) {
    SessionMark& mark = snapshot.marks.emplace_back();
    mark.by = member_id();
    mark.number = in.signed_varint();
    mark.body = static_cast<std::uint32_t>(in.varint(0xffffffff));
    mark.point = {in.number<float>(), in.number<float>(), in.number<float>()};
    if (!(std::isfinite(mark.point.x) && std::isfinite(mark.point.y) && std::isfinite(mark.point.z))) in.fail();
  }
  const std::uint64_t former = in.varint(k_most_former);
  for (std::uint64_t i = 0; i < former && in.ok(); ++i) snapshot.former.push_back(in.text(k_longest_event));
  const std::span<const std::byte> state = in.raw(in.varint(k_largest_state));
  if (!in.at_end()) return std::nullopt;
  snapshot.state.assign(state.begin(), state.end());
  return snapshot;
}

}  // namespace cotouch
