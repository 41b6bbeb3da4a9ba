// One scene in one hand: contact engines, held object and loop, built together and thrown away together.
#pragma once

#include <cotouch/serve/contact_group.h>
#include <cotouch/serve/loaded_scene.h>
#include <cotouch/serve/viewer_device.h>
#include <cotouch/touch/loop.h>
#include <cotouch/touch/recording.h>

#include <memory>
#include <string>

namespace cotouch {

// What the forces depend on besides bodies and hand.
struct FeelSettings {
  double contact_stiffness = 1000;  // N/m
  double max_force = 8;             // N
  double budget_us = 800;           // for contact, in each cycle
  std::uint32_t warm_nodes = 0;     // the budget in nodes for each pair of parts; 0: no limit
};

// The moving part against every resting one, at its place in the scene or (`placed` false) at the scene's origin.
std::unique_ptr<ContactGroup> make_contacts(const LoadedScene& scene, const FeelSettings& feel, bool placed = true);

// How the held object behaves in a scene of this size.
HeldObjectSettings object_settings(const LoadedScene& scene, const FeelSettings& feel);
LimitSettings limit_settings(const FeelSettings& feel);

class TouchSession {
 public:
  // The scene must have a moving part; the device must outlive the session.
  TouchSession(std::shared_ptr<const LoadedScene> scene, const FeelSettings& feel, ViewerDevice& device,
               const Pose& start);

  TouchLoop& loop() { return loop_; }
  const Pose& start() const { return start_; }  // of the object
  // Of what the loop will do, before it is started.
  Recording begin_recording() const;

 private:
  std::shared_ptr<const LoadedScene> scene_;
  FeelSettings feel_;
  Pose start_;
  std::unique_ptr<ContactGroup> contacts_;
  HeldObject object_;
  TouchLoop loop_;
};

// What a recording's `scene` says, for recordings made here: the scene's name and what the contact depended on.
struct RecordedScene {
  std::string name;
  FeelSettings feel;
  std::string bodies;  // hash of the scene's bodies, 16 hexadecimal digits; empty where not known
};
std::string format_recorded_scene(const RecordedScene& scene);
// A text that is no such description is taken for a bare name.
RecordedScene parse_recorded_scene(const std::string& text);

// Feels a recording again and compares every sample.
struct ReplayResult {
  std::vector<TouchSample> samples;
  bool identical = false;
  std::size_t first_difference = 0;  // index of the sample, where not identical
};
ReplayResult replay(const Recording& recording, const LoadedScene& scene, const FeelSettings& feel);

}  // namespace cotouch
