// What hands did and felt, in a file, and how it is felt again: of a 1 kHz touch loop, or of a session that several
// people share.
//
// A recording is a snapshot of the world and the inputs of every hand, step by step, with what was felt and a hash of
// the state after each step. Stepped again without the clock from the same model it gives the same forces and states,
// bit for bit. It may begin in the midst of a running loop (TouchMark) or session.
//
// Of a loop, levels of detail depend on the machine and are recorded, and forces went through limiters. Of a shared
// session, levels follow from the state, and what is felt is what the world gives: limiters are each peer's own. What
// people did besides (joined, left, said, marked) is kept as events.
//
// File, version 6 or 7, little-endian, no padding, made so that it can be written as things happen and read however far
// it came. A head: the eight bytes "COTOUCHR"; u32 version; u32 flags (bit 0: levels are recorded, else they follow
// from the state; bit 1: forces went through limiters; the others 0); u32 number of hands H; u32 number of pairs P
// whose levels are kept; u32 length of the scene's description; u64 bytes of the state; u64 hash of the world's model;
// f64 each of `LimitSettings` in its order; with limiters, for each hand a `LimiterState` (9 f64) and a `MotorLimits`
// (5 f64); the description; the state; u64 XXH3 of all this. Then blocks: u32 kind; u32 how many things are in it; u32
// bytes of its content; the content; u64 XXH3 of the hash before it (the head's or the last block's) and the block up
// to here. Kinds:
//   1  samples, each: f64 time; u64 state hash; u32 points in contact; u32 nodes visited; f32 deepest; u32 nanoseconds;
//      u32 number of hands up to the last one that was there, with flags in its upper 16 bits; if bit 16 is set, f64
//      seconds by which its forces were late, else they were written a period after those before; if bit 17 is set, u32
//      number of pieces of engines' data that were missing (at most 96) and for each u32 pair, u32 piece (the other
//      bits are 0, kept for what else may follow); for each of these hands u32 present and, if it is 1, u32 action, u32
//      body, u32 buttons, u32 motors, pose (7 f64), felt (6 f64), f64 stiffness; P bytes of levels
//   2  events, each: u64 tick; u32 hand (all bits set: none); u32 kind; u32 length of its text; the text
//   3  the end: u64 number of samples; u64 number of events. Nothing follows.
// A file whose last whole block is another one breaks off there: the program was ended, or the disk was full.
//
// Bit 17 and events of kind `leads` are of version 7, which files of shared sessions have, and of worlds whose engines
// may lack data; programs that do not know them say that the file is newer. All others have version 6.
//
// Files of version 5, all in one with a hash behind it and without heat, motors' limits and stiffness, and of version
// 4, which knew only loops, are read as well. Files without bit 16 were made when limits went by cycles, or by a loop
// that was never late: both are felt again as if a period had passed each time.
#pragma once

