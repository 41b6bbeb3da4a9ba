// The inside of a step, shared by its source files.
#pragma once

#include <cotouch/elastic/coarse_shell.h>
#include <cotouch/elastic/deformed_field.h>
#include <cotouch/world/step.h>

#include <algorithm>
#include <array>

namespace cotouch {

// A body during a substep.
struct BodyWork {
  enum class Role : std::uint8_t { still, path, held, free };  // held: quasi-statically
  Role role = Role::still;
  bool in_hand = false;
  std::int32_t bending = -1;  // its place among the bodies that bend; -1: it is rigid
  std::int32_t unknown = -1;  // its place among the free bodies of this substep
  Pose pose;
  Vec3d center;        // of mass, in the world
  Vec6 velocity;       // of the centre; known for all but free bodies
  Mat3 inertia;        // world axes
  ContactSums shared;  // of the contacts that share one potential, about the body's position
  ContactForce force;  // what they mean
  ContactStats stats;
  double clearance = 0;
  double push = 0;             // metres that it may push another within the tick
  double travel = 0;           // metres that any of its points may move within the tick
  double moved = 0;            // metres that any of them has moved at most, so far
  double speed = 0;            // m/s of the fastest of them at the beginning of the next substep
  double bent = 0;             // metres by which any of them is out of its place at rest, when the tick begins
  double bend_speed = 0;       // m/s of the fastest of them against the body's frame
  double mean_bend_speed = 0;  // the same in the mean of the substep, as it is solved
  double gain = 0;             // m/s^2 by which that may grow
  double pull = 0;             // m/s^2 by which gravity and hands may make a free body faster
  bool supported = false;      // something touches it
  // Of a held body:
  double moves_wanted = 0;   // its way towards balance in the longest moves that it may take
  double room = 0;           // metres that it may surely move before it touches anything
  double last_move = 0;      // metres; at the tick's beginning those of a millisecond at its speed
  bool hurries = false;      // that was a long one: it may take several in a millisecond
  std::uint32_t points = 0;  // if it hurries: those that the last look at its contacts looked up
  bool waits = false;        // for the next tick, because another look costs too much

  bool near = false;         // something may be within reach in this tick
  std::uint32_t island = 0;  // during the search for islands: the first body it is known to meet
  Pose next;                 // after this substep; not of free bodies
};

// A body that bends, during a substep.
struct BendingWork {
  explicit BendingWork(const Part& part);

  const ElasticModel* model;
  Deformation shape;
  DeformedField field;
  CoarseShell coarse;
  bool field_is_asked = false;   // by a body that bends, too
  double* q = nullptr;           // in the state; the rates follow
  std::size_t unknown = 0;       // where its coordinates begin among the unknown ones of this substep
  double energy = 0;             // joules, of the material
  std::vector<double> force;     // likewise
  std::vector<double> tangent;   // its derivative, packed
  std::vector<double> block;     // of the system, factorised
  std::vector<double> known_at;  // the coordinates at which force and tangent are known

  std::size_t size() const noexcept { return model->size(); }
  double* rate() const noexcept { return q + model->size(); }
  double fastest(const double* rates) const noexcept { return coarse.fastest(q, rates); }
  void set_shape() noexcept;
  // Once for the same coordinates.
  void find_force() noexcept;
};

// What a link does to the coordinates of its bodies: as Link, continued. Coordinates of its first body come first.
struct BendingLink {
  std::int32_t a = -1, b = -1;                         // among the bodies that bend; -1: rigid
  std::size_t size = 0;                                // coordinates of both
  std::vector<double> force;                           // on them
  std::vector<double> mixed_stiffness, mixed_damping;  // how the wrench depends on them, six rows
  std::vector<double> stiffness, damping;              // of theirs, all rows
  double recovery = 0;                                 // seconds: damping of the stiffness' directions
  std::vector<double> mixed_matrix, matrix;            // as Link::matrix

