#include <cotouch/base/error.h>
#include <cotouch/experiment/siege_files.h>
#include <cotouch/part/asset.h>

#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <bit>
#include <cstring>
#include <fstream>
#include <thread>
#include <vector>

namespace cotouch {
namespace {

enum class Feeling : int { same = 0, other = 1, unreadable = 2 };  // exit codes of who felt

struct FileOrder {
  char part[1024] = {};
  double seconds = 0;
};

// What every stored number of a part comes to, as those who touch it meet them: the distances around its points.
std::uint64_t felt_of(const Part& part) {
  std::uint64_t felt = part.shell.point_count();
  const std::span<const ShellNode> points = part.shell.level(part.shell.levels() - 1);
  for (const ShellNode& node : points)
    felt = felt * 31 + std::bit_cast<std::uint32_t>(part.field.distance(node.position));
  for (const std::int16_t sample : part.field.data().samples) felt = felt * 31 + static_cast<std::uint16_t>(sample);
  return felt;
}

bool has_ended(int pipe) {
  pollfd watched{pipe, POLLIN, 0};
  return ::poll(&watched, 1, 0) > 0;
}

// Feels the part, says so, goes on until it is told that the file was changed, and then feels all of it twice more.
Feeling feel_part(const std::filesystem::path& file, int ready, int changed) {
  try {
    const Part part = read_asset(file);
    const std::uint64_t before = felt_of(part);
    WorkerProcess::write_value(ready, 'r');
    for (int more = 2; more > 0;) {
      if (has_ended(changed)) --more;
      if (felt_of(part) != before) return Feeling::other;
    }
    return Feeling::same;
  } catch (const std::exception&) {
    return Feeling::unreadable;
  }
}

void change_in_place(const std::filesystem::path& file, std::uint64_t way) {
  const auto size = std::filesystem::file_size(file);
  constexpr std::uint64_t k_ways = 4;
  switch (way % k_ways) {
    case 0: std::filesystem::resize_file(file, 0); break;
    case 1: std::filesystem::resize_file(file, size / 2); break;
    case 2: {  // what `cp` does: the same file, emptied and written anew
      std::ofstream(file, std::ios::binary | std::ios::trunc) << "another file";
      break;
    }
    default: {
      const std::vector<char> noise(size, '\x7f');
      std::fstream(file, std::ios::binary | std::ios::in | std::ios::out)
          .write(noise.data(), static_cast<std::streamsize>(noise.size()));
    }
  }
}

// One who feels a part, and what becomes of them when its file is changed.
void change_under_somebody(const std::filesystem::path& part, ChangedFiles& count) {
  const std::filesystem::path file = part.string() + ".changed.cot";
  std::filesystem::copy_file(part, file, std::filesystem::copy_options::overwrite_existing);
  std::array<int, 2> ready{}, changed{};
  if (::pipe2(ready.data(), O_CLOEXEC) != 0 || ::pipe2(changed.data(), O_CLOEXEC) != 0)
    throw Error("The system gave no pipe for those who feel a part.");
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(changed[1]);
    ::_exit(static_cast<int>(feel_part(file, ready[1], changed[0])));
  }
  ::close(ready[1]);
  ::close(changed[0]);
  char word = 0;
  const bool feels = child > 0 && WorkerProcess::read_value(ready[0], word);
  if (feels) change_in_place(file, count.changed);
  ::close(changed[1]);
  ::close(ready[0]);
  int status = 0;
  if (child < 0 || ::waitpid(child, &status, 0) != child || !feels) return;
  ++count.changed;
  count.deaths += WIFEXITED(status) ? 0 : 1;
  // Also if what it had begun to feel cannot be read any more.
  count.felt_other += WIFEXITED(status) && WEXITSTATUS(status) != static_cast<int>(Feeling::same) ? 1 : 0;
  std::filesystem::remove(file);
}

void serve_changes(int in, int out) {
  ::setpriority(PRIO_PROCESS, 0, 19);
  for (FileOrder order; WorkerProcess::read_value(in, order);) {
    ChangedFiles count;
    const AttackTime time = AttackTime::from_now(order.seconds, FileChangers::kind().least);
    try {
      while (time.goes_on(count.changed)) {
        change_under_somebody(order.part, count);
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
      }
    } catch (const std::exception&) {
      // What is missing in the count says so.
    }
    if (!WorkerProcess::write_value(out, count)) return;
  }
}

}  // namespace

ChangedFiles& ChangedFiles::operator+=(const ChangedFiles& other) {
  changed += other.changed;
  deaths += other.deaths;
  felt_other += other.felt_other;
  return *this;
}

FileChangers::FileChangers() : process_("those who change files", serve_changes) {
}

void FileChangers::attack(const std::filesystem::path& part, double seconds) {
  FileOrder order;
  std::strncpy(order.part, part.c_str(), sizeof order.part - 1);
  order.seconds = seconds;
  process_.tell(order);
}

}  // namespace cotouch
