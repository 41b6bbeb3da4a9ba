// Links as people meet them, over real loopback sockets: who may do what, and what happens when a link ends.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "serve/server_fixture.h"

namespace cotouch::this_file {
namespace {

using namespace testing_serve;

class Links : public ServedBalls {
 protected:
  void SetUp() override { start(); }
  PageLink link(Rights rights, UnixSeconds expires = 0) { return links_.add(rights, "test", expires, unix_seconds()); }
  // What the server says to this command.
  static Json reply(Page& page, Json command) {
    command["id"] = 5;
    page.send(command);
    return page.read_text("reply");
  }
};

const Json k_for_owners[] = {{{"type", "settings"}, {"max_force", 4}},
                             {{"type", "world"}, {"gravity", 1}},
                             {{"type", "open_scene"}, {"name", "balls"}},
                             {{"type", "reset"}},
                             {{"type", "record_start"}},
                             {{"type", "record_stop"}},
                             {{"type", "delete_recording"}, {"recording", "x"}},
                             {{"type", "delete_scene"}, {"name", "x"}},
                             {{"type", "copy_body"}, {"body", 2}},
                             {{"type", "set_body"}, {"body", 2}, {"mass", 1}},
                             {{"type", "share_start"}}};

TEST_F(Links, AWatchLinkSeesAndChangesNothing) {
  Page page(port(), {.token = link(Rights::watch).token});
  const Json hello = page.read_text("hello");
  EXPECT_EQ(hello["rights"], "watch");
  EXPECT_EQ(hello["features"], Json::array({"near", "traversed"}));
  page.read_state();
  page.send(k_grasp);
  const Json hand = page.read_text("hand");
  EXPECT_EQ(hand["state"], "refused");
  EXPECT_NE(hand["reason"].get<std::string>().find("only watches"), std::string::npos);
  for (const Json& command : k_for_owners) {
    const Json answer = reply(page, command);
    EXPECT_EQ(answer["ok"], false) << command;
    EXPECT_NE(answer["reason"].get<std::string>().find("link"), std::string::npos) << command << answer;
  }
}

TEST_F(Links, AHandLinkHoldsAndMovesAndNothingElse) {
  const std::string token = link(Rights::hand).token;
  Page page(port(), {.token = token});
  EXPECT_EQ(page.read_text("hello")["rights"], "hand");
  page.send(k_grasp);
  EXPECT_EQ(page.read_text("hand")["state"], "granted");
  page.send_binary(hand_input(3, 1, {0, 0, 0.06}));
  page.read_state([](const std::string& frame) { return hand_of(frame).input == 3; });
  for (const Json& command : k_for_owners) EXPECT_EQ(reply(page, command)["ok"], false) << command;
  // Neither by a request, whether or not it names the page.
  const Answer upload = post_in(port(), "/api/upload?name=a.stl&unit=mm", "solid", token);
  EXPECT_EQ(upload.status, 403U);
  EXPECT_NE(upload.body.find("link"), std::string::npos);
  EXPECT_EQ(post_in(port(), "/api/scene/save?name=mine", "", token).status, 403U);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "scenes/mine"));
}

TEST_F(Links, OnlyOwnersSeeMakeAndRevokeLinks) {
  const PageLink hand = link(Rights::hand);
  for (const std::string& token : {hand.token, link(Rights::watch).token}) {
    EXPECT_EQ(get_in(port(), "/api/links", {}, token).status, 403U);
    EXPECT_EQ(post_in(port(), "/api/links?rights=own", "", token).status, 403U);
    EXPECT_EQ(post_in(port(), "/api/links/revoke?id=" + hand.id, "", token).status, 403U);
  }
  const Answer made = post_in(port(), "/api/links?rights=hand&label=Ben&minutes=5");
  ASSERT_EQ(made.status, 200U) << made.body;
  const Json all = Json::parse(get_in(port(), "/api/links").body)["links"];
  ASSERT_EQ(all.size(), 4U);
  EXPECT_EQ(all[0]["rights"], "own");
  EXPECT_EQ(all[0]["yours"], true);
  EXPECT_FALSE(all[0].contains("token"));
  EXPECT_EQ(all[3]["label"], "Ben");
  EXPECT_EQ(all[3]["state"], "open");
  EXPECT_EQ(all[3]["token"], Json::parse(made.body)["token"]);
  EXPECT_NEAR(all[3]["expires"].get<double>(), static_cast<double>(unix_seconds() + 300), 5);
  for (const char* wrong : {"rights=king", "rights=hand&minutes=0", "rights=hand&minutes=x", ""})
    EXPECT_EQ(post_in(port(), std::string("/api/links?") + wrong).status, 400U) << wrong;
  // Nobody locks themselves out.
  EXPECT_EQ(post_in(port(), "/api/links/revoke?id=" + all[0]["id"].get<std::string>()).status, 409U);
  EXPECT_EQ(post_in(port(), "/api/links/revoke?id=nothing").status, 404U);
}

