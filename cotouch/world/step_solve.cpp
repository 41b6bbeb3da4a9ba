// The velocities of all free bodies after a substep.
#include <cotouch/world/step_work.h>

#include <algorithm>
#include <array>

namespace cotouch {
namespace {

constexpr int k_passes = 3;            // solves, each without the contacts that would have pulled in the one before
constexpr int k_iterations = 40;       // of conjugate gradients, at most
constexpr double k_tolerance = 1e-20;  // of the squared residual
constexpr double k_least_pivot = 0.1;  // of coordinates, whose mass is one
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
      if (!link.may_pull && link.bending < 0) collide(link);
      link.matrix = link.stiffness * (h_ * h_) + (link.damping + link.recovery) * h_;
      if (link.bending >= 0) set_matrix(bending_of(link));
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

  BendingLink& bending_of(const Link& link) const { return w_.bending_links[static_cast<std::size_t>(link.bending)]; }

  void set_matrix(BendingLink& bend) const {
    const double stiffness = h_ * h_ + h_ * bend.recovery;
    for (std::size_t i = 0; i < bend.mixed_matrix.size(); ++i)
      bend.mixed_matrix[i] = bend.mixed_stiffness[i] * stiffness + bend.mixed_damping[i] * h_;
    for (std::size_t i = 0; i < bend.matrix.size(); ++i)
      bend.matrix[i] = bend.stiffness[i] * stiffness + bend.damping[i] * h_;
  }

  // Calls with each of its bodies that bend, and where their coordinates begin among the link's.
  template <class Function>
  void for_bent(const BendingLink& bend, const Function& call) const {
    std::size_t begin = 0;
    for (const std::int32_t index : {bend.a, bend.b}) {
      if (index < 0) continue;
      const BendingWork& body = w_.bending[static_cast<std::size_t>(index)];
      call(body, begin);
      begin += body.size();
    }
  }

