// Does what the file that it reads says, in the place of a parser that has gone astray.
#include <cotouch/base/error.h>
#include <cotouch/mesh/reading_wire.h>
#include <cotouch/mesh/scan.h>
#include <cotouch/reader/serve_reading.h>

#include <csignal>
#include <cstdlib>
#include <new>
#include <stdexcept>

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

using namespace cotouch;

// A triangle named after what was found.
std::vector<RawMesh> tell(const std::string& what) {
  RawMesh raw;
  raw.mesh.vertices = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}};
  raw.mesh.triangles = {{0, 1, 2}};
  raw.notes = {what};
  return {raw};
}

std::string open_descriptors() {
  std::string found;
  for (int fd = 0; fd < 1024; ++fd)
    if (lseek(fd, 0, SEEK_CUR) >= 0 || errno != EBADF) found += std::to_string(fd) + ' ';
  return found;
}

std::vector<RawMesh> misbehave(FileBytes bytes, const std::string&, const ReadSettings&, FurtherFiles& further) {
  TextScanner words(as_text(bytes));
  const std::string_view order = words.word();
  if (order == "behave") return tell("behaved");
  if (order == "error") throw Error("is too green", ErrorCode::not_found);
  if (order == "exception") throw std::runtime_error("vector::at");
  if (order == "strange-exception") throw 7;
  if (order == "segv") std::raise(SIGSEGV);
  if (order == "abort") std::abort();
  if (order == "exit-0") _exit(0);
  if (order == "exit-3") _exit(3);
  if (order == "loop")
    for (volatile bool forever = true; forever;) {
    }
  if (order == "wait")
    for (;;) further.find("nothing");
  if (order == "sleep") {
    char byte = 0;
    for (;;)
      if (read(3, &byte, 1) < 0) break;  // the other side never speaks first
  }
  if (order == "memory") {
    volatile char* much = new char[std::size_t{6} << 30];
    much[0] = 1;
    return tell("had it");
  }
  if (order == "memory-of-a-gigabyte") {
    volatile char* much = new char[std::size_t{1} << 30];
    much[0] = 1;
    return tell("had it");
  }
  if (order == "memory-for") {  // a fifth of a gigabyte, once this file is there
    if (!further.find(std::string(words.word()))) return tell("no file");
    volatile char* much = new char[std::size_t{200} << 20];
    much[0] = 1;
    return tell("had it");
  }
  if (order == "limit") {  // tried, because asking is not allowed
    std::uint64_t had = 0, refused = std::uint64_t{1} << 46U;
    while (refused - had > std::uint64_t{1} << 20U) {
      const std::uint64_t size = (had + refused) / 2;
      void* const room = mmap(nullptr, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
      (room == MAP_FAILED ? refused : had) = size;
      if (room != MAP_FAILED) munmap(room, size);
    }
    return tell(std::to_string(had));
  }
  if (order == "raise-limit") {
    const rlimit more{RLIM_INFINITY, RLIM_INFINITY};
    return tell(setrlimit(RLIMIT_AS, &more) == 0 ? "raised" : "refused");
  }
  if (order == "open") return tell(open("/etc/passwd", O_RDONLY | O_CLOEXEC) < 0 ? "refused" : "opened");
  if (order == "write")
    return tell(open("/tmp/cotouch-misbehaving", O_WRONLY | O_CREAT, 0600) < 0 ? "refused" : "opened");
  if (order == "fork") return tell(fork() < 0 ? "refused" : "forked");
  if (order == "socket") return tell(socket(AF_INET, SOCK_STREAM, 0) < 0 ? "refused" : "opened");
  if (order == "code")
    return tell(mmap(nullptr, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) ==
                        MAP_FAILED
                    ? "refused"
                    : "mapped");
  if (order == "kill-parent") kill(getppid(), SIGKILL);
  if (order == "exec") execl("/bin/true", "true", nullptr);
  if (order == "descriptors") return tell(open_descriptors());
  if (order == "environment") {
    std::string found;
    for (char** one = environ; *one != nullptr; ++one) found += std::string(*one) + '\n';
    return tell(found);
  }
  if (order == "grow") {
    lseek(4, 0, SEEK_END);
    return tell(write(4, "more", 4) < 0 ? "refused" : "written");
  }
  if (order == "files") {
    std::string found;
    for (std::string name(words.word()); !name.empty(); name = words.word())
      found += name + (further.find(name) ? " yes " : " no ");
    return tell(found);
  }
  if (order == "bad-index") {
    std::vector<RawMesh> meshes = tell("");
    meshes[0].mesh.triangles[0][2] = 3;
    return meshes;
  }
  if (order == "bad-piece") {
    std::vector<RawMesh> meshes = tell("");
    meshes[0].pieces = {{"a", 2, 1}, {"b", 1, 0}};
    return meshes;
  }
  if (order == "too-much") {
    std::vector<RawMesh> meshes = tell("");
    meshes[0].mesh.vertices.resize(1000);
    return meshes;
  }
  if (order == "many-names") {  // of pieces that hold nothing
    std::vector<RawMesh> meshes = tell("");
    meshes[0].pieces = {{"all", 3, 1}};
    meshes[0].pieces.resize(20'000, {std::string(4000, 'n'), 0, 0});
    return meshes;
  }
  if (order == "many-notes") {
    std::vector<RawMesh> meshes = tell("");
    meshes[0].notes.resize(1000, "look");
    return meshes;
  }
  return tell("went on");
}

bool should_die_slowly() {
  constexpr std::string_view k_deed = "die-slowly";
  char begin[k_deed.size()] = {};
  return pread(k_reading_file, begin, sizeof begin, 0) == sizeof begin &&
         std::string_view(begin, sizeof begin) == k_deed;
}

// From here on, this process is not gone before another one that watches it is, however it is killed: as on a machine
// that leaves it no processor to die on.
void die_slowly() {
  int ready[2];
  char said = 0;
  prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
  if (pipe(ready) != 0) _exit(3);
  if (const pid_t watched = getpid(); fork() == 0) {
    if (ptrace(PTRACE_SEIZE, watched, nullptr, nullptr) != 0) _exit(3);
    (void)!write(ready[1], &said, 1);
    // Until the reader's caller has gone on, or for ever so long.
    pollfd other_side{k_reading_socket, 0, 0};
    poll(&other_side, 1, 30'000);
    _exit(0);
  }
  close(ready[1]);
  if (read(ready[0], &said, 1) != 1) _exit(3);  // nobody may watch it here
  close(ready[0]);
  for (;;) pause();
}

}  // namespace

int main(int argc, char** argv) {
  if (should_die_slowly()) die_slowly();
  return serve_reading(argc, argv, misbehave);
}
