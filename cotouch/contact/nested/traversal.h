// The walk through a shell's tree (paper 001, III), whatever the points and the distances are.
//
// The tree is walked breadth first. A node whose ball lies in free space is dropped, otherwise its children are queued.
// Contacts are met in the order of the point arrays, and both culling and temporal coherence drop only points that
// surely do not touch, so what is found is exactly what visiting every point of levels 0..level would find, in the same
// order.
//
// Shells are checked when they are made. That what is read of a tree lies within it all the same is an invariant
// (base/invariant.h): a walk that finds a broken link ends there, and writes and reads nothing outside.
//
// `Source` says where the points are and how far they are from the other body. It is inlined and known here only by:
//   const Shell& shell() const                      the tree
//   void look_up(const std::uint32_t* point, std::uint32_t count, float* distance) const   metres, less the clearance
//   void fetch(std::uint32_t point) const           it will be looked up soon, and some that follow it
//   float free(float distance) const                a ball around such a point in which nothing touches, less rounding
//   float radius(const ShellBranch&) const          of the ball that holds every point below the node
#pragma once

#include <cotouch/base/invariant.h>
#include <cotouch/contact/detail.h>
#include <cotouch/contact/nested/coherence.h>
#include <cotouch/contact/nested/workspace.h>
#include <cotouch/shell/shell.h>

#include <algorithm>
#include <cstring>

namespace cotouch {

template <class Source, bool coherent>
class Traversal {
 public:
  // `cache` is used if `coherent`. `deepest` is the last level that may be rendered at all.
  Traversal(const Source& source, const Detail& detail, std::uint32_t deepest, NestedWorkspace& scratch,
            CoherenceCache* cache) noexcept
      : source_(source),
        shell_(source.shell()),
        nodes_(shell_.branches()),
        detail_(detail),
        deepest_(detail.rule == Detail::Rule::exactly ? std::min(detail.level, deepest) : deepest),
        w_(scratch),
        cache_(cache) {}

  void run(ContactStats& stats) noexcept {
    w_.contact_count = 0;
    w_.point_count = 0;
    if constexpr (coherent) {
      if (look_up_near(stats)) return;
      cache_->begin_near();
      walk(stats);
      cache_->end_near(stats.level);
    } else {
      walk(stats);
    }
  }

 private:
  void walk(ContactStats& stats) noexcept {
    queue_roots();
    for (std::uint32_t level = 0;; ++level) {
      const bool last = is_last(level);
      stats.level = level;
      stats.visited += last ? point_end_ - w_.point_count : w_.next.size;
      std::swap(w_.queue, w_.next);
      look_up_level();
      if (last) return;
      spread_distances();
      if (!go_deeper(level, stats)) return;
    }
  }

  // Without the tree, if the cache knows which points are near and this is a level to stay on.
  bool look_up_near(ContactStats& stats) noexcept {
    const std::uint32_t level = std::min(detail_.level, deepest_);
    if (!cache_->knows_near(level) || !is_last(level)) return false;
    const std::span<const std::uint32_t> near = cache_->near();
    const auto count = static_cast<std::uint32_t>(near.size());
    if (detail_.rule == Detail::Rule::by_work && count >= detail_.budget.warm) return false;
    std::copy(near.begin(), near.end(), w_.points.begin());
    for (std::uint32_t begin = 0; begin < count; begin += k_block)
      look_up(&w_.points[begin], std::min(k_block, count - begin), w_.distances.data());
    w_.point_count = stats.visited = count;
    stats.level = level;
    return true;
  }

  static constexpr std::uint32_t k_block = NestedWorkspace::k_block;
  static constexpr std::uint32_t k_run = NestedWorkspace::k_run;

  // Surely the last one: its nodes need no children, so its copies need not be visited.
  bool is_last(std::uint32_t level) const noexcept {
    if (level >= deepest_) return true;
    if constexpr (coherent)
      return detail_.rule == Detail::Rule::by_work && level == detail_.level && cache_->is_refused(level + 1);
    return false;
  }

  // first, first + 1, ...: at least `count` of them. Whole vectors, because counts are small and hard to foresee.
  static void write_run(std::uint32_t* out, std::uint32_t first, std::uint32_t count) noexcept {
    using Run = std::uint32_t __attribute__((vector_size(4 * k_run)));
    Run run = first + Run{0, 1, 2, 3, 4, 5, 6, 7};
    const std::uint32_t* const end = out + count;
    do {
      std::memcpy(out, &run, sizeof run);
      run += k_run;
      out += k_run;
    } while (out < end);
  }

  void queue_roots() noexcept {
    point_end_ = shell_.points_to_level(0);
    write_run(w_.points.data(), 0, point_end_);
    write_run(w_.next.node.data(), 0, point_end_);
    w_.next.size = point_end_;
    copy_count_ = 0;
  }

