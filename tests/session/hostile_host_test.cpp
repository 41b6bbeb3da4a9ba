// A host that gives its guests what they must not take.
#include <cotouch/base/read_file.h>

#include "session/peer_on_network.h"
#include "session/program.h"

namespace cotouch::this_file {
namespace {

using namespace testing_session;
namespace fs = std::filesystem;

using Files = std::vector<std::pair<std::string, ObjectName>>;

// Lets everybody in, names files and hands them out.
class FalseHost final : public PeerOnNetwork {
 public:
  FalseHost() : invite_(make_invite(network.identity().public_key(), {address()}, 0)) {
    network.host(invite_.secret, 0);
  }
  ~FalseHost() override { thread_ = {}; }

  std::string invite() const { return format_invite(invite_); }
  ObjectName put(Bytes bytes) { return shelf_.put(std::make_shared<const Bytes>(std::move(bytes))); }
  void offer(const Files& files, std::uint64_t model_hash) {
    Bytes manifest;
    ByteWriter names(manifest);
    names.varint(files.size());
    for (const auto& [name, object] : files) {
      names.text(name);
      write_object(names, object);
    }
    ByteWriter out(offer_);
    out.text(format_recorded_scene({"unknown", FeelSettings{}, k_shared_pace}));
    out.number(model_hash);
    write_object(out, put(std::move(manifest)));
    thread_ = std::jthread([this](const std::stop_token& stop) {
      while (!stop.stop_requested()) run();
    });
  }

 private:
  Decision asked(double, GuestId, const JoinRequest&) override { return {true, offer_}; }
  void from_guest(double now, GuestId guest, std::span<const std::byte> message) override {
    for (const Bytes& piece : shelf_.answer(message)) network.to_guest(now, guest, piece);
  }

  Invite invite_;
  ObjectShelf shelf_;
  Bytes offer_;
  std::jthread thread_;
};

// How it ends for somebody who joins.
std::string end_of_joining(Program& ben, const FalseHost& host) {
  ben.join(host.invite());
  EXPECT_TRUE(eventually([&] { return ben.status().state == SharingStatus::State::failed; })) << ben.status().stage;
  return ben.status().reason;
}

std::vector<std::string> files_below(const fs::path& folder) {
  std::vector<std::string> names;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder))
    if (entry.is_regular_file()) names.push_back(entry.path().filename().string());
  return names;
}

TEST(HostileHost, WritesNothingButFilesOfAScene) {
  for (const std::string name : {"../part.cot", "../../part.cot", "/tmp/part.cot", "a/part.cot", ".part.cot", ".cot",
                                 "part.sh", "part.cot.sh", "Part\n.cot", "scene.toml/part.cot", ""}) {
    SCOPED_TRACE(name);
    FalseHost host;
    host.offer({{name, host.put(text("something"))}, {"scene.toml", host.put(text("cotouch = 2\n"))}}, 1);
    Program ben("Ben");
    EXPECT_NE(end_of_joining(ben, host).find("makes no sense"), std::string::npos) << ben.status().reason;
    EXPECT_EQ(files_below(ben.folder().path()), std::vector<std::string>{"identity"});
  }
}

TEST(HostileHost, FillsNoDisk) {
  FalseHost host;
  host.offer({{"a.cot", {{}, k_largest_object}}, {"scene.toml", {{}, 1}}}, 1);
  Program ben("Ben");
  EXPECT_NE(end_of_joining(ben, host).find("larger than 1024 MiB"), std::string::npos) << ben.status().reason;
}

TEST(HostileHost, CannotGiveAnotherSceneThanItSays) {
  const TemporaryFolder folder;
  save_scene(three_balls(), "unknown", folder.path() / "unknown");
  FalseHost host;
  Files files;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder.path() / "unknown")) {
    const FileCopy file = read_file(entry.path());
    files.emplace_back(entry.path().filename().string(), host.put(Bytes(file.bytes.begin(), file.bytes.end())));
  }
  host.offer(files, 1);  // the hash of no model
  Program ben("Ben");
  EXPECT_NE(end_of_joining(ben, host).find("cannot be used"), std::string::npos) << ben.status().reason;
}

}  // namespace
}  // namespace cotouch::this_file
