#include "hostile/member_cases.h"

#include <cotouch/base/random.h>

#include <limits>
#include <utility>

namespace cotouch::hostile {
namespace {

using Kind = SessionEvent::Kind;
constexpr std::array k_honest{k_anna, k_ben};

SessionEvent event_of(Kind kind, MemberId member = 0, std::int64_t number = 0, std::string text = {}) {
  SessionEvent event;
  event.kind = kind;
  event.member = member;
  event.number = number;
  event.text = std::move(text);
  return event;
}

std::function<void(Guest&, double)> once(std::function<void(Guest&)> what) {
  return [what = std::move(what), done = false](Guest& liar, double) mutable {
    if (!std::exchange(done, true)) what(liar);
  };
}

std::function<void(Guest&, double)> to_both(std::function<void(Guest&, MemberId)> what) {
  return [what = std::move(what)](Guest& liar, double) {
    for (const MemberId to : k_honest) what(liar, to);
  };
}

// A hand that takes hold of what there is and what there is not, at places that are none.
HandInput wild_hand(double since) {
  HandInput hand;
  hand.present = true;
  const auto step = static_cast<int>(since * 100);
  const double far = step % 2 == 0 ? 4094 : -4094;
  hand.pose.position = {far, -far, far};
  hand.pose.rotation = step % 3 == 0 ? Quat{0, 0, 0, 0} : Quat{2, -2, 2, -2};
  hand.action = step % 2 == 0 ? HandInput::Action::grasp : HandInput::Action::release;
  hand.body = step % 4 == 0 ? 0xffffffff : static_cast<std::uint32_t>(step % 7);
  hand.buttons = 0xffffffff;
  return hand;
}

std::vector<MemberCase> input_cases() {
  return {
      {"hands-at-the-end-of-the-world", "poses that are none, holds on bodies that are not there",
       [](Guest& liar, double since) { liar.core().hand = wild_hand(since); }},
      {"inputs-of-the-future", "inputs 100 to 2^47 ticks ahead", to_both([](Guest& liar, MemberId to) {
         for (const Tick ahead : {Tick{100}, Tick{511}, Tick{512}, Tick{100'000}, Tick{1} << 47})
           liar.core().send_inputs(to, liar.core().peer().now() + ahead, {PeerInput{}, PeerInput{}});
       })},
      {"inputs-of-the-past", "other inputs for ticks that are over", to_both([](Guest& liar, MemberId to) {
         PeerInput other;
         other.events.push_back(event_of(Kind::reset));
         for (const Tick back : {Tick{1}, Tick{10}, Tick{200}})
           liar.core().send_inputs(to, std::max<Tick>(0, liar.core().peer().now() - back), {other});
       }),
       0.3, Fate::any, true},
      {"false-time", "a clock that stands at 0 or at 2^48",
       [](Guest& liar, double) {
         liar.core().tamper = [late = false](MemberId, Bytes& bytes) mutable {
           auto message = read_message(bytes);
           if (!message || !std::holds_alternative<InputsMessage>(*message)) return;
           InputsMessage head = std::get<InputsMessage>(*message);
           late = !late;
           head.timing.their_tick = late ? Tick{1} << 48 : std::max(head.objective, head.have);
           std::vector<InputRun> runs;
           for (const InputBlock& block : head.blocks) {
             InputRun& run = runs.emplace_back();
             run.first = block.first;
             for (const PeerInput& input : block.inputs) run.inputs.push_back(&input);
           }
           bytes = write_inputs_message(head, runs);
         };
       },
       0.5},
      {"one-thing-to-one-another-to-the-other", "different inputs to the two",
       [](Guest& liar, double) {
         liar.core().tamper = [](MemberId to, Bytes& bytes) {
           auto message = read_message(bytes);
           if (to != k_ben || !message || !std::holds_alternative<InputsMessage>(*message)) return;
           InputsMessage head = std::get<InputsMessage>(*message);
           for (InputBlock& block : head.blocks)
             for (PeerInput& input : block.inputs) {
               input.hand = {};
               input.hand.present = true;
               input.hand.pose.position = {0, 0, 0.05};
               input.hand.action = HandInput::Action::grasp;
               input.hand.body = 2;
             }
           std::vector<InputRun> runs;
           for (const InputBlock& block : head.blocks) {
             InputRun& run = runs.emplace_back();
             run.first = block.first;
             for (const PeerInput& input : block.inputs) run.inputs.push_back(&input);
           }
           bytes = write_inputs_message(head, runs);
         };
       },
       0.5, Fate::any, true},
      {"many-ends", "goodbyes in every tick, and inputs after them",
       [](Guest& liar, double) {
         liar.core().tamper = [](MemberId, Bytes& bytes) { bytes.clear(); };  // nothing but this
         PeerInput goodbye;
         goodbye.events = {event_of(Kind::leave), event_of(Kind::leave)};
         const Tick next = liar.core().peer().now();
         for (const MemberId to : liar.core().others())
           for (Tick tick = next - 3; tick < next + 3; ++tick)
             liar.core().send_inputs(to, tick, {goodbye, PeerInput{}});
       },
       0.3, Fate::any, true},
      {"admissions-by-another", "admissions of people by somebody who is not the keeper", once([](Guest& liar) {
         for (MemberId m = 0; m < k_most_members; ++m)
           liar.core().peer().announce(event_of(Kind::admit, m, liar.core().peer().now() + 300, std::string(640, 'x')));
       })},
      {"words-that-command-terminals", "lines of chat that are no text, a thousand of them",
       [](Guest& liar, double) {
         for (int i = 0; i < 20; ++i) {
           liar.core().peer().announce(event_of(Kind::say, 0, 0, "\x1b]0;owned\x07\xff\xfe"));
           liar.core().peer().announce(event_of(Kind::say, 0, 0, std::string(640, '\xf0')));
         }
       }},
      {"marks-everywhere", "marks on bodies that are not there, by the hundred",
       [](Guest& liar, double since) {
         for (int i = 0; i < 8; ++i) {
           SessionEvent event =
               event_of(i % 2 == 0 ? Kind::mark : Kind::unmark, 19,
                        std::numeric_limits<std::int64_t>::min() + static_cast<std::int64_t>(since * 1e6) + i);
           event.body = 0xffffffff;
           event.point = {3e38F, 1e-45F, -3e38F};
           liar.core().peer().announce(event);
         }
       }},
      {"resets-in-every-tick", "the world anew, a hundred times a second",
       [](Guest& liar, double) { liar.core().peer().announce(event_of(Kind::reset)); }},
      {"in-and-out-of-step", "synchronisation off and on and off",
       [step = std::int64_t{0}](Guest& liar, double) mutable {
         liar.core().peer().announce(event_of(Kind::synchronise, 0, ++step % 2));
       }},
      {"back-in-step", "synchronisation on again",
       once([](Guest& liar) { liar.core().peer().announce(event_of(Kind::synchronise, 0, 1)); })},
  };
}

std::vector<MemberCase> agreement_cases() {
  const Ballot last{0xffffffff, 2};
  return {
      {"proposals-to-drop-the-honest", "proposals in all rounds", to_both([](Guest& liar, MemberId to) {
         const MemberId self = liar.core().peer().self(), other = to == k_anna ? k_ben : k_anna;
         for (const std::uint32_t round : {1U, 0x10000U, 0xffffffffU})
           liar.core().tell(to, ProposeMessage{{round, self}, {{other, 0, false}}});
       })},
      {"decisions-about-the-honest", "decisions that somebody is gone, in everybody's name",
       to_both([](Guest& liar, MemberId to) {
         for (const MemberId proposer : {liar.core().peer().self(), k_anna, k_ben, MemberId{19}})
           for (const MemberId victim : {k_anna, k_ben})
             liar.core().tell(to, DecideMessage{{7, proposer}, {{victim, liar.core().peer().objective() + 2, true}}});
       })},
      {"promises-nobody-asked-for", "promises of the last round, with ends that nobody knows",
       to_both([last](Guest& liar, MemberId to) {
         liar.core().tell(to, PromiseMessage{last, {{k_ben, Tick{1} << 47, true}}});
       })},
      {"led-away", "that a session of twenty goes on elsewhere", to_both([last](Guest& liar, MemberId to) {
         liar.core().tell(to, ProbeMessage{last, {false, 20, 0, std::string(600, 'x')}});
       })},
      {"inputs-in-anothers-name", "inputs of the other as if they were known", to_both([](Guest& liar, MemberId to) {
         PeerInput forged;
         forged.events.push_back(event_of(Kind::leave));
         InputRun run;
         run.first = liar.core().peer().now();
         run.inputs = {&forged};
         for (const MemberId of : {k_anna, k_ben, MemberId{19}}) liar.core().send(to, write_fill(of, run));
       })},
      {"false-hashes", "a wrong hash of every state",
       [](Guest& liar, double) { liar.core().peer().set_hash(liar.core().peer().objective() / 64 * 64, 0xbad); }, 1.4},
      {"now-right-now-wrong-hashes", "hashes that are Anna's, then are not",
       [](Guest& liar, double) {
         for (const auto& [tick, hash] : liar.core().hashes_of(k_anna))
           liar.core().peer().set_hash(tick, tick / 64 % 2 == 0 ? hash : 0xbad);
       },
       1.4},
  };
}

std::vector<MemberCase> asking_cases() {
  return {
      {"wishes-without-end", "a thousand wishes for inputs and snapshots at once",
       to_both([](Guest& liar, MemberId to) {
         Bytes fetch;
         ByteWriter out(fetch);
         out.number(PlainMessage::fetch);
         out.varint(static_cast<std::uint64_t>(std::max<Tick>(0, liar.core().peer().objective())));
         for (int i = 0; i < 20; ++i) {
           liar.core().tell(to, WantMessage{k_anna, 0});
           liar.core().tell(to, WantMessage{19, Tick{1} << 48});
           liar.core().send(to, fetch);
         }
       })},
      {"pieces-without-end", "wishes for pieces of what there is not, at numbers that are none",
       to_both([](Guest& liar, MemberId to) {
         Bytes want;
         ByteWriter out(want);
         out.number(TransferMessage::want);
         out.raw(Digest{});
         out.varint(32);
         for (std::uint64_t i = 0; i < 32; ++i) out.varint(k_largest_object / k_piece - i);
         for (int i = 0; i < 20; ++i) liar.core().send(to, want);
       })},
      {"healing-nobody-wanted", "a gibibyte to heal with, and pieces of it", to_both([](Guest& liar, MemberId to) {
         Bytes healing, piece(1000, static_cast<std::byte>(TransferMessage::piece));
         ByteWriter out(healing);
         out.number(PlainMessage::healing);
         write_object(out, {Digest{}, k_largest_object});
         for (int i = 0; i < 10; ++i) liar.core().send(to, healing), liar.core().send(to, piece);
       })},
      {"relays-for-noise", "noise to be passed on, to others, to itself, to nobody",
       to_both([](Guest& liar, MemberId to) {
         for (int i = 0; i < 10; ++i)
           for (const MemberId target : {k_anna, k_ben, liar.core().peer().self(), MemberId{19}}) {
             Bytes message{static_cast<std::byte>(PlainMessage::relay_to)};
             write_relay(message, {target, Bytes(1000, std::byte{0x10})});
             liar.core().send(to, message);
             message[0] = static_cast<std::byte>(PlainMessage::relayed);
             liar.core().send(to, message);
           }
       })},
      {"views-of-nothing", "views at the limits of numbers", to_both([](Guest& liar, MemberId to) {
         ViewMessage view;
         view.tick = liar.core().peer().now();
         view.body = 0xffffffff;
         view.pose.position = {1e4, -1e4, 1e4};
         view.pose.rotation = {0, 0, 0, 0};
         liar.core().tell(to, view);
         view.pose.position.x = std::numeric_limits<double>::quiet_NaN();
         view.tick = Tick{1} << 48;
         liar.core().tell(to, view);
       })},
      {"noise-of-every-kind", "messages of every kind whose content is noise",
       [random = Random(5)](Guest& liar, double) mutable {
         for (const MemberId to : k_honest)
           for (int kind = 0; kind < 256; kind += 1 + static_cast<int>(random.below(16))) {
             Bytes message(1 + random.below(1100));
             for (std::byte& byte : message) byte = static_cast<std::byte>(random.below(256));
             message[0] = static_cast<std::byte>(kind);
             liar.core().send(to, message);
           }
       }},
      {"a-flood-of-inputs", "several thousand messages of inputs a second", to_both([](Guest& liar, MemberId to) {
         const std::vector<PeerInput> many(255);
         for (int i = 0; i < 20; ++i) liar.core().send_inputs(to, liar.core().peer().now() + 100, many);
       })},
      {"at-home-at-a-third-party", "addresses of its own that are somebody else's", [](Guest&, double) {}, 1, Fate::any,
       false, 5 * 4 * 2 * 12 * (26 + 28), true},
      {"silence", "nothing more",
       [](Guest& liar, double) { liar.core().tamper = [](MemberId, Bytes& bytes) { bytes.clear(); }; }, 2.5,
       Fate::thrown_out},
      {"the-same-input-for-ever", "signs of life without inputs",
       [](Guest& liar, double) {
         liar.core().tamper = [](MemberId, Bytes& bytes) {
           auto message = read_message(bytes);
           if (message && std::holds_alternative<InputsMessage>(*message))
             bytes = write_inputs_message(std::get<InputsMessage>(*message), {});
         };
       },
       2.5, Fate::thrown_out},
  };
}

}  // namespace

std::vector<MemberCase> member_cases() {
  std::vector<MemberCase> all;
  for (const auto& cases : {input_cases(), agreement_cases(), asking_cases()})
    all.insert(all.end(), cases.begin(), cases.end());
  return all;
}

MemberCase random_lie(std::uint64_t seed) {
  MemberCase one;
  one.name = "random-" + std::to_string(seed);
  one.sends = "real messages with random changes, seed " + std::to_string(seed);
  one.differs = true;
  one.seconds = 0.6;
  one.lie = [seed, random = std::make_shared<Random>(seed)](Guest& liar, double) {
    if (liar.core().tamper) return;
    liar.core().tamper = [random, last = std::vector<Bytes>()](MemberId, Bytes& bytes) mutable {
      if (bytes.empty() || random->below(3) != 0) return;
      last.push_back(bytes);
      if (last.size() > 64) last.erase(last.begin());
      for (std::uint64_t changes = random->below(4); changes > 0 && !bytes.empty(); --changes) {
        const std::size_t at = random->below(bytes.size());
        switch (random->below(5)) {
          case 0: bytes[at] = static_cast<std::byte>(random->below(256)); break;
          case 1: bytes[at] ^= static_cast<std::byte>(1U << random->below(8)); break;
          case 2: bytes.resize(at); break;
          case 3: bytes.insert(bytes.begin() + static_cast<std::ptrdiff_t>(at), std::byte{0xff}); break;
          default: bytes = last[random->below(last.size())];
        }
      }
    };
  };
  return one;
}

}  // namespace cotouch::hostile
