// The velocities of all free bodies after a substep.
#include <cotouch/world/step_work.h>

#include <algorithm>

namespace cotouch {
namespace {

constexpr int k_passes = 3;            // solves, each without the contacts that would have pulled in the one before
constexpr int k_iterations = 40;       // of conjugate gradients, at most
constexpr double k_tolerance = 1e-20;  // of the squared residual
constexpr double k_collision = 0.05;   // m/s: what meets more slowly stays together
constexpr double k_hardness = 20;      // of a collision: its damping against mass and stiffness

Vec6 operator+(const Vec6& a, const Vec6& b) {
  return {a.linear + b.linear, a.angular + b.angular};
}
Vec6 operator-(const Vec6& a, const Vec6& b) {
  return {a.linear - b.linear, a.angular - b.angular};
}
Vec6 operator*(const Vec6& a, double s) {
  return {a.linear * s, a.angular * s};
}
double dot6(const Vec6& a, const Vec6& b) {
  return dot(a.linear, b.linear) + dot(a.angular, b.angular);
}

SymmetricBlock factorise(const Mat6& m) {
  SymmetricBlock out;
  const auto at = [&](std::size_t i, std::size_t j) -> double& { return out.l[i * (i + 1) / 2 + j]; };
  for (std::size_t i = 0; i < 6; ++i)
    for (std::size_t j = 0; j <= i; ++j) {
      double sum = m(i, j);
      for (std::size_t k = 0; k < j; ++k) sum -= at(i, k) * at(j, k) * at(k, k);
      if (i == j)
        at(i, i) = sum > 0 ? sum : 1;  // the mass is in it, so this never happens to a body that exists
      else
        at(i, j) = sum / at(j, j);
    }
  return out;
}

Vec6 solve_block(const SymmetricBlock& block, const Vec6& b) {
  const auto at = [&](std::size_t i, std::size_t j) { return block.l[i * (i + 1) / 2 + j]; };
  double x[6] = {b.linear.x, b.linear.y, b.linear.z, b.angular.x, b.angular.y, b.angular.z};
  for (std::size_t i = 0; i < 6; ++i)
    for (std::size_t k = 0; k < i; ++k) x[i] -= at(i, k) * x[k];
  for (std::size_t i = 0; i < 6; ++i) x[i] /= at(i, i);
  for (std::size_t i = 6; i-- > 0;)
    for (std::size_t k = i + 1; k < 6; ++k) x[i] -= at(k, i) * x[k];
  return {{x[0], x[1], x[2]}, {x[3], x[4], x[5]}};
}

class Solver {
 public:
  Solver(const WorldModel& model, double h, StepScratch::Work& work) : model_(model), h_(h), w_(work) {}

  void run() {
    for (std::uint32_t i = 0; i < w_.link_count; ++i) {
      Link& link = w_.links[i];
      if (!link.may_pull) collide(link);
      link.matrix = link.stiffness * (h_ * h_) + (link.damping + link.recovery) * h_;
    }
    for (int pass = 0; pass < k_passes; ++pass) {
      conjugate_gradients();
      if (!drop_pulling_contacts()) break;
    }
    for (std::size_t i = 0; i < w_.unknowns.size(); ++i) {
      BodyWork& body = w_.bodies[w_.unknowns[i]];
      body.velocity = body.velocity + w_.change[i];
    }
  }

 private:
  // Bodies that collide part with a share of the speed at which they met. All of it happens in this substep, so nobody
  // has to remember that speed: the damping is made so hard that mass and stiffness are nothing against it.
  void collide(Link& link) const {
    const Vec6 relative = present_velocity(link), slowed = link.recovery * relative;
    const double push = norm(link.wrench.force), approach = -dot(slowed.linear, link.wrench.force);
    if (!(approach > 0)) return;
    const Vec3d normal = link.wrench.force / push;
    const double along = dot(normal, link.recovery.force_linear * normal);
    if (!(dot6(relative, slowed) > along * k_collision * k_collision)) return;
    const double against = reduced_mass(link) + dot(normal, link.stiffness.force_linear * normal) * h_ * h_;
    const double harder = std::max(1.0, k_hardness * against / (along * h_));
    link.recovery = link.recovery * harder;
    const double share = model_.settings().restitution * harder;
    link.wrench.force -= slowed.linear * share;
    link.wrench.torque -= slowed.angular * share;
  }

  double reduced_mass(const Link& link) const {
    double inverse = 0;
    for (const std::int32_t index : {link.a, link.b})
      if (const BodyWork* one = body(index); one != nullptr && one->unknown >= 0)
        inverse += 1 / model_.bodies()[static_cast<std::size_t>(index)].mass.mass;
    return inverse > 0 ? 1 / inverse : 0;
  }

  const BodyWork* body(std::int32_t index) const {
    return index < 0 ? nullptr : &w_.bodies[static_cast<std::size_t>(index)];
  }

  Mat6 mass(const BodyWork& body, std::uint32_t index) const {
    return {Mat3::identity() * model_.bodies()[index].mass.mass, {}, {}, body.inertia};
  }

  // Adds a link's wrench (about its point) to both of its bodies, the other way round to the second.
  void apply(const Link& link, const Vec6& wrench, std::vector<Vec6>& out) const {
    const BodyWork *a = body(link.a), *b = body(link.b);
    if (a != nullptr && a->unknown >= 0) {
      Vec6& to = out[static_cast<std::size_t>(a->unknown)];
      to = to + wrench_about(wrench, link.at, a->center);
    }
    if (b != nullptr && b->unknown >= 0) {
      Vec6& to = out[static_cast<std::size_t>(b->unknown)];
      to = to - wrench_about(wrench, link.at, b->center);
    }
  }

