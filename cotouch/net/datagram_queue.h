// Datagrams on their way, in the order of their arrival; those of equal time in the order in which they were put in.
// Memory is kept and used again: a queue that has been as full as it gets allocates nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace cotouch {

class DatagramQueue {
 public:
  struct Datagram {
    double at = 0;                   // when it arrives, s
    std::uint32_t from = 0, to = 0;  // of whoever uses the queue
    std::span<const std::byte> bytes;
  };

  // Copies the bytes, and returns the copy, which may still be changed until the next call.
  std::span<std::byte> push(double at, std::uint32_t from, std::uint32_t to, std::span<const std::byte> bytes);
  // When the next one arrives; infinity if there is none.
  double next_time() const;
  // Takes the next one if it has arrived by `now`; its bytes are valid until the next pop() or clear().
  bool pop(double now, Datagram& datagram);
  void clear();
  std::size_t size() const { return heap_.size(); }
  std::size_t bytes() const { return bytes_; }

 private:
  struct Entry {
    double at;
    std::uint64_t number;  // of the push
    std::uint32_t slot;
  };
  struct Slot {
    std::uint32_t from = 0, to = 0;
    std::vector<std::byte> bytes;
  };
  static bool later(const Entry& a, const Entry& b) { return a.at > b.at || (a.at == b.at && a.number > b.number); }

  std::vector<Entry> heap_;
  std::vector<Slot> slots_;
  std::vector<std::uint32_t> free_;
  bool out_ = false;  // the slot below was popped and is in use
  std::uint32_t out_slot_ = 0;
  std::uint64_t pushes_ = 0;
  std::size_t bytes_ = 0;
};

}  // namespace cotouch
