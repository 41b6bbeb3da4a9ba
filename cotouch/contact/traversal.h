// The walk through a shell's tree (paper 001, III), whatever the points and the distances are.
//
// The tree is walked breadth first. A node whose ball lies in free space is dropped, otherwise its children are queued.
// Contacts are met in the order of the point arrays, and both culling and temporal coherence drop only points that
// surely do not touch, so what is found is exactly what visiting every point of levels 0..level would find, in the same
// order.
//
// `Source` says where the points are and how far they are from the other body. It is inlined and known here only by:
//   const Shell& shell() const                      the tree
//   void look_up(const std::uint32_t* point, std::uint32_t count, float* distance) const   metres, less the clearance
//   float free(float distance) const                a ball around such a point in which nothing touches, less rounding
//   float radius(const ShellNode&) const            of the ball that holds every point below the node
#pragma once

#include <cotouch/contact/coherence.h>
#include <cotouch/contact/detail.h>
#include <cotouch/contact/scratch.h>
#include <cotouch/shell/shell.h>

#include <algorithm>

namespace cotouch {

template <class Source, bool coherent>
class Traversal {
 public:
  // `cache` is used if `coherent`. `deepest` is the last level that may be rendered at all.
  Traversal(const Source& source, const Detail& detail, std::uint32_t deepest, ContactScratch& scratch,
            CoherenceCache* cache) noexcept
      : source_(source),
        shell_(source.shell()),
        nodes_(shell_.data().nodes.data()),
        detail_(detail),
        deepest_(detail.rule == Detail::Rule::exactly ? std::min(detail.level, deepest) : deepest),
        w_(scratch),
        cache_(cache),
        first_point_key_(static_cast<std::uint32_t>(shell_.data().nodes.size())) {}

  void run(ContactStats& stats) noexcept {
    w_.contact_count = 0;
    w_.point_count = 0;
    queue_roots();
    for (std::uint32_t level = 0;; ++level) {
      const std::uint32_t begin = w_.point_count;
      std::swap(w_.queue, w_.next);
      w_.point_count = next_points_;
      const bool last = is_last(level);
      stats.level = level;
      stats.visited += last ? w_.point_count - begin : w_.queue.size;
      stats.skipped += static_cast<std::uint32_t>(next_skipped_);
      look_up(begin, last);
      if (last || !go_deeper(level, stats)) return;
    }
  }

 private:
  static constexpr std::uint32_t k_block = ContactScratch::k_block;
  static constexpr std::uint64_t k_skips_per_visit = 4;  // what a skipped node costs, see Detail::Rule::by_work

  // Surely the last one: its nodes need no children, so its copies need not be visited and its points are skipped by
  // their own slack, which lasts longer than that of a ball.
  bool is_last(std::uint32_t level) const noexcept {
    if (level >= deepest_) return true;
    if constexpr (coherent)
      return detail_.rule == Detail::Rule::by_work && level == detail_.level && cache_->is_refused(level + 1);
    return false;
  }

  bool skip(std::uint32_t key) const noexcept {
    if constexpr (coherent) return cache_->is_free(key);
    return false;
  }

  void queue_roots() noexcept {
    const std::uint32_t roots = shell_.points_to_level(0);
    const bool last = is_last(0);
    std::uint32_t n = 0;
    for (std::uint32_t i = 0; i < roots; ++i) {
      w_.points[n] = i;
      if (!last) {
        w_.next.node[n] = i;
        w_.slot[n] = n;
      }
      n += skip(last ? first_point_key_ + i : i) ? 0U : 1U;
    }
    w_.next.size = last ? 0 : n;
    next_points_ = n;
    next_skipped_ = roots - n;
  }

  // Looks up points[begin .. point_count): the level's new points.
  void look_up(std::uint32_t begin, bool last) noexcept {
    for (; begin < w_.point_count; begin += k_block) {
      const std::uint32_t count = std::min(k_block, w_.point_count - begin);
      const std::uint32_t* const point = &w_.points[begin];
      float* const distance = w_.distance.data();
      source_.look_up(point, count, distance);
      ContactPoint* const touching = w_.contacts.data();
      std::uint32_t n = w_.contact_count;
      for (std::uint32_t i = 0; i < count; ++i) {
        touching[n] = {point[i], distance[i]};
        n += distance[i] < 0 ? 1U : 0U;
      }
      w_.contact_count = n;
      if (!last) {
        for (std::uint32_t i = 0; i < count; ++i) w_.queue.distance[w_.slot[begin + i]] = distance[i];
      } else if constexpr (coherent) {
        for (std::uint32_t i = 0; i < count; ++i) w_.free[i] = source_.free(distance[i]);
        for (std::uint32_t i = 0; i < count; ++i) cache_->put(first_point_key_ + point[i], w_.free[i]);
      }
    }
  }

