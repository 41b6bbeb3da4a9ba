// Writes what the fuzzers start from and nobody could type: recordings, messages and scene files as this version makes
// them, so that no seed is ever of an old format. ./dev runs it before the fuzzers; seeds that are text, or of formats
// that do not change, are in fuzz/corpus.
//
// Usage: make_seeds FOLDER (makes FOLDER/recording, FOLDER/serve and FOLDER/peer_message)
#include "small_world.h"

#include <cotouch/base/error.h>
#include <cotouch/base/file.h>
#include <cotouch/device/scripted_device.h>
#include <cotouch/serve/wire.h>
#include <cotouch/serve/wire_layout.h>
#include <cotouch/session/introduction.h>
#include <cotouch/session/peer_message.h>
#include <cotouch/session/scene_file.h>
#include <cotouch/session/transfer.h>
#include <cotouch/touch/recording.h>

#include <cstdio>
#include <filesystem>
#include <string>

namespace {

using namespace cotouch;
namespace fs = std::filesystem;

void write_seed(const fs::path& path, std::string_view content) {
  const std::span<const std::byte> pieces[] = {std::as_bytes(std::span(content))};
  write_file(path, pieces);
}

void check_seed(const fs::path& path, std::uint64_t samples) {
  const Recording recording = read_recording(path);
  Replay replay(recording, fuzzing::small_world());
  while (replay.next()) {
  }
  if (recording.samples.size() < samples || !replay.identical())
    throw Error("The seed " + path.string() + " does not play back as it was recorded.");
}

// Two hands hold a block each and press them together. Recordings begin after `before` cycles; the others come `late`.
void record(const fs::path& path, std::uint64_t before, std::uint64_t cycles, double late = 0) {
  const auto model = fuzzing::small_world();
  LocalWorld world(model);
  const auto hand = [&](std::uint32_t body, double towards) {
    const Pose start = model->bodies()[body - 1].start;
    return ScriptedDevice(HandPath({start, {start.position + Vec3d{0, 0, towards}, start.rotation}}, 0.1), body);
  };
  ScriptedDevice lower = hand(fuzzing::k_first_block, 0.02), upper = hand(fuzzing::k_second_block, -0.02);
  TouchLoop loop({&lower, &upper}, world, {});
  loop.run_cycles(before);
  if (before > 0) {  // a change leaves a mark to record from
    loop.change({nullptr, {}});
    loop.run_cycles(1);
  }
  Recording recording = begin_recording(*model, loop.mark(), {}, loop.hands(), "builtin:stack");
  loop.run_cycles(cycles, late);
  collect_samples(loop, recording, before);
  write_recording(recording, path);
  check_seed(path, cycles);
}

// A shared session: one hand pushes a block, with a name and a word.
void record_shared(const fs::path& path) {
  const auto model = fuzzing::small_world();
  WorldState state(*model);
  StepScratch scratch(*model);
  Recording recording = begin_shared_recording(*model, state, "builtin:stack");
  for (int tick = 0; tick < 4; ++tick) {
    Pose pose = model->bodies()[fuzzing::k_first_block - 1].start;
    pose.position.z -= 1e-4 * tick;
    HandInput inputs[2];
    inputs[1] = {true, tick == 0 ? HandInput::Action::grasp : HandInput::Action::none, fuzzing::k_first_block, pose, 0};
    step(*model, state, inputs, scratch);
    append_tick(recording, inputs, state);
  }
  append_event(recording, {0, 1, RecordedEvent::Kind::joined, "Ann"});
  append_event(recording, {2, {}, RecordedEvent::Kind::said, "hello"});
  write_recording(recording, path);
  check_seed(path, 4);
}

// The digits choose what serve_fuzz takes the rest for.
void write_hand_input(const fs::path& path) {
  std::string bytes;
  wire::put(bytes, wire::MessageHead{wire::k_version, static_cast<std::uint8_t>(wire::MessageType::hand_input),
                                     wire::MessageHead::k_bytes + wire::HandInput::k_bytes, 5, 3});
  wire::HandInput input;
  input.hand = 2;
  input.pose = {{0.1, 0.2, 0.3}, {}};
  wire::put(bytes, input);
  if (const DecodedInput decoded = decode_input(bytes); !decoded.known || !decoded.broken_rule.empty())
    throw Error("The seed " + path.string() + " is not what a page sends.");
  write_seed(path, '0' + bytes);
}

void write_scene(const std::string& name, const fs::path& path) {
  SceneFile file;
  file.scene = builtin_scene(name);
  for (const SceneBody& body : file.scene.bodies) {
    file.sources.emplace_back();
    for (std::size_t i = 0; i < body.parts.size(); ++i) file.sources.back().push_back({"part.cot", {}, {}, {}});
  }
  const std::string text = format_scene_file(file);
  parse_scene_file(text, path.string());
  write_seed(path, '3' + text);
}

std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// What members of a shared session say; the digits choose what peer_message_fuzz takes the rest for.
void write_messages(const fs::path& folder) {
  const auto seed = [&](const char* name, char digit, std::span<const std::byte> bytes) {
    write_seed(folder / name, digit + std::string(text_of(bytes)));
  };
  std::vector<PeerInput> inputs(3);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    inputs[i].hand.present = true;
    inputs[i].hand.pose.position.x = 0.125 * static_cast<double>(i);
  }
  inputs[1].hand.action = HandInput::Action::grasp;
  inputs[1].hand.body = 2;
  inputs[2].events.push_back({SessionEvent::Kind::say, 0, 0, 0, {}, "hello"});
  InputRun run;
  run.first = 97;
  for (const PeerInput& input : inputs) run.inputs.push_back(&input);
  InputsMessage head;
  head.timing = {7, 8, true, 9, 10, 11, 100};
  head.objective = 90;
  head.have = 98;
  head.hash = StateHash{64, 12};
  const InputRun runs[] = {run, run};
  seed("inputs", '0', write_inputs_message(head, runs));
  const std::vector<StreamEnd> ends = {{1, 95, false}, {3, 80, true}};
  seed("propose", '0', write_message(ProposeMessage{{2, 0}, ends}));
  seed("promise", '0', write_message(PromiseMessage{{2, 0}, ends}));
  seed("decide", '0', write_message(DecideMessage{{2, 0}, ends}));
  seed("want", '0', write_message(WantMessage{1, 90}));
  seed("fill", '0', write_fill(1, run));
  seed("probe", '0', write_message(ProbeMessage{{2, 0}, {false, 3, 0, "keeper"}}));
  seed("view", '0', write_message(ViewMessage{100, 2, {}}));

