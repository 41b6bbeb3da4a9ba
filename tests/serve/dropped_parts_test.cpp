// Files that are dropped on the page: their size, which side is up, and where they end up.
#include <gtest/gtest.h>

#include <cotouch/base/trig.h>

#include <unistd.h>

#include <chrono>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iomanip>
#include <sstream>
#include <thread>

#include "serve/serve_fixture.h"
#include "support/temporary_folder.h"
#include "support/zip_writer.h"

namespace cotouch::this_file {
namespace {

using namespace testing_serve;

// A box from the origin to this corner.
std::string box_obj(double x, double y, double z) {
  std::string text;
  for (int i = 0; i < 8; ++i)
    text += "v " + std::to_string((i & 1) != 0 ? x : 0) + ' ' + std::to_string((i & 2) != 0 ? y : 0) + ' ' +
            std::to_string((i & 4) != 0 ? z : 0) + '\n';
  return text + "f 1 3 4 2\nf 5 6 8 7\nf 1 2 6 5\nf 3 7 8 4\nf 1 5 7 3\nf 2 4 8 6\n";
}

// A round surface: one polygon in a plane, or slivers that all meet in a corner above its middle.
std::string disc_obj(int corners, bool of_slivers) {
  std::ostringstream text;
  text << std::fixed << std::setprecision(4);
  for (int i = 0; i < corners; ++i) {
    const SinCos turn = sin_cos(2 * k_pi * i / corners);
    text << "v " << 50 * turn.cos << ' ' << 50 * turn.sin << " 0\n";
  }
  text << "v 0 0 50\nf";
  for (int i = 1; i <= corners; ++i) {
    text << ' ' << i;
    if (of_slivers) text << ' ' << i % corners + 1 << ' ' << corners + 1 << "\nf";
  }
  std::string whole = text.str();
  if (of_slivers) whole.pop_back();
  return whole += '\n';
}

// Whether this process has one at work that reads a mesh for it.
bool is_reading() {
  const std::string parent = std::to_string(::getpid());
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", ignored)) {
    std::ifstream file(entry.path() / "stat");
    std::string number, name, state, of;
    const bool is_ours = file >> number >> name >> state >> of && of == parent && name.starts_with("(cotouch-read");
    if (is_ours && state != "Z") return true;  // one that has ended may be waited for later
  }
  return false;
}

// Seconds of this process on all processors.
double processor_seconds() {
  timespec time{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

// Two tetrahedra with edges of 4 cm along the axes, one moved by 20 cm in x, with names of their own.
const std::string k_assembly =
    R"({"asset":{"version":"2.0"},"scene":0,"scenes":[{"nodes":[0,1]}],"nodes":[{"mesh":0,"name":"base","scale":[0.004,)"
    R"(0.004,0.004]},{"mesh":0,"name":"lid","translation":[0.2,0,0],"scale":[0.004,0.004,0.004]}],"meshes":[{)"
    R"("primitives":[{"attributes":{"POSITION":0},"indices":1}]}],"buffers":[{"byteLength":72,)"
    R"("uri":"data:application/octet-stream;base64,AAAAAAAAAAAAAAAAAAAgQQAAAAAAAAAAAAAAAAAAIEEAAAAAAAAAAAAAAAAAACBB)"
    R"(AAACAAEAAAABAAMAAAADAAIAAQACAAMA"}],"bufferViews":[{"buffer":0,"byteOffset":0,"byteLength":48},{"buffer":0,)"
    R"("byteOffset":48,"byteLength":24}],"accessors":[{"bufferView":0,"componentType":5126,"count":4,"type":"VEC3",)"
    R"("min":[0,0,0],"max":[10,10,10]},{"bufferView":1,"componentType":5123,"count":12,"type":"SCALAR"}]})";

class DroppedParts : public ::testing::Test {
 protected:
  DroppedParts() {
    ServerSettings settings;
    settings.limits.silent_seconds = 600;  // a page here may wait for long before it reads on
    server_ = std::make_unique<HttpServer>(settings);
    SessionSettings session;
    session.recordings = folder_ / "recordings";
    session.added.field.resolution = 16;
    session.added.shell.points = 64;
    ::setenv("COTOUCH_CACHE", (folder_ / "cache").c_str(), 1);
    session_ = std::make_unique<Session>(session, library_);
    host_ = std::make_unique<PageHost>(PageHostSettings{}, *session_, *server_, links_);
    session_->start();  // with an empty scene
    server_->start(*host_, *host_, links_);
    page_ = std::make_unique<Page>(server_->port());
  }
  ~DroppedParts() override {
    server_->stop();
    session_->stop();
  }
  static std::string api(const std::string& target) { return "/api/" + target; }
  Json scene() { return Json::parse(get_in(server_->port(), api("scene")).body); }
  // The job that reads the file.
  Json sent(const std::string& query, const std::string& file) {
    const Answer answer = post_in(server_->port(), api("upload?" + query), file);
    EXPECT_EQ(answer.status, 200U) << answer.body;
    return answer.status == 200 ? Json::parse(answer.body)["job"] : Json();
  }
  // The last word about it.
  Json drop(const std::string& query, const std::string& file) {
    const Json job = sent(query, file);
    return job.is_null() ? Json() : end_of(job);
  }
  Json end_of(const Json& job) {
    for (;;) {
      Json update = page_->read_text("job");
      if (update["job"] == job && update["state"] != "running") return update;
    }
  }
  // The scene once it has so many bodies.
  Json with_bodies(std::size_t count) {
    Json now;
    EXPECT_TRUE(eventually([&] {
      now = scene();
      return now["bodies"].size() == count && now["title"] == "My parts";
    })) << now;
    return now;
  }
  // Without the one that a reader built with a sanitizer has about itself.
  static Json import_of(const Json& part) {
    Json import = part["import"], warnings = Json::array();
    for (const Json& warning : import["warnings"])
      if (warning.get<std::string>().find("built with a sanitizer") == std::string::npos) warnings.push_back(warning);
    import["warnings"] = warnings;
    return import;
  }
  static void expect_size(const Json& part, double x, double y, double z) {
    const Json& low = part["bounds"]["min"];
    const Json& high = part["bounds"]["max"];
    const double wanted[] = {x, y, z};
    for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(high[i].get<double>() - low[i].get<double>(), wanted[i], 1e-6) << i;
  }

  TemporaryFolder folder_;
  TestLibrary library_{folder_ / "scenes"};
  LinkBook links_{k_token};
  std::unique_ptr<HttpServer> server_;
  std::unique_ptr<Session> session_;
  std::unique_ptr<PageHost> host_;
  std::unique_ptr<Page> page_;
};

TEST_F(DroppedParts, ThatStateTheirUnitComeInAtTheirSize) {
  ASSERT_EQ(drop("name=a.gltf", k_assembly)["state"], "done");
  const Json part = with_bodies(1)["parts"][0];
  expect_size(part, 0.24, 0.04, 0.04);
  EXPECT_EQ(import_of(part), Json({{"unit", "m"},
                                   {"unit_from", "stated"},
                                   {"guess", ""},
                                   {"up", "y"},
                                   {"up_from", "stated"},
                                   {"warnings", Json::array()}}));
}

TEST_F(DroppedParts, WithoutAUnitAreGuessedWithAReason) {
  ASSERT_EQ(drop("name=a.obj", box_obj(180, 90, 45))["state"], "done");
  const Json part = with_bodies(1)["parts"][0];
  expect_size(part, 0.18, 0.09, 0.045);
  EXPECT_EQ(part["import"]["unit"], "mm");
  EXPECT_EQ(part["import"]["unit_from"], "guessed");
  EXPECT_EQ(part["import"]["guess"], "180 across; read as mm because a part of 180 m is unlikely");
  EXPECT_EQ(part["import"]["up_from"], "guessed");
}

TEST_F(DroppedParts, BringTheirWarningsToThePage) {
  ASSERT_EQ(
      drop("name=a.obj&unit=mm&up=y", "v 0 0 0\nv 50 0 0\nv 0 50 0\nv 0 0 50\nf 1 3 2\nf 1 2 4\nf 1 4 3\n")["state"],
      "done");
  const Json import = import_of(with_bodies(1)["parts"][0]);
  EXPECT_EQ(import["unit_from"], "given");
  EXPECT_EQ(import["up"], "y");
  EXPECT_EQ(import["up_from"], "given");
  ASSERT_EQ(import["warnings"].size(), 1U);
  EXPECT_NE(import["warnings"][0].get<std::string>().find("3 open edges"), std::string::npos);
}

TEST_F(DroppedParts, GetAnotherUnitAndUpAxisAfterwards) {
  ASSERT_EQ(drop("name=a.obj", box_obj(180, 90, 45))["state"], "done");
  const Json before = with_bodies(1);
  const Json body = before["bodies"][0]["id"];
  const auto reimport = [&](Json command) {
    command.update({{"type", "reimport"}, {"body", body}, {"id", 1}});
    page_->send(command);
    return page_->read_text("reply");
  };
  EXPECT_EQ(reimport({})["ok"], false);
  EXPECT_EQ(reimport({{"unit", "parsec"}})["ok"], false);
  EXPECT_EQ(reimport({{"up", "w"}})["ok"], false);
  EXPECT_EQ(reimport({{"unit", "m"}})["ok"], false);  // 180 m
  ASSERT_EQ(reimport({{"unit", "cm"}, {"up", "y"}})["ok"], true);
  Json part;
  ASSERT_TRUE(eventually([&] {
    part = scene()["parts"][0];
    return part["import"]["unit"] == "cm";
  }));
  expect_size(part, 1.8, 0.45, 0.9);
  EXPECT_EQ(part["import"]["unit_from"], "given");
  EXPECT_EQ(part["import"]["up"], "y");
  EXPECT_EQ(part["import"]["guess"], "");
  ASSERT_EQ(reimport({{"unit", "mm"}, {"up", "z"}})["ok"], true);
  ASSERT_TRUE(eventually([&] {
    part = scene()["parts"][0];
    return part["import"]["unit"] == "mm";
  }));
  expect_size(part, 0.18, 0.09, 0.045);
  // Those of a scene were never dropped.
  page_->send({{"type", "open_scene"}, {"name", "balls"}});
  ASSERT_TRUE(eventually([&] { return scene()["name"] == "balls"; }));
  page_->send({{"type", "reimport"}, {"body", 1}, {"unit", "mm"}, {"id", 2}});
  EXPECT_NE(page_->read_text("reply")["reason"].get<std::string>().find("was not dropped"), std::string::npos);
}

TEST_F(DroppedParts, OfOneAssemblyComeAsSeveralBodiesWhereTheyAreInTheFile) {
  ASSERT_EQ(drop("name=a.gltf&split=1&place=as_in_file", k_assembly)["state"], "done");
  const Json now = with_bodies(2);
  EXPECT_EQ(now["bodies"][0]["name"], "base");
  EXPECT_EQ(now["bodies"][1]["name"], "lid");
  // Middles of tetrahedra's boxes; y of the file is up, so that its z is minus our y.
  for (std::size_t i = 0; i < 2; ++i) {
    const Json position = now["bodies"][i]["pose"]["position"];
    EXPECT_NEAR(position[0].get<double>(), 0.02 + 0.2 * static_cast<double>(i), 1e-6);
    EXPECT_NEAR(position[1].get<double>(), -0.02, 1e-6);
    EXPECT_NEAR(position[2].get<double>(), 0.02, 1e-6);
    expect_size(now["parts"][i], 0.04, 0.04, 0.04);
  }
  EXPECT_EQ(now["bodies"][0]["motion"], "fixed");
  EXPECT_EQ(now["bodies"][1]["motion"], "free");
}

TEST_F(DroppedParts, KeepTheirPlaceInTheFileWithAnotherUnitAndUpAxis) {
  ASSERT_EQ(drop("name=a.gltf&split=1&place=as_in_file", k_assembly)["state"], "done");
  const Json lid = with_bodies(2)["bodies"][1]["id"];
  // None of these places is in the base, which would push it out.
  const auto expect_place = [&](const char* unit, const char* up, double x, double y, double z) {
    page_->send({{"type", "reimport"}, {"body", lid}, {"unit", unit}, {"up", up}, {"id", 1}});
    ASSERT_EQ(page_->read_text("reply")["ok"], true);
    Json now;
    ASSERT_TRUE(eventually([&] {
      now = scene();
      return now["parts"][1]["import"]["unit"] == unit;
    }));
    const Json base = now["bodies"][0]["pose"]["position"], position = now["bodies"][1]["pose"]["position"];
    EXPECT_NEAR(base[0].get<double>(), 0.02, 1e-6);
    EXPECT_NEAR(position[0].get<double>(), x, 1e-6);
    EXPECT_NEAR(position[1].get<double>(), y, 1e-6);
    EXPECT_NEAR(position[2].get<double>(), z, 1e-6);
  };
  expect_place("ft", "z", 0.22 * 0.3048, 0.02 * 0.3048, 0.02 * 0.3048);
  expect_place("m", "y", 0.22, -0.02, 0.02);
}

TEST_F(DroppedParts, InAZipComeTogether) {
  const std::string archive = zip_stored({{"set/base.obj", box_obj(40, 40, 40)}, {"set/pin.obj", box_obj(5, 5, 5)}});
  ASSERT_EQ(drop("name=set.zip&split=1&place=middle", archive)["state"], "done");
  const Json now = with_bodies(2);
  EXPECT_EQ(now["bodies"][1]["name"], "pin");
  expect_size(now["parts"][1], 0.005, 0.005, 0.005);
  // Beside each other, not one in the other.
  EXPECT_GT(now["bodies"][1]["pose"]["position"][0].get<double>(), 0.02);
  const Json refused = drop("name=set.zip", zip_stored({{"../../x.obj", box_obj(1, 1, 1)}}));
  EXPECT_EQ(refused["state"], "failed");
  EXPECT_NE(refused["reason"].get<std::string>().find("points outside"), std::string::npos);
}

TEST_F(DroppedParts, ComeIntoTheOpenSceneUnlessANewOneIsAskedFor) {
  page_->send({{"type", "open_scene"}, {"name", "balls"}});
  ASSERT_TRUE(eventually([&] { return scene()["name"] == "balls"; }));
  ASSERT_EQ(drop("name=a.obj", box_obj(40, 40, 40))["state"], "done");
  ASSERT_TRUE(eventually([&] { return scene()["bodies"].size() == 3; }));
  EXPECT_EQ(scene()["title"], "Two balls");
  EXPECT_EQ(scene()["name"], "");
  ASSERT_EQ(drop("name=b.obj&scene=new", box_obj(20, 20, 20))["state"], "done");
  EXPECT_EQ(with_bodies(1)["bodies"][0]["name"], "b");
  Json unsaved;
  ASSERT_TRUE(eventually([&] {
    unsaved = Json::array();
    const Json gallery = Json::parse(get_in(server_->port(), api("scenes")).body);
    for (const Json& entry : gallery["scenes"])
      if (entry["unsaved"] == true) unsaved.push_back(entry["name"]);
    return unsaved.size() == 2;
  })) << unsaved;
  page_->send({{"type", "open_scene"}, {"name", unsaved[1]}});  // the older one
  EXPECT_TRUE(eventually([&] { return scene()["bodies"].size() == 3; }));
  EXPECT_EQ(post_in(server_->port(), api("upload?name=a.obj&scene=moon"), "x").status, 400U);
}

TEST_F(DroppedParts, ThatCannotBeReadLeaveTheSceneOpenThoughANewOneWasAskedFor) {
  page_->send({{"type", "open_scene"}, {"name", "balls"}});
  ASSERT_TRUE(eventually([&] { return scene()["name"] == "balls"; }));
  const std::string refused = end_of(sent("name=a.obj&scene=new", "v no number"))["state"];
  EXPECT_EQ(refused, "failed");
  EXPECT_EQ(scene()["name"], "balls");
  // What comes after it was meant for whatever is open then.
  ASSERT_EQ(end_of(sent("name=b.obj", box_obj(40, 40, 40)))["state"], "done");
  EXPECT_TRUE(eventually([&] { return scene()["bodies"].size() == 3; }));
}

TEST_F(DroppedParts, ThatAreEachToBeAloneAreSoThoughTheyComeAtOnce) {
  const Json first = sent("name=a.obj&scene=new", box_obj(40, 40, 40));
  const Json second = sent("name=b.obj&scene=new", box_obj(30, 30, 30));
  const Json third = sent("name=c.obj", box_obj(20, 20, 20));  // into the newest
  for (const Json& job : {first, second, third}) EXPECT_EQ(end_of(job)["state"], "done");
  const Json now = with_bodies(2);
  EXPECT_EQ(now["bodies"][0]["name"], "b");
  EXPECT_EQ(now["bodies"][1]["name"], "c");
  NoProgress quiet;
  const auto kept_alone = [&] {
    for (const std::string& name : library_.unsaved()) {
      const Scene kept = library_.load(name, quiet);
      if (kept.bodies.size() == 1 && kept.bodies[0].name == "a") return true;
    }
    return false;
  };
  EXPECT_TRUE(kept_alone());
}

TEST_F(DroppedParts, TakeNothingsPlaceThatCannotBeKeptUnlessItMayBeLost) {
  for (int i = 0; i < 32; ++i) {
    const std::filesystem::path folder = folder_ / ("scenes/unsaved-20260131-1015" + std::to_string(10 + i));
    std::filesystem::create_directories(folder);
    std::ofstream(folder / "scene.toml") << "cotouch = 2\n";
  }
  page_->send({{"type", "open_scene"}, {"name", "balls"}});
  ASSERT_TRUE(eventually([&] { return scene()["name"] == "balls"; }));
  ASSERT_EQ(drop("name=a.obj", box_obj(40, 40, 40))["state"], "done");
  ASSERT_TRUE(eventually([&] { return scene()["bodies"].size() == 3; }));
  const Answer refused = post_in(server_->port(), api("upload?name=b.obj&scene=new"), box_obj(20, 20, 20));
  EXPECT_EQ(refused.status, 409U);
  EXPECT_EQ(Json::parse(refused.body)["code"], "unkept") << refused.body;
  page_->send({{"type", "open_scene"}, {"name", "three"}, {"id", 7}});
  const Json reply = page_->read_text("reply");
  EXPECT_EQ(reply["ok"], false);
  EXPECT_EQ(reply["code"], "unkept") << reply;
  EXPECT_EQ(scene()["bodies"].size(), 3U);
  ASSERT_EQ(drop("name=b.obj&scene=new&lose_changes=1", box_obj(20, 20, 20))["state"], "done");
  EXPECT_EQ(with_bodies(1)["bodies"][0]["name"], "b");
  page_->send({{"type", "open_scene"}, {"name", "three"}, {"lose_changes", true}, {"id", 8}});
  EXPECT_EQ(page_->read_text("reply")["ok"], true);
  EXPECT_TRUE(eventually([&] { return scene()["name"] == "three"; }));
}

// Triangles that all meet each other kept the search for crossings busy for 90 s, and could not be cancelled.
TEST_F(DroppedParts, ThatTakeLongAndAreCancelledHoldUpNoOther) {
  for (const bool of_slivers : {false, true}) {
    SCOPED_TRACE(of_slivers ? "slivers" : "one polygon");
    const Json disc = sent("name=disc.obj", disc_obj(of_slivers ? 100'000 : 200'000, of_slivers));
    double before = processor_seconds();
    ASSERT_TRUE(eventually([&] { return is_reading() || processor_seconds() > before + 1; }));
    // The reader lets everybody else go first, so that a busy machine takes very long for it.
    while (is_reading()) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    // Now it is looked at, here. Before the search there is what takes less than a second.
    before = processor_seconds();
    ASSERT_TRUE(eventually([&] { return processor_seconds() > before + 1; }));
    before = processor_seconds();
    page_->send({{"type", "cancel_job"}, {"job", disc}});
    const Json box = sent("name=a.obj", box_obj(40, 40, 40));
    EXPECT_EQ(end_of(disc)["state"], "cancelled");
    EXPECT_EQ(end_of(box)["state"], "done");
    // It takes a tenth of one or so. Not the clock's, which goes on while others have the processor.
    EXPECT_LT(processor_seconds() - before, 10);
  }
  with_bodies(2);
}

TEST_F(DroppedParts, AreRefusedAPlaceThatIsNone) {
  EXPECT_EQ(post_in(server_->port(), api("upload?name=a.obj&place=moon"), "x").status, 400U);
  EXPECT_EQ(post_in(server_->port(), api("upload?name=a.obj&up=w"), "x").status, 400U);
}

}  // namespace
}  // namespace cotouch::this_file
