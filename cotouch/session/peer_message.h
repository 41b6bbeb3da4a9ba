// The messages that members of a shared session send each other, inside sealed datagrams (docs/protocol.md, part 3).
// Reading never throws and is bounded: what is not exactly a message is dropped.
#pragma once

#include <cotouch/session/peer_link.h>
#include <cotouch/session/roll.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <variant>
#include <vector>

namespace cotouch {

// A message fits into one datagram that no network has to cut, with all that is put around it.
inline constexpr std::size_t k_longest_message = 1100;

// Numbers are part of the protocol. Those from 16 on are not for members' cores: transfers (transfer.h) and relays.
enum class PeerMessageType : std::uint8_t {
  inputs = 1,
  propose = 2,
  promise = 3,
  decide = 4,
  want = 5,
  fill = 6,
  probe = 7,
  view = 8,
};

struct InputBlock {
  Tick first = 0;
  std::vector<PeerInput> inputs;
};

struct StateHash {
  Tick tick = 0;
  std::uint64_t hash = 0;
};

// Every tick, to every other member: the newest inputs, what was lost, and how things stand.
struct InputsMessage {
  PeerLink::Heard timing;  // their_tick: the sender's now()
  Tick objective = 0;
  Tick have = 0;  // the first input of the receiver that the sender does not know
  Ballot decided;
  std::optional<StateHash> hash;
  std::vector<InputBlock> blocks;
};

// One end of each member that is to be dropped.
struct StreamEnd {
  MemberId member = 0;
  Tick next = 0;
  bool final = false;  // decided, not only all that is known
};

// From the lowest member that is still heard: these are to be dropped.
struct ProposeMessage {
  Ballot ballot;
  std::vector<StreamEnd> ends;  // as far as the proposer knows them
};
// The answer: nothing more is taken from those, and this is what is known. A higher ballot than the proposed one says
// that the proposal came too late.
struct PromiseMessage {
  Ballot ballot;
  std::vector<StreamEnd> ends;
};
struct DecideMessage {
  Ballot ballot;
  std::vector<StreamEnd> ends;
  BranchId branch = 0;  // that those who decide so are on
};
// Inputs of somebody who cannot be asked any more.
struct WantMessage {
  MemberId member = 0;
  Tick first = 0;
};
struct FillMessage {
  MemberId member = 0;
  InputBlock block;
};
// To those who were dropped: how the rest stands.
struct ProbeMessage {
  Ballot decided;
  SessionRank rank;
};
// Where one body is in the sender's view, so that views can be compared.
struct ViewMessage {
  Tick tick = 0;
  std::uint32_t body = 0;
  Pose pose;
};

using PeerMessage = std::variant<InputsMessage, ProposeMessage, PromiseMessage, DecideMessage, WantMessage, FillMessage,
                                 ProbeMessage, ViewMessage>;

// A run of inputs as they are kept, not copied.
struct InputRun {
  Tick first = 0;
  std::vector<const PeerInput*> inputs;
};

// `head` without its blocks, then what fits of at most two runs: of the first the newest, of the second, which is sent
// again, the oldest. How many of the second went in is in `sent_again`.
std::vector<std::byte> write_inputs_message(const InputsMessage& head, std::span<const InputRun> runs,
                                            std::size_t* sent_again = nullptr);
// What fits of a run, the oldest first.
std::vector<std::byte> write_fill(MemberId member, const InputRun& run, std::size_t* written = nullptr);
std::vector<std::byte> write_message(const ProposeMessage& message);
std::vector<std::byte> write_message(const PromiseMessage& message);
std::vector<std::byte> write_message(const DecideMessage& message);
std::vector<std::byte> write_message(const WantMessage& message);
std::vector<std::byte> write_message(const ProbeMessage& message);
std::vector<std::byte> write_message(const ViewMessage& message);

// Nothing if the bytes are no message for a core.
std::optional<PeerMessage> read_message(std::span<const std::byte> bytes);

}  // namespace cotouch
