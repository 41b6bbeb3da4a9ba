#include <cotouch/session/journal_writer.h>

#include <sys/resource.h>
#include <unistd.h>

#include <utility>

namespace cotouch {
namespace {

// A little less than the journal's own interval, so that what is written together is one transaction.
constexpr auto k_interval = std::chrono::milliseconds(400);
constexpr const char* k_behind =
    "The disk is too slow for the journal: some of the session is missing in it. The session goes on, and the journal "
    "goes on from the next snapshot.";

}  // namespace

JournalWriter::JournalWriter(Journal journal)
    : journal_(std::move(journal)), thread_([this](const std::stop_token& stop) { run(stop); }) {
}

JournalWriter::~JournalWriter() {
  if (thread_.joinable()) stop();
}

void JournalWriter::append(Tick tick, std::vector<std::byte> inputs, std::uint64_t state_hash) {
  const std::size_t size = inputs.size();
  give(Kind::tick, size,
       [tick, inputs = std::move(inputs), state_hash](Journal& journal) { journal.append(tick, inputs, state_hash); });
}

void JournalWriter::snapshot(Tick tick, std::vector<std::byte> world, std::vector<std::byte> rest) {
  const std::size_t size = world.size() + rest.size();
  give(Kind::snapshot, size, [tick, world = std::move(world), rest = std::move(rest)](Journal& journal) {
    journal.snapshot(tick, world, rest);
  });
}

void JournalWriter::note(Tick tick, std::string kind, std::string text, std::optional<std::uint32_t> hand) {
  const std::size_t size = kind.size() + text.size();
  give(Kind::note, size, [tick, kind = std::move(kind), text = std::move(text), hand](Journal& journal) {
    journal.note(tick, kind, text, hand);
  });
}

void JournalWriter::agree(Tick before) {
  give(Kind::agreed, 0, [before](Journal& journal) { journal.agree(before); });
}

void JournalWriter::branch_off(std::uint64_t branch, std::string reason) {
  give(Kind::line, reason.size(),
       [branch, reason = std::move(reason)](Journal& journal) { journal.branch_off(branch, reason); });
}

void JournalWriter::begin(std::uint64_t branch, JournalSnapshot snapshot, std::string reason) {
  const std::size_t size = snapshot.world.size() + snapshot.rest.size() + reason.size();
  give(Kind::beginning, size, [branch, snapshot = std::move(snapshot), reason = std::move(reason)](Journal& journal) {
    journal.begin(branch, snapshot, reason);
  });
}

void JournalWriter::give(Kind kind, std::size_t size, std::function<void(Journal&)> write) {
  const std::scoped_lock lock(mutex_);
  size += sizeof(Given);
  const bool is_line = kind == Kind::line || kind == Kind::beginning;  // which line the rest is of must not be lost
  const bool fits = is_line || given_bytes_ + size <= k_most_given;
  if (!fits || (kind == Kind::tick && needs_snapshot_)) {
    behind_ = true;
    status_ = k_behind;
    if (kind == Kind::tick || kind == Kind::snapshot) needs_snapshot_ = true;
    return;
  }
  if (kind == Kind::snapshot || kind == Kind::beginning) needs_snapshot_ = false;
  given_bytes_ += size;
  given_.push_back({std::move(write), size});
}

std::string JournalWriter::status() const {
  const std::scoped_lock lock(mutex_);
  return status_;
}

Journal JournalWriter::stop() {
  thread_.request_stop();
  thread_.join();
  return std::move(journal_);
}

void JournalWriter::run(const std::stop_token& stop) {
  // The session's thread may be more urgent than others; this one is not.
  ::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), 0);
  for (bool last = false; !last;) {
    std::deque<Given> items;
    {
      std::unique_lock lock(mutex_);
      wake_.wait_for(lock, stop, k_interval, [] { return false; });
      last = stop.stop_requested();
      items.swap(given_);
    }
    write(std::move(items));
  }
}

// What is being written still counts as given, so that there is never more than the bound of it.
void JournalWriter::write(std::deque<Given> items) {
  std::size_t size = 0;
  std::string problem;
  const auto attempt = [&](const auto& work) {
    try {
      work();
    } catch (const std::exception& error) {  // the file turned out to be damaged
      problem = error.what();
    }
  };
  for (const Given& item : items) {
    size += item.size;
    attempt([&] { item.write(journal_); });
  }
  attempt([&] { journal_.flush(); });
  if (problem.empty()) problem = journal_.status();
  const std::scoped_lock lock(mutex_);
  given_bytes_ -= size;
  if (!std::exchange(behind_, false) || !problem.empty()) status_ = problem;
}

}  // namespace cotouch
