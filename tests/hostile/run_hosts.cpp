#include "hostile/run.h"

#include <cotouch/part/part.h>
#include <cotouch/session/scene_file.h>
#include <cotouch/shapes/shapes.h>

#include <algorithm>
#include <stdexcept>
#include <thread>
#include <tuple>

namespace cotouch::hostile {
namespace {

namespace fs = std::filesystem;

constexpr double k_longest_case = 60, k_longest_end = 20;  // seconds; generous, because machines are shared
constexpr double k_undecided = 10;  // until a program that neither takes part nor ends is stopped
constexpr double k_look = 0.02;

std::shared_ptr<const Part> part_of(const TriangleMesh& mesh, bool bends) {
  PartSettings settings;
  settings.field.resolution = 16;
  settings.shell.points = 512;
  if (bends) {
    ElasticSettings& elastic = settings.elastic.emplace();
    elastic.material = material_named("rubber");
    elastic.tets.target_tets = 100;
    elastic.coordinates = 3;
    elastic.anchors.push_back(parse_anchor("x<-0.04"));
    elastic.domains = 2;
  }
  NoProgress quiet;
  return std::make_shared<const Part>(prepare_part(mesh, settings, quiet));
}

std::string last_line(const std::string& text) {
  const std::size_t end = text.find_last_not_of('\n');
  if (end == std::string::npos) return {};
  const std::size_t begin = text.rfind('\n', end);
  return text.substr(begin == std::string::npos ? 0 : begin + 1,
                     end + 1 - (begin == std::string::npos ? 0 : begin + 1));
}

bool has_control_characters(const std::string& text) {
  return std::any_of(text.begin(), text.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte < 0x20 && c != '\n') || byte == 0x7f;
  });
}

// How the program ended, and what it said.
void judge_end(const HostCase& one, const Victim& victim, bool interrupted, std::vector<std::string>& broken) {
  const Victim::End& end = *victim.end();
  if (end.signal != 0) broken.push_back("it was ended by signal " + std::to_string(end.signal));
  if (one.course == Course::fails && interrupted) broken.push_back("it did not end by itself");
  if ((one.course == Course::goes_on || one.course == Course::stays) && !interrupted)
    broken.push_back("it ended by itself, with code " + std::to_string(end.code));
  // Of a session that it was in: 0. Else: 130. Of some nobody says whether they end by themselves, maybe just before.
  const bool sound =
      interrupted ? end.code == 0 || end.code == 130 || (one.course == Course::any && end.code == 2) : end.code == 2;
  if (end.signal == 0 && !sound) broken.push_back("it ended with code " + std::to_string(end.code));
  if (one.course == Course::goes_on && victim.last("agreed") == nullptr) broken.push_back("it agreed on nothing");
  const std::string words = victim.words(), errors = victim.errors();
  if (words.find(one.words) == std::string::npos) broken.push_back("it did not say '" + one.words + "'");
  if (!interrupted && std::count(errors.begin(), errors.end(), '\n') != 1)
    broken.push_back("it did not end with one sentence");
  if (words.find("bad_alloc") != std::string::npos || words.find("std::") != std::string::npos ||
      words.find("vector") != std::string::npos)
    broken.push_back("what it says is not for people");
  if (has_control_characters(words)) broken.push_back("it printed control characters");
}

}  // namespace

void ThirdParty::look() {
  constexpr std::size_t k_headers = 28;
  for (;;) {
    const auto received = socket_.receive(std::chrono::nanoseconds(0));
    for (const UdpSocket::Received& datagram : received) {
      bytes_ += datagram.bytes.size() + k_headers;
      longest_ = std::max(longest_, datagram.bytes.size());
    }
    if (received.size() < UdpSocket::k_batch) return;
  }
}

fs::path save_small_scene(const fs::path& folder) {
  Scene scene;
  scene.name = "small";
  scene.drag = 20;
  const auto ball = part_of(make_sphere(0.02, 1), false), block = part_of(make_box({0.1, 0.04, 0.04}), true);
  for (std::uint32_t id = 1; id <= 3; ++id) {
    SceneBody& body = scene.bodies.emplace_back();
    body.id = id;
    body.name = id == 1 ? "block" : "ball";
    body.motion = id == 1 ? Motion::fixed : Motion::free;
    body.pose.position = {id == 3 ? 0.05 : 0, 0, id == 1 ? 0 : 0.05};
    body.parts.emplace_back();
    body.parts[0].name = body.name;
    body.parts[0].part = id == 1 ? block : ball;
  }
  return save_scene(scene, "small", folder / "small").parent_path();
}

