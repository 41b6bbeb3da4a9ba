// An engine whose data is not always in memory: what a cycle did without is recorded with it.
#include <cotouch/base/error.h>
#include <cotouch/touch/recording.h>

#include "fixtures.h"
#include "support/paged_engine.h"
#include "support/temporary_folder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <fstream>

namespace cotouch::this_file {
namespace {

using testing::k_peg;
using testing::k_plate;
using testing_support::not_in_memory;
using testing_support::paged_kind;

std::shared_ptr<const WorldModel> paged_model() {
  const auto usual = testing::peg_model();
  const PairRule rule{k_plate, k_peg, true, std::string(paged_kind().name())};
  return std::make_shared<const WorldModel>(usual->bodies(), usual->settings(), std::span(&rule, 1));
}

// A peg pressed onto the plate, of which now and then a piece is missing.
Recording recorded_press(const std::shared_ptr<const WorldModel>& model) {
  testing::ProbeDevice device(k_peg);
  device.on_read = [read = 0](DeviceReading& reading) mutable {
    reading.pose.position.z = read++ == 0 ? testing::k_height : -0.004;  // taken where it is, and pressed down
    return true;
  };
  LocalWorld world(model, {Detail::Rule::by_work, WorkBudget::unlimited(), {}});
  TouchLoop loop({&device}, world, {});
  not_in_memory = 0;
  loop.run_cycles(100);
  const std::uint64_t change = loop.change({nullptr, {}});
  EXPECT_NE(change, 0U);
  loop.run_cycles(1);
  Recording recording = begin_recording(*model, loop.mark(), {}, 1, "paged");
  const std::uint64_t first = loop.mark().mark.cycle;
  for (const std::uint32_t missing : {0U, 1U, 0U, 3U, 2U, 0U}) {
    not_in_memory = missing;
    loop.run_cycles(20);
  }
  not_in_memory = 0;
  collect_samples(loop, recording, first);
  return recording;
}

TEST(MissingData, IsRecordedWithTheCycleAndReplayed) {
  const auto model = paged_model();
  const Recording recording = recorded_press(model);
  ASSERT_EQ(recording.samples.size(), 121U);
  // One cycle before, and twenty each.
  EXPECT_TRUE(recording.samples[20].missing.empty());
  ASSERT_EQ(recording.samples[30].missing.size(), 1U);
  EXPECT_EQ(recording.samples[30].missing[0], (MissingPieces::Piece{0, 0}));
  EXPECT_EQ(recording.samples[70].missing.size(), 2U);
  EXPECT_GT(recording.samples[20].in_contact, 0U);
  EXPECT_EQ(recording.samples[30].in_contact, 0U);

  const TemporaryFolder folder;
  write_recording(recording, folder / "a.rec");
  Recording read = read_recording(folder / "a.rec");
  ASSERT_EQ(read.samples.size(), recording.samples.size());
  for (std::size_t i = 0; i < read.samples.size(); ++i)
    EXPECT_EQ(read.samples[i].missing, recording.samples[i].missing);
  Replay replay(read, model);
  while (replay.next()) {
  }
  EXPECT_TRUE(replay.identical()) << replay.same();

  // Without what it did without it is another one.
  for (RecordedSample& sample : read.samples) sample.missing.clear();
  Replay other(read, model);
  while (other.next()) {
  }
  EXPECT_LT(other.same(), 25U);
}

TEST(MissingData, AFileWithMorePiecesThanThereIsRoomForIsRefused) {
  std::vector<MissingPieces::Piece> many(MissingPieces::k_most + 1);
  const auto model = paged_model();
  Recording recording = recorded_press(model);
  recording.samples[0].missing = many;
  const TemporaryFolder folder;
  write_recording(recording, folder / "a.rec");
  EXPECT_THROW(read_recording(folder / "a.rec"), Error);
}

// Tips in a plate, one beside the other in x, all of one body or each of its own.
std::shared_ptr<const WorldModel> tips_in_the_plate(std::uint32_t count, bool of_one_body) {
  const std::string engine(paged_kind().name());
  const auto plate_and_peg = testing::peg_model();
  std::vector<BodyModel> bodies{plate_and_peg->bodies()[0]};
  std::vector<PairRule> rules;
  for (std::uint32_t i = 0; i < count; ++i) {
    const Pose place{{0.0018 * (i - 0.5 * (count - 1)), 0, 0}, {}};
    if (i > 0 && of_one_body) {
      bodies.back().pieces.push_back({bodies.back().pieces[0].part, place});
      continue;
    }
    BodyModel peg = plate_and_peg->bodies()[1];
    peg.id = k_peg + i;
    peg.start = {{of_one_body ? 0 : place.position.x, 0, -0.001}, {}};
    if (of_one_body) peg.pieces[0].place = place;
    rules.push_back({k_plate, peg.id, true, engine});
    for (std::uint32_t other = k_peg; other < peg.id; ++other) rules.push_back({other, peg.id, false});
    bodies.push_back(std::move(peg));
  }
  return std::make_shared<const WorldModel>(bodies, plate_and_peg->settings(), rules);
}

// For a test's length.
struct InMemory {
  InMemory(std::uint32_t missing, std::uint32_t further, double complete_left = -1e9) {
    testing_support::not_in_memory = missing;
    testing_support::further_not_in_memory = further;
    testing_support::complete_left_of = complete_left;
  }
  ~InMemory() {
    testing_support::not_in_memory = testing_support::further_not_in_memory = 0;
    testing_support::complete_left_of = -1e9;
  }
};

// A step that asks engines what they lack.
struct Asked {
  std::shared_ptr<const WorldModel> model;
  WorldState state;
  StepScratch scratch;

