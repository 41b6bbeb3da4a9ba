// Attacks by uploads: files that are none, and one that takes for ever to prepare.
#include <cotouch/experiment/siege_attack.h>

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <numbers>
#include <thread>

namespace cotouch {
namespace {

std::string upload(const AttackTarget& target, std::string_view name, std::uint64_t bytes) {
  return target.request("POST", fmt::format("/api/upload?role=static&name={}", name),
                        fmt::format("Content-Length: {}\r\n", bytes));
}

// One round polygon in a plane: cut into triangles from one corner, it is slivers that all meet there.
std::string disc_of(std::uint32_t corners) {
  constexpr double k_radius = 50;  // mm
  std::string file;
  for (std::uint32_t i = 0; i < corners; ++i) {
    const double angle = 2 * std::numbers::pi * i / corners;
    file += fmt::format("v {:.4f} {:.4f} 0\n", k_radius * std::cos(angle), k_radius * std::sin(angle));
  }
  file += 'f';
  for (std::uint32_t i = 1; i <= corners; ++i) file += fmt::format(" {}", i);
  return file += '\n';
}

// As the page's button does.
void cancel_job(const std::string& job, const AttackTarget& target, const AttackTally& count) {
  const auto page = target.client(count);
  if (page->become_viewer(target.key)) page->send_text(fmt::format(R"({{"type":"cancel_job","job":{},"id":1}})", job));
  page->receive();
}

}  // namespace

// Files that are announced and then come slowly, are too long, or are no files.
AttackTally false_uploads(const AttackTarget& target) {
  using std::chrono::milliseconds;
  AttackTally count;
  RudeCrowd crowd;
  while (target.goes_on(count)) {
    if (crowd.size() == 16) crowd.erase(crowd.begin());
    crowd.push_back(target.client(count));
    crowd.back()->send(upload(target, "part.stl", 200U << 20), milliseconds(5));
    crowd.back()->send(std::string(64U << 10, 's'), milliseconds(5));
    const auto huge = target.client(count), rubbish = target.client(count);
    huge->send(upload(target, "part.stl", std::uint64_t{1} << 50), milliseconds(5));
    rubbish->send(upload(target, "part.stl", 20) + "solid rubbish facet!", milliseconds(5));
    count.tried += 3;
    count.refuse_if(RudeClient::is_refusal(crowd.back()->receive(milliseconds(20))));
    count.refuse_if(RudeClient::is_refusal(huge->receive(milliseconds(20))));
    count.refuse_if(RudeClient::is_refusal(rubbish->receive(milliseconds(20))));
  }
  return count;
}

// Every other one is cancelled while it is being prepared.
AttackTally endless_polygons(const AttackTarget& target) {
  using std::chrono::milliseconds;
  AttackTally count;
  const std::string file = disc_of(target.corners);
  while (target.goes_on(count)) {
    const auto client = target.client(count);
    std::string answer;
    if (client->send(upload(target, "disc.obj", file.size()) + file)) answer = client->receive(milliseconds(5000));
    ++count.tried;
    count.refuse_if(answer.empty() || RudeClient::is_refusal(answer));
    std::this_thread::sleep_for(milliseconds(500));
    const std::string job = RudeClient::number_in(answer, "job");
    if (count.tried % 2 == 0 && !job.empty()) cancel_job(job, target, count);
    std::this_thread::sleep_for(milliseconds(500));
  }
  return count;
}

}  // namespace cotouch
