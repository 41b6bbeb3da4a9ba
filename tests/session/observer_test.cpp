// An observer: a program without a hand that keeps a journal of a shared session.
#include <cotouch/session/database.h>

#include "session/program.h"
#include "support/child_process.h"

#include <sched.h>
#include <sys/mount.h>

#include <csignal>
#include <fstream>
#include <set>

namespace cotouch::this_file {
namespace {

using namespace testing_session;

// Nobody is dropped because a machine is slow.
void be_patient(SharedSessionSettings& settings) {
  settings.peer.patience = 15;
  settings.peer.patience_alone = 30;
}

// With a journal in this folder.
Program::Change observing(const std::filesystem::path& folder) {
  return [folder](SharedSessionSettings& settings) {
    be_patient(settings);
    settings.observer = true;
    settings.identity = folder / "identity";
    settings.journal = folder / "journal";
    settings.received = folder / "received";
  };
}

// A program of its own, which can be killed. It begins before this one has threads.
class ObserverProcess {
 public:
  explicit ObserverProcess(const std::filesystem::path& folder) {
    int ends[2];
    if (pipe(ends) != 0) throw std::runtime_error("no pipe");
    child_ = fork();
    if (child_ == 0) {
      close(ends[1]);
      std::string invite;
      for (char letter = 0; read(ends[0], &letter, 1) == 1;) invite += letter;
      Program observer("Oscar", observing(folder));
      observer.join(invite);
      for (;;) pause();
    }
    close(ends[0]);
    to_ = ends[1];
  }
  ~ObserverProcess() { kill(); }
  void join(const std::string& invite) {
    EXPECT_EQ(write(to_, invite.data(), invite.size()), static_cast<ssize_t>(invite.size()));
    close(to_);
  }
  void kill() {
    if (child_ <= 0) return;
    ::kill(child_, SIGKILL);
    waitpid(child_, nullptr, 0);
    child_ = 0;
  }

