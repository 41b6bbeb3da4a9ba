#include <cotouch/mesh/reading_wire.h>
#include <cotouch/mesh/scan.h>

#include <cstddef>

namespace cotouch {
namespace {

constexpr const char* k_version = "reading-2";

}  // namespace

std::vector<std::string> ReadingTask::arguments() const {
  return {k_version,
          extension,
          std::to_string(limits.file_bytes),
          std::to_string(limits.unpacked_bytes),
          std::to_string(limits.triangles),
          std::to_string(limits.vertices),
          std::to_string(limits.seconds),
          std::to_string(memory_bytes),
          std::to_string(most_memory_bytes),
          unit_is_known ? "1" : "0",
          may_need_files ? "1" : "0"};
}

bool ReadingTask::parse(const std::vector<std::string>& arguments, ReadingTask& task) {
  if (arguments.size() != 11 || arguments[0] != k_version) return false;
  task.extension = arguments[1];
  task.unit_is_known = arguments[9] == "1";
  task.may_need_files = arguments[10] == "1";
  MeshLimits& limits = task.limits;
  return parse_number(arguments[2], limits.file_bytes) && parse_number(arguments[3], limits.unpacked_bytes) &&
         parse_number(arguments[4], limits.triangles) && parse_number(arguments[5], limits.vertices) &&
         parse_number(arguments[6], limits.seconds) && parse_number(arguments[7], task.memory_bytes) &&
         parse_number(arguments[8], task.most_memory_bytes);
}

}  // namespace cotouch
