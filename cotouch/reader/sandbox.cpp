#include <cotouch/base/sanitized.h>
#include <cotouch/reader/sandbox.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <system_error>
#include <vector>

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace cotouch {
namespace {

void set_limit(decltype(RLIMIT_CPU) resource, std::uint64_t value) {
  const rlimit limit{value, value};
  setrlimit(resource, &limit);
}

// What this process has mapped or reserved.
[[maybe_unused]] std::uint64_t address_space_bytes() {
  char text[32] = {};
  const int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 0;
  const ssize_t length = read(fd, text, sizeof text - 1);
  close(fd);
  return length > 0 ? std::strtoull(text, nullptr, 10) * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)) : 0;
}

// If the machine runs out of memory it is this process that goes, and not the one that drives a hand.
void be_the_first_to_go() {
  const int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  if (fd < 0) return;
  // Where it cannot be written, the limits are all there is.
  [[maybe_unused]] const ssize_t written = write(fd, "1000", 4);
  close(fd);
}

void stay_on_one_processor() {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
  // The last one: the first is where most systems put their own work.
  for (int cpu = CPU_SETSIZE - 1; cpu >= 0; --cpu)
    if (CPU_ISSET(static_cast<std::size_t>(cpu), &allowed)) {
      CPU_ZERO(&allowed);
      CPU_SET(static_cast<std::size_t>(cpu), &allowed);
      sched_setaffinity(0, sizeof allowed, &allowed);
      return;
    }
}

#ifndef COTOUCH_SANITIZED

#if defined(__x86_64__)
constexpr std::uint32_t k_architecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr std::uint32_t k_architecture = AUDIT_ARCH_AARCH64;
#else
constexpr std::uint32_t k_architecture = 0;
#endif

// For allocating, for the socket, for ending in whatever way.
constexpr int k_allowed[] = {
    SYS_read,         SYS_pread64,     SYS_readv,      SYS_write,           SYS_writev,
    SYS_sendto,       SYS_sendmsg,     SYS_recvfrom,   SYS_recvmsg,         SYS_lseek,
    SYS_close,        SYS_brk,         SYS_munmap,     SYS_mremap,          SYS_madvise,
    SYS_futex,        SYS_getpid,      SYS_gettid,     SYS_clock_gettime,   SYS_gettimeofday,
    SYS_getrandom,    SYS_sched_yield, SYS_rseq,       SYS_rt_sigaction,    SYS_rt_sigprocmask,
    SYS_rt_sigreturn, SYS_exit,        SYS_exit_group, SYS_restart_syscall,
#ifdef SYS_poll
    SYS_poll,
#endif
    SYS_ppoll,
};

// What a library may try on its way and can do without.
constexpr int k_refused[] = {
    SYS_openat,     SYS_openat2,           SYS_newfstatat,      SYS_fstat,  SYS_statx,  SYS_faccessat,
    SYS_faccessat2, SYS_readlinkat,        SYS_getcwd,          SYS_ioctl,  SYS_fcntl,  SYS_clone,
    SYS_clone3,     SYS_prlimit64,         SYS_sysinfo,         SYS_uname,  SYS_getuid, SYS_geteuid,
    SYS_getdents64, SYS_sched_getaffinity, SYS_set_robust_list, SYS_socket,
#ifdef SYS_open
    SYS_open,
#endif
#ifdef SYS_stat
    SYS_stat,
#endif
#ifdef SYS_access
    SYS_access,
#endif
#ifdef SYS_readlink
    SYS_readlink,
#endif
#ifdef SYS_fork
    SYS_fork,
#endif
#ifdef SYS_vfork
    SYS_vfork,
#endif
};

constexpr std::uint32_t k_refuse = SECCOMP_RET_ERRNO | EACCES;

// A program for the kernel's filter: which answer each system call gets.
class Filter {
 public:
  Filter() {
    load(offsetof(seccomp_data, arch));
    add(BPF_JMP | BPF_JEQ | BPF_K, k_architecture, 1, 0);
    add(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS, 0, 0);
    load(offsetof(seccomp_data, nr));
#if defined(__x86_64__)
    // The calls of the x32 interface have numbers of their own.
    add(BPF_JMP | BPF_JGE | BPF_K, 0x40000000, 0, 1);
    add(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS, 0, 0);
#endif
  }

