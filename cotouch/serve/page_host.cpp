#include <cotouch/serve/page_host.h>

#include <cotouch/serve/messages.h>
#include <cotouch/serve/page_command.h>
#include <cotouch/session/names.h>

#include <algorithm>

namespace cotouch {
namespace {

constexpr std::size_t k_kept_lines = 100;

SharingStatus without_invite(SharingStatus sharing) {
  sharing.invite.clear();
  return sharing;
}

}  // namespace

PageHost::PageHost(PageHostSettings settings, Session& session, Feed& feed, LinkBook& links)
    : settings_(std::move(settings)), session_(session), feed_(feed), links_(links) {
  session_.add_listener(*this);
}

PageHost::~PageHost() {
  session_.stop();
}

ParticipantId PageHost::participant_of(ViewerId viewer) {
  const std::scoped_lock lock(pages_mutex_);
  const auto found = pages_.find(viewer);
  return found == pages_.end() ? ParticipantId::nobody : found->second.participant;
}

ViewerId PageHost::viewer_of(ParticipantId participant) {
  const std::scoped_lock lock(pages_mutex_);
  const auto found = std::find_if(pages_.begin(), pages_.end(),
                                  [&](const auto& page) { return page.second.participant == participant; });
  return found == pages_.end() ? 0 : found->first;
}

void PageHost::send(ParticipantId participant, std::string text) {
  if (const ViewerId viewer = viewer_of(participant); viewer != 0) feed_.send_text(viewer, std::move(text));
}

void PageHost::viewer_joined(ViewerId viewer, const PageHello& hello) {
  // Under the lock, so that the session's answer finds the page.
  const std::scoped_lock lock(pages_mutex_);
  pages_[viewer] = {session_.join(ParticipantKind::page, clean_name(hello.name), hello.visitor.rights), hello.visitor};
}

void PageHost::viewer_left(ViewerId viewer) {
  const ParticipantId who = participant_of(viewer);
  if (who == ParticipantId::nobody) return;
  session_.leave(who);
  const std::scoped_lock lock(pages_mutex_);
  pages_.erase(viewer);
}

void PageHost::viewer_command(ViewerId viewer, const ViewerCommand& command) {
  const auto reply = [this, viewer, id = command.id, type = command.type](const std::string& obstacle,
                                                                          std::string_view code = {}) {
    if (id)
      feed_.send_text(viewer, reply_message(*id, obstacle.empty(), obstacle, code));
    else if (!obstacle.empty() && type != "grasp")  // which has an answer of its own
      feed_.send_text(viewer, error_message(obstacle));
  };
  if (command.type == "hello" && command.senseless.empty()) {
    session_.rename(participant_of(viewer), clean_name(command.name));
    return reply({});
  }
  std::string why;
  std::optional<SessionCommand> wanted = to_session_command(command, why);
  if (!wanted) return reply(why);
  session_.command(participant_of(viewer), std::move(*wanted),
                   [reply](const CommandResult& result) { reply(result.reason, code_of(result)); });
}

std::string_view PageHost::viewer_input(ViewerId viewer, const PageInput& input) {
  HandMotion motion;
  motion.hand = input.hand;
  motion.generation = input.generation;
  motion.sequence = input.sequence;
  motion.buttons = input.buttons;
  motion.pose = input.pose;
  return session_.move_hand(participant_of(viewer), motion);
}

void PageHost::joined(const Participant& who, const SessionSnapshot& now) {
  const ViewerId viewer = viewer_of(who.id);
  if (viewer == 0) return;
  {
    const std::scoped_lock lock(pages_mutex_);
    if (const auto page = pages_.find(viewer); page != pages_.end()) page->second.greeted = true;
  }
  feed_.send_text(viewer, hello_message(settings_.version, who.id, who.rights, settings_.upload_bytes));
  feed_.send_text(viewer, scene_message(now.generation, now.scene->scene.name));
  feed_.send_text(viewer, settings_message(now.feel));
  feed_.send_text(viewer, gravity_message(downward(now.scene->scene)));
  feed_.send_text(viewer, devices_message(now.devices));
  feed_.send_text(viewer, recordings_message(now.recordings));
  if (now.recording) feed_.send_text(viewer, recording_message(true, now.recording_seconds));
  for (const JobStatus& job : now.jobs) feed_.send_text(viewer, job_message(job));
  feed_.send_text(viewer, share_message(who.rights == Rights::own ? now.sharing : without_invite(now.sharing)));
  feed_.send_text(viewer, network_message(now.network));
  for (const MarkView& mark : now.marks) feed_.send_text(viewer, mark_message(mark));
  for (const std::string& line : chat_) feed_.send_text(viewer, line);
}

void PageHost::people_changed(const std::vector<Participant>& people) {
  feed_.broadcast_newest("people", people_message(people));
}

void PageHost::scene_changed(std::uint32_t generation, const std::string& name) {
  feed_.broadcast_newest("scene", scene_message(generation, name));
}

void PageHost::settings_changed(const FeelSettings& feel) {
  feed_.broadcast_newest("settings", settings_message(feel));
}

void PageHost::gravity_changed(double down) {
  feed_.broadcast_newest("gravity", gravity_message(down));
}

void PageHost::body_changed(const SceneBody& body) {
  feed_.broadcast_newest("body " + std::to_string(body.id), body_message(body));
}

void PageHost::hand_changed(const HandEvent& event) {
  send(event.whom, hand_message(event));
}

void PageHost::devices_changed(const std::vector<DeviceView>& devices) {
  feed_.broadcast_newest("devices", devices_message(devices));
}

void PageHost::job_changed(const JobStatus& job) {
  feed_.broadcast_newest("job " + std::to_string(job.id), job_message(job));
}

void PageHost::recording_changed(bool active, double seconds) {
  feed_.broadcast_newest("recording", recording_message(active, seconds));
}

void PageHost::recordings_changed(const std::vector<RecordingEntry>& entries) {
  feed_.broadcast_newest("recordings", recordings_message(entries));
}

void PageHost::scenes_changed() {
  feed_.broadcast_newest("scenes", scenes_message());
}

void PageHost::problem(ParticipantId whom, const std::string& reason) {
  if (whom == ParticipantId::nobody)
    feed_.broadcast_newest("problem " + reason, error_message(reason));  // once, however often somebody causes it
  else
    send(whom, error_message(reason));
}

void PageHost::sharing_changed(const SharingStatus& sharing) {
  // What was said is kept no longer than the session.
  if (sharing.state == SharingStatus::State::off || sharing.state == SharingStatus::State::failed) chat_.clear();
  tell_sharing(sharing);
}

void PageHost::tell_sharing(const SharingStatus& sharing) {
  const std::string whole = share_message(sharing), public_part = share_message(without_invite(sharing));
  const std::scoped_lock lock(pages_mutex_);
  for (const auto& [viewer, page] : pages_)
    if (page.greeted) feed_.send_text(viewer, page.visitor.rights == Rights::own ? whole : public_part);
}

void PageHost::peers_changed(const PeersView& peers) {
  feed_.broadcast_newest("peers", peers_message(peers));
}

void PageHost::network_changed(const NetworkStatus& network) {
  feed_.broadcast_newest("network", network_message(network));
}

void PageHost::said(const ChatLine& line) {
  chat_.push_back(chat_message(line));
  if (chat_.size() > k_kept_lines) chat_.pop_front();
  feed_.broadcast_text(chat_.back());
}

void PageHost::mark_changed(const MarkView& mark) {
  feed_.broadcast_text(mark_message(mark));
}

ViewDemand PageHost::wanted() const {
  const FeedDemand demand = feed_.demand();
  return {demand.viewers > 0, demand.traversed, demand.near};
}

void PageHost::view(const SessionView& view) {
  const FeedDemand demand = feed_.demand();
  if (demand.viewers == 0) return;
  auto set = std::make_shared<FrameSet>();
  const FrameStamp stamp{++sequence_, demand.viewers, false};
  set->plain = encode_state(view, stamp, false);
  if (demand.traversed) set->with_traversed = encode_state(view, stamp, true);
  feed_.publish(std::move(set));
}

void PageHost::nearness(std::uint32_t generation, std::uint32_t part, float range,
                        std::span<const std::uint8_t> values) {
  if (!feed_.demand().near) return;
  feed_.publish_near(
      part, std::make_shared<const std::string>(encode_near(++near_sequence_, generation, part, range, values)));
}

}  // namespace cotouch
