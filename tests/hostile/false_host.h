// A host that lets a real program in and gives it whatever a case wants.
#pragma once

#include "hostile/guest.h"

namespace cotouch::hostile {

class FalseHost final : public PeerNetworkListener {
 public:
  explicit FalseHost(Gifts real);

  std::string invite() const { return format_invite(invite_); }
  void run();
  // Seconds since somebody was first heard as a member; negative: nobody was.
  double since_joined() const { return joined_at_ < 0 ? -1 : PeerNetwork::now() - joined_at_; }
  // Seconds since somebody was first let in; negative: nobody was, so nothing was tried.
  double since_asked() const { return asked_at_ < 0 ? -1 : PeerNetwork::now() - asked_at_; }
  // As a real host it is member 0, and whom it lets in is member 1.
  static constexpr MemberId k_victim = 1;
  Core& core() { return *core_; }
  PeerNetwork& network() { return network_; }
  Introduction own_introduction();

  // What it gives: what a real host gave, unless a case has changed it.
  Gifts gifts;
  std::function<void(Decision& answer)> answer;   // to who asks to be let in
  std::function<void(Bytes& manifest)> manifest;  // before it gets its name
  std::function<void(ObjectName& name)> name_of_manifest;
  std::function<void(ObjectiveSnapshot& snapshot)> snapshot;  // with both as members
  std::function<void(Bytes& snapshot)> encoded;               // before it gets its name
  std::function<void(Bytes& admitted)> admitted;              // the message
  std::function<void(Bytes& piece)> piece;
  bool gives_pieces = true, speaks = true;  // as a member, once somebody is in
  double patience = 15;                     // seconds
  // Puts an object on the shelf; whoever is asked for it gives it.
  ObjectName put(Bytes bytes) { return shelf_.put(std::make_shared<const Bytes>(std::move(bytes))); }
  // Files that the manifest names beside the real ones, or others of the same name.
  std::vector<std::pair<std::string, ObjectName>> false_names;
  // What it does in each round once somebody is in.
  std::function<void(FalseHost&, double since)> act;

 private:
  void from_member(double now, MemberId member, std::span<const std::byte> message) override;
  void from_guest(double now, GuestId guest, std::span<const std::byte> message) override;
  Decision asked(double now, GuestId guest, const JoinRequest& request) override;
  void handshake_over(double, ClientHandshake&) override {}
  void from_doorkeeper(double, std::span<const std::byte>) override {}
  ObjectName make_manifest();
  void admit(double now, GuestId guest);
  void give(std::span<const std::byte> want, const std::function<void(const Bytes&)>& send);

  PeerNetwork network_;
  Invite invite_;
  ObjectShelf shelf_;
  struct Joiner {
    Introduction introduction;
    std::optional<ObjectName> snapshot;
    double told = -1;
  };
  std::map<GuestId, Joiner> joiners_;
  std::optional<Core> core_;
  double joined_at_ = -1, asked_at_ = -1;
};

}  // namespace cotouch::hostile
