// Three members of a session. Two are honest, and between them the network drops, repeats and reorders, but cannot
// alter, because what they say is sealed. The third says whatever the input says: what it should, what the others have
// said before, altered, and lies of every kind. However that goes, nobody crashes, nothing grows without end, and what
// the two take to have been done by each other in a tick is the same, as long as each counts the other in.
#include "net_input.h"

#include <cotouch/session/shared_peer.h>

#include <algorithm>
#include <map>

using namespace cotouch;
using namespace cotouch::fuzzing;

namespace {

constexpr MemberId k_liar = 2;
constexpr double k_start = 1000;

ObjectiveSnapshot three_members() {
  ObjectiveSnapshot snapshot;
  for (MemberId m = 0; m < 3; ++m) snapshot.members[m] = Member{0, std::string(1, static_cast<char>('a' + m))};
  return snapshot;
}

// How hands are predicted costs time and changes nothing that is agreed on.
PeerSettings simple_settings() {
  PeerSettings settings;
  settings.rollback.prediction = Prediction::hold;
  return settings;
}

HandInput hand_of(MemberId member, Tick tick) {
  HandInput hand;
  hand.present = true;
  hand.pose.position = {0.001 * static_cast<double>(tick % 97), 0.1 * member, 0};
  return hand;
}

struct Honest {
  explicit Honest(MemberId number) : peer(simple_settings(), number, three_members(), k_start), self(number) {}
  SharedPeer peer;
  MemberId self;
  std::map<Tick, std::array<HandInput, 2>> agreed;
  std::vector<Datagram> inbox;
  bool over = false;
};

class Game {
 public:
  explicit Game(Choices& choices) : choices_(choices) {}

  void play() {
    for (int steps = 0; steps < 600 && !choices_.done(); ++steps) step();
    const auto& mine = honest_[0].agreed;
    for (const auto& [tick, hands] : honest_[1].agreed)
      if (const auto found = mine.find(tick); found != mine.end()) require(found->second == hands);
  }

 private:
  void step() {
    Honest& one = honest_[choices_.byte() & 1];
    switch (choices_.byte() % 12) {
      case 0: now_ += choices_.byte() * 0.02; break;
      case 1: deliver(one, choices_.below(64), true); break;
      case 2: deliver(one, choices_.below(64), false); break;
      case 3: one.inbox.clear(); break;
      case 4: lie(one, choices_.bytes(300)); break;
      case 5: lie(one, choices_.altered(said_.empty() ? Datagram{} : said_[choices_.below(said_.size())])); break;
      case 6: lie(one, write_message(ProposeMessage{ballot(), ends()})); break;
      case 7: lie(one, write_message(PromiseMessage{ballot(), ends()})); break;
      case 8: lie(one, write_message(DecideMessage{ballot(), ends()})); break;
      case 9: lie_with_inputs(one); break;
      case 10: lie_about_others(one); break;
      default:
        for (int ticks = choices_.byte() % 32; ticks >= 0; --ticks) go_on();
    }
    for (Honest& each : honest_) poll(each);
  }

  // A tick in which everything arrives, and the third does what it should.
  void go_on() {
    now_ += 0.01;
    for (Honest& each : honest_) poll(each);
    PeerInput input;
    input.hand = hand_of(k_liar, told_);
    InputRun run;
    run.first = told_++;
    run.inputs = {&input};
    for (Honest& each : honest_) {
      InputsMessage head;
      head.timing.sequence = sequence_++;
      head.timing.sent = stamp_of(now_);
      head.timing.their_tick = told_;
      each.peer.receive(now_, k_liar, write_inputs_message(head, std::span(&run, 1)));
      while (!each.inbox.empty()) deliver(each, 0, true);
    }
  }

  void deliver(Honest& to, std::size_t which, bool once) {
    if (to.inbox.empty()) return;
    const auto found = to.inbox.begin() + static_cast<std::ptrdiff_t>(which % to.inbox.size());
    const Datagram message = *found;
    if (once) to.inbox.erase(found);
    to.peer.receive(now_, to.self == 0 ? 1 : 0, message);
  }

  void lie(Honest& to, const Datagram& message) { to.peer.receive(now_, k_liar, message); }