std::vector<std::string> host_arguments(const fs::path& scene) {
  return {"host", scene.string(), "--headless", "--json", "--name", "Anna", "--udp-port", "0", "--patience", "15"};
}

Invite invite_of(Victim& host) {
  const double end = PeerNetwork::now() + k_longest_case;
  while (PeerNetwork::now() < end && host.is_alive()) {
    host.look();
    for (const Victim::Json& event : host.events())
      if (event["event"] == "sharing" && event.contains("invite"))
        return parse_invite(event["invite"].get<std::string>(), 0);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  throw std::runtime_error("the real host does not say how to join it: " + host.errors());
}

Gifts gifts_of_a_real_host(const fs::path& folder, const fs::path& scene) {
  Victim host(folder / "real-host", host_arguments(scene));
  Guest guest(invite_of(host), "Mallory", PeerSettings{});
  guest.want_files();
  const double end = PeerNetwork::now() + k_longest_case;
  while (!guest.is_member() && PeerNetwork::now() < end) guest.run();
  if (!guest.is_member()) throw std::runtime_error("the real host lets nobody in: " + host.words());
  guest.leave();
  return guest.gifts();
}

Verdict run_host_case(const HostCase& one, const Gifts& gifts, const fs::path& folder) {
  Verdict verdict;
  verdict.name = one.name;
  const double began = PeerNetwork::now();
  ThirdParty third_party;
  FalseHost host(gifts);
  host.patience = one.patience;
  one.prepare(host, third_party.address());
  std::vector<std::string> arguments{"join",   host.invite(), "--headless", "--json",
                                     "--name", "Ben",         "--patience", std::to_string(one.patience)};
  Victim victim(folder / one.name, arguments);
  double interrupted = -1, looked = 0;
  while (victim.is_alive()) {
    host.run();
    const double now = PeerNetwork::now();
    if (now < looked + k_look) continue;
    looked = now;
    third_party.look();
    verdict.memory = std::max(verdict.memory, victim.peak_memory());
    victim.look();
    if (interrupted >= 0) {
      if (now < interrupted + k_longest_end) continue;
      verdict.broken.push_back("it did not end when it was asked to");
      victim.kill();
      break;
    }
    const bool agrees = victim.last("agreed") != nullptr;
    const bool seen = one.course == Course::goes_on ? host.since_joined() > one.seconds && agrees
                      : one.course == Course::any
                          ? host.since_joined() > one.seconds || host.since_asked() > k_undecided
                      : one.course == Course::stays ? host.since_asked() > one.seconds + 0.3
                                                    : false;
    // What its user is to be told may take its time.
    const bool told = victim.words().find(one.words) != std::string::npos;
    if ((!seen || !told) && now < began + k_longest_case) continue;
    interrupted = now;
    victim.interrupt();
  }
  if (host.since_asked() < 0) verdict.broken.push_back("it never came to the host");
  third_party.look();
  verdict.seconds = PeerNetwork::now() - began;
  verdict.memory = std::max(verdict.memory, victim.end()->peak_memory);
  verdict.to_third_party = third_party.bytes();
  verdict.words = last_line(victim.words());
  if (verdict.broken.empty()) judge_end(one, victim, interrupted >= 0, verdict.broken);
  if (verdict.memory > k_most_memory)
    verdict.broken.push_back("it took " + std::to_string(verdict.memory >> 20U) + " MiB");
  if (verdict.to_third_party > one.to_third_party)
    verdict.broken.push_back("it sent " + std::to_string(verdict.to_third_party) +
                             " bytes to a third party, more than " + std::to_string(one.to_third_party));
  if (third_party.longest() > one.longest_there)
    verdict.broken.push_back("it sent datagrams of " + std::to_string(third_party.longest()) +
                             " bytes to a third party");
  for (const std::string& stray : victim.stray_files()) verdict.broken.push_back("it wrote " + stray);
  if (!verdict.broken.empty()) verdict.words = victim.words();
  return verdict;
}

}  // namespace cotouch::hostile
