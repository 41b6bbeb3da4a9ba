#include <cotouch/base/error.h>
#include <cotouch/experiment/seams.h>
#include <cotouch/mesh/export.h>
#include <cotouch/world/scene.h>

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <limits>
#include <set>

extern char** environ;

namespace cotouch {
namespace {

constexpr const char* k_scene = "assembly";

// Processor seconds, of all threads, in which a program prepares a mesh from nothing.
double seconds_to_prepare(const std::filesystem::path& program, const std::filesystem::path& mesh,
                          const std::filesystem::path& part) {
  std::array<std::string, 9> words{program.string(), "prepare", mesh.string(), "-o",    part.string(),
                                   "--unit",         "m",       "--no-cache",  "--json"};
  std::array<char*, 10> arguments{};
  std::transform(words.begin(), words.end(), arguments.begin(), [](std::string& word) { return word.data(); });
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  for (int fd = 0; fd < 3; ++fd) posix_spawn_file_actions_addopen(&files, fd, "/dev/null", O_RDWR, 0);
  pid_t child = -1;
  const int error = posix_spawn(&child, arguments[0], &files, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  int status = 0;
  rusage used{};
  const bool ended = error == 0 && wait4(child, &status, 0, &used) == child && status == 0;
  // It must not find what the run before left.
  std::error_code ignored;
  if (!ended || !std::filesystem::remove(part, ignored))
    throw Error(fmt::format("{} did not prepare a part; it has to be a cotouch program.", program.string()));
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

}  // namespace

void measure_preparing(const ExperimentOptions& options, ExperimentReport& report) {
  const std::filesystem::path folder = options.folder / ".seams-prepare";
  std::filesystem::create_directories(folder);
  struct Cleanup {
    const std::filesystem::path& folder;
    ~Cleanup() {
      std::error_code ignored;
      std::filesystem::remove_all(folder, ignored);
    }
  } const cleanup{folder};
  std::set<const TriangleMesh*> meshes;
  std::vector<std::filesystem::path> files;
  const Scene scene = builtin_scene(k_scene);
  for (const SceneBody& body : scene.bodies)
    for (const ScenePart& part : body.parts)
      if (part.mesh && meshes.insert(part.mesh.get()).second) {
        files.push_back(folder / fmt::format("{}.stl", files.size()));
        write_stl(*part.mesh, files.back());
      }
  if (options.quick) files.resize(std::min<std::size_t>(files.size(), 2));

  const int rounds = options.quick ? 1 : 5;
  double now = 0, before = 0;
  for (std::size_t i = 0; i < files.size(); ++i) {
    // The least of several: what else runs on the machine only adds.
    double least = std::numeric_limits<double>::infinity(), least_before = least;
    for (int round = 0; round < rounds; ++round) {
      options.progress->update("preparing parts", (static_cast<double>(i) + static_cast<double>(round) / rounds) /
                                                      static_cast<double>(files.size()));
      least = std::min(least, seconds_to_prepare(options.program, files[i], folder / "now.cot"));
      if (!options.before.empty())
        least_before = std::min(least_before, seconds_to_prepare(options.before, files[i], folder / "before.cot"));
    }
    now += least;
    before += least_before;
  }
  report.add("prepare/seconds", now, "s");
  if (options.before.empty()) {
    report.notes.push_back(
        "prepare/seconds-share, over another build of cotouch on the same meshes in the same run, needs --before "
        "PROGRAM.");
    return;
  }
  report.add("prepare/seconds-share", now / before, "");
  report.notes.push_back(
      fmt::format("Preparing: processor time of all threads for the {} meshes of the scene {}, the "
                  "least of {} runs each, over that of the program given with --before.",
                  files.size(), k_scene, rounds));
}

}  // namespace cotouch
