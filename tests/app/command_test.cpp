// Preparing and looking at parts on the command line.
#include <cotouch/part/asset.h>

#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>

#include "app/command_fixture.h"

namespace cotouch::this_file {
using namespace cotouch::testing_app;

namespace {

// A tetrahedron with edges of about 30 units.
constexpr const char* k_tetrahedron = "v 0 0 0\nv 30 0 0\nv 0 30 0\nv 0 0 30\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";

}  // namespace

TEST_F(Command, TellsItsVersionAndHelps) {
  EXPECT_EQ(run({"--version"}).out.substr(0, 8), "cotouch ");
  const Outcome help = run({"--help"});
  EXPECT_EQ(help.code, 0);
  for (const char* command : {"prepare", "inspect", "feel", "scenes", "experiment"})
    EXPECT_NE(help.out.find(command), std::string::npos) << command;
  EXPECT_NE(run({"prepare", "--help"}).out.find("Example:"), std::string::npos);
}

TEST_F(Command, WrongUseIsExitCodeTwo) {
  EXPECT_EQ(run({}).code, 2);
  EXPECT_EQ(run({"juggle"}).code, 2);
  EXPECT_EQ(run({"prepare", "a.obj"}).code, 2);
  EXPECT_EQ(run({"prepare", "a.obj", "-o", "a.cot", "--resolution", "-3"}).code, 2);
}

TEST_F(Command, AWordThatIsNoCommandIsNamed) {
  const Outcome outcome = run({"foo", "--json"});
  expect_one_sentence(outcome);
  EXPECT_NE(outcome.err.find("'foo'"), std::string::npos) << outcome.err;
}

TEST_F(Command, OutputThatCannotBeWrittenIsAnError) {
  // Through a shell, which alone can give a command another standard output here.
  const std::string command = std::string(COTOUCH_COMMAND) + " scenes >/dev/full 2>/dev/null";
  const int status = std::system(command.c_str());
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 2);
}

TEST_F(Command, PreparesAndInspectsAMesh) {
  write("a.obj", k_tetrahedron);
  const Outcome prepared =
      run({"prepare", "a.obj", "--unit", "mm", "--resolution", "16", "--points", "256", "-o", "a.cot"});
  ASSERT_EQ(prepared.code, 0) << prepared.err;
  const Part part = read_asset(folder_ / "a.cot");
  EXPECT_EQ(part.shell.point_count(), 256U);
  EXPECT_NEAR(part.mesh.bounds().size().x, 0.030, 1e-12);  // millimetres became metres

  const Outcome inspected = run({"inspect", "a.cot", "--png", "a.png"});
  EXPECT_EQ(inspected.code, 0) << inspected.err;
  EXPECT_NE(inspected.out.find("30 x 30 x 30 mm"), std::string::npos) << inspected.out;
  EXPECT_EQ(text_of(folder_ / "a.png").substr(1, 3), "PNG");
  EXPECT_NE(run({"inspect", "a.cot", "--json"}).out.find("\"triangles\": 4"), std::string::npos);
}

TEST_F(Command, WhatCannotBeReadIsOneSentenceAndWritesNothing) {
  write("empty.stl", "");
  write("text.obj", "no mesh at all\n");
  write("nan.obj", "v 0 0 0\nv nan 0 0\nv 0 1 0\nf 1 2 3\n");
  write("point.ply", "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\n");
  for (const char* name : {"missing.stl", "empty.stl", "text.obj", "nan.obj", "point.ply"}) {
    SCOPED_TRACE(name);
    const Outcome outcome = run({"prepare", name, "--json", "-o", "part.cot"});
    expect_one_sentence(outcome);
    EXPECT_NE(outcome.err.find(name), std::string::npos) << outcome.err;
    EXPECT_FALSE(std::filesystem::exists(folder_ / "part.cot"));
  }
  EXPECT_EQ(files().size(), 4U);
}

TEST_F(Command, APlaceThatCannotBeWrittenIsKnownBeforeTheWork) {
  write("a.obj", k_tetrahedron);
  expect_one_sentence(run({"prepare", "a.obj", "-o", "no/such/folder/a.cot"}));
  expect_one_sentence(run({"prepare", "a.obj", "-o", "."}));
}

