// Bodies that bend, as pages get them.
#include <cotouch/base/trig.h>
#include <cotouch/elastic/deformation.h>
#include <cotouch/serve/elastic_basis.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "serve/serve_fixture.h"
#include "session/elastic_scene.h"
#include "support/temporary_folder.h"

namespace cotouch::this_file {
namespace {

using namespace testing_serve;
using testing_session::bar_and_ball;

// What a page makes of a basis; laid out by hand from docs/viewer-protocol.md.
struct Basis {
  explicit Basis(const std::string& bytes) : bytes_(bytes) {
    EXPECT_EQ(bytes.substr(0, 4), "CTE1");
    law = number_at<std::uint32_t>(bytes, 4);
    r = number_at<std::uint32_t>(bytes, 8);
    nodes = number_at<std::uint32_t>(bytes, 12);
    vertices = number_at<std::uint32_t>(bytes, 16);
    EXPECT_EQ(bytes.size(), 20 + 4 * r + 4 * r * r + nodes * (12 + 48 * r) + 32 * vertices);
  }
  double value(std::size_t index) const { return static_cast<double>(number_at<float>(bytes_, 20 + 4 * index)); }
  double frequency(std::size_t j) const { return value(j); }
  double mode(std::size_t mode, std::size_t j) const { return value(r + mode * r + j); }
  double rest(std::size_t node, std::size_t k) const { return value(begin() + 3 * node + k); }
  double shape(std::size_t node, std::size_t k, std::size_t j) const {
    return value(begin() + 3 * nodes + (3 * node + k) * r + j);
  }
  double gradient(std::size_t node, std::size_t k, std::size_t j) const {
    return value(begin() + (3 + 3 * r) * nodes + (9 * node + k) * r + j);
  }
  std::uint32_t node_of(std::size_t vertex, std::size_t k) const {
    return number_at<std::uint32_t>(bytes_, 20 + 4 * (begin() + (3 + 12 * r) * nodes + 4 * vertex + k));
  }
  double weight(std::size_t vertex, std::size_t k) const {
    return value(begin() + (3 + 12 * r) * nodes + 4 * (vertices + vertex) + k);
  }

  std::size_t law = 0, r = 0, nodes = 0, vertices = 0;

