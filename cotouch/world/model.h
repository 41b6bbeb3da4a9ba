// A world that does not change: bodies, what they are made of, what may touch what, and the numbers that a step depends
// on. Immutable and shared; its hash names the scene for peers and recordings.
#pragma once

#include <cotouch/contact/engine.h>
#include <cotouch/contact/workspaces.h>
#include <cotouch/mesh/mass.h>
#include <cotouch/part/part.h>
#include <cotouch/world/coupling.h>
#include <cotouch/world/hand_path.h>
#include <cotouch/world/task.h>

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <vector>

namespace cotouch {

enum class Motion : std::uint8_t {
  fixed,
  path,  // along key poses, whatever it meets
  free,  // by its mass and the forces on it; hands may grasp it
};

// How a body in a hand moves.
enum class Holding : std::uint8_t {
  quasi_static,  // to the pose where contact and grasps balance, without inertia: light and calm in the hand
  dynamic,       // with its mass
};

// A part as it sits in a body.
struct Piece {
  std::shared_ptr<const Part> part;
  Pose place;  // in the body's frame
};

struct BodyModel {
  std::uint32_t id = 0;  // for users: stays the same while bodies come and go
  std::string name;
  Motion motion = Motion::fixed;
  Holding holding = Holding::quasi_static;
  std::vector<Piece> pieces;
  Pose start;
  Vec3d start_velocity, start_spin;  // of the centre of mass, world axes
  MassProperties mass;               // in the body's frame; matters for free bodies
  std::optional<HandPath> path;      // of bodies that move along one, over and over
  double clearance = 0;              // metres that others keep from it
};

struct WorldSettings {
  double tick = 1e-3;         // seconds a step takes
  Vec3d gravity;              // m/s^2
  double linear_drag = 0.2;   // 1/s: what air and oil take from a free body's velocity
  double angular_drag = 0.2;  // 1/s
  double friction = 0.3;      // Coulomb's coefficient between bodies
  double restitution = 0.3;   // share of the speed with which bodies part after they collide, 0 to 1
  ContactSettings contact;
  WorkBudget budget;  // nodes for each pair of parts in a shared world: part of the scene, never of the machine
  CouplingSettings coupling;
  std::uint32_t hands = 4;  // that may take part
};

// What is said of two bodies, by their ids, in any order.
struct PairRule {
  std::uint32_t a = 0, b = 0;
  bool touches = true;
  std::string engine = {};  // a name of engine_kinds(); empty: the default

  bool is_about(std::uint32_t one, std::uint32_t other) const noexcept {
    return (a == one && b == other) || (a == other && b == one);
  }
  friend bool operator==(const PairRule&, const PairRule&) = default;
};

// Two pieces that may touch: which brings its shell and which its field.
struct PairModel {
  std::uint32_t shell_body, shell_piece, field_body, field_piece;
  std::uint32_t engine;
  double wall;     // metres: the thinnest of the two pieces, as far as steps care
  double feature;  // metres: the finest that can be felt of it
};

constexpr double k_thick = 0.02;  // metres: what is thicker is no different

class WorldModel {
 public:
  // The first rule about a pair of bodies holds. Which of two pieces brings its shell is the engine's to say.
  // Throws Error if ids repeat, a free body has no mass, two parts cannot meet or a number makes no sense.
  WorldModel(std::vector<BodyModel> bodies, const WorldSettings& settings, std::span<const PairRule> rules = {},
             std::optional<Task> task = {});

  // The same bodies with other numbers; cheap unless the contact stiffness differs.
  std::shared_ptr<const WorldModel> with(const WorldSettings& settings) const;

  const std::vector<BodyModel>& bodies() const noexcept { return bodies_; }
  const std::vector<PairModel>& pairs() const noexcept { return pairs_; }
  const ContactEngine& engine(const PairModel& pair) const noexcept { return *engines_[pair.engine]; }
  const WorldSettings& settings() const noexcept { return settings_; }
  const std::optional<Task>& task() const noexcept { return task_; }
  std::size_t engine_count() const noexcept { return engines_.size(); }

  // Where a body stands in bodies(); nothing if there is none with this id.
  std::optional<std::uint32_t> index_of(std::uint32_t id) const noexcept;
  // Around a body's position, metres: no point of its shells or fields is farther.
  double reach(std::uint32_t body) const noexcept { return reach_[body]; }
  // Around a piece, in its part's frame: nothing of it that may touch is outside.
  const PartExtent& extent(std::uint32_t body, std::uint32_t piece) const noexcept {
    return extents_[first_extent_[body] + piece];
  }
  // How a body bends: null if it is rigid. Its coordinates begin at elastic_begin() in WorldState::bending().
  const ElasticModel* elastic(std::uint32_t body) const noexcept { return elastic_[body]; }
  std::uint32_t elastic_begin(std::uint32_t body) const noexcept { return elastic_begin_[body]; }
  std::uint32_t bending_size() const noexcept { return bending_size_; }  // coordinates and their rates, of all bodies
  // Is a hand tied to one of its points, or to the body as a whole?
  bool is_held_at_a_point(std::uint32_t body) const noexcept {
    return elastic_[body] != nullptr && (bodies_[body].motion != Motion::free || !elastic_[body]->data().anchored);
  }
  // The finest cell and the thinnest wall of anything that a body meets, metres; infinite if it meets nothing.
  double finest_cell(std::uint32_t body) const noexcept { return finest_cell_[body]; }
  double thinnest_wall(std::uint32_t body) const noexcept { return thinnest_wall_[body]; }
  // Whether steps must remember what data was missing (ContactEngine::may_lack_data).
  bool may_lack_data() const noexcept;
  // For worlds that are stepped by state (StepDetail), where nothing remembers that: throws Error with the names of two
  // bodies whose engine may lack data.
  void check_data_is_there() const;
  // Of each kind of engine in use the pair with most data, which fits the processor's caches worst.
  std::vector<const ContactEngine*> largest_engines() const;
  // Room for all pairs, evaluated one after another.
  Workspaces make_workspaces() const;

  // Tells two worlds apart whose steps may differ.
  std::uint64_t hash() const noexcept { return hash_; }

 private:
  void find_extents();
  void find_elastic();
  void find_pairs(std::span<const PairRule> rules);
  using EnginesMade = std::map<std::tuple<const EngineKind*, const Part*, const Part*>, std::uint32_t>;
  std::uint32_t find_engine(const EngineKind& kind, const PairModel& pair, EnginesMade& made);
  std::uint64_t compute_hash() const;

  std::vector<BodyModel> bodies_;
  WorldSettings settings_;
  std::optional<Task> task_;
  std::vector<PairModel> pairs_;
  // One for each pair of parts and kind, however many bodies have them.
  std::vector<std::shared_ptr<const ContactEngine>> engines_;
  std::vector<std::vector<const EngineKind*>> kinds_;  // of each body's pairs; the default for what meets nothing
  std::vector<double> reach_, finest_cell_, thinnest_wall_;
  std::vector<PartExtent> extents_;           // of all pieces, body by body
  std::vector<std::uint32_t> first_extent_;   // of each body
  std::vector<const ElasticModel*> elastic_;  // of each body, owned by its part
  std::vector<std::uint32_t> elastic_begin_;
  std::uint32_t bending_size_ = 0;
  std::uint64_t hash_ = 0;
};

}  // namespace cotouch
