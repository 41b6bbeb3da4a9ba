#include <cotouch/elastic/read_tets.h>
#include <cotouch/elastic/tet_quality.h>

#include "support/error_code.h"
#include "support/questions.h"
#include "support/temporary_folder.h"

#include <cotouch/base/error.h>
#include <cotouch/base/file.h>

#include <gtest/gtest.h>

#include <cstring>
#include <string>

namespace cotouch::this_file {
namespace {

// Two tetrahedra with a common face, of 1/6 and 1/3 m^3, a triangle, a line, and a node that none of them has.
const std::string k_version_2 = R"($MeshFormat
2.2 0 8
$EndMeshFormat
$PhysicalNames
1
3 7 "a body"
$EndPhysicalNames
$Nodes
6
1 0 0 0
2 1 0 0
5 0 1 0
9 0 0 1
4 77 77 77
12 1 1 1
$EndNodes
$Elements
4
1 15 2 0 1 1
2 2 2 0 1 1 5 2
3 4 2 7 1 1 2 5 9
4 4 3 7 1 1 2 5 9 12
$EndElements
)";

const std::string k_version_4_1 = R"($MeshFormat
4.1 0 8
$EndMeshFormat
$Entities
0 0 0 1
1 0 0 0 1 1 1 0 0
$EndEntities
$Nodes
2 6 1 12
2 1 1 2
1
2
0 0 0 0.5 0.5
1 0 0 0.5 0.5
3 1 0 4
5
9
4
12
0 1 0
0 0 1
77 77 77
1 1 1
$EndNodes
$Elements
2 3 2 4
2 1 2 1
2 1 5 2
3 1 4 2
3 1 2 5 9
4 2 5 9 12
$EndElements
)";

const std::string k_version_4_0 = R"($MeshFormat
4 0 8
$EndMeshFormat
$Nodes
2 6
1 0 0 1
1 0 0 0
1 3 0 5
2 1 0 0
5 0 1 0
9 0 0 1
4 77 77 77
12 1 1 1
$EndNodes
$Elements
1 2
1 3 4 2
3 1 2 5 9
4 2 5 9 12
$EndElements
)";

const std::string k_node =
    "# made by hand\n6 3 1 1\n0  0 0 0  5 1\n1 1 0 0 5 1 # comment\n\n2 0 1 0 5 1\n3 0 0 1 5 1\n"
    "4 77 77 77 5 1\n5 1 1 1 5 0\n";
const std::string k_ele = "2 4 1\n0 0 1 2 3 9\n# nothing\n1 1 2 3 5 9\n";

FileBytes bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}

TetMesh msh(const std::string& text, const TetFileOptions& options = {}) {
  std::vector<std::string> notes;
  return read_msh(bytes_of(text), options, notes);
}
TetMesh tetgen(const std::string& node, const std::string& ele) {
  std::vector<std::string> notes;
  return read_tetgen(bytes_of(node), bytes_of(ele), {}, notes);
}

std::string with(std::string text, const std::string& old, const std::string& replacement) {
  const std::size_t at = text.find(old);
  EXPECT_NE(at, std::string::npos) << old;
  return text.replace(at, old.size(), replacement);
}

std::string refusal(const auto& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}
std::string refusal_of(const std::string& text) {
  return refusal([&] { msh(text); });
}
bool says(const std::string& sentence, const std::string& words) {
  return sentence.find(words) != std::string::npos || (ADD_FAILURE() << sentence, false);
}

void expect_the_two(const TetMesh& mesh) {
  EXPECT_EQ(mesh.nodes, (std::vector<Vec3d>{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {1, 1, 1}}));
  ASSERT_EQ(mesh.tets.size(), 2U);
  EXPECT_DOUBLE_EQ(tet_volume(mesh, 0), 1.0 / 6);
  EXPECT_DOUBLE_EQ(tet_volume(mesh, 1), 1.0 / 3);
}