 private:
  std::size_t begin() const { return r + r * r; }  // of what belongs to nodes
  std::string bytes_;
};

TEST(ElasticBasis, GivesThePlacesThatTheServerHas) {
  for (const ElasticLaw law : elastic_test::k_laws) {
    const auto part = elastic_test::held_bar(law);
    const auto picture = make_picture(part);
    const Basis basis(encode_basis(*picture));
    EXPECT_EQ(encode_basis(*picture).size(), basis_bytes(*picture));
    EXPECT_EQ(basis.law, law == ElasticLaw::stvk ? 1U : 0U);
    ASSERT_EQ(basis.r, part->elastic->size());
    ASSERT_EQ(basis.vertices, picture->mesh.vertices.size());
    EXPECT_LE(basis.nodes, part->elastic->data().nodes.size());

    std::vector<double> q(basis.r);
    for (std::size_t j = 0; j < basis.r; ++j) q[j] = (j % 2 == 0 ? 0.01 : -0.005) / static_cast<double>(j + 1);
    Deformation shape(*part->elastic);
    shape.set(q.data());
    for (std::size_t i = 0; i < basis.vertices; i += 7) {
      Vec3d at, moved, turn;
      for (std::size_t k = 0; k < 4; ++k) {
        const std::size_t node = basis.node_of(i, k);
        ASSERT_LT(node, basis.nodes);
        const double weight = basis.weight(i, k);
        for (std::size_t c = 0; c < 3; ++c) {
          at[c] += weight * basis.rest(node, c);
          for (std::size_t j = 0; j < basis.r; ++j) {
            moved[c] += weight * basis.shape(node, c, j) * q[j];
            // Half the curl: du_(c+2)/dX_(c+1) - du_(c+1)/dX_(c+2).
            const std::size_t a = (c + 1) % 3, b = (c + 2) % 3;
            turn[c] += weight * (basis.gradient(node, 3 * b + a, j) - basis.gradient(node, 3 * a + b, j)) / 2 * q[j];
          }
        }
      }
      EXPECT_LT(norm(at - picture->mesh.vertices[i]), 1e-6);
      const Deformation::Linear linear = shape.linear_at(picture->embedding[i]);
      EXPECT_LT(norm(moved - linear.displacement), 1e-6);
      EXPECT_LT(norm(turn - linear.rotation), 1e-4);
    }
  }
}

TEST(ElasticBasis, TellsModesAndTheirFrequencies) {
  constexpr double k_four_pi_squared = 4 * k_pi * k_pi;
  const auto warped = elastic_test::held_bar(ElasticLaw::warped);
  const Basis basis(encode_basis(*make_picture(warped)));
  for (std::size_t j = 0; j < basis.r; ++j) {
    const double omega_squared = warped->elastic->data().stiffness[j];  // ascending
    EXPECT_NEAR(basis.frequency(j) * basis.frequency(j) * k_four_pi_squared, omega_squared, 1e-5 * omega_squared);
    EXPECT_NEAR(std::fabs(basis.mode(j, j)), 1, 1e-6);
  }
  // The coordinates of the other law are no modes, but of a bar's first two it has to know.
  const auto stvk = elastic_test::held_bar(ElasticLaw::stvk);
  const Basis other(encode_basis(*make_picture(stvk)));
  for (std::size_t j = 0; j < 2; ++j) {
    EXPECT_NEAR(other.frequency(j), basis.frequency(j), 0.01 * basis.frequency(j));
    // The energy of a small step along a mode is omega^2 / 2 times its square.
    std::vector<double> q(other.r), force(other.r), tangent(packed_size(other.r));
    for (std::size_t k = 0; k < other.r; ++k) q[k] = 1e-6 * other.mode(j, k);
    const double omega_squared = other.frequency(j) * other.frequency(j) * k_four_pi_squared;
    EXPECT_NEAR(stvk->elastic->internal(q, force, tangent), 0.5e-12 * omega_squared, 1e-3 * 0.5e-12 * omega_squared);
  }
}

class ElasticPage : public ::testing::Test {
 protected:
  ElasticPage() {
    ServerSettings settings;
    server_ = std::make_unique<HttpServer>(settings);
    SessionSettings session;
    session.recordings = folder_ / "recordings";
    session_ = std::make_unique<Session>(session, library_);
    host_ = std::make_unique<PageHost>(PageHostSettings{"test", 256U << 20, {}, {}}, *session_, *server_, links_);
    const ParticipantId who = session_->join(ParticipantKind::program, "test");
    session_->start();
    session_->command_and_wait(who, ShowScene{bar_and_ball()});
    session_->leave(who);
    server_->start(*host_, *host_, links_);
    eventually([&] { return scene().at("name") == "bar"; });
  }
  ~ElasticPage() override {
    server_->stop();
    session_->stop();
  }
  Answer get(const std::string& target) { return testing_serve::get_in(server_->port(), "/api/" + target); }
  Json scene() { return Json::parse(get("scene").body); }

