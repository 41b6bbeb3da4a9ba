#include <cotouch/base/error.h>
#include <cotouch/base/read_file.h>
#include <cotouch/mesh/import.h>
#include <cotouch/mesh/reader_process.h>
#include <support/child_process.h>
#include <support/eventually.h>
#include <support/sanitized.h>
#include <support/temporary_folder.h>

#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <thread>

#include <dirent.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace cotouch::this_file {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

class ReaderProcess : public ::testing::Test {
 protected:
  void SetUp() override { setenv("COTOUCH_READ_MESH", COTOUCH_MISBEHAVING_READER, 1); }
  void TearDown() override {
    // Nothing is left behind, not even a process that only wants to be waited for; by the next reading at the latest,
    // if it took a while to be gone.
    setenv("COTOUCH_READ_MESH", COTOUCH_MISBEHAVING_READER, 1);
    progress_ = &quiet_;
    task_ = usual_task();
    EXPECT_TRUE(eventually([this] { return has_no_child() || (told("behave") == "behaved" && has_no_child()); }));
    unsetenv("COTOUCH_READ_MESH");
  }

  static bool has_no_child() {
    siginfo_t about{};
    return waitid(P_ALL, 0, &about, WEXITED | WNOHANG | WNOWAIT) < 0 && errno == ECHILD;
  }

  // The first note of what the reader sends if the file tells it to do this.
  std::string told(const std::string& order) {
    std::ofstream(folder_ / "file") << order;
    const int fd = open((folder_ / "file").c_str(), O_RDONLY | O_CLOEXEC);
    std::vector<RawMesh> meshes;
    try {
      meshes = read_in_own_process(fd, task_, folder_.path(), *progress_);
    } catch (...) {
      close(fd);
      throw;
    }
    close(fd);
    return meshes.at(0).notes.at(0);
  }
  std::string failure(const std::string& order) {
    try {
      return "no failure but " + told(order);
    } catch (const Error& error) {
      return error.what();
    }
  }

  static ReadingTask usual_task() {
    ReadingTask task;
    task.memory_bytes = task.most_memory_bytes = std::uint64_t{1} << 30;
    task.limits.seconds = 20;
    task.limits.vertices = 100;
    task.may_need_files = true;
    return task;
  }

  TemporaryFolder folder_;
  ReadingTask task_ = usual_task();
  NoProgress quiet_;
  Progress* progress_ = &quiet_;
};

// Throws after so many seconds.
class ImpatientProgress final : public Progress {
 public:
  explicit ImpatientProgress(double seconds) : seconds_(seconds) {}
  void update(std::string_view, double) override {
    longest_pause = std::max(longest_pause, seconds_since(std::exchange(asked_, Clock::now())));
    if (seconds_since(start_) < seconds_) return;
    cancelled = asked_;
    throw Cancelled();
  }
  double longest_pause = 0;  // between two times that it was asked
  Clock::time_point cancelled;

 private:
  Clock::time_point start_ = Clock::now(), asked_ = start_;
  double seconds_;
};

TEST_F(ReaderProcess, BringsBackWhatIsRead) {
  EXPECT_EQ(told("behave"), "behaved");
}

TEST_F(ReaderProcess, BringsBackTheMessageAndTheCodeOfAnError) {
  EXPECT_EQ(failure("error"), "is too green");
  try {
    told("error");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::not_found);
  }
  // What a parser says to itself is no message for the user.
  EXPECT_NE(failure("exception").find("damaged"), std::string::npos);
  EXPECT_NE(failure("strange-exception").find("damaged"), std::string::npos);
}

TEST_F(ReaderProcess, MayDieInAnyWay) {
  for (const char* order : {"segv", "abort", "exit-0", "exit-3"})
    EXPECT_NE(failure(order).find("is damaged"), std::string::npos) << order;
}

TEST_F(ReaderProcess, InheritsNoDescriptor) {
  // Ones without the flag that would close them by itself.
  const int leaked = open("/etc/passwd", O_RDONLY);  // NOLINT(android-cloexec-open)
  const int high = dup2(leaked, 700);
  EXPECT_EQ(told("descriptors"), "0 1 2 3 4 ");
  close(leaked);
  close(high);
}

TEST_F(ReaderProcess, InheritsNothingOfTheEnvironment) {
  setenv("COTOUCH_TEST_SECRET", "hush", 1);
  const std::string found = told("environment");
  unsetenv("COTOUCH_TEST_SECRET");
  EXPECT_EQ(found.find("hush"), std::string::npos) << found;
  EXPECT_EQ(found.find("COTOUCH_"), std::string::npos) << found;
}

