#include <cotouch/serve/messages.h>

#include <nlohmann/json.hpp>

namespace cotouch {
namespace {

using json = nlohmann::ordered_json;

// Names come from strangers: what is not UTF-8 is replaced, never a reason to fail.
std::string text_of(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

json list(const Vec3d& v) {
  return {v.x, v.y, v.z};
}

json box(const Box3d& b) {
  return {{"min", list(b.low)}, {"max", list(b.high)}};
}

json pose(const Pose& p) {
  const Quat& q = p.rotation;
  return {{"position", list(p.position)}, {"rotation", {q.w, q.x, q.y, q.z}}};
}

json recordings(const std::vector<RecordingEntry>& entries) {
  json all = json::array();
  for (const RecordingEntry& e : entries)
    all.push_back(
        {{"id", e.id}, {"scene", e.scene}, {"seconds", e.seconds}, {"peak_force", e.peak_force}, {"bytes", e.bytes}});
  return all;
}

json settings(const FeelSettings& feel) {
  return {{"contact_stiffness", feel.contact_stiffness},
          {"max_force", feel.max_force},
          {"budget_us", feel.budget_us},
          {"budget_nodes", feel.warm_nodes}};
}

// For a command line to be copied: quoted where a shell would see more than one plain word.
std::string shell_quoted(const std::string& word) {
  constexpr std::string_view k_plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+,:@";
  if (!word.empty() && word.find_first_not_of(k_plain) == std::string::npos) return word;
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

const char* name_of(JobState state) {
  switch (state) {
    case JobState::running: return "running";
    case JobState::done: return "done";
    case JobState::failed: return "failed";
    case JobState::cancelled: return "cancelled";
  }
  return "failed";
}

}  // namespace

std::string hello_message(const std::string& version, std::uint32_t viewer, std::uint64_t upload_bytes) {
  return text_of({{"type", "hello"},
                  {"protocol", 1},
                  {"version", version},
                  {"viewer", viewer},
                  {"features", {"near", "traversed", "upload", "record", "save", "settings"}},
                  {"limits", {{"upload_bytes", upload_bytes}, {"parts", k_max_parts}, {"inputs_per_second", 125}}}});
}

std::string scene_message(std::uint32_t generation, const std::string& name) {
  return text_of({{"type", "scene"}, {"generation", generation}, {"name", name}});
}

std::string hand_message(std::uint32_t hand, std::string_view state, std::string_view reason) {
  return text_of({{"type", "hand"}, {"hand", hand}, {"state", state}, {"reason", reason}});
}

std::string job_message(const JobStatus& job) {
  return text_of({{"type", "job"},
                  {"job", job.id},
                  {"name", job.name},
                  {"stage", job.stage},
                  {"progress", job.progress},
                  {"state", name_of(job.state)},
                  {"reason", job.reason}});
}

std::string recording_message(bool active, double seconds) {
  return text_of({{"type", "recording"}, {"active", active}, {"seconds", seconds}});
}

std::string recordings_message(const std::vector<RecordingEntry>& entries) {
  return text_of({{"type", "recordings"}, {"recordings", recordings(entries)}});
}

std::string settings_message(const FeelSettings& feel) {
  json message{{"type", "settings"}};
  message.update(settings(feel));
  return text_of(message);
}

std::string scenes_message() {
  return text_of({{"type", "scenes"}});
}

std::string reply_message(std::int64_t id, bool ok, std::string_view reason) {
  return text_of({{"type", "reply"}, {"id", id}, {"ok", ok}, {"reason", reason}});
}

std::string error_message(std::string_view reason) {
  return text_of({{"type", "error"}, {"reason", reason}});
}

std::string hello_answer(const std::string& version) {
  return text_of({{"protocol", 1}, {"version", version}});
}

std::string gallery_answer(const std::vector<SceneEntry>& entries) {
  json scenes = json::array();
  for (const SceneEntry& e : entries)
    scenes.push_back({{"name", e.name},
                      {"title", e.title},
                      {"summary", e.summary},
                      {"thumbnail", e.thumbnail ? "/api/thumbnail/" + e.name + ".png" : std::string()},
                      {"saved", e.saved}});
  return text_of({{"scenes", scenes}});
}

std::string scene_answer(const LoadedScene& scene, std::uint32_t generation, const FeelSettings& feel) {
  json parts = json::array(), hands = json::array();
  for (const ScenePart& part : scene.parts) {
    const bool has_shell = part.part->shell.data().level_begin.size() > 1;
    parts.push_back({{"id", part.id},
                     {"name", part.name},
                     {"role", part.moving ? "moving" : "static"},
                     {"color", shown_color(scene, part)},
                     {"pose", pose(part.pose)},
                     {"bounds", box(part.picture->bounds())},
                     {"vertices", part.picture->vertices.size()},
                     {"triangles", part.picture->triangles.size()},
                     {"decimated", part.decimated},
                     {"shell_points", has_shell ? part.part->shell.point_count() : 0},
                     {"levels", has_shell ? part.part->shell.levels() : 0},
                     {"field_cell", part.part->field.spacing()},
                     {"removable", part.removable}});
    if (part.moving)
      hands.push_back({{"hand", 0},
                       {"part", part.id},
                       {"name", "hand"},
                       {"linear_stiffness", scene.coupling.linear_stiffness},
                       {"angular_stiffness", scene.coupling.angular_stiffness},
                       {"max_force", feel.max_force},
                       {"max_torque", scene.coupling.max_torque}});
  }
  return text_of({{"generation", generation},
                  {"name", scene.name},
                  {"title", scene.title},
                  {"summary", scene.summary},
                  {"bounds", box(scene.bounds())},
                  {"parts", parts},
                  {"hands", hands},
                  {"settings", settings(feel)}});
}

std::string recordings_answer(const std::vector<RecordingEntry>& entries) {
  return text_of({{"recordings", recordings(entries)}});
}

std::string upload_answer(std::uint32_t job) {
  return text_of({{"job", job}});
}

std::string saved_answer(const std::string& file) {
  return text_of({{"file", file}, {"play", "cotouch play " + shell_quoted(file)}});
}

}  // namespace cotouch
