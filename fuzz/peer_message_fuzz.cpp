// What members say to each other, read from anything. What was read and is written again is read as the same; no answer
// is longer or more numerous than it may be; and no object is taken for whole unless it is the one that was named.
#include "net_input.h"

#include <cotouch/session/introduction.h>
#include <cotouch/session/peer_message.h>
#include <cotouch/session/transfer.h>

#include <algorithm>
#include <string>

using namespace cotouch;
using namespace cotouch::fuzzing;

namespace {

InputRun run_of(const InputBlock& block) {
  InputRun run;
  run.first = block.first;
  for (const PeerInput& input : block.inputs) run.inputs.push_back(&input);
  return run;
}

template <class Message>
Bytes written(const Message& message) {
  return write_message(message);
}
Bytes written(const FillMessage& message) {
  return write_fill(message.member, run_of(message.block));
}
Bytes written(const InputsMessage& message) {
  std::vector<InputRun> runs;
  for (const InputBlock& block : message.blocks) runs.push_back(run_of(block));
  return write_inputs_message(message, runs);
}

Bytes written_again(std::span<const std::byte> bytes) {
  const std::optional<PeerMessage> message = read_message(bytes);
  if (!message) return {};
  return std::visit([](const auto& what) { return written(what); }, *message);
}

void try_message(std::span<const std::byte> bytes) {
  const Bytes once = written_again(bytes);
  require(once.size() <= k_longest_message);
  require(once == written_again(once));
}

void try_inputs(std::span<const std::byte> bytes) {
  if (bytes.empty()) return;
  const auto count = static_cast<std::size_t>(bytes[0]);
  ByteReader in(bytes.subspan(1));
  const std::vector<PeerInput> inputs = read_inputs(in, count);
  if (!in.ok()) return;
  require(inputs.size() == count);
  std::vector<const PeerInput*> all;
  for (const PeerInput& input : inputs) all.push_back(&input);
  Bytes again;
  ByteWriter out(again);
  write_inputs(out, all);
  ByteReader in_again(again);
  require(read_inputs(in_again, count) == inputs && in_again.at_end());
}

void try_snapshot(std::span<const std::byte> bytes) {
  const std::optional<ObjectiveSnapshot> snapshot = decode_snapshot(bytes);
  if (!snapshot) return;
  const std::optional<ObjectiveSnapshot> again = decode_snapshot(encode_snapshot(*snapshot));
  require(again && *again == *snapshot);
}

void try_introduction(std::span<const std::byte> bytes) {
  const auto introduction = read_introduction({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  if (!introduction) return;
  const std::string again = write_introduction(*introduction);
  require(again.size() <= k_longest_event && read_introduction(again) == introduction);
}

// A shelf with one object of two and a half pieces.
void try_transfer(std::span<const std::byte> bytes) {
  static const auto content = [] {
    Bytes all(2 * k_piece + k_piece / 2);
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::byte>(i * 7);
    return std::make_shared<const Bytes>(std::move(all));
  }();
  ObjectShelf shelf;
  const ObjectName object = shelf.put(content);
  ObjectFetch fetch(object);
  // The input is a row of messages; a first byte of their length chooses whom they go to.
  while (bytes.size() > 2) {
    const bool to_shelf = (std::to_integer<unsigned>(bytes[0]) & 1U) != 0;
    const std::size_t size = std::min(bytes.size() - 2, std::size_t{std::to_integer<unsigned>(bytes[0]) / 2} * 16 +
                                                            std::to_integer<unsigned>(bytes[1]) % 16);
    Bytes message(bytes.begin() + 2, bytes.begin() + 2 + static_cast<std::ptrdiff_t>(size));
    bytes = bytes.subspan(2 + size);
    // Nobody would find the name by chance.
    if (message.size() > 33 && message[1] == std::byte{0xff})
      std::copy(object.id.begin(), object.id.end(), message.begin() + 1);
    if (!to_shelf) {
      fetch.receive(message);
      continue;
    }
    const std::vector<Bytes> answers = shelf.answer(message);
    require(answers.size() <= 32);
    for (const Bytes& answer : answers) {
      require(answer.size() <= 1148);
      fetch.receive(answer);
    }
  }
  if (!fetch.is_complete()) return;
  const std::shared_ptr<const Bytes> taken = fetch.take();
  require(taken == nullptr ? !fetch.is_complete() : *taken == *content);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const auto bytes = std::as_bytes(std::span(data, size)).subspan(1);
  switch (data[0]) {
    case '0': try_message(bytes); break;
    case '1': try_inputs(bytes); break;
    case '2': try_snapshot(bytes); break;
    case '3': try_introduction(bytes); break;
    case '4': try_transfer(bytes); break;
    default: break;
  }
  return 0;
}
