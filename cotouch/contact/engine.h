// How two parts touch, as all other rooms see it. Several engines stand behind this; docs/engines.md says how to add
// one, and only engines.cpp knows which there are.
//
// An answer is a function of its arguments: the same states and the same detail give the same bits with a cold cache, a
// warm one or none, on any machine. Workspaces and caches are made by the engine and mean nothing to others; both can
// be thrown away at any time.
//
// Of a pair one part brings its points (`shell`), the other its distances (`field`). What a unit of work is (a node of
// a tree, a point, a voxel) is the engine's own; budgets are counted in them, and cost.h measures how long one takes.
#pragma once

#include <cotouch/contact/contact.h>
#include <cotouch/contact/detail.h>
#include <cotouch/contact/elastic_sums.h>
#include <cotouch/part/part.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cotouch {

class EngineKind;

struct ContactSettings {
  double stiffness = 30'000;  // k, newtons per metre of a single point
};

// What is asked of a pair: where its two parts are and how they are shaped.
struct PairState {
  BodyState shell, field;
};

// Memory that evaluations work in. Nothing in it is remembered from one to the next but what the newest one found, so
// one is enough for any number of pairs of a kind that are evaluated one after another (workspaces.h).
class ContactWorkspace {
 public:
  ContactWorkspace() = default;
  virtual ~ContactWorkspace() = default;
  ContactWorkspace(const ContactWorkspace&) = delete;
  ContactWorkspace& operator=(const ContactWorkspace&) = delete;
};

// What an engine remembers of one pair from evaluation to evaluation, to find the same answer sooner.
class ContactCache {
 public:
  ContactCache() = default;
  virtual ~ContactCache() = default;
  ContactCache(const ContactCache&) = delete;
  ContactCache& operator=(const ContactCache&) = delete;

  virtual void clear() noexcept = 0;
  virtual std::size_t memory_bytes() const noexcept = 0;
};

// A point that presses.
struct TouchingPoint {
  std::uint32_t point = 0;  // its number in the shell
  Vec3d at, force;          // world axes; the force on the shell, newtons
  double depth = 0;         // metres
};

// A point that was looked at.
struct VisitedPoint {
  std::uint32_t point = 0;  // its number in the shell
  Vec3d at;                 // world
  std::uint32_t level = 0;
};

// Where a pair may touch at all.
struct PairExtent {
  Vec3d center;               // of a ball around all points of the shell, in its frame
  double radius = 0;          // of that ball, metres
  Box3d box;                  // around the field, in its frame
  double finest_feature = 0;  // of the field, metres: what is smaller cannot be felt
};

// Distances that pictures show (ContactEngine::clearance).
struct ClearanceQuestion {
  float best = 0;                // metres: only less than that is of interest
  std::size_t most_lookups = 0;  // then the answer may be too large by the spacing of the points
  // Where an engine's distances are only bounds: the distance of a point in the field's frame, `best` if it is larger.
  std::function<float(const Vec3f& point, float best)> far_away;
};

// One pair of parts. Immutable, shared between worlds and threads.
class ContactEngine {
 public:
  virtual ~ContactEngine() = default;

  virtual const EngineKind& kind() const noexcept = 0;
  virtual const ContactSettings& settings() const noexcept = 0;
  // The same pair with other settings.
  virtual std::shared_ptr<const ContactEngine> with(const ContactSettings& settings) const = 0;

  // Makes room for evaluations of this pair in a workspace of its kind. Allocates; evaluations do not.
  virtual void reserve(ContactWorkspace& workspace) const = 0;
  std::unique_ptr<ContactWorkspace> make_workspace() const;
  // Null if the engine gains nothing from one.
  virtual std::unique_ptr<ContactCache> make_cache() const = 0;

  // The wrench on both sides and its gradient (contact.h). No allocation, no lock, no exception; work is bounded by
  // count. `cache` may be null; it belongs to this pair. `bending` is filled if a body bends and it is not null; it
  // must have been reset to these sizes once before. Poses that are not finite, or too far apart to touch, give no
  // contact. The clearances of both bodies add up.
  virtual void evaluate(const PairState& state, const Detail& detail, ContactWorkspace& workspace, ContactCache* cache,
                        PairContact& out, ElasticSums* bending = nullptr) const noexcept = 0;

  // A lower bound of the gap between the two: while they move against each other by less than that, nothing touches, on
  // any level. No more than `wanted` is looked for. `most_units` is how much work a step of the search may grow to: few
  // are enough to tell that bodies are far apart. Zero if something touches. From data that is always in memory.
  virtual double gap(const PairState& state, double wanted, std::uint32_t most_units,
                     ContactWorkspace& workspace) const noexcept = 0;

