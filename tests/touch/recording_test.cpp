#include <cotouch/touch/recording.h>

#include <cotouch/base/error.h>
#include <cotouch/base/file.h>
#include <cotouch/base/hash.h>
#include <cotouch/base/random.h>
#include <cotouch/touch/simulated_device.h>

#include "fixtures.h"
#include "support/temporary_folder.h"

#include <gtest/gtest.h>

#include <cstring>

namespace cotouch {
namespace {

using testing::HalfspaceContact;
using testing::shell_in_hand;

const std::vector<Vec3d> k_feet{{0.02, 0, 0}, {-0.02, 0.01, 0}, {0, -0.03, 0.001}};

// A hand that presses a three-footed object onto a floor and turns it.
Recording recorded_press() {
  HalfspaceContact contact(3000, k_feet);
  const Pose start{{0, 0, 0.005}, {}};
  SimulatedDevice device({}, {}, HandPath({start, {{0.01, 0, -0.004}, quat_from_rotation_vector({0.1, 0, 0.2})}}, 0.1));
  HeldObject object(contact, shell_in_hand(), start);
  TouchLoop loop(device, object, {});
  Recording recording = begin_recording(object, {}, "three feet");
  loop.run_cycles(100000);
  collect_samples(loop, recording);
  return recording;
}

std::vector<std::byte> bytes_of(const Recording& recording) {
  const TemporaryFolder folder;
  const std::filesystem::path file = folder / "press.rec";
  write_recording(recording, file);
  const MappedFile mapped = map_file(file);
  std::vector<std::byte> bytes(mapped.bytes.begin(), mapped.bytes.end());
  return bytes;
}

void sign(std::vector<std::byte>& bytes) {
  const std::uint64_t check = hash_bytes(std::span(bytes).first(bytes.size() - 8));
  std::memcpy(bytes.data() + bytes.size() - 8, &check, 8);
}

TEST(Recording, ComesBackFromItsFileUnchanged) {
  Recording recording = recorded_press();
  recording.object.coupling.linear_stiffness = 1234.5;
  recording.limits.ramp_seconds = 0.25;
  recording.other.position = {1, 2, 3};
  ASSERT_GT(recording.samples.size(), 200U);
  const TemporaryFolder folder;
  const std::filesystem::path file = folder / "press.rec";
  write_recording(recording, file);
  const Recording back = read_recording(file);
  EXPECT_TRUE(back.samples == recording.samples);
  EXPECT_EQ(back.scene, "three feet");
  EXPECT_EQ(back.start, recording.start);
  EXPECT_EQ(back.other, recording.other);
  EXPECT_EQ(back.object.coupling.linear_stiffness, 1234.5);
  EXPECT_EQ(back.object.moving, Moving::shell);
  EXPECT_EQ(back.limits.ramp_seconds, 0.25);
}

TEST(Recording, PlaysBackTheSameForcesBitForBit) {
  const std::vector<std::byte> file = bytes_of(recorded_press());
  const Recording recording = parse_recording(file, "test");
  HalfspaceContact contact(3000, k_feet);
  RecordedDevice device(recording.samples);
  HeldObject object(contact, recording.object, recording.start, recording.other);
  TouchLoopSettings settings;
  settings.limits = recording.limits;
  TouchLoop loop(device, object, settings);
  Recording again = begin_recording(object, settings.limits, recording.scene);
  loop.run_cycles(100000);
  collect_samples(loop, again);
  EXPECT_TRUE(again.samples == recording.samples);
  double most = 0;
  for (const TouchSample& sample : again.samples) most = std::max(most, norm(sample.felt.force));
  EXPECT_GT(most, 1);  // there was something to feel
}

TEST(Recording, RefusesEveryTruncationAndEveryFlippedByte) {
  Recording recording = recorded_press();
  recording.samples.resize(3);
  const std::vector<std::byte> whole = bytes_of(recording);
  for (std::size_t size = 0; size < whole.size(); ++size)
    EXPECT_THROW(parse_recording(std::span(whole).first(size), "cut"), Error) << size;
  for (std::size_t at = 0; at < whole.size(); ++at) {
    std::vector<std::byte> flipped = whole;
    flipped[at] ^= std::byte{0x41};
    EXPECT_THROW(parse_recording(flipped, "flipped"), Error) << at;
  }
}

TEST(Recording, RefusesNumbersThatAreNoneAndCountsBeyondTheFileEvenWithARightChecksum) {
  Recording recording = recorded_press();
  recording.samples.resize(3);
  const std::vector<std::byte> whole = bytes_of(recording);
  // Any eight bytes made NaN or huge: refused, or read as something finite (a name, a count of contacts).
  Random random(51);
  for (std::size_t at = 8; at + 16 <= whole.size(); at += 4) {
    std::vector<std::byte> bytes = whole;
    const std::uint64_t poison = random.below(2) ? 0x7ff8000000000000ULL : 0xffffffffffffffffULL;
    std::memcpy(bytes.data() + at, &poison, 8);
    sign(bytes);
    try {
      for (const TouchSample& sample : parse_recording(bytes, "poisoned").samples) {
        EXPECT_TRUE(is_finite(sample.hand) && is_finite(sample.object) && std::isfinite(sample.time));
        EXPECT_TRUE(is_finite(sample.felt.force) && is_finite(sample.felt.torque));
      }
    } catch (const Error&) {
    }
  }
  std::vector<std::byte> greedy = whole;
  const std::uint64_t many = std::uint64_t{1} << 60;
  std::memcpy(greedy.data() + 16, &many, 8);
  sign(greedy);
  EXPECT_THROW(parse_recording(greedy, "greedy"), Error);
}

TEST(Recording, SaysWhichFileIsMissingOrUnwritable) {
  try {
    read_recording("nowhere/at_all.rec");
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("at_all.rec"), std::string::npos);
  }
  EXPECT_THROW(write_recording({}, "nowhere/at_all.rec"), Error);
}

}  // namespace
}  // namespace cotouch
