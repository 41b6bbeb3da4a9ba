#include <cotouch/touch/recording.h>

#include <cotouch/base/error.h>
#include <cotouch/base/hash.h>
#include <cotouch/base/random.h>
#include <cotouch/base/read_file.h>
#include <cotouch/device/scripted_device.h>
#include <cotouch/device/simulated_device.h>

#include "fixtures.h"
#include "support/eventually.h"
#include "support/temporary_folder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <set>

namespace cotouch::this_file {
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
  const FileCopy mapped = read_file(file);
  return {mapped.bytes.begin(), mapped.bytes.end()};
}

// Where a file's hashed stretches begin and end: its head and its blocks.
std::vector<std::pair<std::size_t, std::size_t>> stretches(const std::vector<std::byte>& whole) {
  const auto number = [&](std::size_t at) {
    std::uint32_t value;
    std::memcpy(&value, whole.data() + at, 4);
    return std::size_t{value};
  };
  const std::size_t hands = number(16), limited = number(12) & 2U;
  std::size_t end = 44 + 6 * 8 + (limited != 0 ? hands * (9 + 5) * 8 : 0) + number(24) + number(28);
  std::vector<std::pair<std::size_t, std::size_t>> found{{0, end}};
  for (std::size_t at = end + 8; at < whole.size(); at = end + 8) {
    end = at + 12 + number(at + 8);
    found.emplace_back(at, end);
  }
  return found;
}

// Right hashes for bytes that were changed; `whole` is what they were before.
void sign(std::vector<std::byte>& bytes, const std::vector<std::byte>& whole) {
  std::uint64_t chain = 0;
  for (const auto& [begin, end] : stretches(whole)) {
    Hasher hasher;
    if (begin > 0) hasher.add(chain);
    hasher.add_bytes(std::span(bytes).subspan(begin, end - begin));
    chain = hasher.digest();
    std::memcpy(bytes.data() + end, &chain, 8);
  }
}

// Of a damaged file nothing comes back but what is before the damage, and it says that it is not all.
void expect_beginning_of(const Recording& all, std::span<const std::byte> damaged, std::size_t at) {
  try {
    const Recording read = parse_recording(damaged, "damaged");
    EXPECT_FALSE(read.finished) << at;
    ASSERT_LE(read.samples.size(), all.samples.size()) << at;
    for (std::size_t i = 0; i < read.samples.size(); ++i) {
      EXPECT_EQ(read.samples[i].hands, all.samples[i].hands) << at;
      EXPECT_EQ(read.samples[i].state_hash, all.samples[i].state_hash) << at;
    }
    EXPECT_TRUE(read.events.empty() || read.events == all.events) << at;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::damaged_file) << at;
  }
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
    const RecordedSample &a = back.samples[i], &b = recording.samples[i];
    ASSERT_TRUE(a.time == b.time && a.hands == b.hands) << i;
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
      most[hand] = std::max(most[hand], norm(recording.samples[i].hand(hand).felt.force));
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
  for (RecordedSample& sample : recording.samples) sample.levels[0] = 0;
  EXPECT_LT(same_cycles(recording), recording.samples.size());
}

TEST(Recording, WithoutASampleIsNotSaidToBeTheSame) {
  Recording recording = recorded_press();
  recording.samples.clear();
  Replay replay(recording, foot_model());
  EXPECT_FALSE(replay.next());
  EXPECT_FALSE(replay.identical());
}

TEST(Recording, SaysHowMuchOfItCouldNotBeRead) {
  const Recording recording = recorded_press();
  const std::vector<std::byte> whole = bytes_of(recording);
  EXPECT_EQ(parse_recording(whole, "whole").unread, 0U);
  Recording head = recording;
  head.samples.clear();
  head.finished = false;
  const std::size_t behind_head = bytes_of(head).size();
  EXPECT_EQ(parse_recording(std::span(whole).first(behind_head), "head").unread, 0U);  // it breaks off between blocks
  std::vector<std::byte> damaged = whole;
  damaged[behind_head] ^= std::byte{1};
  EXPECT_EQ(parse_recording(damaged, "damaged").unread, whole.size() - behind_head);
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
    const RecordedSample& was = recording.samples[i++];
    for (std::size_t hand = 0; hand < 2; ++hand) ASSERT_EQ(loop.frame().sample.hands[hand].input, was.hand(hand).input);
  }
  EXPECT_EQ(i, recording.samples.size());
}

