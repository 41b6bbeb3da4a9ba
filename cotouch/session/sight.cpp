#include <cotouch/session/sight.h>

#include <cotouch/base/invariant.h>
#include <cotouch/session/world_view.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace cotouch {
namespace {

constexpr std::uint32_t k_nodes = 50'000;            // of a traversal for the picture
constexpr std::size_t k_clearance_lookups = 20'000;  // of a clearance
constexpr std::size_t k_clearance_pairs = 24;        // looked at for one clearance
constexpr std::size_t k_exact_vertices = 12'000;     // of all parts together, each about a microsecond
constexpr double k_range_share = 0.1;                // of the scene's size

struct Affine {
  float m[9];
  Vec3f t;

  explicit Affine(const Pose& pose) : t(pose.position) {
    const Mat3 r = rotation_matrix(pose.rotation);
    for (std::size_t i = 0; i < 9; ++i) m[i] = static_cast<float>(r.m[i]);
  }
  Vec3f operator()(const Vec3f& p) const {
    return {m[0] * p.x + m[1] * p.y + m[2] * p.z + t.x, m[3] * p.x + m[4] * p.y + m[5] * p.z + t.y,
            m[6] * p.x + m[7] * p.y + m[8] * p.z + t.z};
  }
};

}  // namespace

Sight::Sight(std::shared_ptr<const ShownScene> scene, std::shared_ptr<const WorldModel> model)
    : scene_(std::move(scene)),
      model_(std::move(model)),
      workspaces_(model_->make_workspaces()),
      range_(static_cast<float>(k_range_share * scene_->scene.size())) {
  bent_.resize(model_->bodies().size());
  for (std::uint32_t i = 0; i < bent_.size(); ++i)
    if (const ElasticModel* const elastic = model_->elastic(i))
      bent_[i].emplace(
          Bent{Deformation(*elastic), DeformedField(*elastic, model_->bodies()[i].pieces[0].part->field), {}});
  for (const BodyModel& body : model_->bodies()) {
    std::vector<const PartPicture*>& pictures = pictures_.emplace_back(body.pieces.size(), nullptr);
    for (const ShownPart& part : scene_->parts)
      if (part.body == body.id && part.index < pictures.size()) pictures[part.index] = part.picture.get();
  }
}

void Sight::bend(const WorldState& state) {
  for (std::uint32_t i = 0; i < bent_.size(); ++i) {
    if (!bent_[i]) continue;
    const auto now = state.bending().subspan(model_->elastic_begin(i), model_->elastic(i)->size());
    if (std::equal(now.begin(), now.end(), bent_[i]->coordinates.begin(), bent_[i]->coordinates.end())) continue;
    bent_[i]->coordinates.assign(now.begin(), now.end());
    bent_[i]->shape.set(now.data());
    bent_[i]->field.set(bent_[i]->shape);
  }
}

BodyState Sight::body_state(const WorldState& state, std::uint32_t body, std::uint32_t piece) {
  BodyState out{pose_of(state, body, piece), state.bodies()[body].clearance};
  if (bent_[body]) {
    out.deformation = &bent_[body]->shape;
    out.deformed_field = &bent_[body]->field;
  }
  return out;
}

PairState Sight::pair_state(const WorldState& state, const PairModel& pair) {
  return {body_state(state, pair.shell_body, pair.shell_piece), body_state(state, pair.field_body, pair.field_piece)};
}

double Sight::gap_of(const WorldState& state, const PairModel& pair) const {
  const PairExtent extent = model_->engine(pair).extent();
  const Pose shell = pose_of(state, pair.shell_body, pair.shell_piece);
  const Pose field = pose_of(state, pair.field_body, pair.field_piece);
  const Vec3d center = transform(inverse(field), transform(shell, extent.center));
  const Vec3d gap = max(max(extent.box.low - center, center - extent.box.high), Vec3d{});
  return norm(gap) - extent.radius - largest_move(pair.shell_body) - largest_move(pair.field_body);
}

