// Objects that one peer fetches from another, piece by piece: scenes, parts and snapshots. Named by their content, so
// that whoever fetches one knows that it is whole and the right one, whoever it came from. The one who fetches asks for
// the pieces it lacks, a bounded number at a time, more as long as they arrive; so nothing is sent that was not asked
// for, what was lost is asked for again, and fetching can go on with another peer where it stopped. Memory grows with
// what has arrived: whoever names an object may have none.
#pragma once

#include <cotouch/net/bytes.h>
#include <cotouch/net/crypto.h>
#include <cotouch/session/allowance.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace cotouch {

using ObjectId = Digest;
using Bytes = std::vector<std::byte>;

// Kinds of messages, after those of cores (peer_message.h).
enum class TransferMessage : std::uint8_t { want = 16, piece = 17 };

struct ObjectName {
  ObjectId id{};
  std::uint64_t size = 0;

  friend auto operator<=>(const ObjectName&, const ObjectName&) = default;
};
inline constexpr std::uint64_t k_largest_object = 1ULL << 30;
inline constexpr std::size_t k_piece = 1024;  // bytes

ObjectName name_of_object(std::span<const std::byte> bytes);
void write_object(ByteWriter& out, const ObjectName& object);
ObjectName read_object(ByteReader& in);  // fails if it is too large

// What others may fetch from here. What was put twice has to be removed twice.
class ObjectShelf {
 public:
  ObjectName put(std::shared_ptr<const Bytes> bytes);
  void remove(const ObjectId& id);
  std::size_t size() const { return objects_.size(); }
  std::shared_ptr<const Bytes> find(const ObjectId& id) const;
  // The answers to a want message; none if it is not one or there is no such object.
  std::vector<Bytes> answer(std::span<const std::byte> message) const;

 private:
  struct Shelved {
    std::shared_ptr<const Bytes> bytes;
    std::size_t puts = 0;
  };
  std::map<ObjectId, Shelved> objects_;
};

class ObjectFetch {
 public:
  explicit ObjectFetch(const ObjectName& object);

  // Messages to send now; `round_trip` as far as it is known, seconds.
  std::vector<Bytes> poll(double now, double round_trip);
  // True if it was a piece of this object that was missing and asked for.
  bool receive(std::span<const std::byte> message);

  const ObjectName& object() const { return object_; }
  double progress() const;
  bool is_complete() const { return missing_ == 0; }
  // The object, once it is complete. Nothing if its content is not what its name says: then all of it is missing again.
  std::shared_ptr<const Bytes> take();

 private:
  struct Piece {
    bool here = false;
    double asked = -1;
  };
  std::size_t size_of(std::size_t piece) const;

  ObjectName object_;
  Bytes bytes_;                // up to the farthest piece that is here
  std::vector<Piece> pieces_;  // up to the farthest that was asked for
  std::size_t count_, missing_, first_missing_ = 0;
  double allowed_ = 8;  // pieces under way
  std::size_t under_way_ = 0;
};

}  // namespace cotouch
