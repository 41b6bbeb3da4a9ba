// Whatever the bytes are, a recording is read or refused with an Error, and one of the fuzzer's own world is played;
// nothing else may happen.
#include "small_world.h"

#include <cotouch/base/error.h>
#include <cotouch/base/hash.h>
#include <cotouch/touch/recording.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <vector>

using namespace cotouch;

namespace {

void play(Recording recording) {
  const std::shared_ptr<const WorldModel>& world = fuzzing::small_world();
  recording.model_hash = world->hash();  // a stranger would write the right one
  if (recording.samples.size() > 16) recording.samples.resize(16);
  Replay replay(recording, world);
  while (replay.next()) {
    for (const HandSample& hand : replay.sample().hands)
      if (!is_finite(hand.felt.force) || !is_finite(hand.felt.torque)) std::abort();
  }
}

// Right hashes for a file of version 6 or later: of its head, and of each block together with what came before.
void sign_blocks(std::vector<std::byte>& bytes) {
  const auto number = [&](std::size_t at) {
    std::uint32_t value = 0;
    std::memcpy(&value, bytes.data() + at, sizeof value);
    return std::size_t{value};
  };
  constexpr std::size_t k_counts = 44, k_block = 12, k_hash = 8;
  if (bytes.size() < k_counts) return;
  const std::size_t hands = (number(12) & 2U) != 0 ? number(16) : 0;
  std::size_t begin = 0, end = k_counts + 6 * 8 + hands * (9 + 5) * 8 + number(24) + number(28);
  std::uint64_t chain = 0;
  while (end + k_hash <= bytes.size()) {
    Hasher hasher;
    if (begin > 0) hasher.add(chain);
    hasher.add_bytes(std::span(bytes).subspan(begin, end - begin));
    chain = hasher.digest();
    std::memcpy(bytes.data() + end, &chain, k_hash);
    begin = end + k_hash;
    if (begin + k_block > bytes.size()) return;
    end = begin + k_block + number(begin + 8);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::span<const std::byte> bytes = std::as_bytes(std::span(data, size));
  // The others have right checksums, or the fuzzer would never get past them.
  std::vector<std::byte> signed_bytes(bytes.begin(), bytes.end()), signed_blocks = signed_bytes;
  sign_blocks(signed_blocks);
  if (signed_bytes.size() >= 8) {
    const std::uint64_t check = hash_bytes(bytes.first(size - 8));
    std::memcpy(signed_bytes.data() + size - 8, &check, 8);
  }
  for (const std::span<const std::byte> file :
       {bytes, std::span<const std::byte>(signed_bytes), std::span<const std::byte>(signed_blocks)}) {
    try {
      const Recording recording = parse_recording(file, "input");
      for (std::size_t hand = 0; hand < recording.hands; ++hand) {
        RecordedDevice device(recording, hand);
        DeviceReading reading;
        while (device.read(reading)) {
        }
      }
      recorded_people(recording);
      play(recording);
    } catch (const Error&) {
    }
  }
  return 0;
}
