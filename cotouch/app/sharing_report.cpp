#include <cotouch/app/qr_code.h>
#include <cotouch/app/say.h>
#include <cotouch/app/sharing_report.h>
#include <cotouch/base/hash.h>

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <utility>

namespace cotouch {
namespace {

using Json = nlohmann::ordered_json;
using State = SharingStatus::State;

const char* name_of(State state) {
  switch (state) {
    case State::off: return "off";
    case State::starting: return "starting";
    case State::hosting: return "hosting";
    case State::joining: return "joining";
    case State::joined: return "joined";
    case State::cut_off: return "cut_off";
    case State::failed: return "failed";
  }
  return "";
}

// None of these throws if nobody reads the output any more, as fmt would: the session is still to be left in order.
void print_now(const std::string& text) {
  std::fputs(text.c_str(), stdout);
  std::fflush(stdout);
}

void print(const Json& json) {
  print_now(json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n");
}

void say_now(const std::string& text) {
  say(text);
  std::fflush(stdout);
}

Json at(const char* event, const AgreedTick& now) {
  Json json{{"event", event}, {"tick", now.tick}, {"hash", hex(now.hash)}};
  if (now.branch != 0) json["branch"] = hex(now.branch);
  return json;
}

bool is_among(const SharedPerson& person, const std::vector<SharedPerson>& people) {
  return std::any_of(people.begin(), people.end(), [&](const SharedPerson& other) {
    return other.member == person.member && other.fingerprint == person.fingerprint;
  });
}

}  // namespace

void SharingReport::page(const std::string& address) {
  if (form_.json) return print({{"event", "page"}, {"address", address}});
  print_now("Ctrl-C stops. Open:\n" + address + "\n");
}

void SharingReport::show_invite() {
  shown_invite_ = status_.invite;
  if (form_.qr) print_now(qr_code(status_.invite));
  print_now("Others take part with\n  cotouch join '" + status_.invite + "'\n");
  if (form_.udp_port != 0) say_now(fmt::format("This machine is reached at UDP port {}.", form_.udp_port));
}

void SharingReport::sharing(const SharingStatus& status) {
  const State before = status_.state;
  status_ = status;
  was_told_ = true;
  if (status.state == State::failed) failure_ = status.reason;
  const bool shared = status.state == State::hosting || status.state == State::joined;
  const bool first = shared && !was_shared_;
  was_shared_ = was_shared_ || shared;
  if (form_.json) {
    Json json{{"event", "sharing"}, {"state", name_of(status.state)}, {"session", status.session}};
    if (!status.invite.empty()) json["invite"] = status.invite;
    if (status.state == State::hosting && form_.udp_port != 0) json["udp_port"] = form_.udp_port;
    json["stage"] = status.stage;
    json["progress"] = status.progress;
    json["reason"] = status.reason;
    return print(json);
  }
  // Ctrl-C is looked for by whoever waits; the bar would throw.
  if (status.state == State::joining && !status.stage.empty() && !interrupted())
    bar_.update(status.stage, status.progress);
  else
    bar_.clear();
  if (status.state == State::hosting && shown_invite_ != status.invite) show_invite();
  if (status.state == State::joined && before != State::cut_off)
    say_now(first ? "Joined the session " + status.session + "." : "Joined again.");
  if (status.state == State::cut_off && before != State::cut_off)
    say_now("Most of the others are not heard; waiting for them.");
  if (shared && before == State::cut_off) say_now("Going on.");
  if (status.state == State::off && was_shared_ && before != State::off) say_now("No longer shared.");
}

void SharingReport::people(const std::vector<SharedPerson>& people) {
  const std::vector<SharedPerson> before = std::exchange(people_, people);
  if (form_.json && people.empty()) return;  // it is over, as "sharing" says
  if (form_.json) {
    Json list = Json::array();
    for (const SharedPerson& person : people)
      list.push_back({{"member", person.member},
                      {"name", person.name},
                      {"self", person.self},
                      {"observer", person.observer},
                      {"fingerprint", person.fingerprint}});
    return print({{"event", "people"}, {"people", std::move(list)}});
  }
  for (const SharedPerson& person : people)
    if (!person.self && !is_among(person, before))
      say_now(person.name + (person.observer ? " is here and observes." : " is here."));
  for (const SharedPerson& person : before)
    if (!person.self && !is_among(person, people)) say_now(person.name + " is gone.");
}

void SharingReport::said(MemberId by, const std::string& text, double seconds) {
  const auto found =
      std::find_if(people_.begin(), people_.end(), [&](const SharedPerson& person) { return person.member == by; });
  const std::string name = found == people_.end() ? "somebody" : found->name;
  if (form_.json)
    return print({{"event", "said"}, {"member", by}, {"name", name}, {"text", text}, {"seconds", seconds}});
  say_now(name + ": " + text);
}

void SharingReport::problem(const std::string& sentence) {
  if (form_.json) return print({{"event", "problem"}, {"text", sentence}});
  bar_.clear();
  complain(sentence);
}

void SharingReport::agreed(const AgreedTick& now) {
  const bool newly = now.task_done && !docked_;
  docked_ = now.task_done;
  if (form_.json && wants(now)) print(at(now.branch == 0 ? "agreed" : "branch", now));
  if (!newly) return;
  if (!form_.json) return say_now(fmt::format("The task is done, after {:.1f} s.", now.task_seconds));
  Json json = at("docked", now);
  json["seconds"] = now.task_seconds;
  print(json);
}

void SharingReport::end(const AgreedTick& last) {
  bar_.clear();
  if (form_.json) {
    Json json = at("end", last);
    json["docked"] = last.task_done;
    return print(json);
  }
  say("\n");
  if (last.tick > 0)
    say(fmt::format("All {}agreed up to tick {}, on the state {}.",
                    last.branch == 0 ? "" : "of this part, which went on without the larger one, ", last.tick,
                    hex(last.hash)));
  say_now("Stopped.");
}

void SharingInbox::post(Item item) {
  const std::scoped_lock lock(mutex_);
  items_.push_back(std::move(item));
}

void SharingInbox::deliver(SharingReport& report) {
  std::vector<Item> items;
  {
    const std::scoped_lock lock(mutex_);
    items.swap(items_);
  }
  for (const Item& item : items) item(report);
}

}  // namespace cotouch
