#include <cotouch/base/error.h>
#include <cotouch/base/read_file.h>
#include <cotouch/elastic/read_tets.h>

#include <new>

namespace cotouch {
namespace {

FileCopy open(const std::filesystem::path& path, const TetFileOptions& options) {
  const ReadableFile file(path);
  if (file.size() > options.most_bytes)
    throw Error(path.filename().string() + " is larger than the " + std::to_string(options.most_bytes) +
                    " bytes allowed. Mesh it more coarsely.",
                ErrorCode::too_large);
  return file.copy();
}

}  // namespace

TetMesh read_tets(const std::filesystem::path& path, const TetFileOptions& options, std::vector<std::string>& notes) {
  if (!(options.metres_per_unit > 0 && options.metres_per_unit < 1e6))
    throw Error("A unit of length must be a positive number of metres.", ErrorCode::invalid_argument);
  const std::string name = path.filename().string(), ending = path.extension().string();
  const bool tetgen = ending == ".node" || ending == ".ele";
  if (!tetgen && ending != ".msh")
    throw Error(name + " is of an unknown kind. Tetrahedra are read from Gmsh's .msh and TetGen's .node and .ele.",
                ErrorCode::unsupported);
  const FileCopy file = open(path, options);
  FileCopy other;
  if (tetgen) {
    std::filesystem::path beside = path;
    beside.replace_extension(ending == ".node" ? ".ele" : ".node");
    std::error_code ignored;
    if (!std::filesystem::exists(beside, ignored))
      throw Error(
          name + " is one of a pair of TetGen files, and there is no " + beside.filename().string() + " beside it.",
          ErrorCode::not_found);
    other = open(beside, options);
  }
  try {
    if (!tetgen) return read_msh(file.bytes, options, notes);
    if (ending == ".node") return read_tetgen(file.bytes, other.bytes, options, notes);
    return read_tetgen(other.bytes, file.bytes, options, notes);
  } catch (const Cancelled&) {
    throw;
  } catch (const Error& error) {
    // A reader that names no code found something wrong with the file.
    const ErrorCode code = error.code() == ErrorCode::other ? ErrorCode::damaged_file : error.code();
    throw Error(name + ' ' + error.what(), code);
  } catch (const std::bad_alloc&) {
    throw Error(name + " needs more memory than there is. Mesh it more coarsely.", ErrorCode::too_large);
  }
}

TetMesh read_tets(const std::filesystem::path& path, const TetFileOptions& options) {
  std::vector<std::string> notes;
  return read_tets(path, options, notes);
}

}  // namespace cotouch
