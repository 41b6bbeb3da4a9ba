// A shared session as pages meet it: what they ask for, and what they are told.
#include <cotouch/serve/messages.h>
#include <cotouch/serve/page_command.h>

#include <gtest/gtest.h>

#include <future>
#include <limits>

#include "serve/serve_fixture.h"
#include "support/temporary_folder.h"

namespace cotouch::this_file {
namespace {

using namespace testing_serve;

std::optional<SessionCommand> command_of(const Json& json, std::string& why) {
  const ParsedCommand parsed = parse_command(json.dump());
  EXPECT_EQ(parsed.broken_rule, "") << json;
  return to_session_command(parsed.command, why);
}

template <class Command>
Command understood(const Json& json) {
  std::string why;
  const auto command = command_of(json, why);
  if (!command || !std::holds_alternative<Command>(*command)) {
    ADD_FAILURE() << json << " " << why;
    return {};
  }
  return std::get<Command>(*command);
}

void expect_refused(const Json& json) {
  std::string why;
  EXPECT_FALSE(command_of(json, why)) << json;
  EXPECT_TRUE(why.ends_with('.')) << json << " " << why;
}

TEST(SharingCommand, NamesAreCleanedAndInvitationsPassedOn) {
  EXPECT_EQ(understood<StartSharing>({{"type", "share_start"}, {"name", "  Ann\u0007 "}}).name, "Ann");
  EXPECT_EQ(understood<StartSharing>({{"type", "share_start"}, {"name", std::string(30, 'x')}}).name.size(), 24U);
  EXPECT_EQ(understood<StartSharing>({{"type", "share_start"}}).name, "");
  const auto join = understood<JoinSharing>({{"type", "share_join"}, {"invite", "AbC-1_2"}, {"name", " Bea"}});
  EXPECT_EQ(join.invite, "AbC-1_2");
  EXPECT_EQ(join.name, "Bea");
  EXPECT_FALSE(join.may_lose_changes);
  EXPECT_TRUE(
      understood<JoinSharing>({{"type", "share_join"}, {"invite", "A"}, {"lose_changes", true}}).may_lose_changes);
  const std::string longest(1024, 'i');
  EXPECT_EQ(understood<JoinSharing>({{"type", "share_join"}, {"invite", longest}}).invite, longest);
  understood<LeaveSharing>({{"type", "share_leave"}});

  expect_refused({{"type", "share_start"}, {"name", 5}});
  expect_refused({{"type", "share_join"}});
  expect_refused({{"type", "share_join"}, {"invite", ""}});
  expect_refused({{"type", "share_join"}, {"invite", longest + "i"}});
  expect_refused({{"type", "share_join"}, {"invite", {"AbC"}}});
}

TEST(SharingCommand, ANetworkIsAProfileOrNumbersWithinBounds) {
  const auto named = understood<SetNetwork>({{"type", "network"}, {"profile", "network-1"}});
  EXPECT_EQ(named.profile, "network-1");
  EXPECT_FALSE(named.round_trip || named.jitter || named.loss);
  const auto most =
      understood<SetNetwork>({{"type", "network"}, {"delay_ms", 2000}, {"jitter_ms", 1000}, {"loss", 0.9}});
  EXPECT_FALSE(most.profile);
  EXPECT_EQ(most.round_trip, 2.0);  // seconds
  EXPECT_EQ(most.jitter, 1.0);
  EXPECT_EQ(most.loss, 0.9);
  const auto least = understood<SetNetwork>({{"type", "network"}, {"delay_ms", 0}, {"jitter_ms", 0}, {"loss", 0}});
  EXPECT_EQ(least.round_trip, 0.0);
  EXPECT_EQ(least.jitter, 0.0);
  EXPECT_EQ(least.loss, 0.0);
  const auto one = understood<SetNetwork>({{"type", "network"}, {"delay_ms", 125}});
  EXPECT_EQ(one.round_trip, 0.125);
  EXPECT_FALSE(one.profile || one.jitter || one.loss);

  expect_refused({{"type", "network"}});
  expect_refused({{"type", "network"}, {"profile", ""}});
  expect_refused({{"type", "network"}, {"profile", "../lan"}});
  expect_refused({{"type", "network"}, {"profile", "lan"}, {"loss", 0.1}});
  expect_refused({{"type", "network"}, {"profile", 1}});
  for (const char* key : {"delay_ms", "jitter_ms", "loss"}) {
    expect_refused({{"type", "network"}, {key, -0.001}});
    expect_refused({{"type", "network"}, {key, "1"}});
  }
  expect_refused({{"type", "network"}, {"delay_ms", 2000.1}});
  expect_refused({{"type", "network"}, {"jitter_ms", 1000.1}});
  expect_refused({{"type", "network"}, {"loss", 0.901}});

  EXPECT_FALSE(understood<SetSynchronised>({{"type", "synchronise"}, {"on", false}}).on);
  EXPECT_TRUE(understood<SetSynchronised>({{"type", "synchronise"}, {"on", true}}).on);
  expect_refused({{"type", "synchronise"}});
  expect_refused({{"type", "synchronise"}, {"on", 1}});
}

TEST(SharingCommand, ChatIsOneCleanLineOfAtMost500Bytes) {
  const auto said = [](const std::string& text) { return understood<Say>({{"type", "chat"}, {"text", text}}).text; };
  EXPECT_EQ(said("  to the left\n\u001b[2J\u202e "), "to the left[2J");
  EXPECT_EQ(said("<b>ä→</b>"), "<b>ä→</b>");
  EXPECT_EQ(said(std::string(500, 'x')), std::string(500, 'x'));
  EXPECT_EQ(said(std::string(500, 'x') + " \n"), std::string(500, 'x'));  // counted as it is sent on
  expect_refused({{"type", "chat"}, {"text", std::string(501, 'x')}});
  std::string two_bytes_each;
  for (int i = 0; i < 251; ++i) two_bytes_each += "ä";
  expect_refused({{"type", "chat"}, {"text", two_bytes_each}});
  for (const Json& nothing : {Json(""), Json(" \n\t "), Json(nullptr), Json(5)})
    expect_refused({{"type", "chat"}, {"text", nothing}});
  expect_refused({{"type", "chat"}});
}

TEST(SharingCommand, AMarkHasABodyAndAPoint) {
  const auto mark = understood<PlaceMark>({{"type", "mark"}, {"body", 2}, {"point", {0.01, -0.02, 0.03}}});
  EXPECT_EQ(mark.body, 2U);
  EXPECT_EQ(mark.point, (Vec3d{0.01, -0.02, 0.03}));
  EXPECT_EQ(understood<RemoveMark>({{"type", "remove_mark"}, {"mark", 7}}).mark, 7U);

  expect_refused({{"type", "mark"}, {"body", 2}});
  expect_refused({{"type", "mark"}, {"point", {0, 0, 0}}});
  expect_refused({{"type", "mark"}, {"body", -2}, {"point", {0, 0, 0}}});
  expect_refused({{"type", "mark"}, {"body", 2}, {"point", {0, 0}}});
  expect_refused({{"type", "remove_mark"}});
  expect_refused({{"type", "remove_mark"}, {"mark", 1.5}});
}

TEST(SharingMessage, OnlyTheHostShowsAnInvitation) {
  using State = SharingStatus::State;
  SharingStatus sharing{State::hosting, "AbC-1_2", "fox-12", "ready", 0.25, "Hello."};
  EXPECT_EQ(Json::parse(share_message(sharing)), (Json{{"type", "share"},
                                                       {"state", "hosting"},
                                                       {"invite", "AbC-1_2"},
                                                       {"session", "fox-12"},
                                                       {"stage", "ready"},
                                                       {"progress", 0.25},
                                                       {"reason", "Hello."}}));
  const std::pair<State, const char*> others[] = {{State::off, "off"},         {State::starting, "starting"},
                                                  {State::joining, "joining"}, {State::joined, "joined"},
                                                  {State::cut_off, "cut_off"}, {State::failed, "failed"}};
  for (const auto& [state, name] : others) {
    sharing.state = state;
    const Json message = Json::parse(share_message(sharing));
    EXPECT_EQ(message["state"], name);
    EXPECT_EQ(message["invite"], "") << name;
  }
}

TEST(SharingMessage, PeersAreToldInMillisecondsMillimetresAndDegrees) {
  PeersView view;
  view.tick = 5000;
  view.agreed = 4988;
  view.branch = true;
  view.window = 128;
  view.synchronised = false;
  view.waiting_for = {1, 3};
  view.rollback_ticks = 12;
  view.bytes_in = 9000.5;
  view.bytes_out = 8000;
  view.divergence = 0.000125;
  view.divergence_angle = 3.14159265358979323846 / 4;
  PeerView peer;
  peer.peer = 1;
  peer.participant = ParticipantId{9};
  peer.name = "Anna";
  peer.color = "#9c36b5";
  peer.observer = true;
  peer.round_trip = 0.125;
  peer.jitter = 0.0625;
  peer.loss = 0.25;
  peer.lead = -0.5;
  peer.path = PeerView::Path::relayed;
  peer.state = PeerView::State::silent;
  peer.fingerprint = "1f6a 03bd";
  view.peers.push_back(peer);
  const Json message = Json::parse(peers_message(view));
  EXPECT_EQ(message["type"], "peers");
  EXPECT_EQ(message["tick"], 5000);
  EXPECT_EQ(message["agreed"], 4988);
  EXPECT_EQ(message["branch"], true);
  EXPECT_EQ(message["window"], 128);
  EXPECT_EQ(message["synchronised"], false);
  EXPECT_EQ(message["waiting_for"], Json::array({1, 3}));
  EXPECT_EQ(message["rollback_ticks"], 12);
  EXPECT_EQ(message["bytes_in"], 9000.5);
  EXPECT_EQ(message["bytes_out"], 8000);
  EXPECT_DOUBLE_EQ(message["divergence_mm"].get<double>(), 0.125);
  EXPECT_DOUBLE_EQ(message["divergence_deg"].get<double>(), 45);
  ASSERT_EQ(message["peers"].size(), 1U);
  EXPECT_EQ(message["peers"][0], (Json{{"peer", 1},
                                       {"participant", 9},
                                       {"name", "Anna"},
                                       {"color", "#9c36b5"},
                                       {"self", false},
                                       {"observer", true},
                                       {"latency_ms", 125.0},
                                       {"jitter_ms", 62.5},
                                       {"loss", 0.25},
                                       {"lead_ms", -500.0},
                                       {"path", "relayed"},
                                       {"state", "silent"},
                                       {"fingerprint", "1f6a 03bd"}}));
}

TEST(SharingMessage, NumbersThatAreNotKnownAreLeftOut) {
  const double unknown = std::numeric_limits<double>::quiet_NaN();
  PeersView view;
  view.divergence = view.divergence_angle = unknown;
  PeerView peer;
  peer.self = true;
  peer.path = PeerView::Path::self;
  peer.state = PeerView::State::leaving;
  peer.round_trip = peer.jitter = peer.loss = peer.lead = unknown;
  view.peers = {peer};
  const Json message = Json::parse(peers_message(view));
  const Json& told = message["peers"][0];
  for (const char* key : {"divergence_mm", "divergence_deg"}) EXPECT_FALSE(message.contains(key)) << key;
  for (const char* key : {"latency_ms", "jitter_ms", "loss", "lead_ms"}) EXPECT_FALSE(told.contains(key)) << key;
  EXPECT_EQ(told["self"], true);
  EXPECT_EQ(told["path"], "self");
  EXPECT_EQ(told["state"], "leaving");
  EXPECT_EQ(message["waiting_for"], Json::array());
}

TEST(SharingMessage, NetworkChatAndMarks) {
  EXPECT_EQ(Json::parse(network_message({"custom", {"lan", "awful"}, 0.125, 0.0625, 0.25, true})),
            (Json{{"type", "network"},
                  {"profile", "custom"},
                  {"profiles", {"lan", "awful"}},
                  {"delay_ms", 125.0},
                  {"jitter_ms", 62.5},
                  {"loss", 0.25},
                  {"synchronised", true}}));
  EXPECT_EQ(Json::parse(network_message({}))["profiles"], Json::array());
  EXPECT_EQ(
      Json::parse(chat_message({"Anna", "#9c36b5", "\"left\" \xff", 12.5})),
      (Json{{"type", "chat"}, {"name", "Anna"}, {"color", "#9c36b5"}, {"text", "\"left\" \ufffd"}, {"time", 12.5}}));
  MarkView mark{7, false, 2, {0.5, 0, -0.25}, "Anna", "#9c36b5"};
  EXPECT_EQ(Json::parse(mark_message(mark)), (Json{{"type", "mark"},
                                                   {"mark", 7},
                                                   {"body", 2},
                                                   {"point", {0.5, 0.0, -0.25}},
                                                   {"name", "Anna"},
                                                   {"color", "#9c36b5"}}));
  mark.removed = true;
  EXPECT_EQ(Json::parse(mark_message(mark)), (Json{{"type", "unmark"}, {"mark", 7}}));
}

TEST(SharingMessage, APeerIsOneOfThePeople) {
  const Json people =
      Json::parse(people_message({{ParticipantId{4}, ParticipantKind::page, "Ann", "#112233"},
                                  {ParticipantId{9}, ParticipantKind::peer, "Bea", "#445566"}}))["people"];
  EXPECT_EQ(people[0]["kind"], "page");
  EXPECT_EQ(people[1], (Json{{"participant", 9}, {"name", "Bea"}, {"color", "#445566"}, {"kind", "peer"}}));
}

class SharingPages : public ::testing::Test {
 protected:
  SharingPages() {
    ServerSettings settings;
    settings.limits.viewer_send_buffer = 4096;
    server_ = std::make_unique<HttpServer>(settings);
    SessionSettings session;
    session.recordings = folder_ / "recordings";
    session_ = std::make_unique<Session>(session, library_);
    host_ = std::make_unique<PageHost>(PageHostSettings{"test", 1U << 20, {}, nullptr}, *session_, *server_, links_);
    start_with_balls(*session_);
    server_->start(*host_, *host_, links_);
  }
  ~SharingPages() override {
    server_->stop();
    session_->stop();
  }
  std::uint16_t port() const { return server_->port(); }