  std::vector<std::byte> bytes{std::byte{3}};
  ByteWriter out(bytes);
  write_inputs(out, run.inputs);
  seed("row", '1', bytes);

  Introduction introduction;
  introduction.name = "Ann";
  introduction.addresses = {NetAddress::v4({192, 0, 2, 1}, 7117)};
  const std::string introduced = write_introduction(introduction);
  seed("introduction", '3', std::as_bytes(std::span(introduced)));
  ObjectiveSnapshot snapshot;
  snapshot.tick = 100;
  snapshot.members[0] = Member{0, introduced};
  snapshot.marks.push_back({0, 1, 2, {}});
  snapshot.former.push_back(introduced);
  snapshot.state.resize(16);
  seed("snapshot", '2', encode_snapshot(snapshot));

  // To the shelf: 48 bytes, of which 32 are replaced by the name; the pieces 0, 1 and 2.
  std::vector<std::byte> transfer(2 + 37);
  transfer[0] = std::byte{2 * 2 + 1};
  transfer[1] = std::byte{37 - 32};
  transfer[2] = static_cast<std::byte>(TransferMessage::want);
  transfer[3] = std::byte{0xff};
  transfer[35] = std::byte{3};
  transfer[37] = std::byte{1};
  transfer[38] = std::byte{2};
  seed("transfer", '4', transfer);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("Usage: make_seeds FOLDER\n", stderr);
    return 2;
  }
  try {
    const fs::path recordings = fs::path(argv[1]) / "recording", served = fs::path(argv[1]) / "serve";
    fs::create_directories(recordings);
    const fs::path messages = fs::path(argv[1]) / "peer_message";
    fs::create_directories(served);
    fs::create_directories(messages);
    write_messages(messages);
    record(recordings / "from_the_start.rec", 0, 3);
    record(recordings / "in_the_midst.rec", 60, 4);
    record(recordings / "late.rec", 60, 3, 4e-3);
    record_shared(recordings / "shared.rec");
    write_hand_input(served / "hand_input.bin");
    for (const char* name : {"stack", "docking"}) write_scene(name, served / (std::string(name) + ".toml"));
  } catch (const Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}
