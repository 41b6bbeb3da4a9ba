#include <cotouch/base/error.h>
#include <cotouch/mesh/export.h>
#include <cotouch/mesh/import.h>
#include <cotouch/shapes/shapes.h>
#include <mesh/mesh_checks.h>
#include <support/child_process.h>
#include <support/error_code.h>
#include <support/sanitized.h>
#include <support/temporary_folder.h>
#include <support/zip_writer.h>

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <limits>

namespace cotouch::this_file {
namespace {

ImportedMesh load_text(const std::string& text, const char* name, const ImportOptions& options = {}) {
  return load_mesh_from_memory(std::as_bytes(std::span(text)), name, options);
}

// The sentence a file is refused with; empty when it is not refused.
std::string refusal(const std::string& content, const char* name) {
  try {
    load_text(content, name);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

bool says(const std::string& sentence, const char* words) {
  return sentence.find(words) != std::string::npos;
}

bool notes_say(const ImportedMesh& imported, const char* words) {
  for (const std::string& line : imported.report.lines())
    if (says(line, words)) return true;
  return false;
}

class MeshFiles : public ::testing::Test {
 protected:
  TemporaryFolder folder;
};

// One tetrahedron with edges of 10 along the axes, volume 1000/6, in each text format.
const std::string k_obj = "v 0 0 0\nv 10 0 0\nv 0 10 0\nv 0 0 10\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";
const std::string k_ply =
    "ply\nformat ascii 1.0\nelement vertex 4\nproperty float x\nproperty float y\nproperty float z\nelement face 4\n"
    "property list uchar int vertex_indices\nend_header\n0 0 0\n10 0 0\n0 10 0\n0 0 10\n3 0 2 1\n3 0 1 3\n3 0 3 2\n"
    "3 1 2 3\n";
const std::string k_off = "OFF\n4 4 6\n0 0 0\n10 0 0\n0 10 0\n0 0 10\n3 0 2 1\n3 0 1 3\n3 0 3 2\n3 1 2 3\n";
const std::string k_stl = [] {
  const char* corners[] = {"0 0 0", "10 0 0", "0 10 0", "0 0 10"};
  std::string text = "solid a b\n";
  for (const Triangle& t : {Triangle{0, 2, 1}, Triangle{0, 1, 3}, Triangle{0, 3, 2}, Triangle{1, 2, 3}}) {
    text += "facet normal 0 0 0\nouter loop\n";
    for (const std::uint32_t i : t) text += std::string("vertex ") + corners[i] + '\n';
    text += "endloop\nendfacet\n";
  }
  return text + "endsolid a b\n";
}();
const std::string k_gltf =
    R"({"asset":{"version":"2.0"},"scene":0,"scenes":[{"nodes":[0]}],"nodes":[{"mesh":0,"translation":[5,0,0],)"
    R"("scale":[-2,2,2]}],"meshes":[{"primitives":[{"attributes":{"POSITION":0},"indices":1}]}],"buffers":[{"byteLength":72,)"
    R"("uri":"data:application/octet-stream;base64,AAAAAAAAAAAAAAAAAAAgQQAAAAAAAAAAAAAAAAAAIEEAAAAAAAAAAAAAAAAAACBB)"
    R"(AAACAAEAAAABAAMAAAADAAIAAQACAAMA"}],"bufferViews":[{"buffer":0,"byteOffset":0,"byteLength":48},{"buffer":0,)"
    R"("byteOffset":48,"byteLength":24}],"accessors":[{"bufferView":0,"componentType":5126,"count":4,"type":"VEC3",)"
    R"("min":[0,0,0],"max":[10,10,10]},{"bufferView":1,"componentType":5123,"count":12,"type":"SCALAR"}]})";

std::string three_mf(const std::string& unit_attribute) {
  return zip_stored(
      {{"[Content_Types].xml",
        R"(<?xml version="1.0"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default )"
        R"(Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default )"
        R"(Extension="model" ContentType="application/vnd.ms-package.3dmanufacturing-3dmodel+xml"/></Types>)"},
       {"_rels/.rels",
        R"(<?xml version="1.0"?><Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">)"
        R"(<Relationship Target="/3D/3dmodel.model" Id="rel0" )"
        R"(Type="http://schemas.microsoft.com/3dmanufacturing/2013/01/3dmodel"/></Relationships>)"},
       {"3D/3dmodel.model",
        R"(<?xml version="1.0"?><model )" + unit_attribute +
            R"( xmlns="http://schemas.microsoft.com/3dmanufacturing/core/2015/02"><resources><object id="1" type="model">)"
            R"(<mesh><vertices><vertex x="0" y="0" z="0"/><vertex x="10" y="0" z="0"/><vertex x="0" y="10" z="0"/>)"
            R"(<vertex x="0" y="0" z="10"/></vertices><triangles><triangle v1="0" v2="2" v3="1"/>)"
            R"(<triangle v1="0" v2="1" v3="3"/><triangle v1="0" v2="3" v3="2"/><triangle v1="1" v2="2" v3="3"/></triangles>)"
            R"(</mesh></object></resources><build><item objectid="1" transform="1 0 0 0 1 0 0 0 1 100 0 0"/></build></model>)"}});
}

template <class T>
std::string bytes_of(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

const std::vector<float> k_corner{0, 0, 0, 1, 0, 0, 0, 1, 0};

// Binary glTF around its JSON and its numbers.
std::string glb(std::string json, const std::vector<float>& values) {
  json.resize((json.size() + 3) / 4 * 4, ' ');
  const std::string data = bytes_of(values);
  const auto number = [](std::size_t value) { return bytes_of(std::vector{static_cast<std::uint32_t>(value)}); };
  return "glTF" + number(2) + number(28 + json.size() + data.size()) + number(json.size()) + "JSON" + json +
         number(data.size()) + std::string("BIN\0", 4) + data;
}

// Two triangles, 1 along x, 2 along y and 3 along z.
std::string collada(const std::string& asset) {
  return R"(<?xml version="1.0"?><COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1"><asset>)" +
         asset +
         R"(</asset><library_geometries><geometry id="g"><mesh><source id="p"><float_array id="a" count="12">)"
         R"(0 0 0 1 0 0 0 2 0 0 0 3</float_array><technique_common><accessor source="#a" count="4" stride="3">)"
         R"(<param name="X" type="float"/><param name="Y" type="float"/><param name="Z" type="float"/></accessor>)"
         R"(</technique_common></source><vertices id="v"><input semantic="POSITION" source="#p"/></vertices>)"
         R"(<triangles count="2"><input semantic="VERTEX" source="#v" offset="0"/><p>0 1 2 0 1 3</p></triangles></mesh>)"
         R"(</geometry></library_geometries><library_visual_scenes><visual_scene id="s"><node>)"
         R"(<instance_geometry url="#g"/></node></visual_scene></library_visual_scenes>)"
         R"(<scene><instance_visual_scene url="#s"/></scene></COLLADA>)";
}

void expect_size(const ImportedMesh& imported, const Vec3d& size) {
  for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(imported.report.bounds.size()[i], size[i], 1e-6 * size[i]) << i;
}

void expect_tetrahedron(const ImportedMesh& imported, double edge) {
  EXPECT_EQ(imported.mesh.triangles.size(), 4u);
  EXPECT_EQ(imported.mesh.vertices.size(), 4u);
  EXPECT_TRUE(is_closed_and_consistent(imported.mesh));
  EXPECT_NEAR(signed_volume(imported.mesh), edge * edge * edge / 6, 1e-6 * edge * edge * edge);
  EXPECT_TRUE(imported.report.closed());
}

TEST(Import, ReadsTheTextFormats) {
  expect_tetrahedron(load_text(k_obj, "part.obj"), 10);
  expect_tetrahedron(load_text(k_ply, "part.PLY"), 10);
  EXPECT_EQ(load_text(k_obj, "part.obj").mesh.name, "part");
  expect_tetrahedron(load_text(k_off, "a.off"), 10);
  expect_tetrahedron(load_text(k_stl, "a.stl"), 10);
}

TEST(Import, ReadsGltfWithItsTransformsInMetres) {
  // Mirrored in x, so the triangles must be turned to keep facing outward.
  const ImportedMesh imported = load_text(k_gltf, "a.gltf");
  expect_tetrahedron(imported, 20);
  EXPECT_NEAR(imported.report.bounds.low.x, -15, 1e-5);
  EXPECT_NEAR(imported.report.bounds.high.x, 5, 1e-5);
  EXPECT_TRUE(notes_say(imported, "unit: m, as stated"));
  EXPECT_TRUE(notes_say(imported, "up axis: y, as stated"));
}

TEST(Import, ReadsBinaryGltf) {
  const std::string json =
      R"({"asset":{"version":"2.0"},"scene":0,"scenes":[{"nodes":[0]}],"nodes":[{"mesh":0}],"meshes":[{"primitives":)"
      R"([{"attributes":{"POSITION":0}}]}],"buffers":[{"byteLength":36}],"bufferViews":[{"buffer":0,"byteLength":36}],)"
      R"("accessors":[{"bufferView":0,"componentType":5126,"count":3,"type":"VEC3","min":[0,0,0],"max":[1,1,0]}]}   )";
  const ImportedMesh imported = load_text(glb(json, k_corner), "a.glb");
  EXPECT_EQ(imported.mesh.triangles.size(), 1u);
  EXPECT_NEAR(imported.report.area, 0.5, 1e-12);
  EXPECT_EQ(imported.report.open_edges, 3u);
}

// Which a few hundred bytes can ask for: a sparse array names how long it would be.
TEST(BadFile, TakesNoMoreMemoryThanItsSizeIsReasonFor) {
  if (is_sanitized()) GTEST_SKIP() << "a sanitizer reserves more than any limit, so its reader has none";
  const std::string json =
      R"({"asset":{"version":"2.0"},"scene":0,"scenes":[{"nodes":[0]}],"nodes":[{"mesh":0}],"meshes":[{"primitives":)"
      R"([{"attributes":{"POSITION":0},"mode":4}]}],"buffers":[{"byteLength":36}],"bufferViews":[{"buffer":0,)"
      R"("byteLength":36}],"accessors":[{"componentType":5126,"count":340000000,"type":"VEC3","sparse":{"count":1,)"
      R"("indices":{"bufferView":0,"componentType":5125},"values":{"bufferView":0}}}]})";
  const std::string file = glb(json, k_corner);
  ASSERT_LT(file.size(), 552U);
  // In a child: only the largest of all processes that have ended is known.
  EXPECT_EQ(in_a_child([&] {
              if (!says(refusal(file, "a.glb"), "more memory than is allowed")) return 1;
              rusage used{};
              getrusage(RUSAGE_CHILDREN, &used);
              return used.ru_maxrss < 600L << 10 ? 0 : 2;  // kilobytes; it would be four million of them
            }),
            0);
}

TEST(Import, Reads3mfInTheUnitItStates) {
  expect_tetrahedron(load_text(three_mf("unit=\"inch\""), "a.3mf"), 0.254);
  const ImportedMesh by_default = load_text(three_mf(""), "a.3mf");
  expect_tetrahedron(by_default, 0.01);
  EXPECT_NEAR(by_default.report.bounds.low.x, 0.1, 1e-7);  // the build item moves it
  ImportOptions options;
  options.unit = "m";
  expect_tetrahedron(load_text(three_mf("unit=\"inch\""), "a.3mf", options), 10);
}

TEST(Import, ReadsPacked3mf) {
  // Deflated by another program, with a tetrahedron of ten inches; the first byte belongs to the fuzzer.
  std::ifstream file(COTOUCH_SOURCE_DIR "/fuzz/corpus/mesh/3mf.bin", std::ios::binary);
  const std::string content((std::istreambuf_iterator<char>(file)), {});
  ASSERT_GT(content.size(), 100u);
  expect_tetrahedron(load_text(content.substr(1), "a.3mf"), 0.254);
}

TEST_F(MeshFiles, InSeveralPartsAreReadTogether) {
  // glTF keeps its numbers in a file beside it; from memory that file is out of reach.
  std::ofstream(folder / "data.bin", std::ios::binary) << bytes_of(k_corner);
  const std::string json =
      R"({"asset":{"version":"2.0"},"scene":0,"scenes":[{"nodes":[0]}],"nodes":[{"mesh":0}],"meshes":[{"primitives":)"
      R"([{"attributes":{"POSITION":0}}]}],"buffers":[{"byteLength":36,"uri":"data.bin"}],"bufferViews":[{"buffer":0,)"
      R"("byteLength":36}],"accessors":[{"bufferView":0,"componentType":5126,"count":3,"type":"VEC3"}]})";
  std::ofstream(folder / "a.gltf") << json;
  const ImportedMesh imported = load_mesh(folder / "a.gltf");
  EXPECT_NEAR(imported.report.area, 0.5, 1e-12);
  ASSERT_EQ(imported.further_files.size(), 1u);
  EXPECT_TRUE(std::filesystem::equivalent(imported.further_files[0], folder / "data.bin"));
  EXPECT_TRUE(says(refusal(json, "a.gltf"), "needs the file data.bin"));
}

TEST(Import, GuessesTheUnitFromTheSizeAndSaysWhy) {
  using From = ImportFacts::From;
  const ImportedMesh metres = load_text(k_obj, "a.obj");
  EXPECT_EQ(metres.facts.unit, "m");
  EXPECT_EQ(metres.facts.unit_from, From::guessed);
  EXPECT_EQ(metres.facts.guess, "10 across; read as m because a part of 10 mm is unlikely");
  const ImportedMesh large = load_text("v 0 0 0\nv 180 0 0\nv 0 90 0\nf 1 2 3\n", "a.obj");
  EXPECT_EQ(large.facts.unit, "mm");
  EXPECT_EQ(large.facts.guess, "180 across; read as mm because a part of 180 m is unlikely");
  expect_size(large, {0.18, 0.09, 0});
  EXPECT_TRUE(notes_say(large, "180 across; read as mm because a part of 180 m is unlikely (change with --unit)"));
  // What is stated or given is no matter for guessing.
  EXPECT_EQ(load_text(k_gltf, "a.gltf").facts.unit_from, From::stated);
  ImportOptions options;
  options.unit = "m";
  const ImportedMesh given = load_text("v 0 0 0\nv 180 0 0\nv 0 90 0\nf 1 2 3\n", "a.obj", options);
  EXPECT_EQ(given.facts.unit_from, From::given);
  expect_size(given, {180, 90, 0});
}

TEST(Import, DoubtsImplausibleSizes) {
  EXPECT_FALSE(notes_say(load_text(k_obj, "a.obj"), "hardly meant for a hand"));
  ImportOptions options;
  options.unit = "mm";
  expect_tetrahedron(load_text(k_obj, "a.obj", options), 0.01);
  const ImportedMesh tiny = load_text("v 0 0 0\nv 0.2 0 0\nv 0 0.2 0\nf 1 2 3\n", "a.obj", options);
  EXPECT_TRUE(notes_say(tiny, "0.0002 m long, which is hardly meant for a hand"));
  ASSERT_FALSE(tiny.report.warnings().empty());
  EXPECT_TRUE(says(tiny.report.warnings().back(), "hardly meant for a hand"));
  options.unit = "furlong";
  EXPECT_THROW(load_text(k_obj, "a.obj", options), Error);
}

TEST(Import, TurnsTheUpAxisToZWithoutMirroring) {
  // A tall pole along each axis ends up along z, and keeps its volume's sign.
  for (const char* axis : {"x", "y", "z"}) {
    std::string text = "v 0 0 0\n";
    for (const char other : {'x', 'y', 'z'}) {
      const double s = other == axis[0] ? 7 : 1;
      text += "v " + std::to_string(other == 'x' ? s : 0) + ' ' + std::to_string(other == 'y' ? s : 0) + ' ' +
              std::to_string(other == 'z' ? s : 0) + '\n';
    }
    ImportOptions options;
    options.up_axis = axis;
    const ImportedMesh imported = load_text(text + "f 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n", "a.obj", options);
    EXPECT_EQ(imported.report.bounds.size(), Vec3d(1, 1, 7));
    EXPECT_NEAR(signed_volume(imported.mesh), 7.0 / 6, 1e-12);
  }
  ImportOptions options;
  options.up_axis = "y";
  // What looks to the viewer (+z where y is up) goes on doing so (-y where z is up).
  const ImportedMesh turned = load_text("v 0 0 0\nv 1 0 0\nv 0 2 0\nv 0 0 3\nf 1 2 3\nf 1 2 4\n", "a.obj", options);
  EXPECT_EQ(turned.report.bounds.low, Vec3d(0, -3, 0));
  EXPECT_EQ(turned.report.bounds.high, Vec3d(1, 0, 2));
  EXPECT_TRUE(notes_say(turned, "up axis: y, as given; turned to z"));
  for (const char* wrong : {"w", ""}) {
    options.up_axis = wrong;
    EXPECT_THROW(load_text(k_obj, "a.obj", options), Error) << wrong;
  }
}

TEST(Import, UpIsWhatTheFileOrItsFormatStates) {
  const ImportedMesh z = load_text(collada("<unit meter='0.01'/><up_axis>Z_UP</up_axis>"), "a.dae");
  expect_size(z, {0.01, 0.02, 0.03});
  EXPECT_TRUE(notes_say(z, "unit: cm, as stated"));
  EXPECT_TRUE(notes_say(z, "up axis: z, as stated"));
  const ImportedMesh y = load_text(collada("<up_axis>Y_UP</up_axis>"), "a.dae");
  expect_size(y, {1, 3, 2});
  EXPECT_TRUE(notes_say(y, "up axis: y, as stated by the file or its format; turned to z"));
  expect_size(load_text(collada(""), "a.dae"), {1, 3, 2});  // Collada's own default
  expect_size(load_text(collada("<up_axis>X_UP</up_axis>"), "a.dae"), {2, 3, 1});

  // What is given has precedence over what is stated, in the file's own axes and numbers.
  ImportOptions options;
  options.up_axis = "z";
  options.unit = "mm";
  expect_size(load_text(collada("<unit meter='0.01'/><up_axis>Y_UP</up_axis>"), "a.dae", options),
              {0.001, 0.002, 0.003});

  EXPECT_TRUE(notes_say(load_text(k_obj, "a.obj"), "up axis: the file states none, z assumed"));
  EXPECT_TRUE(notes_say(load_text(three_mf(""), "a.3mf"), "up axis: z, as stated"));
  // The tetrahedron scaled by two reaches from 0 to 20 along each axis, and its z becomes minus y.
  const ImportedMesh gltf = load_text(k_gltf, "a.gltf");
  EXPECT_NEAR(gltf.report.bounds.low.y, -20, 1e-5);
  EXPECT_NEAR(gltf.report.bounds.low.z, 0, 1e-5);
}

TEST(Import, CutsPolygonsInsideTheirOutline) {
  // An arrow head: a fan from the first corner would cover the notch. The outer triangle is 8, the notch 2.
  const ImportedMesh arrow = load_text("v 2 0 0\nv 4 4 0\nv 2 3 0\nv 0 4 0\nf 2 3 4 1\n", "a.obj");
  EXPECT_NEAR(arrow.report.area, 6, 1e-12);
  EXPECT_EQ(arrow.mesh.triangles.size(), 2u);
}

TEST(Import, ReadsObjWithNegativeIndicesSlashesAndContinuedLines) {
  const std::string text =
      "# c\r\nv 0 0 0 1.0\r\nv 10 0 0\nv 0 10 0\nv 0 0 10\nvn 0 0 1\nf -4//1 3//1 \\\n 2//1\nf 1 2 4\nf 1/2/3 4 3\nf 2 "
      "3 4";
  expect_tetrahedron(load_text(text, "a.obj"), 10);
}

TEST(Import, SkipsByteOrderMarks) {
  const std::string mark = "\xEF\xBB\xBF";
  expect_tetrahedron(load_text(mark + k_obj, "a.obj"), 10);
  expect_tetrahedron(load_text(mark + k_ply, "a.ply"), 10);
  expect_tetrahedron(load_text(mark + k_off, "a.off"), 10);
  expect_tetrahedron(load_text(mark + k_stl, "a.stl"), 10);
}

TEST(Import, ReadsEveryKindOfLineEnd) {
  for (const char* end : {"\r", "\r\n"})
    for (const auto& [text, name] :
         {std::pair{k_obj, "a.obj"}, std::pair{k_ply, "a.ply"}, std::pair{k_off, "a.off"}, std::pair{k_stl, "a.stl"}}) {
      SCOPED_TRACE(name);
      std::string other;
      for (const char c : text) other += c == '\n' ? std::string(end) : std::string(1, c);
      expect_tetrahedron(load_text(other, name), 10);
    }
}

TEST(Import, ReadsObjWithCommentsAfterFaces) {
  expect_tetrahedron(load_text("v 0 0 0 # origin\n" + k_obj.substr(k_obj.find("v 10")) + "f 2 3 4 # again\n", "a.obj"),
                     10);
}

TEST(Import, ReadsOffInItsDialects) {
  expect_tetrahedron(load_text("OFF 4 4 0\n# c\n\n" + k_off.substr(k_off.find("0 0 0")), "a.off"), 10);
  expect_tetrahedron(load_text(k_off.substr(4), "a.off"), 10);  // without the word
  std::string coloured = "C" + k_off;
  coloured.replace(coloured.find("10 0 0\n"), 7, "10 0 0 1 0.5 0 1 # red\n");
  coloured.replace(coloured.find("3 0 2 1\n"), 8, "3 0 2 1  255 0 0\n");
  expect_tetrahedron(load_text(coloured, "a.off"), 10);
  EXPECT_TRUE(notes_say(load_text(k_off + "3 0 1 2\n", "a.off"), "goes on after"));
}

TEST(Import, SaysWhatIsOddAboutTheEndOfAFile) {
  EXPECT_TRUE(notes_say(load_text(k_ply + "7\n", "a.ply"), "goes on after"));
  EXPECT_FALSE(notes_say(load_text(k_ply + "\n", "a.ply"), "goes on after"));
  const ImportedMesh stl = load_text(k_stl.substr(0, k_stl.find("endsolid")), "a.stl");
  expect_tetrahedron(stl, 10);
  EXPECT_TRUE(notes_say(stl, "without its closing line"));
}

TEST_F(MeshFiles, ComeBackAsTheyWereWritten) {
  const TriangleMesh torus = make_torus(0.06, 0.02, 24, 12);
  write_obj(torus, folder / "torus.obj");
  write_ply(torus, folder / "torus.ply");
  write_stl(torus, folder / "torus.stl");
  for (const char* name : {"torus.obj", "torus.ply", "torus.stl"}) {
    const ImportedMesh imported = load_mesh(folder / name);
    EXPECT_TRUE(imported.report.closed()) << name;
    EXPECT_EQ(imported.mesh.triangles.size(), torus.triangles.size());
    // STL rounds to single precision: 6e-8 of the coordinates.
    EXPECT_NEAR(signed_volume(imported.mesh), signed_volume(torus), 1e-6 * signed_volume(torus));
  }
  EXPECT_EQ(load_mesh(folder / "torus.obj").mesh.vertices, torus.vertices);
  EXPECT_EQ(load_mesh(folder / "torus.ply").mesh.triangles, torus.triangles);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}),
            3);  // nothing unfinished left behind
  EXPECT_THROW(write_obj(torus, folder / "no/such/folder.obj"), Error);
}

