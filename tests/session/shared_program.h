// A program that takes part in a shared session over real sockets.
#pragma once

#include <cotouch/session/shared_session.h>

#include "session/shared_fixture.h"
#include "support/eventually.h"
#include "support/temporary_folder.h"

#include <gtest/gtest.h>

#include <map>

namespace cotouch::testing_session {

// What it was told, and a hand that plays.
class Program final : public SharedSessionListener {
 private:
  template <class F>
  auto locked(const F& f) const {
    const std::scoped_lock lock(mutex_);
    return f();
  }

 public:
  // `patience`: seconds until somebody who is silent is dropped.
  explicit Program(std::size_t number, const std::string& name, bool observer = false, double patience = 1)
      : library_(folder_ / "scenes"), number_(number) {
    settings_.name = name;
    settings_.observer = observer;
    settings_.identity = folder_ / "identity";
    settings_.received = folder_ / "received";
    settings_.udp.loopback = true;
    settings_.peer.patience = patience;
    settings_.peer.patience_alone = 2 * patience;
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
  // What was agreed on when its world began, the last time.
  AgreedTick beginning() const {
    return locked([&] { return beginning_; });
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
  void world_ready(const Scene&, const FeelSettings&, MemberId) override {
    const AgreedTick beginning = session_->agreed();
    locked([&] { return beginning_ = beginning, marks_ = 0, 0; });  // all marks come again
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
  SharedSessionSettings settings_;
  mutable std::mutex mutex_;
  SharingStatus status_;
  std::vector<SharedPerson> people_;
  PeersView peers_;
  AgreedTick beginning_;
  std::vector<std::string> said_, problems_;
  std::size_t marks_ = 0;
  std::map<Tick, std::uint64_t> hashes_;
  std::unique_ptr<SharedSession> session_;
};

inline std::string invite_of(Program& host) {
  eventually([&] { return host.status().state != SharingStatus::State::off && !host.status().invite.empty(); });
  return host.status().invite;
}

// They have agreed on so many ticks, and on the same state at each of them.
inline bool agree(const Program& a, const Program& b, std::size_t ticks) {
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

}  // namespace cotouch::testing_session
