#include <cotouch/base/error.h>
#include <cotouch/elastic/tet_file.h>
#include <cotouch/mesh/scan.h>

namespace cotouch {
namespace {

[[noreturn]] void refuse(const char* file, std::size_t line, const char* what) {
  throw Error(std::string("is damaged in line ") + std::to_string(line) + " of its " + file + " file: " + what +
              ". Export it again.");
}

[[noreturn]] void cut_short(const char* file, std::uint64_t found, std::uint64_t promised) {
  throw Error(std::string("is cut short: its ") + file + " file promises " + std::to_string(promised) +
              " lines and has " + std::to_string(found) + ". Export or download it again.");
}

// "count dimension attributes markers", then a line "number x y z ..." for each node. Numbers begin with 0 or 1.
void read_nodes(FileBytes bytes, const TetFileOptions& options, TetFile& file) {
  ContentLines lines(as_text(bytes));
  std::uint64_t count = 0, dimension = 0;
  if (!lines.next() || !parse_number(lines.words().word(), count) || !parse_number(lines.words().word(), dimension))
    throw Error("is no pair of TetGen files: its .node file does not begin with the number of nodes.");
  if (dimension != 3) throw Error("has nodes that are not of three dimensions.", ErrorCode::unsupported);
  check_promise(count, bytes.size(), "nodes");
  for (std::uint64_t i = 0; i < count; ++i) {
    if (!lines.next()) cut_short(".node", i, count);
    TetFile::Node node{};
    if (!parse_number(lines.words().word(), node.name))
      refuse(".node", lines.number(), "it should begin with a number");
    for (std::size_t k = 0; k < 3; ++k)
      if (!parse_number(lines.words().word(), node.at[k]))
        refuse(".node", lines.number(), "it should hold three coordinates");
    file.add(node, options);
  }
}

// "count nodes-of-each attributes", then a line "number a b c d ..." for each tetrahedron.
void read_elements(FileBytes bytes, const TetFileOptions& options, TetFile& file) {
  ContentLines lines(as_text(bytes));
  std::uint64_t count = 0, corners = 4;
  if (!lines.next() || !parse_number(lines.words().word(), count))
    throw Error("is no pair of TetGen files: its .ele file does not begin with the number of tetrahedra.");
  const std::string_view word = lines.words().word();
  if (!word.empty() && !parse_number(word, corners)) refuse(".ele", lines.number(), "it lacks the nodes of an element");
  if (corners == 10) refuse_second_order();
  if (corners != 4) throw Error("has elements that are no tetrahedra.", ErrorCode::unsupported);
  check_promise(count, bytes.size(), "tetrahedra");
  for (std::uint64_t i = 0; i < count; ++i) {
    if (!lines.next()) cut_short(".ele", i, count);
    TetFile::Element element{};
    if (!parse_number(lines.words().word(), element.name))
      refuse(".ele", lines.number(), "it should begin with a number");
    for (std::uint64_t& node : element.nodes)
      if (!parse_number(lines.words().word(), node)) refuse(".ele", lines.number(), "it should hold four nodes");
    file.add(element, options);
  }
}

}  // namespace

TetMesh read_tetgen(FileBytes node_file, FileBytes ele_file, const TetFileOptions& options,
                    std::vector<std::string>& notes) {
  TetFile file;
  read_nodes(node_file, options, file);
  read_elements(ele_file, options, file);
  return checked_mesh(file, options, notes);
}

}  // namespace cotouch
