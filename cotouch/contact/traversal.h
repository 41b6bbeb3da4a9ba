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
//   void fetch(std::uint32_t point) const           it will be looked up soon, and some that follow it
//   float free(float distance) const                a ball around such a point in which nothing touches, less rounding
//   float radius(const ShellNode&) const            of the ball that holds every point below the node
#pragma once

#include <cotouch/contact/coherence.h>
#include <cotouch/contact/detail.h>
#include <cotouch/contact/scratch.h>
#include <cotouch/shell/shell.h>

#include <algorithm>
#include <cstring>

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
      std::swap(w_.queue, w_.next);
      const bool last = is_last(level);
      stats.level = level;
      stats.visited += last ? last_points_ - w_.point_count : w_.queue.size;
      stats.skipped += static_cast<std::uint32_t>(next_skipped_);
      if (last)
        look_up_points();
      else
        look_up_queue();
      if (last || !go_deeper(level, stats)) return;
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
      look_up(&w_.points[begin], std::min(k_block, count - begin));
    w_.point_count = stats.visited = count;
    stats.level = level;
    return true;
  }

  static constexpr std::uint32_t k_block = ContactScratch::k_block;
  static constexpr std::uint32_t k_no_point = ContactScratch::Queue::k_no_point;
  static constexpr std::uint64_t k_skips_per_visit = 4;  // what a skipped node costs, see Detail::Rule::by_work

  // Surely the last one: its nodes need no children, so its copies need not be visited and its points are skipped by
  // their own slack, which lasts longer than that of a ball.
  bool is_last(std::uint32_t level) const noexcept {
    if (level >= deepest_) return true;
    if constexpr (coherent)
      return detail_.rule == Detail::Rule::by_work && level == detail_.level && cache_->is_refused(level + 1);
    return false;
  }

  // first, first + 1, ...: at least `count` of them. Whole vectors, because counts are small and hard to foresee.
  static void write_run(std::uint32_t* out, std::uint32_t first, std::uint32_t count) noexcept {
    using Run = std::uint32_t __attribute__((vector_size(4 * ContactScratch::k_run)));
    Run run = first + Run{0, 1, 2, 3, 4, 5, 6, 7};
    const std::uint32_t* const end = out + count;
    do {
      std::memcpy(out, &run, sizeof run);
      run += ContactScratch::k_run;
      out += ContactScratch::k_run;
    } while (out < end);
  }

  void queue_roots() noexcept {
    const std::uint32_t roots = shell_.points_to_level(0);
    if (is_last(0)) {
      write_run(w_.points.data(), 0, roots);
      last_points_ = keep_points(0, roots);
      next_skipped_ = roots - last_points_;
    } else {
      write_run(w_.next.node.data(), 0, roots);
      write_run(w_.next.point.data(), 0, roots);
      w_.next.size = keep_nodes(0, roots);
      next_skipped_ = roots - w_.next.size;
    }
  }

  // Drops what is known to be free from points[begin .. end), returns the new end.
  std::uint32_t keep_points(std::uint32_t begin, std::uint32_t end) noexcept {
    if constexpr (!coherent) return end;
    const CoherenceCache::Entries entries = cache_->entries();
    std::uint32_t* const points = w_.points.data();
    const std::uint32_t first_key = first_point_key_;
    std::uint32_t kept = begin;
    for (std::uint32_t i = begin; i < end; ++i) {
      const std::uint32_t point = points[i];
      points[kept] = point;
      kept += entries.is_free(first_key + point) ? 0U : 1U;
    }
    return kept;
  }

  // The same for the nodes of the next queue.
  std::uint32_t keep_nodes(std::uint32_t begin, std::uint32_t end) noexcept {
    if constexpr (!coherent) return end;
    const CoherenceCache::Entries entries = cache_->entries();
    std::uint32_t *const nodes = w_.next.node.data(), *const points = w_.next.point.data();
    float* const distances = w_.next.distance.data();
    std::uint32_t kept = begin;
    for (std::uint32_t i = begin; i < end; ++i) {
      const std::uint32_t node = nodes[i];
      nodes[kept] = node;
      points[kept] = points[i];
      distances[kept] = distances[i];
      kept += entries.is_free(node) ? 0U : 1U;
    }
    return kept;
  }

  // Looks up the queue's points, other than those of copies.
  void look_up_queue() noexcept {
    const std::uint32_t* const points = w_.queue.point.data();
    for (std::uint32_t begin = 0; begin < w_.queue.size; begin += k_block) {
      const std::uint32_t end = std::min(begin + k_block, w_.queue.size);
      std::uint32_t *const fresh = &w_.points[w_.point_count], *const place = w_.open.data();
      std::uint32_t count = 0;
      for (std::uint32_t i = begin; i < end; ++i) {
        fresh[count] = points[i];
        place[count] = i;
        count += points[i] != k_no_point ? 1U : 0U;
      }
      look_up(fresh, count);
      if constexpr (coherent) add_near(fresh, count);
      float* const distances = w_.queue.distance.data();
      for (std::uint32_t i = 0; i < count; ++i) distances[place[i]] = w_.distance[i];
      w_.point_count += count;
    }
  }

  // Looks up points[point_count .. last_points_): those of the last level.
  void look_up_points() noexcept {
    for (std::uint32_t begin = w_.point_count; begin < last_points_; begin += k_block) {
      const std::uint32_t count = std::min(k_block, last_points_ - begin);
      const std::uint32_t* const points = &w_.points[begin];
      look_up(points, count);
      if constexpr (coherent) {
        add_near(points, count);
        CoherenceCache::Entries entries = cache_->entries();
        for (std::uint32_t i = 0; i < count; ++i) entries.put(first_point_key_ + points[i], w_.free[i]);
      }
    }
    w_.point_count = last_points_;
  }

  // Shows the cache what was looked up; leaves the room around each in `free`.
  void add_near(const std::uint32_t* points, std::uint32_t count) noexcept {
    for (std::uint32_t i = 0; i < count; ++i) w_.free[i] = source_.free(w_.distance[i]);
    cache_->add_near({points, count}, w_.free.data());
  }

  void look_up(const std::uint32_t* points, std::uint32_t count) noexcept {
    float* const distance = w_.distance.data();
    source_.look_up(points, count, distance);
    ContactPoint* const touching = w_.contacts.data();
    std::uint32_t n = w_.contact_count;
    for (std::uint32_t i = 0; i < count; ++i) {
      touching[n] = {points[i], distance[i]};
      n += distance[i] < 0 ? 1U : 0U;
    }
    w_.contact_count = n;
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

  struct Family {
    std::uint32_t parent, child, count;
  };
  Family family(std::uint32_t parent) const noexcept {
    const std::uint32_t child = nodes_[parent].first_child;
    return {parent, child, nodes_[parent + 1].first_child - child};
  }

  // Queues the children of the level's nodes that may touch. Stops, and returns false, once the next level is known to
  // need more than `room` (in skipped nodes).
  bool queue_children(std::uint32_t level, std::uint64_t room) noexcept {
    const bool to_last = is_last(level + 1);
    // A point new on the next level has as many points before it as there are nodes before its own that are no copies.
    const std::uint32_t* const level_begin = shell_.data().level_begin.data();
    const std::uint32_t first_point = shell_.points_to_level(level) - level_begin[level + 1] + level_begin[level];
    std::uint32_t n = to_last ? w_.point_count : 0;
    const std::uint32_t first = n;
    std::uint64_t skipped = 0;
    for (std::uint32_t begin = 0; begin < w_.queue.size; begin += k_block) {
      const std::uint32_t open_count = find_open(begin);
      const std::uint32_t before = n;
      if (to_last) {
        std::uint32_t* const points = w_.points.data();
        for (std::uint32_t k = 0; k < open_count; ++k) {
          const Family f = family(w_.queue.node[w_.open[k]]);
          // Copies on the last level have neither a force nor children of their own.
          source_.fetch(first_point + f.child - f.parent);
          write_run(points + n, first_point + f.child - f.parent, f.count - 1);
          n += f.count - 1;
        }
      } else {
        std::uint32_t *const nodes = w_.next.node.data(), *const points = w_.next.point.data();
        for (std::uint32_t k = 0; k < open_count; ++k) {
          const Family f = family(w_.queue.node[w_.open[k]]);
          source_.fetch(first_point + f.child - f.parent);
          __builtin_prefetch(&nodes_[f.child]);
          __builtin_prefetch(&nodes_[f.child + f.count]);
          write_run(nodes + n, f.child, f.count);
          write_run(points + n, first_point + f.child - f.parent - 1, f.count);
          points[n] = k_no_point;
          w_.next.distance[n] = w_.queue.distance[w_.open[k]];
          n += f.count;
        }
      }
      const std::uint32_t kept = to_last ? keep_points(before, n) : keep_nodes(before, n);
      skipped += n - kept;
      n = kept;
      if ((n - first) * k_skips_per_visit + skipped >= room) return false;
    }
    (to_last ? last_points_ : w_.next.size) = n;
    next_skipped_ = skipped;
    return true;
  }

  // Which of the queue's next nodes may touch; remembers how long the others are free.
  std::uint32_t find_open(std::uint32_t begin) noexcept {
    const std::uint32_t size = std::min(k_block, w_.queue.size - begin);
    const std::uint32_t* const node = &w_.queue.node[begin];
    const float* const distance = &w_.queue.distance[begin];
    float* const slack = w_.free.data();
    for (std::uint32_t i = 0; i < size; ++i) slack[i] = source_.free(distance[i]);
    for (std::uint32_t i = 0; i < size; ++i) slack[i] -= source_.radius(nodes_[node[i]]);
    if constexpr (coherent) {
      CoherenceCache::Entries entries = cache_->entries();
      for (std::uint32_t i = 0; i < size; ++i) entries.put(node[i], slack[i]);
    }
    std::uint32_t* const open = w_.open.data();
    std::uint32_t count = 0;
    for (std::uint32_t i = 0; i < size; ++i) {
      open[count] = begin + i;
      count += slack[i] > 0 ? 0U : 1U;
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
  std::uint32_t last_points_ = 0;  // end of `points`, once the last level is queued
  std::uint64_t next_skipped_ = 0;
};

}  // namespace cotouch
