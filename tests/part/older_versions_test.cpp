// Files that older versions wrote. tests/part/data has a bar of 40 x 20 x 10 mm, resolution 12, 64 points; the one that
// bends is of rubber and held at x < 10 mm, with three coordinates in two domains.
#include <cotouch/base/file.h>
#include <cotouch/base/read_file.h>
#include <cotouch/part/asset_format.h>

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "support/error_code.h"
#include "support/temporary_folder.h"

namespace cotouch::this_file {
namespace {

std::filesystem::path kept(const char* name) {
  return std::filesystem::path(COTOUCH_SOURCE_DIR) / "tests/part/data" / name;
}

void expect_bar(const Part& part) {
  EXPECT_EQ(part.name, "cube");
  EXPECT_EQ(part.mesh.triangles.size(), 12U);
  EXPECT_EQ(part.settings.field.resolution, 12);
  EXPECT_EQ(part.shell.point_count(), 64U);
  ASSERT_TRUE(part.shell.has_tree());
  EXPECT_LT(norm(part.mesh.bounds().size() - Vec3d{0.04, 0.02, 0.01}), 1e-12);
  // Trilinear values of cells of 3.3 mm.
  EXPECT_NEAR(part.field.distance({0.02F, 0.01F, 0.005F}), -0.005F, 0.0017F);
  EXPECT_NEAR(part.field.distance({0.02F, 0.01F, 0.013F}), 0.003F, 0.0017F);
}

TEST(OlderAssets, OfVersion2AreRead) {
  EXPECT_EQ(asset_version(kept("version-2.cot")), 2U);
  const Part part = read_asset(kept("version-2.cot"));
  expect_bar(part);
  EXPECT_FALSE(part.elastic);
  EXPECT_TRUE(part.sections.empty());
}

TEST(OlderAssets, OfVersion2ThatBendAreRead) {
  EXPECT_EQ(asset_version(kept("version-2-bending.cot")), 2U);
  const Part part = read_asset(kept("version-2-bending.cot"));
  expect_bar(part);
  ASSERT_TRUE(part.elastic);
  EXPECT_EQ(part.elastic->size(), 3U);
  EXPECT_TRUE(part.elastic->data().anchored);
  EXPECT_EQ(part.elastic->data().domains.size(), 2U);
  EXPECT_EQ(part.settings.elastic->anchors.size(), 1U);
}

// Version 1 was the same without what bends.
TEST(OlderAssets, OfVersion1AreRead) {
  using namespace asset;
  const FileCopy file = read_file(kept("version-2.cot"));
  std::vector<NumberedEntry> table(k_kinds_of_version_1);
  std::memcpy(table.data(), file.bytes.data() + sizeof(Header), table.size() * sizeof(NumberedEntry));
  std::vector<std::byte> bytes(sizeof(Header) + table.size() * sizeof(NumberedEntry));
  for (NumberedEntry& entry : table) {
    const auto content = file.bytes.subspan(entry.offset, entry.size);
    bytes.resize(aligned(bytes.size()));
    entry.offset = bytes.size();
    bytes.insert(bytes.end(), content.begin(), content.end());
  }
  Header header;
  header.version = 1;
  header.sections = static_cast<std::uint32_t>(table.size());
  header.file_size = bytes.size();
  header.hash = header_hash(header, std::as_bytes(std::span(table)));
  std::memcpy(bytes.data(), &header, sizeof header);
  std::memcpy(bytes.data() + sizeof header, table.data(), table.size() * sizeof(NumberedEntry));
  const TemporaryFolder folder;
  const std::span<const std::byte> piece = bytes;
  write_file(folder / "a.cot", std::span(&piece, 1));
  EXPECT_EQ(asset_version(folder / "a.cot"), 1U);
  expect_bar(read_asset(folder / "a.cot"));
}

TEST(OlderAssets, AnyChangedByteOfThemIsNoticed) {
  for (const char* name : {"version-2.cot", "version-2-bending.cot"}) {
    const FileCopy file = read_file(kept(name));
    const std::shared_ptr<std::byte[]> memory(new (std::align_val_t{64}) std::byte[file.bytes.size()],
                                              [](std::byte* p) { ::operator delete[](p, std::align_val_t{64}); });
    const std::span<std::byte> bytes(memory.get(), file.bytes.size());
    std::ranges::copy(file.bytes, bytes.begin());
    for (std::size_t i = 0; i < bytes.size(); i += i < 1200 ? 1 : 97) {
      bytes[i] ^= std::byte{4};
      EXPECT_NE(code_of([&] { parse_asset(bytes, memory, name); }), std::nullopt) << name << " byte " << i;
      bytes[i] ^= std::byte{4};
    }
    EXPECT_EQ(code_of([&] { parse_asset(bytes, memory, name); }), std::nullopt);
  }
}

}  // namespace
}  // namespace cotouch::this_file
