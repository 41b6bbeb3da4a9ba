// `cotouch play` and `cotouch replay` as users meet them, with a small scene of two balls instead of a built-in one.
#include <cotouch/app/command.h>
#include <cotouch/base/invariant.h>
#include <cotouch/device/scripted_device.h>
#include <cotouch/session/running_world.h>

#include <sys/stat.h>

#include <cstring>
#include <iterator>
#include <regex>

#include "app/process.h"
#include "serve/serve_fixture.h"
#include "session/shared_recording.h"

namespace cotouch::this_file {
using namespace cotouch::testing_app;
using namespace cotouch::testing_serve;

namespace {

class PlayCommandLine : public Command {
 protected:
  // Where the page would have saved it under that name.
  std::filesystem::path scene_folder() const { return folder_ / ".state/cotouch/scenes/balls"; }
  void save_balls() const { save_scene(two_balls(), "balls", scene_folder()); }
  static bool is_open(const Outcome& now) { return now.out.find("token=") != std::string::npos; }

  // One ball pushed a few millimetres into the other, as the record button keeps it.
  Recording pressed(double speed = 0.08) const {
    const Scene scene = two_balls();
    FeelSettings feel;
    feel.warm_nodes = 5000;
    LocalWorld world(felt_model(scene, feel), {Detail::Rule::by_work, WorkBudget::of(feel.warm_nodes), {}});
    const Pose start = scene.bodies[1].pose;
    ScriptedDevice device(HandPath({start, {{0.001, 0, 0.034}, {}}}, speed), 2);
    TouchLoop loop({&device}, world, {.limits = limit_settings(feel)});
    Recording recording =
        begin_recording(world.model(), loop.mark(), limit_settings(feel), 1, format_recorded_scene({"balls", feel}));
    while (loop.run_cycles(1000) > 0) collect_samples(loop, recording);
    collect_samples(loop, recording);
    return recording;
  }
};

TEST_F(PlayCommandLine, WhatCannotBePlayedIsOneSentence) {
  write("foreign.toml", "[[part]]\nthis is no scene");
  for (const char* scene : {"no-such-scene", "missing.toml", "foreign.toml"}) {
    SCOPED_TRACE(scene);
    const Outcome outcome = run({"play", scene, "--port", "0", "--web", "."});
    EXPECT_EQ(outcome.code, 2);
    EXPECT_NE(outcome.err.find("no page in ."), std::string::npos) << outcome.err;  // said before anything is loaded
  }
  write("index.html", "<p>page</p>");
  for (const char* scene : {"no-such-scene", "missing.toml", "foreign.toml"}) {
    SCOPED_TRACE(scene);
    const Outcome outcome = run({"play", scene, "--port", "0", "--web", "."});
    expect_one_sentence(outcome);
    EXPECT_NE(outcome.err.find(scene), std::string::npos) << outcome.err;
  }
  save_balls();
  expect_one_sentence(run({"play", "balls", "--port", "0", "--web", ".", "--listen", "not-an-address"}));
}

TEST_F(PlayCommandLine, WrongUseIsExitCodeTwo) {
  EXPECT_EQ(run({"play", "--port", "70000"}).code, 2);
  EXPECT_EQ(run({"play", "one", "two"}).code, 2);
  EXPECT_EQ(run({"play", "--no-such-option"}).code, 2);
  EXPECT_EQ(run({"replay"}).code, 2);
  EXPECT_EQ(run({"replay", "a", "b"}).code, 2);
}

TEST_F(PlayCommandLine, CtrlCEndsItInOrderWhileAHandIsPressing) {
  save_balls();
  write("index.html", "<p>page</p>");
  for (const int signal : {SIGINT, SIGTERM}) {
    std::unique_ptr<Page> page;
    double force = 0;
    const auto press = [&](const Outcome& now) {
      std::smatch found;
      static const std::regex k_address(R"(http://127\.0\.0\.1:(\d+)/#token=(\S+))");
      if (!std::regex_search(now.out, found, k_address)) return false;
      page = std::make_unique<Page>(static_cast<std::uint16_t>(std::stoi(found[1])), PageSettings{.token = found[2]});
      page->send(k_grasp);
      page->read_text("hand");
      std::uint32_t sequence = 0;
      page->read_state([&](const std::string& frame) {
        page->send_binary(hand_input(++sequence, 1, {0.001, 0, 0.03}));
        force = hand_of(frame).force.z;
        return force > 1;
      });
      return true;
    };
    const Outcome outcome = run({"play", "balls", "--port", "0", "--web", "."}, signal, press);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_GT(force, 1);
    EXPECT_NE(outcome.out.find("Stopped."), std::string::npos);
    ASSERT_NE(page, nullptr);
    EXPECT_EQ(page->closed().code, 1001U);  // told goodbye, not cut off
  }
}

// A page that copies a ball, once it could come in.
bool copies_a_ball(const Outcome& now) {
  std::smatch found;
  static const std::regex k_address(R"(http://127\.0\.0\.1:(\d+)/#token=(\S+))");
  if (!std::regex_search(now.out, found, k_address)) return false;
  Page page(static_cast<std::uint16_t>(std::stoi(found[1])), PageSettings{.token = found[2]});
  page.send({{"type", "copy_body"}, {"body", 2}, {"id", 1}});
  EXPECT_EQ(page.read_text("reply")["ok"], true);
  return true;
}

TEST_F(PlayCommandLine, AnUnsavedSceneIsGoneOnWithWhereItIs) {
  const std::filesystem::path scenes = scene_folder().parent_path();
  save_scene(two_balls(), "old", scenes / "unsaved-20260131-101500");
  write("index.html", "<p>page</p>");
  const Outcome outcome = run({"play", "unsaved", "--port", "0", "--web", "."}, SIGINT, copies_a_ball);
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(scenes), {}), 1);
  NoProgress quiet;
  EXPECT_EQ(load_scene_file(scenes / "unsaved-20260131-101500/scene.toml", quiet).bodies.size(), 3U);
}

