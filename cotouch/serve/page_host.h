// Pages as participants of a session: translates what they ask for into the session's commands, and what the session
// tells and shows into texts and frames (docs/viewer-protocol.md). Decides nothing by itself.
#pragma once

#include <cotouch/serve/http_server.h>
#include <cotouch/session/session.h>

#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace cotouch {

struct PageHostSettings {
  std::string version;
  std::uint64_t upload_bytes = 256U << 20;
  std::vector<std::string> origins;  // by which people at other machines reach the page; none if they cannot
  // Draws a recording's summary as SVG; may be empty.
  std::function<std::string(const RecordingSummary&)> draw_summary;
};

class PageHost final : public RequestHandler, public FeedListener, public SessionListener {
 public:
  // Listens to the session, which is not started yet. All must outlive the host.
  PageHost(PageHostSettings settings, Session& session, Feed& feed, LinkBook& links);
  // Stops the session, so that it tells nothing to a host that is gone.
  ~PageHost() override;
  PageHost(const PageHost&) = delete;
  PageHost& operator=(const PageHost&) = delete;

  HttpResponse answer(HttpRequest request) override;

  void viewer_joined(ViewerId viewer, const PageHello& hello) override;
  void viewer_left(ViewerId viewer) override;
  void viewer_command(ViewerId viewer, const ViewerCommand& command) override;
  std::string_view viewer_input(ViewerId viewer, const PageInput& input) override;

  void joined(const Participant& who, const SessionSnapshot& now) override;
  void people_changed(const std::vector<Participant>& people) override;
  void scene_changed(std::uint32_t generation, const std::string& name) override;
  void settings_changed(const FeelSettings& feel) override;
  void gravity_changed(double down) override;
  void body_changed(const SceneBody& body) override;
  void hand_changed(const HandEvent& event) override;
  void devices_changed(const std::vector<DeviceView>& devices) override;
  void job_changed(const JobStatus& job) override;
  void recording_changed(bool active, double seconds) override;
  void recordings_changed(const std::vector<RecordingEntry>& entries) override;
  void scenes_changed() override;
  void problem(ParticipantId whom, const std::string& reason) override;
  void sharing_changed(const SharingStatus& sharing) override;
  void peers_changed(const PeersView& peers) override;
  void network_changed(const NetworkStatus& network) override;
  void said(const ChatLine& line) override;
  void mark_changed(const MarkView& mark) override;
  ViewDemand wanted() const override;
  void view(const SessionView& view) override;
  void nearness(std::uint32_t generation, std::uint32_t part, float range,
                std::span<const std::uint8_t> values) override;

 private:
  // Nobody and 0 if there is none.
  ParticipantId participant_of(ViewerId viewer);
  ViewerId viewer_of(ParticipantId participant);
  // Sends the text if that participant is a page.
  void send(ParticipantId participant, std::string text);
  // Tells every page about sharing; the invitation is a secret, which only owners see.
  void tell_sharing(const SharingStatus& sharing);
  // Who sends a request: the page that it names, if that has the same key, or somebody who takes part for the length of
  // the request with the rights of their link. Throws Error if the page is somebody else's.
  class Sender {
   public:
    Sender(PageHost& host, const HttpRequest& request);
    ~Sender();
    Sender(const Sender&) = delete;
    Sender& operator=(const Sender&) = delete;
    ParticipantId id() const { return id_; }

   private:
    Session& session_;
    ParticipantId id_;
    bool visits_;
  };

  // The picture of the part that an address names, or why there is none.
  struct AskedPart {
    std::shared_ptr<const PartPicture> picture;
    std::uint32_t generation = 0;
    HttpResponse refusal;
  };
  AskedPart asked_part(const Target& target, std::string_view prefix);
  HttpResponse answer_mesh(const AskedPart& asked);
  HttpResponse answer_elastic(const AskedPart& asked);
  HttpResponse answer_thumbnail(const std::string& path);
  HttpResponse answer_recording(const Target& target);
  HttpResponse answer_frames(const std::string& id, const std::filesystem::path& stored);
  // A part of a recording's own scene, whatever scene is open.
  AskedPart recorded_part(const Target& target, const std::string& id, const std::filesystem::path& stored);
  std::shared_ptr<const ShownScene> scene_of(const Recording& recording);
  HttpResponse answer_upload(HttpRequest& request);
  HttpResponse answer_save(const HttpRequest& request);
  // page_host_links.cpp
  HttpResponse answer_links(const HttpRequest& request);
  HttpResponse add_link(const HttpRequest& request);
  HttpResponse revoke_link(const HttpRequest& request);

  PageHostSettings settings_;
  Session& session_;
  Feed& feed_;
  LinkBook& links_;
  struct OpenPage {
    ParticipantId participant = ParticipantId::nobody;
    Visitor visitor;
    bool greeted = false;
  };
  std::mutex pages_mutex_;
  std::map<ViewerId, OpenPage> pages_;
  // The recording that was played last: its scene may have to be loaded, and making its frames steps it again, which
  // may take as long as it did.
  struct Played {
    std::string id;
    std::filesystem::file_time_type written{};
    std::uint32_t generation = 0;             // of the open scene
    std::shared_ptr<const ShownScene> scene;  // null if it is gone
    std::shared_ptr<const std::string> frames;
  };
  Played played(const std::string& id, const std::filesystem::path& stored);
  std::mutex played_mutex_;
  Played played_;
  // How the elastic parts of the open scene bend: computed once, kept as long as their pictures are.
  struct KeptBasis {
    std::weak_ptr<const PartPicture> picture;
    std::shared_ptr<const std::string> bytes;
  };
  std::mutex bases_mutex_;
  std::vector<KeptBasis> bases_;
  // The last lines of the shared session's chat, as messages, for pages that come later. The session's thread's.
  std::deque<std::string> chat_;
  std::uint32_t sequence_ = 0, near_sequence_ = 0;  // the session's thread's
};

}  // namespace cotouch