TEST_F(MeshFiles, ThatAreMissingOrFoldersAreRefused) {
  EXPECT_THROW(load_mesh(folder / "missing.stl"), Error);
  EXPECT_THROW(load_mesh(folder.path()), Error);
  std::filesystem::create_directories(folder / "named.stl");
  EXPECT_THROW(load_mesh(folder / "named.stl"), Error);
  std::ofstream(folder / "empty.stl").flush();
  EXPECT_THROW(load_mesh(folder / "empty.stl"), Error);
}

TEST(BadFile, EmptyOrUnknownIsRefusedByName) {
  EXPECT_TRUE(says(refusal("", "a.stl"), "a.stl is empty"));
  EXPECT_TRUE(says(refusal("hello", "a.xyzzy"), "a.xyzzy is of an unknown kind"));
  EXPECT_TRUE(says(refusal("hello", "noending"), "unknown kind"));
}

TEST(BadFile, WithoutAnyAreaIsRefused) {
  EXPECT_TRUE(says(refusal("v 0 0 0\nv 1 0 0\nv 2 0 0\nf 1 2 3\n", "a.obj"), "no triangle with area"));
  EXPECT_TRUE(says(refusal("v 0 0 0\nv 1 0 0\n", "a.obj"), "no triangle with area"));
}