TEST_F(PlayCommandLine, WhatCouldNotBeKeptIsSaidAtTheEnd) {
  save_balls();
  write("index.html", "<p>page</p>");
  const std::vector<std::string> play{"play", "balls", "--port", "0", "--web", "."};
  EXPECT_EQ(run(play, SIGINT, copies_a_ball).err.find("lost"), std::string::npos);
  for (int i = 1; i < 32; ++i) {
    const std::filesystem::path folder =
        scene_folder().parent_path() / ("unsaved-20260131-1015" + std::to_string(10 + i));
    std::filesystem::create_directories(folder);
    std::ofstream(folder / "scene.toml") << "cotouch = 2\n";
  }
  const Outcome outcome = run(play, SIGINT, copies_a_ball);
  EXPECT_NE(outcome.err.find("lost"), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.err.find("32 unsaved scenes already"), std::string::npos) << outcome.err;
}

TEST_F(PlayCommandLine, EachStartHasATokenOfItsOwnUnlessItIsToBeKept) {
  save_balls();
  write("index.html", "<p>page</p>");
  const auto token_of = [&](const std::string& port, const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments{"play", "balls", "--port", port, "--web", "."};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const std::string out = run(arguments, SIGINT, is_open).out;
    std::smatch found;
    static const std::regex k_token_in_it(R"(#token=([0-9a-f]{32})\n)");
    return std::regex_search(out, found, k_token_in_it) ? found[1].str() : "none in " + out;
  };
  const std::string first = token_of("0"), second = token_of("0");
  EXPECT_EQ(first.size(), 32U) << first;
  EXPECT_NE(first, second);
  // For a port there is one that stays, if that is wanted.
  const std::string port = std::to_string(20000 + ::getpid() % 10000);
  const std::string kept = token_of(port, {"--keep-address"});
  EXPECT_EQ(token_of(port, {"--keep-address"}), kept);
  EXPECT_NE(token_of(port), kept);
}