 private:
  pid_t child_ = 0;
  int to_ = -1;
};

// Which ticks are in the journal; none before it is made.
Tick written_until(const std::filesystem::path& journal) {
  try {
    return Journal::open_to_read(journal).next_tick().value_or(0);
  } catch (const Error&) {
    return 0;
  }
}

TEST(Observer, GoesOnFromItsJournalIfNobodyElseIsLeft) {
  TemporaryFolder folder;
  ObserverProcess killed(folder.path());
  Program anna("Anna", be_patient), ben("Ben", be_patient), carl("Carl", be_patient);
  Scene scene = three_balls();
  scene.name = "nobody-else-has-it";
  anna.host(scene);
  const std::string invite = anna.invite();
  killed.join(invite);
  ben.join(invite);
  ASSERT_TRUE(eventually([&] { return anna.people().size() == 3 && ben.people().size() == 3; }));
  ben.session().mark(2, {0, 0, 0.02});
  ASSERT_TRUE(eventually([&] { return anna.marks() == 1; }));
  const Tick marked = anna.session().agreed().tick;
  ASSERT_TRUE(eventually([&] { return written_until(folder / "journal") > marked + 100; }));
  killed.kill();
  const Tick written = written_until(folder / "journal");
  ASSERT_TRUE(eventually([&] { return anna.hash_at(written) != 0; }));
  ben.stop();
  anna.stop();

  Program oscar("Oscar", observing(folder.path()));
  oscar.settings.answer_patience = 0.5;
  oscar.join(invite);
  ASSERT_TRUE(eventually([&] { return oscar.status().state == SharingStatus::State::hosting; }))
      << oscar.status().reason;
  ASSERT_EQ(oscar.problems().size(), 1U);
  EXPECT_EQ(oscar.problems()[0], "Nobody of the session answers; it goes on from the journal.");
  EXPECT_EQ(oscar.beginning().tick, written);
  EXPECT_EQ(oscar.beginning().hash, anna.hash_at(written));
  // Told after the state.
  ASSERT_TRUE(eventually([&] { return oscar.people().size() == 1 && oscar.marks() == 1; }));
  EXPECT_TRUE(oscar.people()[0].self && oscar.people()[0].observer);

  carl.join(oscar.status().invite);
  ASSERT_TRUE(eventually([&] { return carl.people().size() == 2 && oscar.people().size() == 2; }))
      << carl.status().reason;
  EXPECT_TRUE(eventually([&] { return carl.beginning().tick > written; }));
  EXPECT_TRUE(eventually([&] { return carl.marks() == 1; }));
  EXPECT_TRUE(eventually([&] { return carl.session().agreed().tick > carl.beginning().tick + 200; }));
  EXPECT_GT(agreed_ticks(oscar, carl), 100U);
  oscar.stop();
  EXPECT_GT(written_until(folder / "journal"), written + 200);
}

TEST(Observer, LetsPeopleInWhenNobodyElseIsLeft) {
  TemporaryFolder folder;
  Program anna("Anna", be_patient), ben("Ben", be_patient);
  Program oscar("Oscar", observing(folder.path()));
  oscar.settings.udp.port = UdpSocket({.loopback = true}).port();  // free by now
  meet(anna, oscar);
  Invite to_oscar = parse_invite(anna.invite(), 0);
  to_oscar.host = Identity::load_or_make(oscar.settings.identity).public_key();
  to_oscar.addresses = {NetAddress::v4({127, 0, 0, 1}, oscar.settings.udp.port)};
  anna.stop();
  ASSERT_TRUE(eventually([&] { return oscar.people().size() == 1; }));
  ben.join(format_invite(to_oscar));
  ASSERT_TRUE(eventually([&] { return ben.people().size() == 2; })) << ben.status().reason;
  EXPECT_TRUE(eventually([&] { return ben.beginning().tick > anna.hashes().rbegin()->first; }));
  ASSERT_TRUE(eventually([&] { return ben.session().agreed().tick > ben.beginning().tick + 200; }));
  EXPECT_GT(agreed_ticks(oscar, ben), 100U);
}

// A disk that is filled and emptied again: a real one of four mebibytes if this machine lets us have it, otherwise this
// process may write no files for a while. In a child, before it has threads.
class SmallDisk {
 public:
  explicit SmallDisk(const std::filesystem::path& folder) : folder_(folder) {
    std::signal(SIGXFSZ, SIG_IGN);
    real_ = unshare(CLONE_NEWNS) == 0 && mount("", "/", "", MS_PRIVATE | MS_REC, nullptr) == 0 &&
            mount("tmpfs", folder.c_str(), "tmpfs", 0, "size=4m") == 0;
  }
  bool is_real() const { return real_; }
  void fill() {
    if (!real_) return allow_bytes(1);
    std::ofstream out(folder_ / "others", std::ios::binary);
    const std::string page(4096, 'x');
    while (out << page << std::flush) {
    }
  }
  void empty() {
    if (!real_) return allow_bytes(RLIM_INFINITY);
    std::filesystem::remove(folder_ / "others");
  }