// An upload is open for writing, because it was just written.
TEST_F(ReaderProcess, WritesNotEvenToTheFileThatItReads) {
  std::ofstream(folder_ / "file") << "grow";
  const int fd = open((folder_ / "file").c_str(), O_RDWR | O_CLOEXEC);
  EXPECT_THROW(read_in_own_process(fd, task_, {}, quiet_), Error);
  close(fd);
  EXPECT_EQ(std::filesystem::file_size(folder_ / "file"), 4U);
}

TEST_F(ReaderProcess, StartsAlsoIfTheLowDescriptorsAreClosed) {
  // A daemon has no standard streams, and the file may then have any of their numbers.
  const int kept = fcntl(0, F_DUPFD_CLOEXEC, 100);
  close(0);
  EXPECT_EQ(told("descriptors"), "0 1 2 3 4 ");
  dup2(kept, 0);
  close(kept);
}

TEST_F(ReaderProcess, CanReachNothingOutside) {
  for (const char* order : {"open", "write", "fork", "socket", "code"}) EXPECT_EQ(told(order), "refused") << order;
  // What no reader ever has a reason to try ends it.
  for (const char* order : {"kill-parent", "exec"})
    EXPECT_NE(failure(order).find("is damaged"), std::string::npos) << order;
}

TEST_F(ReaderProcess, HasItsMemoryLimited) {
  EXPECT_NE(failure("memory").find("more memory than is allowed"), std::string::npos);
}

// Of what the machine has left, so that a hand does not wait for memory.
TEST_F(ReaderProcess, HasNoMoreThanHalfOfTheMemoryThatIsFree) {
  if (is_sanitized()) GTEST_SKIP() << "a sanitizer reserves more than any limit";
  const std::uint64_t before = free_memory();
  std::ofstream(folder_ / "file") << "limit\n";
  std::filesystem::resize_file(folder_ / "file", before / 32);  // of which it could take all
  const ImportedMesh read = load_mesh(folder_ / "file");
  const std::uint64_t free = std::max(before, free_memory());
  const double limit = std::stod(read.report.doubts.at(0));
  EXPECT_LT(limit, 0.75 * static_cast<double>(free));  // free memory changes all the time
  EXPECT_GT(limit, 0.25 * static_cast<double>(before));
}

// In front of a limit that it inherits it has to stop, and may not ask for more.
TEST_F(ReaderProcess, KeepsWithinALimitThatItInherits) {
  if (is_sanitized()) GTEST_SKIP() << "a sanitizer reserves more than any limit";
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_AS, &before), 0);
  constexpr rlim_t k_inherited = rlim_t{3} << 30U;  // less than it would be given, and enough to begin with
  EXPECT_EQ(in_a_child([&] {
              const rlimit low{k_inherited, k_inherited};
              if (setrlimit(RLIMIT_AS, &low) != 0) return 1;
              task_.memory_bytes = std::uint64_t{200} << 20U;
              task_.most_memory_bytes = std::uint64_t{8} << 30U;
              return failure("memory-of-a-gigabyte").find("more memory than is allowed") != std::string::npos ? 0 : 2;
            }),
            0);
}

