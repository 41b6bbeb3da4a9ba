#include <cotouch/touch/recording.h>

#include <cotouch/base/error.h>
#include <cotouch/base/file.h>
#include <cotouch/base/hash.h>
#include <cotouch/base/random.h>
#include <cotouch/touch/scripted_device.h>
#include <cotouch/touch/simulated_device.h>

#include "fixtures.h"
#include "support/eventually.h"
#include "support/temporary_folder.h"

#include <gtest/gtest.h>

#include <algorithm>
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

bool alike(const Recording& a, const Recording& b) {
  return std::equal(a.samples.begin(), a.samples.end(), b.samples.begin(), b.samples.end(), felt_alike);
}

TEST(Recording, ComesBackFromItsFileUnchanged) {
  Recording recording = recorded_press();
  recording.object.coupling.linear_stiffness = 1234.5;
  recording.limits.ramp_seconds = 0.25;
  recording.other.position = {1, 2, 3};
  recording.limiter = {{{0.5, -1, 2}, {0.01, 0, 0.02}}, 0.625};
  recording.samples[7].visited = 4321;
  recording.samples[7].cycle_ns = 98765;
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
  EXPECT_EQ(back.limiter, recording.limiter);
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
  EXPECT_TRUE(alike(again, recording));
  double most = 0;
  for (const TouchSample& sample : again.samples) most = std::max(most, norm(sample.felt.force));
  EXPECT_GT(most, 1);  // there was something to feel
}

TEST(Recording, BegunInTheMidstOfALoopItPlaysBackTheSameForcesAndTheLoopFeelsNothingOfIt) {
  // Two equal loops; one of them is asked to record in the middle, while the force is still fading in.
  constexpr std::uint64_t k_before = 60;
  std::vector<TouchSample> undisturbed;
  Recording recording;
  for (const bool record : {false, true}) {
    HalfspaceContact contact(3000, k_feet), fresh(3000, k_feet);
    const Pose start{{0, 0, 0.001}, {}};
    ScriptedDevice device(HandPath({start, {{0.01, 0, -0.004}, quat_from_rotation_vector({0.1, 0, 0.2})}}, 0.05), 1e-3);
    HeldObject object(contact, shell_in_hand(), start);
    TouchLoop loop(device, object, {});
    ASSERT_EQ(loop.run_cycles(k_before), k_before);
    const TouchChange change{&fresh, shell_in_hand(), {}};
    if (record) {
      ASSERT_EQ(loop.change(change), 1U);
    }
    EXPECT_EQ(loop.frame().mark.change, 0U);  // it waits for the next cycle
    loop.run_cycles(1000);
    if (!record) {
      for (TouchSample sample; loop.next_sample(sample);) undisturbed.push_back(sample);
      continue;
    }
    const TouchMark mark = loop.frame().mark;
    EXPECT_EQ(mark.change, 1U);
    EXPECT_EQ(mark.cycle, k_before);
    recording = begin_recording(change, mark, {}, "midst");
    collect_samples(loop, recording, mark.cycle);
  }
  ASSERT_EQ(recording.samples.size(), undisturbed.size() - k_before);
  for (std::size_t i = 0; i < recording.samples.size(); ++i) {
    EXPECT_EQ(recording.samples[i].felt.force, undisturbed[k_before + i].felt.force);
    EXPECT_EQ(recording.samples[i].time, static_cast<double>(i) * 1e-3);
  }
  EXPECT_GT(recording.limiter.ramp, 0.1);
  EXPECT_LT(recording.limiter.ramp, 0.9);
  EXPECT_GT(norm(recording.limiter.last.force), 0);

  HalfspaceContact contact(3000, k_feet);
  RecordedDevice device(recording.samples);
  HeldObject object(contact, recording.object, recording.start, recording.other);
  TouchLoop loop(device, object, {});
  loop.resume(recording.limiter);
  Recording again = begin_recording(object, recording.limits, "again");
  loop.run_cycles(100000);
  collect_samples(loop, again);
  EXPECT_TRUE(alike(again, recording));
}