TEST(BadFile, BinaryStlMustHoldWhatItPromises) {
  std::string stl(84 + 2 * 50, '\0');
  for (const std::uint32_t promised : {3u, 0x7fffffffu, 0xffffffffu}) {
    std::memcpy(stl.data() + 80, &promised, 4);
    EXPECT_TRUE(says(refusal(stl, "a.stl"), "cut short")) << promised;
  }
  EXPECT_TRUE(says(refusal(std::string("short\0", 6), "a.stl"), "cut short"));
}

TEST(BadFile, TextStlMustNotStopWithinATriangle) {
  for (const char* cut : {"endfacet", "vertex 0 10", "10 0\nend", "outer", "normal"})
    EXPECT_TRUE(says(refusal(k_stl.substr(0, k_stl.rfind(cut)), "a.stl"), "cut short")) << cut;
}

TEST(BadFile, OffMustHoldWhatItPromises) {
  EXPECT_TRUE(says(refusal(k_off.substr(0, k_off.find("3 1 2 3")), "a.off"), "promises 4 faces and has 3"));
  EXPECT_TRUE(says(refusal(k_off.substr(0, k_off.find("0 0 10")), "a.off"), "promises 4 vertices and has 3"));
  std::string wrong = k_off;
  wrong.replace(wrong.find("3 1 2 3"), 7, "3 1 2 9");
  EXPECT_TRUE(says(refusal(wrong, "a.off"), "line 10 refers to vertex 9 of 4"));
  EXPECT_TRUE(says(refusal(k_off.substr(0, k_off.size() - 3), "a.off"), "lacks a corner"));
  EXPECT_TRUE(says(refusal("OFF\n4 99999999999999 0\n", "a.off"), "cut short"));
  EXPECT_TRUE(says(refusal("OFF\n99999999999 4 0\n", "a.off"), "more than"));
  EXPECT_TRUE(says(refusal("OFF BINARY\n", "a.off"), "binary"));
  EXPECT_TRUE(says(refusal("hello", "a.off"), "no OFF file"));
}

