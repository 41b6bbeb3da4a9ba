// Somebody who is let into a real session by its invite, takes what a host gives, and becomes a member.
#pragma once

#include "hostile/core.h"

namespace cotouch::hostile {

// What a host gives to those who join.
struct Gifts {
  std::string description;  // of the scene, and how it is felt
  std::uint64_t model_hash = 0;
  std::vector<std::pair<std::string, Bytes>> files;
  ObjectiveSnapshot snapshot;
};

class Guest final : public PeerNetworkListener {
 public:
  // `addresses` are told to the others as its own, beside the one that the host sees.
  Guest(const Invite& invite, const std::string& name, const PeerSettings& settings,
        const std::vector<NetAddress>& addresses = {});

  void run();
  // It takes what there is before it says that it is ready.
  void want_files() { wants_files_ = true; }
  bool is_member() const { return core_.has_value() && core_->peer().is_member(core_->peer().self()); }
  Core& core() { return *core_; }
  bool has_core() const { return core_.has_value(); }
  PeerNetwork& network() { return network_; }
  const Gifts& gifts() const { return gifts_; }
  void leave();

 private:
  void from_member(double now, MemberId member, std::span<const std::byte> message) override;
  void from_guest(double, GuestId, std::span<const std::byte>) override {}
  Decision asked(double, GuestId, const JoinRequest&) override { return {}; }
  void handshake_over(double now, ClientHandshake& handshake) override;
  void from_doorkeeper(double now, std::span<const std::byte> message) override;
  void take(const Bytes& object);
  void take_part();

  PeerSettings settings_;
  PeerNetwork network_;
  Gifts gifts_;
  bool wants_files_ = false, refused_ = false, in_ = false;
  std::optional<ObjectFetch> fetch_;
  std::vector<std::pair<std::string, ObjectName>> names_;
  bool has_manifest_ = false;
  ObjectName manifest_;
  std::optional<MemberId> number_;
  double said_ready_ = -1;
  std::optional<Core> core_;
};

}  // namespace cotouch::hostile