TEST_F(PlayCommandLine, TakesAPortThatNobodyCouldHavePreparedUnlessItsAddressIsKept) {
  save_balls();
  write("index.html", "<p>page</p>");
  EXPECT_EQ(run({"play", "balls", "--web", "."}, SIGINT, is_open).out.find(":7117/"), std::string::npos);
}

TEST_F(PlayCommandLine, ABrowserIsOpenedWithoutTheTokenInTheProcessList) {
  save_balls();
  write("index.html", "<p>page</p>");
  // Stands in for the real one, and keeps what it was started with and what it would have read.
  write("xdg-open",
        "#!/bin/sh\necho \"$@\" > arguments.part\ncat \"$1\" > page.txt\nstat -c %a \"$1\" > mode.txt\nls -l "
        "/proc/$$/fd > files.txt\nmv arguments.part arguments.txt\n");
  std::filesystem::permissions(folder_ / "xdg-open", std::filesystem::perms::owner_all);
  const std::string path = std::getenv("PATH");
  ::setenv("PATH", (folder_.path().string() + ":" + path).c_str(), 1);
  const auto opened = [&](const Outcome& now) {
    return is_open(now) && std::filesystem::exists(folder_ / "arguments.txt");
  };
  const Outcome outcome = run({"play", "balls", "--port", "0", "--web", ".", "--open"}, SIGINT, opened);
  ::setenv("PATH", path.c_str(), 1);
  std::smatch found;
  static const std::regex k_address(R"(http://127\.0\.0\.1:\d+/#token=([0-9a-f]{32}))");
  ASSERT_TRUE(std::regex_search(outcome.out, found, k_address)) << outcome.out;
  const std::string arguments = text_of(folder_ / "arguments.txt");
  EXPECT_EQ(arguments.find(found[1].str()), std::string::npos) << arguments;
  EXPECT_NE(text_of(folder_ / "page.txt").find(found[0].str()), std::string::npos);
  EXPECT_EQ(text_of(folder_ / "mode.txt"), "600\n");
  // A browser that lives longer than the server would keep its port.
  EXPECT_EQ(text_of(folder_ / "files.txt").find("socket:"), std::string::npos) << text_of(folder_ / "files.txt");
  EXPECT_FALSE(std::filesystem::exists(arguments.substr(0, arguments.size() - 1)));  // gone with the server
}

TEST_F(PlayCommandLine, ListeningToOthersPrintsALinkForThemAndSaysWhatThatMeans) {
  save_balls();
  write("index.html", "<p>page</p>");
  std::string rights;
  const auto look = [&](const Outcome& now) {
    std::smatch found;
    static const std::regex k_link(R"(  http://[0-9.]+:(\d+)/#token=([0-9a-f]{32})\n)");
    if (!is_open(now) || now.out.find("for nobody else") == std::string::npos) return false;
    if (!std::regex_search(now.out, found, k_link)) return true;
    Page page(static_cast<std::uint16_t>(std::stoi(found[1])), {.token = found[2]});
    rights = page.read_text("hello")["rights"];
    return true;
  };
  const Outcome outcome = run({"play", "balls", "--port", "0", "--web", ".", "--listen", "0.0.0.0"}, SIGINT, look);
  EXPECT_EQ(rights, "hand") << outcome.out;
  EXPECT_NE(outcome.out.find("nothing is encrypted"), std::string::npos) << outcome.out;
  EXPECT_EQ(run({"play", "balls", "--port", "0", "--web", "."}, SIGINT, is_open).out.find("Other machines"),
            std::string::npos);
}

TEST_F(PlayCommandLine, ACertificateThatIsNoneIsOneSentenceWithItsName) {
  save_balls();
  write("index.html", "<p>page</p>");
  write("cert.pem", "this is no certificate");
  const Outcome missing = run({"play", "balls", "--port", "0", "--web", ".", "--tls", "none.pem", "cert.pem"});
  expect_one_sentence(missing);
  EXPECT_NE(missing.err.find("none.pem"), std::string::npos) << missing.err;
  const Outcome wrong = run({"play", "balls", "--web", ".", "--tls", "cert.pem", "cert.pem"});
  expect_one_sentence(wrong);
  EXPECT_NE(wrong.err.find("cert.pem"), std::string::npos) << wrong.err;
  EXPECT_EQ(run({"play", "balls", "--web", ".", "--tls", "cert.pem"}).code, 2);
}