  explicit BendingLink(std::size_t most_coordinates);
  void reset(std::int32_t first, std::int32_t second, std::size_t coordinates) noexcept;
};

// A pair during the tick. Small, because substeps go through all that may meet.
struct PairWork {
  double free_until = 0;                          // nothing touches while the two have `moved` less than this, together
  double gap_known_at = -1;                       // `moved` of the two, where a close look would find the same again
  double longest_move = 0;                        // metres between two looks at the contact
  double deepest_entry = 0;                       // metres that one may get into the other before that is seen
  bool near = false;                              // is among the candidates
  bool level_chosen = false;                      // in this tick
  bool lacks_everything = false;                  // in this tick: there was no room to note which pieces
  std::uint64_t first_look = 0, later_looks = 0;  // nodes that they visited in this tick
  bool touching = false;
  bool in_use = false;  // its contact holds something
};

// Bodies that may meet each other within the tick, and none of the others that move: they are stepped for themselves,
// in substeps of their own. Ranges of Work::order and Work::candidates.
struct Island {
  std::uint32_t bodies_begin, bodies_end, pairs_begin, pairs_end;
};

// Something that pushes two bodies apart or together, at one point: a contact, its friction, or (with one body) a
// grasp.
struct Link {
  std::int32_t a = -1, b = -1;  // bodies; -1: none
  Vec3d at;                     // world; wrench and matrices are about it
  Wrench wrench;                // on a
  Mat6 stiffness, damping;      // of the relative motion of a against b
  Mat6 recovery;                // damping of a contact in the directions in which it pushes
  Mat6 matrix;                  // h^2 C + h D with both dampings, for this substep
  bool active = true;
  bool may_pull = false;
  std::int32_t bending = -1;  // its place among the bending links; -1: its bodies are rigid
};

struct SymmetricBlock {  // L D L' of a 6 x 6 matrix
  std::array<double, 21> l{};
};

struct StepScratch::Work {
  Workspaces workspaces;
  MissingPieces missing;                              // in this step
  std::uint32_t pairs_looked_at = 0;                  // in this step
  std::vector<std::uint32_t> pieces_of_pair;          // of the pair that is evaluated
  std::vector<CouplingSettings> couplings;            // of each hand in this step
  std::vector<std::unique_ptr<ContactCache>> caches;  // one a pair, null if its engine needs none; or no caches at all
  std::vector<PairWork> pairs;
  std::vector<PairContact> contacts;      // of each pair
  std::vector<std::uint32_t> candidates;  // pairs that may meet within this tick, island by island
  std::vector<std::uint32_t> order;       // bodies that may move, island by island
  std::vector<Island> islands;
  std::vector<double> island_push, island_mass;  // at the island's first body, during the search for islands
  std::vector<BodyWork> bodies;
  std::vector<Link> links;
  std::uint32_t link_count = 0;
  std::vector<BendingWork> bending;
  std::vector<ElasticSums> bending_contacts;  // of each pair; empty if it is rigid
  std::vector<BendingLink> bending_links;     // in the order of `links`, of those that have one
  std::uint32_t bending_link_count = 0;
  std::uint32_t substeps = 0;    // of the island that took most
  std::uint64_t looks_left = 0;  // of the island that is stepped, in this tick, as far as can be told
  // Conjugate gradients: one entry a free body.
  std::vector<std::uint32_t> unknowns;  // bodies
  std::vector<Vec6> change, residual, direction, product, preconditioned;
  std::vector<Mat6> diagonal;
  // The same for coordinates of bodies that bend.
  std::vector<std::uint32_t> bent;  // bodies that bend, of the island that is stepped
  std::size_t coordinates = 0;      // of them
  std::vector<double> bend_change, bend_residual, bend_direction, bend_product, bend_preconditioned;
  std::vector<SymmetricBlock> blocks;
};

// Velocity of a point that moves with something whose twist is `v` at `center`, and the transposed map for wrenches.
inline Vec6 velocity_at(const Vec6& v, const Vec3d& center, const Vec3d& at) {
  return {v.linear + cross(v.angular, at - center), v.angular};
}
inline Vec6 wrench_about(const Vec6& w, const Vec3d& at, const Vec3d& center) {
  return {w.linear, w.angular + cross(at - center, w.linear)};
}

constexpr std::uint32_t k_most_substeps = 128;
constexpr double k_closest_entry = 2e-4;  // metres that one body may always get into another before that is seen
// Metres between two looks at a contact that shall be seen cell by cell. Of a large body whose cells are coarse an end
// may swing into something while the other touches, so there is a limit in metres as well.
inline double shortest_move(double cell) {
  return std::min(0.5 * cell, 4e-4);
}
// The same for any contact. Where a hand feels every newton, and between thin things, as above; else a fraction of what
// it would take to get through.
inline double longest_move(double cell, double wall, bool in_hand) {
  return in_hand ? shortest_move(cell) : std::max(shortest_move(cell), std::min(2 * cell, 0.1 * wall));
}

Pose piece_pose(const WorldModel& model, const StepScratch::Work& work, std::uint32_t body,
                std::uint32_t piece) noexcept;

// step_islands.cpp
void find_islands(const WorldModel& model, StepScratch::Work& work) noexcept;
// step_contact.cpp
// How closely to look: enough to tell what is far, or to come within a fraction of a cell.
constexpr std::uint32_t k_glance = 48, k_close_look = 512;  // nodes of a level
void find_gap(const WorldModel& model, std::uint32_t pair, double wanted, std::uint32_t most_nodes,
              StepScratch::Work& work) noexcept;
void evaluate_contacts(const WorldModel& model, WorldState& state, const StepDetail& detail, const Island& island,
                       bool first, StepScratch::Work& work) noexcept;
void sum_contacts(const WorldModel& model, const Island& island, StepScratch::Work& work) noexcept;
// step_bodies.cpp: how the bodies move.
bool is_held_by(const HandRecord& hand, std::uint32_t body) noexcept;
// Role, place, and how far it may get within the tick.
void begin_body(const WorldModel& model, WorldState& state, std::uint32_t body, StepScratch::Work& work) noexcept;
void place_body(const WorldModel& model, const WorldState& state, std::uint32_t body, StepScratch::Work& work) noexcept;
void follow_path(const WorldModel& model, WorldState& state, std::uint32_t body, double from, double to,
                 StepScratch::Work& work) noexcept;
// Towards the pose where the contacts, as they are linearised here, and the grasps balance: half of the way, and no
// farther than a third of a cell or 0.2 mm into what is near. Sets `next` and `moves_wanted`.
void balance(const WorldModel& model, const WorldState& state, std::uint32_t body, StepScratch::Work& work) noexcept;
// Seconds until its next such move: half of a millisecond if this one was cut short, less if the last one was long too
// and looks cost little. Beside what bends they cost much, and that gives way: a whole millisecond.
double balance_period(const BodyWork& body, bool beside_what_bends) noexcept;
// The velocity of a body that gets to its `next` in `h` seconds.
void set_held_velocity(const WorldModel& model, WorldState& state, std::uint32_t body, double h,
                       StepScratch::Work& work) noexcept;
// Links to the hands that hold an island's bodies with their mass, or at a point.
void add_grasps(const WorldModel& model, const WorldState& state, const Island& island,
                StepScratch::Work& work) noexcept;
void move_body(const WorldModel& model, WorldState& state, std::uint32_t body, double h,
               StepScratch::Work& work) noexcept;
// step_bending.cpp: bodies that bend.
// Finds its coordinates in the state; before anything else asks for its shape.
void place_bending(const WorldModel& model, WorldState& state, std::uint32_t body, StepScratch::Work& work) noexcept;
// How far it may get within the tick.
void begin_bending(const WorldModel& model, std::uint32_t body, StepScratch::Work& work) noexcept;
// Gravity in the frame of a body's only part, and how it pulls at a coordinate.
Vec3d gravity_on(const WorldModel& model, std::uint32_t body, const Pose& pose) noexcept;
double weight_of(const ElasticModel& elastic, const Vec3d& gravity, std::size_t coordinate) noexcept;
// Force and stiffness of the material, for all bent bodies of the island.
void list_bending(const Island& island, StepScratch::Work& work) noexcept;
// Whether any of them turned out to be much faster than it was thought when the substep's length was chosen;
// `bend_speed` is set to that.
bool found_faster(StepScratch::Work& work) noexcept;
void move_bending(const WorldModel& model, std::uint32_t body, double h, StepScratch::Work& work) noexcept;
// The point of its shell that is nearest to a place, as the tree finds it.
std::uint32_t nearest_point(const WorldModel& model, std::uint32_t body, const Pose& piece, const Vec3d& place,
                            Deformation& shape) noexcept;
// What a hand holds: the body, or the point of it that it was tied to; and where the hand would be without a load.
Pose held_part(const WorldModel& model, const WorldState& state, const HandRecord& hand,
               StepScratch::Work& work) noexcept;
Pose held_frame(const WorldModel& model, const WorldState& state, const HandRecord& hand,
                StepScratch::Work& work) noexcept;
// What a contact means for the coordinates of a link's bodies.
void bend_by_contact(const ElasticSums& sums, const ContactSums& rigid, double scale, double total_depth8,
                     BendingLink& link) noexcept;
void bend_by_friction(const ElasticSums& sums, const Mat3& sliding, const Vec3d& arm, BendingLink& link) noexcept;
// How fast the middle of a contact moves because its bodies bend, world axes.
Vec3d carried_velocity(const ElasticSums& sums, const StepScratch::Work& work, const BendingLink& link) noexcept;
// step_solve.cpp
void solve_velocities(const WorldModel& model, double h, StepScratch::Work& work) noexcept;

}  // namespace cotouch
