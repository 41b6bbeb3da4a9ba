#include <cotouch/base/error.h>
#include <cotouch/base/hash.h>
#include <cotouch/base/read_file.h>
#include <cotouch/part/asset.h>
#include <cotouch/shapes/shapes.h>

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <limits>
#include <new>
#include <optional>
#include <string>
#include <vector>

#include "support/child_process.h"
#include "support/error_code.h"
#include "support/questions.h"
#include "support/temporary_folder.h"

namespace cotouch::this_file {
namespace {

Part small_part() {
  Part part;
  part.name = "ball";
  part.settings.field.resolution = 12;
  part.settings.shell.points = 64;
  part.mesh = make_sphere(0.05, 1);
  part.mesh.name = part.name;
  part.field = build_field([](const Vec3d& p) { return norm(p) - 0.05; }, part.mesh.bounds(), part.settings.field);
  NoProgress progress;
  part.shell = build_shell(part.field, part.settings.shell, progress, &part.shell_quality);
  part.field_report.flipped = 1;
  part.field_report.caps = 4;
  return part;
}

// A file's bytes at the alignment the format asks for.
class Buffer {
 public:
  explicit Buffer(std::span<const std::byte> bytes) : size_(bytes.size()) {
    memory_.reset(::operator new(size_, k_align), [](void* p) { ::operator delete(p, k_align); });
    std::memcpy(memory_.get(), bytes.data(), size_);
  }
  std::byte* data() { return static_cast<std::byte*>(memory_.get()); }
  std::size_t size() const { return size_; }
  std::optional<ErrorCode> code(std::size_t size) const {
    return code_of([&] { parse_asset({static_cast<const std::byte*>(memory_.get()), size}, memory_, "part.cot"); });
  }
  // What reading the first `size` bytes says, empty where it succeeds.
  std::string message(std::size_t size) const {
    try {
      parse_asset({static_cast<const std::byte*>(memory_.get()), size}, memory_, "part.cot");
    } catch (const Error& error) {
      return error.what();
    }
    return {};
  }
  std::string message() const { return message(size_); }

  template <class T>
  T get(std::size_t offset) {
    T value;
    std::memcpy(&value, data() + offset, sizeof value);
    return value;
  }
  template <class T>
  void set(std::size_t offset, T value) {
    std::memcpy(data() + offset, &value, sizeof value);
  }
  // Offsets as documented in asset.h.
  std::size_t sections() { return get<std::uint32_t>(24); }
  std::size_t section_begin(std::size_t kind) { return get<std::uint64_t>(64 + (kind - 1) * 64 + 32); }
  std::size_t section_size(std::size_t kind) { return get<std::uint64_t>(64 + (kind - 1) * 64 + 40); }
  // Makes every checksum right again, as someone would who means harm.
  void rehash() {
    for (std::size_t kind = 1; kind <= sections(); ++kind) {
      const std::size_t begin = section_begin(kind), count = section_size(kind);
      if (begin <= size_ && count <= size_ - begin) set(64 + (kind - 1) * 64 + 48, hash_bytes({data() + begin, count}));
    }
    set<std::uint64_t>(32, 0);
    set(32, hash_bytes({data(), 64 + 64 * sections()}));
  }

 private:
  static constexpr std::align_val_t k_align{k_asset_alignment};
  std::size_t size_;
  std::shared_ptr<void> memory_;
};

Buffer good_file() {
  static Buffer k_buffer = [] {
    const TemporaryFolder folder;
    write_asset(small_part(), folder / "a.cot");
    return Buffer(read_file(folder / "a.cot").bytes);
  }();
  return Buffer({k_buffer.data(), k_buffer.size()});
}

template <class T>
bool same_bytes(std::span<const T> a, std::span<const T> b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size_bytes()) == 0;
}

// In all that contact looks at.
bool feels_the_same(const Part& a, const Part& b) {
  const FieldData &f = a.field.data(), &g = b.field.data();
  const ShellData &s = a.shell.data(), &t = b.shell.data();
  return f.origin == g.origin && f.bricks == g.bricks && f.spacing == g.spacing && f.quantum == g.quantum &&
         f.band == g.band && f.boundary == g.boundary && f.lipschitz == g.lipschitz &&
         same_bytes(f.brick_index, g.brick_index) && same_bytes(f.samples, g.samples) &&
         same_bytes(f.coarse, g.coarse) && same_bytes(s.nodes, t.nodes) && same_bytes(s.level_begin, t.level_begin) &&
         same_bytes(s.positions, t.positions) && same_bytes(s.inward_normals, t.inward_normals);
}

bool contains(const std::string& text, const char* part) {
  return text.find(part) != std::string::npos;
}

constexpr std::size_t k_info = 2, k_vertices = 4, k_triangles = 5, k_field = 6, k_bricks = 7, k_nodes = 10,
                      k_levels = 11, k_normals = 13;

}  // namespace

