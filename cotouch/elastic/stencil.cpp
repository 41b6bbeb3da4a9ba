#include <cotouch/elastic/stencil.h>

#include <utility>

namespace cotouch {
namespace {

using Node = Stencil::Node;
using Prism = std::array<std::array<Node, 3>, 2>;

bool is_long_edge(int a, int b) {
  return a / 2 == b / 2;
}

Node corner(int a) {
  return {static_cast<std::uint8_t>(a), static_cast<std::uint8_t>(a)};
}
Node cut(int inside, int outside) {
  return {static_cast<std::uint8_t>(inside), static_cast<std::uint8_t>(outside)};
}

// Of the corners p and q, both inside, the one where the diagonal begins.
int diagonal_from(const LatticeTet& tet, int p, int q, int outside) {
  const auto odd = [&](int i) { return tet.odd[static_cast<std::size_t>(i)]; };
  if (is_long_edge(p, q)) return odd(p) == odd(outside) ? p : q;
  return is_long_edge(p, outside) ? q : p;  // to the cut of the other's long edge
}

void add(Stencil& stencil, const Stencil::Filling& filling) {
  stencil.fillings[stencil.count++] = filling;
}

// rising[i]: the side between the corners i and i + 1 is cut from the lower triangle's corner i to the upper's i + 1,
// else from the upper's i to the lower's i + 1. Seen from above the triangles run counter-clockwise.
void add_prism(Stencil& stencil, const Prism& prism, const std::array<bool, 3>& rising) {
  const auto& [low, high] = prism;
  for (std::size_t i = 0; i < 3; ++i) {
    const std::size_t j = (i + 1) % 3, k = (i + 2) % 3;
    if (!rising[i] || rising[k]) continue;
    // Both diagonals beside the lower corner i begin there: everything opposite is seen from it.
    add(stencil, {low[i], high[i], high[j], high[k]});
    if (rising[j]) {
      add(stencil, {low[i], low[j], low[k], high[k]});
      add(stencil, {low[i], low[j], high[k], high[j]});
    } else {
      add(stencil, {low[i], low[j], low[k], high[j]});
      add(stencil, {low[i], high[j], low[k], high[k]});
    }
    return;
  }
}

}  // namespace

Stencil fill(const LatticeTet& tet) {
  // The corners from the inside out, by even permutations, which keep the volume positive.
  std::array<int, 4> c{0, 1, 2, 3};
  const auto side = [&](std::size_t i) { return tet.side[static_cast<std::size_t>(c[i])]; };
  bool mirrored = false;
  for (std::size_t end = 3; end > 0; --end)
    for (std::size_t i = 0; i < end; ++i)
      if (side(i) < side(i + 1)) {
        std::swap(c[i], c[i + 1]);
        mirrored = !mirrored;
      }
  if (mirrored) {  // two on the same side, of which there are always two, change places
    for (std::size_t i = 0; i < 3; ++i)
      if (side(i) == side(i + 1)) {
        std::swap(c[i], c[i + 1]);
        break;
      }
  }
  std::size_t inside = 0, outside = 0;
  for (const int s : tet.side) {
    inside += s > 0;
    outside += s < 0;
  }

  Stencil stencil;
  if (inside == 0) return stencil;
  if (outside == 0) {
    add(stencil, {corner(c[0]), corner(c[1]), corner(c[2]), corner(c[3])});
  } else if (inside == 1) {
    Stencil::Filling filling;
    for (std::size_t i = 0; i < 4; ++i) filling[i] = side(i) < 0 ? cut(c[0], c[i]) : corner(c[i]);
    add(stencil, filling);
  } else if (inside == 2 && outside == 1) {
    // A pyramid over the face without the corner on the surface, which is its top.
    const auto [p, q, top, o] = c;
    if (diagonal_from(tet, p, q, o) == p) {
      add(stencil, {corner(p), corner(q), corner(top), cut(q, o)});
      add(stencil, {corner(p), cut(q, o), corner(top), cut(p, o)});
    } else {
      add(stencil, {corner(p), corner(q), corner(top), cut(p, o)});
      add(stencil, {corner(q), cut(q, o), corner(top), cut(p, o)});
    }
  } else if (inside == 2) {
    // A prism between the triangle at p and the triangle at q.
    const auto [p, q, r, s] = c;
    const Prism prism{{{corner(p), cut(p, r), cut(p, s)}, {corner(q), cut(q, r), cut(q, s)}}};
    const bool first = diagonal_from(tet, p, q, r) == p, last = diagonal_from(tet, p, q, s) == q;
    // The third side is on the surface, so it may be cut in the way that lets the prism be filled.
    add_prism(stencil, prism, {first, !first, last});
  } else {
    // A prism between the face inside and the surface.
    const auto [p, q, r, o] = c;
    const Prism prism{{{corner(p), corner(q), corner(r)}, {cut(p, o), cut(q, o), cut(r, o)}}};
    add_prism(stencil, prism,
              {diagonal_from(tet, p, q, o) == p, diagonal_from(tet, q, r, o) == q, diagonal_from(tet, r, p, o) == r});
  }
  return stencil;
}

}  // namespace cotouch
