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
#include <cmath>
#include <cstring>

namespace cotouch {
namespace {

using testing::k_peg;
using testing::peg_model;

// Five hundred points, so that there are levels to choose from.
std::shared_ptr<const WorldModel> foot_model() {
  static const std::shared_ptr<const WorldModel> model = [] {
    std::vector<Vec3d> points;
    const Shell ball = contact_test::ball_shell(0.01, 500, 1);
    for (const Vec3f& p : ball.data().positions) points.emplace_back(p);
    return peg_model(3e4, points, {}, 1e-3, {{0, 0, 0.015}, {}});
  }();
  return model;
}

const Pose k_start{{0, 0, 0.015}, {}};
const std::vector<Pose> k_keys{k_start, {{0.01, 0, 0.004}, quat_from_rotation_vector({0.1, 0, 0.2})}, k_start};

// Two hands at one foot, pressed on a plate and turned; the node budget changes, and with it the levels.
Recording recorded_press(std::uint64_t before = 0) {
  LocalWorld world(foot_model(), {Detail::Rule::by_work, WorkBudget::of(120), {}});
  LocalWorld tight(foot_model(), {Detail::Rule::by_work, WorkBudget::of(40), {}});
  SimulatedDevice one({}, {}, HandPath(k_keys, 0.1), k_peg);
  ScriptedDevice two(HandPath({k_start, {{0, 0.002, 0.008}, {}}}, 0.02), k_peg);
  TouchLoop loop({&one, &two}, world, {});
  if (before > 0) {
    EXPECT_EQ(loop.run_cycles(before), before);
    EXPECT_NE(loop.change({&tight, {}}), 0U);
    EXPECT_EQ(loop.run_cycles(1), 1U);
  }
  WorldMark mark = loop.mark();
  Recording recording = begin_recording(world.model(), mark, {}, loop.hands(), "a foot");
  loop.run_cycles(300);
  if (before == 0) {
    loop.change({&tight, {}});
    loop.run_cycles(1000);
  }
  collect_samples(loop, recording, before);
  return recording;
}

std::vector<std::byte> bytes_of(const Recording& recording) {
  const TemporaryFolder folder;
  const std::filesystem::path file = folder / "press.rec";
  write_recording(recording, file);
  const MappedFile mapped = map_file(file);
  return {mapped.bytes.begin(), mapped.bytes.end()};
}

void sign(std::vector<std::byte>& bytes) {
  const std::uint64_t check = hash_bytes(std::span(bytes).first(bytes.size() - 8));
  std::memcpy(bytes.data() + bytes.size() - 8, &check, 8);
}

std::size_t same_cycles(const Recording& recording) {
  Replay replay(recording, foot_model());
  while (replay.next()) {
  }
  EXPECT_EQ(replay.identical(), replay.same() == recording.samples.size());
  return replay.same();
}

TEST(Recording, ComesBackFromItsFileUnchanged) {
  Recording recording = recorded_press();
  recording.limits.ramp_seconds = 0.25;
  recording.limiters[1] = {{{0.5, -1, 2}, {0.01, 0, 0.02}}, 0.625};
  recording.samples[7].visited = 4321;
  recording.samples[7].cycle_ns = 98765;
  ASSERT_GT(recording.samples.size(), 200U);
  const Recording back = parse_recording(bytes_of(recording), "test");
  EXPECT_EQ(back.scene, "a foot");
  EXPECT_EQ(back.model_hash, recording.model_hash);
  EXPECT_EQ(back.hands, 2U);
  EXPECT_EQ(back.pairs, 1U);
  EXPECT_EQ(back.limits.ramp_seconds, 0.25);
  EXPECT_EQ(back.limiters, recording.limiters);
  EXPECT_EQ(back.state, recording.state);
  ASSERT_EQ(back.samples.size(), recording.samples.size());
  for (std::size_t i = 0; i < back.samples.size(); ++i) {
    const TouchSample &a = back.samples[i], &b = recording.samples[i];
    ASSERT_TRUE(a.time == b.time && a.hands[0] == b.hands[0] && a.hands[1] == b.hands[1]) << i;
    ASSERT_TRUE(a.levels[0] == b.levels[0] && a.state_hash == b.state_hash && a.in_contact == b.in_contact) << i;
    ASSERT_TRUE(a.visited == b.visited && a.deepest == b.deepest && a.cycle_ns == b.cycle_ns) << i;
  }
}

TEST(Recording, OfTwoHandsPlaysBackTheSameForcesStatesAndLevelsBitForBit) {
  const Recording recording = parse_recording(bytes_of(recorded_press()), "test");
  EXPECT_EQ(same_cycles(recording), recording.samples.size());
  double most[2] = {0, 0};
  std::size_t levels = 0;
  for (std::size_t i = 0; i < recording.samples.size(); ++i) {
    for (std::size_t hand = 0; hand < 2; ++hand)
      most[hand] = std::max(most[hand], norm(recording.samples[i].hands[hand].felt.force));
    levels += i > 0 && recording.samples[i].levels[0] != recording.samples[i - 1].levels[0];
  }
  EXPECT_GT(most[0], 1);  // there was something to feel
  EXPECT_GT(most[1], 1);
  EXPECT_GE(levels, 1U);
}

TEST(Recording, NoticesTheFirstCycleThatComesOutOtherwise) {
  Recording recording = recorded_press();
  recording.samples[120].hands[1].input.pose.position.x += 1e-9;
  EXPECT_EQ(same_cycles(recording), 120U);
  recording = recorded_press();
  recording.samples[90].hands[0].felt.force.y += 1e-15;
  EXPECT_EQ(same_cycles(recording), 90U);
  // Without the levels that were rendered the states would be others.
  recording = recorded_press();
  for (TouchSample& sample : recording.samples) sample.levels[0] = 0;
  EXPECT_LT(same_cycles(recording), recording.samples.size());
}

TEST(Recording, BegunInTheMidstOfALoopPlaysBackTheSame) {
  const Recording recording = recorded_press(60);
  ASSERT_EQ(recording.samples.size(), 301U);
  EXPECT_EQ(recording.samples[0].time, 0);
  EXPECT_GT(recording.limiters[0].ramp, 0.1);  // while the force was still fading in
  EXPECT_LT(recording.limiters[0].ramp, 0.9);
  EXPECT_EQ(same_cycles(recording), 301U);
}

TEST(Recording, CanBeFeltAgainHandByHand) {
  const Recording recording = recorded_press();
  LocalWorld world(foot_model());
  RecordedDevice one(recording, 0), two(recording, 1);
  EXPECT_THROW(RecordedDevice(recording, 2), Error);
  TouchLoop loop({&one, &two}, world, {});
  std::size_t i = 0;
  while (loop.run_cycles(1) == 1) {
    const TouchSample& was = recording.samples[i++];
    for (std::size_t hand = 0; hand < 2; ++hand)
      ASSERT_EQ(loop.frame().sample.hands[hand].input, was.hands[hand].input);
  }
  EXPECT_EQ(i, recording.samples.size());
}

TEST(Recording, IsNotPlayedInAnotherWorldNorFromAStateThatIsNone) {
  Recording recording = recorded_press();
  EXPECT_THROW(Replay(recording, peg_model()), Error);
  recording.state.resize(recording.state.size() - 8);
  EXPECT_THROW(Replay(recording, foot_model()), Error);
}

TEST(Recording, PlaysBackTheSameForcesThoughADeviceWasSwitchedOffStalledAndLostMeanwhile) {
  testing::ProbeDevice device(k_peg);
  int read = 0;
  std::atomic<bool> hang{false}, hanging{false};
  device.on_read = [&](DeviceReading& reading) {
    ++read;
    const bool first = read == 1 || read == 461;  // where it takes hold
    reading.pose = {{0, 0, first ? 0.015 : 0.006 + 1e-6 * read}, {}};
    if (read > 150 && read <= 170) reading.motors = Motors::off;
    if (read == 300) reading.motors = Motors::restarted;
    while (hang.load()) {
      hanging.store(true);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return read < 450 || read > 460;
  };
  LocalWorld world(foot_model());
  TouchLoopSettings settings;
  settings.wait_for_device = true;
  settings.queued_samples = 1U << 16U;
  TouchLoop loop({&device}, world, settings);
  Recording recording = begin_recording(world.model(), loop.mark(), {}, 1, "troubles");
  EXPECT_EQ(loop.run_cycles(449), 449U);
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
  for (std::size_t i = 0; i < 449; ++i) {
    const bool off = i >= 150 && i < 170, starts = i == 0 || i == 170 || i == 299;
    EXPECT_EQ(samples[i].hands[0].motors, off ? Motors::off : starts ? Motors::restarted : Motors::on) << i;
    if (off) {
      EXPECT_EQ(samples[i].hands[0].felt, Wrench{});
    }
  }
  EXPECT_GT(norm(samples[149].hands[0].felt.force), 2);
  EXPECT_LT(norm(samples[170].hands[0].felt.force), 0.2);
  const auto restarts = [](const TouchSample& sample) { return sample.hands[0].motors == Motors::restarted; };
  EXPECT_GE(std::count_if(samples.begin() + 460, samples.end(), restarts), 1);

  Recording kept = parse_recording(bytes_of(recording), "test");
  EXPECT_EQ(same_cycles(kept), samples.size());
  // Without what happened to the motors the forces would be others.
  for (TouchSample& sample : kept.samples) sample.hands[0].motors = Motors::on;
  EXPECT_LT(same_cycles(kept), samples.size());
}

TEST(Recording, RefusesEveryTruncationAndEveryFlippedByte) {
  Recording recording = recorded_press();
  recording.samples.resize(2);
  const std::vector<std::byte> whole = bytes_of(recording);
  EXPECT_NO_THROW(parse_recording(whole, "whole"));
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
      const Recording read = parse_recording(bytes, "poisoned");
      for (const TouchSample& sample : read.samples) {
        EXPECT_TRUE(std::isfinite(sample.time));
        for (const HandSample& hand : sample.hands)
          EXPECT_TRUE(is_finite(hand.input.pose) && is_finite(hand.felt.force) && is_finite(hand.felt.torque));
      }
      Replay replay(read, foot_model());  // whatever it holds, playing it is safe
      while (replay.next()) {
      }
    } catch (const Error&) {
    }
  }
  for (const std::size_t count_at : {12U, 16U, 20U, 24U, 32U}) {  // hands, pairs, description, state, samples
    std::vector<std::byte> greedy = whole;
    const std::uint32_t many = 1U << 30;
    std::memcpy(greedy.data() + count_at, &many, 4);
    sign(greedy);
    EXPECT_THROW(parse_recording(greedy, "greedy"), Error) << count_at;
  }
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
