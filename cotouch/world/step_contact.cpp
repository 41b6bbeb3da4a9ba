// What touches in a substep.
#include <cotouch/world/step_work.h>

#include <algorithm>
#include <cmath>

namespace cotouch {
namespace {

constexpr double k_slip = 2e-4;  // m/s below which friction is viscous

bool is_dynamic(const BodyWork& body) {
  return body.role == BodyWork::Role::free;
}

// Where a contact presses: the point on the axis of its wrench that is nearest to the point the wrench is about.
Vec3d center_of_pressure(const Wrench& wrench) {
  const double square = norm_squared(wrench.force);
  return square > 0 ? cross(wrench.force, wrench.torque) / square : Vec3d{};
}

// Coulomb's friction, viscous below the slip speed, as a damping about the link's point: along the surface at the
// centre of pressure, and about the normal there with the contact's own width as lever.
Mat6 friction_damping(double coefficient, const ContactSums& sums, const Wrench& wrench, const Vec6& relative) {
  const double push = norm(wrench.force);
  if (!(push > 0) || !(coefficient > 0)) return {};
  const Vec3d normal = wrench.force / push, arm = center_of_pressure(wrench);
  const Vec3d velocity = relative.linear + cross(relative.angular, arm);
  const Vec3d slip = velocity - normal * dot(velocity, normal);
  const Mat3 nn = Mat3::outer(normal, normal);
  const Mat6 spread = moved_stiffness(sums.spread, -arm);
  const auto trace = [](const Mat3& m) { return m(0, 0) + m(1, 1) + m(2, 2); };
  const double size = trace(spread.force_linear);
  const double width_squared = size > 0 ? std::max(0.0, trace(spread.torque_angular)) / size : 0;
  const double turning = std::fabs(dot(relative.angular, normal)) * std::sqrt(width_squared);
  const double viscosity = coefficient * push / std::max({norm(slip), turning, k_slip});
  const Mat6 about_arm{(Mat3::identity() - nn) * viscosity, {}, {}, nn * (viscosity * width_squared)};
  return moved_stiffness(about_arm, arm);
}

// Whose potential a contact belongs to: that of the body held quasi-statically, else that of the only free one; -1 if
// both are free, and the pair has its own.
std::int32_t owner_of(const StepScratch::Work& work, const PairModel& pair) {
  const auto a = static_cast<std::int32_t>(pair.shell_body), b = static_cast<std::int32_t>(pair.field_body);
  const BodyWork &shell = work.bodies[pair.shell_body], &field = work.bodies[pair.field_body];
  if (shell.role == BodyWork::Role::held) return a;
  if (field.role == BodyWork::Role::held) return b;
  if (is_dynamic(shell) && is_dynamic(field)) return -1;
  return is_dynamic(shell) ? a : b;
}

}  // namespace

Pose piece_pose(const WorldModel& model, const StepScratch::Work& work, std::uint32_t body,
                std::uint32_t piece) noexcept {
  return work.bodies[body].pose * model.bodies()[body].pieces[piece].place;
}

void evaluate_pair(const WorldModel& model, WorldState& state, const StepDetail& detail, std::uint32_t i,
                   StepScratch::Work& work) noexcept {
  const PairModel& pair = model.pairs()[i];
  PairWork& w = work.pairs[i];
  PairRecord& record = state.pairs()[i];
  const auto last = static_cast<std::uint32_t>(record.level);
  Detail wanted = Detail::at(last);
  if (!w.level_chosen) {
    if (detail.rule == Detail::Rule::exactly)
      wanted = i < detail.levels.size() ? Detail::at(detail.levels[i]) : Detail::everything();
    else if (detail.rule == Detail::Rule::by_work)
      wanted = Detail::by_work(detail.budget, last);
    else
      wanted = Detail::by_state(model.settings().budget, last);
    w.level_chosen = true;
  }
  model.engine(pair).evaluate(
      {piece_pose(model, work, pair.shell_body, pair.shell_piece), work.bodies[pair.shell_body].clearance},
      {piece_pose(model, work, pair.field_body, pair.field_piece), work.bodies[pair.field_body].clearance}, wanted,
      work.contact, work.caches.empty() ? nullptr : &work.caches[i], w.contact);
  record.level = static_cast<double>(w.contact.stats.level);
}

void find_gap(const WorldModel& model, std::uint32_t i, double wanted, std::uint32_t most_nodes,
              StepScratch::Work& work) noexcept {
  const PairModel& pair = model.pairs()[i];
  const BodyWork &a = work.bodies[pair.shell_body], &b = work.bodies[pair.field_body];
  const double gap = model.engine(pair).gap({piece_pose(model, work, pair.shell_body, pair.shell_piece), a.clearance},
                                            {piece_pose(model, work, pair.field_body, pair.field_piece), b.clearance},
                                            wanted, most_nodes, work.contact);
  work.pairs[i].free_until = a.moved + b.moved + gap;
}

void evaluate_contacts(const WorldModel& model, WorldState& state, const StepDetail& detail, const Island& island,
                       StepScratch::Work& work) noexcept {
  for (std::uint32_t k = island.pairs_begin; k < island.pairs_end; ++k) {
    const std::uint32_t i = work.candidates[k];
    const PairModel& pair = model.pairs()[i];
    PairWork& w = work.pairs[i];
    if (work.bodies[pair.shell_body].moved + work.bodies[pair.field_body].moved < w.free_until)
      w.contact = {};
    else
      evaluate_pair(model, state, detail, i, work);
  }
}

void sum_contacts(const WorldModel& model, const Island& island, StepScratch::Work& work) noexcept {
  const std::span<const std::uint32_t> bodies =
      std::span(work.order).subspan(island.bodies_begin, island.bodies_end - island.bodies_begin);
  const std::span<const std::uint32_t> pairs =
      std::span(work.candidates).subspan(island.pairs_begin, island.pairs_end - island.pairs_begin);
  const WorldSettings& settings = model.settings();
  for (const std::uint32_t i : bodies) work.bodies[i].shared = {};
  for (const std::uint32_t i : pairs) {
    const PairModel& pair = model.pairs()[i];
    const PairContact& contact = work.pairs[i].contact;
    const std::int32_t owner = owner_of(work, pair);
    if (contact.stats.in_contact == 0 || owner < 0) continue;
    BodyWork& body = work.bodies[static_cast<std::size_t>(owner)];
    const Vec3d shell_at = piece_pose(model, work, pair.shell_body, pair.shell_piece).position;
    const ContactSums about = shifted(contact.sums, shell_at - body.pose.position);
    body.shared = body.shared + (owner == static_cast<std::int32_t>(pair.shell_body) ? about : negated(about));
  }
  for (const std::uint32_t i : bodies)
    work.bodies[i].force = contact_force(work.bodies[i].shared, settings.contact.stiffness);
  // Of two held bodies the shell's owns the contact; the other feels its share of that potential.
  for (const std::uint32_t i : pairs) {
    const PairModel& pair = model.pairs()[i];
    const PairContact& contact = work.pairs[i].contact;
    const BodyWork& owner = work.bodies[pair.shell_body];
    BodyWork& other = work.bodies[pair.field_body];
    if (contact.stats.in_contact == 0 || owner.role != BodyWork::Role::held || other.role != BodyWork::Role::held)
      continue;
    const Vec3d shell_at = piece_pose(model, work, pair.shell_body, pair.shell_piece).position;
    const ContactForce share = seen_from_field(
        contact_force(contact.sums, settings.contact.stiffness, owner.shared.depth8), shell_at - other.pose.position);
    other.force.wrench = other.force.wrench + share.wrench;
    other.force.stiffness = other.force.stiffness + share.stiffness;
  }

  work.link_count = 0;
  for (const std::uint32_t i : pairs) {
    const PairModel& pair = model.pairs()[i];
    const PairContact& contact = work.pairs[i].contact;
    const BodyWork &a = work.bodies[pair.shell_body], &b = work.bodies[pair.field_body];
    if (contact.stats.in_contact == 0 || (!is_dynamic(a) && !is_dynamic(b))) continue;
    const std::int32_t owner = owner_of(work, pair);
    const ContactForce force = owner < 0 ? contact.on_shell
                                         : contact_force(contact.sums, settings.contact.stiffness,
                                                         work.bodies[static_cast<std::size_t>(owner)].shared.depth8);
    Link& link = work.links[work.link_count++];
    link = {};
    link.a = static_cast<std::int32_t>(pair.shell_body);
    link.b = static_cast<std::int32_t>(pair.field_body);
    link.at = piece_pose(model, work, pair.shell_body, pair.shell_piece).position;
    link.wrench = force.wrench;
    link.stiffness = force.stiffness;
    const Vec6 va = velocity_at(a.velocity, a.center, link.at), vb = velocity_at(b.velocity, b.center, link.at);
    link.damping = friction_damping(settings.friction, contact.sums, force.wrench,
                                    {va.linear - vb.linear, va.angular - vb.angular});
  }
}

}  // namespace cotouch
