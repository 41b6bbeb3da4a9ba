// The built page, read into memory once. A request looks its path up in a table, so it can never name a file.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace cotouch {

struct PageFile {
  std::string content_type;
  std::string etag;        // of the contents, quoted
  bool immutable = false;  // its name carries a hash of its contents
  std::shared_ptr<const std::string> body;
};

class PageFiles {
 public:
  PageFiles() = default;
  // Throws Error where the folder has no index.html or is far too big to be a page.
  explicit PageFiles(const std::filesystem::path& folder);

  // `path` as in a request: "/" is the page itself. Null where there is no such file.
  const PageFile* find(std::string_view path) const;
  bool empty() const { return files_.empty(); }

 private:
  std::map<std::string, PageFile, std::less<>> files_;
};

}  // namespace cotouch
