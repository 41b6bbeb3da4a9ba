// What engines of other kinds keep in a part: sections by name, whole or in pieces.
#include <cotouch/base/error.h>
#include <cotouch/base/file.h>
#include <cotouch/base/hash.h>
#include <cotouch/base/read_file.h>
#include <cotouch/part/asset.h>
#include <cotouch/shapes/shapes.h>

#include <gtest/gtest.h>

#include <sys/resource.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "support/child_process.h"
#include "support/error_code.h"
#include "support/sanitized.h"
#include "support/temporary_folder.h"

namespace cotouch::this_file {
namespace {

std::vector<std::byte> pattern(std::size_t size) {
  std::vector<std::byte> bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(i * 7 + i / 251);
  return bytes;
}

Part mesh_only() {
  Part part;
  part.name = "ball";
  part.settings.field.resolution = 12;
  part.mesh = make_sphere(0.05, 1);
  part.mesh.name = part.name;
  return part;
}

std::vector<std::byte> content_of(const PartSection& section) {
  std::vector<std::byte> all(section.size());
  std::size_t begin = 0;
  for (std::uint64_t i = 0; i < section.piece_count(); ++i) {
    section.read_piece(i, std::span(all).subspan(begin, section.size_of_piece(i)));
    begin += section.size_of_piece(i);
  }
  EXPECT_EQ(begin, all.size());
  return all;
}

constexpr std::uint64_t k_piece = PartSection::k_smallest_piece;

TEST(PartSections, ComeBackByTheirNames) {
  const TemporaryFolder folder;
  const std::vector<std::byte> small = pattern(77), large = pattern(3 * k_piece + 5);
  Part part = mesh_only();
  part.sections.emplace_back("large", large, nullptr, k_piece);
  part.sections.emplace_back("small", small, nullptr);
  write_asset(part, folder / "a.cot");
  const Part read = read_asset(folder / "a.cot");
  ASSERT_NE(read.section("small"), nullptr);
  ASSERT_NE(read.section("large"), nullptr);
  EXPECT_EQ(read.section("other"), nullptr);
  EXPECT_TRUE(std::ranges::equal(read.section("small")->bytes(), small));
  EXPECT_EQ(read.section("large")->piece_count(), 4U);
  EXPECT_EQ(content_of(*read.section("large")), large);
  // The same from memory, and written again from the file.
  const FileCopy file = read_file(folder / "a.cot");
  EXPECT_EQ(content_of(*parse_asset(file.bytes, file.keep_alive, "a.cot").section("large")), large);
  write_asset(read, folder / "b.cot");
  const FileCopy again = read_file(folder / "b.cot");
  EXPECT_TRUE(std::ranges::equal(file.bytes, again.bytes));
}

TEST(PartSections, APartMayHaveNeitherFieldNorShell) {
  const TemporaryFolder folder;
  write_asset(mesh_only(), folder / "a.cot");
  const Part read = read_asset(folder / "a.cot");
  EXPECT_EQ(read.mesh.triangles, mesh_only().mesh.triangles);
  EXPECT_TRUE(read.field.data().brick_index.empty());
  EXPECT_EQ(read.shell.point_count(), 0U);
}

TEST(PartSections, AShellMayHaveNoTree) {
  const TemporaryFolder folder;
  Part part = mesh_only();
  part.field = build_field([](const Vec3d& p) { return norm(p) - 0.05; }, part.mesh.bounds(), part.settings.field);
  NoProgress progress;
  const Shell whole = build_shell(part.field, {.points = 64}, progress, nullptr);
  ShellData points = whole.data();
  points.nodes = {};
  part.shell = Shell(points, nullptr);
  write_asset(part, folder / "a.cot");
  const Part read = read_asset(folder / "a.cot");
  EXPECT_FALSE(read.shell.has_tree());
  ASSERT_EQ(read.shell.levels(), whole.levels());
  for (std::uint32_t level = 0; level < whole.levels(); ++level)
    EXPECT_EQ(read.shell.points_to_level(level), whole.points_to_level(level));
}

TEST(PartSections, AChangedPieceIsNoticedWhenItIsRead) {
  const TemporaryFolder folder;
  Part part = mesh_only();
  const std::vector<std::byte> large = pattern(3 * k_piece);
  part.sections.emplace_back("large", large, nullptr, k_piece);
  write_asset(part, folder / "a.cot");
  const std::uintmax_t size = std::filesystem::file_size(folder / "a.cot");
  {
    std::fstream file(folder / "a.cot", std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(size - k_piece - 1));  // the last byte of the second piece
    file.put('x');
  }
  const Part read = read_asset(folder / "a.cot");
  std::vector<std::byte> piece(k_piece);
  const PartSection& section = *read.section("large");
  section.read_piece(0, piece);
  EXPECT_TRUE(std::ranges::equal(piece, std::span(large).first(k_piece)));
  EXPECT_EQ(code_of([&] { section.read_piece(1, piece); }), ErrorCode::damaged_file);
  section.read_piece(2, piece);
  // What is cut off while it is in use is an error, not the end of the program.
  std::filesystem::resize_file(folder / "a.cot", size - 1);
  EXPECT_EQ(code_of([&] { section.read_piece(2, piece); }), ErrorCode::damaged_file);
  EXPECT_THROW(section.read_piece(3, piece), Error);
  EXPECT_THROW(section.read_piece(0, std::span(piece).first(10)), Error);
}

TEST(PartSections, ChangedHashesOfPiecesAreNoticedAtOnce) {
  const TemporaryFolder folder;
  Part part = mesh_only();
  const std::vector<std::byte> large = pattern(3 * k_piece);
  part.sections.emplace_back("large", large, nullptr, k_piece);
  write_asset(part, folder / "a.cot");
  const FileCopy file = read_file(folder / "a.cot");
  const std::size_t list = file.bytes.size() - large.size() - 64;  // three hashes, padded
  for (const std::size_t at : {list, list + 23, list + 24, list + 63}) {
    std::vector<std::byte> bytes(file.bytes.begin(), file.bytes.end());
    bytes[at] ^= std::byte{1};
    std::ofstream(folder / "b.cot", std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    EXPECT_EQ(code_of([&] { read_asset(folder / "b.cot"); }), ErrorCode::damaged_file) << at - list;
  }
}

// Right hashes for what was changed in the header or table.
void sign(std::vector<std::byte>& bytes) {
  std::uint32_t sections = 0;
  std::memcpy(&sections, bytes.data() + 24, sizeof sections);
  const std::uint64_t zero = 0;
  std::memcpy(bytes.data() + 32, &zero, sizeof zero);
  const std::uint64_t hash = hash_bytes(std::span(bytes).first(64 + 64 * sections));
  std::memcpy(bytes.data() + 32, &hash, sizeof hash);
}

// Of a file with pieces only what comes before them is read: the table of a stranger may lie about where that is.
TEST(PartSections, PiecesCannotBeginAmongWholeSections) {
  const TemporaryFolder folder;
  Part part = mesh_only();
  const std::vector<std::byte> whole = pattern(100'000), large = pattern(3 * k_piece);
  part.sections.emplace_back("large", large, nullptr, k_piece);
  part.sections.emplace_back("whole", whole, nullptr);
  write_asset(part, folder / "a.cot");
  const FileCopy file = read_file(folder / "a.cot");
  std::uint32_t sections = 0;
  std::memcpy(&sections, file.bytes.data() + 24, sizeof sections);
  const std::size_t offset_of_pieces = 64 + (sections - 1) * 64 + 32;  // of the last entry
  for (const std::uint64_t begin : {std::uint64_t{0}, std::uint64_t{64}, std::uint64_t{64 + 64 * sections},
                                    std::uint64_t{4096}, ~std::uint64_t{0}}) {
    std::vector<std::byte> bytes(file.bytes.begin(), file.bytes.end());
    std::memcpy(bytes.data() + offset_of_pieces, &begin, sizeof begin);
    sign(bytes);
    const std::span<const std::byte> all = bytes;
    write_file(folder / "b.cot", std::span(&all, 1));
    EXPECT_EQ(code_of([&] { read_asset(folder / "b.cot"); }), ErrorCode::damaged_file) << begin;
  }
}

TEST(PartSections, HaveNamesOfTheirOwn) {
  const TemporaryFolder folder;
  const std::vector<std::byte> bytes = pattern(10);
  for (const std::string& name : {std::string(), std::string(32, 'x'), std::string("a\nb")})
    EXPECT_THROW(PartSection(name, bytes, nullptr), Error) << name;
  for (const char* name : {"mine", "shell tree"}) {
    Part part = mesh_only();
    part.sections.emplace_back("mine", bytes, nullptr);
    part.sections.emplace_back(name, bytes, nullptr);
    EXPECT_THROW(write_asset(part, folder / "a.cot"), Error) << name;
  }
}

TEST(PartSections, AFileMayBeLargerThanMemory) {
  if (is_sanitized()) GTEST_SKIP() << "a sanitizer needs all addresses";
  const TemporaryFolder folder;
  constexpr std::size_t k_large = std::size_t{64} << 20, k_mebibyte = std::size_t{1} << 20;
  Part part = mesh_only();
  std::byte last{};  // of the pieces: its first byte
  {
    const std::vector<std::byte> large = pattern(k_large);
    last = large[k_large - k_mebibyte];
    part.sections.emplace_back("large", large, nullptr, k_mebibyte);
    write_asset(part, folder / "a.cot");
  }
  part.sections.clear();
  EXPECT_EQ(in_a_child([&] {
              // What this process has already, and half of the section.
              std::ifstream statm("/proc/self/statm");
              std::uint64_t pages = 0;
              statm >> pages;
              const rlim_t most = pages * static_cast<rlim_t>(::sysconf(_SC_PAGESIZE)) + k_large / 2;
              const rlimit limit{most, most};
              if (::setrlimit(RLIMIT_AS, &limit) != 0) return 1;
              const Part read = read_asset(folder / "a.cot");
              const PartSection& section = *read.section("large");
              std::vector<std::byte> piece(k_mebibyte);
              for (std::uint64_t i = 0; i < section.piece_count(); ++i) section.read_piece(i, piece);
              return piece[0] == last ? 0 : 2;
            }),
            0);
}

TEST(PartSections, PiecesHaveASensibleSize) {
  const std::vector<std::byte> bytes = pattern(100);
  for (const std::uint64_t piece : {std::uint64_t{1}, k_piece - 1, PartSection::k_largest_piece + 1})
    EXPECT_THROW(PartSection("mine", bytes, nullptr, piece), Error);
}

}  // namespace
}  // namespace cotouch::this_file