// Sound files, only of another kind; what assimp would read as IFC.
TEST(BadFile, CadFilesAreCalledThatAndNotDamaged) {
  const std::string step =
      "ISO-10303-21;\nHEADER;\nFILE_DESCRIPTION((''),'2;1');\nFILE_NAME('bracket','',(''),(''),'','','');\n"
      "FILE_SCHEMA(('AUTOMOTIVE_DESIGN { 1 0 10303 214 1 1 1 1 }'));\nENDSEC;\nDATA;\n"
      "#1=CARTESIAN_POINT('',(0.,0.,0.));\nENDSEC;\nEND-ISO-10303-21;\n";
  for (const auto& [content, name, kind] :
       {std::tuple{step, "a.step", "a STEP file"}, std::tuple{step, "a.STP", "a STEP file"},
        std::tuple{step, "a.p21", "a STEP file"}, std::tuple{step, "a.ifc", "a STEP file"},
        std::tuple{step, "a.stl", "a STEP file"}, std::tuple{std::string("S      1\n"), "a.igs", "an IGES file"},
        std::tuple{std::string("\xd0\xcf\x11\xe0"), "a.SLDPRT", "a SolidWorks part"}}) {
    const std::string sentence = refusal(content, name);
    EXPECT_TRUE(says(sentence, (std::string(name) + " is " + kind).c_str())) << sentence;
    EXPECT_TRUE(says(sentence, "STL, 3MF, OBJ or glTF")) << sentence;
    EXPECT_FALSE(says(sentence, "damaged")) << sentence;
    EXPECT_FALSE(says(sentence, "IFC")) << sentence;
  }
}