// Binary files, number by number.
template <class... T>
std::string raw(T... values) {
  std::string bytes;
  const auto put = [&](const auto& value) { bytes.append(reinterpret_cast<const char*>(&value), sizeof value); };
  (put(values), ...);
  return bytes;
}
std::string binary_2() {
  const auto node = [](int name, double x, double y, double z) { return raw(name, x, y, z); };
  return "$MeshFormat\n2.2 1 8\n" + raw(1) + "\n$EndMeshFormat\n$Nodes\n6\n" + node(1, 0, 0, 0) + node(2, 1, 0, 0) +
         node(5, 0, 1, 0) + node(9, 0, 0, 1) + node(4, 77, 77, 77) + node(12, 1, 1, 1) + "\n$EndNodes\n$Elements\n3\n" +
         raw(2, 1, 2) + raw(2, 0, 1, 1, 5, 2) + raw(4, 2, 1) + raw(3, 7, 1, 2, 5, 9) + raw(4, 7, 2, 5, 9, 12) +
         "\n$EndElements\n";
}
std::string binary_4_1() {
  const auto large = [](std::uint64_t x) { return raw(x); };
  return "$MeshFormat\n4.1 1 8\n" + raw(1) + "\n$EndMeshFormat\n$Nodes\n" + large(1) + large(6) + large(1) + large(12) +
         raw(3, 1, 0) + large(6) + large(1) + large(2) + large(5) + large(9) + large(4) + large(12) +
         raw(0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 77.0, 77.0, 77.0, 1.0, 1.0, 1.0) +
         "\n$EndNodes\n$Elements\n" + large(2) + large(3) + large(2) + large(4) + raw(2, 1, 2) + large(1) + large(2) +
         large(1) + large(5) + large(2) + raw(3, 1, 4) + large(2) + large(3) + large(1) + large(2) + large(5) +
         large(9) + large(4) + large(2) + large(5) + large(9) + large(12) + "\n$EndElements\n";
}

TEST(ReadMsh, ReadsEveryVersionAsTextAndBinary) {
  for (const std::string& text : {k_version_2, k_version_4_0, k_version_4_1, binary_2(), binary_4_1()})
    expect_the_two(msh(text));
}

TEST(ReadMsh, LinesMayEndAsOnWindows) {
  std::string text;
  for (const char c : k_version_4_1) text += c == '\n' ? std::string("\r\n") : std::string(1, c);
  expect_the_two(msh(text));
}

TEST(ReadMsh, InvertedTetrahedraAreTurnedAndUnusedNodesDroppedWithANote) {
  std::vector<std::string> notes;
  const std::string text = with(k_version_2, "1 2 5 9\n", "2 1 5 9\n");
  expect_the_two(read_msh(bytes_of(text), {}, notes));
  ASSERT_EQ(notes.size(), 2U);
  EXPECT_TRUE(says(notes[0], "1 inverted"));
  EXPECT_TRUE(says(notes[1], "1 nodes"));
}

TEST(ReadMsh, OtherVolumesAreSkippedWithANote) {
  std::vector<std::string> notes;
  const std::string text =
      with(with(k_version_2, "\n4\n1 15", "\n5\n1 15"), "2 2 2 0 1 1 5 2\n", "2 2 2 0 1 1 5 2\n6 7 2 0 1 1 2 5 9 12\n");
  expect_the_two(read_msh(bytes_of(text), {}, notes));
  EXPECT_TRUE(says(notes.back(), "1 hexahedra, prisms and pyramids"));
}

TEST(ReadMsh, LengthsAreInTheUnitAskedFor) {
  TetFileOptions options;
  options.metres_per_unit = 1e-3;
  EXPECT_NEAR(tet_quality(msh(k_version_2, options)).volume, 0.5e-9, 1e-15);
}

TEST(ReadMsh, HigherOrderIsRefusedWithWhatToDo) {
  const std::string text = with(k_version_2, "4 4 3 7 1 1 2", "4 11 2 7 1 1 1 1 1 1 1 2");
  EXPECT_TRUE(says(refusal_of(text), "-order 1"));
  EXPECT_EQ(code_of([&] { msh(text); }), ErrorCode::unsupported);
}

TEST(ReadMsh, FlatTetrahedraAreRefusedByName) {
  EXPECT_TRUE(says(refusal_of(with(k_version_2, "12 1 1 1", "12 1 -1 1")), "element 4"));  // in the plane of 2, 5, 9
  EXPECT_TRUE(says(refusal_of(with(k_version_2, "2 5 9 12", "2 5 9 9")), "element 4"));
}

TEST(ReadMsh, OverlappingTetrahedraAreRefused) {
  EXPECT_TRUE(says(refusal_of(with(k_version_2, "2 5 9 12", "9 2 5 1")), "element 4"));
  const std::string text =
      with(with(k_version_2, "\n4\n1 15", "\n5\n1 15"), "2 5 9 12\n", "2 5 9 12\n8 4 2 7 1 2 5 9 4\n");
  EXPECT_TRUE(says(refusal_of(text), "element 8"));
}

TEST(ReadMsh, AFileWithoutTetrahedraIsToldToMeshItsVolume) {
  EXPECT_TRUE(says(refusal_of(with(with(k_version_2, "3 4 2 7 1 1 2 5 9\n", "3 2 2 7 1 1 2 5\n"),
                                   "4 4 3 7 1 1 2 5 9 12\n", "4 2 3 7 1 1 2 5 9\n")),
                   "gmsh -3"));
}

