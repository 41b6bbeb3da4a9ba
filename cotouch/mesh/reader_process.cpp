#include <cotouch/base/error.h>
#include <cotouch/mesh/reader_process.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <mutex>
#include <new>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <linux/openat2.h>
#include <poll.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace cotouch {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr const char* k_program = "cotouch-read-mesh";
// What the user is told if a parser gave up: why it did is a matter between it and the file.
constexpr const char* k_damaged = "is damaged, or too large when unpacked. Export it again or simplify it first.";
constexpr int k_ask_every_ms = 50;
constexpr int k_wait_for_end_ms = 100;
constexpr std::uint64_t k_most_text = 4096, k_most_items = 100'000, k_most_meshes = 4096, k_most_questions = 1000;
constexpr std::uint64_t k_most_notes = 32;  // on a mesh
// Of all names and notes together, each with what it takes to keep it.
constexpr std::uint64_t k_most_texts_bytes = 64U << 20, k_text_overhead = 64;

struct Descriptor {
  int fd = -1;
  explicit Descriptor(int given = -1) : fd(given) {}
  ~Descriptor() {
    if (fd >= 0) close(fd);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
};

// Away from the numbers that the reader's descriptors get, so that none overwrites another on the way.
int out_of_the_way(int fd) {
  return fcntl(fd, F_DUPFD_CLOEXEC, 16);
}

pid_t start_reader(const fs::path& program, const ReadingTask& task, int socket, int file) {
  const Descriptor far_socket(out_of_the_way(socket)), far_file(out_of_the_way(file));
  if (far_socket.fd < 0 || far_file.fd < 0)
    throw Error("cannot be read: too many files are open. Close some programs and try again.", ErrorCode::io);
  std::vector<std::string> arguments = task.arguments();
  arguments.insert(arguments.begin(), k_program);
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  // Nothing of ours but where its libraries are, if they are somewhere unusual.
  std::string libraries;
  std::vector<char*> environment;
  if (const char* path = std::getenv("LD_LIBRARY_PATH")) {
    libraries = std::string("LD_LIBRARY_PATH=") + path;
    environment.push_back(libraries.data());
  }
  environment.push_back(nullptr);

  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&actions);
  posix_spawnattr_init(&attributes);
  for (int fd = 0; fd < 3; ++fd) posix_spawn_file_actions_addopen(&actions, fd, "/dev/null", O_RDWR, 0);
  posix_spawn_file_actions_adddup2(&actions, far_socket.fd, k_reading_socket);
  posix_spawn_file_actions_adddup2(&actions, far_file.fd, k_reading_file);
  posix_spawn_file_actions_addclosefrom_np(&actions, k_reading_file + 1);
  posix_spawn_file_actions_addchdir_np(&actions, "/");
  // Our signal handlers and masks mean nothing there; a process group of its own, so that Ctrl-C reaches us alone, who
  // know what to do with it.
  sigset_t all, none;
  sigfillset(&all);
  sigemptyset(&none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
  pid_t child = -1;
  const int error = posix_spawn(&child, program.c_str(), &actions, &attributes, argv.data(), environment.data());
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (error != 0)
    throw Error("cannot be read: the program " + program.string() + " does not start (" +
                    std::system_category().message(error) + "). Install cotouch again.",
                ErrorCode::io);
  return child;
}

bool is_gone(pid_t child) {
  return waitpid(child, nullptr, WNOHANG) != 0;
}

// Readers that were ended and are not gone yet. Even to die a process needs a processor, and where others leave none
// to one of the lowest priority, that takes seconds. Nobody should wait for it but whoever wants to start the next:
// their memory counts until then.
class EndedReaders {
 public:
  void add(pid_t child) {
    const std::lock_guard lock(mutex_);
    children_.push_back(child);
  }
  bool all_gone() {
    const std::lock_guard lock(mutex_);
    std::erase_if(children_, is_gone);
    return children_.empty();
  }

