// Writes what the fuzzers start from and nobody could type: recordings, messages and scene files as this version makes
// them, so that no seed is ever of an old format. ./dev runs it before the fuzzers; seeds that are text, or of formats
// that do not change, are in fuzz/corpus.
//
// Usage: make_seeds FOLDER (makes FOLDER/recording and FOLDER/serve)
#include "small_world.h"

#include <cotouch/base/error.h>
#include <cotouch/base/file.h>
#include <cotouch/serve/wire.h>
#include <cotouch/serve/wire_layout.h>
#include <cotouch/session/scene_file.h>
#include <cotouch/touch/recording.h>
#include <cotouch/touch/scripted_device.h>

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

// Two hands hold a block each and press them together. Recordings begin after `before` cycles.
void record(const fs::path& path, std::uint64_t before, std::uint64_t cycles) {
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
  loop.run_cycles(cycles);
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
    for (std::size_t i = 0; i < body.parts.size(); ++i) file.sources.back().push_back({"part.cot", {}, {}});
  }
  const std::string text = format_scene_file(file);
  parse_scene_file(text, path.string());
  write_seed(path, '3' + text);
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
    fs::create_directories(served);
    record(recordings / "from_the_start.rec", 0, 3);
    record(recordings / "in_the_midst.rec", 60, 4);
    record_shared(recordings / "shared.rec");
    write_hand_input(served / "hand_input.bin");
    for (const char* name : {"stack", "docking"}) write_scene(name, served / (std::string(name) + ".toml"));
  } catch (const Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}