TEST_F(Command, NothingReplacesWhatItIsMadeFrom) {
  write("a.obj", k_tetrahedron);
  std::filesystem::create_symlink("a.obj", folder_ / "link.obj");
  for (const char* output : {"a.obj", "./a.obj", "link.obj"}) {
    SCOPED_TRACE(output);
    expect_one_sentence(run({"prepare", "a.obj", "-o", output}));
    EXPECT_EQ(text_of(folder_ / "a.obj"), k_tetrahedron);
  }

  // The same for a file that the mesh refers to.
  const float corners[9] = {0, 0, 0, 1, 0, 0, 0, 1, 0};
  const std::string numbers(reinterpret_cast<const char*>(corners), sizeof corners);
  write("data.bin", numbers);
  write(
      "a.gltf",
      R"({"asset":{"version":"2.0"},"scene":0,"scenes":[{"nodes":[0]}],"nodes":[{"mesh":0}],"meshes":[{"primitives":)"
      R"([{"attributes":{"POSITION":0}}]}],"buffers":[{"byteLength":36,"uri":"data.bin"}],"bufferViews":[{"buffer":0,)"
      R"("byteLength":36}],"accessors":[{"bufferView":0,"componentType":5126,"count":3,"type":"VEC3"}]})");
  EXPECT_EQ(run({"prepare", "a.gltf", "-o", "data.bin"}).code, 2);
  EXPECT_EQ(text_of(folder_ / "data.bin"), numbers);

  ASSERT_EQ(run({"prepare", "a.obj", "--resolution", "16", "--points", "64", "-o", "a.cot"}).code, 0);
  const std::string part = text_of(folder_ / "a.cot");
  expect_one_sentence(run({"inspect", "a.cot", "--png", "a.cot"}));
  EXPECT_EQ(text_of(folder_ / "a.cot"), part);
  const Outcome again = run({"prepare", "a.cot", "--json", "-o", "b.cot"});
  expect_one_sentence(again);
  EXPECT_NE(again.err.find("prepared already"), std::string::npos) << again.err;
}

TEST_F(Command, WrongOptionsAreFoundBeforeTheMeshIsRead) {
  // There is no mesh, so each of these would be refused for that if it were not for the option.
  for (const std::vector<std::string>& option :
       std::vector<std::vector<std::string>>{{"--unit", "furlong"},
                                             {"--unit", ""},
                                             {"--up", "w"},
                                             {"--up", ""},
                                             {"--offset", "nan"},
                                             {"--offset", "100"},
                                             {"--seed", "-1"},
                                             {"--seed", "18446744073709551616"},
                                             {"--seed", "1.5"},
                                             {"--output", ""}}) {
    SCOPED_TRACE(option[0] + ' ' + option[1]);
    std::vector<std::string> arguments{"prepare", "missing.stl"};
    if (option[0] != "--output") arguments.insert(arguments.end(), {"-o", "a.cot"});
    arguments.insert(arguments.end(), option.begin(), option.end());
    const Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.code, 2);
    EXPECT_NE(outcome.err.find(option[0]), std::string::npos) << outcome.err;
  }
  EXPECT_EQ(run({"inspect", "a.cot", "--png", ""}).code, 2);
  EXPECT_EQ(run({"experiment", "--seed", "-1"}).code, 2);
  write("a.obj", k_tetrahedron);
  const Outcome device = run({"prepare", "a.obj", "-o", "/dev/null"});
  expect_one_sentence(device);
  EXPECT_NE(device.err.find("file of its own"), std::string::npos) << device.err;
}

TEST_F(Command, AnExperimentPrintsJsonAndNothingElseIfNoFileIsNamed) {
  const Outcome printed = run({"experiment", "beam", "--quick", "--json"});
  EXPECT_EQ(printed.code, 0);
  const auto json = nlohmann::json::parse(printed.out, nullptr, false);
  EXPECT_TRUE(json.is_object()) << printed.out;
  // Here the name would be the file's.
  const Outcome nameless = run({"experiment", "--json", "beam"});
  EXPECT_EQ(nameless.code, 2);
  EXPECT_NE(nameless.err.find("Which experiment?"), std::string::npos);
}

