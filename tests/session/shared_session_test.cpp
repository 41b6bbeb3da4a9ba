// Shared sessions with real sockets, real encryption and real clocks, on one machine.
#include <cotouch/session/shared_session.h>

#include "session/shared_fixture.h"
#include "support/eventually.h"
#include "support/temporary_folder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

namespace cotouch {
namespace {

using namespace testing_session;

// A program that takes part: what it was told, and a hand that plays.
class Program final : public SharedSessionListener {
 private:
  template <class F>
  auto locked(const F& f) const {
    const std::scoped_lock lock(mutex_);
    return f();
  }

 public:
  explicit Program(std::size_t number, const std::string& name, bool has_scene = true, bool observer = false)
      : library_(folder_ / "scenes"), number_(number), has_scene_(has_scene) {
    settings_.name = name;
    settings_.observer = observer;
    settings_.identity = folder_ / "identity";
    settings_.received = folder_ / "received";
    settings_.udp.loopback = true;
    settings_.peer.patience = 1;
    settings_.peer.patience_alone = 2;
  }
  ~Program() override { stop(); }

  void host(Scene scene) {
    session_ = std::make_unique<SharedSession>(settings_, *this, library_);
    session_->host(std::move(scene), FeelSettings{});
  }
  void join(const std::string& invite) {
    session_ = std::make_unique<SharedSession>(settings_, *this, library_);
    session_->join(invite);
  }
  void stop() {
    if (session_) session_->leave();  // its thread still asks this object
    session_.reset();
  }
  SharedSession& session() { return *session_; }
  SharedSessionSettings& settings() { return settings_; }
  const TemporaryFolder& folder() const { return folder_; }

  SharingStatus status() const {
    return locked([&] { return status_; });
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
  std::vector<std::string> problems() const {
    return locked([&] { return problems_; });
  }
  std::size_t marks() const {
    return locked([&] { return marks_; });
  }
  std::uint64_t hash_at(Tick tick) const {
    return locked([&] {
      const auto found = hashes_.find(tick);
      return found == hashes_.end() ? 0 : found->second;
    });
  }

 private:
  void sharing(const SharingStatus& status) override {
    locked([&] { return status_ = status, 0; });
  }
  void people(const std::vector<SharedPerson>& people) override {
    locked([&] { return people_ = people, 0; });
  }
  void peers(const PeersView& peers) override {
    locked([&] { return peers_ = peers, 0; });
  }
  void said(MemberId, const std::string& text, double) override {
    locked([&] { return said_.push_back(text), 0; });
  }
  void marked(const SessionMark&, bool removed) override {
    locked([&] { return marks_ += removed ? std::size_t(-1) : 1U, 0; });
  }
  void problem(const std::string& sentence) override {
    locked([&] { return problems_.push_back(sentence), 0; });
  }
  void agreed(const AgreedTick& now) override {
    locked([&] { return hashes_[now.tick] = now.hash, 0; });
  }
  HandInput hand() override { return playing_hand(number_, PeerNetwork::now()); }

  TemporaryFolder folder_;
  TestLibrary library_;
  std::size_t number_;
  bool has_scene_;
  SharedSessionSettings settings_;
  mutable std::mutex mutex_;
  SharingStatus status_;
  std::vector<SharedPerson> people_;
  PeersView peers_;
  std::vector<std::string> said_, problems_;
  std::size_t marks_ = 0;
  std::map<Tick, std::uint64_t> hashes_;
  std::unique_ptr<SharedSession> session_;
};

std::string invite_of(Program& host) {
  eventually([&] { return host.status().state != SharingStatus::State::off && !host.status().invite.empty(); });
  return host.status().invite;
}

bool agree(const Program& a, const Program& b, std::size_t ticks) {
  std::size_t compared = 0;
  for (Tick t = 0; t < 100'000 && compared < ticks; ++t) {
    const std::uint64_t x = a.hash_at(t), y = b.hash_at(t);
    if (x == 0 || y == 0) continue;
    ++compared;
    EXPECT_EQ(x, y) << "tick " << t;
    if (x != y) return false;
  }
  return compared >= ticks;
}

TEST(SharedSession, TwoProgramsAgreeOnEveryTick) {
  Program anna(0, "Anna"), ben(1, "Ben");
  anna.host(three_balls());
  ben.join(invite_of(anna));
  ASSERT_TRUE(eventually([&] { return ben.people().size() == 2 && anna.people().size() == 2; })) << ben.status().reason;
  EXPECT_EQ(anna.people()[1].name, "Ben");
  EXPECT_EQ(ben.people()[0].name, "Anna");
  EXPECT_TRUE(eventually([&] { return anna.session().agreed().tick > 500 && ben.session().agreed().tick > 500; }));
  EXPECT_TRUE(agree(anna, ben, 100));
  anna.session().say("hello");
  ben.session().mark(2, {0, 0, 0.02});
  EXPECT_TRUE(eventually([&] { return ben.lines().size() == 1 && anna.lines().size() == 1; }));
  EXPECT_TRUE(eventually([&] { return ben.marks() == 1 && anna.marks() == 1; }));
  EXPECT_TRUE(eventually([&] { return anna.peers().peers.size() == 2; }));
  ben.stop();
  EXPECT_TRUE(eventually([&] { return anna.people().size() == 1; }));
}

}  // namespace
}  // namespace cotouch