  // The relative velocity at a link's point: of the bodies as they are, and of a change of the unknown ones.
  Vec6 present_velocity(const Link& link) const {
    Vec6 relative;
    if (const BodyWork* a = body(link.a)) relative = velocity_at(a->velocity, a->center, link.at);
    if (const BodyWork* b = body(link.b)) relative = relative - velocity_at(b->velocity, b->center, link.at);
    return relative;
  }
  Vec6 changed_velocity(const Link& link, const std::vector<Vec6>& change) const {
    Vec6 relative;
    const BodyWork *a = body(link.a), *b = body(link.b);
    if (a != nullptr && a->unknown >= 0)
      relative = velocity_at(change[static_cast<std::size_t>(a->unknown)], a->center, link.at);
    if (b != nullptr && b->unknown >= 0)
      relative = relative - velocity_at(change[static_cast<std::size_t>(b->unknown)], b->center, link.at);
    return relative;
  }

  void set_right_side() {
    const WorldSettings& s = model_.settings();
    for (std::size_t i = 0; i < w_.unknowns.size(); ++i) {
      const BodyWork& body = w_.bodies[w_.unknowns[i]];
      const double m = model_.bodies()[w_.unknowns[i]].mass.mass;
      w_.residual[i] = {(s.gravity - body.velocity.linear * s.linear_drag) * (m * h_),
                        body.inertia * body.velocity.angular * (-s.angular_drag * h_)};
    }
    for (std::uint32_t i = 0; i < w_.link_count; ++i) {
      const Link& link = w_.links[i];
      if (!link.active) continue;
      const Vec6 implicit = link.matrix * present_velocity(link);
      apply(link, Vec6{link.wrench.force, link.wrench.torque} * h_ - implicit, w_.residual);
    }
  }

  void factorise_blocks() {
    // Gathered body by body: the preconditioner is the exact inverse for a body without free neighbours.
    for (std::size_t i = 0; i < w_.unknowns.size(); ++i) gathered(i) = mass(w_.bodies[w_.unknowns[i]], w_.unknowns[i]);
    for (std::uint32_t i = 0; i < w_.link_count; ++i) {
      const Link& link = w_.links[i];
      if (!link.active) continue;
      for (const std::int32_t index : {link.a, link.b}) {
        const BodyWork* one = body(index);
        if (one == nullptr || one->unknown < 0) continue;
        Mat6& sum = gathered(static_cast<std::size_t>(one->unknown));
        sum = sum + moved_stiffness(link.matrix, link.at - one->center);
      }
    }
    for (std::size_t i = 0; i < w_.unknowns.size(); ++i) w_.blocks[i] = factorise(gathered(i));
  }
  Mat6& gathered(std::size_t i) { return w_.diagonal[i]; }

  void multiply(const std::vector<Vec6>& x, std::vector<Vec6>& out) const {
    for (std::size_t i = 0; i < w_.unknowns.size(); ++i)
      out[i] = {x[i].linear * model_.bodies()[w_.unknowns[i]].mass.mass,
                w_.bodies[w_.unknowns[i]].inertia * x[i].angular};
    for (std::uint32_t i = 0; i < w_.link_count; ++i) {
      const Link& link = w_.links[i];
      if (link.active) apply(link, link.matrix * changed_velocity(link, x), out);
    }
  }

  double dot_all(const std::vector<Vec6>& a, const std::vector<Vec6>& b) const {
    double sum = 0;
    for (std::size_t i = 0; i < w_.unknowns.size(); ++i) sum += dot6(a[i], b[i]);
    return sum;
  }

  void conjugate_gradients() {
    const std::size_t n = w_.unknowns.size();
    factorise_blocks();
    set_right_side();
    for (std::size_t i = 0; i < n; ++i) {
      w_.change[i] = {};
      w_.direction[i] = w_.preconditioned[i] = solve_block(w_.blocks[i], w_.residual[i]);
    }
    double rho = dot_all(w_.residual, w_.preconditioned);
    const double enough = rho * k_tolerance;
    for (int iteration = 0; iteration < k_iterations && rho > enough; ++iteration) {
      multiply(w_.direction, w_.product);
      const double curvature = dot_all(w_.direction, w_.product);
      if (!(curvature > 0)) return;
      const double alpha = rho / curvature;
      for (std::size_t i = 0; i < n; ++i) {
        w_.change[i] = w_.change[i] + w_.direction[i] * alpha;
        w_.residual[i] = w_.residual[i] - w_.product[i] * alpha;
        w_.preconditioned[i] = solve_block(w_.blocks[i], w_.residual[i]);
      }
      const double next = dot_all(w_.residual, w_.preconditioned);
      const double beta = next / rho;
      rho = next;
      for (std::size_t i = 0; i < n; ++i) w_.direction[i] = w_.preconditioned[i] + w_.direction[i] * beta;
    }
  }

  // A contact's wrench at the end of the substep, as the solve has it, must still push.
  bool drop_pulling_contacts() {
    bool dropped = false;
    for (std::uint32_t i = 0; i < w_.link_count; ++i) {
      Link& link = w_.links[i];
      if (!link.active || link.may_pull) continue;
      const Vec6 moved = present_velocity(link) + changed_velocity(link, w_.change);
      const Vec6 lost = link.stiffness * (moved * h_) + link.recovery * moved;
      if (dot(link.wrench.force - lost.linear, link.wrench.force) >= 0) continue;
      link.active = false;
      dropped = true;
    }
    return dropped;
  }

  const WorldModel& model_;
  double h_;
  StepScratch::Work& w_;
};

}  // namespace

void solve_velocities(const WorldModel& model, double h, StepScratch::Work& work) noexcept {
  if (!work.unknowns.empty()) Solver(model, h, work).run();
}

}  // namespace cotouch
