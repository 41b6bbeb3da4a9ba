#include <cotouch/base/error.h>
#include <cotouch/mesh/reading_wire.h>
#include <cotouch/reader/sandbox.h>
#include <cotouch/reader/serve_reading.h>

#include <cerrno>
#include <cstring>
#include <map>
#include <new>

#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

namespace cotouch {
namespace {

// Sending fails only if nobody listens any more; then there is nothing left to do.
void send_bytes(const void* data, std::size_t size) {
  const char* at = static_cast<const char*>(data);
  while (size > 0) {
    const ssize_t sent = send(k_reading_socket, at, size, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) _exit(1);
    at += sent;
    size -= static_cast<std::size_t>(sent);
  }
}

template <class T>
void send_value(const T& value) {
  send_bytes(&value, sizeof value);
}

template <class Items>
void send_list(const Items& items) {
  send_value(std::uint64_t{items.size()});
  send_bytes(items.data(), items.size() * sizeof items[0]);
}

// As much as the other side takes.
void send_text(std::string text) {
  if (text.size() > 4000) text.resize(4000);
  send_list(text);
}

void send_mesh(const RawMesh& raw) {
  send_value(ReadingTag::mesh);
  send_text(raw.mesh.name);
  send_value(raw.metres_per_unit);
  send_value(raw.up_axis);
  send_list(raw.mesh.vertices);
  send_list(raw.mesh.triangles);
  send_value(std::uint64_t{raw.pieces.size()});
  for (const MeshPiece& piece : raw.pieces) {
    send_text(piece.name);
    send_value(piece.vertices);
    send_value(piece.triangles);
  }
  send_value(std::uint64_t{raw.notes.size()});
  for (const std::string& note : raw.notes) send_text(note);
}

void send_error(const std::string& message, ErrorCode code) {
  send_value(ReadingTag::error);
  send_value(code);
  send_text(message);
}

// Stays mapped as long as the process.
std::optional<FileBytes> map_descriptor(int fd, std::uint64_t most) {
  const off_t size = lseek(fd, 0, SEEK_END);
  if (size < 0) return std::nullopt;
  if (size == 0) return FileBytes{};
  if (static_cast<std::uint64_t>(size) > most)
    throw Error("is larger than the " + std::to_string(most) + " bytes allowed. Simplify it first.",
                ErrorCode::too_large);
  void* bytes = mmap(nullptr, static_cast<std::size_t>(size), PROT_READ, MAP_PRIVATE, fd, 0);
  if (bytes == MAP_FAILED) throw std::bad_alloc();
  return FileBytes(static_cast<const std::byte*>(bytes), static_cast<std::size_t>(size));
}

// Asks whoever started us.
class AskedFiles final : public FurtherFiles {
 public:
  explicit AskedFiles(const ReadingTask& task) : task_(task) {}

  std::optional<FileBytes> find(const std::string& name) override {
    if (!task_.may_need_files) return std::nullopt;
    const auto known = known_.find(name);
    if (known != known_.end()) return known->second;
    return known_[name] = ask(name);
  }

 private:
  std::optional<FileBytes> ask(const std::string& name) {
    send_value(ReadingTag::need);
    send_text(name);
    char found = 0;
    iovec bytes{&found, 1};
    int file = -1;
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof file)] = {};
    msghdr message{};
    message.msg_iov = &bytes;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    ssize_t got = 0;
    while ((got = recvmsg(k_reading_socket, &message, MSG_CMSG_CLOEXEC)) < 0 && errno == EINTR) {
    }
    if (got <= 0) _exit(1);
    const cmsghdr* head = CMSG_FIRSTHDR(&message);
    if (found == 0 || head == nullptr || head->cmsg_type != SCM_RIGHTS) return std::nullopt;
    std::memcpy(&file, CMSG_DATA(head), sizeof file);
    std::optional<FileBytes> mapped = map_descriptor(file, task_.limits.file_bytes);
    close(file);
    return mapped;
  }

  const ReadingTask& task_;
  std::map<std::string, std::optional<FileBytes>> known_;
};

}  // namespace

int serve_reading(int argc, char** argv, const ReadFunction& read) {
  ReadingTask task;
  if (!ReadingTask::parse({argv + 1, argv + argc}, task)) {
    constexpr char k_who[] =
        "This program reads mesh files for cotouch, which starts it; there is no other use for it.\n";
    if (write(STDERR_FILENO, k_who, sizeof k_who - 1) < 0) return 1;
    return k_reading_misunderstood;
  }
  limit_this_process({task.memory_bytes, task.most_memory_bytes, task.limits.seconds});
  const std::string unrestricted = restrict_system_calls();
  try {
    const std::optional<FileBytes> bytes = map_descriptor(k_reading_file, task.limits.file_bytes);
    if (!bytes) throw Error("cannot be read.", ErrorCode::io);
    AskedFiles further(task);
    std::vector<RawMesh> meshes = read(*bytes, task.extension, {task.limits, task.unit_is_known}, further);
    if (!unrestricted.empty() && !meshes.empty())
      meshes.front().notes.push_back(
          "The reader ran with limits on memory and time, but could not give up system calls (" + unrestricted +
          "); read files of strangers on another machine.");
    for (const RawMesh& raw : meshes) send_mesh(raw);
    send_value(ReadingTag::done);
  } catch (const Error& error) {
    send_error(error.what(), error.code());
  } catch (const std::bad_alloc&) {
    send_error("needs more memory than is allowed for reading one file. Simplify it first.", ErrorCode::too_large);
  } catch (...) {
    send_error("is damaged, or too large when unpacked. Export it again or simplify it first.",
               ErrorCode::damaged_file);
  }
  // Neither destructors nor exit handlers: a parser that went astray may have left anything behind.
  _exit(0);
}

}  // namespace cotouch