  // Looks up points[point_count .. point_end_): those that are new on the level.
  void look_up_level() noexcept {
    float* distances = w_.distances.data();
    for (std::uint32_t begin = w_.point_count; begin < point_end_; begin += k_block) {
      const std::uint32_t count = std::min(k_block, point_end_ - begin);
      look_up(&w_.points[begin], count, distances);
      if constexpr (coherent) add_near(&w_.points[begin], count, distances);
      distances += count;
    }
    w_.point_count = point_end_;
  }

  // The queue's distances: a copy has its parent's, the nodes that follow it have those that were looked up.
  void spread_distances() noexcept {
    float* const out = w_.queue.distance.data();
    const float* from = w_.distances.data();
    std::uint32_t begin = 0;
    for (std::uint32_t k = 0; k <= copy_count_; ++k) {
      const std::uint32_t end = k < copy_count_ ? w_.copies[k].place : w_.queue.size;
      // As in write_run. What is written too much is overwritten next.
      for (std::uint32_t i = begin; i < end; i += k_run) std::memcpy(out + i, from + (i - begin), k_run * sizeof *out);
      from += end - begin;
      out[end] = w_.copies[k].distance;
      begin = end + 1;
    }
  }

  // Shows the cache what was looked up.
  void add_near(const std::uint32_t* points, std::uint32_t count, const float* distances) noexcept {
    for (std::uint32_t i = 0; i < count; ++i) w_.free[i] = source_.free(distances[i]);
    cache_->add_points({points, count}, w_.free.data());
  }

