#include <cotouch/world/model.h>

#include <cotouch/contact/wall.h>

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

constexpr double k_thickened = 2;  // cells by which a field may be fatter than the mesh, if that is open

double spacing_of(const Part& part) {
  return part.shell_quality.levels.empty() ? 0 : part.shell_quality.levels.back().mean_spacing;
}

// Of two parts the one with more points, unless it is so large that they lie more than twice as far apart: small things
// would fall between the points of a large table.
bool brings_shell(const Part& first, const Part& second) {
  if ((first.elastic != nullptr) != (second.elastic != nullptr)) return first.elastic != nullptr;
  const double a = spacing_of(first), b = spacing_of(second);
  const bool more = first.shell.point_count() >= second.shell.point_count();
  if (a > 0 && b > 0 && more && a > 2 * b) return false;
  if (a > 0 && b > 0 && !more && b > 2 * a) return true;
  return more;
}

void add_pose(Hasher& hash, const Pose& pose) {
  for (const double v : {pose.position.x, pose.position.y, pose.position.z, pose.rotation.w, pose.rotation.x,
                         pose.rotation.y, pose.rotation.z})
    hash.add(v);
}

void add_vector(Hasher& hash, const Vec3d& v) {
  for (const double x : {v.x, v.y, v.z}) hash.add(x);
}

std::uint64_t part_hash(const Part& part) {
  Hasher hash;
  const FieldData& field = part.field.data();
  hash.add_bytes(std::as_bytes(field.samples));
  hash.add_bytes(std::as_bytes(field.coarse));
  hash.add_bytes(std::as_bytes(field.brick_index));
  for (const float v : {field.spacing, field.origin.x, field.origin.y, field.origin.z}) hash.add(v);
  hash.add_bytes(std::as_bytes(part.shell.data().positions));
  if (part.elastic) hash.add(part.elastic->hash());
  return hash.digest();
}

}  // namespace

WorldModel::WorldModel(std::vector<BodyModel> bodies, const WorldSettings& settings,
                       std::span<const std::pair<std::uint32_t, std::uint32_t>> excluded, std::optional<Task> task)
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
  for (const BodyModel& body : bodies_) {
    double reach = 0;
    for (const Piece& piece : body.pieces) {
      const Box3f box = piece.part->field.box();
      for (int corner = 0; corner < 8; ++corner) {
        const Vec3d p{static_cast<double>((corner & 1) != 0 ? box.high.x : box.low.x),
                      static_cast<double>((corner & 2) != 0 ? box.high.y : box.low.y),
                      static_cast<double>((corner & 4) != 0 ? box.high.z : box.low.z)};
        reach = std::max(reach, norm(transform(piece.place, p)));
      }
      reach = std::max(reach, norm(piece.place.position) + static_cast<double>(piece.part->shell.reach()));
    }
    reach_.push_back(reach);
  }
  find_boxes();
  find_elastic();
  for (std::vector<double>* least : {&finest_cell_, &thinnest_wall_})
    least->assign(bodies_.size(), std::numeric_limits<double>::infinity());
  find_pairs(excluded);
  hash_ = compute_hash();
}

void WorldModel::find_boxes() {
  std::map<const Part*, PartBox> known;
  for (const BodyModel& body : bodies_) {
    first_box_.push_back(static_cast<std::uint32_t>(boxes_.size()));
    for (const Piece& piece : body.pieces) {
      const auto [at, is_new] = known.try_emplace(piece.part.get());
      if (is_new) {
        Box3d box = piece.part->mesh.bounds();
        for (const Vec3f& point : piece.part->shell.data().positions) box.add(Vec3d(point));
        if (piece.part->mesh.triangles.empty() && !piece.part->field.data().brick_index.empty()) {  // made by hand
          box.add(Vec3d(piece.part->field.box().low));
          box.add(Vec3d(piece.part->field.box().high));
        }
        const double more = k_thickened * static_cast<double>(piece.part->field.spacing());
        at->second = {box.center(), box.size() * 0.5 + Vec3d{more, more, more}};
      }
      boxes_.push_back(at->second);
    }
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
    require(body.motion == Motion::free || elastic_.back()->data().anchored,
            name + " bends and nothing holds it: give it an anchor, or let it be free.");
    bending_size_ += 2 * elastic_.back()->size();
  }
}

void WorldModel::find_pairs(std::span<const std::pair<std::uint32_t, std::uint32_t>> excluded) {
  std::map<std::pair<const Part*, const Part*>, std::uint32_t> engine_of;
  std::map<const Part*, double> walls;
  const auto wall_of = [&](const Part* part) {
    const auto [at, is_new] = walls.try_emplace(part, 0);
    if (is_new) at->second = cotouch::thinnest_wall(part->shell, part->field, k_thick);
    return at->second;
  };
  const auto is_excluded = [&](std::uint32_t a, std::uint32_t b) {
    return std::any_of(excluded.begin(), excluded.end(), [&](const auto& pair) {
      return (pair.first == a && pair.second == b) || (pair.first == b && pair.second == a);
    });
  };
  const auto size = static_cast<std::uint32_t>(bodies_.size());
  for (std::uint32_t a = 0; a < size; ++a)
    for (std::uint32_t b = a + 1; b < size; ++b) {
      const auto gives_way = [&](std::uint32_t i) {
        return bodies_[i].motion == Motion::free || elastic_[i] != nullptr;
      };
      if (!gives_way(a) && !gives_way(b)) continue;
      if (is_excluded(bodies_[a].id, bodies_[b].id)) continue;
      for (std::uint32_t i = 0; i < bodies_[a].pieces.size(); ++i)
        for (std::uint32_t j = 0; j < bodies_[b].pieces.size(); ++j) {
          const Part* first = bodies_[a].pieces[i].part.get();
          const Part* second = bodies_[b].pieces[j].part.get();
          const bool first_is_shell = brings_shell(*first, *second);
          const Part* shell = first_is_shell ? first : second;
          const Part* field = first_is_shell ? second : first;
          const auto [at, is_new] = engine_of.try_emplace({shell, field}, static_cast<std::uint32_t>(engines_.size()));
          if (is_new)
            engines_.push_back(std::make_shared<const NestedContact>(shell->shell, field->field, settings_.contact));
          const double wall = std::min(wall_of(first), wall_of(second));
          pairs_.push_back(first_is_shell ? PairModel{a, i, b, j, at->second, wall}
                                          : PairModel{b, j, a, i, at->second, wall});
          largest_shell_ = std::max(largest_shell_, shell->shell.point_count());
          const auto cell = static_cast<double>(field->field.spacing());
          for (const std::uint32_t body : {a, b}) {
            finest_cell_[body] = std::min(finest_cell_[body], cell);
            thinnest_wall_[body] = std::min(thinnest_wall_[body], wall);
          }
        }
    }
}

std::shared_ptr<const WorldModel> WorldModel::with(const WorldSettings& settings) const {
  check_settings(settings);
  auto model = std::make_shared<WorldModel>(*this);
  model->settings_ = settings;
  if (settings.contact.stiffness != settings_.contact.stiffness)
    for (std::shared_ptr<const NestedContact>& engine : model->engines_)
      engine = std::make_shared<const NestedContact>(engine->shell(), engine->field(), settings.contact);
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
      if (is_new) at->second = part_hash(*piece.part);
      hash.add(at->second);
      add_pose(hash, piece.place);
    }
  }
  for (const PairModel& pair : pairs_)
    for (const std::uint32_t v : {pair.shell_body, pair.shell_piece, pair.field_body, pair.field_piece}) hash.add(v);
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
