// What a shared session leaves on disk: the journal, and what was recorded when states turned out to differ.
#include <cotouch/session/shared_session.h>

#include <cotouch/base/error.h>
#include <cotouch/base/hash.h>
#include <cotouch/base/progress.h>
#include <cotouch/session/names.h>
#include <cotouch/session/scene_file.h>
#include <cotouch/session/tick_record.h>

#include <algorithm>

namespace cotouch {
namespace {

constexpr Tick k_snapshot_every = 1000, k_snapshot_at_most_every = 50;
constexpr double k_look_interval = 0.1;  // seconds
constexpr int k_most_desyncs_kept = 4;   // recordings of one session

}  // namespace

// A long one takes a while to be checked.
bool SharedSession::open_journal() {
  if (settings_.journal.empty() || journal_) return true;
  JournalHead head;
  head.session = status_.session;
  head.scene = description_;
  head.model_hash = model_hash_;
  head.folder = scene_folder_;
  try {
    journal_.emplace(Journal::open_or_create(settings_.journal, head));
  } catch (const Error& error) {
    fail(error.what());
    return false;
  }
  return true;
}

void SharedSession::go_on_with_journal() {
  if (!open_journal() || !journal_) return;
  begin_journal(peer_->objective(), runner_->objective_state(),
                again_ ? "the others went on without this program" : "it ended before others had told that they agree");
}

// What is in it and was not agreed on is kept apart, and why.
void SharedSession::begin_journal(Tick tick, const WorldState& state, const std::string& reason) {
  journal_->begin(unsettled_.branch(),
                  {tick, {state.bytes().begin(), state.bytes().end()}, encode_snapshot(peer_->snapshot())}, reason);
  for (MemberId m = 0; m < k_most_members; ++m)
    if (peer_->is_member(m) && introductions_[m])
      journal_->note(tick, "joined", clean_name(introductions_[m]->name), hand_of(m));
  noted_further_ = {};
  journal_outdated_ = false;
  journal_snapshot_ = tick;
}

void SharedSession::branch_off(Tick agreed) {
  unsettled_.branch_off(peer_->branch());
  if (journal_) journal_->branch_off(unsettled_.branch(), "the larger part of the session was not heard");
  listener_.problem("The larger part of the session is not heard. This part goes on alone from tick " +
                    std::to_string(agreed) + " on, as a branch: if it meets the others again, it joins them.");
  end_recording("what follows is not the session's but the branch's");
}

void SharedSession::close_journal() {
  if (!journal_) return;
  const std::string problem = journal_->stop().finish();
  journal_.reset();
  if (!problem.empty()) listener_.problem(problem);
}

void SharedSession::look_at_journal(double now) {
  if (!journal_ || now < looked_at_journal_ + k_look_interval) return;
  looked_at_journal_ = now;
  const std::string status = journal_->status();
  if (status != journal_status_ && !status.empty()) listener_.problem(status);
  journal_status_ = status;
}

// `state` is the one after this tick, `hash` its hash.
void SharedSession::write_journal(const ConfirmTick& confirm, const WorldState& state, std::uint64_t hash) {
  if (!journal_) return;
  const Tick tick = confirm.tick + 1;
  journal_->append(confirm.tick, encode_tick(confirm.inputs.hands), hash);
  if (confirm.inputs.reset) journal_->note(confirm.tick, "reset", "");
  // What stands beside the world is in snapshots only; whoever changes it all the time must not fill the disk.
  const bool outdated = journal_outdated_ && tick >= journal_snapshot_ + k_snapshot_at_most_every;
  if (tick % k_snapshot_every != 0 && !confirm.inputs.reset && !outdated) return;
  journal_->snapshot(tick, {state.bytes().begin(), state.bytes().end()}, encode_snapshot(peer_->snapshot()));
  journal_outdated_ = false;
  journal_snapshot_ = tick;
}

// Nobody is there any more, but we have seen it all: the session goes on from here.
bool SharedSession::resume_from_journal() {
  if (settings_.journal.empty() || !std::filesystem::exists(settings_.journal)) return false;
  try {
    Journal journal = journal_ ? journal_->stop() : Journal::open(settings_.journal);
    journal_.reset();
    if (journal.head().session != status_.session || !journal.newest_snapshot()) return false;
    resume(std::move(journal));
    return true;
  } catch (const std::exception& error) {
    listener_.problem(error.what());
    return false;
  }
}

void SharedSession::resume(Journal journal) {
  description_ = journal.head().scene;
  model_hash_ = journal.head().model_hash;
  const RecordedScene recorded = parse_recorded_scene(description_);
  feel_ = recorded.feel;
  NoProgress quiet;
  scene_folder_ = journal.head().folder;
  if (scene_folder_.find_first_not_of("0123456789abcdef") != std::string::npos)
    throw Error("The journal " + settings_.journal.string() + " names a folder that is none of ours.",
                ErrorCode::refused);
  scene_ = scene_folder_.empty() ? library_.load(recorded.name, quiet)
                                 : load_scene_file(settings_.received / scene_folder_ / "scene.toml", quiet);
  scene_.name = recorded.name;
  model_ = recorded_model(description_, model_hash_, scene_);
  const JournalSnapshot newest = *journal.newest_snapshot();
  WorldState state(*model_);
  if (!state.restore(newest.world))
    throw Error("The journal " + settings_.journal.string() + " is of another world.", ErrorCode::refused);
  Tick tick = newest.tick;
  StepScratch scratch(*model_);
  std::vector<HandInput> inputs;
  // A snapshot follows every reset, so none of these ticks is one.
  journal.for_each_tick(newest.tick, [&](const JournalTick& next) {
    if (!decode_tick(next.inputs, inputs)) return false;
    step(*model_, state, inputs, scratch);
    if (state.hash() != next.state_hash)
      throw Error("The journal " + settings_.journal.string() + " leads elsewhere here.", ErrorCode::refused);
    tick = next.tick + 1;
    return true;
  });

  ObjectiveSnapshot snapshot;
  if (std::optional<ObjectiveSnapshot> rest = decode_snapshot(newest.rest)) {
    snapshot.synchronised = rest->synchronised;
    snapshot.marks = std::move(rest->marks);
    // Those who took part may have gone on without us, and so may those whom we missed already.
    snapshot.former = std::move(rest->former);
    for (const std::optional<Member>& member : rest->members) {
      const auto introduction = member ? read_introduction(member->introduction) : std::nullopt;
      if (introduction && introduction->credential.identity != network_->identity().public_key())
        snapshot.former.insert(snapshot.former.begin(), member->introduction);
    }
    if (snapshot.former.size() > k_most_former) snapshot.former.resize(k_most_former);
  }
  hosts_ = true;
  network_->host(invite_.secret, invite_.expires);
  invite_.host = network_->identity().public_key();
  invite_.addresses = own_introduction().addresses;
  status_.invite = format_invite(invite_);
  snapshot.tick = tick;
  // Those who took part may have gone on, too.
  Hasher branch;
  branch.add(journal.line().branch);
  branch.add(tick);
  branch.add(std::string_view(write_introduction(own_introduction())));
  snapshot.branch = std::max<BranchId>(1, branch.digest());
  journal.branch_off(snapshot.branch, "nobody of the session answered");
  const MemberId self = settings_.observer ? static_cast<MemberId>(k_shared_hands) : MemberId{0};
  snapshot.members[self] = Member{tick, write_introduction(own_introduction())};
  snapshot.state.assign(state.bytes().begin(), state.bytes().end());
  if (shelf_.find(manifest_.id) == nullptr) shelve_scene(write_scene_files());
  journal_.emplace(std::move(journal));
  listener_.problem("Nobody of the session answers; it goes on from the journal.");
  start_peer(self, snapshot);
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
