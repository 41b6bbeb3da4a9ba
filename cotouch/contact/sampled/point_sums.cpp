#include <cotouch/contact/sampled/point_sums.h>

#include <cstring>

namespace cotouch {

void PointSums::add(Block& block, std::uint32_t count) noexcept {
  if (count % 2 != 0) {  // one more, at no depth
    for (Block::Row* row : {&block.x, &block.y, &block.z, &block.gx, &block.gy, &block.gz, &block.depth})
      (*row)[count] = 0;
  }
  const auto both = [](double v) { return Two{v, v}; };
  const Two t[9] = {both(turn_(0, 0)), both(turn_(0, 1)), both(turn_(0, 2)), both(turn_(1, 0)), both(turn_(1, 1)),
                    both(turn_(1, 2)), both(turn_(2, 0)), both(turn_(2, 1)), both(turn_(2, 2))};
  for (std::uint32_t i = 0; i < count; i += 2) {
    const auto load = [i](const Block::Row& row) {
      Two two;
      std::memcpy(&two, &row[i], sizeof two);
      return two;
    };
    const Two x = load(block.x), y = load(block.y), z = load(block.z), depth = load(block.depth);
    const Two g[3] = {load(block.gx), load(block.gy), load(block.gz)};
    const Two r[3] = {t[0] * x + t[1] * y + t[2] * z, t[3] * x + t[4] * y + t[5] * z, t[6] * x + t[7] * y + t[8] * z};
    const Two c[3] = {r[1] * g[2] - r[2] * g[1], r[2] * g[0] - r[0] * g[2], r[0] * g[1] - r[1] * g[0]};
    const Two square = depth * depth, sixth = square * square * square, seventh = sixth * depth;
    depth8_ += seventh * depth;
    std::size_t k = 0;
    for (std::size_t a = 0; a < 3; ++a) {
      const Two pushed = seventh * g[a], along = sixth * g[a], around = sixth * c[a];
      push_[a] += pushed;
      for (std::size_t b = 0; b < 3; ++b) {
        moment_[3 * b + a] += pushed * r[b];
        mixed_[3 * a + b] += along * c[b];
      }
      for (std::size_t b = a; b < 3; ++b, ++k) {
        linear_[k] += along * g[b];
        angular_[k] += around * c[b];
      }
    }
  }
}

PointSums::Totals PointSums::totals() const noexcept {
  const auto total = [](const Two& sum) { return sum[0] + sum[1]; };
  const auto full = [&](const std::array<Two, 9>& s) {
    Mat3 m;
    for (std::size_t i = 0; i < 9; ++i) m.m[i] = total(s[i]);
    return m;
  };
  const auto symmetric = [&](const std::array<Two, 6>& s) {
    const double xy = total(s[1]), xz = total(s[2]), yz = total(s[4]);
    return Mat3{{total(s[0]), xy, xz, xy, total(s[3]), yz, xz, yz, total(s[5])}};
  };
  return {total(depth8_), {total(push_[0]), total(push_[1]), total(push_[2])},
          full(moment_),  symmetric(linear_),
          full(mixed_),   symmetric(angular_)};
}

}  // namespace cotouch
