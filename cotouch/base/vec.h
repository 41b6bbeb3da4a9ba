// Small fixed-size linear algebra: vectors, 3x3 matrices and 6x6 systems.
//
// Plain scalar code, no expression templates: every operation is written out in one order, so with floating-point
// contraction off the bits are the same on every compiler, optimisation level and architecture.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>

namespace cotouch {

template <class T>
struct Vec3 {
  T x{}, y{}, z{};

  constexpr Vec3() = default;
  constexpr Vec3(T x_, T y_, T z_) : x(x_), y(y_), z(z_) {}
  template <class U>
  constexpr explicit Vec3(const Vec3<U>& v) : x(T(v.x)), y(T(v.y)), z(T(v.z)) {}

  constexpr T operator[](std::size_t i) const { return i == 0 ? x : i == 1 ? y : z; }
  constexpr T& operator[](std::size_t i) { return i == 0 ? x : i == 1 ? y : z; }

  constexpr Vec3& operator+=(const Vec3& b) { return *this = *this + b; }
  constexpr Vec3& operator-=(const Vec3& b) { return *this = *this - b; }
  constexpr Vec3& operator*=(T s) { return *this = *this * s; }

  friend constexpr Vec3 operator+(const Vec3& a, const Vec3& b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
  friend constexpr Vec3 operator-(const Vec3& a, const Vec3& b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
  friend constexpr Vec3 operator-(const Vec3& a) { return {-a.x, -a.y, -a.z}; }
  friend constexpr Vec3 operator*(const Vec3& a, T s) { return {a.x * s, a.y * s, a.z * s}; }
  friend constexpr Vec3 operator*(T s, const Vec3& a) { return a * s; }
  friend constexpr Vec3 operator/(const Vec3& a, T s) { return {a.x / s, a.y / s, a.z / s}; }
  friend constexpr bool operator==(const Vec3&, const Vec3&) = default;
};

using Vec3d = Vec3<double>;
using Vec3f = Vec3<float>;

template <class T>
constexpr T dot(const Vec3<T>& a, const Vec3<T>& b) {
  return a.x * b.x + a.y * b.y + a.z * b.z;
}
template <class T>
constexpr Vec3<T> cross(const Vec3<T>& a, const Vec3<T>& b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
template <class T>
constexpr T norm_squared(const Vec3<T>& a) {
  return dot(a, a);
}
template <class T>
T norm(const Vec3<T>& a) {
  return std::sqrt(dot(a, a));
}
// A vector of length one along `a`, or zero where `a` has no direction.
template <class T>
Vec3<T> normalized(const Vec3<T>& a) {
  const T length = norm(a);
  return length > T(0) ? a / length : Vec3<T>{};
}
template <class T>
constexpr Vec3<T> min(const Vec3<T>& a, const Vec3<T>& b) {
  return {a.x < b.x ? a.x : b.x, a.y < b.y ? a.y : b.y, a.z < b.z ? a.z : b.z};
}
template <class T>
constexpr Vec3<T> max(const Vec3<T>& a, const Vec3<T>& b) {
  return {a.x > b.x ? a.x : b.x, a.y > b.y ? a.y : b.y, a.z > b.z ? a.z : b.z};
}
template <class T>
bool is_finite(const Vec3<T>& a) {
  return std::isfinite(a.x) && std::isfinite(a.y) && std::isfinite(a.z);
}

// An axis-aligned box; empty until something is added.
template <class T>
struct Box3 {
  Vec3<T> low{T(1e30), T(1e30), T(1e30)};
  Vec3<T> high{T(-1e30), T(-1e30), T(-1e30)};

  constexpr void add(const Vec3<T>& p) {
    low = min(low, p);
    high = max(high, p);
  }
  constexpr bool empty() const { return low.x > high.x; }
  constexpr Vec3<T> size() const { return high - low; }
  constexpr Vec3<T> center() const { return (low + high) * T(0.5); }
};
using Box3d = Box3<double>;
using Box3f = Box3<float>;

// 3x3 matrix, row-major.
struct Mat3 {
  std::array<double, 9> m{};

  constexpr double operator()(std::size_t row, std::size_t col) const { return m[3 * row + col]; }
  constexpr double& operator()(std::size_t row, std::size_t col) { return m[3 * row + col]; }

  static constexpr Mat3 identity() { return {{1, 0, 0, 0, 1, 0, 0, 0, 1}}; }
  // [v]x, so that cross_matrix(v) * u == cross(v, u).
  static constexpr Mat3 cross_matrix(const Vec3d& v) { return {{0, -v.z, v.y, v.z, 0, -v.x, -v.y, v.x, 0}}; }
  static constexpr Mat3 outer(const Vec3d& a, const Vec3d& b) {
    return {{a.x * b.x, a.x * b.y, a.x * b.z, a.y * b.x, a.y * b.y, a.y * b.z, a.z * b.x, a.z * b.y, a.z * b.z}};
  }

  friend constexpr Mat3 operator+(const Mat3& a, const Mat3& b) {
    Mat3 c;
    for (std::size_t i = 0; i < 9; ++i) c.m[i] = a.m[i] + b.m[i];
    return c;
  }
  friend constexpr Mat3 operator-(const Mat3& a, const Mat3& b) {
    Mat3 c;
    for (std::size_t i = 0; i < 9; ++i) c.m[i] = a.m[i] - b.m[i];
    return c;
  }
  friend constexpr Mat3 operator*(const Mat3& a, double s) {
    Mat3 c;
    for (std::size_t i = 0; i < 9; ++i) c.m[i] = a.m[i] * s;
    return c;
  }
  friend constexpr Mat3 operator*(const Mat3& a, const Mat3& b) {
    Mat3 c;
    for (std::size_t i = 0; i < 3; ++i)
      for (std::size_t j = 0; j < 3; ++j) c(i, j) = a(i, 0) * b(0, j) + a(i, 1) * b(1, j) + a(i, 2) * b(2, j);
    return c;
  }
  friend constexpr Vec3d operator*(const Mat3& a, const Vec3d& v) {
    return {a.m[0] * v.x + a.m[1] * v.y + a.m[2] * v.z, a.m[3] * v.x + a.m[4] * v.y + a.m[5] * v.z,
            a.m[6] * v.x + a.m[7] * v.y + a.m[8] * v.z};
  }
  constexpr Mat3 transposed() const { return {{m[0], m[3], m[6], m[1], m[4], m[7], m[2], m[5], m[8]}}; }
};

struct Vec6 {
  Vec3d linear, angular;
};

// 6x6 matrix of 3x3 blocks, the shape of every derivative of a wrench with respect to a small motion
// (linear displacement first, rotation vector second).
struct Mat6 {
  Mat3 force_linear, force_angular;    // dF/dx, dF/dw
  Mat3 torque_linear, torque_angular;  // dT/dx, dT/dw

  constexpr double operator()(std::size_t row, std::size_t col) const {
    const Mat3& block = row < 3 ? (col < 3 ? force_linear : force_angular) : (col < 3 ? torque_linear : torque_angular);
    return block(row % 3, col % 3);
  }
  friend constexpr Mat6 operator+(const Mat6& a, const Mat6& b) {
    return {a.force_linear + b.force_linear, a.force_angular + b.force_angular, a.torque_linear + b.torque_linear,
            a.torque_angular + b.torque_angular};
  }
  friend constexpr Mat6 operator*(const Mat6& a, double s) {
    return {a.force_linear * s, a.force_angular * s, a.torque_linear * s, a.torque_angular * s};
  }
  friend constexpr Vec6 operator*(const Mat6& a, const Vec6& v) {
    return {a.force_linear * v.linear + a.force_angular * v.angular,
            a.torque_linear * v.linear + a.torque_angular * v.angular};
  }
};

// Solves A x = b by elimination with row pivoting. Returns false, x untouched, where A is singular.
bool solve(const Mat6& a, const Vec6& b, Vec6& x) noexcept;

}  // namespace cotouch
