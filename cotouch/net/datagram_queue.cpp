#include <cotouch/net/datagram_queue.h>

#include <algorithm>
#include <limits>

namespace cotouch {

std::span<std::byte> DatagramQueue::push(double at, std::uint32_t from, std::uint32_t to,
                                         std::span<const std::byte> bytes) {
  if (free_.empty()) {
    free_.push_back(static_cast<std::uint32_t>(slots_.size()));
    slots_.emplace_back();
  }
  const std::uint32_t index = free_.back();
  free_.pop_back();
  Slot& slot = slots_[index];
  slot.from = from;
  slot.to = to;
  slot.bytes.assign(bytes.begin(), bytes.end());
  bytes_ += bytes.size();
  heap_.push_back({at, pushes_++, index});
  std::push_heap(heap_.begin(), heap_.end(), later);
  return slot.bytes;
}

double DatagramQueue::next_time() const {
  return heap_.empty() ? std::numeric_limits<double>::infinity() : heap_.front().at;
}

bool DatagramQueue::pop(double now, Datagram& datagram) {
  if (out_) free_.push_back(out_slot_);
  out_ = !heap_.empty() && heap_.front().at <= now;
  if (!out_) return false;
  const Entry entry = heap_.front();
  std::pop_heap(heap_.begin(), heap_.end(), later);
  heap_.pop_back();
  out_slot_ = entry.slot;
  const Slot& slot = slots_[entry.slot];
  bytes_ -= slot.bytes.size();
  datagram = {entry.at, slot.from, slot.to, slot.bytes};
  return true;
}

void DatagramQueue::clear() {
  for (const Entry& entry : heap_) free_.push_back(entry.slot);
  if (out_) free_.push_back(out_slot_);
  out_ = false;
  heap_.clear();
  bytes_ = 0;
}

}  // namespace cotouch
