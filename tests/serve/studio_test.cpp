// The session behind the page: dropped parts, recordings, settings, saved scenes.
#include <cotouch/base/hash.h>
#include <cotouch/mesh/export.h>

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "serve/serve_fixture.h"
#include "support/temporary_folder.h"

namespace cotouch {
namespace {

using namespace testing_serve;

class StudioTest : public ::testing::Test {
 protected:
  StudioTest() {
    ServerSettings settings;
    settings.token = k_token;
    server_ = std::make_unique<HttpServer>(settings);
    StudioSettings studio;
    studio.version = "test";
    studio.recordings = folder_ / "recordings";
    studio.dropped.field.resolution = 16;
    studio.dropped.shell.points = 64;
    studio.draw_summary = [](const RecordingSummary& summary) {
      return "<svg>" + std::to_string(summary.clearance.size()) + "</svg>";
    };
    ::setenv("COTOUCH_CACHE", (folder_ / "cache").c_str(), 1);
    studio_ = std::make_unique<Studio>(studio, library_);
    studio_->open_scene(two_balls());
    studio_->start(*server_);
    server_->start(*studio_, *studio_);
  }
  ~StudioTest() override {
    server_->stop();
    studio_->stop();
  }
  std::uint16_t port() const { return server_->port(); }
  static std::string api(const std::string& target) {
    return "/api/" + target + (target.find('?') == std::string::npos ? "?" : "&") + "token=" + k_token;
  }
  Json scene() { return Json::parse(ask(port(), http::verb::get, api("scene")).body); }
  // An STL file of a box with 20 mm edges, in millimetres, as bytes.
  std::string box_file() {
    TriangleMesh box = make_box({20, 20, 20});
    write_stl(box, folder_ / "box.stl");
    std::ifstream in(folder_ / "box.stl", std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  TemporaryFolder folder_;
  TestLibrary library_{folder_ / "scenes"};
  std::unique_ptr<HttpServer> server_;
  std::unique_ptr<Studio> studio_;
};

TEST_F(StudioTest, TwoDroppedPartsMakeASceneThatCanBeSavedAndOpened) {
  Page page(port());
  page.read_text("recordings");
  const std::string file = box_file();
  for (const char* name : {"first", "../../second"}) {
    const Answer answer = ask(port(), http::verb::post, api("upload?unit=mm&name=" + std::string(name) + ".stl"), file);
    ASSERT_EQ(answer.status, 200U) << answer.body;
    const Json job = Json::parse(answer.body)["job"];
    for (;;) {
      const Json update = page.read_text("job");
      ASSERT_NE(update["state"], "failed") << update;
      if (update["job"] == job && update["state"] == "done") break;
    }
  }
  Json now;
  ASSERT_TRUE(eventually([&] {
    now = scene();
    return now["parts"].size() == 2;
  }));
  EXPECT_EQ(now["parts"][0]["role"], "static");
  EXPECT_EQ(now["parts"][1]["role"], "moving");
  EXPECT_EQ(now["parts"][1]["name"], "second");
  EXPECT_NEAR(now["parts"][0]["bounds"]["max"][0].get<double>(), 0.01, 1e-6);
  // Beside each other, not inside.
  EXPECT_GT(now["parts"][1]["pose"]["position"][0].get<double>(), 0.02);

  const Answer saved = ask(port(), http::verb::post, api("scene/save?name=mine"));
  ASSERT_EQ(saved.status, 200U) << saved.body;
  EXPECT_TRUE(std::filesystem::exists(Json::parse(saved.body)["file"].get<std::string>()));
  EXPECT_EQ(ask(port(), http::verb::post, api("scene/save?name=..%2Fmine")).status, 400U);

  page.send({{"type", "set_role"}, {"part", now["parts"][0]["id"]}, {"role", "moving"}, {"id", 1}});
  EXPECT_EQ(page.read_text("reply")["ok"], true);
  EXPECT_EQ(scene()["parts"][0]["role"], "moving");
  EXPECT_EQ(scene()["parts"][1]["role"], "static");
  page.send({{"type", "remove_part"}, {"part", now["parts"][1]["id"]}, {"id", 2}});
  EXPECT_EQ(page.read_text("reply")["ok"], true);
  EXPECT_EQ(scene()["parts"].size(), 1U);

  page.send({{"type", "open_scene"}, {"name", "mine"}, {"id", 3}});
  EXPECT_EQ(page.read_text("reply")["ok"], true);
  ASSERT_TRUE(eventually([&] { return scene()["name"] == "mine"; }));
  EXPECT_EQ(scene()["parts"].size(), 2U);

  // What is changed about it is no longer what can be opened by that name, and is felt as it was before.
  page.send({{"type", "settings"}, {"contact_stiffness", 2000}, {"max_force", 3}, {"id", 4}});
  EXPECT_EQ(page.read_text("reply")["ok"], true);
  const Json opened = scene();
  page.send({{"type", "set_role"}, {"part", opened["parts"][0]["id"]}, {"role", "moving"}, {"id", 5}});
  EXPECT_EQ(page.read_text("reply")["ok"], true);
  EXPECT_EQ(scene()["name"], "");
  EXPECT_EQ(scene()["settings"]["contact_stiffness"], 2000);
  page.send({{"type", "remove_part"}, {"part", opened["parts"][1]["id"]}, {"id", 6}});
  EXPECT_EQ(page.read_text("reply")["ok"], true);
  EXPECT_EQ(scene()["settings"]["max_force"], 3);
  EXPECT_EQ(scene()["parts"][0]["pose"], opened["parts"][0]["pose"]);
}

TEST_F(StudioTest, ASavedSceneCanBeDeletedUnlessItIsOpen) {
  Page page(port());
  page.read_text("recordings");
  ASSERT_EQ(ask(port(), http::verb::post, api("scene/save?name=mine")).status, 200U);
  page.read_text("scenes");
  ASSERT_TRUE(std::filesystem::exists(folder_ / "scenes/mine/scene.toml"));
  const auto delete_scene = [&](const char* name) {
    page.send({{"type", "delete_scene"}, {"name", name}, {"id", 1}});
    return page.read_text("reply");
  };
  EXPECT_EQ(delete_scene("balls")["ok"], false);  // open
  EXPECT_EQ(delete_scene("nothing")["ok"], false);
  page.send({{"type", "delete_scene"}, {"name", "mine"}});
  page.read_text("scenes");
  EXPECT_FALSE(std::filesystem::exists(folder_ / "scenes/mine"));
  EXPECT_EQ(delete_scene("mine")["ok"], false);
}

TEST_F(StudioTest, TheLargestForceIsMarkedAsSuch) {
  Page page(port());
  page.read_text("recordings");
  page.send({{"type", "settings"}, {"max_force", 2}, {"id", 1}});
  EXPECT_EQ(page.read_text("reply")["ok"], true);
  page.send({{"type", "take_hand"}, {"hand", 0}});
  page.read_text("hand");
  std::uint32_t sequence = 0;
  bool whole_and_unmarked = false, free_and_marked = false;
  page.read_state([&](const std::string& frame) {
    page.send_binary(hand_input(++sequence, 1, {0.002, 0, 0.03}));
    const bool marked = (frame[64 + 2] & 1) != 0;
    const float force = std::hypot(number_at<float>(frame, 64 + 64), number_at<float>(frame, 64 + 64 + 4),
                                   number_at<float>(frame, 64 + 64 + 8));
    whole_and_unmarked = whole_and_unmarked || (force > 1.999F && !marked);
    free_and_marked = free_and_marked || (force == 0 && number_at<std::uint32_t>(frame, 64 + 92) == 0 && marked);
    return force > 1.999F;
  });
  EXPECT_FALSE(whole_and_unmarked);
  EXPECT_FALSE(free_and_marked);
}

TEST_F(StudioTest, WhoGrabsAndLeavesAtOnceHoldsNothing) {
  Page page(port());
  page.read_text("recordings");
  ViewerCommand take;
  take.type = "take_hand";
  take.hand = 0;
  for (ViewerId ghost = 1000; ghost < 1020; ++ghost) {
    // As the I/O thread does it: the command waits for the studio, the leaving does not.
    studio_->viewer_command(ghost, take);
    studio_->viewer_left(ghost);
    page.send({{"type", "take_hand"}, {"hand", 0}});
    ASSERT_EQ(page.read_text("hand")["state"], "granted");
    page.send({{"type", "release_hand"}, {"hand", 0}});
    ASSERT_EQ(page.read_text("hand")["state"], "released");
  }
}

TEST_F(StudioTest, AFileThatIsNoMeshFailsWithASentence) {
  Page page(port());
  page.read_text("recordings");
  const Answer answer =
      ask(port(), http::verb::post, api("upload?name=..%2F..%2Fmy%20bracket.STL"), "this is no mesh at all");
  ASSERT_EQ(answer.status, 200U);
  Json update;
  do update = page.read_text("job");
  while (update["state"] == "running");
  EXPECT_EQ(update["state"], "failed");
  // By the name it was dropped under, without what could be taken for a path.
  EXPECT_EQ(update["name"], "my bracket");
  EXPECT_EQ(update["reason"].get<std::string>().rfind("my bracket.stl ", 0), 0U) << update;
  EXPECT_EQ(scene()["name"], "balls");
  // A name cut in the middle of a character would be no text any more.
  std::string greek;
  for (int i = 0; i < 40; ++i) greek += "%CE%B1";
  EXPECT_EQ(ask(port(), http::verb::post, api("upload?name=" + greek + ".stl"), "no mesh").status, 200U);
  do update = page.read_text("job");
  while (update["state"] == "running");
  EXPECT_EQ(update["state"], "failed");
}

TEST_F(StudioTest, ARecordingIsListedExportedAndFeltAgainBitForBit) {
  Page page(port());
  page.read_text("recordings");
  page.send({{"type", "take_hand"}, {"hand", 0}});
  page.read_text("hand");
  page.send({{"type", "record_start"}, {"id", 1}});
  EXPECT_EQ(page.read_text("reply")["ok"], true);
  page.send({{"type", "record_start"}, {"id", 2}});
  EXPECT_EQ(page.read_text("reply")["ok"], false);
  std::uint32_t sequence = 0;
  page.read_state([&](const std::string& frame) {
    page.send_binary(hand_input(++sequence, 1, {0.002, 0, 0.03}));
    return number_at<float>(frame, 64 + 64 + 8) > 1;
  });
  page.send({{"type", "record_stop"}});
  while (page.read_text("recording")["active"] != false) {
  }
  const Json entry = page.read_text("recordings")["recordings"][0];
  EXPECT_EQ(entry["scene"], "balls");
  EXPECT_GT(entry["peak_force"], 1.0);
  const std::string id = entry["id"];

  const std::string frames = ask(port(), http::verb::get, api("recording/" + id + ".frames")).body;
  ASSERT_EQ(frames.substr(0, 4), "CTR1");
  const auto count = number_at<std::uint32_t>(frames, 4);
  std::size_t at = 16;
  std::uint32_t seen = 0;
  for (; at < frames.size(); ++seen) {
    EXPECT_EQ(frames.substr(at, 2), "CT");
    EXPECT_EQ(number_at<std::uint32_t>(frames, at + 24) & 4U, 4U);  // a replay frame
    at += number_at<std::uint32_t>(frames, at + 4);
  }
  EXPECT_EQ(at, frames.size());
  EXPECT_EQ(seen, count);
  EXPECT_NEAR(number_at<double>(frames, 8), entry["seconds"].get<double>(), 1e-9);

  const std::string csv = ask(port(), http::verb::get, api("recording/" + id + ".csv")).body;
  const auto lines = std::count(csv.begin(), csv.end(), '\n');
  EXPECT_EQ(lines, 1 + std::llround(entry["seconds"].get<double>() * 1000));
  EXPECT_EQ(ask(port(), http::verb::get, api("recording/" + id + ".svg")).body.substr(0, 5), "<svg>");

  const Recording recording = read_recording(folder_ / ("recordings/" + id + ".cotrec"));
  const RecordedScene recorded = parse_recorded_scene(recording.scene);
  EXPECT_EQ(recorded.name, "balls");
  EXPECT_EQ(recorded.bodies, hex(two_balls().content_hash()));
  const ReplayResult again = replay(recording, two_balls(), recorded.feel);
  EXPECT_TRUE(again.identical) << "from cycle " << again.first_difference << " on";
  EXPECT_EQ(again.samples.size(), recording.samples.size());

  page.send({{"type", "delete_recording"}, {"recording", id}});
  EXPECT_TRUE(page.read_text("recordings")["recordings"].empty());
  EXPECT_EQ(ask(port(), http::verb::get, api("recording/" + id + ".csv")).status, 404U);
}

TEST_F(StudioTest, NeitherASliderNorTheRecordButtonMakesThePressedPartLetGo) {
  Page page(port());
  page.read_text("recordings");
  page.send({{"type", "take_hand"}, {"hand", 0}});
  page.read_text("hand");
  std::uint32_t sequence = 0;
  const auto force = [](const std::string& frame) { return number_at<float>(frame, 64 + 64 + 8); };
  const auto press_until = [&](const std::function<bool(const std::string&)>& reached) {
    page.read_state([&](const std::string& frame) {
      page.send_binary(hand_input(++sequence, 1, {0.002, 0, 0.03}));
      return reached(frame);
    });
  };
  const auto cycles = [](const std::string& frame) { return number_at<std::uint32_t>(frame, 40); };
  // Well past the tenth of a second in which a new loop fades in.
  press_until([&](const std::string& frame) { return force(frame) > 1 && cycles(frame) > 300; });
  // Stiffer by a little: a held part stays pressed. A loop that fades in anew would begin its cycles at zero force. So
  // does one that a very busy machine has stalled, but not every time.
  std::string id;
  Recording recording;
  for (int stiffness = 1100; stiffness < 1110; ++stiffness) {
    page.send({{"type", "settings"}, {"contact_stiffness", stiffness}, {"id", 1}});
    EXPECT_EQ(page.read_text("reply")["ok"], true);
    page.send({{"type", "record_start"}, {"id", 2}});
    EXPECT_EQ(page.read_text("reply")["ok"], true);
    std::uint32_t now = 0;
    press_until([&](const std::string& frame) {
      if (now == 0) now = cycles(frame);
      return cycles(frame) > now + 100;
    });
    page.send({{"type", "record_stop"}});
    id = page.read_text("recordings")["recordings"][0]["id"];
    recording = read_recording(folder_ / ("recordings/" + id + ".cotrec"));
    const RecordedScene recorded = parse_recorded_scene(recording.scene);
    EXPECT_EQ(recorded.feel.contact_stiffness, stiffness);
    EXPECT_GT(recorded.feel.warm_nodes, 0U);  // measured on this machine, kept for every other one
    ASSERT_GT(recording.samples.size(), 50U);
    EXPECT_EQ(recording.samples.front().time, 0);
    EXPECT_GT(recording.samples.front().cycle_ns, 0U);
    EXPECT_GT(recording.samples.front().visited, 0U);
    EXPECT_TRUE(replay(recording, two_balls(), recorded.feel).identical);
    if (recording.limiter.ramp == 1) break;
  }
  EXPECT_EQ(recording.limiter.ramp, 1);
  EXPECT_GT(norm(recording.limiter.last.force), 0.5);

  // The page's replay and the table have the cycle times and the visited nodes.
  const std::string frames = ask(port(), http::verb::get, api("recording/" + id + ".frames")).body;
  EXPECT_GT(number_at<float>(frames, 16 + 32), 0.0F);
  EXPECT_GE(number_at<float>(frames, 16 + 36), number_at<float>(frames, 16 + 32));
  const std::string csv = ask(port(), http::verb::get, api("recording/" + id + ".csv")).body;
  EXPECT_NE(csv.find("visited_nodes,cycle_us,motors\n"), std::string::npos);
}

TEST_F(StudioTest, SettingsAreCheckedAndShared) {
  Page page(port()), other(port());
  page.read_text("recordings");
  other.read_text("recordings");
  page.send({{"type", "settings"}, {"contact_stiffness", 2000}, {"max_force", 3}, {"id", 1}});
  EXPECT_EQ(page.read_text("reply")["ok"], true);
  const Json shared = other.read_text("settings");
  EXPECT_EQ(shared["contact_stiffness"], 2000);
  EXPECT_EQ(shared["max_force"], 3);
  // Half the time, half the nodes, by the speed that was measured.
  const double nodes = shared["budget_nodes"];
  EXPECT_GT(nodes, 0);
  page.send({{"type", "settings"}, {"budget_us", 400}});
  EXPECT_NEAR(other.read_text("settings")["budget_nodes"], nodes / 2, 1);
  page.send({{"type", "settings"}, {"max_force", 41}, {"id", 2}});
  EXPECT_EQ(page.read_text("reply")["ok"], false);
  page.send({{"type", "no_such_thing"}});
  EXPECT_FALSE(page.read_text("error")["reason"].get<std::string>().empty());
  page.send({{"type", "no_such_thing"}, {"id", 3}});
  EXPECT_EQ(page.read_text("reply")["ok"], false);
  page.send({{"type", "view"}, {"fps", 30}, {"id", 4}});
  EXPECT_EQ(page.read_text("reply")["ok"], true);
}

TEST_F(StudioTest, NearnessIsWarmWhereTheOtherPartIs) {
  Page page(port());
  page.send({{"type", "view"}, {"near", true}});
  std::string near;
  while (near.empty()) {
    const Page::Message message = page.read();
    if (!message.text && message.bytes[3] == 2 && number_at<std::uint32_t>(message.bytes, 16) == 2)
      near = message.bytes;
  }
  const ScenePart shown = make_scene_part(ball());
  const std::vector<Vec3d>& vertices = shown.picture->vertices;
  ASSERT_EQ(near.size(), 32 + vertices.size());
  std::size_t lowest = 0, highest = 0;
  for (std::size_t i = 0; i < vertices.size(); ++i) {
    if (vertices[i].z < vertices[lowest].z) lowest = i;
    if (vertices[i].z > vertices[highest].z) highest = i;
  }
  EXPECT_LT(static_cast<std::uint8_t>(near[32 + lowest]), static_cast<std::uint8_t>(near[32 + highest]));
  EXPECT_EQ(static_cast<std::uint8_t>(near[32 + highest]), 255);
}

}  // namespace
}  // namespace cotouch