Pose Sight::pose_of(const WorldState& state, std::uint32_t body, std::uint32_t piece) const {
  return state.bodies()[body].pose * model_->bodies()[body].pieces[piece].place;
}

const PartPicture& Sight::picture_of(std::uint32_t body, std::uint32_t piece) const {
  return *pictures_[body][piece];
}

ContactView Sight::look(const WorldState& state, bool traversed) {
  const InvariantWatch watch;  // pictures go without; the loop that feels the same says what is broken
  bend(state);
  ContactView view;
  for (std::size_t i = 0; i < model_->pairs().size(); ++i) {
    const PairModel& pair = model_->pairs()[i];
    const bool news = is_news(state, pair.shell_body) || is_news(state, pair.field_body);
    if (!news && !traversed) continue;
    const ContactEngine& engine = model_->engine(pair);
    const PairState placed = pair_state(state, pair);
    if (gap_of(state, pair) > placed.shell.clearance + placed.field.clearance) continue;
    ContactWorkspace& workspace = workspaces_.of(engine);
    PairContact contact;
    // As it is felt; what is not, such as a body that nobody holds, as far as a picture has time for.
    const auto felt = static_cast<std::uint32_t>(state.pairs()[i].level);
    const Detail budgeted = Detail::by_state(WorkBudget::of(k_nodes), ~0U);
    engine.evaluate(placed, felt > 0 ? Detail::at(felt) : budgeted, workspace, nullptr, contact);
    if (news) {
      touching_.resize(contact.stats.in_contact);
      engine.touching(placed, workspace, contact, touching_);
      for (const TouchingPoint& point : touching_)
        view.contacts.push_back({Vec3f(point.at), static_cast<float>(point.depth)});
    }
    if (!traversed) continue;
    visited_.clear();
    engine.visited(placed, workspace, contact, visited_);
    for (const VisitedPoint& point : visited_)
      view.traversed.push_back({Vec3f(point.at), static_cast<float>(point.level)});
  }
  if (view.contacts.size() > k_most_contacts_shown)
    std::nth_element(view.contacts.begin(), view.contacts.begin() + k_most_contacts_shown, view.contacts.end(),
                     [](const MarkedPoint& a, const MarkedPoint& b) { return a.mark > b.mark; });
  std::stable_sort(view.traversed.begin(), view.traversed.end(),
                   [](const MarkedPoint& a, const MarkedPoint& b) { return a.mark < b.mark; });
  view.clearance = clearance(state);
  return view;
}

float Sight::clearance(const WorldState& state) {
  const InvariantWatch watch;
  bend(state);
  bool any_held = false, any_moves = false;
  for (std::uint32_t i = 0; i < state.bodies().size(); ++i) {
    any_held = any_held || is_held(state, i);
    any_moves = any_moves || bent_[i] || state.bodies()[i].motion != static_cast<double>(Motion::fixed);
  }
  if (!any_moves) return std::numeric_limits<float>::quiet_NaN();
  // The nearest pairs first, so that the best falls early and rules out the rest.
  std::vector<std::pair<double, std::uint32_t>> pairs;
  for (std::uint32_t i = 0; i < model_->pairs().size(); ++i) {
    const PairModel& pair = model_->pairs()[i];
    if (any_held && !is_held(state, pair.shell_body) && !is_held(state, pair.field_body)) continue;
    pairs.emplace_back(gap_of(state, pair), i);
  }
  std::sort(pairs.begin(), pairs.end());
  if (pairs.size() > k_clearance_pairs) pairs.resize(k_clearance_pairs);
  float best = std::numeric_limits<float>::infinity();
  for (const auto& [gap, i] : pairs) {
    if (gap >= static_cast<double>(best)) break;
    best = std::min(best, pair_clearance(state, model_->pairs()[i], best));
  }
  return best;
}

float Sight::pair_clearance(const WorldState& state, const PairModel& pair, float best) {
  const PartPicture& picture = picture_of(pair.field_body, pair.field_piece);
  const auto to_triangles = [&](const Vec3f& point, float best_so_far) {
    const ClosestHit hit = picture.closest.closest(Vec3d(point), static_cast<double>(best_so_far));
    return hit ? static_cast<float>(std::sqrt(hit.distance_squared)) : best_so_far;
  };
  return model_->engine(pair).clearance(pair_state(state, pair), {best, k_clearance_lookups, to_triangles});
}

