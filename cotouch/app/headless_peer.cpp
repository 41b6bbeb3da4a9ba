#include <cotouch/app/headless_peer.h>

#include <algorithm>

namespace cotouch {

HeadlessPeer::HeadlessPeer(const SharedSessionSettings& settings, SceneLibrary& library, SharingInbox& inbox,
                           bool scripted)
    : inbox_(inbox), scripted_(scripted), session_(settings, *this, library) {
}

void HeadlessPeer::sharing(const SharingStatus& status) {
  inbox_.post([status](SharingReport& report) { report.sharing(status); });
}

void HeadlessPeer::world_ready(const Scene& scene, const FeelSettings& /*feel*/, MemberId self) {
  scripts_ = scene.scripts.size();
  path_.reset();
  if (!scripted_ || self >= scripts_) return;
  const HandScript& script = scene.scripts[self];
  path_.emplace(script.keys, script.speed);
  body_ = script.body;
  grasps_ = began_.has_value();  // whoever was away has let go
}

void HeadlessPeer::agreed(const AgreedTick& now) {
  if (agreed_.takes(now)) inbox_.post([now](SharingReport& report) { report.agreed(now); });
}

void HeadlessPeer::view(const WorldState& state, const SharedHands& /*hands*/) {
  if (!path_ || began_) return;
  const auto hands = state.hands().first(std::min(scripts_, state.hands().size()));
  if (!std::all_of(hands.begin(), hands.end(), [](const HandRecord& hand) { return hand.present != 0; })) return;
  began_ = PeerNetwork::now();
  grasps_ = true;
}

MemberHands HeadlessPeer::hands() {
  HandInput hand;
  if (!path_) return hand;
  hand.present = true;
  hand.pose = path_->at(began_ ? PeerNetwork::now() - *began_ : 0);
  if (grasps_) {
    hand.action = HandInput::Action::grasp;
    hand.body = body_;
  }
  return hand;
}

void HeadlessPeer::hands_taken() {
  grasps_ = false;
}

void HeadlessPeer::people(const std::vector<SharedPerson>& people) {
  inbox_.post([people](SharingReport& report) { report.people(people); });
}

void HeadlessPeer::said(MemberId by, const std::string& text, double seconds) {
  inbox_.post([=](SharingReport& report) { report.said(by, text, seconds); });
}

void HeadlessPeer::problem(const std::string& sentence) {
  inbox_.post([sentence](SharingReport& report) { report.problem(sentence); });
}

}  // namespace cotouch
