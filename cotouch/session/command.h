// What a participant can ask a session to do. Session::command() takes any of these.
#pragma once

#include <cotouch/base/progress.h>
#include <cotouch/session/arbitration.h>
#include <cotouch/world/scene.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace cotouch {

class UnsavedPlace;

// By its name in the library. Takes a while: the answer has a job. What was changed in the open scene and not saved is
// kept in the library first; if that fails, the answer is `unkept`, unless it may be lost.
struct OpenScene {
  std::string name;
  bool may_lose_changes = false;
};
// One that is in memory and prepared already, in the place of the open one, which is kept likewise.
struct ShowScene {
  Scene scene;
  std::shared_ptr<UnsavedPlace> place = {};  // where it is kept, if it was not saved
};
// Bodies back to where they started; hands let go.
struct ResetScene {};

// Any free body, at any point of it; several hands may hold the same one. Without a hand (none) it is the one that this
// participant holds already, or a free one. The hand begins at the point, turned like the body.
struct GraspBody {
  HandId hand = HandId::none;
  BodyId body = 0;
  std::optional<Vec3d> point = {};  // in the body's frame; its origin if there is none
};
// Without a hand: all that this participant holds.
struct ReleaseHand {
  HandId hand = HandId::none;
};

// A device at this program, by its number. One whose power was cut is switched on to get it back.
struct SwitchDevice {
  std::uint32_t device = 0;
  bool on = true;
};

using ChangeSettings = SettingsRequest;

// The world everybody is in.
struct SetGravity {
  double down = 0;  // m/s^2 along -z, 0 to 20
};
struct SetBody {
  BodyId body = 0;
  std::optional<double> density = {};  // kg/m^3
  std::optional<double> mass = {};     // kg; scales what density gave
  std::optional<Motion> motion = {};   // fixed or free
};
// Makes a body bend, bend in another way, or, without settings, rigid again. It has one part, whose frame anchors are
// in. Without anchors it is made free, because nothing would hold it. It is prepared in the background: the answer has
// the job, and the scene changes when that is done.
struct BendBody {
  BodyId body = 0;
  std::optional<ElasticSettings> elastic = {};
};
struct CopyBody {
  BodyId body = 0;
};
struct RemoveBody {
  BodyId body = 0;
};
// The task from its beginning: its body back to where it started.
struct ResetTask {};

struct StartRecording {};
struct StopRecording {};
struct DeleteRecording {
  std::string id;
};
struct DeleteScene {
  std::string name;
};

struct AddedMesh {
  TriangleMesh mesh;
  std::shared_ptr<const PartImport> import = {};
};
// Prepares parts in the background (the answer has the job), then puts each beside what is there as a body of its own.
// `meshes` is called on the job's thread, may throw Error and should ask the progress whether to go on. Without a
// motion the first body is fixed and all others free.
struct AddPart {
  std::string name;
  std::function<std::vector<AddedMesh>(Progress&)> meshes;
  std::optional<Motion> motion = {};
  bool as_in_file = false;  // where they are in the file, instead of beside what is there
  // Alone, in the place of the open scene, once they are ready. What was changed in that is kept first, as by
  // OpenScene.
  bool in_new_scene = false, may_lose_changes = false;
};
// Another unit or up axis for a body that was dropped; empty: as it is. Prepares it again in the background.
struct Reimport {
  BodyId body = 0;
  std::string unit, up;
};
struct CancelJob {
  std::uint32_t job = 0;
};

// A session over the network, that other programs join (docs/sharing.md).
struct StartSharing {
  std::string name;  // of the person here
};
// The scene that comes from there takes the place of the open one, as by OpenScene.
struct JoinSharing {
  std::string invite, name;
  bool may_lose_changes = false;
};
struct LeaveSharing {};
// The link emulator between this program and the others: a profile by its name, or numbers.
struct SetNetwork {
  std::optional<std::string> profile = {};
  std::optional<double> round_trip = {}, jitter = {};  // seconds
  std::optional<double> loss = {};                     // share
};
// For all peers: whether late inputs roll the view back, or views drift apart.
struct SetSynchronised {
  bool on = true;
};
struct Say {
  std::string text;  // at most 500 bytes
};
struct PlaceMark {
  BodyId body = 0;
  Vec3d point;  // in the body's frame
};
struct RemoveMark {
  std::uint32_t mark = 0;
};

using SessionCommand =
    std::variant<OpenScene, ShowScene, ResetScene, GraspBody, ReleaseHand, SwitchDevice, ChangeSettings, SetGravity,
                 SetBody, BendBody, CopyBody, RemoveBody, ResetTask, StartRecording, StopRecording, DeleteRecording,
                 DeleteScene, AddPart, Reimport, CancelJob, StartSharing, JoinSharing, LeaveSharing, SetNetwork,
                 SetSynchronised, Say, PlaceMark, RemoveMark>;

struct CommandResult {
  enum class Kind : std::uint8_t {
    done,
    wrong,     // as it was asked for it cannot be done at all
    not_now,   // others, or what goes on, stand in the way
    too_many,  // too much is waiting already
    exists,    // there is one of that name; say that it may be replaced
    unkept,    // what was changed in the open scene would be lost; say that it may be
  };
  Kind kind = Kind::done;
  std::string reason;     // a sentence, if it was not done
  std::uint32_t job = 0;  // that does the rest; 0 if there is none
  std::string file;       // that was written; empty if there is none

  bool done() const { return kind == Kind::done; }
};

}  // namespace cotouch
