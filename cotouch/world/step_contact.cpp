// What touches in a substep.
#include <cotouch/world/step_work.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace cotouch {
namespace {

constexpr double k_slip = 2e-4;         // m/s below which friction is viscous
constexpr double k_rolling_arm = 4e-4;  // metres: what rolls gives way a little; a ball of 28 mm slows by 0.1 m/s^2
constexpr double k_slow_roll = 0.005;   // rad/s below which that is viscous
constexpr double k_recovery = 0.005;    // seconds in which what is in another gets out
// The same where a hand leads one of the two without inertia and something bends: no longer, because one that is led
// goes to and fro by hairs from tick to tick, and each would drag the other along. Enough to take what a soft body
// would gain by getting into another before that is seen.
constexpr double k_led_recovery = 6e-4;
constexpr double k_rolls = 0.002;            // metres: what touches on less than this may roll
constexpr std::uint64_t k_later_looks = 16;  // whole budgets that all looks of a tick after the first may cost
constexpr double k_held_look = 4.096e6;      // nodes a second of the tick: what a later look at something held may cost

bool is_held(const BodyWork& body) {
  return body.role == BodyWork::Role::held;
}

bool is_still(const BodyWork& body) {
  return body.role == BodyWork::Role::still && body.bending < 0;
}

bool bends(const BodyWork& body) {
  return body.bending >= 0;
}

bool is_dynamic(const BodyWork& body) {
  return body.role == BodyWork::Role::free;
}

// Where a contact presses: the mean place of its points, each weighted by the share of the push that is its own.
Vec3d center_of_pressure(const ContactSums& sums) {
  const double push = norm(sums.push.force);
  return push > 0 ? sums.moment * sums.push.force / (push * push) : Vec3d{};
}

double trace(const Mat3& m) {
  return m(0, 0) + m(1, 1) + m(2, 2);
}

// Mean square of the distance between a contact's points and its centre of pressure.
double width_squared(const ContactSums& sums, const Vec3d& arm) {
  const Mat6 spread = moved_stiffness(sums.spread, -arm);
  const double size = trace(spread.force_linear);
  return size > 0 ? std::max(0.0, trace(spread.torque_angular)) / size : 0;
}

// Coulomb's friction, viscous below the slip speed, as a damping about the link's point: along the surface at the
// centre of pressure, about the normal there with the contact's own width as lever, and against rolling.
struct Friction {
  Mat3 sliding;  // at the centre of pressure
  Mat6 damping;  // all of it
};
Friction friction(double coefficient, double width2, const Vec3d& arm, const Wrench& wrench, const Vec6& relative) {
  const double push = norm(wrench.force);
  if (!(push > 0) || !(coefficient > 0)) return {};
  const Vec3d normal = wrench.force / push;
  const Vec3d velocity = relative.linear + cross(relative.angular, arm);
  const Vec3d slip = velocity - normal * dot(velocity, normal);
  const Mat3 nn = Mat3::outer(normal, normal);
  const double turning = std::fabs(dot(relative.angular, normal)) * std::sqrt(width2);
  const double viscosity = coefficient * push / std::max({norm(slip), turning, k_slip});
  const Vec3d rolling = relative.angular - normal * dot(relative.angular, normal);
  const Mat3 along = Mat3::identity() - nn;
  const Mat3 turning_damping =
      nn * (viscosity * width2) + along * (k_rolling_arm * push / std::max(norm(rolling), k_slow_roll));
  const Mat3 sliding = along * viscosity;
  return {sliding, moved_stiffness({sliding, {}, {}, turning_damping}, arm)};
}

// What is in another gets out in time, not in one substep: it would be thrown out at whatever speed that takes, and a
// heap would never come to rest. A small contact does so as a whole only, or it would keep balls from rolling.
Mat6 recovery_damping(const Mat6& stiffness, double width2, const Vec3d& arm) {
  const double rocking = width2 / (width2 + k_rolls * k_rolls);
  const Mat6 as_a_whole{moved_stiffness(stiffness, -arm).force_linear, {}, {}, {}};
  return (stiffness * rocking + moved_stiffness(as_a_whole, arm) * (1 - rocking)) * k_recovery;
}

// Whose potential a contact belongs to: that of a body held quasi-statically, else that of one in a hand, else that of
// the only free one; -1 if both are free and in nobody's hand, and the pair has its own. So whatever a hand holds is no
// stiffer to it than the promise, however many bodies touch it.
std::int32_t owner_of(const StepScratch::Work& work, const PairModel& pair) {
  const auto a = static_cast<std::int32_t>(pair.shell_body), b = static_cast<std::int32_t>(pair.field_body);
  const BodyWork &shell = work.bodies[pair.shell_body], &field = work.bodies[pair.field_body];
  if (shell.role == BodyWork::Role::held) return a;
  if (field.role == BodyWork::Role::held) return b;
  if (shell.in_hand != field.in_hand) return shell.in_hand ? a : b;
  if (is_dynamic(shell) && is_dynamic(field)) return shell.in_hand ? a : -1;
  if (!is_dynamic(shell) && !is_dynamic(field)) return bends(shell) ? a : b;
  return is_dynamic(shell) ? a : b;
}

// For the first look at a pair in a tick: what the caller wants.
Detail first_detail(const WorldModel& model, const StepDetail& detail, std::uint32_t pair, std::uint32_t last) {
  if (detail.rule == Detail::Rule::exactly)
    return pair < detail.levels.size() ? Detail::at(detail.levels[pair]) : Detail::everything();
  if (detail.rule == Detail::Rule::by_work) return Detail::by_work(detail.budget, last);
  return Detail::by_state(model.settings().budget, last);
}

// For later ones: not deeper than the first, and as much coarser as it takes to keep the tick bounded by count. A body
// that was thrown comes down on a corner, where the finest level is cheap, and may lie flat before the tick is over.
Detail later_detail(const WorldModel& model, const StepScratch::Work& work, const PairWork& pair, std::uint32_t last) {
  const std::uint64_t warm = model.settings().budget.warm;
  const std::uint64_t left = k_later_looks * warm - std::min(k_later_looks * warm, pair.later_looks);
  const std::uint64_t share = std::min(warm, left / std::max<std::uint64_t>(1, work.looks_left));
  return Detail::by_state({static_cast<std::uint32_t>(share), 0}, last);
}

// The same for a body held without inertia. It must not be moved by a coarser level, so it waits if that is all that it
// gets.
Detail later_detail_of_held(const WorldModel& model, std::uint32_t last) {
  return Detail::by_state({static_cast<std::uint32_t>(k_held_look * model.settings().tick), 0}, last);
}

BodyState contact_state(const WorldModel& model, std::uint32_t body, std::uint32_t piece, StepScratch::Work& work) {
  const BodyWork& b = work.bodies[body];
  BodyState state{piece_pose(model, work, body, piece), b.clearance};
  if (bends(b)) {
    BendingWork& bending = work.bending[static_cast<std::size_t>(b.bending)];
    state.deformation = &bending.shape;
    state.deformed_field = bending.field_is_asked ? &bending.field : nullptr;
  }
  return state;
}

PairState pair_state(const WorldModel& model, const PairModel& pair, StepScratch::Work& work) {
  return {contact_state(model, pair.shell_body, pair.shell_piece, work),
          contact_state(model, pair.field_body, pair.field_piece, work)};
}

// What the pair has to do without in all looks of this tick: as recorded, or what is not in memory at the first look.
std::span<const std::uint32_t> missing_pieces(const WorldModel& model, const PairState& placed,
                                              const StepDetail& detail, std::uint32_t pair, bool first, double margin,
                                              StepScratch::Work& work) {
  MissingPieces& noted = work.missing;
  std::vector<std::uint32_t>& pieces = work.pieces_of_pair;
  const ContactEngine& engine = model.engine(model.pairs()[pair]);
  if (first) ++work.pairs_looked_at;
  if (first && detail.rule == Detail::Rule::exactly) {
    for (const MissingPieces::Piece& piece : detail.missing)
      if (piece.pair == pair && noted.count < MissingPieces::k_most) noted.all[noted.count++] = piece;
  } else if (first && detail.rule == Detail::Rule::by_work && engine.may_lack_data()) {
    // Every pair that comes later keeps room for one entry, which may be that all is missing.
    const std::size_t later = model.pairs().size() - work.pairs_looked_at;
    const std::size_t used = noted.count + later;
    const std::size_t room = used < MissingPieces::k_most ? MissingPieces::k_most - used : 0;
    pieces.resize(room);
    const std::uint32_t count = engine.find_missing(placed, margin, pieces);
    // In a world of more pairs than may be noted, and than are recorded, not even that.
    work.pairs[pair].lacks_everything = count > room && noted.count == MissingPieces::k_most;
    if (count > room && noted.count < MissingPieces::k_most) noted.all[noted.count++] = {pair, k_all_pieces};
    for (std::uint32_t k = 0; k < count && count <= room; ++k) noted.all[noted.count++] = {pair, pieces[k]};
  }
  pieces.clear();
  if (work.pairs[pair].lacks_everything) pieces.push_back(k_all_pieces);
  for (const MissingPieces::Piece& piece : noted.pieces())
    if (piece.pair == pair) pieces.push_back(piece.piece);
  return pieces;
}

void evaluate_pair(const WorldModel& model, WorldState& state, const StepDetail& detail, std::uint32_t i,
                   StepScratch::Work& work) {
  const PairModel& pair = model.pairs()[i];
  PairWork& w = work.pairs[i];
  PairContact& contact = work.contacts[i];
  PairRecord& record = state.pairs()[i];
  BodyWork &a = work.bodies[pair.shell_body], &b = work.bodies[pair.field_body];
  const bool first = !w.level_chosen;
  const auto last = static_cast<std::uint32_t>(record.level);
  const bool held_only = !is_dynamic(a) && !is_dynamic(b);
  Detail wanted = first       ? first_detail(model, detail, i, last)
                  : held_only ? later_detail_of_held(model, last)
                              : later_detail(model, work, w, last);
  // What hurries uses a cache up faster than that pays, and how many points it looks up must not depend on one: the
  // number of its moves does.
  const bool hurries = a.hurries || b.hurries;
  const ContactEngine& engine = model.engine(pair);
  const PairState placed = pair_state(model, pair, work);
  wanted.missing = missing_pieces(model, placed, detail, i, first, a.travel + b.travel, work);
  engine.evaluate(placed, wanted, work.workspaces.of(engine),
                  work.caches.empty() || hurries ? nullptr : work.caches[i].get(), contact, &work.bending_contacts[i]);
  if (hurries)
    for (BodyWork* body : {&a, &b}) body->points += contact.stats.looked_up;
  if (first)
    record.level = static_cast<double>(contact.stats.level);
  else if (held_only && contact.stats.level < last)
    a.waits = b.waits = true;
  (first ? w.first_look : w.later_looks) += contact.stats.visited;
  w.level_chosen = true;
  w.in_use = true;
  w.touching = contact.stats.in_contact > 0;
}

}  // namespace