 private:
  std::mutex mutex_;
  std::vector<pid_t> children_;
};

EndedReaders& ended_readers() {
  static EndedReaders ended;
  return ended;
}

// The reader while it runs. Whatever happens here, it ends with this.
class Reader {
 public:
  Reader(pid_t child, int socket, Progress& progress, Clock::time_point deadline)
      : child_(child), socket_(socket), progress_(progress), deadline_(deadline) {}
  ~Reader() { end(); }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  template <class T>
  T take() {
    T value{};
    take(&value, sizeof value);
    return value;
  }
  // Trusts no count: the reader may have overwritten its own memory.
  template <class Items>
  void take_list(Items& items, std::uint64_t most) {
    const auto count = take<std::uint64_t>();
    if (count > most) throw_damaged();
    // Piece by piece: to touch gigabytes at once would take seconds in which nothing asks whether to go on.
    constexpr std::size_t k_piece = 1U << 16U;
    items.reserve(count);
    while (items.size() < count) {
      const std::size_t before = items.size(), more = std::min<std::size_t>(k_piece, count - before);
      items.resize(before + more);
      take(items.data() + before, more * sizeof items[0]);
    }
  }
  std::string take_text() {
    std::string text;
    take_list(text, k_most_text);
    const std::uint64_t bytes = text.size() + k_text_overhead;
    if (bytes > text_bytes_left_) throw_damaged();
    text_bytes_left_ -= bytes;
    return text;
  }

  // Answers a request for a further file, and allows the memory to read it.
  void give(int file) {
    if (file >= 0) allow_memory_for(file);
    char found = file >= 0 ? 1 : 0;
    iovec bytes{&found, 1};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof file)] = {};
    msghdr message{};
    message.msg_iov = &bytes;
    message.msg_iovlen = 1;
    if (file >= 0) {
      message.msg_control = control;
      message.msg_controllen = sizeof control;
      cmsghdr* head = CMSG_FIRSTHDR(&message);
      head->cmsg_level = SOL_SOCKET;
      head->cmsg_type = SCM_RIGHTS;
      head->cmsg_len = CMSG_LEN(sizeof file);
      std::memcpy(CMSG_DATA(head), &file, sizeof file);
    }
    while (sendmsg(socket_, &message, MSG_NOSIGNAL | MSG_DONTWAIT) < 0 && errno == EINTR) {
    }
  }

  [[noreturn]] void throw_damaged() {
    end();
    throw Error(k_damaged, ErrorCode::damaged_file);
  }

 private:
  // By this process: there, the filter of system calls leaves no way to raise a limit.
  void allow_memory_for(int file) {
    struct stat about {};
    rlimit limit{};
    if (fstat(file, &about) != 0 || prlimit(child_, RLIMIT_AS, nullptr, &limit) != 0) return;
    const std::uint64_t more = memory_to_read(file, static_cast<std::uint64_t>(about.st_size));
    if (limit.rlim_cur >= limit.rlim_max) return;
    limit.rlim_cur += std::min<std::uint64_t>(more, limit.rlim_max - limit.rlim_cur);
    prlimit(child_, RLIMIT_AS, &limit, nullptr);
  }

  void take(void* data, std::size_t size) {
    char* at = static_cast<char*>(data);
    while (size > 0) {
      pollfd ready{socket_, POLLIN, 0};
      poll(&ready, 1, k_ask_every_ms);
      const Clock::time_point now = Clock::now();
      if (now >= next_question_) {
        next_question_ = now + std::chrono::milliseconds(k_ask_every_ms);
        progress_.update("reading the file", 0);
      }
      if (now > deadline_) {
        end();
        throw Error("takes too long to read. Simplify it first.", ErrorCode::too_large);
      }
      if (ready.revents == 0) continue;
      const ssize_t got = recv(socket_, at, std::min<std::size_t>(size, 1U << 20), MSG_DONTWAIT);
      if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
      if (got <= 0) explain_end();
      at += got;
      size -= static_cast<std::size_t>(got);
    }
  }

  // It ended before it had said everything.
  [[noreturn]] void explain_end() {
    // The socket closes a moment before the process is gone: its status tells more than our SIGKILL would.
    int status = 0;
    pid_t gone = 0;
    for (int i = 0; i < 100 && (gone = waitpid(child_, &status, WNOHANG)) == 0; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    if (gone != child_) throw_damaged();
    child_ = -1;
    if (WIFEXITED(status) && WEXITSTATUS(status) == k_reading_misunderstood)
      throw Error(std::string("cannot be read: the program ") + k_program +
                      " is of another version than this one. Install cotouch again.",
                  ErrorCode::unsupported);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
      throw Error(std::string("cannot be read: the program ") + k_program +
                      " lacks a library that it needs (assimp, minizip, zlib or expat). Install that library.",
                  ErrorCode::unsupported);
    if (WIFSIGNALED(status) && (WTERMSIG(status) == SIGXCPU || WTERMSIG(status) == SIGKILL))
      throw Error("takes too long or too much memory to read. Simplify it first.", ErrorCode::too_large);
    throw Error(k_damaged, ErrorCode::damaged_file);
  }

  void end() {
    if (child_ < 0) return;
    kill(child_, SIGKILL);
    bool gone = is_gone(child_);
    for (int i = 0; i < k_wait_for_end_ms && !gone; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      gone = is_gone(child_);
    }
    if (!gone) ended_readers().add(child_);
    child_ = -1;
  }

  pid_t child_;
  int socket_;
  Progress& progress_;
  Clock::time_point deadline_, next_question_{};
  std::uint64_t text_bytes_left_ = k_most_texts_bytes;
};

