// Preparing and looking at parts on the command line.
#include <cotouch/contact/asset.h>

#include "app/command_fixture.h"

using namespace cotouch;
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

TEST_F(Command, EverySceneCanBeNamedAndAnUnknownOneIsRefused) {
  EXPECT_EQ(run({"scenes"}).code, 0);
  const Outcome unknown = run({"feel", "no-such-scene"});
  EXPECT_EQ(unknown.code, 2);
  EXPECT_NE(unknown.err.find("no-such-scene"), std::string::npos);
}
