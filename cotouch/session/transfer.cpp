#include <cotouch/session/transfer.h>

#include <algorithm>
#include <utility>

namespace cotouch {
namespace {

constexpr std::size_t k_pieces_in_want = 32;
constexpr double k_most_under_way = 256, k_least_under_way = 4;
constexpr std::size_t k_short_id = 8;  // of an object, in a piece

}  // namespace

ObjectName name_of_object(std::span<const std::byte> bytes) {
  // Parts of a hash have 16-bit lengths: an object is hashed in slices.
  constexpr std::size_t k_slice = 1U << 15;
  Digest digest = hash_of("cotouch object", {});
  for (std::size_t at = 0; at < bytes.size(); at += k_slice)
    digest = hash_of("cotouch object", {digest, bytes.subspan(at, std::min(k_slice, bytes.size() - at))});
  return {digest, bytes.size()};
}

void write_object(ByteWriter& out, const ObjectName& object) {
  out.raw(object.id);
  out.varint(object.size);
}

ObjectName read_object(ByteReader& in) {
  ObjectName object;
  const std::span<const std::byte> id = in.raw(object.id.size());
  if (in.ok()) std::copy(id.begin(), id.end(), object.id.begin());
  object.size = in.varint(k_largest_object);
  return object;
}

ObjectName ObjectShelf::put(std::shared_ptr<const Bytes> bytes) {
  const ObjectName object = name_of_object(*bytes);
  Shelved& shelved = objects_[object.id];
  shelved.bytes = std::move(bytes);
  ++shelved.puts;
  return object;
}

void ObjectShelf::remove(const ObjectId& id) {
  const auto found = objects_.find(id);
  if (found != objects_.end() && --found->second.puts == 0) objects_.erase(found);
}

std::shared_ptr<const Bytes> ObjectShelf::find(const ObjectId& id) const {
  const auto found = objects_.find(id);
  return found == objects_.end() ? nullptr : found->second.bytes;
}

std::vector<Bytes> ObjectShelf::answer(std::span<const std::byte> message) const {
  ByteReader in(message);
  if (in.number<std::uint8_t>() != static_cast<std::uint8_t>(TransferMessage::want)) return {};
  ObjectId id{};
  const std::span<const std::byte> wanted = in.raw(id.size());
  if (!in.ok()) return {};
  std::copy(wanted.begin(), wanted.end(), id.begin());
  const std::shared_ptr<const Bytes> object = find(id);
  const std::uint64_t count = in.varint(k_pieces_in_want);
  std::vector<Bytes> answers;
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t piece = in.varint(k_largest_object / k_piece);
    if (!in.ok() || object == nullptr || piece * k_piece >= object->size()) break;
    Bytes& answer = answers.emplace_back();
    ByteWriter out(answer);
    out.number(TransferMessage::piece);
    out.raw(std::span(id).first(k_short_id));
    out.varint(piece);
    const std::size_t begin = piece * k_piece;
    out.raw(std::span(*object).subspan(begin, std::min(k_piece, object->size() - begin)));
  }
  return answers;
}

ObjectFetch::ObjectFetch(const ObjectName& object)
    : object_(object), count_((object.size + k_piece - 1) / k_piece), missing_(count_) {
}

std::size_t ObjectFetch::size_of(std::size_t piece) const {
  return std::min(k_piece, object_.size - piece * k_piece);
}

double ObjectFetch::progress() const {
  return count_ == 0 ? 1 : 1 - static_cast<double>(missing_) / static_cast<double>(count_);
}

std::vector<Bytes> ObjectFetch::poll(double now, double round_trip) {
  const double patience = 2 * round_trip + 0.1;
  while (first_missing_ < pieces_.size() && pieces_[first_missing_].here) ++first_missing_;
  // Pieces are asked for in order, so those under way are near the first that is missing.
  std::vector<std::size_t> wanted;
  bool lost = false;
  under_way_ = 0;
  const std::size_t end = std::min(count_, first_missing_ + 4 * static_cast<std::size_t>(k_most_under_way));
  if (pieces_.size() < end) pieces_.resize(end);
  for (std::size_t i = first_missing_; i < end; ++i) {
    Piece& piece = pieces_[i];
    if (piece.here) continue;
    const bool waiting = piece.asked >= 0 && now < piece.asked + patience;
    if (waiting) {
      ++under_way_;
      continue;
    }
    if (static_cast<double>(under_way_) >= allowed_) break;
    lost = lost || piece.asked >= 0;
    piece.asked = now;
    ++under_way_;
    wanted.push_back(i);
  }
  if (lost) allowed_ = std::max(k_least_under_way, allowed_ / 2);
  std::vector<Bytes> messages;
  for (std::size_t at = 0; at < wanted.size(); at += k_pieces_in_want) {
    const std::size_t count = std::min(k_pieces_in_want, wanted.size() - at);
    ByteWriter out(messages.emplace_back());
    out.number(TransferMessage::want);
    out.raw(object_.id);
    out.varint(count);
    for (std::size_t i = 0; i < count; ++i) out.varint(wanted[at + i]);
  }
  return messages;
}

bool ObjectFetch::receive(std::span<const std::byte> message) {
  ByteReader in(message);
  if (in.number<std::uint8_t>() != static_cast<std::uint8_t>(TransferMessage::piece)) return false;
  const std::span<const std::byte> id = in.raw(k_short_id);
  const std::uint64_t index = in.varint(k_largest_object / k_piece);
  if (!in.ok() || !std::equal(id.begin(), id.end(), object_.id.begin()) || index >= pieces_.size()) return false;
  const std::size_t begin = index * k_piece, size = size_of(index);
  if (pieces_[index].here || pieces_[index].asked < 0 || in.rest().size() != size) return false;
  if (bytes_.size() < begin + size) bytes_.resize(begin + size);
  std::copy(in.rest().begin(), in.rest().end(), bytes_.begin() + static_cast<std::ptrdiff_t>(begin));
  pieces_[index].here = true;
  --missing_;
  allowed_ = std::min(k_most_under_way, allowed_ + 0.5);
  return true;
}

std::shared_ptr<const Bytes> ObjectFetch::take() {
  if (!is_complete()) return nullptr;
  if (name_of_object(bytes_) != object_) {
    pieces_.clear();
    missing_ = count_;
    first_missing_ = 0;
    return nullptr;
  }
  return std::make_shared<const Bytes>(std::move(bytes_));
}

}  // namespace cotouch