TEST(BadFile, GltfMustReferToItsVertices) {
  std::string wrong = k_gltf;
  wrong.replace(wrong.find("AQACAAMA"), 8, "AQACAAcA");  // the last index: 7 instead of 3
  EXPECT_TRUE(says(refusal(wrong, "a.gltf"), "refer to one that is not there"));
}

TEST(BadFile, OfAnotherKindThanItsNameSaysIsCalledThat) {
  EXPECT_TRUE(says(refusal("\x89PNG\r\n\x1a\n" + std::string(200, '\7'), "a.stl"), "no STL file"));
  EXPECT_TRUE(says(refusal(k_obj + k_obj, "a.stl"), "no STL file"));
  EXPECT_TRUE(says(refusal("a few words", "a.stl"), "no STL file"));
  EXPECT_TRUE(says(refusal(k_stl, "a.obj"), "no OBJ file"));
  EXPECT_TRUE(says(refusal("v 0 0 0\n", "a.obj"), "no triangle"));
  EXPECT_TRUE(says(refusal("\x89"
                           "COT\r\n\x1a\n more",
                           "a.cot"),
                   "prepared already"));
}

TEST(BadFile, IsRefusedInWordsForItsUser) {
  for (const auto& [content, name] :
       {std::pair{std::string(200, '\7'), "a.3mf"}, std::pair{three_mf("").substr(0, 900), "a.3mf"},
        std::pair{std::string("glTF rest"), "a.glb"}}) {
    const std::string sentence = refusal(content, name);
    EXPECT_TRUE(says(sentence, "is damaged or no ")) << sentence;
    for (const char* internal : {"$$$", "reader", "Failed to open", "::"})
      EXPECT_FALSE(says(sentence, internal)) << sentence;
  }
}