TEST_F(PlayCommandLine, ASecondServerTakesAnotherPortUnlessOneWasAskedFor) {
  save_balls();
  write("index.html", "<p>page</p>");
  Outcome named;
  const auto try_same_port = [&](const Outcome& now) {
    std::smatch found;
    static const std::regex k_port(R"(http://127\.0\.0\.1:(\d+)/)");
    if (!std::regex_search(now.out, found, k_port)) return false;
    // In a folder of its own: the outer run's output files are in use.
    const TemporaryFolder other;
    const std::string command = std::string("XDG_STATE_HOME=") + (folder_ / ".state").string() + " " + COTOUCH_COMMAND +
                                " play balls --web " + folder_.path().string() + " --port " + found[1].str() + " >" +
                                (other / "out").string() + " 2>" + (other / "err").string();
    const int status = std::system(command.c_str());
    named = {WEXITSTATUS(status), text_of(other / "out"), text_of(other / "err")};
    return true;
  };
  EXPECT_EQ(run({"play", "balls", "--port", "0", "--web", "."}, SIGINT, try_same_port).code, 0);
  expect_one_sentence(named);
  EXPECT_NE(named.err.find("port"), std::string::npos) << named.err;
}

TEST_F(PlayCommandLine, FeelTakesUpARecordedHandInItsSceneAndInNoOther) {
  const Outcome first = run({"feel", "ball-socket", "--fast", "--record", "first.rec", "--json"});
  ASSERT_EQ(first.code, 0) << first.err;
  const Outcome again = run({"feel", "--hand", "first.rec", "--fast", "--json"});
  ASSERT_EQ(again.code, 0) << again.err;
  const Json was = Json::parse(first.out), is = Json::parse(again.out);
  EXPECT_EQ(is["scene"], "ball-socket");
  EXPECT_EQ(is["cycles"], was["cycles"]);
  EXPECT_GT(is["peak_force_n"], 0.5);
  // Nothing may replace what it is made from.
  expect_one_sentence(run({"replay", "first.rec", "--csv", "./first.rec"}));
  expect_one_sentence(run({"replay", "first.rec", "--svg", "first.rec"}));
  EXPECT_EQ(run({"replay", "first.rec"}).code, 0);
  expect_one_sentence(run({"feel", "gears", "--hand", "first.rec", "--fast"}));
}

TEST_F(PlayCommandLine, FeelPlaysEveryHandOfASceneFile) {
  Scene scene = testing_session::three_balls();
  for (const std::uint32_t body : {2U, 3U}) {
    const Pose start = scene.find(body)->pose;
    scene.scripts.push_back({body, {start, {start.position - Vec3d{0, 0, 0.02}, {}}}, 0.1});
  }
  save_scene(scene, "three", folder_ / "mine");
  const Outcome words =
      run({"feel", "mine", "--hand", "scripted", "--fast", "--figure", "a.svg", "--record", "two.cotrec"});
  ASSERT_EQ(words.code, 0) << words.err;
  EXPECT_NE(text_of(folder_ / "a.svg").find("hand 2"), std::string::npos);
  const Recording recording = read_recording(folder_ / "two.cotrec");
  ASSERT_EQ(recording.hands, 2U);
  const RecordedSample& late = recording.samples.at(recording.samples.size() / 2);
  EXPECT_TRUE(late.hand(0).input.present);
  EXPECT_TRUE(late.hand(1).input.present);
  // The first is pressed onto the ball below it, the second goes down beside it: 6 cm aside of balls of 2 cm.
  double first = 0, second = 0;
  for (const RecordedSample& sample : recording.samples) {
    first = std::max(first, norm(sample.hand(0).felt.force));
    second = std::max(second, norm(sample.hand(1).felt.force));
  }
  EXPECT_GT(first, 1);
  EXPECT_LT(second, first / 2);

  // The recording's scene has no name here, so it must be given.
  const Outcome lost = run({"replay", "two.cotrec"});
  expect_one_sentence(lost);
  EXPECT_NE(lost.err.find("--scene"), std::string::npos) << lost.err;
  EXPECT_EQ(run({"replay", "two.cotrec", "--scene", "mine/scene.toml"}).code, 0);
  const Outcome again = run({"feel", "mine/scene.toml", "--hand", "two.cotrec", "--fast", "--json"});
  ASSERT_EQ(again.code, 0) << again.err;
  EXPECT_EQ(Json::parse(again.out)["hands"], 2);
  EXPECT_EQ(Json::parse(again.out)["cycles"], recording.samples.size());
}

