// What a hand did and felt, in a file, and the device that plays it back.
//
// A recording holds everything the force depends on besides the two bodies: settings, limits, start poses, what the
// limiter remembered, and cycle by cycle the hand's pose and whether its force had been taken away, as a stall of the
// loop does. Played back without the clock against the same bodies it gives the same forces, bit for bit. It may begin
// in the midst of a loop, with a change to an engine that remembers nothing (TouchMark).
//
// File, version 3, little-endian, no padding: the eight bytes "COTOUCHR"; u32 version; u32 bytes per sample; u64 number
// of samples; settings and poses as in `Recording`, in that order, each number a f64 and each choice a u32; u32 length
// of the scene's name and the name; the samples as in `TouchSample`; u64 XXH3 of everything before it.
#pragma once

#include <cotouch/touch/loop.h>

#include <filesystem>
#include <string>
#include <vector>

namespace cotouch {

struct Recording {
  HeldObjectSettings object;
  LimitSettings limits;
  Pose start;  // of the held object before the first cycle
  Pose other;  // of the body it touches
  LimiterState limiter;
  std::string scene;  // what was touched, at most 255 bytes
  std::vector<TouchSample> samples;
};

// The head of a recording of what `object` is about to do.
Recording begin_recording(const HeldObject& object, const LimitSettings& limits, std::string scene);
// Of what a running loop does from `mark` on, where it took over `change`.
Recording begin_recording(const TouchChange& change, const TouchMark& mark, const Pose& other, std::string scene);
// Appends what the loop has queued up to now, without the cycles before `first`; time counts from there. For the loop's
// one sample reader.
void collect_samples(TouchLoop& loop, Recording& recording, std::uint64_t first = 0);

// The file is there whole or not at all. Throws Error where it cannot be written.
void write_recording(const Recording& recording, const std::filesystem::path& file);
// Throws Error on a file that is not a whole recording of finite numbers. Memory is bounded by the file's size.
Recording read_recording(const std::filesystem::path& file);
// The same from bytes; `name` is for the message.
Recording parse_recording(std::span<const std::byte> bytes, const std::string& name);

// Plays a recording's hand, whatever it feels; its script ends with the last sample.
class RecordedDevice final : public Device {
 public:
  explicit RecordedDevice(std::vector<TouchSample> samples) : samples_(std::move(samples)) {}

  std::string name() const override { return "recorded path"; }
  bool read(DeviceReading& reading) noexcept override;

 protected:
  void write(const Wrench&) noexcept override {}

 private:
  std::vector<TouchSample> samples_;
  std::size_t next_ = 0;
};

}  // namespace cotouch
