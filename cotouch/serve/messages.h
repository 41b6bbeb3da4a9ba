// Texts to a page, as JSON (docs/viewer-protocol.md).
#pragma once

#include <cotouch/serve/job_queue.h>
#include <cotouch/serve/loaded_scene.h>
#include <cotouch/serve/recording_store.h>
#include <cotouch/serve/scene_library.h>
#include <cotouch/serve/touch_session.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace cotouch {

std::string hello_message(const std::string& version, std::uint32_t viewer, std::uint64_t upload_bytes);
std::string scene_message(std::uint32_t generation, const std::string& name);
// `state`: granted, refused, released or lost.
std::string hand_message(std::uint32_t hand, std::string_view state, std::string_view reason);
std::string job_message(const JobStatus& job);
std::string recording_message(bool active, double seconds);
std::string recordings_message(const std::vector<RecordingEntry>& entries);
std::string settings_message(const FeelSettings& feel);
std::string scenes_message();  // the list of scenes has changed
std::string reply_message(std::int64_t id, bool ok, std::string_view reason);
std::string error_message(std::string_view reason);

// Answers to requests.
std::string hello_answer(const std::string& version);
std::string gallery_answer(const std::vector<SceneEntry>& entries);
std::string scene_answer(const LoadedScene& scene, std::uint32_t generation, const FeelSettings& feel);
std::string recordings_answer(const std::vector<RecordingEntry>& entries);
std::string upload_answer(std::uint32_t job);
std::string saved_answer(const std::string& file);

}  // namespace cotouch
