// Texts to a page, as JSON (docs/viewer-protocol.md).
#pragma once

#include <cotouch/serve/link_book.h>
#include <cotouch/session/listener.h>
#include <cotouch/session/scene_library.h>
#include <cotouch/touch/recording.h>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace cotouch {

// `you` is the page that it is sent to. Only what its rights allow is offered.
std::string hello_message(const std::string& version, ParticipantId you, Rights rights, std::uint64_t upload_bytes);
std::string people_message(const std::vector<Participant>& people);
std::string scene_message(std::uint32_t generation, const std::string& name);

std::string hand_message(const HandEvent& event);
std::string devices_message(const std::vector<DeviceView>& devices);
double downward(const Scene& scene);  // gravity along -z, m/s^2
std::string gravity_message(double down);
std::string body_message(const SceneBody& body);
std::string job_message(const JobStatus& job);
std::string recording_message(bool active, double seconds);
std::string recordings_message(const std::vector<RecordingEntry>& entries);
std::string settings_message(const FeelSettings& feel);
std::string share_message(const SharingStatus& sharing);
std::string peers_message(const PeersView& view);
std::string network_message(const NetworkStatus& network);
std::string chat_message(const ChatLine& line);
std::string mark_message(const MarkView& mark);  // `unmark` if it was removed
std::string scenes_message();                    // the list of scenes has changed
std::string reply_message(std::int64_t id, bool ok, std::string_view reason, std::string_view code = {});
std::string error_message(std::string_view reason);

// Answers to requests. `yours` is the link of the one who asks, `pages` how many are open by each link.
std::string links_answer(const std::vector<PageLink>& links, const std::map<std::string, std::size_t>& pages,
                         const std::string& yours, const std::vector<std::string>& origins, UnixSeconds now);
std::string added_link_answer(const PageLink& link);  // with its token, whatever its rights
std::string hello_answer(const std::string& version);
std::string gallery_answer(const std::vector<SceneEntry>& entries);
std::string scene_answer(const SessionSnapshot& now);
std::string recordings_answer(const std::vector<RecordingEntry>& entries);
std::string events_answer(const Recording& recording);  // who was in it, and what they did besides moving hands
std::string upload_answer(std::uint32_t job);
std::string saved_answer(const std::string& file);

}  // namespace cotouch
