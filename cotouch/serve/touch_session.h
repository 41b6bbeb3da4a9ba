// One scene in one hand: contact engines, held object and loop, built together and thrown away together.
//
// What the forces depend on may change while the loop runs: a new set of contact engines is built here, handed to the
// touch thread, and the old one is freed once the loop's frames say that it was left. The force goes on.
#pragma once

#include <cotouch/serve/contact_group.h>
#include <cotouch/serve/loaded_scene.h>
#include <cotouch/serve/viewer_device.h>
#include <cotouch/touch/loop.h>
#include <cotouch/touch/recording.h>

#include <deque>
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

// Nodes that a microsecond of contact affords on this machine, measured on the scene's largest pair of parts. Takes
// some milliseconds. 0 where there is nothing to measure.
double measured_nodes_per_us(const LoadedScene& scene);
// The budget in nodes for each pair of parts; 0 where there is no speed to tell.
std::uint32_t nodes_for(const LoadedScene& scene, double nodes_per_us, double budget_us);

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

  // Feels differently from the next cycle on. Throws Error where the loop stands still.
  void change(const FeelSettings& feel);
  // Begins with the next cycle, for which this waits, and does not disturb the loop: the contact engines only forget
  // what they remember, so that nothing is left out of the recording. `name` is where a replay finds the scene. Throws
  // Error where the loop stands still.
  Recording start_recording(const std::string& name);
  // Takes what the loop has felt since the last call; a recording keeps what belongs to it.
  void collect(Recording* recording);
  // False where samples were lost since the recording was started, so that a replay differs.
  bool recorded_wholly();

 private:
  struct Engines {
    std::uint64_t change;  // the loop's number for it
    std::unique_ptr<ContactGroup> group;
  };
  TouchChange hand_over(const FeelSettings& feel);

  std::shared_ptr<const LoadedScene> scene_;
  FeelSettings feel_;
  Pose start_;
  std::deque<Engines> engines_;  // the last is the newest; those before it may still be in use
  std::uint64_t first_recorded_ = 0, dropped_before_ = 0;
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

// Feels a recording again and compares every sample, but for the time the cycles took.
struct ReplayResult {
  std::vector<TouchSample> samples;  // felt again; the cycles' times are the recorded ones
  bool identical = false;
  std::size_t first_difference = 0;  // index of the sample, where not identical
};
ReplayResult replay(const Recording& recording, const LoadedScene& scene, const FeelSettings& feel);

}  // namespace cotouch