  // As the session tells it: on its thread.
  void tell(const std::function<void(SessionListener&)>& what) {
    std::promise<void> told;
    session_->command(ParticipantId::nobody, LeaveSharing{}, [&](const CommandResult&) {
      what(*host_);
      told.set_value();
    });
    told.get_future().wait();
  }

  TemporaryFolder folder_;
  TestLibrary library_{folder_ / "scenes"};
  LinkBook links_{k_token};
  std::unique_ptr<HttpServer> server_;
  std::unique_ptr<Session> session_;
  std::unique_ptr<PageHost> host_;
};

TEST_F(SharingPages, APageThatComesIsToldHowThingsStand) {
  Page page(port());
  const Json hello = page.read_text("hello");
  EXPECT_NE(std::find(hello["features"].begin(), hello["features"].end(), "share"), hello["features"].end());
  EXPECT_EQ(page.read_text("share")["state"], "off");
  EXPECT_TRUE(page.read_text("network")["profiles"].is_array());
  page.read_text("people");

  // In a session that is shared, with as much to tell as there can be.
  for (int i = 0; i <= 100; ++i)
    tell([&](SessionListener& host) { host.said({"Anna", "#9c36b5", std::to_string(i), 0.5 * i}); });
  for (int i = 0; i <= 100; ++i) EXPECT_EQ(page.read_text("chat")["text"], std::to_string(i));
  SessionSnapshot now = session_->snapshot();
  now.sharing.state = SharingStatus::State::hosting;
  now.sharing.invite = "AbC-1_2";
  now.network.profile = "lan";
  for (std::uint32_t i = 1; i <= 64; ++i) now.marks.push_back({i, false, 2, {0, 0, 0.01}, "Anna", "#9c36b5"});
  tell([&](SessionListener& host) {
    host.joined({ParticipantId{hello["participant"].get<std::uint32_t>()}, ParticipantKind::page, "", ""}, now);
  });
  EXPECT_EQ(page.read_text("share")["invite"], "AbC-1_2");
  EXPECT_EQ(page.read_text("network")["profile"], "lan");
  for (std::uint32_t i = 1; i <= 64; ++i) EXPECT_EQ(page.read_text("mark")["mark"], i);
  for (int i = 1; i <= 100; ++i) EXPECT_EQ(page.read_text("chat")["text"], std::to_string(i));  // the last hundred
}

TEST_F(SharingPages, WhatWasSaidIsForgottenWithTheSession) {
  using State = SharingStatus::State;
  for (const State end : {State::off, State::failed}) {
    tell([](SessionListener& host) { host.said({"Anna", "#9c36b5", "old", 1}); });
    tell([&](SessionListener& host) { host.sharing_changed({end, {}, {}, {}, 0, {}}); });
    tell([](SessionListener& host) { host.sharing_changed({State::hosting, "AbC", {}, {}, 0, {}}); });
    tell([](SessionListener& host) { host.said({"Anna", "#9c36b5", "new", 1}); });
    tell([](SessionListener& host) { host.sharing_changed({State::cut_off, {}, {}, {}, 0, {}}); });
    Page page(port());
    EXPECT_EQ(page.read_text("chat")["text"], "new");
  }
}

TEST_F(SharingPages, EveryPageIsToldWhatChanges) {
  Page first(port()), second(port());
  for (Page* page : {&first, &second}) page->read_text("people");
  tell([](SessionListener& host) {
    host.sharing_changed({SharingStatus::State::joining, {}, "fox-12", "fetching the scene", 0.5, {}});
    PeersView peers;
    peers.tick = 7;
    host.peers_changed(peers);
    host.network_changed({"awful", {"lan", "awful"}, 0.4, 0.15, 0.3, false});
    host.mark_changed({3, false, 2, {}, "Anna", "#9c36b5"});
    host.said({"Anna", "#9c36b5", "here", 2});
    host.mark_changed({3, true, 2, {}, "Anna", "#9c36b5"});
  });
  for (Page* page : {&first, &second}) {
    EXPECT_EQ(page->read_text("share")["stage"], "fetching the scene");
    EXPECT_EQ(page->read_text("peers")["tick"], 7);
    EXPECT_EQ(page->read_text("network")["synchronised"], false);
    EXPECT_EQ(page->read_text("mark")["mark"], 3);
    EXPECT_EQ(page->read_text("chat")["text"], "here");
    EXPECT_EQ(page->read_text("unmark")["mark"], 3);
  }
}

TEST_F(SharingPages, ASlowPageMissesPeersAndIsNotClosedForIt) {
  Page slow(port(), {.receive_buffer = 4096});
  slow.read_text("people");
  PeersView peers;
  peers.peers.resize(16);
  for (PeerView& peer : peers.peers) peer.fingerprint = std::string(2000, 'f');
  constexpr Tick k_last = 1000;
  int read = 0;
  Tick tick = 0;
  // The newest of them, in its place among the other texts. False: what was said after them.
  const auto reads_on = [&] {
    const Page::Message message = slow.read();
    if (!message.text) return true;
    const Json json = Json::parse(message.bytes);
    if (json["type"] != "peers") return json["type"] != "chat";
    ++read;
    EXPECT_GT(json["tick"].get<Tick>(), tick);
    tick = json["tick"];
    return true;
  };
  // Now and then, because a page that reads nothing for two seconds is closed.
  for (peers.tick = 1; peers.tick <= k_last; ++peers.tick) {
    tell([&](SessionListener& host) { host.peers_changed(peers); });
    if (peers.tick % 20 == 0) reads_on();
  }
  tell([](SessionListener& host) { host.said({"Anna", "#9c36b5", "after that", 1}); });
  while (reads_on()) {
  }
  EXPECT_EQ(tick, k_last);
  EXPECT_LT(read, 500);
}

TEST_F(SharingPages, APageThatReadsNothingIsClosedForOtherTexts) {
  Page deaf(port(), {.receive_buffer = 4096});
  deaf.read_text("people");
  // No longer than the server listens to it: who then does not hear soon why it was closed is hung up on.
  int said = 0;
  for (; said < 2000 && server_->demand().viewers > 0; ++said)
    tell([&](SessionListener& host) { host.said({"Anna", "#9c36b5", std::string(500, 'x'), 1.0 * said}); });
  EXPECT_GT(said, 256);  // as many may wait
  EXPECT_EQ(deaf.closed().code, 4003U);
}

TEST_F(SharingPages, CommandsReachTheSessionAndAreAnswered) {
  Page page(port());
  page.read_text("people");
  // Nothing is shared, so that each has its sentence.
  for (const Json& command :
       {Json{{"type", "chat"}, {"text", "hello"}}, Json{{"type", "mark"}, {"body", 2}, {"point", {0, 0, 0}}},
        Json{{"type", "remove_mark"}, {"mark", 1}}}) {
    Json with_id = command;
    with_id["id"] = 1;
    page.send(with_id);
    const Json reply = page.read_text("reply");
    EXPECT_EQ(reply["ok"], false) << command;
    EXPECT_FALSE(reply["reason"].get<std::string>().empty()) << command;
  }
  page.send({{"type", "chat"}, {"text", ""}});
  EXPECT_FALSE(page.read_text("error")["reason"].get<std::string>().empty());
}

}  // namespace
}  // namespace cotouch::this_file