TEST(BadFile, WithAnUnknownUnitNeedsAnother) {
  EXPECT_TRUE(says(refusal(three_mf("unit=\"parsec\""), "a.3mf"), "'parsec'"));
  ImportOptions options;
  options.unit = "mm";
  expect_tetrahedron(load_text(three_mf("unit=\"parsec\""), "a.3mf", options), 0.01);
}

TEST(BadFile, PlyMustHoldWhatItPromises) {
  EXPECT_TRUE(says(refusal(k_ply.substr(0, k_ply.size() - 4), "a.ply"), "cut short"));
  EXPECT_TRUE(says(refusal(k_ply.substr(0, 60), "a.ply"), "cut short"));
  EXPECT_TRUE(says(refusal("solid", "a.ply"), "no PLY file"));
  std::string wrong = k_ply;
  wrong.replace(wrong.find("3 1 2 3"), 7, "3 1 2 9");
  EXPECT_TRUE(says(refusal(wrong, "a.ply"), "refers to vertex 9 of 4"));
  EXPECT_TRUE(
      says(refusal("ply\nformat ascii 1.0\nelement vertex 99999999999\nproperty float x\nproperty float y\nproperty "
                   "float z\nend_header\n",
                   "a.ply"),
           "more than"));
}

TEST(BadFile, ObjMustReferToItsVertices) {
  EXPECT_TRUE(says(refusal("v 0 0 0\nf 1 2 3\n", "a.obj"), "line 2 refers to vertex 2 of 1"));
  EXPECT_TRUE(says(refusal("v 0 0 0\nf 1 0 1\n", "a.obj"), "no vertex number"));
  EXPECT_TRUE(says(refusal("v 0 0\n", "a.obj"), "three coordinates"));
}

