// Whatever the bytes are, a recording is read or refused with an Error; nothing else may happen.
#include <cotouch/base/error.h>
#include <cotouch/base/hash.h>
#include <cotouch/touch/recording.h>

#include <cstring>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::span<const std::byte> bytes = std::as_bytes(std::span(data, size));
  // The second try has a right checksum, or the fuzzer would never get past it.
  std::vector<std::byte> signed_bytes(bytes.begin(), bytes.end());
  if (signed_bytes.size() >= 8) {
    const std::uint64_t check = cotouch::hash_bytes(bytes.first(size - 8));
    std::memcpy(signed_bytes.data() + size - 8, &check, 8);
  }
  for (const std::span<const std::byte> file : {bytes, std::span<const std::byte>(signed_bytes)}) {
    try {
      const cotouch::Recording recording = cotouch::parse_recording(file, "input");
      for (std::size_t hand = 0; hand < recording.hands; ++hand) {
        cotouch::RecordedDevice device(recording, hand);
        cotouch::DeviceReading reading;
        while (device.read(reading)) {
        }
      }
    } catch (const cotouch::Error&) {
    }
  }
  return 0;
}
