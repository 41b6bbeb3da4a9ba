// Writes a journal on a thread of its own: a disk takes milliseconds to say that something is safe, a busy one a
// quarter of a second, and the session's ticks do not wait for it.
//
// What is given here is written in order, twice a second. If the disk falls behind by more than a bounded amount, ticks
// and snapshots are left out; the journal then goes on from the next snapshot (journal.h), and status() says so.
#pragma once

#include <cotouch/session/journal.h>

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

namespace cotouch {

class JournalWriter {
 public:
  explicit JournalWriter(Journal journal);
  ~JournalWriter();  // as stop()
  JournalWriter(const JournalWriter&) = delete;
  JournalWriter& operator=(const JournalWriter&) = delete;

  // As the journal's own, without waiting.
  void append(Tick tick, std::vector<std::byte> inputs, std::uint64_t state_hash);
  void snapshot(Tick tick, std::vector<std::byte> world, std::vector<std::byte> rest);
  void note(Tick tick, std::string kind, std::string text, std::optional<std::uint32_t> hand = {});
  void agree(Tick before);
  void branch_off(std::uint64_t branch, std::string reason);
  void begin(std::uint64_t branch, JournalSnapshot snapshot, std::string reason);

  // A sentence if the disk does not take what it is given, as far as it was tried; empty if all is well.
  std::string status() const;
  // Writes what is left, ends the thread and gives the journal back. Nothing can be given any more.
  Journal stop();

  static constexpr std::size_t k_most_given = 32U << 20U;  // bytes, while the disk takes its time

 private:
  struct Given {
    std::function<void(Journal&)> write;
    std::size_t size = 0;
  };
  enum class Kind : std::uint8_t { tick, snapshot, note, agreed, line, beginning };
  void give(Kind kind, std::size_t size, std::function<void(Journal&)> write);
  void run(const std::stop_token& stop);
  void write(std::deque<Given> items);

  Journal journal_;  // the thread's own while it runs
  mutable std::mutex mutex_;
  std::condition_variable_any wake_;
  std::deque<Given> given_;
  std::size_t given_bytes_ = 0;
  bool behind_ = false;          // something was left out
  bool needs_snapshot_ = false;  // ticks may not follow from what is written: a world that was reset has jumped
  std::string status_;
  std::jthread thread_;
};

}  // namespace cotouch