TEST(BadFile, CoordinatesMustBeFiniteAndNear) {
  EXPECT_TRUE(says(refusal("v nan 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", "a.obj"), "no finite number"));
  EXPECT_TRUE(says(refusal("v inf 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", "a.obj"), "no finite number"));
  EXPECT_TRUE(says(refusal("v 1e10 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", "a.obj"), "1000 km"));
  std::string stl(84 + 50, '\0');
  stl[80] = 1;
  const float nan = std::numeric_limits<float>::quiet_NaN();
  std::memcpy(stl.data() + 84 + 12, &nan, 4);
  EXPECT_TRUE(says(refusal(stl, "a.stl"), "no finite number"));
}

TEST(BadFile, LimitsHold) {
  ImportOptions options;
  options.limits.triangles = 3;
  for (const auto& [text, name] : {std::pair{k_obj, "a.obj"}, std::pair{k_ply, "a.ply"}, std::pair{k_gltf, "a.gltf"}})
    EXPECT_THROW(load_text(text, name, options), Error) << name;
  options.limits = {};
  options.limits.file_bytes = 10;
  EXPECT_THROW(load_text(k_obj, "a.obj", options), Error);
}

TEST(BadFile, IsNotGuessedToBeOfAnotherFormatThanItsNameSays) {
  // assimp would ask its PLY reader next, which does not come back from such a header.
  const std::string ply = "ply\nformat ascii 1.0\nelement vertex 4\nproperty float x\nproperty floa";
  for (const char* name : {"a.gltf", "a.glb", "a.3mf"}) EXPECT_THROW(load_text(ply, name), Error) << name;
}