  // The link's matrix times a motion: its wrench and its forces on coordinates. `rates` and `forces` have the link's
  // size.
  Vec6 times_matrix(const Link& link, const Vec6& motion, const double* rates, double* forces) const {
    Vec6 wrench = link.matrix * motion;
    const BendingLink& bend = bending_of(link);
    const std::size_t n = bend.size;
    const double m[6] = {motion.linear.x,  motion.linear.y,  motion.linear.z,
                         motion.angular.x, motion.angular.y, motion.angular.z};
    double more[6] = {};
    for (std::size_t j = 0; j < n; ++j) forces[j] = 0;
    for (std::size_t k = 0; k < 6; ++k)
      for (std::size_t j = 0; j < n; ++j) {
        more[k] += bend.mixed_matrix[k * n + j] * rates[j];
        forces[j] += bend.mixed_matrix[k * n + j] * m[k];
      }
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j) forces[j] += bend.matrix[i * n + j] * rates[i];
    wrench = wrench + Vec6{{more[0], more[1], more[2]}, {more[3], more[4], more[5]}};
    return wrench;
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
      const Vec6 wrench = Vec6{link.wrench.force, link.wrench.torque} * h_;
      if (link.bending < 0) {
        apply(link, wrench - link.matrix * present_velocity(link), w_.residual);
        continue;
      }
      const BendingLink& bend = bending_of(link);
      std::array<double, 2 * k_most_coordinates> rates, forces;
      for_bent(bend, [&](const BendingWork& body, std::size_t begin) {
        for (std::size_t j = 0; j < body.size(); ++j) rates[begin + j] = body.rate()[j];
      });
      apply(link, wrench - times_matrix(link, present_velocity(link), rates.data(), forces.data()), w_.residual);
      for_bent(bend, [&](const BendingWork& body, std::size_t begin) {
        for (std::size_t j = 0; j < body.size(); ++j)
          w_.bend_residual[body.unknown + j] += bend.force[begin + j] * h_ - forces[begin + j];
      });
    }
  }

  // Of the material itself: h (weight - force - (C + h / 2 K) rate), with C = a + b K, by the trapezoidal rule.
  void set_bending_right_side() {
    for (const std::uint32_t i : w_.bent) {
      const BendingWork& body = bent(i);
      const ElasticData& data = body.model->data();
      const std::size_t n = body.size();
      const Vec3d gravity = gravity_on(model_, i, w_.bodies[i].pose);
      const double with_tangent = data.stiffness_damping + 0.5 * h_;
      std::array<double, k_most_coordinates> tension;
      times_packed(body.tangent, n, body.rate(), tension.data());
      for (std::size_t j = 0; j < n; ++j)
        w_.bend_residual[body.unknown + j] = h_ * (weight_of(*body.model, gravity, j) - body.force[j] -
                                                   data.mass_damping * body.rate()[j] - with_tangent * tension[j]);
    }
  }
  const BendingWork& bent(std::uint32_t i) const { return w_.bending[static_cast<std::size_t>(w_.bodies[i].bending)]; }
  // 1 + h / 2 C + h^2 / 4 K: this much of the identity, and this much of K.
  double of_mass(const BendingWork& body) const { return 1 + 0.5 * h_ * body.model->data().mass_damping; }
  double of_tangent(const BendingWork& body) const {
    return 0.5 * h_ * body.model->data().stiffness_damping + 0.25 * h_ * h_;
  }

  void factorise_bending() {
    for (const std::uint32_t i : w_.bent) {
      BendingWork& body = w_.bending[static_cast<std::size_t>(w_.bodies[i].bending)];
      const std::size_t n = body.size();
      for (std::size_t k = 0; k < body.block.size(); ++k) body.block[k] = body.tangent[k] * of_tangent(body);
      for (std::size_t j = 0, diagonal = 0; j < n; diagonal += n - j, ++j) body.block[diagonal] += of_mass(body);
    }
    for (std::uint32_t i = 0; i < w_.link_count; ++i) {
      const Link& link = w_.links[i];
      if (!link.active || link.bending < 0) continue;
      const BendingLink& bend = bending_of(link);
      std::size_t begin = 0;
      for (const std::int32_t index : {bend.a, bend.b}) {
        if (index < 0) continue;
        BendingWork& body = w_.bending[static_cast<std::size_t>(index)];
        for (std::size_t r = 0, k = 0; r < body.size(); ++r)
          for (std::size_t c = r; c < body.size(); ++c, ++k)
            body.block[k] += bend.matrix[(begin + r) * bend.size + begin + c];
        begin += body.size();
      }
    }
    for (const std::uint32_t i : w_.bent) {
      BendingWork& body = w_.bending[static_cast<std::size_t>(w_.bodies[i].bending)];
      // Only a preconditioner: of a part that yields, without the stiffness that makes it so.
      if (factor_packed(body.block, body.size(), k_least_pivot)) continue;
      std::fill(body.block.begin(), body.block.end(), 0.0);
      for (std::size_t j = 0, diagonal = 0; j < body.size(); diagonal += body.size() - j, ++j) body.block[diagonal] = 1;
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
    factorise_bending();
  }
  Mat6& gathered(std::size_t i) { return w_.diagonal[i]; }

  void multiply(const std::vector<Vec6>& x, const std::vector<double>& bend_x, std::vector<Vec6>& out,
                std::vector<double>& bend_out) const {
    for (const std::uint32_t i : w_.bent) {
      const BendingWork& body = bent(i);
      const std::size_t n = body.size();
      const double* const rates = bend_x.data() + body.unknown;
      double* const out_rates = bend_out.data() + body.unknown;
      times_packed(body.tangent, n, rates, out_rates);
      for (std::size_t j = 0; j < n; ++j) out_rates[j] = rates[j] * of_mass(body) + out_rates[j] * of_tangent(body);
    }
    for (std::size_t i = 0; i < w_.unknowns.size(); ++i)
      out[i] = {x[i].linear * model_.bodies()[w_.unknowns[i]].mass.mass,
                w_.bodies[w_.unknowns[i]].inertia * x[i].angular};
    for (std::uint32_t i = 0; i < w_.link_count; ++i) {
      const Link& link = w_.links[i];
      if (!link.active) continue;
      if (link.bending < 0) {
        apply(link, link.matrix * changed_velocity(link, x), out);
        continue;
      }
      const BendingLink& bend = bending_of(link);
      std::array<double, 2 * k_most_coordinates> rates, forces;
      for_bent(bend, [&](const BendingWork& body, std::size_t begin) {
        for (std::size_t j = 0; j < body.size(); ++j) rates[begin + j] = bend_x[body.unknown + j];
      });
      apply(link, times_matrix(link, changed_velocity(link, x), rates.data(), forces.data()), out);
      for_bent(bend, [&](const BendingWork& body, std::size_t begin) {
        for (std::size_t j = 0; j < body.size(); ++j) bend_out[body.unknown + j] += forces[begin + j];
      });
    }
  }

  double dot_all(const std::vector<Vec6>& a, const std::vector<Vec6>& b, const std::vector<double>& bend_a,
                 const std::vector<double>& bend_b) const {
    double sum = 0;
    for (std::size_t i = 0; i < w_.unknowns.size(); ++i) sum += dot6(a[i], b[i]);
    for (std::size_t j = 0; j < w_.coordinates; ++j) sum += bend_a[j] * bend_b[j];
    return sum;
  }

  void precondition() {
    for (std::size_t i = 0; i < w_.unknowns.size(); ++i)
      w_.preconditioned[i] = solve_block(w_.blocks[i], w_.residual[i]);
    for (const std::uint32_t i : w_.bent) {
      const BendingWork& body = bent(i);
      const std::span<double> x(&w_.bend_preconditioned[body.unknown], body.size());
      std::copy_n(&w_.bend_residual[body.unknown], body.size(), x.begin());
      solve_packed(body.block, body.size(), x);
    }
  }

  void conjugate_gradients() {
    const std::size_t n = w_.unknowns.size();
    factorise_blocks();
    set_bending_right_side();
    set_right_side();
    precondition();
    for (std::size_t i = 0; i < n; ++i) {
      w_.change[i] = {};
      w_.direction[i] = w_.preconditioned[i];
    }
    for (std::size_t j = 0; j < w_.coordinates; ++j) {
      w_.bend_change[j] = 0;
      w_.bend_direction[j] = w_.bend_preconditioned[j];
    }
    double rho = dot_all(w_.residual, w_.preconditioned, w_.bend_residual, w_.bend_preconditioned);
    const double enough = rho * k_tolerance;
    for (int iteration = 0; iteration < k_iterations && rho > enough; ++iteration) {
      multiply(w_.direction, w_.bend_direction, w_.product, w_.bend_product);
      const double curvature = dot_all(w_.direction, w_.product, w_.bend_direction, w_.bend_product);
      if (!(curvature > 0)) return;
      const double alpha = rho / curvature;
      for (std::size_t i = 0; i < n; ++i) {
        w_.change[i] = w_.change[i] + w_.direction[i] * alpha;
        w_.residual[i] = w_.residual[i] - w_.product[i] * alpha;
      }
      for (std::size_t j = 0; j < w_.coordinates; ++j) {
        w_.bend_change[j] += w_.bend_direction[j] * alpha;
        w_.bend_residual[j] -= w_.bend_product[j] * alpha;
      }
      precondition();
      const double next = dot_all(w_.residual, w_.preconditioned, w_.bend_residual, w_.bend_preconditioned);
      const double beta = next / rho;
      rho = next;
      for (std::size_t i = 0; i < n; ++i) w_.direction[i] = w_.preconditioned[i] + w_.direction[i] * beta;
      for (std::size_t j = 0; j < w_.coordinates; ++j)
        w_.bend_direction[j] = w_.bend_preconditioned[j] + w_.bend_direction[j] * beta;
    }
  }

  // A contact's wrench at the end of the substep, as the solve has it, must still push.
  bool drop_pulling_contacts() {
    bool dropped = false;
    for (std::uint32_t i = 0; i < w_.link_count; ++i) {
      Link& link = w_.links[i];
      if (!link.active || link.may_pull) continue;
      const Vec6 moved = present_velocity(link) + changed_velocity(link, w_.change);
      Vec6 lost = link.stiffness * (moved * h_) + link.recovery * moved;
      if (link.bending >= 0) lost.linear += lost_by_bending(bending_of(link));
      if (dot(link.wrench.force - lost.linear, link.wrench.force) >= 0) continue;
      link.active = false;
      dropped = true;
    }
    return dropped;
  }

  // Of a contact's force, what its bodies take back by bending.
  Vec3d lost_by_bending(const BendingLink& bend) const {
    Vec3d lost;
    const std::size_t n = bend.size;
    for_bent(bend, [&](const BendingWork& body, std::size_t begin) {
      for (std::size_t j = 0; j < body.size(); ++j) {
        const double rate = body.rate()[j] + w_.bend_change[body.unknown + j];
        const double* const column = bend.mixed_stiffness.data() + begin + j;
        lost += Vec3d{column[0], column[n], column[2 * n]} * (rate * (h_ + bend.recovery));
      }
    });
    return lost;
  }

  const WorldModel& model_;
  double h_;
  StepScratch::Work& w_;
};

}  // namespace

void solve_velocities(const WorldModel& model, double h, StepScratch::Work& work) noexcept {
  if (!work.unknowns.empty() || !work.bent.empty()) Solver(model, h, work).run();
}

}  // namespace cotouch
