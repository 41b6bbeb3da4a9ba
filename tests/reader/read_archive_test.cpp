#include <cotouch/base/error.h>
#include <cotouch/mesh/import.h>
#include <cotouch/reader/read_archive.h>
#include <cotouch/reader/xml_head.h>
#include <support/zip_writer.h>

#include <gtest/gtest.h>
#include <zlib.h>

namespace cotouch::this_file {
namespace {

using Files = std::vector<std::pair<std::string, std::string>>;

const std::string k_obj = "v 0 0 0\nv 10 0 0\nv 0 10 0\nv 0 0 10\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";

FileBytes bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}

ZippedFile deflated(const std::string& name, const std::string& content) {
  std::string packed(compressBound(content.size()) + 64, '\0');
  z_stream stream{};
  deflateInit2(&stream, 9, Z_DEFLATED, -MAX_WBITS, 9, Z_DEFAULT_STRATEGY);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(content.data()));
  stream.avail_in = static_cast<uInt>(content.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return {name, packed, zip_checksum(content), content.size(), 8};
}

std::string refusal(const std::string& archive, const ReadSettings& settings = {}) {
  try {
    read_archive(bytes_of(archive), settings);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

bool says(const std::string& sentence, const char* words) {
  return sentence.find(words) != std::string::npos;
}

TEST(Archive, HoldsMeshFilesInFoldersStoredOrPacked) {
  const std::vector<ZippedFile> files{deflated("set/lid.obj", k_obj),
                                      {"set/base.obj", k_obj, zip_checksum(k_obj), k_obj.size(), 0},
                                      {"set/", "", 0, 0, 0},
                                      {"readme.txt", "hello", zip_checksum("hello"), 5, 0},
                                      {"__MACOSX/set/._lid.obj", "junk", zip_checksum("junk"), 4, 0}};
  const std::string archive = zip(files);
  const std::vector<RawMesh> meshes = read_archive(bytes_of(archive), {});
  ASSERT_EQ(meshes.size(), 2u);
  EXPECT_EQ(meshes[0].mesh.name, "base");
  EXPECT_EQ(meshes[1].mesh.name, "lid");
  EXPECT_EQ(meshes[1].mesh.triangles.size(), 4u);
}

TEST(Archive, HoldsGltfWithItsBin) {
  const float corners[] = {0, 0, 0, 1, 0, 0, 0, 1, 0};
  const std::string bin(reinterpret_cast<const char*>(corners), sizeof corners);
  const std::string json =
      R"({"asset":{"version":"2.0"},"scene":0,"scenes":[{"nodes":[0]}],"nodes":[{"mesh":0}],"meshes":[{"primitives":)"
      R"([{"attributes":{"POSITION":0}}]}],"buffers":[{"byteLength":36,"uri":"data.bin"}],"bufferViews":[{"buffer":0,)"
      R"("byteLength":36}],"accessors":[{"bufferView":0,"componentType":5126,"count":3,"type":"VEC3"}]})";
  const std::string archive = zip_stored(Files{{"model/a.gltf", json}, {"model/data.bin", bin}});
  const std::vector<RawMesh> meshes = read_archive(bytes_of(archive), {});
  ASSERT_EQ(meshes.size(), 1u);
  EXPECT_EQ(meshes[0].mesh.triangles.size(), 1u);
  EXPECT_EQ(meshes[0].metres_per_unit, 1);
  const std::string elsewhere = refusal(zip_stored(Files{{"model/a.gltf", json}, {"data.bin", bin}}));
  EXPECT_TRUE(says(elsewhere, "model/a.gltf needs the file data.bin")) << elsewhere;
}

TEST(Archive, ThatNamesAFileOutsideIsRefused) {
  for (const char* name : {"../../x.obj", "a/../../x.obj", "/etc/x.obj", "..\\x.obj", "C:\\x.obj"})
    EXPECT_TRUE(says(refusal(zip_stored(Files{{"a.obj", k_obj}, {name, k_obj}})), "points outside")) << name;
}

TEST(Archive, CutAnywhereIsRefusedInWords) {
  const std::string whole = zip({deflated("a.obj", k_obj), deflated("b.obj", k_obj)});
  ASSERT_EQ(refusal(whole), "");
  for (std::size_t size = 0; size < whole.size(); ++size)
    EXPECT_TRUE(says(refusal(whole.substr(0, size)), "is cut short or no ZIP")) << size;
}

TEST(Archive, WithAlteredBytesIsNotBelieved) {
  ZippedFile file = deflated("a.obj", k_obj);
  file.checksum ^= 1;
  EXPECT_TRUE(says(refusal(zip({file})), "cut short"));
  file = deflated("a.obj", k_obj);
  file.unpacked += 1;
  EXPECT_TRUE(says(refusal(zip({file})), "cut short"));
  file = deflated("a.obj", k_obj);
  file.unpacked = 5;  // less than comes out
  EXPECT_TRUE(says(refusal(zip({file})), "cut short"));
  file.method = 14;
  EXPECT_TRUE(says(refusal(zip({file})), "packed in a way other"));
}

TEST(Archive, WhoseHeadsContradictEachOtherOrIsLockedIsRefused) {
  const std::string whole = zip({deflated("a.obj", k_obj)});
  const std::size_t directory = whole.find("PK\1\2");
  for (const std::size_t place : {14U, 18U, 22U}) {  // checksum, packed and unpacked size before the file itself
    std::string altered = whole;
    altered[place] ^= 1;
    EXPECT_TRUE(says(refusal(altered), "cut short")) << place;
  }
  std::string locked = whole;
  locked[6] ^= 1;
  locked[directory + 8] ^= 1;
  EXPECT_TRUE(says(refusal(locked), "locked with a password"));
}

TEST(Archive, BombIsRefusedBeforeItGoesOff) {
  ReadSettings settings;
  settings.limits.unpacked_bytes = 1 << 20;
  const std::string much(4 << 20, ' ');
  EXPECT_TRUE(says(refusal(zip({deflated("a.obj", much)}), settings), "larger than allowed when unpacked"));
  // One that lies about its size, and one of many small files.
  ZippedFile liar = deflated("a.obj", much);
  liar.unpacked = 1000;
  EXPECT_TRUE(says(refusal(zip({liar}), settings), "cut short"));
  const std::string little = k_obj + std::string(400'000, ' ');
  std::vector<ZippedFile> files;
  for (const char* name : {"a.obj", "b.obj", "c.obj"}) files.push_back(deflated(name, little));
  EXPECT_TRUE(says(refusal(zip(files), settings), "larger than allowed when unpacked"));
  EXPECT_TRUE(says(refusal(zip_stored(Files(5000, {"a.obj", ""}))), "more than 4096 files"));
}

TEST(Archive, WithoutAMeshOrInAnotherArchiveIsRefused) {
  EXPECT_TRUE(says(refusal(zip_stored(Files{{"readme.txt", "hello"}})), "holds no mesh file"));
  EXPECT_TRUE(
      says(refusal(zip_stored(Files{{"inner.zip", zip_stored(Files{{"a.obj", k_obj}})}})), "holds no mesh file"));
}

TEST(Archive, OfCadFilesAloneIsCalledThat) {
  EXPECT_TRUE(says(refusal(zip_stored(Files{{"lid.step", "ISO-10303-21;"}})), "only CAD files"));
  EXPECT_FALSE(says(refusal(zip_stored(Files{{"readme.txt", "hello"}})), "CAD"));
}

TEST(Archive, PartsWithoutUnitAreGuessedTogether) {
  // A screw of 5 beside a housing of 180 is no screw of five metres.
  const std::string archive = zip_stored(Files{{"housing.obj", "v 0 0 0\nv 180 0 0\nv 0 180 0\nf 1 2 3\n"},
                                               {"screw.obj", "v 0 0 0\nv 5 0 0\nv 0 5 0\nf 1 2 3\n"}});
  const ImportedMesh all = finish_import(read_archive(bytes_of(archive), {}), "a.zip");
  EXPECT_NEAR(all.report.bounds.size().x, 0.18, 1e-12);
  EXPECT_NEAR(all.report.area, 0.18 * 0.18 / 2 + 0.005 * 0.005 / 2, 1e-12);
}

TEST(XmlHead, FindsElementsWhateverTheirPrefixQuotesAndComments) {
  const std::string text =
      "<?xml version='1.0'?><!-- <unit meter='7'/> --><c:COLLADA xmlns:c='x'><c:asset><c:unit name=\"inch\"\n"
      "  meter='0.0254'/><c:up_axis> Z_UP\n</c:up_axis></c:asset> never read < & ";
  const std::vector<XmlElement> head = xml_head(text, "asset", true);
  ASSERT_EQ(head.size(), 4u);
  EXPECT_EQ(head[2].name, "unit");
  EXPECT_EQ(head[2].value("meter"), "0.0254");
  EXPECT_EQ(head[3].text, " Z_UP\n");
}

TEST(XmlHead, RefusesEntitiesBeforeTheyGrow) {
  std::string bomb = "<?xml version='1.0'?><!DOCTYPE model [<!ENTITY a0 \"aaaaaaaaaa\">";
  for (int i = 1; i < 10; ++i) {
    bomb += "<!ENTITY a" + std::to_string(i) + " \"";
    for (int k = 0; k < 10; ++k) bomb += "&a" + std::to_string(i - 1) + ";";
    bomb += "\">";
  }
  bomb += "]><model unit=\"&a9;\"/>";
  try {
    xml_head(bomb, {}, true);
    FAIL();
  } catch (const Error& error) {
    EXPECT_TRUE(says(error.what(), "defines entities of its own"));
  }
}

TEST(XmlHead, SaysInWhichLineTextIsNoXml) {
  try {
    xml_head("<model>\n<a></b>", "c", true);
    FAIL();
  } catch (const Error& error) {
    EXPECT_TRUE(says(error.what(), "line 2 of its text is no XML")) << error.what();
  }
  EXPECT_EQ(xml_head("<model unit='inch'><a", "c", false).size(), 1u);  // not complete, so nothing is wrong yet
}

}  // namespace
}  // namespace cotouch::this_file
