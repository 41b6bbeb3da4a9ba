#include <cotouch/reader/cad_format.h>

#include <cotouch/base/error.h>
#include <cotouch/mesh/scan.h>

#include <algorithm>
#include <utility>

namespace cotouch {
namespace {

constexpr std::string_view k_step = "a STEP file";

// ISO 10303-21 is how STEP and IFC are written; IFC names itself in the header.
enum class Exchange { no, step, ifc };

Exchange exchange_format(FileBytes bytes) {
  constexpr std::size_t k_beginning = 1U << 16U;
  std::string_view text = as_text(bytes).substr(0, k_beginning);
  text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
  if (!text.starts_with("ISO-10303-21")) return Exchange::no;
  const std::size_t schema = text.find("FILE_SCHEMA");
  const bool is_ifc = schema != std::string_view::npos && text.substr(schema, 40).find("IFC") != std::string_view::npos;
  return is_ifc ? Exchange::ifc : Exchange::step;
}

}  // namespace

std::string_view cad_format_named(const std::string& extension) {
  static constexpr std::pair<std::string_view, std::string_view> k_formats[] = {{"step", k_step},
                                                                                {"stp", k_step},
                                                                                {"p21", k_step},
                                                                                {"stpz", k_step},
                                                                                {"iges", "an IGES file"},
                                                                                {"igs", "an IGES file"},
                                                                                {"sldprt", "a SolidWorks part"},
                                                                                {"sldasm", "a SolidWorks assembly"},
                                                                                {"catpart", "a CATIA part"},
                                                                                {"catproduct", "a CATIA assembly"},
                                                                                {"ipt", "an Inventor part"},
                                                                                {"iam", "an Inventor assembly"},
                                                                                {"f3d", "a Fusion design"},
                                                                                {"fcstd", "a FreeCAD document"},
                                                                                {"brep", "an OpenCASCADE shape"},
                                                                                {"x_t", "a Parasolid file"},
                                                                                {"x_b", "a Parasolid file"},
                                                                                {"sat", "an ACIS file"},
                                                                                {"jt", "a JT file"}};
  for (const auto& [ending, format] : k_formats)
    if (ending == extension) return format;
  return {};
}

void refuse_cad_format(FileBytes bytes, const std::string& extension) {
  const Exchange exchange = exchange_format(bytes);
  const std::string_view format = exchange == Exchange::step ? k_step : cad_format_named(extension);
  if (!format.empty() && exchange != Exchange::ifc) throw_cad_format(format);
}

void throw_cad_format(std::string_view format) {
  throw Error("is " + std::string(format) +
                  ": the exact surfaces of a CAD program, which cotouch does not read yet. Export a mesh from that "
                  "program: STL, 3MF, OBJ or glTF, fine enough that round faces look round.",
              ErrorCode::unsupported);
}

}  // namespace cotouch
