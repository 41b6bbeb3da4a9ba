// What a shared session leaves on disk: the journal, and what was recorded when states turned out to differ.
#include <cotouch/session/shared_session.h>

#include <cotouch/base/error.h>
#include <cotouch/session/names.h>
#include <cotouch/session/tick_record.h>

namespace cotouch {
namespace {

constexpr Tick k_snapshot_every = 1000;
constexpr int k_most_desyncs_kept = 4;  // recordings of one session

}  // namespace

void SharedSession::open_journal() {
  if (settings_.journal.empty()) return;
  if (!journal_) {
    JournalHead head;
    head.session = status_.session;
    head.scene = description_;
    head.model_hash = model_hash_;
    try {
      journal_.emplace(Journal::open_or_create(settings_.journal, head));
    } catch (const Error& error) {
      return fail(error.what());
    }
  }
  // What was written after this tick by somebody who was cut off is not what all agreed on.
  const Tick tick = peer_->objective();
  if (journal_->next_tick() && *journal_->next_tick() > tick) journal_->rewind(tick);
  ObjectiveSnapshot rest = peer_->snapshot();
  journal_->snapshot(tick, runner_->objective_state().bytes(), encode_snapshot(rest));
}

void SharedSession::write_journal(const ConfirmTick& confirm) {
  if (!journal_) return;
  const Tick tick = confirm.tick + 1;
  const WorldState& state = runner_->saved(tick);
  journal_->append(confirm.tick, encode_tick(confirm.inputs.hands), state.hash());
  if (confirm.inputs.reset) journal_->note(confirm.tick, "reset", "");
  if (tick % k_snapshot_every != 0 && !confirm.inputs.reset) return;
  const ObjectiveSnapshot rest = peer_->snapshot();
  journal_->snapshot(tick, state.bytes(), encode_snapshot(rest));
}

// Nobody is there any more, but we have seen it all: the session goes on from here.
bool SharedSession::resume_from_journal() {
  return false;
}

void SharedSession::report_desync(const SessionNotice& notice) {
  std::string sentence =
      "The world here and at " +
      (introductions_[notice.member] ? clean_label(introductions_[notice.member]->name) : std::string("a peer")) +
      " differ at tick " + std::to_string(notice.tick) + ", which must not happen.";
  // A member that lies about its state must not fill the disk.
  if (rolling_ && desyncs_kept_ < k_most_desyncs_kept) {
    ++desyncs_kept_;
    const std::filesystem::path file = settings_.received / ("desync-" + std::to_string(notice.tick) + ".cotrec");
    try {
      std::filesystem::create_directories(settings_.received);
      write_recording(*rolling_, file);
      sentence += " What led to it is in " + file.string() + ".";
    } catch (const std::exception& error) {
      sentence += std::string(" ") + error.what();
    }
  }
  if (journal_) journal_->note(notice.tick, "desync", sentence);
  listener_.problem(sentence);
}

}  // namespace cotouch