TEST_F(Command, UnitsAndAxesAreKnownInAnyCase) {
  write("a.obj", "v 0 0 0\nv 10 0 0\nv 0 20 0\nv 0 0 30\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n");
  const Outcome prepared = run({"prepare", "a.obj", "--unit", "MM", "--up", "Y", "--seed", "18446744073709551615",
                                "--resolution", "16", "--points", "64", "-o", "a.cot"});
  ASSERT_EQ(prepared.code, 0) << prepared.err;
  const Box3d bounds = read_asset(folder_ / "a.cot").mesh.bounds();
  EXPECT_NEAR(bounds.size().y, 0.030, 1e-12);
  EXPECT_NEAR(bounds.size().z, 0.020, 1e-12);
  EXPECT_NE(prepared.out.find("unit: mm, as given"), std::string::npos) << prepared.out;
  EXPECT_NE(prepared.out.find("up axis: y, as given; turned to z"), std::string::npos) << prepared.out;
}

TEST_F(Command, InspectMeasuresTheMesh) {
  const auto mesh = [&](const std::string& text) {
    write("a.obj", text);
    EXPECT_EQ(run({"prepare", "a.obj", "--unit", "m", "--resolution", "16", "--points", "64", "-o", "a.cot"}).code, 0);
    return nlohmann::json::parse(run({"inspect", "a.cot", "--json"}).out).at("mesh");
  };
  const nlohmann::json whole = mesh(k_tetrahedron);
  EXPECT_EQ(whole.at("bounds_m"), nlohmann::json::parse("[[0, 0, 0], [30, 30, 30]]"));
  EXPECT_NEAR(whole.at("volume_m3").get<double>(), 4500, 1e-6);
  EXPECT_NEAR(whole.at("area_m2").get<double>(), 3 * 450 + 450 * std::sqrt(3), 1e-6);
  const std::string text = k_tetrahedron;
  EXPECT_TRUE(mesh(text.substr(0, text.rfind('f'))).at("volume_m3").is_null());
}

TEST_F(Command, ForeignAndDamagedPartsAreRefusedWithAReason) {
  write("a.cot", "something else");
  const Outcome foreign = run({"inspect", "a.cot"});
  expect_one_sentence(foreign);
  EXPECT_NE(foreign.err.find("not a cotouch part"), std::string::npos);
  expect_one_sentence(run({"inspect", "missing.cot"}));
}

TEST_F(Command, CtrlCLeavesNothingHalfWritten) {
  write("a.obj", k_tetrahedron);
  write("a.cot", "what was there before");
  const Outcome stopped =
      run({"prepare", "a.obj", "--resolution", "512", "--points", "4000000", "-o", "a.cot"}, SIGINT);
  EXPECT_EQ(stopped.code, 130) << stopped.err;
  EXPECT_EQ(text_of(folder_ / "a.cot"), "what was there before");
  EXPECT_EQ(files().size(), 2U);
}

// Nothing tells this reader how far it is; it has to ask by itself. Otherwise it would come to the end and say what is
// wrong with the file.
TEST_F(Command, CtrlCEndsAlsoTheReadingOfTetrahedra) {
  write("a.msh", "$MeshFormat\n");
  std::filesystem::resize_file(folder_ / "a.msh", std::uintmax_t{512} << 20U);  // one word, which takes seconds
  yields_ = true;
  const Outcome stopped = run({"prepare", "a.msh", "-o", "a.cot"}, SIGINT);
  EXPECT_EQ(stopped.code, 130) << stopped.err;
}

// Before it is read: looking at it would take some gigabytes, and no part could be made of it.
TEST_F(Command, MoreTrianglesThanAPartIsMadeOfAreRefusedByTheReader) {
  constexpr std::uint32_t k_triangles = (1U << 22U) + 1;
  std::string head(84, ' ');
  std::memcpy(head.data() + 80, &k_triangles, sizeof k_triangles);
  write("a.stl", head);
  std::filesystem::resize_file(folder_ / "a.stl", 84 + std::uintmax_t{50} * k_triangles);
  write("scene.toml", "cotouch = 2\n[[body]]\n[[body.part]]\nmesh = \"a.stl\"\n");
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"prepare", "a.stl", "-o", "a.cot"}, {"feel", "scene.toml"}}) {
    const Outcome outcome = run(command);
    EXPECT_EQ(outcome.code, 2);
    EXPECT_NE(outcome.err.find("more than the 4194304"), std::string::npos) << outcome.err;
  }
}

TEST_F(Command, EverySceneCanBeNamedAndAnUnknownOneIsRefused) {
  EXPECT_EQ(run({"scenes"}).code, 0);
  const Outcome unknown = run({"feel", "no-such-scene"});
  EXPECT_EQ(unknown.code, 2);
  EXPECT_NE(unknown.err.find("no-such-scene"), std::string::npos);
}

}  // namespace cotouch::this_file