  explicit Asked(std::shared_ptr<const WorldModel> of) : model(std::move(of)), state(*model), scratch(*model) {
    step(*model, state, {}, scratch, {Detail::Rule::by_work, WorkBudget::unlimited(), {}});
  }
  std::vector<MissingPieces::Piece> missing() const {
    return {scratch.missing().pieces().begin(), scratch.missing().pieces().end()};
  }
  bool touches(std::size_t pair) const { return scratch.contact(pair).stats.in_contact > 0; }
  // Where the same step leads that is told what was missing.
  WorldState told(std::span<const MissingPieces::Piece> missing) const {
    const std::vector<std::uint8_t> finest(model->pairs().size(), 255);
    WorldState other(*model);
    StepScratch fresh(*model);
    step(*model, other, {}, fresh, {Detail::Rule::exactly, {}, finest, missing});
    return other;
  }
};

TEST(MissingData, IsThatOfThePairThatLacksIt) {
  const auto model = tips_in_the_plate(2, false);
  ASSERT_EQ(model->pairs().size(), 2U);
  {
    const Asked whole(model);
    EXPECT_TRUE(whole.missing().empty());
    EXPECT_TRUE(whole.touches(0) && whole.touches(1));
  }
  const InMemory right_one_lacks(3, 0, 0.0);
  const Asked asked(model);
  const std::vector<MissingPieces::Piece> missing = asked.missing();
  EXPECT_EQ(missing, (std::vector<MissingPieces::Piece>{{1, 0}, {1, 1}}));
  EXPECT_TRUE(asked.touches(0));
  EXPECT_FALSE(asked.touches(1));
  EXPECT_TRUE(asked.told(missing) == asked.state);
  EXPECT_FALSE(asked.told({}) == asked.state);
  EXPECT_FALSE(asked.told(std::vector<MissingPieces::Piece>{{0, 0}, {0, 1}}) == asked.state);
}

// There is room for 96 entries, of which each pair that comes later keeps one.
TEST(MissingData, IsEverythingIfThereIsNoRoomForItsPieces) {
  const auto model = tips_in_the_plate(2, false);
  const auto all_of = [](const std::vector<MissingPieces::Piece>& missing) {
    return std::ranges::count(missing, k_all_pieces, &MissingPieces::Piece::piece);
  };
  struct Case {
    std::uint32_t further;
    std::size_t entries;
    int whole_pairs;
  };
  for (const auto& [further, entries, whole_pairs] :
       {Case{46, 96, 0}, Case{47, 50, 1}, Case{93, 96, 1}, Case{94, 2, 2}}) {
    SCOPED_TRACE(further);
    const InMemory lacking(3, further);
    const Asked asked(model);
    EXPECT_EQ(asked.missing().size(), entries);
    EXPECT_EQ(all_of(asked.missing()), whole_pairs);
    EXPECT_FALSE(asked.touches(0) || asked.touches(1));
    EXPECT_TRUE(asked.told(asked.missing()) == asked.state);
  }
}

TEST(MissingData, OfMorePairsThanAreNotedIsNotUsedEither) {
  const auto model = tips_in_the_plate(MissingPieces::k_most + 1, true);
  const auto touching = [&](const Asked& asked) {
    std::size_t count = 0;
    for (std::size_t pair = 0; pair < model->pairs().size(); ++pair) count += asked.touches(pair) ? 1U : 0U;
    return count;
  };
  ASSERT_EQ(model->pairs().size(), 97U);
  EXPECT_EQ(touching(Asked(model)), 97U);
  const InMemory lacking(1, 0);
  const Asked asked(model);
  EXPECT_EQ(asked.missing().size(), 96U);
  EXPECT_EQ(touching(asked), 0U);
}

TEST(MissingData, IsRefusedInAWorldThatIsSteppedByState) {
  const auto model = paged_model();
  EXPECT_TRUE(model->may_lack_data());
  EXPECT_FALSE(testing::peg_model()->may_lack_data());
  EXPECT_NO_THROW(testing::peg_model()->check_data_is_there());
  EXPECT_NO_THROW(LocalWorld(model, {Detail::Rule::by_work, {}, {}}));
  try {
    LocalWorld(model, {Detail::Rule::by_state, {}, {}});
    FAIL();
  } catch (const Error& error) {
    const std::string said = error.what();
    for (const char* word : {"'plate'", "'peg'", "'paged, of a test'"})
      EXPECT_NE(said.find(word), std::string::npos) << word << " in: " << said;
  }
}

// Older programs are told that the file is newer, not that it is damaged.
TEST(MissingData, ItsRecordingsAreOfANewerVersion) {
  const auto version_of = [](const Recording& recording) {
    const TemporaryFolder folder;
    write_recording(recording, folder / "a.rec");
    std::uint32_t version = 0;
    std::ifstream file(folder / "a.rec", std::ios::binary);
    file.seekg(8).read(reinterpret_cast<char*>(&version), sizeof version);
    return version;
  };
  Recording recording = recorded_press(paged_model());
  EXPECT_EQ(version_of(recording), 7U);
  recording.may_lack_data = false;  // a world whose engines have all of their data
  for (RecordedSample& sample : recording.samples) sample.missing.clear();
  EXPECT_EQ(version_of(recording), 6U);
}

TEST(MissingData, TwoKindsOfEnginesCannotHaveOneName) {
  EXPECT_THROW(add_engine_kind(paged_kind()), Error);
}

}  // namespace
}  // namespace cotouch::this_file
