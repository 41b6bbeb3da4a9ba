// A member of a shared session without page and touch: watches, or leads its hand along the motion that the scene has
// for it.
#pragma once

#include <cotouch/app/sharing_report.h>
#include <cotouch/session/shared_session.h>
#include <cotouch/world/hand_path.h>

#include <cstdint>
#include <optional>
#include <string>

namespace cotouch {

class HeadlessPeer final : public SharedSessionListener {
 public:
  // A scripted hand is that of the scene with the peer's number. It waits where its motion begins until all hands that
  // the scene has are there.
  HeadlessPeer(const SharedSessionSettings& settings, SceneLibrary& library, SharingInbox& inbox, bool scripted);

  SharedSession& session() { return session_; }

 private:
  void sharing(const SharingStatus& status) override;
  void world_ready(const Scene& scene, const FeelSettings& feel, MemberId self) override;
  void agreed(const AgreedTick& now) override;
  void view(const WorldState& state, const SharedHands& hands) override;
  MemberHands hands() override;
  void hands_taken() override;
  void people(const std::vector<SharedPerson>& people) override;
  void said(MemberId by, const std::string& text, double seconds) override;
  void problem(const std::string& sentence) override;

  SharingInbox& inbox_;
  bool scripted_;
  // The session's thread's.
  std::size_t scripts_ = 0;
  std::uint32_t body_ = 0;
  std::optional<HandPath> path_;
  std::optional<double> began_;  // when the hand took its body
  bool grasps_ = false;          // and the session has not heard of that yet
  AgreedNews agreed_;
  SharedSession session_;  // last: its thread uses everything above
};

}  // namespace cotouch