TEST(BadFile, GarbageInSceneFormatsIsAnErrorAndNothingElse) {
  const std::string archive = three_mf("");
  for (std::size_t cut = 10; cut < archive.size(); cut += archive.size() / 7)
    EXPECT_NE(refusal(archive.substr(0, cut), "a.3mf"), "");
  for (std::size_t cut = 10; cut < k_gltf.size() - 10; cut += k_gltf.size() / 7)
    EXPECT_NE(refusal(k_gltf.substr(0, cut), "a.gltf"), "");
  for (const char* name : {"a.fbx", "a.dae", "a.3ds", "a.glb", "a.blend", "a.x", "a.lwo"})
    EXPECT_TRUE(says(refusal(std::string(200, '\7'), name), name)) << name;
  std::string wrong = k_gltf;
  wrong.replace(wrong.find("\"count\":12"), 10, "\"count\":99");
  EXPECT_NE(refusal(wrong, "a.gltf"), "");
}

TEST(Import, ErrorsTellProgramsWhatKindTheyAre) {
  const auto code = [](const std::string& content, const char* name) {
    return code_of([&] { load_text(content, name); });
  };
  EXPECT_EQ(code("solid part\nfacet normal 0 0 1\nouter loop\nvertex 0 0", "part.stl"), ErrorCode::damaged_file);
  EXPECT_EQ(code("{ \"asset\": ", "part.gltf"), ErrorCode::damaged_file);  // found by a reader process
  EXPECT_EQ(code("", "part.ply"), ErrorCode::damaged_file);
  EXPECT_EQ(code("anything", "part.docx"), ErrorCode::unsupported);
  EXPECT_EQ(code_of([] { load_mesh("/no/such/part.stl"); }), ErrorCode::not_found);
  ImportOptions sideways;
  sideways.up_axis = "w";
  EXPECT_EQ(code_of([&] { load_text("", "part.stl", sideways); }), ErrorCode::invalid_argument);
  ImportOptions tiny;
  tiny.limits.file_bytes = 3;
  EXPECT_EQ(code_of([&] { load_text("solid part", "part.stl", tiny); }), ErrorCode::too_large);
}

}  // namespace
}  // namespace cotouch::this_file
