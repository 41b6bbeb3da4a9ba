// Whatever the bytes are, a tick's inputs are refused or come back the same once they are written again.
#include <cotouch/session/tick_record.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace cotouch;
  std::vector<HandInput> inputs, again;
  if (!decode_tick(std::as_bytes(std::span(data, size)), inputs)) return 0;
  if (inputs.size() > k_tick_hands || !decode_tick(encode_tick(inputs), again) || again.size() != inputs.size())
    std::abort();
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (std::memcmp(&again[i].pose, &inputs[i].pose, sizeof(Pose)) != 0 || again[i].body != inputs[i].body)
      std::abort();
  return 0;
}