  void look_up(const std::uint32_t* points, std::uint32_t count, float* distance) noexcept {
    source_.look_up(points, count, distance);
    ContactPoint* const touching = w_.contacts.data();
    std::uint32_t n = w_.contact_count;
    const auto take = [&](std::uint32_t i) {
      touching[n] = {points[i], distance[i]};
      n += distance[i] < 0 ? 1U : 0U;
    };
    std::uint32_t i = 0;
    for (; i + 4 <= count; i += 4) {
      std::uint64_t pairs[2];  // most do not touch: four signs at once
      std::memcpy(pairs, distance + i, sizeof pairs);
      if (((pairs[0] | pairs[1]) & 0x8000'0000'8000'0000) == 0) continue;
      for (std::uint32_t k = 0; k < 4; ++k) take(i + k);
    }
    for (; i < count; ++i) take(i);
    w_.contact_count = n;
  }

  bool go_deeper(std::uint32_t level, const ContactStats& stats) noexcept {
    if (detail_.rule == Detail::Rule::exactly) return queue_children(level, ~0U);
    const bool warm = level + 1 <= detail_.level;
    const std::uint32_t limit = warm ? detail_.budget.warm : detail_.budget.cold;
    const std::uint32_t room = limit - std::min(stats.visited, limit);
    const bool entered = room > 0 && (warm || fits(level, room)) && queue_children(level, room);
    if constexpr (coherent)
      if (!entered) cache_->refuse(level + 1);
    return entered;
  }

  // Would all children of the level's nodes that may touch be fewer than `room`? Only counts, so that a level which is
  // too large is found out for a fraction of what queueing and dropping it would cost.
  bool fits(std::uint32_t level, std::uint32_t room) const noexcept {
    const std::uint32_t copies = is_last(level + 1) ? 1 : 0;  // on the last level they are not visited
    std::uint32_t wanted = 0;
    for (std::uint32_t i = 0; i < w_.queue.size && wanted < room; ++i) {
      const std::uint32_t node = w_.queue.node[i];
      const bool open = !(source_.free(w_.queue.distance[i]) - source_.radius(nodes_[node]) > 0);
      wanted += open ? nodes_[node + 1].first_child - nodes_[node].first_child - copies : 0;
    }
    return wanted < room;
  }

  // Queues the children of the level's nodes that may touch. Stops, and returns false, once the next level is known to
  // need `room` nodes or more.
  bool queue_children(std::uint32_t level, std::uint32_t room) noexcept {
    const bool to_last = is_last(level + 1);
    // A point new on the next level has as many points before it as there are nodes before its own that are no copies.
    const std::uint32_t* const level_begin = shell_.data().level_begin.data();
    first_point_ = shell_.points_to_level(level) - level_begin[level + 1] + level_begin[level];
    next_begin_ = level_begin[level + 1];
    next_size_ = shell_.points_to_level(level + 1);
    w_.next.size = copy_count_ = 0;
    if (next_size_ > shell_.point_count()) [[unlikely]]
      return tree_is_broken();
    for (std::uint32_t begin = 0; begin < w_.queue.size; begin += k_block) {
      const std::uint32_t open_count = find_open(begin);
      if (!(to_last ? queue_points(open_count) : queue_nodes(open_count))) [[unlikely]]
        return tree_is_broken();
      if ((to_last ? point_end_ - w_.point_count : w_.next.size) >= room) return false;
    }
    w_.copies[copy_count_] = {w_.next.size, 0};
    return true;
  }

  // The number of the first point that is new among the children of `node` or of any after it.
  std::uint32_t first_new_point(std::uint32_t node) const noexcept {
    return first_point_ + nodes_[node].first_child - node;
  }

  // The points that are new below the open nodes. Copies on the last level have neither a force nor children of their
  // own. Nodes that follow each other have points that follow each other. False if they are no points of the shell.
  bool queue_points(std::uint32_t open_count) noexcept {
    const std::uint32_t *const open = w_.open.data(), *const from = w_.queue.node.data();
    std::uint32_t* const points = w_.points.data();
    const std::uint32_t all = shell_.point_count();
    std::uint32_t n = point_end_;
    for (std::uint32_t k = 0; k < open_count;) {
      const std::uint32_t begin = from[open[k]];
      std::uint32_t end = begin + 1;
      for (++k; k < open_count && from[open[k]] == end; ++k) ++end;
      const std::uint32_t first = first_new_point(begin), count = first_new_point(end) - first;
      if ((count > all - n) | (first > all - count)) [[unlikely]]
        return false;
      source_.fetch(first);
      write_run(points + n, first, count);
      n += count;
    }
    point_end_ = n;
    return true;
  }

  // The same with the nodes themselves, copies too. False if they are no nodes of the next level.
  bool queue_nodes(std::uint32_t open_count) noexcept {
    const std::uint32_t *const open = w_.open.data(), *const from = w_.queue.node.data();
    const float* const distances = w_.queue.distance.data();
    std::uint32_t *const points = w_.points.data(), *const nodes = w_.next.node.data();
    NestedWorkspace::Copy* const copies = w_.copies.data() + copy_count_;
    const std::uint32_t next_end = next_begin_ + next_size_, all = shell_.point_count();
    std::uint32_t n = w_.next.size, p = point_end_;
    for (std::uint32_t k = 0; k < open_count;) {
      const std::uint32_t begin = from[open[k]], child = nodes_[begin].first_child, first = first_new_point(begin);
      std::uint32_t end = begin, end_child = child;
      bool sound = child >= next_begin_;
      do {
        copies[k] = {n + end_child - child, distances[open[k]]};
        const std::uint32_t before = end_child;
        end_child = nodes_[++end].first_child;
        sound &= end_child > before;  // each has its own copy at least
        __builtin_prefetch(&nodes_[end_child]);
        ++k;
      } while (k < open_count && from[open[k]] == end);
      const std::uint32_t count = end_child - child, fresh = count - (end - begin);
      sound &= (end_child <= next_end) & (count <= next_size_ - n) & (fresh <= all - p) & (first <= all - fresh);
      if (!sound) [[unlikely]]
        return false;
      source_.fetch(first);
      write_run(nodes + n, child, count);
      write_run(points + p, first, fresh);
      n += count;
      p += fresh;
    }
    copy_count_ += open_count;
    w_.next.size = n;
    point_end_ = p;
    return true;
  }

  // The walk ends with what was looked up so far.
  bool tree_is_broken() noexcept {
    point_end_ = w_.point_count;
    return invariant(false, k_tree_invariant);
  }

  // Which of the queue's next nodes may touch.
  std::uint32_t find_open(std::uint32_t begin) noexcept {
    const std::uint32_t size = std::min(k_block, w_.queue.size - begin);
    const std::uint32_t* const node = &w_.queue.node[begin];
    const float* const distance = &w_.queue.distance[begin];
    float* const slack = w_.free.data();
    const ShellBranch* const nodes = nodes_;
    for (std::uint32_t i = 0; i < size; ++i) slack[i] = source_.free(distance[i]);
    std::uint32_t* const open = w_.open.data();
    std::uint32_t count = 0;
    for (std::uint32_t i = 0; i < size; ++i) {
      const float left = slack[i] - source_.radius(nodes[node[i]]);
      if constexpr (coherent) slack[i] = left;
      open[count] = begin + i;
      count += left > 0 ? 0U : 1U;
    }
    if constexpr (coherent) cache_->add_nodes({slack, size});
    return count;
  }

  const Source& source_;
  const Shell& shell_;
  const ShellBranch* nodes_;
  Detail detail_;
  std::uint32_t deepest_;
  NestedWorkspace& w_;
  CoherenceCache* cache_;
  std::uint32_t first_point_ = 0;                 // see first_new_point
  std::uint32_t next_begin_ = 0, next_size_ = 0;  // the nodes of the level that is queued
  std::uint32_t point_end_ = 0;                   // of `points` that are queued
  std::uint32_t copy_count_ = 0;                  // among the queued nodes
};

}  // namespace cotouch
