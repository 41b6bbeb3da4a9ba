#include <cotouch/base/error.h>
#include <cotouch/base/hash.h>
#include <cotouch/base/units.h>
#include <cotouch/contact/cache.h>
#include <cotouch/mesh/import.h>
#include <cotouch/serve/messages.h>
#include <cotouch/serve/studio.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>
#include <iterator>

namespace cotouch {
namespace {

constexpr auto k_patience = std::chrono::seconds(10);  // for the studio thread to answer

// "/api/mesh/12" with prefix "/api/mesh/" -> 12.
std::optional<std::uint32_t> number_in(std::string_view text) {
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::string ending_of(std::string_view name) {
  const std::size_t dot = name.rfind('.');
  std::string ending(dot == std::string_view::npos ? std::string_view() : name.substr(dot));
  for (char& c : ending)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return ending;
}

HttpResponse bytes_response(std::string bytes, const char* type, std::string download_name = {}) {
  HttpResponse response;
  response.content_type = type;
  response.body = std::make_shared<const std::string>(std::move(bytes));
  response.download_name = std::move(download_name);
  return response;
}

}  // namespace

template <class T>
T Studio::ask(std::function<T()> question) {
  auto promise = std::make_shared<std::promise<T>>();
  std::future<T> answer = promise->get_future();
  post([promise, question = std::move(question)] { promise->set_value(question()); });
  if (answer.wait_for(k_patience) != std::future_status::ready)
    throw Error("The server is too busy to answer; try again.", ErrorCode::busy);
  return answer.get();
}

HttpResponse Studio::answer(HttpRequest request) {
  const std::string& path = request.target.path;
  const auto under = [&](std::string_view prefix) { return path.starts_with(prefix); };
  if (request.post) {
    if (path == "/api/upload") return answer_upload(request);
    if (path == "/api/scene/save") return answer_save(request.target);
    return error_response(405, "Nothing can be sent to this address.");
  }
  if (path == "/api/hello") return json_response(hello_answer(settings_.version));
  if (path == "/api/scenes") return json_response(gallery_answer(library_.list()));
  if (path == "/api/scene")
    return json_response(ask<std::string>([this] { return scene_answer(*scene_, generation_, feel_); }));
  if (path == "/api/recordings") return json_response(recordings_answer(recordings_.list()));
  if (under("/api/mesh/")) return answer_mesh(request.target);
  if (under("/api/thumbnail/")) return answer_thumbnail(path);
  if (under("/api/recording/")) return answer_recording(path);
  if (path == "/api/upload" || path == "/api/scene/save") return error_response(405, "This address takes POST only.");
  return error_response(404, "There is nothing at this address.");
}

HttpResponse Studio::answer_mesh(const Target& target) {
  const auto id = number_in(std::string_view(target.path).substr(std::string_view("/api/mesh/").size()));
  const auto generation = number_in(target.value("scene"));
  if (!id || !generation) return error_response(400, "A mesh is asked for by its part's number and scene generation.");
  using Answer = std::pair<std::uint32_t, std::shared_ptr<const TriangleMesh>>;
  const Answer now = ask<Answer>([this, id] {
    const ScenePart* part = scene_->find(*id);
    return Answer(generation_, part != nullptr ? part->picture : nullptr);
  });
  if (now.first != *generation) return error_response(409, "Another scene was opened in the meantime.");
  if (now.second == nullptr) return error_response(404, "There is no such part in this scene.");
  return bytes_response(encode_mesh(*now.second, now.first), "application/octet-stream");
}

HttpResponse Studio::answer_thumbnail(const std::string& path) {
  std::string name = path.substr(std::string_view("/api/thumbnail/").size());
  if (!name.ends_with(".png")) return error_response(404, "Thumbnails are PNG files.");
  name.resize(name.size() - 4);
  std::string picture = is_identifier(name) ? library_.thumbnail(name) : std::string();
  if (picture.empty()) return error_response(404, "There is no picture of that scene.");
  return bytes_response(std::move(picture), "image/png");
}

std::shared_ptr<const LoadedScene> Studio::scene_of(const Recording& recording) {
  const RecordedScene recorded = parse_recorded_scene(recording.scene);
  auto open = ask<std::shared_ptr<const LoadedScene>>([this] { return scene_; });
  const bool same = open->name == recorded.name && open->moving_part() != nullptr &&
                    (recorded.bodies.empty() || hex(open->content_hash()) == recorded.bodies);
  return same ? open : nullptr;
}

HttpResponse Studio::answer_recording(const std::string& path) {
  const std::string file = path.substr(std::string_view("/api/recording/").size());
  const std::string ending = ending_of(file);
  const std::string id = file.substr(0, file.size() - ending.size());
  static constexpr std::array<std::string_view, 4> k_endings{".frames", ".csv", ".svg", ".cotrec"};
  if (std::find(k_endings.begin(), k_endings.end(), ending) == k_endings.end() || !is_identifier(id))
    return error_response(404, "A recording comes as .frames, .csv, .svg or .cotrec.");
  std::filesystem::path stored;
  try {
    stored = recordings_.file(id);
  } catch (const Error& error) {
    return error_response(404, error.what());
  }
  if (ending == ".cotrec") {
    std::ifstream in(stored, std::ios::binary);
    return bytes_response({std::istreambuf_iterator<char>(in), {}}, "application/octet-stream", id + ".cotrec");
  }
  const Recording recording = read_recording(stored);
  if (ending == ".csv") return bytes_response(to_csv(recording.samples), "text/csv; charset=utf-8", id + ".csv");
  if (ending == ".frames")
    return bytes_response(encode_recording(recording, scene_of(recording)), "application/octet-stream");
  if (!settings_.draw_summary) return error_response(404, "This server draws no pictures.");
  return bytes_response(settings_.draw_summary(summarise(recording, scene_of(recording))), "image/svg+xml",
                        id + ".svg");
}

HttpResponse Studio::answer_upload(HttpRequest& request) {
  const std::string given = std::string(request.target.value("name"));
  const std::string ending = ending_of(given);
  static constexpr std::array<std::string_view, 5> k_endings{".stl", ".obj", ".ply", ".glb", ".gltf"};
  if (std::find(k_endings.begin(), k_endings.end(), ending) == k_endings.end())
    return error_response(400, "Drop an STL, OBJ, PLY or glTF file; the file's ending tells which.");
  if (request.body.empty()) return error_response(400, "The file is empty.");
  ImportOptions options;
  if (const std::string_view unit = request.target.value("unit"); !unit.empty()) {
    metres_per(unit);  // throws where there is no such unit
    options.unit = std::string(unit);
  }
  std::string role(request.target.value("role"));
  if (role.empty()) role = "auto";
  if (role != "moving" && role != "static" && role != "auto")
    return error_response(400, "A part's role is moving, static or auto.");
  const std::string label = clean_label(std::string_view(given).substr(0, given.size() - ending.size()));
  const std::size_t parts = ask<std::size_t>([this] { return scene_->editable ? scene_->parts.size() : 0; });
  if (parts >= k_max_parts) return error_response(409, "The scene is full; remove a part first.");

  auto body = std::make_shared<std::string>(std::move(request.body));
  const auto job = jobs_->add(label, [this, body, label, ending, role, options](Progress& progress) {
    progress.update("reading the file", 0);
    // A name for messages and for the kind of file; nothing is opened by it.
    ImportedMesh imported = load_mesh_from_memory(std::as_bytes(std::span(*body)), label + ending, options);
    body->clear();
    body->shrink_to_fit();
    TriangleMesh& mesh = imported.mesh;
    // Turning happens about a part's origin, so that should be its middle.
    const Vec3d middle = mesh.bounds().center();
    for (Vec3d& vertex : mesh.vertices) vertex -= middle;
    mesh.name = label;
    ScenePart part = make_scene_part(std::make_shared<const Part>(prepare_cached(mesh, settings_.dropped, progress)));
    part.name = label;
    post([this, part = std::move(part), role] { add_part(part, role); });
  });
  if (!job) return error_response(429, "Too many files are waiting to be prepared; wait until some are done.");
  return json_response(upload_answer(*job));
}

HttpResponse Studio::answer_save(const Target& target) {
  const std::string name(target.value("name"));
  if (!is_identifier(name))
    return error_response(400, "A scene's name is made of letters, digits, - and _, at most 64 of them.");
  using Answer = std::pair<std::shared_ptr<const LoadedScene>, Pose>;
  const Answer now = ask<Answer>([this] {
    LoadedScene scene = *scene_;
    scene.contact_stiffness = feel_.contact_stiffness;
    scene.coupling.max_force = feel_.max_force;
    return Answer(std::make_shared<const LoadedScene>(std::move(scene)), object_pose());
  });
  if (now.first->parts.empty()) return error_response(409, "There is nothing to save yet; drop a part first.");
  LoadedScene scene = *now.first;
  for (ScenePart& part : scene.parts)
    if (part.moving) part.pose = now.second;
  scene.title = scene_title(name);
  const std::filesystem::path file = library_.save(scene, name);
  broadcast(scenes_message());
  return json_response(saved_answer(file.string()));
}

}  // namespace cotouch