TEST(Recording, IsNotPlayedInAnotherWorldNorFromAStateThatIsNone) {
  Recording recording = recorded_press();
  EXPECT_THROW(Replay(recording, peg_model()), Error);
  recording.state.erase(recording.state.end() - 8, recording.state.end());
  EXPECT_THROW(Replay(recording, foot_model()), Error);
}

TEST(Recording, PlaysBackTheSameForcesThoughADeviceWasSwitchedOffStalledAndLostMeanwhile) {
  testing::ProbeDevice device(k_peg);
  int read = 0;
  std::atomic<bool> anew{false};
  device.on_read = [&](DeviceReading& reading) {
    ++read;
    const bool first = read == 1 || read == 461 || anew.exchange(false);  // where it takes hold
    reading.pose = {{0, 0, first ? 0.015 : 0.006 + 1e-6 * read}, {}};
    if (read > 150 && read <= 170) reading.motors = Motors::off;
    if (read == 300) reading.motors = Motors::restarted;
    return read < 450 || read > 460;
  };
  testing::Stall stall;
  testing::HookedWorld world(foot_model());
  world.on_cycle = [&] { stall.wait(); };
  TouchLoopSettings settings;
  settings.wait_for_device = true;
  settings.queued_samples = 1U << 16U;
  TouchLoop loop({&device}, world, settings);
  Recording recording = begin_recording(world.model(), loop.mark(), {}, 1, "troubles");
  EXPECT_EQ(loop.run_cycles(449), 449U);
  EXPECT_EQ(loop.run_cycles(100), 0U);
  while (loop.frame().state == TouchState::device_lost) loop.run_cycles(1);
  loop.run_cycles(150);

  // While the touch thread stands, a busy machine may stop another one in the driver, too: the device is disabled then.
  const auto pushes = [&] {
    if (loop.device_state(0) == DeviceState::disabled) anew = true;
    return loop.enable(0) && device.force.load() > 2;
  };
  loop.start();
  ASSERT_TRUE(eventually(pushes));
  stall.begin();
  const bool silenced = eventually([&] { return device.force.load() == 0; });
  stall.end();  // before any assertion, or the thread would never end
  EXPECT_TRUE(silenced);
  ASSERT_TRUE(eventually(pushes));
  loop.stop();
  collect_samples(loop, recording);

  const std::vector<RecordedSample>& samples = recording.samples;
  for (std::size_t i = 0; i < 449; ++i) {
    const bool off = i >= 150 && i < 170, starts = i == 0 || i == 170 || i == 299;
    EXPECT_EQ(samples[i].hand(0).motors, off ? Motors::off : starts ? Motors::restarted : Motors::on) << i;
    if (off) {
      EXPECT_EQ(samples[i].hand(0).felt, Wrench{});
    }
  }
  EXPECT_GT(norm(samples[149].hand(0).felt.force), 2);
  EXPECT_LT(norm(samples[170].hand(0).felt.force), 0.2);
  const auto restarts = [](const RecordedSample& sample) { return sample.hand(0).motors == Motors::restarted; };
  EXPECT_GE(std::count_if(samples.begin() + 460, samples.end(), restarts), 1);

  Recording kept = parse_recording(bytes_of(recording), "test");
  EXPECT_EQ(same_cycles(kept), samples.size());
  // Without what happened to the motors the forces would be others.
  for (RecordedSample& sample : kept.samples)
    for (HandSample& hand : sample.hands) hand.motors = Motors::on;
  EXPECT_LT(same_cycles(kept), samples.size());
}