 private:
  std::filesystem::path folder_;
  bool real_ = false;
};

// Every tick in the journal is the one that this program has agreed on.
void expect_kept(const std::filesystem::path& journal, const Program& program, Tick at_least) {
  Tick compared = 0, last = 0;
  Journal::open_to_read(journal).for_each_tick(0, [&](const JournalTick& tick) {
    last = tick.tick;
    const std::uint64_t hash = program.hash_at(tick.tick + 1);
    compared += hash != 0 ? 1 : 0;
    EXPECT_TRUE(hash == 0 || hash == tick.state_hash) << tick.tick;
    return true;
  });
  EXPECT_GT(compared, 100);
  EXPECT_GE(last + 1, at_least);
}

void observe_with_a_full_disk(const std::filesystem::path& folder) {
  SmallDisk disk(folder);
  const std::filesystem::path journal = folder / "journal";
  Program anna("Anna", be_patient), ben("Ben", be_patient);
  Program oscar("Oscar", observing(folder));
  anna.host(three_balls());
  const std::string invite = anna.invite();
  oscar.join(invite);
  ben.join(invite);
  const auto all_here = [&] { return anna.people().size() == 3 && ben.people().size() == 3; };
  ASSERT_TRUE(eventually(all_here));
  const Tick began = anna.session().agreed().tick;
  ASSERT_TRUE(eventually([&] { return written_until(journal) > began + 200; }));

  disk.fill();
  ASSERT_TRUE(eventually([&] { return !oscar.problems().empty(); }));
  EXPECT_TRUE(oscar.problems()[0].starts_with(
      disk.is_real() ? "The disk is full: the journal " + journal.string() + " cannot be written. The session goes on;"
                     : "The journal " + journal.string() + " cannot be written: "))
      << oscar.problems()[0];
  const Tick written = written_until(journal), full = anna.session().agreed().tick;
  ASSERT_TRUE(eventually([&] {
    return anna.session().agreed().tick > full + 300 && ben.session().agreed().tick > full + 300 &&
           oscar.session().agreed().tick > full + 300;
  }));
  EXPECT_TRUE(all_here());
  EXPECT_GT(agreed_ticks(anna, ben), 300U);
  EXPECT_EQ(written_until(journal), written);
  expect_kept(journal, anna, written);

  // It waits for room, and loses nothing if there is some before it ends.
  disk.empty();
  ASSERT_TRUE(eventually([&] { return written_until(journal) > full + 300; }));
  EXPECT_EQ(oscar.problems().size(), 1U);
  disk.fill();
  ASSERT_TRUE(eventually([&] { return oscar.problems().size() == 2; }));
  const Tick again = written_until(journal);
  EXPECT_GT(again, full + 300);
  oscar.stop();
  ASSERT_EQ(oscar.problems().size(), 3U);
  const std::string last = oscar.problems()[2];
  EXPECT_TRUE(last.starts_with("The end of the session is missing in the journal " + journal.string() +
                               ": it could not be written."))
      << last;
  // What was written before waits in the log, and without it the journal is not whole.
  EXPECT_NE(last.find("journal-wal beside it belongs to it"), std::string::npos) << last;
  EXPECT_TRUE(std::filesystem::exists(journal.string() + "-wal"));
  disk.empty();
  expect_kept(journal, anna, again);
}

TEST(ObserverSlow, SaysThatItsDiskIsFullAndKeepsWhatWasWritten) {
  TemporaryFolder folder;
  EXPECT_EQ(in_a_child([&] {
              observe_with_a_full_disk(folder.path());
              return testing::Test::HasFailure() ? 1 : 0;
            }),
            0);
}

// SQLite waits two seconds for somebody else who has the file, as for a disk that takes its time; then it says so.
// Until that, ticks of half a second could be agreed on before the first attempt, if all waited for it.
TEST(ObserverSlow, HoldsNobodyUpWhileItsDiskIsSlow) {
  TemporaryFolder folder;
  Program anna("Anna", be_patient);
  Program oscar("Oscar", observing(folder.path()));
  anna.host(three_balls());
  oscar.join(anna.invite());
  ASSERT_TRUE(eventually([&] { return written_until(oscar.settings.journal) > 300; }));
  Database slow(oscar.settings.journal, Database::Access::write);
  slow.run("BEGIN IMMEDIATE");
  std::set<Tick> seen;
  ASSERT_TRUE(eventually([&] {
    seen.insert(oscar.session().agreed().tick);
    return !oscar.problems().empty();
  }));
  slow.run("COMMIT");
  EXPECT_GT(seen.size(), 80U);
  EXPECT_TRUE(eventually([&] { return written_until(oscar.settings.journal) > *seen.rbegin(); }));
}

}  // namespace
}  // namespace cotouch::this_file