TEST(Asset, HoldsThePartBitForBit) {
  const TemporaryFolder folder;
  const Part part = small_part();
  write_asset(part, folder / "ball.cot");
  const Part read = read_asset(folder / "ball.cot");
  EXPECT_EQ(read.name, part.name);
  EXPECT_EQ(read.mesh.name, part.mesh.name);
  EXPECT_TRUE(read.settings == part.settings);
  EXPECT_EQ(read.mesh.vertices, part.mesh.vertices);
  EXPECT_EQ(read.mesh.triangles, part.mesh.triangles);
  EXPECT_EQ(read.field_report.flipped, 1U);
  EXPECT_EQ(read.field_report.caps, 4U);
  ASSERT_EQ(read.shell_quality.levels.size(), part.shell_quality.levels.size());
  EXPECT_EQ(read.shell_quality.levels.back().variation, part.shell_quality.levels.back().variation);
  EXPECT_TRUE(feels_the_same(read, part));
}

TEST(Asset, AnOverwrittenOrTruncatedFileLeavesThePartInUse) {
  const TemporaryFolder folder;
  const Part part = small_part();
  write_asset(part, folder / "a.cot");
  Part other = small_part();
  other.name = "another ball";
  write_asset(other, folder / "b.cot");
  // In a child: what is in use and not there any more would end the process.
  EXPECT_EQ(in_a_child([&] {
              const Part read = read_asset(folder / "a.cot");
              // As `cp b.cot a.cot` does it: the same file, with other bytes.
              std::ofstream(folder / "a.cot") << std::ifstream(folder / "b.cot").rdbuf();
              if (!feels_the_same(read, part)) return 1;
              std::ofstream(folder / "a.cot") << std::string(100, 'x');
              if (!feels_the_same(read, part)) return 2;
              std::filesystem::resize_file(folder / "a.cot", 0);
              return feels_the_same(read, part) ? 0 : 3;
            }),
            0);
}

TEST(Asset, WhatIsNoPartIsRefusedBeforeAllOfItIsRead) {
  const TemporaryFolder folder;
  std::ofstream(folder / "a.cot") << "no part";
  std::filesystem::resize_file(folder / "a.cot", std::uintmax_t{1} << 43U);  // more than there is memory
  EXPECT_EQ(code_of([&] { read_asset(folder / "a.cot"); }), ErrorCode::damaged_file);
}

TEST(Asset, ReadingItEndsWhereverThatIsAskedFor) {
  const TemporaryFolder folder;
  write_asset(small_part(), folder / "part.cot");
  const std::size_t asked = questions_of([&] { read_asset(folder / "part.cot"); });
  ASSERT_GT(asked, 50U);  // at each of its sections, and of the inner nodes of its shell
  for (std::size_t from = 1; from <= asked; from += 1 + asked / 50) {
    Questions some(from);
    const CancelScope scope(some.question());
    EXPECT_THROW(read_asset(folder / "part.cot"), Cancelled) << from;
  }
}

TEST(Asset, IsTheSameFileForTheSamePart) {
  const TemporaryFolder folder;
  write_asset(small_part(), folder / "a.cot");
  write_asset(small_part(), folder / "b.cot");
  const FileCopy a = read_file(folder / "a.cot"), b = read_file(folder / "b.cot");
  EXPECT_TRUE(same_bytes(a.bytes, b.bytes));
}

TEST(Asset, SectionsAreAlignedForReadingInPlace) {
  Buffer file = good_file();
  for (std::size_t kind = 1; kind <= file.sections(); ++kind)
    EXPECT_EQ(file.section_begin(kind) % k_asset_alignment, 0U);
}

TEST(Asset, AnyChangedByteIsNoticed) {
  Buffer file = good_file();
  ASSERT_EQ(file.message(), "");
  // All of the header and the table, the ends of each section with the padding after it, and a spread of the rest.
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < 64 + 64 * file.sections(); ++i) places.push_back(i);
  for (std::size_t kind = 1; kind <= file.sections(); ++kind)
    for (std::size_t i = 0; i < 64; ++i) {
      places.push_back(file.section_begin(kind) + i);
      places.push_back(file.section_begin(kind) + file.section_size(kind) + i);
    }
  for (std::size_t i = 0; i < file.size(); i += 397) places.push_back(i);
  for (const std::size_t place : places) {
    if (place >= file.size()) continue;
    const std::byte bit{static_cast<unsigned char>(1U << (place % 8))};
    file.data()[place] ^= bit;
    EXPECT_NE(file.message(), "") << "byte " << place;
    file.data()[place] ^= bit;
  }
  EXPECT_EQ(file.message(), "");
}

