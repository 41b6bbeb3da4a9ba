#include <cotouch/elastic/modal_body.h>

#include <cotouch/base/error.h>

#include <algorithm>
#include <cmath>

namespace cotouch {
namespace {

constexpr double k_least_share = 1e-6;  // of the softest held direction

using Two = double __attribute__((vector_size(16)));

// The sum of a_k b_k, or of a_k b_k d_k: even and odd k apart, in one order on every machine.
double dot_of(const double* a, const double* b, std::size_t n) noexcept {
  Two sum{};
  std::size_t k = 0;
  for (; k + 2 <= n; k += 2) sum += Two{a[k], a[k + 1]} * Two{b[k], b[k + 1]};
  if (k < n) sum[0] += a[k] * b[k];
  return sum[0] + sum[1];
}
double dot_of(const double* a, const double* b, const double* d, std::size_t n) noexcept {
  Two sum{};
  std::size_t k = 0;
  for (; k + 2 <= n; k += 2) sum += Two{a[k], a[k + 1]} * Two{b[k], b[k + 1]} * Two{d[k], d[k + 1]};
  if (k < n) sum[0] += a[k] * b[k] * d[k];
  return sum[0] + sum[1];
}

// x := x + s y, element by element.
void add_times(double* __restrict x, double s, const double* __restrict y, std::size_t n) noexcept {
  for (std::size_t k = 0; k < n; ++k) x[k] += s * y[k];
}

}  // namespace

ModalBody::ModalBody(const ElasticModel& model, const Settings& settings)
    : model_(&model),
      settings_(settings),
      shape_(model),
      q_(model.size()),
      v_(model.size()),
      inverse_(model.size()),
      mean_(model.size()),
      rows_(std::size_t{3} * settings.most_holds * model.size()),
      small_(std::size_t{9} * settings.most_holds * settings.most_holds),
      forces_(std::size_t{3} * settings.most_holds),
      slip_(std::size_t{3} * settings.most_holds),
      solver_(std::size_t{3} * settings.most_holds) {
  if (model.data().law != ElasticLaw::warped)
    throw Error("A body of linear modes needs a part that was prepared with the law 'warped'.",
                ErrorCode::invalid_argument);
  if (!(settings.time_step > 0) || !std::isfinite(settings.time_step) || !(settings.fastest > 0))
    throw Error("The time step of an elastic body, and how fast it is held, must be more than zero.",
                ErrorCode::invalid_argument);
  const double h = settings.time_step;
  for (std::size_t k = 0; k < q_.size(); ++k) {
    const double stiffness = model.data().stiffness[k];
    const double damping = model.data().mass_damping + model.data().stiffness_damping * stiffness;
    inverse_[k] = 1 / (1 + h / 2 * damping + h * h / 4 * stiffness);
  }
  shape_.set(q_.data());
}

void ModalBody::set(std::span<const double> q, std::span<const double> v) noexcept {
  for (std::size_t k = 0; k < q_.size(); ++k) {
    q_[k] = std::isfinite(q[k]) ? q[k] : 0;
    v_[k] = std::isfinite(v[k]) ? v[k] : 0;
  }
  shape_.set(q_.data());
}

// J, and c - u(q) in the place of the forces, or less if that is too far for a step.
void ModalBody::add_rows_of(std::span<const HeldPoint> holds) noexcept {
  const std::size_t n = q_.size();
  std::fill_n(rows_.begin(), 3 * n * holds.size(), 0.0);
  double farthest = 0;
  for (std::size_t i = 0; i < holds.size(); ++i) {
    const Vec3d missing = holds[i].displacement - shape_.displacement_at(holds[i].point);
    farthest = std::max(farthest, norm(missing));
    for (std::size_t axis = 0; axis < 3; ++axis) {
      Vec3d direction;
      direction[axis] = 1;
      shape_.add_gradient(holds[i].point, direction, {}, rows_.data() + (3 * i + axis) * n);
      forces_[3 * i + axis] = missing[axis];
    }
  }
  const double most = settings_.fastest * settings_.time_step;
  if (farthest > most)
    for (std::size_t i = 0; i < 3 * holds.size(); ++i) forces_[i] *= most / farthest;
}

bool ModalBody::step(std::span<const double> load, std::span<const HeldPoint> holds, std::span<Vec3d> forces) noexcept {
  const std::size_t n = q_.size(), rows = 3 * holds.size();
  const double h = settings_.time_step;
  std::fill(forces.begin(), forces.end(), Vec3d{});
  if (holds.size() > settings_.most_holds || forces.size() < holds.size() || load.size() != n) return false;
  const std::span<const double> stiffness = model_->data().stiffness;
  for (std::size_t k = 0; k < n; ++k) mean_[k] = inverse_[k] * (v_[k] + h / 2 * (load[k] - stiffness[k] * q_[k]));

  if (rows > 0) {
    add_rows_of(holds);
    const auto row = [&](std::size_t i) { return rows_.data() + i * n; };
    for (std::size_t i = 0; i < rows; ++i) {
      forces_[i] -= h * dot_of(row(i), mean_.data(), n);
      for (std::size_t j = i; j < rows; ++j)
        small_[i * rows + j] = small_[j * rows + i] = h * h / 2 * dot_of(row(i), row(j), inverse_.data(), n);
    }
    solver_.factor(small_.data(), rows, k_least_share);
    solver_.solve(forces_.data());
    for (std::size_t i = 0; i < rows; ++i)
      for (std::size_t k = 0; k < n; ++k) mean_[k] += inverse_[k] * (h / 2 * forces_[i]) * row(i)[k];
  }
  for (std::size_t k = 0; k < n; ++k)
    if (!std::isfinite(q_[k] + h * mean_[k]) || !std::isfinite(2 * mean_[k] - v_[k])) return false;

  for (std::size_t k = 0; k < n; ++k) {
    q_[k] += h * mean_[k];
    v_[k] = mean_[k] - v_[k];  // w - v; w is added below
  }
  if (rows > 0) {
    const auto row = [&](std::size_t i) { return rows_.data() + i * n; };
    for (std::size_t i = 0; i < rows; ++i) {
      slip_[i] = dot_of(row(i), v_.data(), n);
      for (std::size_t j = i; j < rows; ++j) small_[i * rows + j] = small_[j * rows + i] = dot_of(row(i), row(j), n);
    }
    solver_.factor(small_.data(), rows, k_least_share);
    solver_.solve(slip_.data());
    for (std::size_t i = 0; i < rows; ++i) add_times(v_.data(), -slip_[i], row(i), n);
    for (std::size_t i = 0; i < holds.size(); ++i) forces[i] = {forces_[3 * i], forces_[3 * i + 1], forces_[3 * i + 2]};
  }
  for (std::size_t k = 0; k < n; ++k) v_[k] += mean_[k];
  shape_.set(q_.data());
  return true;
}

double ModalBody::energy() const noexcept {
  double sum = 0;
  for (std::size_t k = 0; k < q_.size(); ++k) sum += v_[k] * v_[k] + model_->data().stiffness[k] * q_[k] * q_[k];
  return sum / 2;
}

}  // namespace cotouch