#include <cotouch/touch/loop.h>

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cotouch {

inline constexpr std::size_t k_recorded_hands = 16;
inline constexpr std::size_t k_recorded_scene = 64U << 10U;  // bytes
inline constexpr std::size_t k_recorded_events = 1U << 16U;
inline constexpr std::size_t k_event_text = 512;  // bytes

// One step as it was recorded. A loop's TouchSample has room for every hand, which would be too much to keep.
struct RecordedSample {
  double time = 0;                // seconds since the first step if none had come late, a whole number of periods
  std::vector<HandSample> hands;  // up to the last one that was there
  std::array<std::uint8_t, k_recorded_pairs> levels{};
  std::vector<MissingPieces::Piece> missing;  // that engines did without
  std::uint64_t state_hash = 0;
  std::uint32_t in_contact = 0, visited = 0;  // not known of a shared session; a replay finds them
  float deepest = 0;                          // metres
  std::uint32_t cycle_ns = 0;                 // time the cycle took
  double late = 0;                            // seconds beyond a period since the forces before

  const HandSample& hand(std::size_t index) const noexcept;  // one that is not there if it is beyond the last
};

// What somebody did besides moving a hand.
struct RecordedEvent {
  enum class Kind : std::uint8_t {
    joined,  // the text is their name
    left,
    said,
    marked,
    reset,  // the world from its start, before this tick's inputs
    leads,  // the hand is led by who has the hand of this number (the text) besides their own; empty: not any more
  };
  std::uint64_t tick = 0;  // samples before it
  std::optional<std::uint32_t> hand;
  Kind kind = Kind::said;
  std::string text;  // of a stranger: whoever shows it cleans it

  friend bool operator==(const RecordedEvent&, const RecordedEvent&) = default;
};

struct Recording {
  std::string scene;             // where it was made, in words the session understands
  std::uint64_t model_hash = 0;  // of the world it was made in
  LimitSettings limits;          // the period is the world's tick
  bool levels_recorded = true;   // else they follow from the state
  bool limited = true;           // forces went through limiters: of a loop, not of a shared session
  bool may_lack_data = false;    // engines' (ContactEngine::may_lack_data): samples may name what was missing
  std::uint32_t hands = 0, pairs = 0;
  std::vector<LimiterState> limiters;  // one a hand, if there were any
  std::vector<MotorLimits> motors;     // likewise, what its device could bear
  std::vector<std::byte> state;        // of the world before the first sample
  std::vector<RecordedSample> samples;
  std::vector<RecordedEvent> events;  // in the order in which they were learnt
  bool finished = true;               // false: it breaks off, and there was more
  std::uint64_t unread = 0;           // bytes of its file behind what could be read
  // While it is made and goes to disk (recording_stream.h): what came before the samples and events that are here.
  std::uint64_t handed_on = 0, events_handed_on = 0;

  std::uint64_t length() const { return handed_on + samples.size(); }  // samples so far
};

// The head of a recording of what a loop does from `mark` on.
Recording begin_recording(const WorldModel& model, const WorldMark& mark, const LimitSettings& limits,
                          std::size_t hands, std::string scene);
// Appends what the loop has queued up to now, without the cycles before `first`; time counts from there. For the loop's
// one sample reader.
void collect_samples(TouchLoop& loop, Recording& recording, std::uint64_t first = 0);

// The head of a recording of a shared session from `state` on. Throws Error if the world has more hands or steps more
// slowly than a recording can tell.
Recording begin_shared_recording(const WorldModel& model, const WorldState& state, std::string scene);
// The next tick: what the hands did, and the state that it led to.
void append_tick(Recording& recording, std::span<const HandInput> inputs, const WorldState& after);
// False, and nothing is kept, if there are too many already or it is of no hand of the recording. For resets, without
// which a replay differs, there is room when there is none for others, and for others when there is none for `leads`,
// which a program can send by itself all the time. A longer text is cut between two characters.
bool append_event(Recording& recording, RecordedEvent event);

// Who had which hand, and when: from `joined`, `left` and `leads`.
struct RecordedPerson {
  std::optional<std::uint32_t> hand;
  std::optional<std::uint32_t> own;  // hand of their own number; another than `hand` if they led both
  std::string name;                  // of a stranger
  std::uint64_t from = 0, to = 0;    // ticks; to the recording's end if they never left
};
std::vector<RecordedPerson> recorded_people(const Recording& recording);

// The file is there whole or not at all. Throws Error if it cannot be written.
void write_recording(const Recording& recording, const std::filesystem::path& file);
// Throws Error on a file that is no recording of finite numbers. Of one that breaks off or is damaged behind its head,
// what is before that comes back, and says that it is not finished. Memory is a small multiple of the file's size.
Recording read_recording(const std::filesystem::path& file);
// The same from bytes; `name` is for the message.
Recording parse_recording(std::span<const std::byte> bytes, const std::string& name);

// Steps a recording again, sample by sample, and compares.
class Replay {
 public:
  // Throws Error if the recording was made in another world.
  Replay(const Recording& recording, const std::shared_ptr<const WorldModel>& model);

  // The next sample; false once there is none.
  bool next() noexcept;
  const WorldState& state() const noexcept { return world_.state(); }
  const TouchWorld& world() const noexcept { return world_; }
  const RecordedSample& sample() const noexcept { return felt_; }  // felt again; times are the recorded ones
  // Of the samples so far: how many came out the same before the first that did not.
  std::size_t same() const noexcept { return same_; }
  bool identical() const noexcept { return done_ > 0 && same_ == done_; }  // of nothing, nothing is known

 private:
  class Silent final : public Device {  // what a limiter writes to
   public:
    explicit Silent(const MotorLimits& motors) : motors_(motors) {}
    std::string name() const override { return "recording"; }
    DeviceLimits limits() const noexcept override { return {motors_, 0, 0, 0, 0, 0}; }
    bool read(DeviceReading&) noexcept override { return true; }
    void write(const LimitedWrench&) noexcept override {}
    void disable() noexcept override {}
    bool enable() noexcept override { return true; }

   private:
    MotorLimits motors_;
  };
  struct Limited {  // what a hand's force went through
    Silent device;
    ForceLimiter limiter;
    Limited(const MotorLimits& motors, const LimitSettings& settings) : device(motors), limiter(device, settings) {}
  };
  bool is_same(const RecordedSample& was) const noexcept;

  const Recording& recording_;
  bool exact_levels_;
  LocalWorld world_;
  const WorldState start_;                         // what a reset begins with
  std::vector<std::unique_ptr<Limited>> limited_;  // one a hand, if there were any
  RecordedSample felt_;
  std::size_t done_ = 0, same_ = 0, next_event_ = 0;
};

// Plays one hand of a recording, whatever it feels; its script ends with the last sample.
class RecordedDevice final : public Device {
 public:
  explicit RecordedDevice(const Recording& recording, std::size_t hand = 0);

  std::string name() const override { return "recorded path"; }
  bool read(DeviceReading& reading) noexcept override;

  DeviceLimits limits() const noexcept override { return k_without_motors; }
  void write(const LimitedWrench&) noexcept override {}
  void disable() noexcept override {}
  bool enable() noexcept override { return true; }

 private:
  std::vector<HandSample> samples_;
  std::size_t next_ = 0;
};

}  // namespace cotouch