bool Sight::is_news(const WorldState& state, std::size_t body) const {
  return is_held(state, body) || moves_noticeably(*model_, state, body);
}

bool Sight::nearness(const WorldState& state, const ShownPart& part, std::vector<std::uint8_t>& values) {
  const InvariantWatch watch;
  bend(state);
  const auto body = model_->index_of(part.body);
  if (!body) return false;
  std::vector<Vec3d> bent;
  if (bent_[*body]) bent = bent_vertices(*part.picture, bent_[*body]->shape);
  const std::vector<Vec3d>& vertices = bent_[*body] ? bent : part.picture->mesh.vertices;
  values.assign(vertices.size(), 255);
  const float scale = 255 / range_;
  const Pose own = pose_of(state, *body, static_cast<std::uint32_t>(part.index));
  const Box3d bounds = part.picture->mesh.bounds();
  const Vec3d middle = transform(own, bounds.center());
  const double radius = norm(bounds.size()) / 2 + largest_move(*body);
  std::vector<std::pair<std::uint32_t, float>> beyond;
  const auto measure = [&](const PartPicture& other, const DeformedField* bent_field, const Pose& vertex_to_field) {
    const Field& field = other.part->field;
    if (field.data().brick_index.empty()) return;  // prepared for an engine that does without
    const float exact_below = field.band() - 2 * field.spacing();
    const Affine map(vertex_to_field);
    beyond.clear();
    const auto put = [&](std::size_t vertex, float distance) {
      const float value = std::clamp(distance * scale, 0.0F, 255.0F);
      values[vertex] = std::min(values[vertex], static_cast<std::uint8_t>(value));
    };
    for (std::size_t i = 0; i < vertices.size(); ++i) {
      const Vec3f at = map(Vec3f(vertices[i]));
      float distance = 0;
      if (bent_field != nullptr)
        bent_field->distances(&at, 1, DeformedField::k_ask_all, &distance);
      else
        distance = field.distance(at);
      if (distance < exact_below || bent_field != nullptr)
        put(i, distance);
      else if (distance < range_)
        beyond.emplace_back(static_cast<std::uint32_t>(i), distance);
    }
    // Beyond the band the field only bounds the distance, which shows as blocks; triangles tell, if they are few.
    const bool exact = beyond.size() * std::max<std::size_t>(1, scene_->parts.size() / 2) <= k_exact_vertices;
    for (const auto& [vertex, bound] : beyond) {
      if (!exact) {
        put(vertex, bound);
        continue;
      }
      const ClosestHit hit = other.closest.closest(Vec3d(map(Vec3f(vertices[vertex]))), static_cast<double>(range_));
      if (hit) put(vertex, static_cast<float>(std::sqrt(hit.distance_squared)));
    }
  };
  bool touchable = false;
  for (const PairModel& pair : model_->pairs()) {
    const bool is_shell = pair.shell_body == *body && pair.shell_piece == part.index;
    const bool is_field = pair.field_body == *body && pair.field_piece == part.index;
    if (!is_shell && !is_field) continue;
    touchable = true;
    if (!is_news(state, pair.shell_body) && !is_news(state, pair.field_body)) continue;
    const std::uint32_t other = is_shell ? pair.field_body : pair.shell_body;
    const std::uint32_t piece = is_shell ? pair.field_piece : pair.shell_piece;
    const Pose there = pose_of(state, other, piece);
    const PartPicture& picture = picture_of(other, piece);
    const Vec3d center = transform(inverse(there), middle);
    const Box3d box = picture.mesh.bounds();
    if (norm(max(max(box.low - center, center - box.high), Vec3d{})) >
        radius + largest_move(other) + static_cast<double>(range_))
      continue;
    measure(picture, bent_[other] ? &bent_[other]->field : nullptr, inverse(there) * own);
  }
  return touchable;
}

}  // namespace cotouch
