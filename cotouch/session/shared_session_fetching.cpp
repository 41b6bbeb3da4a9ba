// What a program fetches from the others, checked by its content: the scene's files, and a state to be healed with.
#include <cotouch/session/shared_session.h>

#include <cotouch/base/file.h>
#include <cotouch/base/read_file.h>
#include <cotouch/session/state_difference.h>

#include <algorithm>

namespace cotouch {
namespace {

namespace fs = std::filesystem;

constexpr double k_round_trip = 0.2;  // seconds; what is taken for it
constexpr std::size_t k_most_files = 256;
constexpr std::uint64_t k_largest_scene = k_largest_object;  // bytes of all its files
constexpr std::uint64_t k_room_to_spare = 64ULL << 20U;      // bytes that stay free on the disk
constexpr double k_heal_patience = 10;                       // seconds
constexpr double k_piece_patience = 30;                      // seconds without a piece

// Only what save_scene writes: no folders, nothing hidden.
bool is_scene_file_name(const std::string& name) {
  if (name == "scene.toml") return true;
  const std::size_t dot = name.rfind(".cot");
  if (dot == std::string::npos || dot == 0 || dot + 4 != name.size() || name.size() > 128 || name[0] == '.')
    return false;
  return std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
           c == '.';
  });
}

}  // namespace

// ------------------------------------------------------------------------------------------------ the scene

void SharedSession::begin_fetching() {
  phase_ = Phase::fetching;
  files_.clear();
  fetched_.clear();
  fetch_.emplace(manifest_);
  piece_came_ = PeerNetwork::now();
  tell_stage("fetching the scene", 0);
}

void SharedSession::poll_fetching(double now) {
  for (const Bytes& message : fetch_->poll(now, k_round_trip)) network_->to_doorkeeper(now, message);
  if (phase_ == Phase::fetching) {
    std::uint64_t all = 0, here = 0;
    for (const auto& [name, object] : files_) {
      all += object.size;
      if (fetched_.contains(name)) here += object.size;
    }
    if (!files_.empty() && fetch_->object().id != manifest_.id)
      here += static_cast<std::uint64_t>(fetch_->progress() * static_cast<double>(fetch_->object().size));
    tell_stage("fetching the scene", all == 0 ? 0 : static_cast<double>(here) / static_cast<double>(all));
  }
  if (!fetch_->is_complete()) {
    if (phase_ == Phase::fetching && now > piece_came_ + k_piece_patience)
      fail("The host sends nothing of its scene any more; try to join again.");
    return;
  }
  const std::shared_ptr<const Bytes> object = fetch_->take();
  // Nothing is altered on the way, so asking again would bring the same.
  if (object == nullptr) return fail("What the host sends is not what it announced; it cannot be joined.");
  if (phase_ == Phase::ready) {
    fetch_.reset();
    return take_snapshot(*object, now);
  }
  if (fetch_->object() == manifest_ && files_.empty()) {
    if (!take_manifest(*object)) return;
  } else {
    for (const auto& [name, file] : files_) {
      if (file != fetch_->object() || !fetched_.insert(name).second) continue;
      const std::span<const std::byte> pieces[] = {*object};
      write_file(received_folder() / name, pieces);
    }
  }
  const auto next =
      std::find_if(files_.begin(), files_.end(), [&](const auto& f) { return !fetched_.contains(f.first); });
  if (next != files_.end()) {
    fetch_.emplace(next->second);
    return;
  }
  fetch_.reset();
  load_scene(true);
}

void SharedSession::take_snapshot(std::span<const std::byte> bytes, double now) {
  const std::optional<ObjectiveSnapshot> snapshot = decode_snapshot(bytes);
  if (!snapshot)
    return fail("What the host says of the session makes no sense; use the same version of cotouch on both sides.");
  // We are who is introduced there, or whoever let us in mistakes us for somebody, or has given us up meanwhile.
  const std::optional<Member>& admitted = snapshot->members[*admitted_as_];
  const std::optional<Introduction> self = admitted ? read_introduction(admitted->introduction) : std::nullopt;
  if (!self || self->credential != network_->credential()) return knock_again(now);
  start_peer(*admitted_as_, *snapshot);
}