  void answer(int call, std::uint32_t with) {
    add(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(call), 0, 1);
    add(BPF_RET | BPF_K, with, 0, 0);
  }
  // Allowed only without these bits in the third argument.
  void allow_without_bits(int call, std::uint32_t bits) {
    add(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(call), 0, 4);
    load(argument(2));
    add(BPF_JMP | BPF_JSET | BPF_K, bits, 0, 1);
    add(BPF_RET | BPF_K, k_refuse, 0, 0);
    add(BPF_RET | BPF_K, SECCOMP_RET_ALLOW, 0, 0);
  }
  // Allowed only if the first argument is this.
  void allow_for(int call, std::uint32_t value) {
    add(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(call), 0, 4);
    load(argument(0));
    add(BPF_JMP | BPF_JEQ | BPF_K, value, 1, 0);
    add(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS, 0, 0);
    add(BPF_RET | BPF_K, SECCOMP_RET_ALLOW, 0, 0);
  }
  void answer_rest(std::uint32_t with) {
    add(BPF_RET | BPF_K, with, 0, 0);
  }

  bool install() {
    const sock_fprog program{static_cast<unsigned short>(code_.size()), code_.data()};
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0;
  }

 private:
  // The low half of an argument, on little-endian machines.
  static std::uint32_t argument(std::size_t index) {
    return static_cast<std::uint32_t>(offsetof(seccomp_data, args) + 8 * index);
  }
  void load(std::size_t offset) {
    add(BPF_LD | BPF_W | BPF_ABS, static_cast<std::uint32_t>(offset), 0, 0);
  }
  void add(int code, std::uint32_t value, std::uint8_t if_true, std::uint8_t if_false) {
    code_.push_back({static_cast<std::uint16_t>(code), if_true, if_false, value});
  }

  std::vector<sock_filter> code_;
};

#endif

}  // namespace

void limit_this_process(const SandboxLimits& limits) {
  be_the_first_to_go();              // before the files in /proc are no longer ours
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // whom would it tell?
  prctl(PR_SET_DUMPABLE, 0);
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  stay_on_one_processor();
  const sched_param usual{};
  sched_setscheduler(0, SCHED_BATCH, &usual);
  setpriority(PRIO_PROCESS, 0, 19);
  set_limit(RLIMIT_CORE, 0);
  set_limit(RLIMIT_CPU, limits.seconds);
  set_limit(RLIMIT_FSIZE, 0);
  set_limit(RLIMIT_NPROC, 0);
  set_limit(RLIMIT_MEMLOCK, 0);
#ifndef COTOUCH_SANITIZED
  const std::uint64_t born_with = address_space_bytes();
  // Nobody may raise what was inherited: then that is the limit.
  rlimit inherited{};
  const bool is_known = getrlimit(RLIMIT_AS, &inherited) == 0;
  const rlim_t most = is_known ? inherited.rlim_max : RLIM_INFINITY;
  const rlimit memory{std::min<rlim_t>(born_with + limits.memory_bytes, most),
                      std::min<rlim_t>(born_with + limits.most_memory_bytes, most)};
  setrlimit(RLIMIT_AS, &memory);
#endif
}

std::string restrict_system_calls() {
#ifdef COTOUCH_SANITIZED
  return "it was built with a sanitizer, which needs more of them";
#else
  if (k_architecture == 0) return "it does not know the system calls of this kind of processor";
  Filter filter;
  for (const int call : k_allowed) filter.answer(call, SECCOMP_RET_ALLOW);
  for (const int call : k_refused) filter.answer(call, k_refuse);
  filter.allow_without_bits(SYS_mmap, PROT_EXEC);
  filter.allow_without_bits(SYS_mprotect, PROT_EXEC);
  filter.allow_for(SYS_tgkill, static_cast<std::uint32_t>(getpid()));  // abort()
  filter.answer_rest(SECCOMP_RET_KILL_PROCESS);
  if (filter.install()) return "";
  return std::system_category().message(errno);
#endif
}

}  // namespace cotouch