Pose piece_pose(const WorldModel& model, const StepScratch::Work& work, std::uint32_t body,
                std::uint32_t piece) noexcept {
  return work.bodies[body].pose * model.bodies()[body].pieces[piece].place;
}

void find_gap(const WorldModel& model, std::uint32_t i, double wanted, std::uint32_t most_nodes,
              StepScratch::Work& work) noexcept {
  const PairModel& pair = model.pairs()[i];
  const BodyWork &a = work.bodies[pair.shell_body], &b = work.bodies[pair.field_body];
  const ContactEngine& engine = model.engine(pair);
  const double gap = engine.gap(pair_state(model, pair, work), wanted, most_nodes, work.workspaces.of(engine));
  PairWork& w = work.pairs[i];
  w.free_until = a.moved + b.moved + gap;
  w.gap_known_at = gap < wanted && most_nodes == k_close_look ? a.moved + b.moved : -1;
}

void evaluate_contacts(const WorldModel& model, WorldState& state, const StepDetail& detail, const Island& island,
                       bool first, StepScratch::Work& work) noexcept {
  for (std::uint32_t k = island.bodies_begin; k < island.bodies_end; ++k)
    work.bodies[work.order[k]].room = std::numeric_limits<double>::infinity();
  for (std::uint32_t k = island.pairs_begin; k < island.pairs_end; ++k) {
    const std::uint32_t i = work.candidates[k];
    const PairModel& pair = model.pairs()[i];
    PairWork& w = work.pairs[i];
    BodyWork &a = work.bodies[pair.shell_body], &b = work.bodies[pair.field_body];
    const double moved = a.moved + b.moved;
    // If both moved, neither could use all the room between them.
    const bool one_moves = (is_held(a) && is_still(b)) || (is_still(a) && is_held(b));
    if (moved < w.free_until) {
      if (w.touching) work.contacts[i] = {};
      w.touching = false;
    } else {
      evaluate_pair(model, state, detail, i, work);
      // If a tick takes several substeps, one look at the gap spares many at the contact; and whatever is held without
      // inertia may go farther if it knows how far.
      const double way = a.travel + b.travel - moved;
      const bool gives_room = one_moves && (is_held(a) ? a : b).room > 0;
      if ((!first || gives_room) && !w.touching && way > w.longest_move) find_gap(model, i, way, k_close_look, work);
    }
    const double room = w.touching || !one_moves ? 0 : std::max(0.0, w.free_until - moved);
    for (BodyWork* body : {&a, &b}) body->room = std::min(body->room, room);
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
    if (!work.pairs[i].touching) continue;
    const PairContact& contact = work.contacts[i];
    const std::int32_t owner = owner_of(work, pair);
    if (owner < 0) continue;
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
    if (!work.pairs[i].touching) continue;
    const PairContact& contact = work.contacts[i];
    const BodyWork& owner = work.bodies[pair.shell_body];
    BodyWork& other = work.bodies[pair.field_body];
    if (!is_held(owner) || !is_held(other)) continue;
    const Vec3d shell_at = piece_pose(model, work, pair.shell_body, pair.shell_piece).position;
    const ContactForce share = seen_from_field(
        contact_force(contact.sums, settings.contact.stiffness, owner.shared.depth8), shell_at - other.pose.position);
    other.force.wrench = other.force.wrench + share.wrench;
    other.force.stiffness = other.force.stiffness + share.stiffness;
  }

  work.link_count = work.bending_link_count = 0;
  for (const std::uint32_t i : pairs) {
    const PairModel& pair = model.pairs()[i];
    if (!work.pairs[i].touching) continue;
    const PairContact& contact = work.contacts[i];
    const BodyWork &a = work.bodies[pair.shell_body], &b = work.bodies[pair.field_body];
    const bool bending = bends(a) || bends(b);
    if (!is_dynamic(a) && !is_dynamic(b) && !bending) continue;
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
    Vec6 relative{va.linear - vb.linear, va.angular - vb.angular};
    BendingLink* const bend = bending ? &work.bending_links[work.bending_link_count] : nullptr;
    const ElasticSums& sums = work.bending_contacts[i];
    if (bend != nullptr) {
      link.bending = static_cast<std::int32_t>(work.bending_link_count++);
      bend->reset(a.bending, b.bending, sums.size());
      const double total = owner < 0 ? contact.sums.depth8 : work.bodies[static_cast<std::size_t>(owner)].shared.depth8;
      bend_by_contact(sums, contact.sums, force.scale, total, *bend);
      relative.linear += carried_velocity(sums, work, *bend);
    }
    const Vec3d arm = center_of_pressure(contact.sums);
    const double width2 = width_squared(contact.sums, arm);
    const Friction braking = friction(settings.friction, width2, arm, force.wrench, relative);
    link.damping = braking.damping;
    if (bend != nullptr) bend_by_friction(sums, braking.sliding, arm, *bend);
    const bool led = is_held(a) || is_held(b);
    if (bend != nullptr) {
      bend->recovery = led ? k_led_recovery : k_recovery;
      link.recovery = force.stiffness * bend->recovery;
    } else if (!led) {  // it goes its whole way in one substep, however short: its speed means nothing
      link.recovery = recovery_damping(force.stiffness, width2, arm);
    }
  }
}

}  // namespace cotouch