TEST_F(PlayCommandLine, FeelChecksItsTargetsBeforeTheRun) {
  std::filesystem::create_directory(folder_ / "sub");
  for (const char* option : {"--figure", "--record"})
    for (const char* target : {"no/such/folder/a", "sub"}) {
      SCOPED_TRACE(std::string(option) + ' ' + target);
      const Outcome outcome = run({"feel", "no-such-scene", option, target});
      expect_one_sentence(outcome);
      EXPECT_NE(outcome.err.find(target), std::string::npos) << outcome.err;
    }
  write_recording(pressed(), folder_ / "press.cotrec");
  expect_one_sentence(run({"feel", "--hand", "press.cotrec", "--record", "./press.cotrec"}));
  expect_one_sentence(run({"replay", "press.cotrec", "--csv", "no/such/folder/a.csv"}));
}

TEST_F(PlayCommandLine, FeelGoesOnWhileNobodyOfARecordingIsThere) {
  save_balls();
  Recording recording = pressed();
  recording.samples.resize(120);
  for (std::size_t i = 40; i < 80; ++i) recording.samples[i].hands[0].input.present = false;
  write_recording(recording, folder_ / "gap.cotrec");
  const Outcome outcome = run({"feel", "--hand", "gap.cotrec", "--fast", "--json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(Json::parse(outcome.out)["cycles"], 120);
}

TEST_F(PlayCommandLine, ReplayTakesTheSceneItIsGiven) {
  save_scene(two_balls(), "elsewhere", folder_ / "kept");
  write_recording(pressed(), folder_ / "press.cotrec");
  const Outcome gone = run({"replay", "press.cotrec", "--json"});
  expect_one_sentence(gone);
  for (const char* word : {"press.cotrec", "'balls'", "--scene"})
    EXPECT_NE(gone.err.find(word), std::string::npos) << gone.err;
  for (const char* scene : {"kept", "kept/scene.toml"})
    EXPECT_EQ(run({"replay", "press.cotrec", "--scene", scene}).code, 0) << scene;
  Scene other = two_balls();
  other.bodies[1].density = 2000;
  save_scene(other, "other", folder_ / ".state/cotouch/scenes/other");
  const Outcome wrong = run({"replay", "press.cotrec", "--scene", "other", "--json"});
  expect_one_sentence(wrong);
  for (const char* word : {"press.cotrec", "'other'", "--scene"})
    EXPECT_NE(wrong.err.find(word), std::string::npos) << wrong.err;
  save_scene(two_balls(), "other", folder_ / ".state/cotouch/scenes/other");
  EXPECT_EQ(run({"replay", "press.cotrec", "--scene", "other"}).code, 0);
}

// In this process, where a fault can be injected.
TEST_F(PlayCommandLine, FeelThatBreaksOffSaysWhy) {
  Scene scene = two_balls();
  scene.scripts.push_back({2, {scene.bodies[1].pose, {{0, 0, 0.045}, {}}}, 0.1});
  FeelCommand command;
  command.scene = save_scene(scene, "mine", folder_ / "mine").string();
  command.hand = "scripted";
  command.figure = folder_ / "a.svg";
  setenv("XDG_STATE_HOME", (folder_ / ".state").c_str(), 1);
  for (const bool fast : {true, false}) {
    command.fast = fast;
    const InjectedFault fault(k_layout_invariant);
    try {
      run_feel(command);
      FAIL();
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(k_layout_invariant), std::string::npos) << error.what();
    }
    EXPECT_FALSE(std::filesystem::exists(command.figure));
  }
  unsetenv("XDG_STATE_HOME");
}

TEST_F(PlayCommandLine, WordsOfASceneFileDoNotSteerTheTerminal) {
  Scene scene = two_balls();
  scene.scripts.push_back({2, {scene.bodies[1].pose, {{0, 0, 0.045}, {}}}, 0.1});
  const std::filesystem::path file = save_scene(scene, "mine", folder_ / "mine");
  std::string text = text_of(file);
  for (const char* key : {"title = \"", "summary = \""})
    text.insert(text.find(key) + std::strlen(key), "\\u001b[2Jred");
  std::ofstream(file) << text;
  write("index.html", "<p>page</p>");
  const Outcome played = run({"play", "mine", "--port", "0", "--web", "."}, SIGINT, is_open);
  const Outcome felt = run({"feel", "mine", "--fast"});
  for (const Outcome& outcome : {played, felt}) {
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_NE(outcome.out.find("[2Jred"), std::string::npos) << outcome.out;
    EXPECT_EQ((outcome.out + outcome.err).find('\x1b'), std::string::npos) << outcome.out;
  }
  const Outcome missing = run({"play", "\x1b[2J.toml", "--port", "0", "--web", "."});
  expect_one_sentence(missing);
  EXPECT_EQ(missing.err.find('\x1b'), std::string::npos) << missing.err;
}

TEST_F(PlayCommandLine, AMissingPartIsNamedWithItsScene) {
  write("scene.toml", "cotouch = 2\n[[body]]\n[[body.part]]\nmesh = \"gone.stl\"\n");
  write("asset.toml", "cotouch = 2\n[[body]]\n[[body.part]]\nasset = \"gone.cot\"\n");
  for (const char* scene : {"scene.toml", "asset.toml"}) {
    const Outcome outcome = run({"feel", scene});
    EXPECT_EQ(outcome.code, 2);
    EXPECT_NE(outcome.err.find(scene), std::string::npos) << outcome.err;
    EXPECT_NE(outcome.err.find("gone."), std::string::npos) << outcome.err;
  }
}

TEST_F(PlayCommandLine, ReplayRefusesWhatIsNoRecordingInOneSentence) {
  write("foreign.cotrec", "something else");
  write("empty.cotrec", "");
  for (const char* name : {"missing.cotrec", "foreign.cotrec", "empty.cotrec"}) {
    SCOPED_TRACE(name);
    const Outcome outcome = run({"replay", name, "--json", "--csv", "a.csv", "--svg", "a.svg"});
    expect_one_sentence(outcome);
    EXPECT_NE(outcome.err.find(name), std::string::npos) << outcome.err;
  }
  // A recording of a scene that is gone.
  write_recording(pressed(), folder_ / "gone.cotrec");
  const Outcome gone = run({"replay", "gone.cotrec"});
  expect_one_sentence(gone);
  EXPECT_NE(gone.err.find("balls"), std::string::npos) << gone.err;
  EXPECT_EQ(files().size(), 3U);  // nothing was written
}

TEST_F(PlayCommandLine, ReplayOfADamagedRecordingIsAnErrorThatSaysWhatIsThere) {
  save_balls();
  const Recording recording = pressed(0.02);
  ASSERT_GT(recording.samples.size(), 600U);  // more than are in a block
  write_recording(recording, folder_ / "whole.cotrec");
  const std::string whole = text_of(folder_ / "whole.cotrec");
  Recording empty = recording;
  empty.samples.clear();
  write_recording(empty, folder_ / "ended-at-once.cotrec");
  empty.finished = false;
  write_recording(empty, folder_ / "killed-at-once.cotrec");
  std::string damaged = whole;  // in its first block, right behind the head
  damaged[text_of(folder_ / "killed-at-once.cotrec").size()] ^= 1;
  write("damaged.cotrec", damaged);
  for (const char* name : {"damaged.cotrec", "ended-at-once.cotrec", "killed-at-once.cotrec"}) {
    SCOPED_TRACE(name);
    const Outcome outcome = run({"replay", name, "--json"});
    expect_one_sentence(outcome);
    EXPECT_NE(outcome.err.find("nothing that was felt"), std::string::npos) << outcome.err;
    expect_one_sentence(run({"feel", "--hand", name, "--fast"}));
  }

  // Cut off in its second block.
  write("cut.cotrec", whole.substr(0, whole.size() - 1000));
  const Outcome cut = run({"replay", "cut.cotrec", "--json"});
  EXPECT_EQ(cut.code, 2);
  EXPECT_NE(cut.err.find("0.500 s of it could be read"), std::string::npos) << cut.err;
  const Json json = Json::parse(cut.out);
  EXPECT_EQ(json["samples"], 500);
  EXPECT_EQ(json["finished"], false);
  EXPECT_GT(json["unread_bytes"], 0);
  EXPECT_EQ(json["identical"], true);  // of what there is
  const Outcome felt = run({"feel", "--hand", "cut.cotrec", "--fast", "--json"});
  EXPECT_EQ(felt.code, 2);
  EXPECT_NE(felt.err.find("0.500 s of it could be read"), std::string::npos) << felt.err;
  EXPECT_EQ(Json::parse(felt.out)["cycles"], 500);
  EXPECT_EQ(run({"replay", "whole.cotrec"}).code, 0);
}

TEST_F(PlayCommandLine, NoCommandWaitsForAPipe) {
  write("index.html", "<p>page</p>");
  ASSERT_EQ(mkfifo((folder_ / "pipe").c_str(), 0600), 0);
  for (const char* name : {"pipe.stl", "pipe.msh", "pipe.toml", "pipe.cot"})
    std::filesystem::create_symlink("pipe", folder_ / name);
  write("mesh.toml", "cotouch = 2\n[[body]]\n[[body.part]]\nmesh = \"pipe.stl\"\n");
  write("asset.toml", "cotouch = 2\n[[body]]\n[[body.part]]\nasset = \"pipe.cot\"\n");
  const std::vector<std::vector<std::string>> commands{
      {"prepare", "pipe.stl", "-o", "a.cot"},
      {"prepare", "pipe.msh", "--elastic", "rubber", "-o", "a.cot"},
      {"inspect", "pipe.cot"},
      {"replay", "pipe"},
      {"journal", "pipe"},
      {"feel", "pipe.toml"},
      {"feel", "mesh.toml"},
      {"feel", "asset.toml"},
      {"feel", "--hand", "pipe"},
      {"play", "asset.toml", "--port", "0", "--web", "."},
      {"play", "--tls", "pipe", "pipe", "--port", "0", "--web", "."},
      {"host", "asset.toml", "--headless", "--udp-port", "0"},
      {"wan", "--profile", "pipe", "--print"},
  };
  for (const std::vector<std::string>& command : commands) {
    SCOPED_TRACE(command[0] + " " + command[1]);
    const Outcome outcome = Process(folder_, "run", command).finish();
    EXPECT_EQ(outcome.code, 2);
    EXPECT_NE(outcome.err.find("pipe"), std::string::npos) << outcome.err;
  }
}

TEST_F(PlayCommandLine, ReplayFeelsTheSameForcesAndWritesThem) {
  save_balls();
  const Recording recording = pressed();
  write_recording(recording, folder_ / "press.cotrec");
  const Outcome words = run({"replay", "press.cotrec", "--csv", "felt.csv", "--svg", "felt.svg"});
  ASSERT_EQ(words.code, 0) << words.err;
  EXPECT_NE(words.out.find("bit for bit"), std::string::npos) << words.out;
  const std::string csv = text_of(folder_ / "felt.csv");
  EXPECT_EQ(static_cast<std::size_t>(std::count(csv.begin(), csv.end(), '\n')), recording.samples.size() + 1);
  EXPECT_EQ(csv.substr(0, 7), "time_s,");
  EXPECT_NE(text_of(folder_ / "felt.svg").find("<svg"), std::string::npos);

  const Outcome machine = run({"replay", "press.cotrec", "--json"});
  ASSERT_EQ(machine.code, 0) << machine.err;
  const Json json = Json::parse(machine.out);
  EXPECT_EQ(json["scene"], "balls");
  EXPECT_EQ(json["samples"], recording.samples.size());
  EXPECT_EQ(json["identical"], true);
  EXPECT_EQ(json["bodies"], 2);
  EXPECT_EQ(json["largest_difference_n"], 0.0);
  EXPECT_GT(json["peak_force_n"], 1.0);
}

TEST_F(PlayCommandLine, ReplayPlaysASharedSessionAndSaysWhoWasThereAndWhatTheySaid) {
  save_balls();
  Recording recording = testing_session::shared_press();
  write_recording(recording, folder_ / "shared.cotrec");
  const Outcome words = run({"replay", "shared.cotrec", "--csv", "felt.csv", "--svg", "felt.svg"});
  ASSERT_EQ(words.code, 0) << words.err;
  for (const char* text : {"bit for bit", "0.00 s  Ann joined\n", "0.00 s  B[2Jen joined\n", "0.80 s  B[2Jen left\n",
                           "0.60 s  Ann said: push[31m  harder\n"})
    EXPECT_NE(words.out.find(text), std::string::npos) << text << " in\n" << words.out;
  EXPECT_EQ(words.out.find('\x1b'), std::string::npos);

  const Outcome machine = run({"replay", "shared.cotrec", "--json"});
  ASSERT_EQ(machine.code, 0) << machine.err;
  const Json json = Json::parse(machine.out);
  EXPECT_EQ(json["identical"], true);
  EXPECT_EQ(json["shared"], true);
  EXPECT_EQ(json["hands"], 16);
  EXPECT_EQ(json["people"][1], Json::parse(R"({"name": "B[2Jen", "hand": 15, "from_tick": 0, "to_tick": 80})"));
  EXPECT_EQ(json["events"][2], Json::parse(R"({"tick": 60, "hand": 3, "name": "Ann", "kind": "said",
                                               "text": "push[31m  harder"})"));

  recording.samples[50].hands[testing_session::k_ben].input.pose.position.x += 0x1p-20;
  write_recording(recording, folder_ / "forged.cotrec");
  const Outcome forged = run({"replay", "forged.cotrec"});
  EXPECT_EQ(forged.code, 2);
  EXPECT_NE(forged.err.find("from 0.500 s"), std::string::npos) << forged.err;
}

TEST_F(PlayCommandLine, FeelSaysThatASharedSessionIsForReplay) {
  save_balls();
  write_recording(testing_session::shared_press(3), folder_ / "shared.cotrec");
  const Outcome outcome = run({"feel", "--hand", "shared.cotrec", "--fast"});
  expect_one_sentence(outcome);
  EXPECT_NE(outcome.err.find("cotouch replay"), std::string::npos) << outcome.err;
}

TEST_F(PlayCommandLine, AForgedForceIsFoundAndIsAnError) {
  save_balls();
  Recording recording = pressed();
  const std::size_t at = recording.samples.size() / 2;
  recording.samples[at].hands[0].felt.force.x += 0.25;
  write_recording(recording, folder_ / "forged.cotrec");
  const Outcome outcome = run({"replay", "forged.cotrec", "--json"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_NE(outcome.err.find("differ"), std::string::npos) << outcome.err;
  const Json json = Json::parse(outcome.out);
  EXPECT_EQ(json["identical"], false);
  EXPECT_NEAR(json["largest_difference_n"], 0.25, 1e-12);
  EXPECT_NEAR(json["first_difference_s"], static_cast<double>(at) * 1e-3, 1e-12);
}

}  // namespace

}  // namespace cotouch::this_file