// A file below `folder`, and no other however its name or a link tries; -1 if there is none.
int open_beside(const fs::path& folder, const std::string& name) {
  const fs::path path(name);
  if (folder.empty() || name.empty() || path.is_absolute() || name.find('\0') != std::string::npos) return -1;
  const Descriptor below(open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (below.fd < 0) return -1;
  open_how how{};
  how.flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
  auto fd = static_cast<int>(syscall(SYS_openat2, below.fd, path.c_str(), &how, sizeof how));
  // Before Linux 5.6 there is no such call: then no link is followed, and no folder but this one is looked into.
  if (fd < 0 && errno == ENOSYS && !path.has_parent_path())
    fd = openat(below.fd, path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW);
  struct stat about {};
  if (fd >= 0 && (fstat(fd, &about) != 0 || !S_ISREG(about.st_mode))) {
    close(fd);
    return -1;
  }
  return fd;
}

// `limits` shrink by what was taken: they hold for all meshes of a file together.
RawMesh take_mesh(Reader& reader, MeshLimits& limits) {
  RawMesh raw;
  raw.mesh.name = reader.take_text();
  const auto metres = reader.take<double>();
  if (metres > 0 && metres <= std::numeric_limits<double>::max()) raw.metres_per_unit = metres;
  const auto up = reader.take<char>();
  if (up != 0 && std::string_view("xyz").find(up) != std::string_view::npos) raw.up_axis = up;
  reader.take_list(raw.mesh.vertices, limits.vertices);
  reader.take_list(raw.mesh.triangles, limits.triangles);
  limits.vertices -= raw.mesh.vertices.size();
  limits.triangles -= raw.mesh.triangles.size();
  for (const Triangle& t : raw.mesh.triangles)
    for (const std::uint32_t index : t)
      if (index >= raw.mesh.vertices.size()) reader.throw_damaged();
  const auto pieces = reader.take<std::uint64_t>();
  if (pieces > k_most_items) reader.throw_damaged();
  std::uint64_t vertices_left = raw.mesh.vertices.size(), triangles_left = raw.mesh.triangles.size();
  for (std::uint64_t i = 0, vertex = 0, triangle = 0; i < pieces; ++i) {
    MeshPiece piece;
    piece.name = reader.take_text();
    piece.vertices = reader.take<std::uint64_t>();
    piece.triangles = reader.take<std::uint64_t>();
    if (piece.vertices > vertices_left || piece.triangles > triangles_left) reader.throw_damaged();
    for (std::uint64_t t = triangle; t < triangle + piece.triangles; ++t)
      for (const std::uint32_t index : raw.mesh.triangles[t])
        if (index < vertex || index >= vertex + piece.vertices) reader.throw_damaged();
    vertices_left -= piece.vertices;
    triangles_left -= piece.triangles;
    vertex += piece.vertices;
    triangle += piece.triangles;
    raw.pieces.push_back(std::move(piece));
  }
  if (pieces > 0 && (vertices_left > 0 || triangles_left > 0)) reader.throw_damaged();
  const auto notes = reader.take<std::uint64_t>();
  if (notes > k_most_notes) reader.throw_damaged();
  for (std::uint64_t i = 0; i < notes; ++i) raw.notes.push_back(reader.take_text());
  return raw;
}

bool can_be_started(const fs::path& program) {
  return access(program.c_str(), X_OK) == 0;
}

}  // namespace

