#include <cotouch/elastic/tet_faces.h>

#include "mesh/mesh_checks.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace cotouch::this_file {
namespace {

TetMesh two_boxes(const Vec3d& second_at) {
  TetMesh mesh = tet_box({1, 1, 1}, {2, 2, 2});
  const TetMesh other = tet_box({0.5, 0.5, 0.5}, {1, 1, 1});
  const auto shift = static_cast<std::uint32_t>(mesh.nodes.size());
  for (const Vec3d& node : other.nodes) mesh.nodes.push_back(node + second_at);
  for (Tet tet : other.tets) {
    for (std::uint32_t& node : tet) node += shift;
    mesh.tets.push_back(tet);
  }
  return mesh;
}

// Joins the second box's nodes to those of the first in the same place.
void join(TetMesh& mesh) {
  for (Tet& tet : mesh.tets)
    for (std::uint32_t& node : tet)
      node = static_cast<std::uint32_t>(std::find(mesh.nodes.begin(), mesh.nodes.end(), mesh.nodes[node]) -
                                        mesh.nodes.begin());
  drop_unused_nodes(mesh);
}

TEST(TetSurface, OfABoxIsClosedOutwardAndHasItsVolume) {
  const TetMesh box = tet_box({2, 3, 4}, {2, 3, 4});
  const TetSurface surface = surface_of(box);
  EXPECT_TRUE(is_closed_and_consistent(surface.mesh));
  EXPECT_NEAR(signed_volume(surface.mesh), 24, 1e-12);
  // Two triangles a square of the six sides; all nodes but the inner ones.
  EXPECT_EQ(surface.mesh.triangles.size(), 2U * 2 * (2 * 3 + 3 * 4 + 4 * 2));
  EXPECT_EQ(surface.node.size(), 3U * 4 * 5 - 1 * 2 * 3);
}

TEST(TetSurface, NamesTheNodeOfEachVertexAndTheTetrahedronOfEachTriangle) {
  const TetMesh box = tet_box({1, 1, 1}, {3, 2, 2});
  const TetSurface surface = surface_of(box);
  ASSERT_EQ(surface.node.size(), surface.mesh.vertices.size());
  EXPECT_TRUE(std::is_sorted(surface.node.begin(), surface.node.end()));
  for (std::size_t i = 0; i < surface.node.size(); ++i) EXPECT_EQ(box.nodes[surface.node[i]], surface.mesh.vertices[i]);
  ASSERT_EQ(surface.tet.size(), surface.mesh.triangles.size());
  for (std::size_t i = 0; i < surface.tet.size(); ++i) {
    const Tet& tet = box.tets[surface.tet[i]];
    for (const std::uint32_t vertex : surface.mesh.triangles[i])
      EXPECT_NE(std::find(tet.begin(), tet.end(), surface.node[vertex]), tet.end());
  }
}

TEST(TetSurface, OfNothingIsEmpty) {
  EXPECT_TRUE(surface_of({}).mesh.triangles.empty());
}

TEST(TetFaces, FindsTheTetrahedronThatLiesOnAnother) {
  TetMesh mesh = tet_box({1, 1, 1}, {2, 2, 2});
  EXPECT_EQ(first_overlapping(mesh), mesh.tets.size());
  for (const std::size_t copied : {0U, 7U, 47U}) {
    TetMesh twice = mesh;
    const Tet& t = mesh.tets[copied];
    twice.tets.push_back({t[1], t[2], t[0], t[3]});
    EXPECT_EQ(first_overlapping(twice), mesh.tets.size());
  }
  // Nor may two stand on the same side of a face without being the same.
  const TetMesh pair{{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {0, 0, 2}}, {{0, 1, 2, 3}, {1, 2, 0, 4}}};
  EXPECT_EQ(first_overlapping(pair), 1U);
}

TEST(TetPieces, CountsBoxesApart) {
  EXPECT_EQ(components(tet_box({1, 1, 1}, {2, 2, 2})), 1U);
  EXPECT_EQ(components(two_boxes({3, 0, 0})), 2U);
  EXPECT_EQ(components({}), 0U);
}

TEST(TetPieces, WhatHangsOnAnEdgeOrACornerIsAPieceOfItsOwn) {
  for (const auto& [at, expected] : {std::pair{Vec3d{1, 0, 0}, 1U}, {Vec3d{1, 1, 0}, 2U}, {Vec3d{1, 1, 1}, 2U}}) {
    TetMesh mesh = two_boxes(at);
    join(mesh);
    EXPECT_EQ(components(mesh), expected) << at.x << at.y << at.z;
  }
}

TEST(TetPieces, AreDescribedOnlyIfThereAreSeveral) {
  EXPECT_TRUE(describe_pieces(pieces_of(tet_box({1, 1, 1}, {2, 2, 2}))).empty());
  const std::string sentence = describe_pieces(pieces_of(two_boxes({3, 0, 0})));
  EXPECT_NE(sentence.find("2 pieces"), std::string::npos) << sentence;
  EXPECT_NE(sentence.find("88.9 %"), std::string::npos) << sentence;  // 1 of 1.125 m^3
}

TEST(TetPieces, TheLargestCanBeKeptAlone) {
  const TetMesh mesh = two_boxes({3, 0, 0});
  const TetMesh kept = largest_piece(mesh, pieces_of(mesh));
  const TetMesh alone = tet_box({1, 1, 1}, {2, 2, 2});
  EXPECT_EQ(kept.nodes, alone.nodes);
  EXPECT_EQ(kept.tets, alone.tets);
}

TEST(TetNodes, UnusedOnesAreDroppedAndTheOthersKeepTheirOrder) {
  TetMesh mesh{{{9, 9, 9}, {0, 0, 0}, {1, 0, 0}, {8, 8, 8}, {0, 1, 0}, {0, 0, 1}}, {{1, 2, 4, 5}}};
  EXPECT_EQ(drop_unused_nodes(mesh), 2U);
  EXPECT_EQ(mesh.nodes, (std::vector<Vec3d>{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}}));
  EXPECT_EQ(mesh.tets, (std::vector<Tet>{{0, 1, 2, 3}}));
}

}  // namespace
}  // namespace cotouch::this_file