TEST(ReadMsh, WhatElementsReferToMustBeThereOnce) {
  EXPECT_TRUE(says(refusal_of(with(k_version_2, "2 5 9 12", "2 5 9 13")), "node 13"));
  EXPECT_TRUE(says(refusal_of(with(k_version_2, "2 5 9 12", "2 5 9 -3")), "does not have"));
  EXPECT_TRUE(says(refusal_of(with(k_version_2, "4 77 77 77", "9 77 77 77")), "two nodes with the number 9"));
}

TEST(ReadMsh, CoordinatesMustBeFiniteAndSensible) {
  for (const char* bad : {"nan", "inf", "-inf", "1e5", "1e300"})
    EXPECT_TRUE(says(refusal_of(with(k_version_2, "12 1 1 1", std::string("12 1 1 ") + bad)), "number 12")) << bad;
  EXPECT_TRUE(says(refusal_of(with(k_version_2, "12 1 1 1", "12 1 1 one")), "'one'"));
}

TEST(ReadMsh, PromisesBeyondTheFileAreRefusedBeforeAnythingIsMade) {
  const std::string many = "18446744073709551615";
  EXPECT_TRUE(says(refusal_of(with(k_version_2, "$Nodes\n6", "$Nodes\n" + many)), "promises"));
  EXPECT_TRUE(says(refusal_of(with(k_version_2, "$Elements\n4", "$Elements\n" + many)), "promises"));
  EXPECT_TRUE(says(refusal_of(with(k_version_4_1, "2 6 1 12", many + " 6 1 12")), "promises"));
  EXPECT_TRUE(says(refusal_of(with(k_version_4_1, "3 1 0 4", "3 1 0 " + many)), "promises"));
  EXPECT_TRUE(says(refusal_of(with(k_version_4_1, "3 1 4 2", "3 1 4 " + many)), "promises"));
  EXPECT_TRUE(says(refusal_of(with(binary_2(), raw(4, 2, 1), raw(4, 2000000000, 1))), "promises"));
}

TEST(ReadMsh, LimitsHold) {
  TetFileOptions options;
  options.most_tets = 1;
  EXPECT_EQ(code_of([&] { msh(k_version_2, options); }), ErrorCode::too_large);
  options = {};
  options.most_nodes = 5;
  EXPECT_EQ(code_of([&] { msh(k_version_4_1, options); }), ErrorCode::too_large);
}

TEST(ReadMsh, EveryTruncationIsRefused) {
  for (const std::string& text : {k_version_2, k_version_4_0, k_version_4_1, binary_2(), binary_4_1()})
    for (std::size_t size = 0; size < text.size() - 1; ++size)
      EXPECT_NE(refusal_of(text.substr(0, size)), "") << size << " of " << text.substr(0, 30);
}

TEST(ReadMsh, OtherFormatsAreRefusedWithWhatToDo) {
  EXPECT_TRUE(says(refusal_of("$NOD\n1\n"), "-format msh2"));
  EXPECT_TRUE(says(refusal_of(with(k_version_2, "2.2 0 8", "3 0 8")), "-format msh2"));
  EXPECT_TRUE(says(refusal_of(with(k_version_2, "2.2 0 8", "5 0 8")), "-format msh2"));
  EXPECT_TRUE(says(refusal_of(with(binary_2(), "2.2 1 8", "4.0 1 8")), "-format msh2"));
  EXPECT_TRUE(says(refusal_of(with(binary_2(), "2.2 1 8\n\x01", "2.2 1 8\n\x02")), "order of bytes"));
  EXPECT_TRUE(says(refusal_of(with(binary_2(), "2.2 1 8", "2.2 1 4")), "as text"));
  EXPECT_TRUE(says(refusal_of(with(k_version_2, "2 2 2 0 1", "2 777 2 0 1")), "777"));
}

TEST(ReadTetGen, ReadsAPairCountedFromZeroOrOne) {
  expect_the_two(tetgen(k_node, k_ele));
  expect_the_two(tetgen("5 3 0 0\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n5 1 1 1\n", "2 4 0\n1 1 2 3 4\n2 2 3 4 5\n"));
}