[[gnu::weak]] const char* installed_mesh_reader() {
  return "";
}

fs::path find_mesh_reader() {
  if (const char* named = std::getenv("COTOUCH_READ_MESH"); named != nullptr && *named != 0) return named;
  std::error_code error;
  const fs::path beside = fs::read_symlink("/proc/self/exe", error).parent_path() / k_program;
  if (!error && can_be_started(beside)) return beside;
  const fs::path installed = installed_mesh_reader();
  if (!installed.empty() && can_be_started(installed)) return installed;
  const char* path = std::getenv("PATH");
  for (std::string_view rest = path != nullptr ? path : ""; !rest.empty();) {
    const std::string_view folder = rest.substr(0, rest.find(':'));
    rest.remove_prefix(std::min(folder.size() + 1, rest.size()));
    // Relative ones are skipped: whoever wrote into the current folder should not choose our programs.
    if (folder.starts_with('/') && can_be_started(fs::path(folder) / k_program)) return fs::path(folder) / k_program;
  }
  return {};
}

// Measured on a million triangles: text and binary STL, OBJ and GLB take 1 to 4 bytes for each of theirs; numbers of an
// instanced scene or a strip take up to 40. A packed text (3MF) takes 50 to 75: about 8 in memory for each of its text,
// which packs 6 to 9 times; twice that is left for one that packs better.
std::uint64_t memory_to_read(int file, std::uint64_t size) {
  constexpr std::uint64_t k_plain = 40, k_packed = 128;
  char beginning[4] = {};
  const bool packed = pread(file, beginning, sizeof beginning, 0) == sizeof beginning &&
                      std::string_view(beginning, sizeof beginning) == std::string_view("PK\3\4", 4);
  return (packed ? k_packed : k_plain) * size;
}

std::vector<RawMesh> read_in_own_process(int file, const ReadingTask& task, const fs::path& beside,
                                         Progress& progress) {
  progress.update("reading the file", 0);
  const fs::path program = find_mesh_reader();
  if (program.empty())
    throw Error(std::string("cannot be read: the program ") + k_program +
                    " is neither beside this one nor in PATH. Install cotouch again, or name it in COTOUCH_READ_MESH.",
                ErrorCode::unsupported);
  // Processor time is limited there; this clock is for a reader that waits instead, or does not end.
  const Clock::time_point deadline = Clock::now() + std::chrono::seconds(4 * task.limits.seconds);
  while (!ended_readers().all_gone()) {
    progress.update("reading the file", 0);
    if (Clock::now() > deadline)
      throw Error("cannot be read: the program that read an earlier file does not end. Start cotouch again.",
                  ErrorCode::io);
    std::this_thread::sleep_for(std::chrono::milliseconds(k_ask_every_ms));
  }
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    throw Error("cannot be read: too many files are open. Close some programs and try again.", ErrorCode::io);
  const Descriptor ours(ends[0]);
  pid_t child = -1;
  {
    const Descriptor theirs(ends[1]);
    child = start_reader(program, task, theirs.fd, file);
  }
  Reader reader(child, ours.fd, progress, deadline);

  std::vector<RawMesh> meshes;
  std::vector<fs::path> further;
  MeshLimits left = task.limits;
  std::uint64_t asked = 0;
  for (;;) {
    switch (reader.take<ReadingTag>()) {
      case ReadingTag::error: {
        const auto code = reader.take<ErrorCode>();
        throw Error(reader.take_text(), code);
      }
      case ReadingTag::need: {
        const std::string name = reader.take_text();
        if (++asked > k_most_questions) reader.throw_damaged();
        const Descriptor found(task.may_need_files ? open_beside(beside, name) : -1);
        if (found.fd >= 0) further.push_back(beside / name);
        reader.give(found.fd);
        break;
      }
      case ReadingTag::mesh:
        if (meshes.size() >= k_most_meshes) reader.throw_damaged();
        meshes.push_back(take_mesh(reader, left));
        break;
      case ReadingTag::done:
        if (meshes.empty()) reader.throw_damaged();
        meshes.front().further_files = std::move(further);
        return meshes;
      default: reader.throw_damaged();
    }
  }
}

}  // namespace cotouch
