#include <cotouch/base/error.h>
#include <cotouch/base/hash.h>
#include <cotouch/base/read_file.h>
#include <cotouch/serve/page_files.h>

#include <array>
#include <span>
#include <system_error>
#include <utility>

namespace cotouch {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t k_max_files = 1000;
constexpr std::uintmax_t k_max_bytes = 64U << 20;

std::string content_type_of(const fs::path& path) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 15> k_types{{
      {".html", "text/html; charset=utf-8"},
      {".js", "text/javascript; charset=utf-8"},
      {".mjs", "text/javascript; charset=utf-8"},
      {".css", "text/css; charset=utf-8"},
      {".json", "application/json"},
      {".webmanifest", "application/manifest+json"},
      {".svg", "image/svg+xml"},
      {".png", "image/png"},
      {".jpg", "image/jpeg"},
      {".ico", "image/x-icon"},
      {".woff2", "font/woff2"},
      {".wasm", "application/wasm"},
      {".txt", "text/plain; charset=utf-8"},
      {".map", "application/json"},
      {".glb", "model/gltf-binary"},
  }};
  const std::string extension = path.extension().string();
  for (const auto& [ending, type] : k_types)
    if (extension == ending) return std::string(type);
  return "application/octet-stream";
}

}  // namespace

PageFiles::PageFiles(const fs::path& folder) {
  std::error_code error;
  std::uintmax_t bytes = 0;
  for (fs::recursive_directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    if (!it->is_regular_file(error)) continue;
    bytes += it->file_size(error);
    if (files_.size() >= k_max_files || bytes > k_max_bytes)
      throw Error("The folder " + folder.string() +
                  " is too big to be the page; name the folder that holds its index.html.");
    std::string contents = read_text(it->path(), k_max_bytes);
    const std::string name = std::string("/").append(it->path().lexically_relative(folder).generic_string());
    PageFile& entry = files_[name];
    entry.content_type = content_type_of(it->path());
    entry.etag.append("\"").append(hex(hash_bytes(std::as_bytes(std::span(contents))))).append("\"");
    entry.immutable = name.starts_with("/assets/");
    entry.body = std::make_shared<const std::string>(std::move(contents));
  }
  const auto index = files_.find("/index.html");
  if (index == files_.end())
    throw Error("There is no page in " + folder.string() +
                " (no index.html); build it with `./dev build` or name its folder with --web.");
  files_["/"] = index->second;
}

const PageFile* PageFiles::find(std::string_view path) const {
  const auto found = files_.find(path);
  return found == files_.end() ? nullptr : &found->second;
}

}  // namespace cotouch