  bool go_deeper(std::uint32_t level, const ContactStats& stats) noexcept {
    if (detail_.rule == Detail::Rule::exactly) return queue_children(level, ~std::uint64_t{0});
    const bool warm = level + 1 <= detail_.level;
    const std::uint64_t limit = (warm ? detail_.budget.warm : detail_.budget.cold) * k_skips_per_visit;
    const std::uint64_t used = stats.visited * k_skips_per_visit + stats.skipped;
    const bool entered = used < limit && (warm || fits(level, limit - used)) && queue_children(level, limit - used);
    if constexpr (coherent)
      if (!entered) cache_->refuse(level + 1);
    return entered;
  }

  // Would all children of the level's nodes that may touch fit into `room`, with none of them skipped? Only counts, so
  // that a level which is too large is found out for a fraction of what queueing and dropping it would cost.
  bool fits(std::uint32_t level, std::uint64_t room) const noexcept {
    const std::uint32_t copies = is_last(level + 1) ? 1 : 0;  // on the last level they are not visited
    std::uint64_t wanted = 0;
    for (std::uint32_t i = 0; i < w_.queue.size && wanted * k_skips_per_visit < room; ++i) {
      const std::uint32_t node = w_.queue.node[i];
      const bool open = !(source_.free(w_.queue.distance[i]) - source_.radius(nodes_[node]) > 0);
      wanted += open ? nodes_[node + 1].first_child - nodes_[node].first_child - copies : 0;
    }
    return wanted * k_skips_per_visit < room;
  }

  // Queues the children of the level's nodes that may touch. Stops, and returns false, once the next level is known to
  // need more than `room` (in skipped nodes).
  bool queue_children(std::uint32_t level, std::uint64_t room) noexcept {
    const bool to_last = is_last(level + 1);
    // A point new on the next level has as many points before it as there are nodes before its own that are no copies.
    const std::uint32_t* const level_begin = shell_.data().level_begin.data();
    const std::uint32_t first_point = shell_.points_to_level(level) - level_begin[level + 1] + level_begin[level];
    std::uint32_t n = 0;
    std::uint32_t p = w_.point_count;
    std::uint64_t skipped = 0;
    for (std::uint32_t begin = 0; begin < w_.queue.size; begin += k_block) {
      const std::uint32_t open_count = find_open(begin);
      for (std::uint32_t k = 0; k < open_count; ++k) {
        const std::uint32_t node = w_.queue.node[w_.open[k]];
        const std::uint32_t child = nodes_[node].first_child;
        const std::uint32_t child_end = nodes_[node + 1].first_child;
        std::uint32_t point = first_point + child - node;
        const std::uint32_t before = to_last ? p : n;
        if (to_last) {
          // Copies on the last level have neither a force nor children of their own.
          const std::uint32_t point_end = point + (child_end - child - 1);
          for (; point < point_end; ++point) {
            w_.points[p] = point;
            p += skip(first_point_key_ + point) ? 0U : 1U;
          }
          skipped += child_end - child - 1 - (p - before);
        } else {
          w_.next.node[n] = child;
          w_.next.distance[n] = w_.queue.distance[w_.open[k]];
          n += skip(child) ? 0U : 1U;
          for (std::uint32_t c = child + 1; c < child_end; ++c, ++point) {
            w_.next.node[n] = c;
            w_.points[p] = point;
            w_.slot[p] = n;
            const std::uint32_t keep = skip(c) ? 0U : 1U;
            n += keep;
            p += keep;
          }
          skipped += child_end - child - (n - before);
        }
        if ((to_last ? p - w_.point_count : n) * k_skips_per_visit + skipped >= room) return false;
      }
    }
    w_.next.size = n;
    next_points_ = p;
    next_skipped_ = skipped;
    return true;
  }

  // Which of the queue's next nodes may touch; remembers how long the others are free.
  std::uint32_t find_open(std::uint32_t begin) noexcept {
    const std::uint32_t end = std::min(begin + k_block, w_.queue.size);
    std::uint32_t count = 0;
    for (std::uint32_t i = begin; i < end; ++i) w_.free[i - begin] = source_.free(w_.queue.distance[i]);
    for (std::uint32_t i = begin; i < end; ++i) {
      const std::uint32_t node = w_.queue.node[i];
      const float slack = w_.free[i - begin] - source_.radius(nodes_[node]);
      if constexpr (coherent)
        if (slack > 0) cache_->put(node, slack);
      w_.open[count] = i;
      count += slack > 0 ? 0U : 1U;
    }
    return count;
  }

  const Source& source_;
  const Shell& shell_;
  const ShellNode* nodes_;
  Detail detail_;
  std::uint32_t deepest_;
  ContactScratch& w_;
  CoherenceCache* cache_;
  std::uint32_t first_point_key_;  // keys of points come after those of nodes
  std::uint32_t next_points_ = 0;  // end of `points` for the level being queued
  std::uint64_t next_skipped_ = 0;
};

}  // namespace cotouch