  TemporaryFolder folder_;
  TestLibrary library_{folder_ / "scenes"};
  LinkBook links_{k_token};
  std::unique_ptr<HttpServer> server_;
  std::unique_ptr<Session> session_;
  std::unique_ptr<PageHost> host_;
};

TEST_F(ElasticPage, TheSceneTellsWhatBendsAndThatItCanBeHeld) {
  const Json now = scene();
  const Json& elastic = now.at("parts").at(0).at("elastic");
  EXPECT_EQ(elastic.at("law"), "stvk");
  EXPECT_EQ(elastic.at("coordinates"), 15);
  EXPECT_GT(elastic.at("tets"), 100);
  EXPECT_EQ(elastic.at("anchored"), true);
  EXPECT_EQ(elastic.at("material"), "rubber");
  EXPECT_EQ(elastic.at("young"), material_named("rubber").young);
  EXPECT_EQ(elastic.at("poisson"), material_named("rubber").poisson);
  ASSERT_EQ(elastic.at("anchors").size(), 1U);
  EXPECT_EQ(parse_anchor(elastic.at("anchors").at(0).get<std::string>()),
            elastic_test::held_bar(ElasticLaw::stvk)->settings.elastic.value().anchors.at(0));
  // A body that bends weighs by its material.
  EXPECT_EQ(now.at("bodies").at(0).at("density"), material_named("rubber").density);
  EXPECT_FALSE(now.at("parts").at(1).contains("elastic"));
  EXPECT_EQ(now.at("bodies").at(0).at("motion"), "fixed");
  EXPECT_EQ(now.at("bodies").at(0).at("graspable"), true);
}

TEST_F(ElasticPage, ABasisIsAskedForLikeAMesh) {
  const std::string generation = std::to_string(scene().at("generation").get<int>());
  const Answer basis = get("elastic/1?scene=" + generation);
  ASSERT_EQ(basis.status, 200U);
  const Basis read(basis.body);
  EXPECT_EQ(read.vertices, number_at<std::uint32_t>(get("mesh/1?scene=" + generation).body, 4));
  EXPECT_EQ(get("elastic/1?scene=" + generation).body, basis.body);  // kept
  EXPECT_EQ(get("elastic/2?scene=" + generation).status, 404U);      // rigid
  EXPECT_EQ(get("elastic/3?scene=" + generation).status, 404U);
  EXPECT_EQ(get("elastic/1?scene=999").status, 409U);
  EXPECT_EQ(get("elastic/1").status, 400U);
  EXPECT_EQ(get("elastic/x?scene=" + generation).status, 400U);
  EXPECT_EQ(testing_serve::get(server_->port(), "/api/elastic/1?scene=" + generation).status, 401U);
}

// The size of the bar's coordinates in a frame.
double bending_in(const std::string& frame) {
  const auto bent = first_entry<wire::BendingEntry>(frame, wire::SectionType::bending);
  EXPECT_EQ(bent.body, 1U);
  EXPECT_EQ(bent.count, 15U);
  const Section coordinates = section_of(frame, wire::SectionType::coordinates);
  EXPECT_EQ(coordinates.count, 15U);
  double sum = 0;
  for (std::size_t j = 0; j < coordinates.count; ++j) {
    const auto q = static_cast<double>(number_at<float>(frame, coordinates.at + 4 * j));
    sum += q * q;
  }
  return std::sqrt(sum);
}

TEST_F(ElasticPage, AHandBendsABodyThatIsFixedAndFramesAndRecordingsSayHow) {
  Page page(server_->port());
  page.read_text("recordings");
  page.send({{"type", "grasp"}, {"body", 1}, {"point", {0.095, 0, 0.01}}});
  ASSERT_EQ(page.read_text("hand").at("state"), "granted");
  page.send({{"type", "record_start"}});
  const auto generation = scene().at("generation").get<std::uint32_t>();
  std::uint32_t sequence = 0;
  // A bar of 0.1 kg whose end moves by centimetres: their root mean square times the root of its mass.
  constexpr double k_bent = 1e-3;
  page.read_state([&](const std::string& frame) {
    page.send_binary(hand_input(++sequence, generation, {0.095, 0, 0.04}));
    return bending_in(frame) > k_bent && (body_of(frame).flags & wire::k_body_flag_held) != 0 &&
           hand_of(frame).grip.position.z > 0.02;
  });
  page.send({{"type", "record_stop"}});
  while (page.read_text("recording").at("active") != false) {
  }
  const std::string id = page.read_text("recordings").at("recordings").at(0).at("id");
  const std::string frames = get("recording/" + id + ".frames").body;
  ASSERT_EQ(frames.substr(0, 4), "CTR1");
  double most = 0;
  for (std::size_t at = 16; at < frames.size(); at += number_at<std::uint32_t>(frames, at + 4))
    most = std::max(most, bending_in(frames.substr(at, number_at<std::uint32_t>(frames, at + 4))));
  EXPECT_GT(most, k_bent);
}

}  // namespace
}  // namespace cotouch::this_file