  Tick tick() {
    switch (choices_.byte() % 4) {
      case 0: return choices_.byte();
      case 1: return Tick{1} << (choices_.byte() % 49);
      default: return std::max<Tick>(0, honest_[choices_.byte() & 1].peer.now() + choices_.byte() - 128);
    }
  }
  MemberId member() { return static_cast<MemberId>(choices_.byte() % k_most_members); }
  Ballot ballot() {
    const std::uint8_t how = choices_.byte();
    const std::uint32_t round = how < 200 ? how % 8 : 0xffffffffU >> (how % 32);
    return {round, static_cast<MemberId>(choices_.byte() % 3)};
  }
  std::vector<StreamEnd> ends() {
    std::vector<StreamEnd> all;
    for (int count = choices_.byte() % 3; count >= 0; --count)
      all.push_back({static_cast<MemberId>(choices_.byte() % 4), tick(), (choices_.byte() & 1) != 0});
    return all;
  }

  PeerInput input() {
    PeerInput input;
    input.hand = hand_of(member(), tick());
    if ((choices_.byte() & 3) != 0) return input;
    SessionEvent event;
    event.kind =
        static_cast<SessionEvent::Kind>(choices_.byte() % (static_cast<unsigned>(SessionEvent::k_last_kind) + 1));
    event.member = member();
    event.number = tick();
    input.events.push_back(event);
    return input;
  }

  void lie_with_inputs(Honest& to) {
    const PeerInput one = input();
    InputRun run;
    run.first = tick();
    run.inputs.assign(1 + choices_.byte() % 40, &one);
    InputsMessage head;
    head.timing = {static_cast<std::uint16_t>(choices_.below(65536)),
                   static_cast<std::uint32_t>(choices_.byte()),
                   true,
                   static_cast<std::uint32_t>(tick()),
                   choices_.byte(),
                   choices_.byte(),
                   tick()};
    head.objective = tick();
    head.have = tick();
    head.decided = ballot();
    if ((choices_.byte() & 1) != 0) head.hash = StateHash{tick(), choices_.byte()};
    lie(to, write_inputs_message(head, std::span(&run, 1)));
  }

  void lie_about_others(Honest& to) {
    const PeerInput one = input();
    InputRun run;
    run.first = tick();
    run.inputs.assign(1 + choices_.byte() % 40, &one);
    switch (choices_.byte() % 4) {
      case 0: return lie(to, write_fill(member(), run));
      case 1: return lie(to, write_message(WantMessage{member(), tick()}));
      case 2: return lie(to, write_message(ProbeMessage{ballot(), {false, choices_.byte(), member(), "liar"}}));
      default: return lie(to, write_message(ViewMessage{tick(), choices_.byte(), {}}));
    }
  }

  void poll(Honest& one) {
    if (one.over) return;
    requests_.clear();
    const bool counts_other_in = one.peer.is_active(one.self == 0 ? 1 : 0);
    one.peer.poll(now_, hand_of(one.self, one.peer.now()), requests_);
    require(requests_.size() < 4096);
    require(one.peer.now() - one.peer.objective() < Rollback::k_widest_window);
    for (PeerRequest& request : requests_) {
      if (const auto* confirm = std::get_if<ConfirmTick>(&request)) {
        if (counts_other_in && one.peer.is_active(one.self == 0 ? 1 : 0))
          one.agreed[confirm->tick] = {confirm->inputs.hands[0], confirm->inputs.hands[1]};
        if ((confirm->tick + 1) % 64 == 0) one.peer.set_hash(confirm->tick + 1, 5);
      } else if (auto* message = std::get_if<SendMessage>(&request)) {
        require(message->bytes.size() <= k_longest_message);
        if (said_.size() < 256) said_.push_back(message->bytes);
        Honest& other = honest_[one.self == 0 ? 1 : 0];
        if (message->to == other.self && other.inbox.size() < 64) other.inbox.push_back(std::move(message->bytes));
      } else if (std::holds_alternative<JoinAgain>(request)) {
        one.over = true;
      }
    }
    require(one.peer.former().size() <= k_most_former && one.peer.marks().size() <= k_most_marks);
  }

  Choices& choices_;
  double now_ = k_start;
  Tick told_ = 0;
  std::uint16_t sequence_ = 0;
  std::array<Honest, 2> honest_{Honest(0), Honest(1)};
  std::vector<Datagram> said_;
  std::vector<PeerRequest> requests_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Choices choices(data, std::min<std::size_t>(size, 4096));
  Game(choices).play();
  return 0;
}
