// Prepared parts that a hostile host has damaged on purpose; their checksums are right.
#include "hostile/host_cases.h"

#include <cotouch/field/field.h>
#include <cotouch/shell/shell.h>

#include <limits>

namespace cotouch::hostile {
namespace {

using asset::FieldHeader;
using asset::Header;
using asset::Kind;
using asset::TableEntry;

constexpr double k_none = std::numeric_limits<double>::quiet_NaN();
constexpr float k_no_float = std::numeric_limits<float>::quiet_NaN();

// The rigid part, or the one that bends, with this change.
std::function<void(FalseHost&, const NetAddress&)> part_with(bool bends, std::function<void(CraftedPart&)> change) {
  return [=](FalseHost& host, const NetAddress&) {
    for (auto& [name, bytes] : host.gifts.files) {
      if (!name.ends_with(".cot")) continue;
      CraftedPart part(bytes);
      if (part.has(Kind::elastic) != bends) continue;
      change(part);
      bytes = part.take();
      return;
    }
    throw std::runtime_error("the real host gave no such part");
  };
}

HostCase rigid(std::string name, std::string sends, std::function<void(CraftedPart&)> change,
               Course course = Course::fails, std::string words = "damaged") {
  return {std::move(name), std::move(sends), course, std::move(words), part_with(false, std::move(change))};
}

HostCase bending(std::string name, std::string sends, std::function<void(CraftedPart&)> change,
                 Course course = Course::fails, std::string words = "cannot be used") {
  return {std::move(name), std::move(sends), course, std::move(words), part_with(true, std::move(change))};
}

template <class Change>
std::function<void(CraftedPart&)> field_with(const Change& change) {
  return [=](CraftedPart& part) {
    auto header = part.get<FieldHeader>(Kind::field, 0);
    change(header);
    part.put(Kind::field, 0, header);
  };
}

template <class Change>
std::function<void(CraftedPart&)> node_with(std::size_t node, const Change& change) {
  return [=](CraftedPart& part) {
    auto one = part.get<ShellNode>(Kind::nodes, node * sizeof(ShellNode));
    change(one);
    part.put(Kind::nodes, node * sizeof(ShellNode), one);
  };
}

template <class T>
Bytes repeated(std::size_t count, T value) {
  const std::vector<T> all(count, value);
  const auto bytes = std::as_bytes(std::span(all));
  return {bytes.begin(), bytes.end()};
}

// A field of so many bricks along each side, all of which are the first one's samples: a few megabytes that look like
// the volume of a city.
void share_a_brick(CraftedPart& part, std::int32_t side) {
  auto header = part.get<FieldHeader>(Kind::field, 0);
  header.bricks = {side, side, side};
  const auto n = static_cast<std::size_t>(side);
  part.replace(Kind::field, Bytes(reinterpret_cast<const std::byte*>(&header),
                                  reinterpret_cast<const std::byte*>(&header) + sizeof header));
  part.replace(Kind::brick_index, repeated<std::uint32_t>(n * n * n, 0));
  part.replace(Kind::coarse, repeated<float>((n + 1) * (n + 1) * (n + 1), 1));
}

std::vector<HostCase> file_cases() {
  return {
      rigid(
          "part-cut-short", "half of a part", [](CraftedPart& part) { part.raw().resize(part.raw().size() / 2); },
          Course::fails, "truncated"),
      rigid(
          "part-of-a-few-bytes", "the first 40 bytes of a part", [](CraftedPart& part) { part.raw().resize(40); },
          Course::fails, "truncated"),
      rigid(
          "part-of-no-bytes", "a part of no bytes", [](CraftedPart& part) { part.raw().clear(); }, Course::fails,
          "cannot be used"),
      rigid("part-with-something-behind", "a part that goes on behind its end",
            [](CraftedPart& part) { part.raw().resize(part.raw().size() + 4096); }),
      rigid("section-beyond-the-file", "a section that begins behind the end",
            [](CraftedPart& part) {
              TableEntry entry = part.entry(Kind::samples);
              entry.offset = std::uint64_t{1} << 62U;
              part.put_entry(Kind::samples, entry);
            }),
      rigid("section-round-the-corner", "a section whose end wraps round to its beginning",
            [](CraftedPart& part) {
              TableEntry entry = part.entry(Kind::samples);
              entry.size = std::numeric_limits<std::uint64_t>::max() - entry.offset + 1;
              part.put_entry(Kind::samples, entry);
            }),
      rigid("sections-without-number", "2^32 - 1 sections",
            [](CraftedPart& part) {
              const std::uint32_t most = 0xffffffff;
              std::memcpy(part.raw().data() + offsetof(Header, sections), &most, sizeof most);
            }),
      rigid(
          "from-the-future", "a part of a version that does not exist",
          [](CraftedPart& part) {
            const std::uint32_t version = 99;
            std::memcpy(part.raw().data() + offsetof(Header, version), &version, sizeof version);
          },
          Course::fails, "newer cotouch"),
      rigid(
          "part-without-points", "a part without a pointshell",
          [](CraftedPart& part) {
            for (const Kind kind : {Kind::nodes, Kind::level_begin, Kind::positions, Kind::normals})
              part.replace(kind, {});
          },
          Course::fails, "has no pointshell"),
      rigid(
          "part-without-a-tree", "a pointshell without its tree",
          [](CraftedPart& part) { part.replace(Kind::nodes, {}); }, Course::fails, "without a tree"),
      bending("bends-without-a-tree", "a part that bends whose pointshell has no tree",
              [](CraftedPart& part) { part.replace(Kind::nodes, {}); }),
      rigid("two-sections-of-one-name", "two sections of one name",
            [](CraftedPart& part) {
              TableEntry entry = part.entry(Kind::samples);
              entry.name = part.entry(Kind::coarse).name;
              part.put_entry(Kind::samples, entry);
            }),
      rigid("section-in-pieces-of-a-byte", "a section in pieces of one byte",
            [](CraftedPart& part) {
              TableEntry entry = part.entry(Kind::coarse);
              entry.name = {'m', 'i', 'n', 'e'};
              entry.piece = 1;
              part.put_entry(Kind::coarse, entry);
            }),
      rigid("mesh-of-no-numbers", "a mesh with a corner that is no number",
            [](CraftedPart& part) { part.put(Kind::vertices, 8, k_none); }),
      rigid(
          "mesh-at-the-end-of-the-world", "a mesh with a corner at 1e300 m",
          [](CraftedPart& part) { part.put(Kind::vertices, 8, 1e300); }, Course::any, ""),
      rigid("triangle-of-nothing", "a triangle of corners that are not there",
            [](CraftedPart& part) { part.put(Kind::triangles, 4, std::uint32_t{0xffffffff}); }),
      rigid(
          "triangle-of-one-corner", "a triangle whose corners are one",
          [](CraftedPart& part) { part.put(Kind::triangles, 0, std::uint64_t{0}).put(Kind::triangles, 8, 0U); },
          Course::any, ""),
  };
}

std::vector<HostCase> field_cases() {
  return {
      rigid("field-of-no-numbers", "a field whose spacing is no number",
            field_with([](FieldHeader& field) { field.spacing = k_no_float; })),
      rigid("field-of-a-hair", "cells of 1e-14 m", field_with([](FieldHeader& field) { field.spacing = 1e-14F; })),
      rigid("field-without-end", "2^31 - 1 bricks along each side", field_with([](FieldHeader& field) {
              field.bricks = {0x7fffffff, 0x7fffffff, 0x7fffffff};
            })),
      rigid("field-turned-over", "a negative number of bricks", field_with([](FieldHeader& field) {
              field.bricks = {-1, -1, field.bricks.z};
            })),
      rigid("steep-field", "a field that says that it is 1e30 times as steep",
            field_with([](FieldHeader& field) { field.lipschitz = 1e30F; }), Course::any, ""),
      rigid("wide-field", "a field that knows everything within 1e30 m",
            field_with([](FieldHeader& field) { field.band = 1e30F; }), Course::any, ""),
      rigid("coarse-field-of-no-numbers", "a coarse field of infinite values",
            [](CraftedPart& part) { part.put(Kind::coarse, 0, std::numeric_limits<float>::infinity()); }),
      rigid("bricks-of-nothing", "a brick whose samples lie behind all others",
            [](CraftedPart& part) { part.put(Kind::brick_index, 0, std::uint32_t{0xfffffffe}); }),
      rigid("one-brick-for-all", "a city of 2,000,000 bricks that share the samples of one",
            [](CraftedPart& part) { share_a_brick(part, 128); }),
  };
}

std::vector<HostCase> shell_cases() {
  return {
      rigid("children-behind-their-parents", "a tree of points whose children point backwards",
            node_with(1, [](ShellNode& node) { node.first_child = 0; })),
      rigid("a-tree-that-is-a-circle", "a tree of points in which one is its own child",
            node_with(2, [](ShellNode& node) { node.first_child = 2; })),
      rigid("children-beyond-the-tree", "a tree of points with children behind its end",
            node_with(1, [](ShellNode& node) { node.first_child = 0xfffffff0; })),
      rigid("radius-of-no-number", "a ball of points whose radius is no number",
            node_with(0, [](ShellNode& node) { node.radius = k_no_float; })),
      rigid(
          "balls-of-everything", "balls of points with a radius of 1e9 m",
          [](CraftedPart& part) {
            for (std::size_t i = 0; i < 4; ++i) node_with(i, [](ShellNode& node) { node.radius = 1e9F; })(part);
          },
          Course::any, ""),
      rigid("levels-in-disorder", "levels of points that begin before they end",
            [](CraftedPart& part) { part.put(Kind::level_begin, 4, std::uint32_t{0x7fffffff}); }),
      rigid("no-points", "no points at all",
            [](CraftedPart& part) { part.replace(Kind::positions, {}).replace(Kind::normals, {}); }),
      rigid("normals-of-nothing", "normals of no length",
            [](CraftedPart& part) { part.replace(Kind::normals, Bytes(part.size_of(Kind::normals))); }),
  };
}

std::vector<HostCase> elastic_cases() {
  const auto fill = [](Kind kind, double value) {
    return [=](CraftedPart& part) {
      if (!part.has(kind)) throw std::runtime_error("a real part has nothing there");
      for (std::size_t at = 0; at + sizeof value <= part.size_of(kind); at += sizeof value) part.put(kind, at, value);
    };
  };
  const auto shortened = [](Kind kind) {
    return [=](CraftedPart& part) { part.replace(kind, Bytes(part.size_of(kind) / 2 / 64 * 64)); };
  };
  return {
      bending("polynomials-of-no-numbers", "forces of a bent part that are no numbers",
              fill(Kind::polynomials, k_none)),
      bending("polynomials-without-end", "forces of a bent part of 1e300 N", fill(Kind::polynomials, 1e300)),
      bending("weight-of-no-numbers", "a part that weighs what is no number", fill(Kind::weight, k_none)),
      bending("shapes-cut-short", "half of the shapes of a part that bends", shortened(Kind::shapes)),
      bending("tetrahedra-of-nothing", "tetrahedra of nodes that are not there",
              [](CraftedPart& part) { part.put(Kind::tets, 0, std::uint32_t{0xffffffff}); }),
      bending("points-outside-of-tetrahedra", "points in tetrahedra that are not there",
              [](CraftedPart& part) { part.put(Kind::shell_embedding, 0, std::uint32_t{0xffffffff}); }),
      bending(
          "proxies-of-nothing", "proxies that stand for nothing",
          [](CraftedPart& part) { part.replace(Kind::proxies, Bytes(part.size_of(Kind::proxies), std::byte{0xff})); }),
      bending("anchors-of-noise", "anchors that are no text",
              [](CraftedPart& part) { part.replace(Kind::anchors, Bytes(100'000, std::byte{0xff})); }),
      bending("coordinates-without-number", "2^32 - 1 ways to bend",
              [](CraftedPart& part) { part.put(Kind::elastic, 4, std::uint32_t{0xffffffff}); }),
  };
}

}  // namespace

std::vector<HostCase> part_cases() {
  std::vector<HostCase> all;
  for (const auto& cases : {file_cases(), field_cases(), shell_cases(), elastic_cases()})
    all.insert(all.end(), cases.begin(), cases.end());
  return all;
}

}  // namespace cotouch::hostile
