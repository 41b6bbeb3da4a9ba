#include <cotouch/world/model.h>

#include <cotouch/base/error.h>
#include <cotouch/base/hash.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

namespace cotouch {
namespace {

constexpr std::uint32_t k_most_hands = 64;

void require(bool holds, const std::string& sentence) {
  if (!holds) throw Error(sentence);
}

void check_body(const BodyModel& body) {
  const std::string name = "The body '" + body.name + "'";
  require(is_finite(body.start) && is_rotation(body.start.rotation), name + " starts at no pose.");
  require(is_finite(body.start_velocity) && is_finite(body.start_spin), name + " starts with no velocity.");
  require(body.clearance >= 0 && std::isfinite(body.clearance), name + " needs a clearance of zero or more metres.");
  for (const Piece& piece : body.pieces) {
    require(piece.part != nullptr, name + " has a part that was not prepared.");
    require(is_finite(piece.place) && is_rotation(piece.place.rotation), name + " has a part at no pose.");
  }
  if (body.motion == Motion::free)
    require(is_physical(body.mass), name + " is free but has no mass; give it a density or a mass and an inertia.");
  if (body.motion == Motion::path) require(body.path.has_value(), name + " moves along a path but has none.");
}

void check_settings(const WorldSettings& s) {
  require(s.tick >= 1e-5 && s.tick <= 0.1, "A world's tick is from 10 microseconds to 100 ms.");
  require(is_finite(s.gravity) && norm(s.gravity) <= 1000, "Gravity is at most 1000 m/s^2.");
  require(s.linear_drag >= 0 && s.angular_drag >= 0 && s.linear_drag <= 1e6 && s.angular_drag <= 1e6,
          "Drag is zero or more.");
  require(s.friction >= 0 && s.friction <= 10, "Friction is from 0 to 10.");
  require(s.restitution >= 0 && s.restitution <= 1, "Restitution is from 0 to 1.");
  require(s.hands <= k_most_hands, "A world has room for at most 64 hands.");
}

void add_pose(Hasher& hash, const Pose& pose) {
  for (const double v : {pose.position.x, pose.position.y, pose.position.z, pose.rotation.w, pose.rotation.x,
                         pose.rotation.y, pose.rotation.z})
    hash.add(v);
}

void add_vector(Hasher& hash, const Vec3d& v) {
  for (const double x : {v.x, v.y, v.z}) hash.add(x);
}

// Around both. The same twice stays as it is, to the last bit.
PartExtent around(const PartExtent& a, const PartExtent& b) {
  if (a.center == b.center && a.half == b.half) return a;
  const Vec3d low = min(a.center - a.half, b.center - b.half), high = max(a.center + a.half, b.center + b.half);
  return {(low + high) * 0.5, (high - low) * 0.5, std::min(a.finest_feature, b.finest_feature)};
}

// Why a part cannot do what an engine wants of it, as a sentence.
[[noreturn]] void refuse_pair(const EngineKind& kind, const BodyModel& lacks, const BodyModel& other,
                              const std::string& missing) {
  throw Error("The bodies '" + lacks.name + "' and '" + other.name + "' cannot meet: '" + lacks.name + "' " + missing +
              ", which the contact engine '" + std::string(kind.name()) +
              "' needs. Prepare it again, or name another engine for the two.");
}

}  // namespace

WorldModel::WorldModel(std::vector<BodyModel> bodies, const WorldSettings& settings, std::span<const PairRule> rules,
                       std::optional<Task> task)
    : bodies_(std::move(bodies)), settings_(settings), task_(std::move(task)) {
  check_settings(settings_);
  for (const BodyModel& body : bodies_) check_body(body);
  for (std::size_t i = 0; i < bodies_.size(); ++i)
    for (std::size_t j = i + 1; j < bodies_.size(); ++j)
      require(bodies_[i].id != bodies_[j].id, "Two bodies have the number " + std::to_string(bodies_[i].id) + ".");
  if (task_) {
    const auto body = index_of(task_->body);
    require(body && bodies_[*body].motion == Motion::free, "The task is about a body that is not there or not free.");
    require(is_finite(task_->target) && is_rotation(task_->target.rotation), "The task's target is no pose.");
  }
  find_elastic();
  for (std::vector<double>* least : {&finest_cell_, &thinnest_wall_})
    least->assign(bodies_.size(), std::numeric_limits<double>::infinity());
  kinds_.resize(bodies_.size());
  find_pairs(rules);
  find_extents();
  hash_ = compute_hash();
}

void WorldModel::find_extents() {
  std::map<std::pair<const EngineKind*, const Part*>, PartExtent> known;
  const auto extent_of = [&](const EngineKind& kind, const Part& part) {
    const auto [at, is_new] = known.try_emplace({&kind, &part});
    if (is_new) at->second = kind.extent(part);
    return at->second;
  };
  for (std::size_t i = 0; i < bodies_.size(); ++i) {
    if (kinds_[i].empty()) kinds_[i].push_back(&default_engine_kind());  // it meets nothing
    first_extent_.push_back(static_cast<std::uint32_t>(extents_.size()));
    double reach = 0;
    for (const Piece& piece : bodies_[i].pieces) {
      PartExtent extent = extent_of(*kinds_[i].front(), *piece.part);
      for (const EngineKind* kind : kinds_[i]) {
        extent = around(extent, extent_of(*kind, *piece.part));
        reach = std::max(reach, kind->reach(*piece.part, piece.place));
      }
      extents_.push_back(extent);
    }
    reach_.push_back(reach);
  }
}

void WorldModel::find_elastic() {
  for (const BodyModel& body : bodies_) {
    const auto bends = [](const Piece& piece) { return piece.part->elastic != nullptr; };
    const bool any = std::any_of(body.pieces.begin(), body.pieces.end(), bends);
    const std::string name = "The body '" + body.name + "'";
    require(!any || body.pieces.size() == 1, name + " bends, so it must be one part alone.");
    elastic_.push_back(any ? body.pieces[0].part->elastic.get() : nullptr);
    elastic_begin_.push_back(bending_size_);
    if (!any) continue;
    require(can_be_made_elastic(*body.pieces[0].part), name + " bends, so it needs a field and a pointshell's tree.");
    require(body.motion == Motion::free || elastic_.back()->data().anchored,
            name + " bends and nothing holds it: give it an anchor, or let it be free.");
    bending_size_ += 2 * elastic_.back()->size();
  }
}

void WorldModel::find_pairs(std::span<const PairRule> rules) {
  EnginesMade engine_of;
  std::map<std::pair<const EngineKind*, const Part*>, double> walls;
  const auto wall_of = [&](const EngineKind& kind, const Part* part) {
    const auto [at, is_new] = walls.try_emplace({&kind, part}, 0);
    if (is_new) at->second = kind.thinnest_wall(*part, k_thick);
    return at->second;
  };
  const auto rule_of = [&](std::uint32_t a, std::uint32_t b) {
    const auto found = std::ranges::find_if(rules, [&](const PairRule& rule) { return rule.is_about(a, b); });
    return found != rules.end() ? *found : PairRule{};
  };
  const auto size = static_cast<std::uint32_t>(bodies_.size());
  for (std::uint32_t a = 0; a < size; ++a)
    for (std::uint32_t b = a + 1; b < size; ++b) {
      const auto gives_way = [&](std::uint32_t i) {
        return bodies_[i].motion == Motion::free || elastic_[i] != nullptr;
      };
      if (!gives_way(a) && !gives_way(b)) continue;
      const PairRule rule = rule_of(bodies_[a].id, bodies_[b].id);
      if (!rule.touches) continue;
      const EngineKind& kind = rule.engine.empty() ? default_engine_kind() : engine_kind(rule.engine);
      for (std::uint32_t i = 0; i < bodies_[a].pieces.size(); ++i)
        for (std::uint32_t j = 0; j < bodies_[b].pieces.size(); ++j) {
          const Part* const first = bodies_[a].pieces[i].part.get();
          const Part* const second = bodies_[b].pieces[j].part.get();
          const bool first_is_shell = kind.first_is_shell(*first, *second);
          const PairModel pair = first_is_shell ? PairModel{a, i, b, j, 0, 0, 0} : PairModel{b, j, a, i, 0, 0, 0};
          pairs_.push_back(pair);
          pairs_.back().engine = find_engine(kind, pair, engine_of);
          pairs_.back().wall = std::min(wall_of(kind, first), wall_of(kind, second));
          pairs_.back().feature = engines_[pairs_.back().engine]->extent().finest_feature;
          for (const std::uint32_t body : {a, b}) {
            if (std::ranges::find(kinds_[body], &kind) == kinds_[body].end()) kinds_[body].push_back(&kind);
            finest_cell_[body] = std::min(finest_cell_[body], pairs_.back().feature);
            thinnest_wall_[body] = std::min(thinnest_wall_[body], pairs_.back().wall);
          }
        }
    }
}

std::uint32_t WorldModel::find_engine(const EngineKind& kind, const PairModel& pair, EnginesMade& made) {
  const BodyModel &shell = bodies_[pair.shell_body], &field = bodies_[pair.field_body];
  const Part& points = *shell.pieces[pair.shell_piece].part;
  const Part& distances = *field.pieces[pair.field_piece].part;
  const auto [at, is_new] = made.try_emplace({&kind, &points, &distances}, static_cast<std::uint32_t>(engines_.size()));
  if (!is_new) return at->second;
  if (const std::string missing = kind.missing_as_shell(points); !missing.empty())
    refuse_pair(kind, shell, field, missing);
  if (const std::string missing = kind.missing_as_field(distances); !missing.empty())
    refuse_pair(kind, field, shell, missing);
  engines_.push_back(kind.make(points, distances, settings_.contact));
  return at->second;
}

std::vector<const ContactEngine*> WorldModel::largest_engines() const {
  std::vector<const ContactEngine*> largest;
  for (const std::shared_ptr<const ContactEngine>& engine : engines_) {
    const auto known = std::ranges::find(largest, &engine->kind(), [](const ContactEngine* e) { return &e->kind(); });
    if (known == largest.end())
      largest.push_back(engine.get());
    else if (engine->memory_bytes() > (*known)->memory_bytes())
      *known = engine.get();
  }
  return largest;
}

bool WorldModel::may_lack_data() const noexcept {
  return std::ranges::any_of(engines_, [](const auto& engine) { return engine->may_lack_data(); });
}

void WorldModel::check_data_is_there() const {
  for (const PairModel& pair : pairs_) {
    if (!engine(pair).may_lack_data()) continue;
    throw Error("The bodies '" + bodies_[pair.shell_body].name + "' and '" + bodies_[pair.field_body].name +
                    "' cannot meet here: the contact engine '" + std::string(engine(pair).kind().name()) +
                    "' may have to do without some of its data, and a world that is shared, or has more than 64 pairs "
                    "of parts that may touch, needs all of it. Name another engine for the two.",
                ErrorCode::unsupported);
  }
}

Workspaces WorldModel::make_workspaces() const {
  Workspaces workspaces;
  for (const std::shared_ptr<const ContactEngine>& engine : engines_) workspaces.reserve(*engine);
  return workspaces;
}

std::shared_ptr<const WorldModel> WorldModel::with(const WorldSettings& settings) const {
  check_settings(settings);
  auto model = std::make_shared<WorldModel>(*this);
  model->settings_ = settings;
  if (settings.contact.stiffness != settings_.contact.stiffness)
    for (std::shared_ptr<const ContactEngine>& engine : model->engines_) engine = engine->with(settings.contact);
  model->hash_ = model->compute_hash();
  return model;
}

std::optional<std::uint32_t> WorldModel::index_of(std::uint32_t id) const noexcept {
  for (std::uint32_t i = 0; i < bodies_.size(); ++i)
    if (bodies_[i].id == id) return i;
  return std::nullopt;
}

std::uint64_t WorldModel::compute_hash() const {
  Hasher hash;
  std::map<const Part*, std::uint64_t> part_hashes;  // looked up only
  for (const BodyModel& body : bodies_) {
    hash.add(body.id);
    hash.add(static_cast<std::uint32_t>(body.motion));
    hash.add(static_cast<std::uint32_t>(body.holding));
    add_pose(hash, body.start);
    add_vector(hash, body.start_velocity);
    add_vector(hash, body.start_spin);
    hash.add(body.clearance);
    hash.add(body.mass.mass);
    add_vector(hash, body.mass.center);
    for (const double v : body.mass.inertia.m) hash.add(v);
    if (body.path) {
      for (const Pose& key : body.path->keys()) add_pose(hash, key);
      for (const double end : body.path->ends()) hash.add(end);
    }
    for (const Piece& piece : body.pieces) {
      const auto [at, is_new] = part_hashes.try_emplace(piece.part.get(), 0);
      if (is_new) at->second = default_engine_kind().hash(*piece.part);
      hash.add(at->second);
      add_pose(hash, piece.place);
    }
  }
  for (const PairModel& pair : pairs_) {
    for (const std::uint32_t v : {pair.shell_body, pair.shell_piece, pair.field_body, pair.field_piece}) hash.add(v);
    const EngineKind& kind = engine(pair).kind();
    if (&kind == &default_engine_kind()) continue;  // as it was before there were others
    hash.add_bytes(std::as_bytes(std::span(kind.name())));
    hash.add(kind.hash(*bodies_[pair.shell_body].pieces[pair.shell_piece].part));
    hash.add(kind.hash(*bodies_[pair.field_body].pieces[pair.field_piece].part));
  }
  const WorldSettings& s = settings_;
  add_vector(hash, s.gravity);
  for (const double v : {s.tick, s.linear_drag, s.angular_drag, s.friction, s.restitution, s.contact.stiffness,
                         s.coupling.linear_stiffness, s.coupling.angular_stiffness, s.coupling.max_force,
                         s.coupling.max_torque, s.coupling.damping})
    hash.add(v);
  for (const std::uint32_t v : {s.budget.warm, s.budget.cold, s.hands}) hash.add(v);
  if (task_) {
    hash.add(task_->body);
    add_pose(hash, task_->target);
    hash.add(task_->position_tolerance);
    hash.add(task_->angle_tolerance);
  }
  return hash.digest();
}

}  // namespace cotouch