fs::path SharedSession::received_folder() const {
  return settings_.received / hex_of(manifest_.id).substr(0, 32);
}

// From an earlier attempt, whole and right.
bool SharedSession::is_stored(const std::string& name, const ObjectName& object) const {
  const fs::path file = received_folder() / name;
  std::error_code error;
  if (!fs::is_regular_file(file, error) || fs::file_size(file, error) != object.size) return false;
  return name_of_object(read_file(file).bytes) == object;
}

// Which files there are. False, and the attempt is over, if they cannot be had.
bool SharedSession::take_manifest(std::span<const std::byte> bytes) {
  ByteReader in(bytes);
  const std::uint64_t count = in.varint(k_most_files);
  std::uint64_t all = 0;
  for (std::uint64_t i = 0; i < count && in.ok(); ++i) {
    const std::string name = in.text(128);
    const ObjectName file = read_object(in);
    if (!is_scene_file_name(name)) in.fail();
    files_.emplace_back(name, file);
    all += file.size;
  }
  if (!in.at_end() || files_.empty()) {
    fail("The host's scene makes no sense; it cannot be joined.");
    return false;
  }
  if (all > k_largest_scene) {
    fail("The host's scene is larger than " + std::to_string(k_largest_scene >> 20U) + " MiB; it cannot be joined.");
    return false;
  }
  // A folder without scene.toml is not a scene yet: that comes last.
  std::stable_partition(files_.begin(), files_.end(), [](const auto& file) { return file.first != "scene.toml"; });
  const fs::path folder = received_folder();
  fs::create_directories(folder);
  std::uint64_t missing = 0;
  for (const auto& [name, file] : files_) {
    if (is_stored(name, file))
      fetched_.insert(name);
    else
      missing += file.size;
  }
  std::error_code error;
  const fs::space_info space = fs::space(folder, error);
  if (!error && space.available < missing + k_room_to_spare) {
    fail("The scene needs " + std::to_string((missing >> 20U) + 1) + " MiB, and the disk of " + folder.string() +
         " has no room for it; make some.");
    return false;
  }
  return true;
}

// ------------------------------------------------------------------------------------------------ a state

void SharedSession::heal(double now) {
  if (heal_asked_ >= 0 && now > heal_asked_ + k_heal_patience) {
    healing_.reset();
    heal_asked_ = -1;
  }
  if (!healing_) return;
  for (const Bytes& message : healing_->poll(now, k_round_trip)) network_->send(now, healer_, message);
  if (!healing_->is_complete()) return;
  const std::shared_ptr<const Bytes> object = healing_->take();
  healing_.reset();
  heal_asked_ = -1;
  if (object == nullptr) return;
  const std::optional<ObjectiveSnapshot> snapshot = decode_snapshot(*object);
  WorldState state(*model_);
  std::vector<PeerRequest> requests;
  if (!snapshot || !state.restore(snapshot->state) || !peer_->heal(*snapshot, requests)) return;
  const std::string difference = first_difference(*model_, runner_->saved(snapshot->tick), state);
  if (!difference.empty()) {
    const std::string sentence = "Before tick " + std::to_string(snapshot->tick) + ", " + difference + ".";
    listener_.problem(sentence);
    if (journal_) journal_->note(snapshot->tick, "difference", sentence);
  }
  end_recording(k_taken_over);
  runner_->restart(state, snapshot->tick);
  world_since_ = snapshot->tick;
  unsettled_.heal(snapshot->tick);
  rolling_ = begin_shared_recording(*model_, state, description_);
  if (journal_) journal_->agree(snapshot->tick);
  if (journal_) begin_journal(snapshot->tick, state, "the world here differed from the others' and was put right");
  for (PeerRequest& request : requests) carry_out(now, request);
}

}  // namespace cotouch