// What a recording's hand feels when it is played again against the floor it was pressed on.
std::vector<TouchSample> played_again(const Recording& recording) {
  HalfspaceContact contact(3000, k_feet);
  RecordedDevice device(recording.samples);
  HeldObject object(contact, recording.object, recording.start, recording.other);
  TouchLoopSettings settings;
  settings.limits = recording.limits;
  settings.queued_samples = recording.samples.size();
  TouchLoop loop(device, object, settings);
  loop.resume(recording.limiter);
  Recording again;
  loop.run_cycles(recording.samples.size());
  collect_samples(loop, again);
  return again.samples;
}

TEST(Recording, PlaysBackTheSameForcesThoughTheDeviceWasSwitchedOffStalledAndLostMeanwhile) {
  HalfspaceContact contact(3000, k_feet);
  testing::ProbeDevice device;
  int read = 0;
  std::atomic<bool> hang{false}, hanging{false};
  device.on_read = [&](DeviceReading& reading) {
    ++read;
    reading.pose = {{0, 0, -4e-3 + 1e-6 * read}, {}};
    if (read > 150 && read <= 170) reading.motors = Motors::off;
    if (read == 300) reading.motors = Motors::restarted;
    while (hang.load()) {
      hanging.store(true);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return read < 450 || read > 460;
  };
  HeldObject object(contact, shell_in_hand(), {});
  TouchLoopSettings settings;
  settings.wait_for_device = true;
  settings.queued_samples = 1U << 16U;
  TouchLoop loop(device, object, settings);
  Recording recording = begin_recording(object, {}, "troubles");
  loop.run_cycles(449);
  EXPECT_EQ(loop.run_cycles(100), 0U);
  while (loop.frame().state == TouchState::device_lost) loop.run_cycles(1);
  loop.run_cycles(150);

  loop.start();
  ASSERT_TRUE(eventually([&] { return device.force.load() > 2; }));
  hang.store(true);
  ASSERT_TRUE(eventually([&] { return hanging.load(); }));
  const bool silenced = eventually([&] { return device.force.load() == 0; });
  hang.store(false);  // before any assertion, or the thread would never end
  EXPECT_TRUE(silenced);
  ASSERT_TRUE(eventually([&] { return device.force.load() > 2; }));
  loop.stop();
  collect_samples(loop, recording);

  const std::vector<TouchSample>& samples = recording.samples;
  for (std::size_t i = 0; i < 600; ++i) {
    const bool off = i >= 150 && i < 170, starts = i == 0 || i == 170 || i == 299 || i == 449;
    EXPECT_EQ(samples[i].motors, off ? Motors::off : starts ? Motors::restarted : Motors::on) << i;
    if (off) {
      EXPECT_EQ(samples[i].felt, Wrench{});
    }
  }
  EXPECT_GT(norm(samples[149].felt.force), 2);
  EXPECT_LT(norm(samples[170].felt.force), 0.2);
  EXPECT_GT(samples[449].time - samples[448].time, 0.005);
  const auto restarts = [](const TouchSample& sample) { return sample.motors == Motors::restarted; };
  EXPECT_GE(std::count_if(samples.begin() + 600, samples.end(), restarts), 1);

  Recording kept = parse_recording(bytes_of(recording), "test");
  const std::vector<TouchSample> again = played_again(kept);
  EXPECT_TRUE(std::equal(again.begin(), again.end(), samples.begin(), samples.end(), felt_alike));
  // Without what happened to the motors the forces would be others.
  for (TouchSample& sample : kept.samples) sample.motors = Motors::on;
  const std::vector<TouchSample> without = played_again(kept);
  EXPECT_FALSE(std::equal(without.begin(), without.end(), samples.begin(), samples.end(), felt_alike));
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
