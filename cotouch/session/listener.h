// What a session tells those who show it or pass it on.
#pragma once

#include <cotouch/session/job_queue.h>
#include <cotouch/session/recording_store.h>
#include <cotouch/session/running_world.h>
#include <cotouch/session/shared_session_listener.h>
#include <cotouch/session/sharing.h>
#include <cotouch/session/shown_scene.h>
#include <cotouch/session/view.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cotouch {

// How a session stands, for those who ask or come later.
struct SessionSnapshot {
  std::uint32_t generation = 0;  // grows by one each time the scene, its parts or its meshes change
  std::shared_ptr<const ShownScene> scene;
  FeelSettings feel;
  std::vector<Participant> people;
  std::vector<HandView> hands;  // that somebody holds
  std::vector<DeviceView> devices;
  std::vector<BodyView> bodies;
  bool recording = false;
  double recording_seconds = 0;
  std::vector<RecordingEntry> recordings;  // as far as they are known; recordings_changed tells when there is more
  std::vector<JobStatus> jobs;             // unfinished
  SharingStatus sharing;
  NetworkStatus network;
  std::vector<MarkView> marks;
};

enum class HandChange : std::uint8_t { granted, refused, released, lost };

struct HandEvent {
  ParticipantId whom = ParticipantId::nobody;  // it concerns
  HandId hand = HandId::none;                  // none if there is no such hand
  HandChange change = HandChange::refused;
  BodyId body = 0;
  std::string reason;  // a sentence; may be empty
  Pose grip;           // of the hand in the body's frame
};

// Which views are worth making.
struct ViewDemand {
  bool views = false;
  bool traversed = false;  // with traversed points
  bool near = false;       // and nearness
};

// Called on the session's thread, one call at a time, in the order in which things happen; must not take long, and must
// not wait for the session.
class SessionListener {
 public:
  virtual ~SessionListener() = default;
  virtual void joined(const Participant& /*who*/, const SessionSnapshot& /*now*/) {}
  virtual void left(const Participant& /*who*/) {}
  // Whenever somebody came, left or was named.
  virtual void people_changed(const std::vector<Participant>& /*people*/) {}
  virtual void scene_changed(std::uint32_t /*generation*/, const std::string& /*name*/) {}
  virtual void settings_changed(const FeelSettings& /*feel*/) {}
  // In the scene that is open already, without another generation.
  virtual void gravity_changed(double /*down: m/s^2 along -z*/) {}
  virtual void body_changed(const SceneBody& /*body*/) {}
  virtual void hand_changed(const HandEvent& /*event*/) {}
  // At once if the state of one changed, and a few times a second while they are felt with.
  virtual void devices_changed(const std::vector<DeviceView>& /*devices*/) {}
  virtual void job_changed(const JobStatus& /*job*/) {}
  virtual void recording_changed(bool /*active*/, double /*seconds*/) {}
  virtual void recordings_changed(const std::vector<RecordingEntry>& /*entries*/) {}
  virtual void scenes_changed() {}
  // Something that went wrong later than the answer to its command; nobody: for everybody to read.
  virtual void problem(ParticipantId /*whom*/, const std::string& /*reason*/) {}

  // Of a session over the network.
  virtual void sharing_changed(const SharingStatus& /*sharing*/) {}
  virtual void peers_changed(const PeersView& /*peers*/) {}  // four times a second
  virtual void agreed(const AgreedTick& /*now*/) {}          // every tick
  virtual void network_changed(const NetworkStatus& /*network*/) {}
  virtual void said(const ChatLine& /*line*/) {}
  virtual void mark_changed(const MarkView& /*mark*/) {}

  virtual ViewDemand wanted() const { return {}; }
  virtual void view(const SessionView& /*view*/) {}
  // For each vertex of a part's picture: 0 touching or inside .. 255 at `range` metres or farther.
  virtual void nearness(std::uint32_t /*generation*/, std::uint32_t /*part*/, float /*range*/,
                        std::span<const std::uint8_t> /*values*/) {}
};

}  // namespace cotouch
