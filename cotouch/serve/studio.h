// The running session behind the page: the open scene, its touch loop, the hand, recordings and dropped parts.
//
// One thread of its own (the studio thread) owns all of this and makes the frames. Others meet it in two ways: they
// leave it tasks (commands, requests), or they move the hand, which goes straight to the touch loop's device so that
// nothing the studio does delays a hand. The touch loop itself meets only channels.
#pragma once

#include <cotouch/serve/http_server.h>
#include <cotouch/serve/job_queue.h>
#include <cotouch/serve/recording_store.h>
#include <cotouch/serve/scene_library.h>
#include <cotouch/serve/sight.h>
#include <cotouch/serve/spacemouse.h>
#include <cotouch/serve/touch_session.h>

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

namespace cotouch {

struct StudioSettings {
  std::string version;
  std::filesystem::path recordings;  // folder
  double frames_per_second = 60;
  double hand_patience = 5;        // seconds of silence after which another viewer may take the hand
  double recording_seconds = 600;  // the longest recording
  std::uint64_t upload_bytes = 256U << 20;
  PartSettings dropped{{.resolution = 96}, {.points = 16384}};  // how dropped parts are prepared
  // Draws a recording's summary as SVG; may be empty.
  std::function<std::string(const RecordingSummary&)> draw_summary;
};

class Studio final : public RequestHandler, public FeedListener {
 public:
  // The library must outlive the studio. `spacemouse` may be null.
  Studio(StudioSettings settings, SceneLibrary& library, std::unique_ptr<SpaceMouse> spacemouse = nullptr);
  ~Studio() override;
  Studio(const Studio&) = delete;
  Studio& operator=(const Studio&) = delete;

  // Starts making frames for `feed`, which must outlive stop().
  void start(Feed& feed);
  // Ends the loop with zero force, then the threads.
  void stop();

  // Shows a scene that is already in memory.
  void open_scene(LoadedScene scene);

  HttpResponse answer(HttpRequest request) override;
  void viewer_joined(ViewerId viewer) override;
  void viewer_left(ViewerId viewer) override;
  void viewer_command(ViewerId viewer, const ViewerCommand& command) override;
  std::string_view viewer_input(ViewerId viewer, const HandInput& input) override;

  // How long the touch loop's cycles took since the scene was opened; null where no loop runs. For measuring.
  const CycleHistogram* cycle_times() const { return loop_times_.load(std::memory_order_acquire); }

 private:
  using Clock = std::chrono::steady_clock;

  // Studio thread.
  void run(const std::stop_token& stop);
  void tick();
  void publish_frame(const TouchFrame& touch, const FeedDemand& demand);
  void publish_nearness(const Pose& object, const FeedDemand& demand);
  void measure_cycles(StateFrame& frame);
  void follow_spacemouse(const Pose& object);
  // `why` is for whoever holds the hand and loses it by this.
  void install(std::shared_ptr<const LoadedScene> scene, std::string_view why = "Another scene was opened.");
  // A copy to be changed and installed: as it is felt and where things stand now, and without a name, because it will
  // no longer be what can be opened by that name.
  std::shared_ptr<LoadedScene> scene_to_edit();
  void rebuild_session(const Pose& start);
  void end_session();
  Pose object_pose();
  void perform(ViewerId viewer, const ViewerCommand& command);
  // Each returns what stands in the way, empty where it was done.
  std::string command_open(ViewerId viewer, const ViewerCommand& command);
  std::string command_reset(ViewerId viewer);
  std::string command_settings(const ViewerCommand& command);
  std::string command_take_hand(ViewerId viewer, const ViewerCommand& command);
  std::string command_release_hand(ViewerId viewer, const ViewerCommand& command);
  std::string command_record_start();
  std::string command_record_stop();
  std::string command_remove_part(ViewerId viewer, const ViewerCommand& command);
  std::string command_set_role(ViewerId viewer, const ViewerCommand& command);
  std::string command_delete_scene(const ViewerCommand& command);
  bool someone_else_holds(ViewerId viewer);
  void finish_recording();
  void add_part(ScenePart part, const std::string& role);
  void broadcast(std::string text);

  // Request thread.
  HttpResponse answer_mesh(const Target& target);
  HttpResponse answer_thumbnail(const std::string& path);
  HttpResponse answer_recording(const std::string& path);
  HttpResponse answer_upload(HttpRequest& request);
  HttpResponse answer_save(const Target& target);
  // The open scene where it is the one a recording was made in.
  std::shared_ptr<const LoadedScene> scene_of(const Recording& recording);

  // Any thread.
  void post(std::function<void()> task);
  // Runs `question` on the studio thread and waits for its answer.
  template <class T>
  T ask(std::function<T()> question);
  bool has_patience_locked() const;  // with the viewer who holds the hand
  void release_hand_locked();

  StudioSettings settings_;
  SceneLibrary& library_;
  std::unique_ptr<SpaceMouse> spacemouse_;
  RecordingStore recordings_;
  std::atomic<Feed*> feed_{nullptr};

  std::mutex tasks_mutex_;
  std::condition_variable_any tasks_wake_;
  std::deque<std::function<void()>> tasks_;

  // The hand, shared between the I/O thread (inputs) and the studio thread (who holds it).
  enum class HeldBy : std::uint8_t { nobody, viewer, device };
  std::mutex hand_mutex_;
  ViewerDevice device_;
  HeldBy held_by_ = HeldBy::nobody;
  ViewerId holder_ = 0;
  std::uint32_t hand_generation_ = 0;
  Vec3d scene_center_;
  double farthest_ = 0;  // metres from the centre that a hand may be sent to
  Clock::time_point last_input_{};

  // The studio thread's.
  std::uint32_t generation_ = 0;
  std::shared_ptr<const LoadedScene> scene_;
  std::unique_ptr<Sight> sight_;
  FeelSettings feel_;
  double nodes_per_us_ = 0;  // what this machine manages in this scene; 0 where it was not measured
  std::unique_ptr<TouchSession> session_;
  std::atomic<const CycleHistogram*> loop_times_{nullptr};
  Clock::time_point opened_{};
  std::uint32_t sequence_ = 0, near_sequence_ = 0;
  std::uint64_t earlier_cycles_ = 0, earlier_missed_ = 0;  // of loops before this one in the same scene
  Pose last_near_pose_;
  Clock::time_point last_near_{};
  std::array<std::uint64_t, CycleHistogram::k_buckets> seen_cycles_{};
  float median_us_ = 0, longest_us_ = 0;  // of the last frame that saw a cycle end
  std::optional<Recording> recording_;
  std::string recording_id_;
  Clock::time_point recording_told_{};
  Pose spacemouse_pose_;
  Clock::time_point spacemouse_used_{};
  std::uint32_t last_part_id_ = 0;

  std::jthread thread_;
  std::unique_ptr<JobQueue> jobs_;  // last: its thread uses everything above
};

}  // namespace cotouch
