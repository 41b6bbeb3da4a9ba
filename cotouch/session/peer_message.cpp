#include <cotouch/session/peer_message.h>

#include <algorithm>
#include <cassert>
#include <cmath>

namespace cotouch {
namespace {

using Type = PeerMessageType;

constexpr std::uint64_t k_last_tick = 1ULL << 48;
constexpr std::size_t k_most_blocks = 2, k_most_in_block = 255;
constexpr double k_farthest_view = 1e4;  // metres

Tick read_tick(ByteReader& in) {
  return static_cast<Tick>(in.varint(k_last_tick));
}

void write_tick(ByteWriter& out, Tick tick) {
  out.varint(static_cast<std::uint64_t>(std::max<Tick>(tick, 0)));
}

// Ticks not far before another one.
void write_before(ByteWriter& out, Tick tick, Tick later) {
  out.signed_varint(later - tick);
}
Tick read_before(ByteReader& in, Tick later) {
  const std::int64_t back = in.signed_varint();
  if (back > later || back < -static_cast<std::int64_t>(k_last_tick)) in.fail();
  return in.ok() ? later - back : 0;
}

MemberId read_member(ByteReader& in) {
  const auto member = in.number<std::uint8_t>();
  if (member >= k_most_members) in.fail();
  return in.ok() ? member : 0;
}

void write_ballot(ByteWriter& out, const Ballot& ballot) {
  out.varint(ballot.round);
  out.number(ballot.proposer);
}
Ballot read_ballot(ByteReader& in) {
  Ballot ballot;
  ballot.round = static_cast<std::uint32_t>(in.varint(0xffffffff));
  ballot.proposer = read_member(in);
  return ballot;
}

void write_ends(ByteWriter& out, std::span<const StreamEnd> ends) {
  out.varint(ends.size());
  for (const StreamEnd& end : ends) {
    out.number(static_cast<std::uint8_t>(end.member | (end.final ? 0x80 : 0)));
    write_tick(out, end.next);
  }
}
std::vector<StreamEnd> read_ends(ByteReader& in) {
  std::vector<StreamEnd> ends;
  const std::uint64_t count = in.varint(k_most_members);
  for (std::uint64_t i = 0; i < count && in.ok(); ++i) {
    const auto word = in.number<std::uint8_t>();
    const auto member = static_cast<MemberId>(word & 0x7f);
    if (member >= k_most_members) in.fail();
    ends.push_back({member, read_tick(in), word >= 0x80});
  }
  return ends;
}

constexpr std::size_t k_around_block = 12;  // bytes: where it begins, and how many inputs are in it

using Inputs = std::span<const PeerInput* const>;

// The first of a run, as many as fit.
struct Block {
  std::vector<std::byte> bytes;
  std::size_t count = 0;
};
Block block_of(Inputs inputs, std::size_t room) {
  Block block;
  ByteWriter out(block.bytes);
  block.count = write_inputs(out, inputs.first(std::min(inputs.size(), k_most_in_block)), room);
  return block;
}
// The last of a run.
Block newest_block_of(Inputs inputs, std::size_t room) {
  for (;; inputs = inputs.subspan(1)) {
    Block block = block_of(inputs, room);
    if (block.count == inputs.size()) return block;
  }
}
std::size_t bytes_of(Inputs inputs) {
  return block_of(inputs, k_longest_message).bytes.size();
}

void write_block(ByteWriter& out, const Block& block, Tick first, Tick now) {
  write_before(out, first, now);
  out.varint(block.count);
  out.raw(block.bytes);
}
InputBlock read_block(ByteReader& in, Tick now) {
  InputBlock block;
  block.first = read_before(in, now);
  block.inputs = read_inputs(in, in.varint(k_most_in_block));
  return block;
}

template <class Message>
std::vector<std::byte> write_ballot_message(Type type, const Message& message) {
  std::vector<std::byte> bytes;
  ByteWriter out(bytes);
  out.number(type);
  write_ballot(out, message.ballot);
  write_ends(out, message.ends);
  return bytes;
}
template <class Message>
Message read_ballot_message(ByteReader& in) {
  Message message;
  message.ballot = read_ballot(in);
  message.ends = read_ends(in);
  return message;
}

enum HeadFlags : std::uint8_t { k_has_echo = 1, k_has_hash = 2 };

InputsMessage read_inputs_message(ByteReader& in) {
  InputsMessage message;
  const auto flags = in.number<std::uint8_t>();
  if (flags > 3) in.fail();
  PeerLink::Heard& timing = message.timing;
  timing.sequence = in.number<std::uint16_t>();
  timing.sent = in.number<std::uint32_t>();
  timing.has_echo = (flags & k_has_echo) != 0;
  if (timing.has_echo) {
    timing.echo = in.number<std::uint32_t>();
    timing.held = static_cast<std::uint32_t>(in.varint(0xffffffff));
  }
  timing.loss = in.number<std::uint8_t>();
  timing.their_tick = read_tick(in);
  message.objective = read_before(in, timing.their_tick);
  message.have = read_before(in, timing.their_tick);
  message.decided = read_ballot(in);
  if ((flags & k_has_hash) != 0) {
    message.hash.emplace();
    message.hash->tick = read_before(in, timing.their_tick);
    message.hash->hash = in.number<std::uint64_t>();
  }
  const std::uint64_t blocks = in.varint(k_most_blocks);
  for (std::uint64_t i = 0; i < blocks && in.ok(); ++i) message.blocks.push_back(read_block(in, timing.their_tick));
  return message;
}

}  // namespace

std::vector<std::byte> write_inputs_message(const InputsMessage& head, std::span<const InputRun> runs,
                                            std::size_t* sent_again) {
  assert(runs.size() <= k_most_blocks);
  std::vector<std::byte> bytes;
  bytes.reserve(192);
  ByteWriter out(bytes);
  const PeerLink::Heard& timing = head.timing;
  out.number(Type::inputs);
  out.number(static_cast<std::uint8_t>((timing.has_echo ? k_has_echo : 0) | (head.hash ? k_has_hash : 0)));
  out.number(timing.sequence);
  out.number(timing.sent);
  if (timing.has_echo) {
    out.number(timing.echo);
    out.varint(timing.held);
  }
  out.number(timing.loss);
  write_tick(out, timing.their_tick);
  write_before(out, head.objective, timing.their_tick);
  write_before(out, head.have, timing.their_tick);
  write_ballot(out, head.decided);
  if (head.hash) {
    write_before(out, head.hash->tick, timing.their_tick);
    out.number(head.hash->hash);
  }
  out.varint(runs.size());
  if (runs.empty()) return bytes;
  // What is sent again comes first: those who lack it wait. It gets half of the room if it needs that, and more for its
  // first input alone.
  const Inputs newest = runs.front().inputs;
  const Inputs again = runs.size() > 1 ? Inputs(runs[1].inputs) : Inputs();
  const std::size_t taken = bytes.size() + runs.size() * k_around_block;
  const std::size_t room = k_longest_message > taken ? k_longest_message - taken : 0;
  const std::size_t reserved =
      std::max(std::min(bytes_of(again), room / 2), bytes_of(again.first(std::min<std::size_t>(again.size(), 1))));
  const Block new_block = newest_block_of(newest, room - std::min(room, reserved));
  const Block old_block = block_of(again, room - new_block.bytes.size());
  write_block(out, new_block, runs.front().first + static_cast<Tick>(newest.size() - new_block.count),
              timing.their_tick);
  if (runs.size() > 1) write_block(out, old_block, runs[1].first, timing.their_tick);
  if (sent_again != nullptr) *sent_again = old_block.count;
  return bytes;
}

std::vector<std::byte> write_fill(MemberId member, const InputRun& run, std::size_t* written) {
  std::vector<std::byte> bytes;
  ByteWriter out(bytes);
  out.number(Type::fill);
  out.number(member);
  write_tick(out, run.first);
  const Block block = block_of(run.inputs, k_longest_message - bytes.size() - k_around_block);
  write_block(out, block, run.first, run.first);
  if (written != nullptr) *written = block.count;
  return bytes;
}

std::vector<std::byte> write_message(const ProposeMessage& message) {
  return write_ballot_message(Type::propose, message);
}
std::vector<std::byte> write_message(const PromiseMessage& message) {
  return write_ballot_message(Type::promise, message);
}
std::vector<std::byte> write_message(const DecideMessage& message) {
  std::vector<std::byte> bytes = write_ballot_message(Type::decide, message);
  if (message.branch != 0) ByteWriter(bytes).number(message.branch);
  return bytes;
}

std::vector<std::byte> write_message(const WantMessage& message) {
  std::vector<std::byte> bytes;
  ByteWriter out(bytes);
  out.number(Type::want);
  out.number(message.member);
  write_tick(out, message.first);
  return bytes;
}

std::vector<std::byte> write_message(const ProbeMessage& message) {
  std::vector<std::byte> bytes;
  ByteWriter out(bytes);
  out.number(Type::probe);
  write_ballot(out, message.decided);
  out.number(message.rank.size_byte());
  out.number(message.rank.lowest);
  out.text(message.rank.keeper);
  return bytes;
}

std::vector<std::byte> write_message(const ViewMessage& message) {
  std::vector<std::byte> bytes;
  ByteWriter out(bytes);
  out.number(Type::view);
  write_tick(out, message.tick);
  out.varint(message.body);
  const Vec3d& p = message.pose.position;
  const Quat& q = message.pose.rotation;
  for (const double x : {p.x, p.y, p.z, q.w, q.x, q.y, q.z}) out.number(x);
  return bytes;
}

std::optional<PeerMessage> read_message(std::span<const std::byte> bytes) {
  if (bytes.size() > k_longest_message) return std::nullopt;
  ByteReader in(bytes);
  PeerMessage message;
  switch (static_cast<Type>(in.number<std::uint8_t>())) {
    case Type::inputs: message = read_inputs_message(in); break;
    case Type::propose: message = read_ballot_message<ProposeMessage>(in); break;
    case Type::promise: message = read_ballot_message<PromiseMessage>(in); break;
    case Type::decide: {
      auto decision = read_ballot_message<DecideMessage>(in);
      if (in.ok() && !in.at_end()) {
        decision.branch = in.number<BranchId>();
        if (decision.branch == 0) in.fail();
      }
      message = std::move(decision);
      break;
    }
    case Type::want: {
      WantMessage want;
      want.member = read_member(in);
      want.first = read_tick(in);
      message = want;
      break;
    }
    case Type::fill: {
      FillMessage fill;
      fill.member = read_member(in);
      fill.block = read_block(in, read_tick(in));
      message = std::move(fill);
      break;
    }
    case Type::probe: {
      ProbeMessage probe;
      probe.decided = read_ballot(in);
      probe.rank.set_size(in.number<std::uint8_t>());
      if (probe.rank.members > k_most_members) in.fail();
      probe.rank.lowest = read_member(in);
      probe.rank.keeper = in.text(k_longest_event);
      message = std::move(probe);
      break;
    }
    case Type::view: {
      ViewMessage view;
      view.tick = read_tick(in);
      view.body = static_cast<std::uint32_t>(in.varint(0xffffffff));
      double numbers[7];
      for (double& x : numbers) {
        x = in.number<double>();
        // No unit quaternion has larger parts, and nothing that two people see together is farther away.
        if (!(std::fabs(x) <= (&x < numbers + 3 ? k_farthest_view : 1.001))) in.fail();
      }
      view.pose = {{numbers[0], numbers[1], numbers[2]}, {numbers[3], numbers[4], numbers[5], numbers[6]}};
      message = view;
      break;
    }
    default: return std::nullopt;
  }
  if (!in.at_end()) return std::nullopt;
  return message;
}

}  // namespace cotouch
