#include <cotouch/serve/sight.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace cotouch {
namespace {

constexpr std::uint32_t k_nodes = 50'000;            // of a traversal for the picture
constexpr std::size_t k_clearance_lookups = 20'000;  // of a clearance
constexpr std::size_t k_exact_vertices = 12'000;     // of a part, each about a microsecond
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

Sight::Sight(std::shared_ptr<const LoadedScene> scene) : scene_(std::move(scene)), held_(scene_->moving_part()) {
  range_ = static_cast<float>(k_range_share * scene_->size());
  if (held_ == nullptr) return;
  for (const ScenePart& part : scene_->parts) {
    if (part.moving) continue;
    const bool shell_moves = scene_->moving == Moving::shell;
    const Shell& shell = shell_moves ? held_->part->shell : part.part->shell;
    const Field& field = shell_moves ? part.part->field : held_->part->field;
    // Without coherence, so that the points shown are those a traversal needs, not those it could not skip.
    ContactSettings settings;
    settings.coherence = false;
    pairs_.push_back({&part, std::make_unique<NestedContact>(shell, field, settings, WorkBudget::of(k_nodes))});
  }
}

void Sight::look(const Pose& object, bool traversed, StateFrame& frame) {
  const bool shell_moves = scene_->moving == Moving::shell;
  for (Pair& pair : pairs_) {
    const Pose& shell_pose = shell_moves ? object : pair.rest->pose;
    const Pose& field_pose = shell_moves ? pair.rest->pose : object;
    const Shell& shell = (shell_moves ? held_ : pair.rest)->part->shell;
    ContactResult result;
    pair.engine->evaluate(shell_pose, field_pose, scene_->moving, result);
    const Affine to_world(shell_pose);
    const std::span<const Vec3f> positions = shell.data().positions;
    for (const ContactPoint& c : pair.engine->contacts())
      frame.contacts.push_back({to_world(positions[c.point]), -c.distance});
    if (!traversed) continue;
    std::uint32_t level = 0;
    for (const std::uint32_t point : pair.engine->visited_points()) {
      // Points are numbered level by level and visited in that order.
      while (point >= shell.points_to_level(level)) ++level;
      frame.traversed.push_back({to_world(positions[point]), static_cast<float>(level)});
    }
  }
  if (frame.contacts.size() > k_max_contacts_sent)
    std::nth_element(frame.contacts.begin(), frame.contacts.begin() + k_max_contacts_sent, frame.contacts.end(),
                     [](const MarkedPoint& a, const MarkedPoint& b) { return a.mark > b.mark; });
  if (pairs_.size() > 1)
    std::stable_sort(frame.traversed.begin(), frame.traversed.end(),
                     [](const MarkedPoint& a, const MarkedPoint& b) { return a.mark < b.mark; });
  frame.clearance = clearance(object);
}

float Sight::clearance(const Pose& object) {
  if (held_ == nullptr) return std::numeric_limits<float>::quiet_NaN();
  float best = std::numeric_limits<float>::infinity();
  for (const Pair& pair : pairs_) {
    const bool shell_moves = scene_->moving == Moving::shell;
    const Pose shell_in_field = shell_moves ? inverse(pair.rest->pose) * object : inverse(object) * pair.rest->pose;
    best = std::min(best, pair_clearance(pair, shell_in_field, best));
  }
  return best;
}

// Level by level, a node goes on only while something below it could beat the best so far.
float Sight::pair_clearance(const Pair& pair, const Pose& shell_in_field, float best) {
  const bool shell_moves = scene_->moving == Moving::shell;
  const ScenePart& field_part = *(shell_moves ? pair.rest : held_);
  const Shell& shell = (shell_moves ? held_ : pair.rest)->part->shell;
  const Field& field = field_part.part->field;
  const ShellNode* const nodes = shell.data().nodes.data();
  const Affine to_field(shell_in_field);
  // Beyond the band the field only bounds the distance from below.
  const float exact_below = field.band() - 2 * field.spacing();

  std::size_t lookups = 0;
  const auto measure = [&](std::uint32_t node) {
    ++lookups;
    const Vec3f p = to_field(nodes[node].position);
    const float bound = field.distance(p);
    if (bound < exact_below) {
      best = std::min(best, bound);
    } else if (bound < best) {
      const ClosestHit hit = field_part.closest->closest(Vec3d(p), static_cast<double>(best));
      if (hit) best = std::min(best, static_cast<float>(std::sqrt(hit.distance_squared)));
    }
    return bound;
  };

  open_.clear();
  for (std::uint32_t i = 0; i < shell.points_to_level(0); ++i) open_.push_back({i, measure(i)});
  for (std::uint32_t level = 0; level + 1 < shell.levels() && lookups < k_clearance_lookups; ++level) {
    // The most promising first, so that the best falls early and rules out the rest.
    std::sort(open_.begin(), open_.end(), [](const Candidate& a, const Candidate& b) {
      return a.bound != b.bound ? a.bound < b.bound : a.node < b.node;
    });
    next_.clear();
    for (const Candidate& c : open_) {
      if (c.bound - nodes[c.node].radius >= best) continue;
      const std::uint32_t child = nodes[c.node].first_child, end = nodes[c.node + 1].first_child;
      next_.push_back({child, c.bound});  // its own copy
      for (std::uint32_t i = child + 1; i < end; ++i) next_.push_back({i, measure(i)});
      if (lookups >= k_clearance_lookups) break;
    }
    std::swap(open_, next_);
  }
  return best;
}

bool Sight::nearness(const Pose& object, const ScenePart& part, std::vector<std::uint8_t>& values) const {
  if (pairs_.empty()) return false;
  const std::vector<Vec3d>& vertices = part.picture->vertices;
  values.assign(vertices.size(), 255);
  const float scale = 255 / range_;
  std::vector<std::pair<std::uint32_t, float>> beyond;
  const auto measure = [&](const ScenePart& other, const Pose& vertex_to_field) {
    const Field& field = other.part->field;
    const float exact_below = field.band() - 2 * field.spacing();
    const Affine map(vertex_to_field);
    beyond.clear();
    const auto put = [&](std::size_t vertex, float distance) {
      const float value = std::clamp(distance * scale, 0.0F, 255.0F);
      values[vertex] = std::min(values[vertex], static_cast<std::uint8_t>(value));
    };
    for (std::size_t i = 0; i < vertices.size(); ++i) {
      const float distance = field.distance(map(Vec3f(vertices[i])));
      if (distance < exact_below)
        put(i, distance);
      else if (distance < range_)
        beyond.emplace_back(static_cast<std::uint32_t>(i), distance);
    }
    // Beyond the band the field only bounds the distance, which shows as blocks; triangles tell, where they are few.
    const bool exact = beyond.size() <= k_exact_vertices;
    for (const auto& [vertex, bound] : beyond) {
      if (!exact) {
        put(vertex, bound);
        continue;
      }
      const ClosestHit hit = other.closest->closest(Vec3d(map(Vec3f(vertices[vertex]))), static_cast<double>(range_));
      if (hit) put(vertex, static_cast<float>(std::sqrt(hit.distance_squared)));
    }
  };
  if (part.moving) {
    for (const Pair& pair : pairs_) measure(*pair.rest, inverse(pair.rest->pose) * object);
  } else {
    measure(*held_, inverse(object) * part.pose);
  }
  return true;
}

}  // namespace cotouch