TEST(Recording, KeepsWhatIsBeforeEveryTruncationAndEveryFlippedByte) {
  Recording recording = recorded_press();
  recording.samples.resize(2);
  const std::vector<std::byte> whole = bytes_of(recording);
  EXPECT_NO_THROW(parse_recording(whole, "whole"));
  for (std::size_t size = 0; size < whole.size(); ++size)
    expect_beginning_of(recording, std::span(whole).first(size), size);
  for (std::size_t at = 0; at < whole.size(); ++at) {
    std::vector<std::byte> flipped = whole;
    flipped[at] ^= std::byte{0x41};
    expect_beginning_of(recording, flipped, at);
  }
}

TEST(Recording, RefusesNumbersThatAreNoneAndCountsBeyondTheFileEvenWithARightChecksum) {
  Recording recording = recorded_press();
  recording.samples.resize(3);
  const std::vector<std::byte> whole = bytes_of(recording);
  // Any eight bytes made NaN, endless or just very large: refused, or read as something finite (a name, a count).
  Random random(51);
  for (std::size_t at = 8; at + 16 <= whole.size(); at += 4) {
    std::vector<std::byte> bytes = whole;
    const std::uint64_t poisons[] = {0x7ff8000000000000ULL, 0xffffffffffffffffULL, std::bit_cast<std::uint64_t>(1e200)};
    const std::uint64_t poison = poisons[random.below(3)];
    std::memcpy(bytes.data() + at, &poison, 8);
    sign(bytes, whole);
    try {
      const Recording read = parse_recording(bytes, "poisoned");
      for (const RecordedSample& sample : read.samples) {
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
  // Flags, hands, pairs, description, state; kind and number of a block's samples; numbers at the end.
  const auto parts = stretches(whole);
  const std::size_t samples = parts[1].first, end = parts.back().first;
  for (const std::size_t count_at : {std::size_t{12}, std::size_t{16}, std::size_t{20}, std::size_t{24},
                                     std::size_t{28}, samples, samples + 4, end, end + 12, end + 20}) {
    std::vector<std::byte> greedy = whole;
    const std::uint32_t many = 1U << 30;
    std::memcpy(greedy.data() + count_at, &many, 4);
    sign(greedy, whole);
    EXPECT_THROW(parse_recording(greedy, "greedy"), Error) << count_at;
  }
  // More flags of a sample than this version knows: it would be misread.
  std::vector<std::byte> later = whole;
  later[samples + 12 + 8 + 8 + 16 + 2] = std::byte{2};
  sign(later, whole);
  EXPECT_THROW(parse_recording(later, "later"), Error);
  std::vector<std::byte> longer = whole;
  longer.push_back(std::byte{0});
  EXPECT_THROW(parse_recording(longer, "longer"), Error);
}

// A replay computes with these, and nothing may come of it but a refusal.
TEST(Recording, ForcesThatNoDeviceHasAreRefused) {
  Recording recording = recorded_press();
  recording.samples.resize(3);
  ASSERT_EQ(recording.limiters.size(), 2U);
  recording.limits.max_force = recording.motors[0].peak_force = 1e200;
  recording.limiters[0] = {{{1e199, 0, 0}, {}}, 1, 0, 0};
  EXPECT_THROW(parse_recording(bytes_of(recording), "strong"), Error);
  recording.limits.max_force = recording.motors[0].peak_force = 1e5;
  recording.limiters[0].last.force = {1e4, 0, 0};
  EXPECT_NO_THROW(parse_recording(bytes_of(recording), "weaker"));
  recording.limiters[0].last.force = {0, -1e7, 0};
  EXPECT_THROW(parse_recording(bytes_of(recording), "strong again"), Error);
}

// As version 5 wrote it.
std::vector<std::byte> as_version_5(const Recording& recording) {
  std::vector<std::byte> bytes;
  const auto put = [&](const auto& value) {
    const auto raw = std::as_bytes(std::span(&value, 1));
    bytes.insert(bytes.end(), raw.begin(), raw.end());
  };
  const auto put_all = [&](const auto& values) {
    for (const auto& value : values) put(value);
  };
  put_all(std::string("COTOUCHR"));
  const std::uint32_t flags = (recording.levels_recorded ? 1U : 0U) | (recording.limited ? 2U : 0U);
  put_all(std::vector<std::uint32_t>{5, flags, recording.hands, recording.pairs,
                                     static_cast<std::uint32_t>(recording.scene.size()),
                                     static_cast<std::uint32_t>(recording.events.size())});
  put_all(std::vector<std::uint64_t>{recording.state.size(), recording.samples.size(), recording.model_hash});
  const LimitSettings& l = recording.limits;
  put_all(std::vector<double>{l.max_force, l.max_torque, l.force_rate, l.torque_rate, l.ramp_seconds, l.period});
  for (const LimiterState& state : recording.limiters) put(state.last), put(state.ramp);
  put_all(recording.scene);
  put_all(recording.state);
  for (const RecordedSample& sample : recording.samples) {
    put(sample.time), put(sample.state_hash);
    put_all(std::vector<std::uint32_t>{sample.in_contact, sample.visited});
    put(sample.deepest), put(sample.cycle_ns);
    std::uint32_t there = static_cast<std::uint32_t>(sample.hands.size());
    while (there > 0 && !sample.hands[there - 1].input.present) --there;
    put(there);
    for (std::uint32_t i = 0; i < there; ++i) {
      const HandSample& hand = sample.hands[i];
      put(std::uint32_t{hand.input.present});
      if (!hand.input.present) continue;
      put_all(std::vector<std::uint32_t>{static_cast<std::uint32_t>(hand.input.action), hand.input.body,
                                         hand.input.buttons, static_cast<std::uint32_t>(hand.motors)});
      put(hand.input.pose), put(hand.felt);
    }
    for (std::uint32_t i = 0; i < recording.pairs; ++i) put(sample.levels[i]);
  }
  for (const RecordedEvent& event : recording.events) {
    put(event.tick);
    put_all(std::vector<std::uint32_t>{event.hand.value_or(0xffffffff), static_cast<std::uint32_t>(event.kind),
                                       static_cast<std::uint32_t>(event.text.size())});
    put_all(event.text);
  }
  put(hash_bytes(bytes));
  return bytes;
}

// Files as older versions wrote them, by what their headers said.
struct OldFile {
  std::vector<std::byte> bytes;
  void put(const auto& value) {
    const auto raw = std::as_bytes(std::span(&value, 1));
    bytes.insert(bytes.end(), raw.begin(), raw.end());
  }
  void put_all(const auto& values) {
    for (const auto& value : values) put(value);
  }
};

std::vector<std::byte> as_version_4(const Recording& recording) {
  OldFile file;
  std::vector<std::byte>& bytes = file.bytes;
  const auto put = [&](const auto& value) { file.put(value); };
  const auto put_all = [&](const auto& values) { file.put_all(values); };
  put_all(std::string("COTOUCHR"));
  put_all(std::vector<std::uint32_t>{4, recording.hands, recording.pairs,
                                     static_cast<std::uint32_t>(recording.scene.size())});
  put_all(std::vector<std::uint64_t>{recording.state.size(), recording.samples.size(), recording.model_hash});
  const LimitSettings& l = recording.limits;
  put_all(std::vector<double>{l.max_force, l.max_torque, l.force_rate, l.torque_rate, l.ramp_seconds, l.period});
  for (const LimiterState& state : recording.limiters) put(state.last), put(state.ramp);
  put_all(recording.scene);
  put_all(recording.state);
  for (const RecordedSample& sample : recording.samples) {
    put(sample.time);
    for (std::uint32_t i = 0; i < recording.hands; ++i) {
      const HandSample& hand = sample.hand(i);
      put_all(std::vector<std::uint32_t>{hand.input.present, static_cast<std::uint32_t>(hand.input.action),
                                         hand.input.body, hand.input.buttons});
      put(hand.input.pose), put(hand.felt);
      put_all(std::vector<std::uint32_t>{static_cast<std::uint32_t>(hand.motors), 0});
    }
    for (std::uint32_t i = 0; i < (recording.pairs + 7) / 8 * 8; ++i)
      put(i < recording.pairs ? sample.levels[i] : std::uint8_t{0});
    put(sample.state_hash);
    put_all(std::vector<std::uint32_t>{sample.in_contact, sample.visited});
    put(sample.deepest), put(sample.cycle_ns);
  }
  put(hash_bytes(bytes));
  return bytes;
}

TEST(Recording, OfOlderVersionsIsReadAndPlaysBackTheSame) {
  static_assert(sizeof(Pose) == 7 * sizeof(double) && sizeof(Wrench) == 6 * sizeof(double));
  Recording recording = recorded_press(60);
  // Those versions knew no motors that warm up; in six tenths of a second these do not get warm enough to matter.
  for (LimiterState& state : recording.limiters) state.force_heat = state.torque_heat = 0;
  const LimitSettings& l = recording.limits;
  recording.motors.assign(2, {l.max_force, l.max_force, l.max_torque, l.max_torque, 1});
  Recording with_events = recording;
  append_event(with_events, {7, 1, RecordedEvent::Kind::said, "over there"});
  for (const Recording* each : {&recording, &with_events}) {
    const std::vector<std::byte> old = each->events.empty() ? as_version_4(*each) : as_version_5(*each);
    const Recording back = parse_recording(old, "old");
    EXPECT_TRUE(back.levels_recorded && back.limited);
    EXPECT_EQ(same_cycles(back), 301U);
    EXPECT_TRUE(bytes_of(back) == bytes_of(*each));  // nothing was lost
    for (const std::size_t size : {old.size() - 1, old.size() / 2, std::size_t{40}})
      EXPECT_THROW(parse_recording(std::span(old).first(size), "cut"), Error);
  }
}

// Warm motors, a coupling that was softened and a reading that was wrong are all in the file.
TEST(Recording, PlaysBackHeatSofteningAndFadingBitForBit) {
  testing::ProbeDevice device(k_peg);
  device.bears.motors = {6, 1, 0.3, 0.05, 0.2};
  device.bears.stiffness = 900;  // of the coupling's 1000
  device.bears.angular_stiffness = 2;
  device.bears.speed = 5;
  device.bears.turn_speed = 100;
  int read = 0;
  device.on_read = [&](DeviceReading& reading) {
    ++read;
    reading.pose = {{0, 0, std::max(0.015 - 2e-4 * read, 0.002)}, {}};
    if (read > 700 && read < 720) reading.pose.position.x = std::nan("");
    return true;
  };
  LocalWorld world(foot_model());
  TouchLoop loop({&device}, world, {});
  Recording recording = begin_recording(world.model(), loop.mark(), {}, 1, "warm");
  loop.run_cycles(1500);
  collect_samples(loop, recording);
  const auto& samples = recording.samples;
  EXPECT_NEAR(samples[100].hand(0).stiffness, 0.9 * 0.9, 1e-12);
  EXPECT_NEAR(norm(samples[600].hand(0).felt.force), 1, 0.1);  // warm
  EXPECT_EQ(samples[705].hand(0).motors, Motors::fading);
  EXPECT_EQ(samples[715].hand(0).motors, Motors::off);
  const auto restarts = [](const RecordedSample& sample) { return sample.hand(0).motors == Motors::restarted; };
  EXPECT_EQ(std::count_if(samples.begin() + 815, samples.begin() + 825, restarts), 1);
  Recording kept = parse_recording(bytes_of(recording), "test");
  EXPECT_EQ(same_cycles(kept), samples.size());
  // Each of them is needed.
  Recording without = kept;
  without.motors[0] = k_without_motors.motors;
  EXPECT_LT(same_cycles(without), samples.size());
  without = kept;
  for (RecordedSample& sample : without.samples) sample.hands[0].stiffness = 1;
  EXPECT_LT(same_cycles(without), samples.size());
}

// Limits went by the time that passed, and so they do when it is felt again.
TEST(Recording, OfALoopThatCameLatePlaysBackBitForBit) {
  testing::ProbeDevice device(k_peg);
  device.bears.motors = {6, 1, 0.3, 0.05, 0.2};
  int read = 0;
  device.on_read = [&](DeviceReading& reading) {
    ++read;
    reading.pose = {{0, 0, std::max(0.015 - 2e-3 * read, 0.002)}, {}};
    if (read >= 200 && read < 204) reading.motors = Motors::fading;
    return true;
  };
  LocalWorld world(foot_model());
  TouchLoop loop({&device}, world, {});
  Recording recording = begin_recording(world.model(), loop.mark(), {}, 1, "late");
  Random random(3);
  for (int i = 0; i < 400; ++i) {
    const bool stands = i == 300;
    loop.run_cycles(1, stands ? 0.06 : i % 3 == 0 ? 0 : random.uniform(-0.9e-3, 12e-3));
  }
  collect_samples(loop, recording);
  const auto& samples = recording.samples;
  ASSERT_EQ(samples.size(), 400U);
  EXPECT_EQ(samples[300].late, 0.06);
  EXPECT_EQ(samples[300].hand(0).motors, Motors::restarted);  // it stood
  EXPECT_GT(norm(samples[190].hand(0).felt.force), 0.9);
  const Recording kept = parse_recording(bytes_of(recording), "test");
  for (std::size_t i = 0; i < 400; ++i) ASSERT_EQ(kept.samples[i].late, samples[i].late) << i;
  EXPECT_EQ(same_cycles(kept), 400U);
  Recording without = kept;
  for (RecordedSample& sample : without.samples) sample.late = 0;
  EXPECT_LT(same_cycles(without), 10U);
  // What never came late needs no more room than before.
  EXPECT_EQ(bytes_of(kept).size(), bytes_of(without).size() + 8 * (400 - 133));
}

// Pegs of sixteen people around one: each takes the peg, moves it, lets go, and some are away for a time.
std::shared_ptr<const WorldModel> shared_model() {
  static const std::shared_ptr<const WorldModel> model = peg_model(3e4, testing::k_tip, {}, 0.01, k_start, 16);
  return model;
}

std::vector<HandInput> shared_inputs(std::uint32_t tick) {
  std::vector<HandInput> inputs(16);
  for (std::uint32_t i = 0; i < 16; ++i) {
    HandInput& hand = inputs[i];
    hand.present = (tick + 40 * i) % 300 < 200 + 5 * i;
    if (!hand.present) continue;
    if ((tick + i) % 50 == 0) hand = {true, HandInput::Action::grasp, k_peg, {}, 0};
    if ((tick + i) % 50 == 30) hand.action = HandInput::Action::release;
    const double angle = 0.01 * tick + i;
    hand.pose = {{0.003 * std::cos(angle), 0.003 * std::sin(angle), 0.006 + 0.004 * std::sin(0.05 * tick)},
                 quat_from_rotation_vector({0.01 * i, 0, 0.002 * tick})};
    hand.buttons = i;
    hand = quantised(hand);
  }
  return inputs;
}

Recording shared_session(std::uint32_t ticks = 500) {
  const auto model = shared_model();
  WorldState state(*model);
  StepScratch scratch(*model);
  for (std::uint32_t tick = 0; tick < 7; ++tick) step(*model, state, shared_inputs(tick), scratch);
  Recording recording = begin_shared_recording(*model, state, "sixteen");
  for (std::uint32_t tick = 7; tick < 7 + ticks; ++tick) {
    step(*model, state, shared_inputs(tick), scratch);
    append_tick(recording, shared_inputs(tick), state);
  }
  return recording;
}

std::size_t same_ticks(const Recording& recording) {
  Replay replay(recording, shared_model());
  while (replay.next()) {
  }
  return replay.same();
}

TEST(SharedRecording, OfSixteenHandsPlaysBackTheSameStatesAndForcesBitForBit) {
  const Recording recording = shared_session();
  const Recording back = parse_recording(bytes_of(recording), "test");
  ASSERT_EQ(back.samples.size(), 500U);
  EXPECT_EQ(back.hands, 16U);
  EXPECT_FALSE(back.levels_recorded || back.limited);
  EXPECT_EQ(back.limits.period, 0.01);
  EXPECT_EQ(back.samples[250].time, 2.5);
  for (std::size_t i = 0; i < 500; ++i) {
    ASSERT_EQ(back.samples[i].hands, recording.samples[i].hands) << i;
    const std::vector<HandInput> inputs = shared_inputs(static_cast<std::uint32_t>(7 + i));
    for (std::size_t hand = 0; hand < 16; ++hand) ASSERT_EQ(back.samples[i].hand(hand).input, inputs[hand]) << i;
  }
  EXPECT_EQ(same_ticks(back), 500U);
  std::set<std::size_t> pulled;  // hands that felt something
  for (const RecordedSample& sample : back.samples)
    for (std::size_t i = 0; i < sample.hands.size(); ++i)
      if (norm(sample.hands[i].felt.force) > 0.1) pulled.insert(i);
  EXPECT_EQ(pulled.size(), 16U);
}

TEST(SharedRecording, NoticesTheFirstTickThatComesOutOtherwise) {
  Recording recording = shared_session();
  const std::size_t hand = 15;
  ASSERT_TRUE(recording.samples[120].hand(hand).input.present);
  recording.samples[120].hands[hand].input.pose.position.x += 0x1p-20;
  EXPECT_EQ(same_ticks(recording), 120U);
  recording = shared_session();
  recording.samples[33].state_hash ^= 1;
  EXPECT_EQ(same_ticks(recording), 33U);
}

TEST(SharedRecording, KeepsWhoWasThereAndWhatWasSaid) {
  using Kind = RecordedEvent::Kind;
  Recording recording = shared_session(20);
  const std::vector<RecordedEvent> events{{0, 0, Kind::joined, "Ann"},  {0, {}, Kind::joined, "Eye"},
                                          {3, 5, Kind::joined, "Ben"},  {4, 0, Kind::said, "hello \xe2\x82\xac"},
                                          {7, 5, Kind::left, ""},       {9, 5, Kind::joined, "Cid"},
                                          {11, 5, Kind::marked, "rim"}, {12, {}, Kind::left, "Eye"}};
  for (const RecordedEvent& event : events) EXPECT_TRUE(append_event(recording, event));
  EXPECT_FALSE(append_event(recording, {1, 16, Kind::said, "from nowhere"}));
  const Recording back = parse_recording(bytes_of(recording), "test");
  EXPECT_EQ(back.events, events);
  std::string people;
  for (const RecordedPerson& person : recorded_people(back))
    people += person.name + std::to_string(person.from) + "-" + std::to_string(person.to) + " ";
  EXPECT_EQ(people, "Ann0-20 Eye0-12 Ben3-7 Cid9-20 ");
}

TEST(SharedRecording, CutsLongTextsBetweenCharactersAndKeepsABoundedNumberOfEvents) {
  Recording recording = shared_session(1);
  std::string euros;
  while (euros.size() < 600) euros += "\xe2\x82\xac";  // three bytes each: 170 of them fit into 512
  append_event(recording, {0, 1, RecordedEvent::Kind::said, euros});
  EXPECT_EQ(recording.events[0].text, euros.substr(0, 510));
  while (recording.events.size() < k_recorded_events) recording.events.push_back({});
  EXPECT_FALSE(append_event(recording, {}));
  EXPECT_EQ(parse_recording(bytes_of(recording), "test").events.size(), k_recorded_events);
}

// As of a device with a loose contact, all day long.
TEST(SharedRecording, HandsThatChangeAllTheTimeLeaveRoomForPeople) {
  using Kind = RecordedEvent::Kind;
  Recording recording = shared_session(1);
  std::size_t kept = 0;
  for (std::size_t i = 0; i < k_recorded_events; ++i)
    kept += append_event(recording, {i, 4, Kind::leads, i % 2 == 0 ? "3" : ""}) ? 1U : 0U;
  EXPECT_EQ(kept, k_recorded_events / 2);
  EXPECT_TRUE(append_event(recording, {7, 5, Kind::joined, "Ben"}));
  EXPECT_TRUE(append_event(recording, {8, 5, Kind::said, "hello"}));
  EXPECT_TRUE(append_event(recording, {9, 5, Kind::left, ""}));
  EXPECT_EQ(recording.events.size(), kept + 3);
  // Also once the stream has taken what there is.
  recording.events_handed_on = recording.events.size();
  recording.events.clear();
  EXPECT_FALSE(append_event(recording, {10, 4, Kind::leads, "3"}));
  EXPECT_TRUE(append_event(recording, {10, 5, Kind::joined, "Ben"}));
}

TEST(SharedRecording, KeepsWhatIsBeforeDamageAndRefusesEventsThatAreNone) {
  Recording recording = shared_session(3);
  append_event(recording, {2, 3, RecordedEvent::Kind::marked, "abc"});
  const std::vector<std::byte> whole = bytes_of(recording);
  EXPECT_NO_THROW(parse_recording(whole, "whole"));
  for (std::size_t size = 0; size < whole.size(); ++size)
    expect_beginning_of(recording, std::span(whole).first(size), size);
  for (std::size_t at = 0; at < whole.size(); ++at) {
    std::vector<std::byte> flipped = whole;
    flipped[at] ^= std::byte{0x41};
    expect_beginning_of(recording, flipped, at);
  }
  // With right hashes: tick, hand, kind and length of the event, which is the last block but one.
  const auto parts = stretches(whole);
  const std::size_t event = parts[parts.size() - 2].first + 12;
  for (const auto& [at, value] : {std::pair{event + 4, 1U << 30U},
                                  {event + 8, 16U},
                                  {event + 12, 6U},
                                  {event + 16, 2U},
                                  {event + 16, 4U},
                                  {event + 16, 600U}}) {
    std::vector<std::byte> forged = whole;
    std::memcpy(forged.data() + at, &value, 4);
    sign(forged, whole);
    EXPECT_THROW(parse_recording(forged, "forged"), Error) << at - event << ": " << value;
  }
}

// Programs that know version 6 are to say that a file is newer if it has what they do not know. Before there were hands
// that somebody leads, sessions were recorded in that version.
TEST(SharedRecording, IsOfVersionSevenAndThoseOfSixAreRead) {
  const auto version = [](const std::vector<std::byte>& file) { return std::to_integer<int>(file[8]); };
  EXPECT_EQ(version(bytes_of(recorded_press())), 6);  // of a loop
  Recording recording = shared_session(20);
  append_event(recording, {2, 3, RecordedEvent::Kind::joined, "Ann"});
  append_event(recording, {9, 3, RecordedEvent::Kind::reset, ""});
  const auto as_version_6 = [&] {
    const std::vector<std::byte> whole = bytes_of(recording);
    EXPECT_EQ(version(whole), 7);
    std::vector<std::byte> older = whole;
    older[8] = std::byte{6};
    sign(older, whole);
    return older;
  };
  const Recording back = parse_recording(as_version_6(), "six");
  EXPECT_TRUE(back.finished);
  EXPECT_EQ(back.events, recording.events);
  ASSERT_EQ(back.samples.size(), 20U);
  for (std::size_t i = 0; i < 20; ++i) EXPECT_EQ(back.samples[i].hands, recording.samples[i].hands) << i;
  EXPECT_EQ(back.samples[19].state_hash, recording.samples[19].state_hash);
  // That version knew no such event.
  append_event(recording, {12, 4, RecordedEvent::Kind::leads, "3"});
  EXPECT_EQ(parse_recording(bytes_of(recording), "seven").events, recording.events);
  EXPECT_THROW(parse_recording(as_version_6(), "six"), Error);
}

TEST(SharedRecording, IsNotPlayedInAWorldWithFewerHandsThanItHas) {
  Recording recording = shared_session(3);
  const auto few = peg_model(3e4, testing::k_tip, {}, 0.01, k_start, 4);
  recording.model_hash = few->hash();
  const WorldState state(*few);
  recording.state.assign(state.bytes().begin(), state.bytes().end());
  EXPECT_THROW(Replay(recording, few), Error);
  EXPECT_THROW(begin_shared_recording(*peg_model(3e4, testing::k_tip, {}, 0.01, k_start, 17), state, ""), Error);
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
}  // namespace cotouch::this_file
