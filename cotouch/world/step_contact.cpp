// Which pairs are near, and what touches in a substep.
#include <cotouch/world/step_work.h>

#include <algorithm>
#include <cmath>

namespace cotouch {
namespace {

constexpr double k_slip = 2e-4;  // m/s below which friction is viscous

Pose piece_pose(const WorldModel& model, const StepScratch::Work& work, std::uint32_t body, std::uint32_t piece) {
  return work.bodies[body].pose * model.bodies()[body].pieces[piece].place;
}

bool is_dynamic(const BodyWork& body) {
  return body.role == BodyWork::Role::free;
}

// Is the shell's bounding ball within `margin` of the field's box?
bool is_near(const NestedContact& engine, const Pose& shell, const Pose& field, double margin) {
  const Vec3d center = transform(inverse(field), transform(shell, engine.center()));
  const Box3f box = engine.field().box();
  const Vec3d low(box.low), high(box.high);
  const Vec3d gap = max(max(low - center, center - high), Vec3d{});
  return norm(gap) <= engine.radius() + margin;
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

void add_stats(ContactStats& sum, const ContactStats& one, bool first) {
  sum.visited += one.visited;
  sum.skipped += one.skipped;
  sum.in_contact += one.in_contact;
  sum.deepest = std::max(sum.deepest, one.deepest);
  sum.level = first ? one.level : std::min(sum.level, one.level);
}

}  // namespace

void find_candidates(const WorldModel& model, const WorldState&, StepScratch::Work& work) noexcept {
  work.candidates.clear();
  for (std::uint32_t i = 0; i < model.pairs().size(); ++i) {
    work.pairs[i] = {};
    const PairModel& pair = model.pairs()[i];
    const BodyWork &a = work.bodies[pair.shell_body], &b = work.bodies[pair.field_body];
    if (a.role == BodyWork::Role::still && b.role == BodyWork::Role::still) continue;
    const double margin = a.travel + b.travel + a.clearance + b.clearance;
    const NestedContact& engine = model.engine(pair);
    if (is_near(engine, piece_pose(model, work, pair.shell_body, pair.shell_piece),
                piece_pose(model, work, pair.field_body, pair.field_piece), margin))
      work.candidates.push_back(i);
  }
}

void evaluate_contacts(const WorldModel& model, WorldState& state, const StepDetail& detail, bool first,
                       StepScratch::Work& work) noexcept {
  for (BodyWork& body : work.bodies) {
    body.shared = {};
    body.stats = {};
    body.touched = false;
  }
  const WorldSettings& settings = model.settings();
  for (const std::uint32_t i : work.candidates) {
    const PairModel& pair = model.pairs()[i];
    BodyWork &a = work.bodies[pair.shell_body], &b = work.bodies[pair.field_body];
    PairRecord& record = state.pairs()[i];
    const auto last = static_cast<std::uint32_t>(record.level);
    Detail wanted = Detail::at(last);  // the level is chosen once a tick
    if (first) {
      if (detail.rule == Detail::Rule::exactly)
        wanted = i < detail.levels.size() ? Detail::at(detail.levels[i]) : Detail::everything();
      else if (detail.rule == Detail::Rule::by_work)
        wanted = Detail::by_work(detail.budget, last);
      else
        wanted = Detail::by_state(settings.budget, last);
    }
    PairContact& contact = work.pairs[i];
    model.engine(pair).evaluate({piece_pose(model, work, pair.shell_body, pair.shell_piece), a.clearance},
                                {piece_pose(model, work, pair.field_body, pair.field_piece), b.clearance}, wanted,
                                work.contact, work.caches.empty() ? nullptr : &work.caches[i], contact);
    record.level = static_cast<double>(contact.stats.level);
    for (BodyWork* body : {&a, &b}) {
      add_stats(body->stats, contact.stats, !body->touched);
      body->touched = true;
    }
    const std::int32_t owner = owner_of(work, pair);
    if (contact.stats.in_contact == 0 || owner < 0) continue;
    BodyWork& body = work.bodies[static_cast<std::size_t>(owner)];
    const Vec3d shell_at = piece_pose(model, work, pair.shell_body, pair.shell_piece).position;
    const ContactSums about = shifted(contact.sums, shell_at - body.pose.position);
    body.shared = body.shared + (owner == static_cast<std::int32_t>(pair.shell_body) ? about : negated(about));
  }
  for (BodyWork& body : work.bodies) body.force = contact_force(body.shared, settings.contact.stiffness);
  // Of two held bodies the shell's owns the contact; the other feels its share of that potential.
  for (const std::uint32_t i : work.candidates) {
    const PairModel& pair = model.pairs()[i];
    const PairContact& contact = work.pairs[i];
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
  for (const std::uint32_t i : work.candidates) {
    const PairModel& pair = model.pairs()[i];
    const PairContact& contact = work.pairs[i];
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
