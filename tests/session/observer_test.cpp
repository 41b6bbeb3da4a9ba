// An observer: a program without a hand that keeps a journal of a shared session.
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "session/shared_program.h"

namespace cotouch {
namespace {

using namespace testing_session;

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
      Program observer(2, "Oscar", true);
      observer.settings().identity = folder / "identity";
      observer.settings().journal = folder / "journal";
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

Tick written_until(const std::filesystem::path& journal) {
  return Journal::open_to_read(journal).next_tick().value_or(0);
}

TEST(Observer, GoesOnFromItsJournalIfNobodyElseIsLeft) {
  TemporaryFolder folder;
  ObserverProcess killed(folder.path());
  Program anna(0, "Anna"), ben(1, "Ben"), carl(3, "Carl");
  anna.host(three_balls());
  const std::string invite = invite_of(anna);
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

  Program oscar(2, "Oscar", true);
  oscar.settings().identity = folder / "identity";
  oscar.settings().journal = folder / "journal";
  oscar.settings().answer_patience = 0.5;
  oscar.join(invite);
  ASSERT_TRUE(eventually([&] { return oscar.status().state == SharingStatus::State::hosting; }))
      << oscar.status().reason;
  ASSERT_EQ(oscar.problems().size(), 1U);
  EXPECT_EQ(oscar.problems()[0], "Nobody of the session answers; it goes on from the journal.");
  EXPECT_EQ(oscar.beginning().tick, written);
  EXPECT_EQ(oscar.beginning().hash, anna.hash_at(written));
  EXPECT_EQ(oscar.marks(), 1U);
  ASSERT_EQ(oscar.people().size(), 1U);
  EXPECT_TRUE(oscar.people()[0].self && oscar.people()[0].observer);

  carl.join(oscar.status().invite);
  ASSERT_TRUE(eventually([&] { return carl.people().size() == 2 && oscar.people().size() == 2; }))
      << carl.status().reason;
  EXPECT_GT(carl.beginning().tick, written);
  EXPECT_EQ(carl.marks(), 1U);
  EXPECT_TRUE(eventually([&] { return carl.session().agreed().tick > carl.beginning().tick + 200; }));
  EXPECT_TRUE(agree(oscar, carl, 100));
  oscar.stop();
  EXPECT_GT(written_until(folder / "journal"), written + 200);
}

}  // namespace
}  // namespace cotouch
