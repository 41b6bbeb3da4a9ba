// A program that takes part in a shared session, with real sockets, real encryption and a real clock.
#pragma once

#include <cotouch/session/shared_session.h>

#include "session/shared_fixture.h"
#include "support/eventually.h"
#include "support/temporary_folder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>

namespace cotouch::testing_session {

// Keeps what it was told; its hand plays.
class Program final : public SharedSessionListener {
 private:
  template <class F>
  auto locked(const F& f) const {
    const std::scoped_lock lock(mutex_);
    return f();
  }

 public:
  using Change = std::function<void(SharedSessionSettings&)>;
  explicit Program(const std::string& name, const Change& change = {}) : library_(folder_ / "scenes") {
    settings.name = name;
    settings.identity = folder_ / "identity";
    settings.received = folder_ / "received";
    settings.udp.loopback = true;
    if (change) change(settings);
  }
  ~Program() override { stop(); }

  SharedSessionSettings settings;  // for the next session

  void host(Scene scene) {
    begin();
    session_->host(std::move(scene), FeelSettings{});
  }
  void join(const std::string& invite) {
    begin();
    session_->join(invite);
  }
  void stop() {
    if (session_) session_->leave();  // its thread still asks this object
    session_.reset();
  }
  // What its hands do, instead of playing with balls; before it hosts or joins.
  using Hands = std::function<MemberHands(std::size_t number, double now)>;
  void use_hands(Hands hands) { hands_ = std::move(hands); }
  SharedSession& session() { return *session_; }
  const TemporaryFolder& folder() const { return folder_; }

  SharingStatus status() const {
    return locked([&] { return status_; });
  }
  // While it hosts.
  std::string invite() const {
    EXPECT_TRUE(eventually([&] { return !status().invite.empty(); })) << status().reason;
    return status().invite;
  }
  std::vector<SharedPerson> people() const {
    return locked([&] { return people_; });
  }
  PeersView peers() const {
    return locked([&] { return peers_; });
  }
  std::vector<std::string> lines() const {
    return locked([&] { return said_; });
  }
  // Was somebody told a sentence with these words?
  bool was_told(const std::string& words) const {
    return locked([&] {
      return std::any_of(problems_.begin(), problems_.end(),
                         [&](const std::string& sentence) { return sentence.find(words) != std::string::npos; });
    });
  }
  std::size_t marks() const {
    return locked([&] { return marks_; });
  }
  std::map<Tick, std::uint64_t> hashes() const {
    return locked([&] { return hashes_; });
  }
  // All that it called agreed, in the order in which it did.
  std::vector<AgreedTick> all_agreed() const {
    return locked([&] { return agreed_; });
  }
  // 0 if it is not known.
  std::uint64_t hash_at(Tick tick) const {
    return locked([&] {
      const auto found = hashes_.find(tick);
      return found == hashes_.end() ? 0 : found->second;
    });
  }
  std::vector<std::string> problems() const {
    return locked([&] { return problems_; });
  }
  // What was agreed on when its world began, the last time, or the first tick after that.
  AgreedTick beginning() const {
    return locked([&] { return beginning_; });
  }
  // Every stage of joining that it has told of.
  std::vector<std::string> stages() const {
    return locked([&] { return stages_; });
  }
  void forget() {
    locked([&] {
      status_ = {};
      stages_.clear();
    });
  }
  // When ticks were simulated, since the last call.
  std::vector<double> ticks() {
    return locked([&] { return std::exchange(ticks_, {}); });
  }

 private:
  void begin() { session_ = std::make_unique<SharedSession>(settings, *this, library_); }

  void sharing(const SharingStatus& status) override {
    locked([&] {
      status_ = status;
      if (stages_.empty() || stages_.back() != status.stage) stages_.push_back(status.stage);
    });
  }
  void world_ready(const Scene&, const FeelSettings&, MemberId) override {
    const AgreedTick beginning = session_->agreed();
    locked([&] {
      beginning_ = beginning;  // none if the others have to tell first
      marks_ = 0;              // all of them come again
    });
  }
  void people(const std::vector<SharedPerson>& people) override {
    locked([&] { people_ = people; });
  }
  void peers(const PeersView& peers) override {
    locked([&] { peers_ = peers; });
  }
  void said(MemberId, const std::string& text, double) override {
    locked([&] { said_.push_back(text); });
  }
  void marked(const SessionMark&, bool removed) override {
    locked([&] { marks_ += removed ? std::size_t(-1) : 1U; });
  }
  void problem(const std::string& sentence) override {
    locked([&] { problems_.push_back(sentence); });
  }
  void agreed(const AgreedTick& now) override {
    locked([&] {
      if (beginning_.tick == 0) beginning_ = now;
      hashes_[now.tick] = now.hash;
      agreed_.push_back(now);
    });
  }
  void view(const WorldState&, const SharedHands&) override {
    locked([&] { ticks_.push_back(PeerNetwork::now()); });
  }
  // People with names of different lengths do different things.
  MemberHands hands() override { return hands_(settings.name.size(), PeerNetwork::now()); }

  Hands hands_ = playing_hand;
  TemporaryFolder folder_;
  TestLibrary library_;
  mutable std::mutex mutex_;
  SharingStatus status_;
  std::vector<SharedPerson> people_;
  PeersView peers_;
  AgreedTick beginning_;
  std::vector<std::string> said_, stages_, problems_;
  std::vector<double> ticks_;
  std::size_t marks_ = 0;
  std::map<Tick, std::uint64_t> hashes_;
  std::vector<AgreedTick> agreed_;
  std::unique_ptr<SharedSession> session_;
};

inline bool are_two(const Program& a, const Program& b) {
  return a.people().size() == 2 && b.people().size() == 2;
}

inline void meet(Program& host, Program& guest) {
  host.host(three_balls());
  guest.join(host.invite());
  ASSERT_TRUE(eventually([&] { return are_two(host, guest); })) << guest.status().reason;
}

// Waits until both have agreed on so many ticks more.
inline void pass(Program& a, Program& b, Tick ticks) {
  const Tick end = a.session().agreed().tick + ticks;
  ASSERT_TRUE(eventually([&] { return a.session().agreed().tick >= end && b.session().agreed().tick >= end; }));
}

// At how many ticks from this one on both know the state, which must be the same.
inline std::size_t agreed_ticks(const Program& a, const Program& b, Tick from = 0) {
  std::size_t compared = 0;
  const std::map<Tick, std::uint64_t> theirs = b.hashes();
  for (const auto& [tick, hash] : a.hashes()) {
    const auto found = theirs.find(tick);
    if (tick < from || found == theirs.end()) continue;
    ++compared;
    EXPECT_EQ(hash, found->second) << "tick " << tick;
  }
  return compared;
}

}  // namespace cotouch::testing_session