TEST(ReadTetGen, WhatIsWrongIsNamed) {
  const auto refused = [](const std::string& node, const std::string& ele) {
    return refusal([&] { tetgen(node, ele); });
  };
  EXPECT_TRUE(says(refused(k_node, with(k_ele, "2 4 1", "2 10 1")), "without -o2"));
  EXPECT_TRUE(says(refused(with(k_node, "6 3", "6 2"), k_ele), "three dimensions"));
  EXPECT_TRUE(says(refused(with(k_node, "6 3", "7 3"), k_ele), "promises 7"));
  EXPECT_TRUE(says(refused(with(k_node, "6 3", "99999999999 3"), k_ele), "room for"));
  EXPECT_TRUE(says(refused(k_node, with(k_ele, "2 4 1", "3 4 1")), "promises 3"));
  EXPECT_TRUE(says(refused(k_node, with(k_ele, "2 3 9", "2 x 9")), "line 2 of its .ele"));
  EXPECT_TRUE(says(refused(with(k_node, "1 0 0 5 1 #", "1 0 #"), k_ele), "line 4 of its .node"));
  EXPECT_TRUE(says(refused(k_node, with(k_ele, "2 3 5 9", "2 3 6 9")), "node 6"));
  EXPECT_TRUE(says(refused("", ""), "no pair"));
  EXPECT_TRUE(says(refused(k_node, "hello"), "no pair"));
}

// However it is filled: a gigabyte is allowed.
TEST(ReadTets, AskWhetherToGoOnAllTheTime) {
  const auto asked_by_msh = [](const std::string& text) {
    return questions_of([&] {
      std::vector<std::string> notes;
      try {
        read_msh(std::as_bytes(std::span(text)), {}, notes);
      } catch (const Error&) {
        // What is wrong is not asked here.
      }
    });
  };
  const std::string head = "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n";
  constexpr std::size_t k_long = std::size_t{4} << 20U;
  EXPECT_GE(asked_by_msh(head + "$Comment\n" + std::string(k_long, '$') + "\n$EndComment\n"), 5U);
  EXPECT_GE(asked_by_msh(head + std::string(k_long, ' ')), 60U);
  EXPECT_GE(asked_by_msh("$MeshFormat\n" + std::string(k_long, '2')), 60U);
  std::string nodes = head + "$Nodes\n40000\n";
  for (int i = 0; i < 40'000; ++i) nodes += std::to_string(i) + " 0 0 0\n";
  EXPECT_GE(asked_by_msh(nodes), 39U);  // 160,000 numbers

  std::string lines = "1 3 0 0\n";
  for (int i = 0; i < 100'000; ++i) lines += "# nothing\n";
  EXPECT_GE(questions_of([&] {
              std::vector<std::string> notes;
              EXPECT_THROW(read_tetgen(std::as_bytes(std::span(lines)), {}, {}, notes), Error);
            }),
            20U);
}

TEST(ReadTets, EndWhereverThatIsAskedFor) {
  const TemporaryFolder folder;
  write_file(folder / "a.msh", k_version_2);
  const std::size_t asked = questions_of([&] { read_tets(folder / "a.msh"); });
  ASSERT_GT(asked, 4U);
  for (std::size_t from = 1; from <= asked; ++from) {
    Questions some(from);
    const CancelScope scope(some.question());
    EXPECT_THROW(read_tets(folder / "a.msh"), Cancelled) << from;
  }
}

TEST(ReadTets, FilesAreChosenByTheirEndingAndNamedInErrors) {
  const TemporaryFolder folder;
  write_file(folder / "body.msh", k_version_2);
  write_file(folder / "body.1.node", k_node);
  write_file(folder / "body.1.ele", k_ele);
  write_file(folder / "alone.node", k_node);
  write_file(folder / "broken.msh", std::string_view("$MeshFormat\n"));
  write_file(folder / "body.txt", k_version_2);
  expect_the_two(read_tets(folder / "body.msh"));
  expect_the_two(read_tets(folder / "body.1.node"));
  expect_the_two(read_tets(folder / "body.1.ele"));
  const auto refused = [&](const char* name, ErrorCode code, const std::string& words) {
    const auto read = [&] { read_tets(folder / name); };
    EXPECT_EQ(code_of(read), code) << name;
    EXPECT_TRUE(says(refusal(read), name));
    EXPECT_TRUE(says(refusal(read), words));
  };
  refused("alone.node", ErrorCode::not_found, "alone.ele");
  refused("broken.msh", ErrorCode::damaged_file, "is damaged");
  refused("missing.msh", ErrorCode::not_found, "does not exist");
  refused("missing.ele", ErrorCode::not_found, "does not exist");
  refused("body.txt", ErrorCode::unsupported, ".msh");
  TetFileOptions options;
  options.most_bytes = 10;
  EXPECT_EQ(code_of([&] { read_tets(folder / "body.msh", options); }), ErrorCode::too_large);
  options = {};
  options.metres_per_unit = 0;
  EXPECT_EQ(code_of([&] { read_tets(folder / "body.msh", options); }), ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace cotouch::this_file
