#include <cotouch/base/error.h>
#include <cotouch/base/read_file.h>
#include <cotouch/base/units.h>
#include <cotouch/mesh/import.h>
#include <cotouch/serve/elastic_basis.h>
#include <cotouch/serve/messages.h>
#include <cotouch/serve/page_command.h>
#include <cotouch/serve/page_host.h>
#include <cotouch/serve/recording_frames.h>
#include <cotouch/session/names.h>

#include <algorithm>
#include <array>
#include <charconv>

namespace cotouch {
namespace {

constexpr const char* k_scene_gone = "The scene that this recording was made in is gone or not what it was then.";

int status_of(const CommandResult& result) {
  switch (result.kind) {
    case CommandResult::Kind::done: return 200;
    case CommandResult::Kind::wrong: return 400;
    case CommandResult::Kind::not_now: return 409;
    case CommandResult::Kind::too_many: return 429;
    case CommandResult::Kind::exists:
    case CommandResult::Kind::unkept: return 409;
  }
  return 500;
}

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

PageHost::Sender::Sender(PageHost& host, const HttpRequest& request)
    : session_(host.session_), id_(ParticipantId::nobody), visits_(request.target.value("participant").empty()) {
  if (!visits_) {
    id_ = ParticipantId{number_in(request.target.value("participant")).value_or(0)};
    const ViewerId viewer = host.viewer_of(id_);
    const std::scoped_lock lock(host.pages_mutex_);
    const auto page = host.pages_.find(viewer);
    if (page == host.pages_.end()) {
      visits_ = true;  // its feed broke off in the meantime
    } else if (page->second.visitor.key != request.visitor.key) {
      throw Error("That is the number of another page.", ErrorCode::refused);
    }
  }
  if (visits_) id_ = session_.join(ParticipantKind::program, "request", request.visitor.rights);
}

PageHost::Sender::~Sender() {
  if (visits_) session_.leave(id_);
}

HttpResponse PageHost::answer(HttpRequest request) {
  const std::string& path = request.target.path;
  const auto under = [&](std::string_view prefix) { return path.starts_with(prefix); };
  if (request.post) {
    if (path == "/api/upload") return answer_upload(request);
    if (path == "/api/scene/save") return answer_save(request);
    if (path == "/api/links") return add_link(request);
    if (path == "/api/links/revoke") return revoke_link(request);
    return error_response(405, "Nothing can be sent to this address.");
  }
  if (path == "/api/hello") return json_response(hello_answer(settings_.version));
  if (path == "/api/scenes") return json_response(gallery_answer(session_.library().list()));
  if (path == "/api/scene") return json_response(scene_answer(session_.snapshot()));
  if (path == "/api/recordings") return json_response(recordings_answer(session_.recordings().list()));
  if (path == "/api/links") return answer_links(request);
  if (under("/api/mesh/")) return answer_mesh(asked_part(request.target, "/api/mesh/"));
  if (under("/api/elastic/")) return answer_elastic(asked_part(request.target, "/api/elastic/"));
  if (under("/api/thumbnail/")) return answer_thumbnail(path);
  if (under("/api/recording/")) return answer_recording(request.target);
  if (path == "/api/upload" || path == "/api/scene/save") return error_response(405, "This address takes POST only.");
  return error_response(404, "There is nothing at this address.");
}

PageHost::AskedPart PageHost::asked_part(const Target& target, std::string_view prefix) {
  const auto id = number_in(std::string_view(target.path).substr(prefix.size()));
  const auto generation = number_in(target.value("scene"));
  if (!id || !generation)
    return {{}, 0, error_response(400, "A part is asked for by its number and scene generation.")};
  const SessionSnapshot now = session_.snapshot();
  if (now.generation != *generation) return {{}, 0, error_response(409, "Another scene was opened in the meantime.")};
  const ShownPart* part = now.scene->find_part(*id);
  if (part == nullptr) return {{}, 0, error_response(404, "There is no such part in this scene.")};
  return {part->picture, now.generation, {}};
}

HttpResponse PageHost::answer_mesh(const AskedPart& asked) {
  if (!asked.picture) return asked.refusal;
  return bytes_response(encode_mesh(asked.picture->mesh, asked.generation), "application/octet-stream");
}

HttpResponse PageHost::answer_elastic(const AskedPart& asked) {
  if (!asked.picture) return asked.refusal;
  if (asked.picture->part->elastic == nullptr) return error_response(404, "This part is rigid.");
  if (basis_bytes(*asked.picture) > k_most_basis_bytes)
    return error_response(413, "This part bends in too many ways to be shown; it is drawn at rest.");
  HttpResponse response;
  response.content_type = "application/octet-stream";
  const std::scoped_lock lock(bases_mutex_);  // also while it is computed: whoever asks for the same can wait for it
  std::erase_if(bases_, [](const KeptBasis& kept) { return kept.picture.expired(); });
  for (const KeptBasis& kept : bases_)
    if (kept.picture.lock() == asked.picture) response.body = kept.bytes;
  if (response.body) return response;
  response.body = std::make_shared<const std::string>(encode_basis(*asked.picture));
  bases_.push_back({asked.picture, response.body});
  return response;
}

HttpResponse PageHost::answer_thumbnail(const std::string& path) {
  std::string name = path.substr(std::string_view("/api/thumbnail/").size());
  if (!name.ends_with(".png")) return error_response(404, "Thumbnails are PNG files.");
  name.resize(name.size() - 4);
  std::string picture = is_identifier(name) ? session_.library().thumbnail(name) : std::string();
  // No error: the scene may have been deleted since the gallery was sent, and browsers complain about errors.
  if (picture.empty()) {
    HttpResponse nothing;
    nothing.status = 204;
    return nothing;
  }
  return bytes_response(std::move(picture), "image/png");
}

// The open scene if it is the recording's, otherwise the library's; null if neither is what it was then.
std::shared_ptr<const ShownScene> PageHost::scene_of(const Recording& recording) {
  if (auto open = session_.scene_of(recording)) return open;
  try {
    NoProgress quiet;
    auto stored = show(session_.library().load(parse_recorded_scene(recording.scene).name, quiet));
    recorded_model(recording, stored->scene);  // throws if it differs
    return stored;
  } catch (const Error&) {
    return nullptr;
  }
}

PageHost::Played PageHost::played(const std::string& id, const std::filesystem::path& stored) {
  Played wanted{id, std::filesystem::last_write_time(stored), session_.snapshot().generation, nullptr, nullptr};
  {
    const std::scoped_lock lock(played_mutex_);
    if (played_.id == id && played_.written == wanted.written && played_.generation == wanted.generation)
      return played_;
  }
  wanted.scene = scene_of(read_recording(stored));
  const std::scoped_lock lock(played_mutex_);
  return played_ = wanted;
}

HttpResponse PageHost::answer_frames(const std::string& id, const std::filesystem::path& stored) {
  Played now = played(id, stored);
  if (!now.scene) return error_response(409, k_scene_gone);
  HttpResponse response;
  response.content_type = "application/octet-stream";
  response.body = now.frames;
  if (response.body) return response;
  response.body = now.frames = std::make_shared<const std::string>(encode_recording(read_recording(stored), now.scene));
  const std::scoped_lock lock(played_mutex_);
  played_ = std::move(now);
  return response;
}

PageHost::AskedPart PageHost::recorded_part(const Target& target, const std::string& id,
                                            const std::filesystem::path& stored) {
  const std::shared_ptr<const ShownScene> scene = played(id, stored).scene;
  if (!scene) return {{}, 0, error_response(409, k_scene_gone)};
  const auto number = number_in(target.value("part"));
  const ShownPart* part = number ? scene->find_part(*number) : nullptr;
  if (part == nullptr) return {{}, 0, error_response(404, "There is no such part in this recording's scene.")};
  return {part->picture, 0, {}};
}

HttpResponse PageHost::answer_recording(const Target& target) {
  const std::string file = target.path.substr(std::string_view("/api/recording/").size());
  const std::string ending = ending_of(file);
  const std::string id = file.substr(0, file.size() - ending.size());
  static constexpr std::array<std::string_view, 8> k_endings{".frames",  ".events", ".scene", ".mesh",
                                                             ".elastic", ".csv",    ".svg",   ".cotrec"};
  if (std::find(k_endings.begin(), k_endings.end(), ending) == k_endings.end() || !is_identifier(id))
    return error_response(404, "A recording comes as .frames, .events, .scene, .csv, .svg or .cotrec.");
  std::filesystem::path stored;
  try {
    stored = session_.recordings().file(id);
  } catch (const Error& error) {
    return error_response(404, error.what());
  }
  if (ending == ".cotrec") return bytes_response(read_text(stored), "application/octet-stream", id + ".cotrec");
  if (ending == ".frames") return answer_frames(id, stored);
  if (ending == ".mesh") return answer_mesh(recorded_part(target, id, stored));
  if (ending == ".elastic") return answer_elastic(recorded_part(target, id, stored));
  if (ending == ".svg" && !settings_.draw_summary) return error_response(404, "This server draws no pictures.");
  const Recording recording = read_recording(stored);
  if (ending == ".events") return json_response(events_answer(recording));
  const std::shared_ptr<const ShownScene> scene = played(id, stored).scene;
  if (ending == ".svg")
    return bytes_response(settings_.draw_summary(summarise(recording, scene)), "image/svg+xml", id + ".svg");
  if (!scene) return error_response(409, k_scene_gone);
  if (ending == ".scene") {
    SessionSnapshot then;  // of no generation: it is not the open one's
    then.scene = scene;
    then.feel = parse_recorded_scene(recording.scene).feel;
    return json_response(scene_answer(then));
  }
  return bytes_response(to_csv(recording, recorded_model(recording, scene->scene)), "text/csv; charset=utf-8",
                        id + ".csv");
}

HttpResponse PageHost::answer_upload(HttpRequest& request) {
  const std::string given = std::string(request.target.value("name"));
  const std::string ending = ending_of(given);
  static constexpr std::array<std::string_view, 13> k_endings{".stl", ".obj", ".ply", ".off", ".glb", ".gltf", ".3mf",
                                                              ".amf", ".dae", ".fbx", ".x3d", ".3ds", ".zip"};
  if (std::find(k_endings.begin(), k_endings.end(), ending) == k_endings.end())
    return error_response(
        400, "Drop an STL, OBJ, PLY, glTF, 3MF or other mesh file, or a ZIP of them; the file's ending tells which.");
  if (!request.upload || request.upload->size() == 0) return error_response(400, "The file is empty.");
  ImportOptions options;
  options.limits = limits_for_parts();
  if (const std::string_view unit = request.target.value("unit"); !unit.empty()) {
    metres_per(unit);  // throws if there is no such unit
    options.unit = std::string(unit);
  }
  if (const std::string_view up = request.target.value("up"); !up.empty()) {
    if (up != "x" && up != "y" && up != "z") return error_response(400, "The up axis is x, y or z.");
    options.up_axis = std::string(up);
  }
  const std::string_view role = request.target.value("role");
  AddPart part;
  if (role == "moving")
    part.motion = Motion::free;
  else if (role == "static")
    part.motion = Motion::fixed;
  else if (!role.empty() && role != "auto")
    return error_response(400, "A part's role is moving, static or auto.");
  part.name = clean_label(std::string_view(given).substr(0, given.size() - ending.size()));
  const std::string_view place = request.target.value("place");
  if (!place.empty() && place != "as_in_file" && place != "middle")
    return error_response(400, "Parts are placed as_in_file or each at its middle.");
  part.as_in_file = place == "as_in_file";
  part.meshes = [upload = std::move(request.upload), file = part.name + ending, options,
                 split = request.target.value("split") == "1"](Progress& progress) {
    // A name for messages and for the kind of file; nothing is opened by it.
    const int descriptor = upload->descriptor();
    std::vector<ImportedMesh> imported;
    if (split)
      imported = load_parts_from_descriptor(descriptor, file, options, progress);
    else
      imported.push_back(load_mesh_from_descriptor(descriptor, file, options, progress));
    std::vector<AddedMesh> meshes;
    for (ImportedMesh& one : imported)
      meshes.push_back(
          {std::move(one.mesh), std::make_shared<const PartImport>(PartImport{one.facts, one.report.warnings()})});
    return meshes;
  };
  const std::string_view scene = request.target.value("scene");
  if (!scene.empty() && scene != "open" && scene != "new")
    return error_response(400, "Parts are added to the scene that is open, or to a new one.");
  part.in_new_scene = scene == "new";
  part.may_lose_changes = request.target.value("lose_changes") == "1";
  const Sender sender(*this, request);
  const CommandResult result = session_.command_and_wait(sender.id(), std::move(part));
  if (!result.done()) return error_response(status_of(result), result.reason, code_of(result));
  return json_response(upload_answer(result.job));
}

HttpResponse PageHost::answer_save(const HttpRequest& request) {
  const Sender sender(*this, request);
  const Target& target = request.target;
  const Replacing replacing = target.value("replace") == "1" ? Replacing::wanted : Replacing::refused;
  const CommandResult result = session_.save_scene(sender.id(), std::string(target.value("name")), replacing);
  if (!result.done()) return error_response(status_of(result), result.reason, code_of(result));
  return json_response(saved_answer(result.file));
}

}  // namespace cotouch
