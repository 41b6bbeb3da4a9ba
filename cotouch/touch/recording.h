// What hands did and felt, in a file, and how it is felt again.
//
// A recording is a snapshot of the world and the inputs of every hand, cycle by cycle, with the level of detail of
// every pair, what was felt and a hash of the state after each cycle. Stepped again without the clock from the same
// model it gives the same forces and states, bit for bit. It may begin in the midst of a running loop (TouchMark).
//
// File, version 4, little-endian, no padding: the eight bytes "COTOUCHR"; u32 version; u32 number of hands H; u32
// number of pairs P whose levels are kept (at most 64); u32 length of the scene's description; u64 bytes of the state;
// u64 number of samples; u64 hash of the world's model; f64 each of `LimitSettings` in its order; for each hand a
// `LimiterState` (7 f64); the description; the state; then for each sample: f64 time; for each hand: u32 present, u32
// action, u32 body, u32 buttons, pose (7 f64), felt (6 f64), u32 motors, u32 zero; P bytes of levels and zeros up to a
// multiple of 8; u64 state hash; u32 points in contact; u32 nodes visited; f32 deepest; u32 nanoseconds; and at the end
// u64 XXH3 of everything before it.
#pragma once

#include <cotouch/touch/loop.h>

#include <filesystem>
#include <string>
#include <vector>

namespace cotouch {

struct Recording {
  std::string scene;             // where it was made, in words the session understands; at most 64 KiB
  std::uint64_t model_hash = 0;  // of the world it was made in
  LimitSettings limits;
  std::uint32_t hands = 0, pairs = 0;
  std::vector<LimiterState> limiters;  // one a hand
  std::vector<std::byte> state;        // of the world before the first sample
  std::vector<TouchSample> samples;
};

// The head of a recording of what a loop does from `mark` on.
Recording begin_recording(const WorldModel& model, const WorldMark& mark, const LimitSettings& limits,
                          std::size_t hands, std::string scene);
// Appends what the loop has queued up to now, without the cycles before `first`; time counts from there. For the loop's
// one sample reader.
void collect_samples(TouchLoop& loop, Recording& recording, std::uint64_t first = 0);

// The file is there whole or not at all. Throws Error if it cannot be written.
void write_recording(const Recording& recording, const std::filesystem::path& file);
// Throws Error on a file that is not a whole recording of finite numbers. Memory is bounded by the file's size.
Recording read_recording(const std::filesystem::path& file);
// The same from bytes; `name` is for the message.
Recording parse_recording(std::span<const std::byte> bytes, const std::string& name);

// Steps a recording again, cycle by cycle, and compares.
class Replay {
 public:
  // Throws Error if the recording was made in another world.
  Replay(const Recording& recording, const std::shared_ptr<const WorldModel>& model);

  // The next cycle; false once there is none.
  bool next() noexcept;
  const WorldState& state() const noexcept { return world_.state(); }
  const TouchWorld& world() const noexcept { return world_; }
  const TouchSample& sample() const noexcept { return felt_; }  // felt again; times are the recorded ones
  // Of the cycles so far: how many came out the same before the first that did not.
  std::size_t same() const noexcept { return same_; }
  bool identical() const noexcept { return same_ == done_; }

 private:
  class Silent final : public Device {  // what a limiter writes to
   public:
    std::string name() const override { return "recording"; }
    bool read(DeviceReading&) noexcept override { return true; }

   protected:
    void write(const Wrench&) noexcept override {}
  };
  const Recording& recording_;
  LocalWorld world_;
  Silent silent_;
  std::vector<std::unique_ptr<ForceLimiter>> limiters_;
  TouchSample felt_;
  std::size_t done_ = 0, same_ = 0;
};

// Plays one hand of a recording, whatever it feels; its script ends with the last sample.
class RecordedDevice final : public Device {
 public:
  explicit RecordedDevice(const Recording& recording, std::size_t hand = 0);

  std::string name() const override { return "recorded path"; }
  bool read(DeviceReading& reading) noexcept override;

 protected:
  void write(const Wrench&) noexcept override {}

 private:
  std::vector<HandSample> samples_;
  std::size_t next_ = 0;
};

}  // namespace cotouch