// Packed text takes 50 to 75 bytes for each of its own.
TEST_F(ReaderProcess, MayTakeMoreMemoryForAPackedFile) {
  std::ofstream(folder_ / "file") << "PK\3\4 and what follows";
  const ReadableFile packed(folder_ / "file");
  EXPECT_GE(memory_to_read(packed.descriptor(), 1000), 75'000U);
  std::ofstream(folder_ / "plain") << "solid and what follows";
  const ReadableFile plain(folder_ / "plain");
  EXPECT_GE(memory_to_read(plain.descriptor(), 1000), 40'000U);
}

TEST_F(ReaderProcess, MayTakeMoreMemoryWithEachFileThatItIsGiven) {
  std::ofstream(folder_ / "small") << "little";
  std::ofstream(folder_ / "large").flush();
  std::filesystem::resize_file(folder_ / "large", 10U << 20U);  // for which it may take 400 MiB
  task_.memory_bytes = std::uint64_t{64} << 20U;
  EXPECT_NE(failure("memory-for small").find("more memory than is allowed"), std::string::npos);
  EXPECT_EQ(told("memory-for large"), "had it");
  EXPECT_EQ(told("raise-limit"), "refused");  // by itself it may not
  task_.most_memory_bytes = std::uint64_t{128} << 20U;
  EXPECT_NE(failure("memory-for large").find("more memory than is allowed"), std::string::npos);
}

TEST_F(ReaderProcess, SaysIfTheKernelCannotRestrictIt) {
  // In a process of our own for which the kernel refuses filters, as some do.
  const pid_t child = fork();
  if (child == 0) {
    sock_filter code[] = {
        {BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(seccomp_data, nr)},
        {BPF_JMP | BPF_JEQ | BPF_K, 0, 3, SYS_prctl},
        {BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(seccomp_data, args)},
        {BPF_JMP | BPF_JEQ | BPF_K, 0, 1, PR_SET_SECCOMP},
        {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ERRNO | EINVAL},
        {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW},
    };
    const sock_fprog program{6, code};
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) != 0) _exit(2);
    std::ofstream(folder_ / "file") << "behave";
    const int fd = open((folder_ / "file").c_str(), O_RDONLY | O_CLOEXEC);
    bool said = false;
    try {
      const std::vector<RawMesh> meshes = read_in_own_process(fd, task_, {}, quiet_);
      for (const std::string& note : meshes.at(0).notes)
        said = said || note.find("could not give up system calls (Invalid argument)") != std::string::npos;
    } catch (const Error&) {
    }
    _exit(said ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}
TEST_F(ReaderProcess, GetsFilesBesideTheFirstAndNoOthers) {
  std::filesystem::create_directories(folder_ / "in/below");
  std::ofstream(folder_ / "in/a.bin") << "a";
  std::ofstream(folder_ / "in/below/b.bin") << "b";
  std::ofstream(folder_ / "secret") << "c";
  std::filesystem::create_symlink(folder_ / "secret", folder_ / "in/link");
  std::filesystem::create_symlink("..", folder_ / "in/up");
  std::ofstream(folder_ / "in/file") << "files a.bin ./below/b.bin ../secret " + (folder_ / "secret").string() +
                                            " link up/secret below missing";
  const int fd = open((folder_ / "in/file").c_str(), O_RDONLY | O_CLOEXEC);
  const std::vector<RawMesh> meshes = read_in_own_process(fd, task_, folder_ / "in", quiet_);
  EXPECT_EQ(meshes.at(0).notes.at(0), "a.bin yes ./below/b.bin yes ../secret no " + (folder_ / "secret").string() +
                                          " no link no up/secret no below no missing no ");
  EXPECT_EQ(meshes.at(0).further_files.size(), 2u);
  EXPECT_EQ(read_in_own_process(fd, task_, {}, quiet_).at(0).notes.at(0).find("yes"), std::string::npos);
  close(fd);
}

// What the system would end first if there were no memory left, of this thread's processes; -1 if it has none.
int first_to_go() {
  std::ifstream children("/proc/thread-self/children");
  std::string child;
  int score = -1;
  if (children >> child) std::ifstream("/proc/" + child + "/oom_score_adj") >> score;
  return score;
}

TEST_F(ReaderProcess, IsTheFirstToGoIfThereIsNoMemoryLeft) {
  if (!std::ifstream("/proc/thread-self/children").is_open()) GTEST_SKIP() << "this kernel does not list children";
  class Looking final : public Progress {
   public:
    void update(std::string_view, double) override {
      score = first_to_go();
      if (score == 1000 || seconds_since(start_) > 15) throw Cancelled();
    }
    int score = -1;

   private:
    Clock::time_point start_ = Clock::now();
  } looking;
  progress_ = &looking;
  EXPECT_THROW(told("sleep"), Cancelled);
  EXPECT_EQ(looking.score, 1000);
}

TEST_F(ReaderProcess, IsNotBelievedIfWhatItSendsMakesNoSense) {
  for (const char* order : {"bad-index", "bad-piece", "too-much", "many-names", "many-notes"})
    EXPECT_NE(failure(order).find("is damaged"), std::string::npos) << order;
}

// The best of several, because a busy machine stops a thread for longer than that.
TEST_F(ReaderProcess, EndsWithinATenthOfASecondOfACancellation) {
  for (const char* order : {"loop", "sleep"}) {
    double longest_pause = 1e9, end = 1e9;
    for (int i = 0; i < 40 && (longest_pause > 0.1 || end > 0.1); ++i) {
      ImpatientProgress progress(0.3);
      progress_ = &progress;
      EXPECT_THROW(told(order), Cancelled) << order;
      end = std::min(end, seconds_since(progress.cancelled));
      longest_pause = std::min(longest_pause, progress.longest_pause);
    }
    EXPECT_LE(longest_pause, 0.1) << order;
    EXPECT_LE(end, 0.1) << order;
  }
}

TEST_F(ReaderProcess, IsEndedIfItTakesTooLong) {
  task_.limits.seconds = 1;
  EXPECT_NE(failure("loop").find("too long"), std::string::npos);
  EXPECT_NE(failure("sleep").find("too long"), std::string::npos);
}

// The process that `parent` has started; 0 if there is none.
pid_t child_of(pid_t parent) {
  pid_t found = 0;
  DIR* all = opendir("/proc");
  while (const dirent* entry = readdir(all)) {
    const pid_t pid = std::atoi(entry->d_name);
    std::ifstream stat("/proc/" + std::string(entry->d_name) + "/stat");
    std::string line;
    if (pid <= 0 || !std::getline(stat, line)) continue;
    int its_parent = 0;
    std::sscanf(line.c_str() + line.rfind(')') + 4, "%d", &its_parent);
    if (its_parent == parent) found = pid;
  }
  closedir(all);
  return found;
}

// Also if nobody has waited for it yet.
bool is_gone(pid_t pid) {
  std::ifstream stat("/proc/" + std::to_string(pid) + "/stat");
  std::string line;
  return !std::getline(stat, line) || line.at(line.rfind(')') + 2) == 'Z';
}

// Whoever would end it in time cannot any more: the first is killed, the second stands still.
TEST_F(ReaderProcess, DoesNotOutliveTheOneThatStartedItNorItsTime) {
  for (const int signal : {SIGKILL, SIGSTOP}) {
    task_.limits.seconds = signal == SIGKILL ? 600 : 1;
    const pid_t parent = fork();
    if (parent == 0) {
      failure("loop");
      _exit(0);
    }
    pid_t reader = 0;
    EXPECT_TRUE(eventually([&] {
      reader = child_of(parent);
      return reader != 0 && getpriority(PRIO_PROCESS, static_cast<id_t>(reader)) == 19;  // by then it is limited
    }));
    kill(parent, signal);
    EXPECT_TRUE(eventually([&] { return is_gone(reader); })) << signal;
    if (reader > 0 && !is_gone(reader)) kill(reader, SIGKILL);
    kill(parent, SIGKILL);
    waitpid(parent, nullptr, 0);
  }
}

TEST_F(ReaderProcess, RunsOnOneProcessorWithTheLowestPriority) {
  // Looked at from outside while it waits, until it has begun to.
  class Look final : public Progress {
   public:
    void update(std::string_view, double) override {
      const pid_t pid = child_of(getpid());
      std::ifstream status("/proc/" + std::to_string(pid) + "/status");
      for (std::string line; std::getline(status, line);)
        if (line.starts_with("Seccomp:")) filtered = line.back() == '2';  // the last of all
      if (!filtered && seconds_since(start) < 15) return;
      priority = getpriority(PRIO_PROCESS, static_cast<id_t>(pid));
      policy = sched_getscheduler(pid);
      cpu_set_t set;
      sched_getaffinity(pid, sizeof set, &set);
      processors = CPU_COUNT(&set);
      throw Cancelled();
    }
    Clock::time_point start = Clock::now();
    int priority = 0, policy = 0, processors = 0;
    bool filtered = false;
  } look;
  progress_ = &look;
  EXPECT_THROW(told("sleep"), Cancelled);
  EXPECT_EQ(look.priority, 19);
  EXPECT_EQ(look.policy, SCHED_BATCH);
  EXPECT_EQ(look.processors, 1);
  EXPECT_TRUE(look.filtered);
}

TEST_F(ReaderProcess, KeepsNobodyWaitingWhileItDies) {
  ImpatientProgress impatient(0.3);
  progress_ = &impatient;
  const Clock::time_point start = Clock::now();
  EXPECT_THROW(told("die-slowly"), Cancelled);  // an Error: one process may not watch another on this machine
  EXPECT_LT(seconds_since(start), 15);          // it takes 30 s to die, and a call that goes on at once takes 0.4 s
  // The next one waits until it is gone.
  progress_ = &quiet_;
  EXPECT_EQ(told("behave"), "behaved");
}

TEST_F(ReaderProcess, IsMissedInWords) {
  setenv("COTOUCH_READ_MESH", "/no/such/program", 1);
  EXPECT_NE(failure("behave").find("/no/such/program does not start"), std::string::npos);
  setenv("COTOUCH_READ_MESH", "/bin/true", 1);
  EXPECT_NE(failure("behave"), "");
  unsetenv("COTOUCH_READ_MESH");
  EXPECT_EQ(find_mesh_reader().filename(), "cotouch-read-mesh");
}

}  // namespace
}  // namespace cotouch::this_file
