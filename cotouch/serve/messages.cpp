#include <cotouch/serve/messages.h>

#include <cotouch/base/trig.h>
#include <cotouch/serve/wire_layout.h>
#include <cotouch/session/arbitration.h>
#include <cotouch/session/names.h>
#include <cotouch/session/recorded_events.h>
#include <cotouch/session/scene_limits.h>
#include <cotouch/session/session.h>

#include <cmath>
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
    all.push_back({{"id", e.id},
                   {"scene", e.scene},
                   {"seconds", e.seconds},
                   {"peak_force", e.peak_force},
                   {"bytes", e.bytes},
                   {"recovered", e.recovered}});
  return all;
}

// With what may be chosen: the page knows no limits of its own.
json settings(const FeelSettings& feel) {
  const auto range = [](const SettingRange& r) { return json{r.low, r.high}; };
  return {{"contact_stiffness", feel.contact_stiffness},
          {"max_force", feel.max_force},
          {"budget_us", feel.budget_us},
          {"budget_nodes", feel.warm_nodes},
          {"ranges",
           {{"contact_stiffness", range(contact_stiffness_range())},
            {"max_force", range(max_force_range())},
            {"budget_us", range(budget_range())}}}};
}

// For a command line to be copied: quoted where a shell would see more than one plain word.
std::string shell_quoted(const std::string& word) {
  constexpr std::string_view k_plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+,:@";
  if (!word.empty() && word.find_first_not_of(k_plain) == std::string::npos) return word;
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

const char* name_of(ParticipantKind kind) {
  switch (kind) {
    case ParticipantKind::page: return "page";
    case ParticipantKind::peer: return "peer";
    case ParticipantKind::device: return "device";
    case ParticipantKind::program: return "script";
  }
  return "page";
}

const char* name_of(Rights rights) {
  switch (rights) {
    case Rights::own: return "own";
    case Rights::hand: return "hand";
    case Rights::watch: return "watch";
  }
  return "watch";
}

const char* name_of(HandChange change) {
  switch (change) {
    case HandChange::granted: return "granted";
    case HandChange::refused: return "refused";
    case HandChange::released: return "released";
    case HandChange::lost: return "lost";
  }
  return "lost";
}

const char* name_of(DeviceView::State state) {
  switch (state) {
    case DeviceView::State::idle: return "idle";
    case DeviceView::State::ready: return "ready";
    case DeviceView::State::off: return "off";
    case DeviceView::State::lost: return "lost";
    case DeviceView::State::faulty: return "faulty";
    case DeviceView::State::disabled: return "disabled";
    case DeviceView::State::unguarded: return "unguarded";
    case DeviceView::State::halted: return "halted";
    case DeviceView::State::hangs: return "hangs";
    case DeviceView::State::refused: return "refused";
  }
  return "lost";
}

const char* name_of(Motion motion) {
  switch (motion) {
    case Motion::fixed: return "fixed";
    case Motion::path: return "path";
    case Motion::free: return "free";
  }
  return "fixed";
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

const char* name_of(SharingStatus::State state) {
  switch (state) {
    case SharingStatus::State::off: return "off";
    case SharingStatus::State::starting: return "starting";
    case SharingStatus::State::hosting: return "hosting";
    case SharingStatus::State::joining: return "joining";
    case SharingStatus::State::joined: return "joined";
    case SharingStatus::State::cut_off: return "cut_off";
    case SharingStatus::State::failed: return "failed";
  }
  return "off";
}

const char* name_of(PeerView::Path path) {
  switch (path) {
    case PeerView::Path::self: return "self";
    case PeerView::Path::direct: return "direct";
    case PeerView::Path::relayed: return "relayed";
  }
  return "direct";
}

const char* name_of(PeerView::State state) {
  switch (state) {
    case PeerView::State::present: return "present";
    case PeerView::State::silent: return "silent";
    case PeerView::State::leaving: return "leaving";
  }
  return "present";
}

template <class Id>
std::uint32_t number_of(Id id) {
  return static_cast<std::uint32_t>(id);
}

// A part that bends brings its material's.
double density_of(const SceneBody& body) {
  for (const ScenePart& part : body.parts)
    if (const auto& elastic = part.part->settings.elastic) return elastic->material.density;
  return body.density;
}

// What can be set about a body. Only what is free has a mass that matters.
json facts(const SceneBody& body) {
  return {{"motion", name_of(body.motion)},
          {"mass", body.motion == Motion::free ? mass_of(body).mass : 0},
          {"density", density_of(body)},
          {"graspable", can_be_held(body)}};
}

json elastic_json(const Part& part) {
  const ElasticData& data = part.elastic->data();
  json out{{"law", data.law == ElasticLaw::stvk ? "stvk" : "warped"},
           {"coordinates", data.size},
           {"tets", data.tets.size()},
           {"anchored", data.anchored}};
  const auto& settings = part.settings.elastic;
  if (!settings) return out;
  json anchors = json::array();
  for (const Anchor& anchor : settings->anchors) anchors.push_back(to_string(anchor));
  out.update({{"material", name_but_for_stiffness(settings->material)},
              {"young", settings->material.young},
              {"poisson", settings->material.poisson},
              {"density", settings->material.density},
              {"anchors", std::move(anchors)}});
  return out;
}

const char* name_of(ImportFacts::From from) {
  switch (from) {
    case ImportFacts::From::stated: return "stated";
    case ImportFacts::From::guessed: return "guessed";
    case ImportFacts::From::given: return "given";
  }
  return "guessed";
}

json import_json(const PartImport& import) {
  const ImportFacts& facts = import.facts;
  return {{"unit", facts.unit},
          {"unit_from", name_of(facts.unit_from)},
          {"guess", facts.guess},
          {"up", std::string(1, facts.up_axis)},
          {"up_from", name_of(facts.up_from)},
          {"warnings", import.warnings}};
}

json part_json(const Scene& scene, const ShownScene& shown, const ShownPart& part) {
  const SceneBody& body = *scene.find(part.body);
  const ScenePart& made = shown.scene_part(part);
  const TriangleMesh& picture = part.picture->mesh;
  const bool has_shell = made.part->shell.data().level_begin.size() > 1;
  json out{{"id", part.id},
           {"body", part.body},
           {"name", made.name},
           {"role", body.motion == Motion::fixed ? "static" : "moving"},
           {"color", part.color},
           {"pose", pose(body.pose * made.place)},
           {"place", pose(made.place)},
           {"bounds", box(picture.bounds())},
           {"vertices", picture.vertices.size()},
           {"triangles", picture.triangles.size()},
           {"decimated", part.picture->decimated},
           {"shell_points", has_shell ? made.part->shell.point_count() : 0},
           {"levels", has_shell ? made.part->shell.levels() : 0},
           {"field_cell", made.part->field.spacing()},
           {"removable", body.removable}};
  if (made.part->elastic) out["elastic"] = elastic_json(*made.part);
  if (made.import) out["import"] = import_json(*made.import);
  return out;
}

json body_json(const Scene& scene, const ShownScene& shown, const SceneBody& body) {
  json parts = json::array();
  for (const ShownPart& part : shown.parts)
    if (part.body == body.id) parts.push_back(part.id);
  json out{{"id", body.id}, {"name", body.name}, {"parts", parts}};
  out.update(facts(body));
  out.update({{"pose", pose(body.pose)},
              {"copy", scene.editable || body.motion == Motion::free},
              {"bendable", can_bend(scene, body)},
              {"removable", body.removable}});
  return out;
}

// What parts that bend can be made of.
json materials() {
  json all = json::array();
  for (const std::string& name : material_names()) {
    const Material material = material_named(name);
    all.push_back(
        {{"name", name}, {"young", material.young}, {"poisson", material.poisson}, {"density", material.density}});
  }
  return all;
}

json task_json(const std::optional<Task>& task) {
  if (!task) return nullptr;
  return {{"title", task->summary},
          {"body", task->body},
          {"target", pose(task->target)},
          {"position_tolerance", task->position_tolerance},
          {"angle_tolerance", task->angle_tolerance}};
}

// What is not known yet is no number, and left out.
void put_known(json& object, const char* key, double value) {
  if (std::isfinite(value)) object[key] = value;
}

json peer_json(const PeerView& peer) {
  json out{{"peer", peer.peer},
           {"participant", number_of(peer.participant)},
           {"name", peer.name},
           {"color", peer.color},
           {"self", peer.self},
           {"observer", peer.observer},
           {"path", name_of(peer.path)},
           {"state", name_of(peer.state)},
           {"fingerprint", peer.fingerprint}};
  put_known(out, "latency_ms", peer.round_trip * 1000);
  put_known(out, "jitter_ms", peer.jitter * 1000);
  put_known(out, "loss", peer.loss);
  put_known(out, "lead_ms", peer.lead * 1000);
  return out;
}

}  // namespace

std::string hello_message(const std::string& version, ParticipantId you, Rights rights, std::uint64_t upload_bytes) {
  json features{"near", "traversed"};
  if (rights != Rights::watch)
    for (const char* more : {"hand", "share"}) features.push_back(more);
  if (rights == Rights::own)
    for (const char* more :
         {"upload", "record", "save", "settings", "world", "task", "bend", "links", "import", "devices"})
      features.push_back(more);
  return text_of({{"type", "hello"},
                  {"protocol", wire::k_version},
                  {"version", version},
                  {"participant", number_of(you)},
                  {"rights", name_of(rights)},
                  {"features", features},
                  {"materials", materials()},
                  {"limits", {{"upload_bytes", upload_bytes}, {"bodies", k_most_bodies}, {"inputs_per_second", 125}}}});
}

std::string links_answer(const std::vector<PageLink>& links, const std::map<std::string, std::size_t>& pages,
                         const std::string& yours, const std::vector<std::string>& origins, UnixSeconds now) {
  json all = json::array();
  for (const PageLink& link : links) {
    const auto open = pages.find(link.id);
    json one{{"id", link.id},
             {"rights", name_of(link.rights)},
             {"label", link.label},
             {"expires", link.expires == 0 ? json() : json(link.expires)},
             {"state", link.revoked       ? "revoked"
                       : link.counts(now) ? "open"
                                          : "expired"},
             {"pages", open == pages.end() ? 0 : open->second},
             {"yours", link.id == yours}};
    // The owner's own token is nowhere but in the address that was printed.
    if (link.counts(now) && link.rights != Rights::own) one["token"] = link.token;
    all.push_back(std::move(one));
  }
  return text_of({{"links", all}, {"origins", origins}});
}

std::string added_link_answer(const PageLink& link) {
  return text_of({{"id", link.id}, {"token", link.token}});
}

std::string people_message(const std::vector<Participant>& people) {
  json all = json::array();
  for (const Participant& one : people)
    all.push_back(
        {{"participant", number_of(one.id)}, {"name", one.name}, {"color", one.color}, {"kind", name_of(one.kind)}});
  return text_of({{"type", "people"}, {"people", all}});
}

std::string scene_message(std::uint32_t generation, const std::string& name) {
  return text_of({{"type", "scene"}, {"generation", generation}, {"name", name}});
}

std::string hand_message(const HandEvent& event) {
  const HandId hand = event.change == HandChange::refused ? HandId::none : event.hand;
  json message{{"type", "hand"}, {"hand", number_of(hand)}, {"state", name_of(event.change)}, {"body", event.body}};
  if (event.change == HandChange::granted) message["point"] = list(event.grip.position);
  message["reason"] = event.reason;
  return text_of(message);
}

std::string devices_message(const std::vector<DeviceView>& devices) {
  const auto rounded = [](double value, double step) { return std::round(value / step) * step; };
  json all = json::array();
  for (const DeviceView& device : devices)
    all.push_back({{"device", device.device},
                   {"name", device.name},
                   {"participant", number_of(device.participant)},
                   {"motors", device.motors},
                   {"state", name_of(device.state)},
                   {"body", device.body},
                   {"force", rounded(device.force, 0.01)},
                   {"rate", rounded(device.rate, 1)},
                   {"reason", device.reason}});
  return text_of({{"type", "devices"}, {"devices", all}});
}

double downward(const Scene& scene) {
  return scene.gravity.z == 0 ? 0 : -scene.gravity.z;  // not minus zero
}

std::string gravity_message(double down) {
  return text_of({{"type", "world"}, {"gravity", down}});
}

std::string body_message(const SceneBody& body) {
  json message{{"type", "body"}, {"body", body.id}};
  message.update(facts(body));
  return text_of(message);
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

std::string share_message(const SharingStatus& sharing) {
  const bool hosts = sharing.state == SharingStatus::State::hosting;
  return text_of({{"type", "share"},
                  {"state", name_of(sharing.state)},
                  {"invite", hosts ? sharing.invite : std::string()},
                  {"session", sharing.session},
                  {"stage", sharing.stage},
                  {"progress", sharing.progress},
                  {"reason", sharing.reason}});
}

std::string peers_message(const PeersView& view) {
  json peers = json::array();
  for (const PeerView& peer : view.peers) peers.push_back(peer_json(peer));
  json message{{"type", "peers"},
               {"tick", view.tick},
               {"agreed", view.agreed},
               {"branch", view.branch},
               {"window", view.window},
               {"synchronised", view.synchronised},
               {"waiting_for", view.waiting_for},
               {"rollback_ticks", view.rollback_ticks},
               {"bytes_in", view.bytes_in},
               {"bytes_out", view.bytes_out}};
  put_known(message, "divergence_mm", view.divergence * 1000);
  put_known(message, "divergence_deg", view.divergence_angle * 180 / k_pi);
  message["peers"] = std::move(peers);
  return text_of(message);
}

std::string network_message(const NetworkStatus& network) {
  return text_of({{"type", "network"},
                  {"profile", network.profile},
                  {"profiles", network.profiles},
                  {"delay_ms", network.round_trip * 1000},
                  {"jitter_ms", network.jitter * 1000},
                  {"loss", network.loss},
                  {"synchronised", network.synchronised}});
}

std::string chat_message(const ChatLine& line) {
  return text_of(
      {{"type", "chat"}, {"name", line.name}, {"color", line.color}, {"text", line.text}, {"time", line.time}});
}

std::string mark_message(const MarkView& mark) {
  if (mark.removed) return text_of({{"type", "unmark"}, {"mark", mark.mark}});
  return text_of({{"type", "mark"},
                  {"mark", mark.mark},
                  {"body", mark.body},
                  {"point", list(mark.point)},
                  {"name", mark.name},
                  {"color", mark.color}});
}

std::string scenes_message() {
  return text_of({{"type", "scenes"}});
}

std::string reply_message(std::int64_t id, bool ok, std::string_view reason, std::string_view code) {
  json reply{{"type", "reply"}, {"id", id}, {"ok", ok}, {"reason", reason}};
  if (!code.empty()) reply["code"] = code;
  return text_of(reply);
}

std::string error_message(std::string_view reason) {
  return text_of({{"type", "error"}, {"reason", reason}});
}

std::string hello_answer(const std::string& version) {
  return text_of({{"protocol", wire::k_version}, {"version", version}});
}

std::string gallery_answer(const std::vector<SceneEntry>& entries) {
  json scenes = json::array();
  for (const SceneEntry& e : entries)
    scenes.push_back({{"name", e.name},
                      {"title", e.title},
                      {"summary", e.summary},
                      {"thumbnail", e.thumbnail ? "/api/thumbnail/" + e.name + ".png" : std::string()},
                      {"saved", e.saved},
                      {"unsaved", e.unsaved}});
  return text_of({{"scenes", scenes}});
}

std::string scene_answer(const SessionSnapshot& now) {
  const ShownScene& shown = *now.scene;
  const Scene& scene = shown.scene;
  json parts = json::array(), bodies = json::array();
  for (const ShownPart& part : shown.parts) parts.push_back(part_json(scene, shown, part));
  for (const SceneBody& body : scene.bodies) bodies.push_back(body_json(scene, shown, body));
  return text_of({{"generation", now.generation},
                  {"name", scene.name},
                  {"title", scene.title},
                  {"summary", scene.summary},
                  {"bounds", box(scene.bounds())},
                  {"parts", parts},
                  {"bodies", bodies},
                  {"task", task_json(scene.task)},
                  {"gravity", downward(scene)},
                  {"max_torque", scene.coupling.max_torque},
                  {"settings", settings(now.feel)}});
}

std::string recordings_answer(const std::vector<RecordingEntry>& entries) {
  return text_of({{"recordings", recordings(entries)}});
}

// Numbers of hands are those of the frames.
std::string events_answer(const Recording& recording) {
  const auto seconds = [&](std::uint64_t tick) { return static_cast<double>(tick) * recording.limits.period; };
  const auto color = [](const std::optional<std::uint32_t>& hand) {
    return hand ? Session::color_of(static_cast<MemberId>(*hand)) : std::string();
  };
  json people = json::array(), events = json::array();
  for (const RecordedPerson& person : recorded_people(recording)) {
    if (!person.hand) continue;
    people.push_back({{"hand", *person.hand + 1},
                      {"name", clean_name(person.name)},
                      {"color", color(person.own)},
                      {"from", seconds(person.from)},
                      {"to", seconds(person.to)}});
  }
  for (const NamedEvent& named : named_events(recording))
    events.push_back({{"time", seconds(named.event.tick)},
                      {"kind", word_of(named.event.kind)},
                      {"name", named.who},
                      {"color", color(named.event.hand)},
                      {"text", named.event.text}});
  return text_of({{"people", people}, {"events", events}});
}

std::string upload_answer(std::uint32_t job) {
  return text_of({{"job", job}});
}

std::string saved_answer(const std::string& file) {
  return text_of({{"file", file}, {"play", "cotouch play " + shell_quoted(file)}});
}

}  // namespace cotouch
