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

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::span<const std::byte> bytes = std::as_bytes(std::span(data, size));
  // The second try has a right checksum, or the fuzzer would never get past it.
  std::vector<std::byte> signed_bytes(bytes.begin(), bytes.end());
  if (signed_bytes.size() >= 8) {
    const std::uint64_t check = hash_bytes(bytes.first(size - 8));
    std::memcpy(signed_bytes.data() + size - 8, &check, 8);
  }
  for (const std::span<const std::byte> file : {bytes, std::span<const std::byte>(signed_bytes)}) {
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
