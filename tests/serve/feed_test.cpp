// Feeds: what pages say and hear over a WebSocket, honest ones and others.
#include <chrono>
#include <thread>

#include "serve/server_fixture.h"

namespace cotouch::this_file {
namespace {

using namespace testing_serve;
using Feed = Server;

TEST_F(Feed, ClosesAFeedOfGarbageWithTheRuleItBreaks) {
  start();
  const auto close_code = [&](const std::function<void(Page&)>& misbehave) {
    Page page(port());
    page.read_text("hello");
    misbehave(page);
    return page.closed();
  };
  const auto short_frame = close_code([](Page& page) { page.send_binary("CT"); });
  EXPECT_EQ(short_frame.code, 4000U);
  EXPECT_NE(short_frame.reason.find("16 bytes"), std::string::npos);
  EXPECT_EQ(close_code([](Page& page) { page.send_text("not json"); }).code, 4000U);
  const auto long_text = close_code([](Page& page) { page.send_text(std::string(65536, ' ')); });
  EXPECT_EQ(long_text.code, 4000U);
  EXPECT_NE(long_text.reason.find("4096"), std::string::npos) << long_text.reason;
  EXPECT_EQ(close_code([](Page& page) { page.send_text(std::string(65537, ' ')); }).code, 1009U);
  // The server reads on until the page has heard why.
  for (const std::size_t bytes : {100'000U, 1'000'000U})
    EXPECT_EQ(close_code([&](Page& page) { page.send_binary(std::string(bytes, 'x')); }).code, 1009U) << bytes;
  EXPECT_EQ(close_code([](Page& page) { page.send_binary(hand_input(1, 1, {1000, 0, 0})); }).code, 4000U);
  // All that left no trace.
  EXPECT_TRUE(eventually([&] { return server_->demand().viewers == 0; }));
  EXPECT_EQ(get("/").status, 200U);
}

TEST_F(Feed, UnderstandsAMessageThatArrivesInPieces) {
  start();
  Page page(port());
  page.read_text("hello");
  const std::string command = R"({"type":"view","id":7,"fps":20,)" + std::string(3000, ' ') + R"("near":false})";
  page.send_piece(command.substr(0, 20), false);
  page.ping();
  page.send_piece(command.substr(20, 2000), false);
  page.send_piece(command.substr(2020), true);
  const Json reply = page.read_text("reply");
  EXPECT_EQ(reply["id"], 7);
  EXPECT_EQ(reply["ok"], true);
}

// Pieces that hold nothing never become a message, and pings in between keep the connection alive.
TEST_F(Feed, ClosesAFeedWhoseMessageNeverEnds) {
  ServerLimits limits;
  limits.ping_seconds = 0.1;
  limits.message_seconds = 0.5;
  start(limits);
  for (const char* first : {"{", ""}) {
    Page page(port());
    page.read_text("hello");
    page.send_piece(first, false);
    // What is sent after the end is lost, and so may be the reason; then the server has forgotten the page.
    bool gone = false;
    for (int i = 0; i < 200 && !gone; ++i) {
      try {
        page.send_piece("", false);
        page.ping();
      } catch (const ConnectionLost&) {
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      gone = server_->demand().viewers == 0;
    }
    ASSERT_TRUE(gone) << '"' << first << '"';
    const Page::Closed end = page.closed();
    EXPECT_EQ(end.code, 4000U);
    EXPECT_NE(end.reason.find("never ended"), std::string::npos) << end.reason;
  }
}

// The same limits do not disturb who says little, and that in one go with answers to pings.
TEST_F(Feed, LeavesAFeedAloneThatOnlyAnswersPings) {
  ServerLimits limits;
  limits.ping_seconds = 0.05;
  limits.message_seconds = 0.1;
  start(limits);
  Page page(port());
  page.read_text("hello");
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(1);
  for (int i = 0; std::chrono::steady_clock::now() < end; ++i) {
    page.read_state();
    if (i % 10 == 0) page.ping();
    if (i % 20 == 0) page.send({{"type", "view"}, {"fps", 60}});
  }
  EXPECT_EQ(server_->demand().viewers, 1U);
}

// It speaks all the while, so that only what waits for it tells.
TEST_F(Feed, GivesUpAFeedThatTakesNothing) {
  ServerLimits limits;
  limits.viewer_send_buffer = 4096;
  limits.ping_seconds = 0.1;
  limits.silent_seconds = 1;
  start(limits);
  Page deaf(port(), {.receive_buffer = 4096});
  deaf.read_text("hello");
  EXPECT_TRUE(eventually([&] {
    try {
      deaf.send({{"type", "view"}, {"near", true}, {"traversed", true}});
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    } catch (const ConnectionLost&) {
    }
    return server_->demand().viewers == 0;
  }));
}

// A machine that was switched off: there is room for what is sent to it, but no ping is answered.
TEST_F(Feed, GivesUpAFeedThatHasFallenSilent) {
  ServerLimits limits;
  limits.viewer_send_buffer = 4 << 20;
  limits.ping_seconds = 0.1;
  limits.silent_seconds = 0.5;
  start(limits);
  Page silent(port(), {.receive_buffer = 1 << 20});
  silent.read_text("hello");
  silent.send({{"type", "view"}, {"fps", 1}});
  EXPECT_TRUE(eventually([&] { return server_->demand().viewers == 0; }));
}

// Whoever reads slowly is told how things stand, however often others have changed them meanwhile.
TEST_F(Feed, DoesNotCloseASlowPageBecauseOthersChangeThingsFast) {
  ServerLimits limits;
  limits.viewer_send_buffer = 4096;
  limits.messages_per_second = 5000;
  limits.silent_seconds = 600;  // it is not that it reads nothing meanwhile
  start(limits);
  Page slow(port(), {.receive_buffer = 4096});
  slow.read_text("hello");
  Page quick(port());
  quick.read_text("hello");
  for (int i = 1; i <= 1200; ++i) {
    quick.send({{"type", "settings"}, {"contact_stiffness", 20'000 + i}, {"id", i}});
    while (quick.read_text("reply")["id"] != i) {
    }
  }
  for (;;)
    if (slow.read_text("settings")["contact_stiffness"] == 21'200) break;
}

TEST_F(Feed, DoesNotCloseASlowPageBecauseOfOneProblemToldOverAndOver) {
  ServerLimits limits;
  limits.viewer_send_buffer = 4096;
  start(limits);
  Page slow(port(), {.receive_buffer = 4096});
  slow.read_text("hello");
  for (int i = 0; i < 5000; ++i) host_->problem(ParticipantId::nobody, "Too much is waiting to be sent; try again.");
  host_->problem(ParticipantId::nobody, "It is over.");
  while (slow.read_text("error")["reason"] != "It is over.") {
  }
}

TEST_F(Feed, ClosesAFeedThatFloodsWithMessagesOrPings) {
  ServerLimits limits;
  limits.messages_per_second = 50;
  start(limits);
  const std::function<void(Page&)> floods[] = {[](Page& page) { page.send_binary(hand_input(1, 1, {})); },
                                               [](Page& page) { page.ping(); }};
  for (const auto& send : floods) {
    Page page(port());
    page.read_text("hello");
    try {
      for (int i = 0; i < 200; ++i) send(page);
    } catch (const ConnectionLost&) {  // what it was told is still to be read
    }
    EXPECT_EQ(page.closed().code, 4001U);
  }
}

TEST_F(Feed, TakesNoMoreViewersThanItsLimit) {
  ServerLimits limits;
  limits.viewers = 1;
  start(limits);
  Page first(port());
  first.read_text("hello");
  Page second(port());
  EXPECT_EQ(second.closed().code, 4002U);
}

TEST_F(Feed, NobodyTakesAllPlacesByOneLink) {
  ServerLimits limits;
  limits.viewers = 4;
  start(limits);
  const std::string crowd = links_.add(Rights::watch, "crowd", 0, unix_seconds()).token;
  const std::string other = links_.add(Rights::watch, "other", 0, unix_seconds()).token;
  std::vector<std::unique_ptr<Page>> pages;
  for (int i = 0; i < 4; ++i) {
    pages.push_back(std::make_unique<Page>(port(), PageSettings{.token = crowd}));
    pages.back()->read_text("hello");
  }
  EXPECT_EQ(Page(port(), {.token = crowd}).closed().code, 4002U);  // not at the cost of their own
  Page owner(port()), guest(port(), {.token = other});
  EXPECT_EQ(owner.read_text("hello")["rights"], "own");
  EXPECT_EQ(guest.read_text("hello")["rights"], "watch");
  EXPECT_EQ(pages[3]->closed().code, 4002U);
  EXPECT_EQ(pages[2]->closed().code, 4002U);
  pages[0]->read_state();
  pages[1]->read_state();
  // Two each: neither of the links takes a place from the other.
  Page second(port(), {.token = other});
  EXPECT_EQ(second.closed().code, 4002U);
}

TEST_F(Feed, IgnoresBinaryMessagesOfAnotherTypeAndLongerInputs) {
  start();
  Page page(port());
  page.read_text("people");
  std::string later = hand_input(1, 1, {});
  later[3] = 99;
  page.send_binary(later);
  page.send(k_grasp);
  EXPECT_EQ(page.read_text("hand")["state"], "granted");
  std::string longer = hand_input(7, 1, {0, 0, 0.05}) + std::string(40, 'x');
  longer[4] = static_cast<char>(longer.size());
  page.send_binary(longer);
  page.read_state([](const std::string& frame) { return hand_of(frame).input == 7; });
}

TEST_F(Feed, TellsAPageOfAnotherVersionToReload) {
  start();
  const auto reason_for = [&](const Json& first) {
    Page page(port(), {.hello = first});
    const Page::Closed end = page.closed();
    EXPECT_EQ(end.code, 4004U) << first;
    return end.reason;
  };
  EXPECT_EQ(reason_for({{"type", "hello"}, {"protocol", 3}}),
            "The page speaks version 3 of the protocol, the server version 2: reload the page.");
  EXPECT_NE(reason_for({{"type", "hello"}}).find("reload"), std::string::npos);
  EXPECT_NE(reason_for({{"type", "view"}, {"fps", 30}}).find("reload"), std::string::npos);
  Page rude(port(), {.hello = nullptr});
  rude.send_binary(hand_input(1, 1, {}));
  EXPECT_EQ(rude.closed().code, 4000U);
}

TEST_F(Feed, TellsEveryPageWhoTakesPart) {
  start();
  Page first(port(), {.hello = {{"type", "hello"}, {"protocol", 2}, {"name", "  Ann\u0007 "}}});
  const auto number = first.read_text("hello")["participant"].get<std::uint32_t>();
  Json people = first.read_text("people")["people"];
  ASSERT_EQ(people.size(), 1U);
  EXPECT_EQ(people[0]["participant"], number);
  EXPECT_EQ(people[0]["name"], "Ann");
  EXPECT_EQ(people[0]["kind"], "page");
  {
    Page second(port());
    const auto other = second.read_text("hello")["participant"].get<std::uint32_t>();
    people = first.read_text("people")["people"];
    ASSERT_EQ(people.size(), 2U);
    EXPECT_EQ(people[1]["name"], "Guest " + std::to_string(other));
    EXPECT_NE(people[1]["color"], people[0]["color"]);
    second.send({{"type", "hello"}, {"protocol", 2}, {"name", "Bea"}});
    EXPECT_EQ(first.read_text("people")["people"][1]["name"], "Bea");
    second.send(k_grasp);
    EXPECT_EQ(second.read_text("hand")["state"], "granted");
    first.read_state(
        [&](const std::string& frame) { return hand_of(frame).participant == other && hand_of(frame).holder == 1; });
  }
  EXPECT_EQ(first.read_text("people")["people"].size(), 1U);
}

TEST_F(Feed, RefusesToGraspWhatCannotBePickedUp) {
  start();
  Page page(port());
  page.send({{"type", "grasp"}, {"body", 1}});
  const Json answer = page.read_text("hand");
  EXPECT_EQ(answer["state"], "refused");
  EXPECT_EQ(answer["hand"], 0);
  EXPECT_EQ(answer["body"], 1);
  EXPECT_FALSE(answer["reason"].get<std::string>().empty());
}

TEST_F(Feed, AnswersHelloAndSendsWholeFrames) {
  start();
  Page page(port());
  const Page::Message first = page.read();
  ASSERT_TRUE(first.text);
  const Json hello = Json::parse(first.bytes);
  EXPECT_EQ(hello["type"], "hello");
  EXPECT_EQ(hello["protocol"], 2);
  EXPECT_EQ(hello["limits"]["bodies"], 64);
  EXPECT_EQ(page.read_text("scene")["name"], "balls");
  EXPECT_EQ(page.read_text("settings")["contact_stiffness"], 30'000);
  EXPECT_EQ(page.read_text("world")["gravity"], 0);
  EXPECT_TRUE(page.read_text("recordings")["recordings"].is_array());
  const std::string frame = page.read_state();
  EXPECT_EQ(number_at<std::uint32_t>(frame, 4), frame.size());
  EXPECT_EQ(section_of(frame, wire::SectionType::hands).count, 0U);   // nobody holds anything
  ASSERT_EQ(section_of(frame, wire::SectionType::bodies).count, 1U);  // the other ball is fixed
  EXPECT_EQ(body_of(frame).body, 2U);
  EXPECT_NEAR(body_of(frame).pose.position.z, 0.05, 1e-6);
  // The balls' surfaces are 1 cm apart; the shell lies half a cell (0.04 / 24 / 2) outside and a ball of 162 corners is
  // flatter than a sphere by less than 4 % of its radius.
  EXPECT_NEAR(clock_of(frame).clearance, 0.01, 0.002);
}

TEST_F(Feed, LeavesFramesOutForASlowReaderAndForNobodyElse) {
  ServerLimits limits;
  limits.viewer_send_buffer = 4096;
  start(limits);
  Page slow(port(), {.receive_buffer = 4096});
  Page quick(port());
  slow.read_text("hello");
  slow.send({{"type", "view"}, {"near", true}, {"traversed", true}});
  // The slow one reads nothing until its buffers are full, while the quick one goes on.
  std::uint32_t quick_left_out = 0, slow_left_out = 0;
  for (int i = 0; i < 120; ++i) quick_left_out = clock_of(quick.read_state()).left_out;
  // A busy machine may come late for the quick one now and then, but not as often.
  for (int i = 0; i < 120 && slow_left_out <= 2 * quick_left_out; ++i)
    slow_left_out = clock_of(slow.read_state()).left_out;
  EXPECT_GT(slow_left_out, 2 * quick_left_out);
}

TEST_F(Feed, TwoPagesHoldTheSameBody) {
  start();
  Page first(port()), second(port());
  const auto me = first.read_text("hello")["participant"].get<std::uint32_t>();
  first.send({{"type", "grasp"}, {"body", 2}, {"point", {0, 0, 0.01}}});
  const Json granted = first.read_text("hand");
  EXPECT_EQ(granted["state"], "granted");
  EXPECT_EQ(granted["body"], 2);
  EXPECT_EQ(granted["point"], Json::array({0, 0, 0.01}));
  // The hand is where it took hold: a centimetre above the ball's middle, which is at 5 cm.
  const std::string taken =
      first.read_state([](const std::string& frame) { return (body_of(frame).flags & wire::k_body_flag_held) != 0; });
  EXPECT_EQ(hand_of(taken).participant, me);
  EXPECT_EQ(hand_of(taken).body, 2U);
  EXPECT_NEAR(hand_of(taken).pose.position.z, 0.06, 1e-6);
  EXPECT_NEAR(hand_of(taken).grip.position.z, 0.06, 1e-6);
  second.send({{"type", "grasp"}, {"body", 2}, {"id", 3}});
  EXPECT_NE(second.read_text("hand")["hand"], granted["hand"]);
  EXPECT_EQ(second.read_text("reply")["ok"], true);
  first.read_state([](const std::string& frame) { return section_of(frame, wire::SectionType::hands).count == 2; });
  first.send({{"type", "release_hand"}, {"hand", granted["hand"]}});
  EXPECT_EQ(first.read_text("hand")["state"], "released");
  second.send({{"type", "release_hand"}});  // whatever it holds
  EXPECT_EQ(second.read_text("hand")["state"], "released");
  second.read_state([](const std::string& frame) { return section_of(frame, wire::SectionType::hands).count == 0; });
}

TEST_F(Feed, WhoHoldsABodyIsNotDisturbedByOthers) {
  start();
  Page first(port()), second(port());
  first.send(k_grasp);
  EXPECT_EQ(first.read_text("hand")["state"], "granted");
  second.send({{"type", "open_scene"}, {"name", "balls"}, {"id", 4}});
  EXPECT_EQ(second.read_text("reply")["ok"], false);
  second.send({{"type", "world"}, {"gravity", 9.81}, {"id", 4}});
  EXPECT_EQ(second.read_text("reply")["ok"], false);
  second.send({{"type", "remove_body"}, {"body", 2}, {"id", 4}});
  EXPECT_EQ(second.read_text("reply")["ok"], false);
  first.send(k_release);
  EXPECT_EQ(first.read_text("hand")["state"], "released");
  second.send({{"type", "world"}, {"gravity", 9.81}, {"id", 4}});
  EXPECT_EQ(second.read_text("reply")["ok"], true);
}

TEST_F(Feed, ACommandThatMakesNoSenseIsAnswered) {
  start();
  Page page(port());
  for (const Json& senseless :
       {Json{{"type", "grasp"}, {"body", -1}}, Json{{"type", "grasp"}}, Json{{"type", 5}}, Json::object(),
        Json{{"type", "grasp"}, {"body", 2}, {"point", {0, 1}}}, Json{{"type", "view"}, {"fps", "x"}},
        Json{{"type", "world"}}, Json{{"type", "set_body"}, {"body", 2}, {"motion", "path"}},
        Json{{"type", "copy_body"}, {"body", 99}}, Json{{"type", "task_reset"}}, Json{{"type", "bend"}},
        Json{{"type", "bend"}, {"body", 2}, {"material", "cheese"}},
        Json{{"type", "bend"}, {"body", 2}, {"material", "rubber"}, {"anchors", {"q<1"}}},
        Json{{"type", "bend"}, {"body", 2}, {"material", "rubber"}, {"anchors", {1, "x<0"}}},
        Json{{"type", "bend"}, {"body", 2}, {"material", "rubber"}, {"law", "linear"}},
        Json{{"type", "bend"}, {"body", 2}, {"material", "rubber"}, {"coordinates", 1.5}}}) {
    Json command = senseless;
    command["id"] = 5;
    page.send(command);
    const Json reply = page.read_text("reply");
    EXPECT_EQ(reply["ok"], false) << senseless;
    EXPECT_FALSE(reply["reason"].get<std::string>().empty()) << senseless;
  }
}

TEST_F(Feed, AHandThatIsSilentForLongerThanThePatienceMayBeTakenAway) {
  hand_patience_ = 1.5;
  start();
  const auto begin = std::chrono::steady_clock::now();
  std::vector<std::unique_ptr<Page>> pages;
  for (std::size_t i = 0; i < k_session_hands; ++i) {
    pages.push_back(std::make_unique<Page>(port()));
    pages.back()->send(k_grasp);
    ASSERT_EQ(pages.back()->read_text("hand")["state"], "granted");
  }
  // The first goes on talking, all others are silent.
  Page late(port());
  std::uint32_t sequence = 0;
  EXPECT_TRUE(eventually([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));  // who asks too often is shown the door
    pages[0]->send_binary(hand_input(++sequence, 1, {0, 0, 0.05}));
    late.send(k_grasp);
    return late.read_text("hand")["state"] == "granted";
  }));
  EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(1500));
  EXPECT_EQ(pages[1]->read_text("hand")["state"], "lost");
  pages[0]->send(k_release);
  EXPECT_EQ(pages[0]->read_text("hand")["state"], "released");  // not lost
}

TEST_F(Feed, PushingABodyIntoAnotherIsFelt) {
  start();
  Page page(port());
  page.read_text("settings");
  page.send(k_grasp);
  page.read_text("hand");
  // The hand is sent 2 cm down: the surfaces meet after one.
  std::uint32_t sequence = 0;
  const auto pressed = [&](const std::string& frame) {
    page.send_binary(hand_input(++sequence, 1, {0, 0, 0.03}));
    return hand_of(frame).force.z > 1 && hand_of(frame).in_contact > 0;
  };
  const std::string frame = page.read_state(pressed);
  // The force opposes the push, the ball stays above the hand, and the contact points lie between the balls.
  EXPECT_GT(hand_of(frame).grip.position.z, hand_of(frame).pose.position.z);
  EXPECT_LT(clock_of(frame).clearance, 0.001F);
  EXPECT_GT(hand_of(frame).input, 0U);
  const std::string shown =
      page.read_state([](const std::string& f) { return section_of(f, wire::SectionType::contacts).count > 0; });
  EXPECT_NEAR(first_entry<wire::ContactEntry>(shown, wire::SectionType::contacts).position.z, 0.02, 0.006);
  // Let go, the spring relaxes.
  page.send(k_release);
  page.read_state([](const std::string& f) { return hand_of(f).force.z == 0; });
}

TEST_F(Feed, WhoIsGoneHoldsNothing) {
  start();
  {
    Page page(port());
    page.send(k_grasp);
    page.read_text("hand");
  }
  Page other(port());
  other.read_state([](const std::string& frame) { return hand_of(frame).participant == 0; });
  other.send(k_grasp);
  EXPECT_EQ(other.read_text("hand")["state"], "granted");
}

TEST_F(Feed, TellsViewersGoodbyeAndComesBackOnTheSamePort) {
  start();
  settings_.port = port();
  {
    Page page(port());
    page.read_text("hello");
    server_->stop();
    EXPECT_EQ(page.closed().code, 1001U);
  }
  host_.reset();
  server_.reset();
  start();
  Page again(settings_.port);
  EXPECT_EQ(again.read_text("hello")["protocol"], 2);
}

}  // namespace
}  // namespace cotouch::this_file