  // Whether there may ever be any of the pieces below. Worlds whose steps follow from the state alone, such as shared
  // ones, refuse such a pair: each machine would do without other pieces.
  virtual bool may_lack_data() const noexcept { return false; }
  // Of such an engine: pieces of its data that are not in memory and that evaluations need at this state, or after the
  // two have moved against each other by `margin` metres: by number in increasing order, as many as there is room for.
  // To ask is to want them there soon. Returns how many there are, which may be more. The caller hands them to
  // evaluate() (Detail::missing), or k_all_pieces if there was no room for them, and evaluate() then does without them,
  // whether they have arrived meanwhile or not. No allocation, no lock. For pictures and statistics, which nobody
  // feels, evaluate() gets no list and takes what is there.
  virtual std::uint32_t find_missing(const PairState&, double /*margin*/, std::span<std::uint32_t>) const noexcept {
    return 0;
  }

  // Of the evaluation that filled `workspace` and `contact`: the points that press, in the order in which they were
  // summed. There is room for contact.stats.in_contact.
  virtual void touching(const PairState& state, const ContactWorkspace& workspace, const PairContact& contact,
                        std::span<TouchingPoint> points) const noexcept = 0;
  // All points that it looked at, level by level. For pictures; allocates.
  virtual void visited(const PairState& state, const ContactWorkspace& workspace, const PairContact& contact,
                       std::vector<VisitedPoint>& points) const = 0;
  // The smallest distance between the two, for pictures; allocates. `question.best` if none is smaller.
  virtual float clearance(const PairState& state, const ClearanceQuestion& question) const = 0;

  virtual PairExtent extent() const noexcept = 0;
  virtual std::uint32_t levels() const noexcept = 0;
  virtual std::uint32_t points_to_level(std::uint32_t level) const noexcept = 0;  // of levels 0..level
  // The most that this pair's contact can be, N/m (contact.h).
  virtual double largest_stiffness() const noexcept = 0;
  virtual std::size_t memory_bytes() const noexcept = 0;  // of the data that it evaluates
  // Whether the other one evaluates the same data, so that what was measured on one holds for the other.
  virtual bool has_data_of(const ContactEngine& other) const noexcept = 0;
};

// What an engine makes of one part, whatever that meets.
struct PartExtent {
  Vec3d center, half;         // of a box around all that may touch, in the part's frame
  double finest_feature = 0;  // metres; of what it is as a field
};

// A kind of engine: which there are, what they need, and how one is made for a pair.
class EngineKind {
 public:
  virtual ~EngineKind() = default;

  virtual std::string_view name() const noexcept = 0;     // as scenes say it
  virtual std::string_view summary() const noexcept = 0;  // one line for users

  // What is missing in a part for this kind to touch with its points, or to be touched; empty if nothing is. Part of a
  // sentence: "has no distance field".
  virtual std::string missing_as_shell(const Part& part) const = 0;
  virtual std::string missing_as_field(const Part& part) const = 0;
  // Of two parts, does the first bring its points?
  virtual bool first_is_shell(const Part& first, const Part& second) const = 0;

  virtual PartExtent extent(const Part& part) const = 0;
  // Around the origin of what the part is put into at `place`: nothing of it that may touch is farther, metres.
  virtual double reach(const Part& part, const Pose& place) const = 0;
  // Straight through the part at its thinnest, metres, at most `most`: what decides how far it may move between two
  // looks at a contact. Takes some milliseconds.
  virtual double thinnest_wall(const Part& part, double most) const = 0;
  // Of all data that contact depends on.
  virtual std::uint64_t hash(const Part& part) const = 0;

  // Throws Error if something is missing or a setting makes no sense. Keeps its own references to the parts' data.
  virtual std::shared_ptr<const ContactEngine> make(const Part& shell, const Part& field,
                                                    const ContactSettings& settings) const = 0;
  virtual std::unique_ptr<ContactWorkspace> make_workspace() const = 0;
};

// All kinds; the first is what a pair gets if a scene says nothing.
std::span<const EngineKind* const> engine_kinds() noexcept;
const EngineKind& default_engine_kind() noexcept;
// Throws Error with the names there are.
const EngineKind& engine_kind(std::string_view name);
// For programs that bring an engine of their own: before any scene is opened, from one thread. The kind must outlive
// all use of it. Throws Error if its name is taken.
void add_engine_kind(const EngineKind& kind);

inline std::unique_ptr<ContactWorkspace> ContactEngine::make_workspace() const {
  std::unique_ptr<ContactWorkspace> workspace = kind().make_workspace();
  reserve(*workspace);
  return workspace;
}

}  // namespace cotouch
