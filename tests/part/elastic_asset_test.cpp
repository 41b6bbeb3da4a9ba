// Elastic parts in asset files, and what is wrong with damaged ones.
#include <cotouch/base/error.h>
#include <cotouch/part/asset.h>

#include <gtest/gtest.h>
#include <support/elastic_parts.h>
#include <support/temporary_folder.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <vector>

namespace cotouch::this_file {
namespace {

using namespace elastic_test;

template <class T>
bool same(std::span<const T> a, std::span<const T> b) {
  return std::ranges::equal(std::as_bytes(a), std::as_bytes(b));
}

TEST(ElasticAsset, ComesBackAsItWas) {
  const TemporaryFolder folder;
  const auto several =
      make_bar({ElasticLaw::stvk, {"x<-0.09", "point:0.09,0,0@0.01"}, 6, "silicone", {0.2, 0.02, 0.02}, 3});
  for (const auto& part : {held_bar(ElasticLaw::warped), loose_bar(ElasticLaw::stvk), several}) {
    const auto path = folder.path() / "part.cot";
    write_asset(*part, path);
    const Part back = read_asset(path);
    ASSERT_NE(back.elastic, nullptr);
    EXPECT_EQ(back.elastic->hash(), part->elastic->hash());
    EXPECT_EQ(back.settings, part->settings);
    EXPECT_EQ(back.elastic->data().anchored, part->elastic->data().anchored);
    const ElasticData &was = part->elastic->data(), &is = back.elastic->data();
    EXPECT_TRUE(same(is.nodes, was.nodes));
    EXPECT_TRUE(same(is.tets, was.tets));
    EXPECT_TRUE(same(is.mesh, was.mesh));
  }
}

// Arrays that a stranger may have written, checksums and all.
TEST(ElasticAsset, RefusesArraysThatDoNotDescribeABody) {
  const ElasticData good = held_bar(ElasticLaw::warped)->elastic->data();
  const ElasticData bent = held_bar(ElasticLaw::stvk)->elastic->data();
  std::vector<EmbeddedPoint> shell(good.shell.begin(), good.shell.end());
  std::vector<float> shapes(good.shapes.begin(), good.shapes.end()), spread(good.spread.begin(), good.spread.end());
  std::vector<double> stiffness(good.stiffness.begin(), good.stiffness.end());
  std::vector<double> coefficients(bent.stvk.coefficients.begin(), bent.stvk.coefficients.end());
  std::vector<Tet> tets(good.tets.begin(), good.tets.end());
  std::vector<float> slopes(good.slopes.begin(), good.slopes.end());
  std::vector<float> rotations(good.rotations.begin(), good.rotations.end());
  std::vector<ElasticProxy> proxies(good.proxies.begin(), good.proxies.end());
  std::vector<EmbeddedPoint> mesh(good.mesh.begin(), good.mesh.end());
  std::vector<Vec3f> nodes(good.nodes.begin(), good.nodes.end());
  std::vector<ElasticDomain> domains(good.domains.begin(), good.domains.end());
  const auto refused = [](const ElasticData& data) {
    try {
      const ElasticModel model(data, {}, nullptr);
    } catch (const Error& error) {
      return error.code() == ErrorCode::damaged_file;
    }
    return false;
  };
  EXPECT_FALSE(refused(good));
  EXPECT_FALSE(refused(bent));
  const double no_number = std::numeric_limits<double>::quiet_NaN();
  const auto damaged = [&](const char* what, const std::function<void(ElasticData&)>& damage, bool stvk = false) {
    ElasticData data = stvk ? bent : good;
    damage(data);
    EXPECT_TRUE(refused(data)) << what;
  };
  damaged("no coordinates", [](ElasticData& d) { d.size = 0; });
  damaged("more coordinates than shapes", [](ElasticData& d) { d.size += 4; });
  damaged("a law that is none", [](ElasticData& d) { d.law = static_cast<ElasticLaw>(7); });
  damaged("negative damping", [](ElasticData& d) { d.mass_damping = -1; });
  damaged("a node of the shell", [&](ElasticData& d) {
    shell[5].node[2] = static_cast<std::uint32_t>(d.nodes.size());
    d.shell = shell;
  });
  damaged("a shape that is no number", [&](ElasticData& d) {
    shapes[7] = std::numeric_limits<float>::infinity();
    d.shapes = shapes;
  });
  damaged("a negative bound", [&](ElasticData& d) {
    spread[0] = -1;
    d.spread = spread;
  });
  damaged("a stiffness of nothing", [&](ElasticData& d) {
    stiffness[1] = 0;
    d.stiffness = stiffness;
  });
  damaged("a tetrahedron's corner", [&](ElasticData& d) {
    tets[0][3] = ~0U;
    d.tets = tets;
  });
  damaged("tetrahedra that are all one", [&](ElasticData& d) {
    std::fill(tets.begin(), tets.end(), good.tets[0]);
    d.tets = tets;
  });
  damaged("tetrahedra without corners", [&](ElasticData& d) {
    std::fill(tets.begin(), tets.end(), Tet{0, 0, 0, 0});
    d.tets = tets;
  });
  damaged("no tetrahedra", [](ElasticData& d) { d.tets = {}; });
  damaged("nodes that are all in one place", [&](ElasticData& d) {
    std::fill(nodes.begin(), nodes.end(), good.nodes[0]);
    d.nodes = nodes;
  });
  damaged("a node beyond everything", [&](ElasticData& d) {
    nodes.assign(good.nodes.begin(), good.nodes.end());
    nodes[3].y = -3e38F;
    d.nodes = nodes;
  });
  damaged("a bound beyond everything", [&](ElasticData& d) {
    spread.assign(good.spread.begin(), good.spread.end());
    spread[0] = 1e6F;
    d.spread = spread;
  });
  damaged("a domain without end", [&](ElasticData& d) {
    domains[0].end = 1000;
    d.domains = domains;
  });
  damaged("a slope that is no number", [&](ElasticData& d) {
    slopes[4] = std::numeric_limits<float>::quiet_NaN();
    d.slopes = slopes;
  });
  damaged("too few slopes", [](ElasticData& d) { d.slopes = d.slopes.first(d.slopes.size() - 1); });
  damaged("a rotation that is no number", [&](ElasticData& d) {
    rotations[4] = std::numeric_limits<float>::infinity();
    d.rotations = rotations;
  });
  damaged("a proxy that is nowhere", [&](ElasticData& d) {
    proxies[1].rest.x = std::numeric_limits<float>::quiet_NaN();
    d.proxies = proxies;
  });
  damaged("a proxy of a node that is not there", [&](ElasticData& d) {
    proxies.assign(good.proxies.begin(), good.proxies.end());
    proxies[1].point.node[0] = ~0U;
    d.proxies = proxies;
  });
  damaged("a vertex of a node that is not there", [&](ElasticData& d) {
    mesh[2].node[1] = ~0U;
    d.mesh = mesh;
  });
  damaged("too few weights", [](ElasticData& d) { d.weight = d.weight.first(3); });
  damaged(
      "too few polynomials", [](ElasticData& d) { d.stvk.coefficients = d.stvk.coefficients.first(8); }, true);
  damaged(
      "polynomials that are no numbers",
      [&](ElasticData& d) {
        coefficients[3] = no_number;
        d.stvk.coefficients = coefficients;
      },
      true);
}

TEST(ElasticAsset, RefusesAnElasticPartWithTheShellOfAnother) {
  const TemporaryFolder folder;
  Part mixed = *held_bar(ElasticLaw::stvk);
  PartSettings few = mixed.settings;
  few.elastic.reset();
  few.shell.points = 1024;
  NoProgress quiet;
  mixed.shell = prepare_part(mixed.mesh, few, quiet).shell;
  const auto path = folder.path() / "mixed.cot";
  write_asset(mixed, path);
  EXPECT_THROW(read_asset(path), Error);
}

}  // namespace
}  // namespace cotouch::this_file
