#include "hostile/host_cases.h"

#include <cotouch/base/file.h>
#include <cotouch/base/read_file.h>
#include <cotouch/session/door_message.h>
#include <cotouch/session/running_world.h>
#include <cotouch/session/scene_file.h>

#include "support/temporary_folder.h"

#include <limits>
#include <utility>

namespace cotouch::hostile {
namespace {

constexpr MemberId k_victim = FalseHost::k_victim;
// Every 0.25 s for ten seconds, then every two, to eight addresses of each of 18 members: 26 bytes and the headers.
constexpr std::size_t k_most_punches = (10 * 4 + 1 + 50 / 2) * 18 * 8 * (26 + 28);

Bytes& scene_of(FalseHost& host) {
  for (auto& [name, bytes] : host.gifts.files)
    if (name == "scene.toml") return bytes;
  throw std::runtime_error("the real host gave no scene");
}

// A scene file with this instead of that.
std::function<void(FalseHost&, const NetAddress&)> scene_with(std::string what, std::string with) {
  return [=](FalseHost& host, const NetAddress&) { scene_of(host) = replaced(scene_of(host), what, with); };
}

std::function<void(FalseHost&, const NetAddress&)> state_with(std::function<void(std::vector<std::byte>&)> change) {
  return [=](FalseHost& host, const NetAddress&) {
    host.snapshot = [=](ObjectiveSnapshot& snapshot) { change(snapshot.state); };
  };
}

void put_number(std::vector<std::byte>& state, std::size_t index, double value) {
  if ((index + 1) * sizeof value <= state.size())
    std::memcpy(state.data() + index * sizeof value, &value, sizeof value);
}

// Somebody who is not there, at these addresses; keys of its own.
Introduction invented(FalseHost& host, const std::string& name, const std::vector<NetAddress>& addresses) {
  const JoinKey key(Identity::make(), parse_invite(host.invite(), 0).session());
  Introduction one;
  one.name = name;
  one.credential = key.credential();
  one.addresses = addresses;
  return one;
}

std::vector<NetAddress> eight_times(const NetAddress& address) {
  return std::vector<NetAddress>(Introduction::k_most_addresses, address);
}

SessionEvent event_of(SessionEvent::Kind kind, MemberId member = 0, std::int64_t number = 0, std::string text = {}) {
  SessionEvent event;
  event.kind = kind;
  event.member = member;
  event.number = number;
  event.text = std::move(text);
  return event;
}

// Once, as soon as somebody is in.
std::function<void(FalseHost&, double)> once(std::function<void(FalseHost&)> what) {
  return [what = std::move(what), done = false](FalseHost& host, double) mutable {
    if (!std::exchange(done, true)) what(host);
  };
}

std::vector<HostCase> door_cases() {
  return {
      {"answer-of-garbage", "an Answer whose payload is noise", Course::fails, "makes no sense",
       [](FalseHost& host, const NetAddress&) {
         host.answer = [](PeerNetworkListener::Decision& answer) { answer.payload.assign(400, std::byte{0xa5}); };
       }},
      {"answer-cut-short", "an Answer that ends in the middle", Course::fails, "makes no sense",
       [](FalseHost& host, const NetAddress&) {
         host.answer = [](PeerNetworkListener::Decision& answer) { answer.payload.resize(answer.payload.size() / 2); };
       }},
      {"scene-named-as-a-path", "a scene's name that leads out of the library", Course::goes_on, "",
       [](FalseHost& host, const NetAddress&) {
         host.gifts.description = text_of(
             replaced(bytes_of(host.gifts.description), "\"scene\":\"", "\"scene\":\"../../../../../etc/passwd"));
       }},
      {"a-scene-that-takes-long", "the name of a scene that takes long to prepare, while its user stops", Course::stays,
       "",
       [](FalseHost& host, const NetAddress&) {
         host.gifts.description = text_of(
             replaced(bytes_of(host.gifts.description), "\"scene\":\"\"", "\"scene\":\"bridge-creature-soft\""));
       }},
      {"led-in-a-circle", "redirections to itself for ever", Course::fails, "do not let us in",
       [](FalseHost& host, const NetAddress&) {
         host.answer = [&host](PeerNetworkListener::Decision& answer) {
           answer = {};
           ByteWriter out(answer.payload);
           out.number(DoorRefusal::redirect);
           out.text(write_introduction(host.own_introduction()));
         };
       }},
      {"led-to-somebody-else", "a redirection to eight addresses of a third party", Course::fails, "Nobody answered",
       [](FalseHost& host, const NetAddress& third_party) {
         host.answer = [&host, third_party](PeerNetworkListener::Decision& answer) {
           answer = {};
           Introduction other = host.own_introduction();
           other.name.clear();
           other.addresses = eight_times(third_party);
           ByteWriter out(answer.payload);
           out.number(DoorRefusal::redirect);
           out.text(write_introduction(other));
         };
       },
       0, 8 * 13 * (256 + 28), true, 256},
      {"never-let-in", "'not now', whenever it is asked", Course::fails, "do not let us in",
       [](FalseHost& host, const NetAddress&) {
         host.answer = [](PeerNetworkListener::Decision& answer) {
           answer = {};
           ByteWriter out(answer.payload);
           out.number(DoorRefusal::not_now);
         };
       },
       0, 0, true},
      {"never-admitted", "everything but the admission", Course::stays, "",
       [](FalseHost& host, const NetAddress&) { host.admitted = [](Bytes& message) { message.resize(1); }; }},
  };
}

std::vector<HostCase> fetch_cases() {
  return {
      {"manifest-of-garbage", "noise as the list of files", Course::fails, "makes no sense",
       [](FalseHost& host, const NetAddress&) {
         host.manifest = [](Bytes& manifest) { manifest.assign(500, std::byte{0x5a}); };
       }},
      {"files-outside", "names with ../ and from the root", Course::fails, "makes no sense",
       [](FalseHost& host, const NetAddress&) {
         const ObjectName object = host.put(bytes_of("stray"));
         host.false_names = {{"../../../../stray.cot", object}, {"/tmp/cotouch-stray.cot", object}};
       }},
      {"a-gibibyte-of-nothing", "a file of 1 GiB less a byte, of which nothing comes", Course::stays, "",
       [](FalseHost& host, const NetAddress&) {
         host.gifts.files.clear();
         host.false_names = {{"large.cot", {Digest{}, k_largest_object - 1}}, {"scene.toml", {Digest{}, 1}}};
       },
       1.5},
      {"more-than-a-gibibyte", "files that are larger together than a scene may be", Course::fails, "larger than",
       [](FalseHost& host, const NetAddress&) {
         host.false_names = {{"large.cot", {Digest{}, k_largest_object}}};
       }},
      {"pieces-of-something-else", "pieces that are not of the object, again and again", Course::fails,
       "not what it announced",
       [](FalseHost& host, const NetAddress&) { host.piece = [](Bytes& piece) { piece.back() ^= std::byte{1}; }; }},
      {"an-empty-file-with-a-name", "an object of no bytes that is not the empty one", Course::fails,
       "not what it announced",
       [](FalseHost& host, const NetAddress&) {
         host.false_names = {{"empty.cot", {Digest{}, 0}}};
       }},
      {"nothing-but-being-there", "no pieces, but signs of life for ever", Course::fails, "sends nothing",
       [](FalseHost& host, const NetAddress&) { host.gives_pieces = false; }, 0, 0, true},
      {"no-scene-among-the-files", "parts without a scene file", Course::fails, "cannot be used",
       [](FalseHost& host, const NetAddress&) {
         std::erase_if(host.gifts.files, [](const auto& file) { return file.first == "scene.toml"; });
       }},
      {"the-same-name-again", "256 files of one name", Course::stays, "",
       [](FalseHost& host, const NetAddress&) {
         for (std::size_t i = host.gifts.files.size(); i < 256; ++i)
           host.false_names.emplace_back("again.cot", host.put(bytes_of(std::to_string(i))));
       },
       1},
  };
}

// Sound, and more than a machine can simulate in time.
void make_heavy(FalseHost& host, const NetAddress&) {
  const TemporaryFolder folder;
  for (const auto& [name, bytes] : host.gifts.files) write_file(folder / name, text_of(bytes));
  NoProgress quiet;
  Scene scene = load_scene_file(folder / "scene.toml", quiet);
  const SceneBody body = scene.bodies[1];
  for (std::uint32_t id = 4; id <= k_most_scene_bodies; ++id) {
    scene.bodies.push_back(body);
    scene.bodies.back().id = id;
  }
  save_scene(scene, "heavy", folder / "heavy");
  host.gifts.files.clear();
  for (const auto& entry : std::filesystem::directory_iterator(folder / "heavy")) {
    const FileCopy file = read_file(entry.path());
    host.gifts.files.emplace_back(entry.path().filename(), Bytes(file.bytes.begin(), file.bytes.end()));
  }
  scene = load_scene_file(folder / "heavy" / "scene.toml", quiet);
  FeelSettings feel = parse_recorded_scene(host.gifts.description).feel;
  feel.warm_nodes = 4096;  // in every shared world
  const auto model = felt_model(scene, feel, k_shared_pace);
  host.gifts.model_hash = model->hash();
  const auto state = WorldState(*model);
  host.gifts.snapshot.state.assign(state.bytes().begin(), state.bytes().end());
  host.gifts.description = format_recorded_scene({"heavy", feel, k_shared_pace});
}

std::vector<HostCase> scene_cases() {
  const std::string deep(200'000, '[');
  std::string many = "cotouch = 2\n";
  for (int i = 0; many.size() < 1'000'000; ++i) many += "k" + std::to_string(i) + " = 1\n";
  const auto whole = [](std::string text) {
    return [=](FalseHost& host, const NetAddress&) { scene_of(host) = bytes_of(text); };
  };
  std::string bodies = "cotouch = 2\n";
  for (int i = 0; i < 65; ++i) bodies += "[[body]]\n[[body.part]]\nasset = \"part-none.cot\"\n";
  return {
      {"asset-above", "a part's file above the folder", Course::fails, "own folder",
       scene_with("asset = \"", "asset = \"../../../../../../etc/")},
      {"asset-from-the-root", "a part's file from the root", Course::fails, "own folder",
       scene_with("asset = \"", "asset = \"/dev/zero/")},
      {"mesh-of-this-machine", "a mesh that is a device", Course::fails, "own folder",
       scene_with("asset = \"", "mesh = \"/dev/stdin\"\n#")},
      {"asset-that-is-a-folder", "the folder itself as a part", Course::fails, "cannot be",
       scene_with("asset = \"", "asset = \".\"\n#")},
      {"part-as-a-mesh", "a prepared part where a mesh should be", Course::fails, "cannot be",
       scene_with("asset = \"", "mesh = \"")},
      {"no-numbers", "a place that is no number", Course::fails, "cannot be used",
       scene_with("position = [0.0, 0.0, 0.0]", "position = [nan, inf, 0.0]")},
      {"less-than-nothing", "a body of negative mass", Course::fails, "cannot be used",
       scene_with("density = 1000.0",
                  "mass = -1.0\ncenter = [0.0, 0.0, 0.0]\ninertia = [1.0, 1.0, 1.0, 0.0, 0.0, 0.0]")},
      {"too-many-bodies", "65 bodies", Course::fails, "cannot be used", whole(bodies)},
      {"a-million-keys", "a scene file of keys that are none", Course::fails, "cannot be used", whole(many)},
      {"a-deep-scene", "lists in lists, 200,000 deep", Course::fails, "cannot be used",
       whole("cotouch = 2\ngravity = " + deep)},
      {"noise-as-a-scene", "a scene file of noise", Course::fails, "cannot be used", whole(std::string(5000, '\xff'))},
      {"a-heavy-scene", "64 bodies in one place, which take longer to simulate than there is time", Course::stays, "",
       make_heavy, 2},
      {"another-scene", "a sound scene that is not the one announced", Course::fails, "another world",
       scene_with("friction = 0.3", "friction = 0.4")},
  };
}

std::vector<HostCase> snapshot_cases() {
  const auto admitted_as = [](std::uint8_t number) {
    return [=](FalseHost& host, const NetAddress&) {
      host.admitted = [=](Bytes& message) { message[1] = std::byte{number}; };
    };
  };
  return {
      {"snapshot-of-noise", "noise as the state of the session", Course::fails, "makes no sense",
       [](FalseHost& host, const NetAddress&) {
         host.encoded = [](Bytes& bytes) { std::fill(bytes.begin(), bytes.end(), std::byte{0xee}); };
       }},
      {"snapshot-cut-short", "a session's state that ends in the middle", Course::fails, "makes no sense",
       [](FalseHost& host, const NetAddress&) { host.encoded = [](Bytes& bytes) { bytes.resize(bytes.size() / 2); }; }},
      {"state-too-short", "a world's state of another size", Course::fails, "not of this scene",
       state_with([](auto& state) { state.resize(state.size() - 8); })},
      {"state-of-no-numbers", "a world's state with what is no number", Course::fails, "not of this scene",
       state_with([](auto& state) { put_number(state, 8, std::numeric_limits<double>::quiet_NaN()); })},
      {"state-at-the-end-of-the-world", "bodies at 1e300 m that fall at 1e300 m/s", Course::goes_on, "",
       state_with([](auto& state) {
         for (const std::size_t at : {5U, 20U, 35U, 12U, 27U, 42U}) put_number(state, at, 1e300);
       })},
      {"state-of-many-ticks", "a world that has run for 2^53 ticks", Course::goes_on, "",
       state_with([](auto& state) { put_number(state, 0, 0x1p53); })},
      {"a-late-snapshot", "a session at its last tick but a few", Course::stays, "",
       [](FalseHost& host, const NetAddress&) { host.gifts.snapshot.tick = (Tick{1} << 48) - 64; }, 1},
      {"the-last-round", "decisions that have used up all rounds", Course::goes_on, "",
       [](FalseHost& host, const NetAddress&) {
         host.snapshot = [](ObjectiveSnapshot& snapshot) { snapshot.decided = {0xffffffff, 19}; };
       }},
      {"a-number-of-nobody", "an admission as member 255", Course::stays, "", admitted_as(255), 1},
      {"a-number-of-an-observer", "an admission as an observer, who did not ask for it", Course::stays, "",
       admitted_as(17), 1},
      {"somebody-else-in-our-place", "a snapshot in which another has our number", Course::fails, "do not let us in",
       [](FalseHost& host, const NetAddress&) {
         host.snapshot = [&host](ObjectiveSnapshot& snapshot) {
           snapshot.members[k_victim]->introduction = write_introduction(invented(host, "Eve", {}));
         };
       }},
      {"names-that-command-terminals", "members whose names and marks are control characters", Course::stays, "",
       [](FalseHost& host, const NetAddress&) {
         host.snapshot = [&host](ObjectiveSnapshot& snapshot) {
           snapshot.members[5] =
               Member{snapshot.tick, write_introduction(invented(host, "\x1b]0;owned\x07\x1b[2J\u202e\xff", {}))};
           snapshot.members[6] = Member{snapshot.tick, std::string(600, '\xff')};
         };
       },
       1},
      {"a-crowd-somewhere-else", "18 members who are all at the address of a third party", Course::stays, "",
       [](FalseHost& host, const NetAddress& third_party) {
         host.snapshot = [&host, third_party](ObjectiveSnapshot& snapshot) {
           for (MemberId m = 2; m < k_most_members; ++m)
             snapshot.members[m] =
                 Member{snapshot.tick, write_introduction(invented(host, "crowd", eight_times(third_party)))};
         };
       },
       2, k_most_punches},
      {"former-members-somewhere-else", "16 former members who are all at the address of a third party", Course::stays,
       "",
       [](FalseHost& host, const NetAddress& third_party) {
         host.snapshot = [&host, third_party](ObjectiveSnapshot& snapshot) {
           for (std::size_t i = 0; i < k_most_former; ++i)
             snapshot.former.push_back(write_introduction(invented(host, "gone", eight_times(third_party))));
         };
       },
       3, 8 * 13 * (256 + 28) * 6, false, 256},
      {"a-crowd-and-then-silence", "18 members at a third party's, and nothing more from the host", Course::stays, "",
       [](FalseHost& host, const NetAddress& third_party) {
         host.snapshot = [&host, third_party](ObjectiveSnapshot& snapshot) {
           for (MemberId m = 2; m < k_most_members; ++m)
             snapshot.members[m] =
                 Member{snapshot.tick, write_introduction(invented(host, "crowd", eight_times(third_party)))};
         };
         host.speaks = false;
       },
       2, k_most_punches},
  };
}

// An admission by the host's inputs, of somebody at a third party's address.
void admit_all(FalseHost& host, const NetAddress& third_party) {
  for (MemberId m = 2; m < k_most_members; ++m)
    host.core().peer().announce(event_of(SessionEvent::Kind::admit, m, 0,
                                         write_introduction(invented(host, "crowd", eight_times(third_party)))));
}

std::vector<HostCase> member_zero_cases() {
  using Kind = SessionEvent::Kind;
  return {
      {"words-that-command-terminals", "lines of chat that are no text", Course::goes_on, "owned",
       [](FalseHost& host, const NetAddress&) {
         host.act = once([](FalseHost& own) {
           own.core().peer().announce(event_of(Kind::say, 0, 0, "\x1b]0;owned\x07\xff\xfe\u202e"));
           own.core().peer().announce(event_of(Kind::say, 0, 0, std::string(640, '\xf0')));
         });
       }},
      {"events-about-nothing", "marks on bodies that are not there, numbers at their limits", Course::goes_on, "",
       [](FalseHost& host, const NetAddress&) {
         host.act = once([](FalseHost& own) {
           for (const std::int64_t number :
                {std::numeric_limits<std::int64_t>::min(), std::int64_t{-1}, std::numeric_limits<std::int64_t>::max()})
             for (const Kind kind : {Kind::mark, Kind::unmark, Kind::admit, Kind::synchronise}) {
               SessionEvent event = event_of(kind, 19, number, "x");
               event.body = 0xffffffff;
               event.point = {3e38F, -3e38F, 1e-45F};
               own.core().peer().announce(event);
             }
         });
       },
       // Those whom it has invented are waited for first.
       0.3, 0, false, 26, 5},
      {"newcomers-at-a-third-party", "18 admissions of people who are elsewhere", Course::stays, "",
       [](FalseHost& host, const NetAddress& third_party) {
         host.act = once([third_party](FalseHost& own) { admit_all(own, third_party); });
       },
       3, k_most_punches},
      {"pieces-nobody-asked-for", "a flood of pieces, and of healing that nobody wanted", Course::goes_on, "",
       [](FalseHost& host, const NetAddress&) {
         host.act = [](FalseHost& own, double) {
           Bytes piece(1000, static_cast<std::byte>(TransferMessage::piece)), healing;
           ByteWriter out(healing);
           out.number(PlainMessage::healing);
           write_object(out, {Digest{}, k_largest_object});
           for (int i = 0; i < 20; ++i) own.core().send(k_victim, piece), own.core().send(k_victim, healing);
         };
       }},
      {"relays-of-relays", "datagrams as if passed on: noise, nested, and its own", Course::goes_on, "",
       [](FalseHost& host, const NetAddress&) {
         host.act = [](FalseHost& own, double) {
           Bytes inner{static_cast<std::byte>(PlainMessage::relayed)},
               outer{static_cast<std::byte>(PlainMessage::relayed)};
           const Bytes noise(200, std::byte{0x10});
           write_relay(inner, {2, noise});
           write_relay(outer, {3, inner});
           own.core().send(k_victim, outer);
           outer[0] = static_cast<std::byte>(PlainMessage::relay_to);
           own.core().send(k_victim, outer);
         };
       }},
      {"false-hashes", "another hash of every state, and damaged states to heal with", Course::stays, "differ",
       [](FalseHost& host, const NetAddress&) {
         host.act = [](FalseHost& own, double) {
           for (Tick tick = own.core().peer().objective() / 64 * 64; tick > 0; tick = 0)
             own.core().peer().set_hash(tick, 0xbad);
         };
       },
       2.5},
      {"a-state-to-heal-with", "the same, and a snapshot full of noise when it is asked for one", Course::stays,
       "differ",
       [](FalseHost& host, const NetAddress&) {
         host.act = [name = std::optional<ObjectName>()](FalseHost& own, double) mutable {
           if (!name) {
             ObjectiveSnapshot snapshot = own.core().peer().snapshot();
             snapshot.state = own.gifts.snapshot.state;
             put_number(snapshot.state, 10, 1e308);
             name = own.put(encode_snapshot(snapshot));
           }
           own.core().peer().set_hash(own.core().peer().objective() / 64 * 64, 0xbad);
           Bytes healing;
           ByteWriter out(healing);
           out.number(PlainMessage::healing);
           write_object(out, *name);
           own.core().send(k_victim, healing);
         };
       },
       2.5},
      {"thrown-out-at-once", "a decision that whoever joined is gone", Course::stays, "went on without",
       [](FalseHost& host, const NetAddress&) {
         host.act = once([](FalseHost& own) {
           own.core().tell(k_victim, DecideMessage{{5, 0}, {{k_victim, own.core().peer().objective() + 1, true}}});
         });
       },
       1},
      {"noise-of-every-kind", "messages of every kind whose content is noise", Course::goes_on, "",
       [](FalseHost& host, const NetAddress&) {
         host.act = [random = Random(7)](FalseHost& own, double) mutable {
           for (int kind = 0; kind < 256; kind += 1 + static_cast<int>(random.below(16))) {
             Bytes message(1 + random.below(1100));
             for (std::byte& byte : message) byte = static_cast<std::byte>(random.below(256));
             message[0] = static_cast<std::byte>(kind);
             own.core().send(k_victim, message);
           }
         };
       }},
      {"silence-after-the-door", "nothing more, once somebody is in", Course::stays, "was not heard",
       [](FalseHost& host, const NetAddress&) { host.speaks = false; }, 5, 0, false, 26, 1},
  };
}

}  // namespace

std::vector<HostCase> host_cases() {
  std::vector<HostCase> all;
  for (const auto& cases :
       {door_cases(), fetch_cases(), scene_cases(), part_cases(), snapshot_cases(), member_zero_cases()})
    all.insert(all.end(), cases.begin(), cases.end());
  return all;
}

HostCase random_case(std::uint64_t seed) {
  HostCase one;
  one.name = "random-" + std::to_string(seed);
  one.sends = "real objects with random changes, seed " + std::to_string(seed);
  one.course = Course::any;
  one.prepare = [seed](FalseHost& host, const NetAddress&) {
    Random random(seed);
    if (random.below(4) == 0) {
      host.encoded = [seed](Bytes& bytes) {
        Random again(seed + 1);
        bytes = mutated(std::move(bytes), false, again);
      };
      return;
    }
    auto& [name, bytes] = host.gifts.files[random.below(host.gifts.files.size())];
    bytes = mutated(std::move(bytes), name != "scene.toml", random);
  };
  return one;
}

}  // namespace cotouch::hostile