TEST(Asset, AnyTruncationIsNoticed) {
  const Buffer file = good_file();
  EXPECT_TRUE(contains(file.message(0), "empty"));
  for (std::size_t size = 1; size < file.size(); size += size < 600 ? 1 : 397)
    EXPECT_TRUE(contains(file.message(size), "truncated")) << size;
}

TEST(Asset, SaysWhatIsWrong) {
  Buffer file = good_file();
  file.set<std::uint32_t>(12, k_asset_version + 1);
  EXPECT_TRUE(contains(file.message(), "newer cotouch"));
  EXPECT_EQ(file.code(file.size()), ErrorCode::unsupported);

  file = good_file();
  file.set<std::uint32_t>(8, 0x04030201);
  EXPECT_TRUE(contains(file.message(), "byte order"));

  file = good_file();
  file.data()[file.section_begin(k_vertices)] ^= std::byte{1};
  EXPECT_TRUE(contains(file.message(), "'mesh vertices' does not match its checksum"));

  file = good_file();
  std::memcpy(file.data(), "\x89\x43OT\n\x1a\n", 7);
  EXPECT_TRUE(contains(file.message(), "sent as text"));

  const TemporaryFolder folder;
  std::ofstream(folder / "a.stl") << "solid cube\nendsolid\n";
  try {
    read_asset(folder / "a.stl");
    FAIL();
  } catch (const Error& error) {
    EXPECT_TRUE(contains(error.what(), "a.stl is not a cotouch part"));
  }
}

TEST(Asset, RightChecksumsDoNotMakeWrongContentsWelcome) {
  struct Harm {
    const char* what;
    std::size_t kind, offset;
    std::uint32_t value;
  };
  constexpr std::uint32_t k_nan = 0x7fc00000, k_many = 0xfffffffe;
  for (const Harm& harm : {Harm{"a triangle's corner", k_triangles, 4, k_many},
                           {"a vertex", k_vertices, 4, 0x7ff80000},
                           {"a brick", k_bricks, 0, k_many},
                           {"bricks along x", k_field, 16, 0x7fffffff},
                           {"spacing", k_field, 12, k_nan},
                           {"a level", k_levels, 4, k_many},
                           {"a first child", k_nodes, 16, k_many},
                           {"a node's point", k_nodes, 20, k_many},
                           {"a normal", k_normals, 0, k_nan},
                           {"resolution", k_info, 0, 0}}) {
    Buffer file = good_file();
    file.set(file.section_begin(harm.kind) + harm.offset, harm.value);
    file.rehash();
    EXPECT_NE(file.message(), "") << harm.what;
  }
}

TEST(Asset, OffsetsAndSizesCannotLeadOutside) {
  for (std::size_t kind = 1; kind <= 13; ++kind)
    for (const std::uint64_t value : {std::uint64_t{0}, std::uint64_t{12345}, ~std::uint64_t{0}, ~std::uint64_t{63},
                                      std::uint64_t{1} << 63, std::uint64_t{1} << 40})
      for (const std::size_t member : {32U, 40U}) {
        Buffer file = good_file();
        const std::size_t place = 64 + (kind - 1) * 64 + member;
        if (file.get<std::uint64_t>(place) == value) continue;
        file.set(place, value);
        file.rehash();
        EXPECT_NE(file.message(), "") << kind << ' ' << value;
      }
}

TEST(Asset, TellsProgramsThatAFileIsDamaged) {
  Buffer file = good_file();
  EXPECT_EQ(file.code(file.size()), std::nullopt);
  for (const std::size_t size : {std::size_t{0}, std::size_t{7}, std::size_t{40}, file.size() - 1})
    EXPECT_EQ(file.code(size), ErrorCode::damaged_file) << size;
  // Sound to the table's checksums, but not to the field's own checks.
  file.set(file.section_begin(k_field), std::numeric_limits<float>::quiet_NaN());
  file.rehash();
  EXPECT_EQ(file.code(file.size()), ErrorCode::damaged_file);
}

}  // namespace cotouch::this_file
