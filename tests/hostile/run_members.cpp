#include "hostile/run.h"

#include <cotouch/base/hash.h>

#include <algorithm>
#include <stdexcept>
#include <thread>
#include <tuple>

namespace cotouch::hostile {
namespace {

constexpr double k_longest_wait = 60;  // seconds; generous, because machines are shared
constexpr double k_look = 0.05;

bool is_among(const Victim::Json& event, const std::string& name) {
  return std::any_of(event["people"].begin(), event["people"].end(),
                     [&](const Victim::Json& person) { return person["name"] == name; });
}

}  // namespace

Table::Table(const std::filesystem::path& folder, const std::filesystem::path& scene)
    : anna_(folder / "anna", host_arguments(scene)),
      invite_(invite_of(anna_)),
      ben_(folder / "ben",
           {"join", format_invite(invite_), "--headless", "--json", "--name", "Ben", "--patience", "15"}) {
  // Ben first: he is to be the next member after Anna.
  bool all = pump_until(k_longest_wait, [&] { return ben_.was_in_state("joined"); });
  witness_ = std::make_unique<Guest>(invite_, "Wanda", patient(k_patience));
  all = all && pump_until(k_longest_wait, [&] {
          return witness_->is_member() && witness_->core().others().size() == 2 &&
                 witness_->core().objective_of(k_ben) > 0;
        });
  if (!all) throw std::runtime_error("nobody can take part: " + anna_.words() + ben_.words());
}

Table::~Table() {
  // In order, so that nobody is missed.
  for (Guest* guest : {liar_.get(), witness_.get()})
    if (guest != nullptr) guest->leave();
}

void Table::parrot(Guest& guest) {
  if (!guest.has_core() || guest.core().hashes_of(k_anna).empty()) return;
  const auto& [tick, hash] = *guest.core().hashes_of(k_anna).rbegin();
  guest.core().peer().set_hash(tick, hash);
}

void Table::pump() {
  for (Guest* guest : {witness_.get(), liar_.get()})
    if (guest != nullptr) guest->run();
  if (witness_) parrot(*witness_);
  const double now = PeerNetwork::now();
  if (now < looked_ + k_look) return;
  looked_ = now;
  anna_.look(), ben_.look(), third_party_.look();
}

template <class Condition>
bool Table::pump_until(double seconds, const Condition& holds) {
  const double end = PeerNetwork::now() + seconds;
  while (!holds()) {
    if (PeerNetwork::now() > end || !anna_.is_alive() || !ben_.is_alive()) return false;
    pump();
  }
  return true;
}

void Table::bring_liar(const MemberCase& one, std::vector<std::string>& broken) {
  const bool there = liar_ && liar_->is_member() && !liar_->core().was_dropped() &&
                     witness_->core().peer().is_active(liar_->core().peer().self());
  if (there && !one.introduces_third_party) return;
  if (there) liar_->leave();
  liar_.reset();
  std::vector<NetAddress> addresses;
  if (one.introduces_third_party) addresses.assign(4, third_party_.address());
  liar_ = std::make_unique<Guest>(invite_, "Mallory", patient(k_patience), addresses);
  const bool in = pump_until(k_longest_wait, [&] {
    if (!liar_->is_member()) return false;
    const SharedPeer& peer = liar_->core().peer();
    return peer.now() > peer.member(peer.self())->first + 5;
  });
  if (!in) broken.emplace_back("nobody new could take part");
}

void Table::wait_for_agreement(Tick from, std::vector<std::string>& broken) {
  const bool agrees = pump_until(k_longest_wait, [&] {
    const auto& hashes = witness_->core().hashes_of(k_anna);
    return !hashes.empty() && hashes.rbegin()->first > from &&
           witness_->core().hash_of(k_ben, hashes.rbegin()->first) == hashes.rbegin()->second;
  });
  if (agrees) return;
  std::string told;
  for (const MemberId m : {k_anna, k_ben}) {
    told += m == k_anna ? " Anna: tick " : " Ben: tick ";
    told += std::to_string(witness_->core().objective_of(m)) + ", hashes of";
    for (const auto& [tick, hash] : witness_->core().hashes_of(m)) told += " " + std::to_string(tick) + "=" + hex(hash);
  }
  for (Guest* guest : {witness_.get(), liar_.get()}) {
    const SharedPeer& peer = guest->core().peer();
    told += " Member " + std::to_string(peer.self()) + ": now " + std::to_string(peer.now()) + ", objective " +
            std::to_string(peer.objective()) + ", waits for " + std::to_string(peer.waiting_for()) + ", heard";
    for (const MemberId m : guest->core().others())
      if (const PeerLink* link = peer.link(m))
        told += " " + std::to_string(m) + " " + std::to_string(PeerNetwork::now() - link->last_heard()) + " s ago" +
                (guest->network().is_direct(m, PeerNetwork::now()) ? " directly" : "");
    told += ".";
  }
  broken.push_back("the honest do not agree on what comes after " + std::to_string(from) + "." + told);
}

void Table::check_honest(const MemberCase& one, std::size_t anna_events, std::size_t ben_events,
                         std::vector<std::string>& broken) {
  for (const auto& [victim, since, name] :
       {std::tuple(&anna_, anna_events, "Anna"), std::tuple(&ben_, ben_events, "Ben")}) {
    victim->look();
    if (victim->end()) {
      broken.push_back(std::string(name) + " ended, by signal " + std::to_string(victim->end()->signal) + ": " +
                       victim->words());
      continue;
    }
    if (victim->peak_memory() > k_most_memory)
      broken.push_back(std::string(name) + " took " + std::to_string(victim->peak_memory() >> 20U) + " MiB");
    for (std::size_t i = since; i < victim->events().size(); ++i) {
      const Victim::Json& event = victim->events()[i];
      if (event["event"] == "sharing" && event["state"] != "hosting" && event["state"] != "joined")
        broken.push_back(std::string(name) + " is " + event["state"].get<std::string>());
      if (event["event"] != "people") continue;
      for (const char* other : {"Anna", "Ben", "Wanda"})
        if (!is_among(event, other)) broken.push_back(std::string(name) + " no longer sees " + other);
    }
  }
  if (witness_->core().was_dropped()) broken.emplace_back("the witness was thrown out");
  if (one.differs) return;
  const auto& ours = witness_->core().hashes_of(k_anna);
  for (const auto& [tick, hash] : witness_->core().hashes_of(k_ben))
    if (const auto found = ours.find(tick); found != ours.end() && found->second != hash) {
      broken.push_back("the honest differed at tick " + std::to_string(tick));
      return;
    }
}

Verdict Table::run(const MemberCase& one) {
  Verdict verdict;
  verdict.name = one.name;
  const double began = PeerNetwork::now();
  const std::size_t anna_events = anna_.events().size(), ben_events = ben_.events().size();
  const std::size_t before = third_party_.bytes();
  bring_liar(one, verdict.broken);
  if (!verdict.broken.empty()) return verdict;
  witness_->core().forget_hashes();
  const MemberId number = liar_->core().peer().self();
  const double lying = PeerNetwork::now();
  while (PeerNetwork::now() < lying + one.seconds && liar_->has_core()) {
    one.lie(*liar_, PeerNetwork::now() - lying);
    if (!liar_->core().peer().is_member(number)) break;
    pump();
  }
  if (one.fate == Fate::thrown_out &&
      !pump_until(k_longest_wait, [&] { return !witness_->core().peer().is_active(number); }))
    verdict.broken.emplace_back("it was not given up");
  liar_->core().tamper = {};
  liar_->core().hand = {};
  // What it has said of ticks to come counts as well.
  wait_for_agreement(std::max(witness_->core().objective_of(k_anna), witness_->core().peer().now()) + 16,
                     verdict.broken);
  check_honest(one, anna_events, ben_events, verdict.broken);
  if (one.introduces_third_party) {  // which nobody is to look for later
    liar_->core().peer().leave();
    pump_until(k_longest_wait, [&] { return liar_->core().peer().is_done(PeerNetwork::now()); });
    liar_.reset();
  }
  verdict.to_third_party = third_party_.bytes() - before;
  if (verdict.to_third_party > one.to_third_party)
    verdict.broken.push_back("they sent " + std::to_string(verdict.to_third_party) +
                             " bytes to a third party, more than " + std::to_string(one.to_third_party));
  verdict.seconds = PeerNetwork::now() - began;
  verdict.memory = std::max(anna_.peak_memory(), ben_.peak_memory());
  if (!verdict.broken.empty()) verdict.words = anna_.words() + ben_.words();
  return verdict;
}

}  // namespace cotouch::hostile
