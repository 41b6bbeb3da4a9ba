#include <cotouch/app/output.h>
#include <cotouch/base/error.h>

#include <cerrno>
#include <cstring>
#include <fstream>

namespace cotouch {

void write_file(const std::filesystem::path& path, std::string_view contents) {
  std::filesystem::path temporary = path;
  temporary += ".part";
  bool written = false;
  {
    std::ofstream file(temporary, std::ios::binary);
    file.write(contents.data(), static_cast<std::streamsize>(contents.size()));
    file.close();
    written = file.good();
  }
  const int reason = errno;
  std::error_code error;
  if (written) std::filesystem::rename(temporary, path, error);
  if (!written || error) {
    const std::string why = error ? error.message() : std::strerror(reason);
    std::filesystem::remove(temporary, error);
    throw Error("Cannot write " + path.string() + ": " + why + ".");
  }
}

}  // namespace cotouch