TEST_F(Links, WhoCameByARevokedLinkIsToldSoAtOnce) {
  const PageLink guest = link(Rights::hand), other = link(Rights::hand);
  Page page(port(), {.token = guest.token}), stays(port(), {.token = other.token});
  page.read_text("hello");
  page.send(k_grasp);
  EXPECT_EQ(page.read_text("hand")["state"], "granted");
  ASSERT_EQ(post_in(port(), "/api/links/revoke?id=" + guest.id).status, 200U);
  const Page::Closed end = page.closed();
  EXPECT_EQ(end.code, 4005U);
  EXPECT_NE(end.reason.find("revoked"), std::string::npos);
  // What it held is free, and its key opens nothing any more.
  stays.read_state([](const std::string& frame) { return section_of(frame, wire::SectionType::hands).count == 0; });
  const Answer late = ask(port(), {.target = "/api/scene", .key = page.key()});
  EXPECT_EQ(late.status, 401U);
  EXPECT_NE(late.body.find("revoked"), std::string::npos);
  EXPECT_THROW(Page(port(), {.token = guest.token}), ConnectionLost);
}

// Once a second the server looks which links have expired; who is revoked does not stay until then.
TEST_F(Links, RevokingDoesNotWaitForTheNextLook) {
  double fastest = 60;
  for (int round = 0; round < 4; ++round) {
    const PageLink guest = link(Rights::watch);
    Page page(port(), {.token = guest.token});
    page.read_text("hello");
    const auto begin = std::chrono::steady_clock::now();
    ASSERT_EQ(post_in(port(), "/api/links/revoke?id=" + guest.id).status, 200U);
    EXPECT_EQ(page.closed().code, 4005U);
    // The first may come just before a look, and those after it just behind one.
    if (round > 0)
      fastest = std::min(fastest, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
  EXPECT_LT(fastest, 0.5);
}

TEST_F(Links, AFileThatIsOnItsWayWhenItsLinkEndsIsNotTaken) {
  const PageLink other = link(Rights::own);
  Page owner(port());
  owner.read_text("people");
  const Page sender(port(), {.token = other.token});
  RawConnection upload(port(), "POST /api/upload?name=a.stl HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(port()) +
                                   "\r\nX-Cotouch-Key: " + sender.key() + "\r\nContent-Length: 8\r\n\r\nhalf");
  std::this_thread::sleep_for(std::chrono::milliseconds(50));  // its head is taken while the link still counts
  ASSERT_EQ(post_in(port(), "/api/links/revoke?id=" + other.id).status, 200U);
  upload.send("done");
  EXPECT_FALSE(upload.hung_up());  // it is answered
  // Everybody would have been told of the job before this is answered.
  owner.send({{"type", "world"}, {"gravity", 0}, {"id", 7}});
  for (;;) {
    const Page::Message message = owner.read();
    if (!message.text) continue;
    const Json json = Json::parse(message.bytes);
    EXPECT_NE(json["type"], "job") << json;
    if (json["type"] == "reply") break;
  }
}

TEST_F(Links, GuestsNeitherRemoveNorBendNorJoin) {
  Page owner(port());
  ASSERT_EQ(reply(owner, {{"type", "copy_body"}, {"body", 2}})["ok"], true);
  for (const Rights rights : {Rights::hand, Rights::watch}) {
    Page guest(port(), {.token = link(rights).token});
    for (const Json& command :
         {Json{{"type", "remove_body"}, {"body", 3}}, Json{{"type", "bend"}, {"body", 3}, {"material", "rubber"}},
          Json{{"type", "set_body"}, {"body", 3}, {"motion", "fixed"}},
          Json{{"type", "share_join"}, {"invite", "cotouch:anything"}}}) {
      const Json answer = reply(guest, command);
      EXPECT_EQ(answer["ok"], false) << command;
      EXPECT_NE(answer["reason"].get<std::string>().find("link"), std::string::npos) << command << answer;
    }
  }
}

TEST_F(Links, APageIsClosedWhenItsLinkExpires) {
  Page page(port(), {.token = link(Rights::watch, unix_seconds() + 5).token});
  const Page::Closed end = page.closed();
  EXPECT_EQ(end.code, 4005U);
  EXPECT_NE(end.reason.find("expired"), std::string::npos);
}

TEST_F(Links, AGuestWhoHoldsAHandIsNotDisturbedByTheOwner) {
  Page guest(port(), {.token = link(Rights::hand).token});
  guest.send(k_grasp);
  EXPECT_EQ(guest.read_text("hand")["state"], "granted");
  Page owner(port());
  for (const Json& command :
       {Json{{"type", "settings"}, {"max_force", 8}, {"contact_stiffness", 100'000}}, Json{{"type", "reset"}},
        Json{{"type", "record_start"}}, Json{{"type", "delete_recording"}, {"recording", "old"}},
        Json{{"type", "delete_scene"}, {"name", "old"}}}) {
    const Json answer = reply(owner, command);
    EXPECT_EQ(answer["ok"], false) << command;
    EXPECT_NE(answer["reason"].get<std::string>().find("let go"), std::string::npos) << command << answer;
  }
  const Answer saved = ask(port(), {.method = "POST", .target = "/api/scene/save?name=mine", .key = owner.key()});
  EXPECT_EQ(saved.status, 409U) << saved.body;
}

TEST_F(Links, GuestsDoNotSeeTheInvitation) {
  Page owner(port()), guest(port(), {.token = link(Rights::hand).token});
  owner.read_text("people");
  guest.read_text("people");
  SharingStatus sharing;
  sharing.state = SharingStatus::State::hosting;
  sharing.invite = "cotouch:secret";
  host_->sharing_changed(sharing);
  EXPECT_EQ(owner.read_text("share")["invite"], "cotouch:secret");
  EXPECT_EQ(guest.read_text("share")["invite"], "");
}

}  // namespace
}  // namespace cotouch::this_file
