#include <cotouch/base/error.h>
#include <cotouch/mesh/scan.h>
#include <cotouch/reader/stated.h>
#include <cotouch/reader/xml_head.h>
#include <cotouch/reader/zip.h>

#include <assimp/scene.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

namespace cotouch {
namespace {

constexpr std::size_t k_beginning = 1U << 16;

const XmlElement* find(const std::vector<XmlElement>& elements, std::string_view name) {
  const auto found =
      std::find_if(elements.begin(), elements.end(), [&](const XmlElement& e) { return e.name == name; });
  return found == elements.end() ? nullptr : &*found;
}

// By the names 3MF and AMF use. Both mean millimetres if none is given.
double unit_named(std::string_view name) {
  static constexpr std::pair<std::string_view, double> k_units[] = {
      {"", 1e-3},       {"micron", 1e-6}, {"millimeter", 1e-3}, {"centimeter", 1e-2},
      {"inch", 0.0254}, {"foot", 0.3048}, {"feet", 0.3048},     {"meter", 1.0}};
  for (const auto& [known, metres] : k_units)
    if (known == name) return metres;
  throw Error("states its unit as '" + std::string(name.substr(0, 40)) +
              "', which is none that its format knows. Give the right one (--unit mm).");
}

bool is_archive(FileBytes bytes) {
  return as_text(bytes).starts_with("PK\3\4");
}

// The text itself, or the file in the archive that has it.
std::vector<XmlElement> head_of(FileBytes bytes, std::string_view ending, std::string_view last) {
  if (!is_archive(bytes)) return xml_head(as_text(bytes), last, true);
  const ZipArchive archive(bytes);
  const ZipEntry* entry = archive.find_ending(ending);
  if (entry == nullptr) return {};
  const std::string text = archive.beginning(*entry, k_beginning);
  return xml_head(text, last, text.size() < k_beginning);
}

Stated stated_by_collada(FileBytes bytes) {
  Stated stated{1, 'y'};  // the format's own defaults
  const std::vector<XmlElement> head = head_of(bytes, ".dae", "asset");
  if (const XmlElement* unit = find(head, "unit")) {
    double metres = 0;
    if (parse_number(unit->value("meter"), metres) && metres > 0 && std::isfinite(metres))
      stated.metres_per_unit = metres;
  }
  if (const XmlElement* up = find(head, "up_axis")) {
    const std::string_view axis = TextScanner(up->text).word();
    stated.up_axis = axis == "X_UP" ? 'x' : axis == "Z_UP" ? 'z' : 'y';
  }
  return stated;
}

Stated stated_by_x3d(FileBytes bytes) {
  Stated stated{0, 'y'};
  for (const XmlElement& element : head_of(bytes, ".x3d", "head")) {
    double metres = 0;
    if (element.name == "unit" && element.value("category") == "length" &&
        parse_number(element.value("conversionFactor"), metres) && metres > 0 && std::isfinite(metres))
      stated.metres_per_unit = metres;
  }
  return stated;
}

Stated stated_by_root(FileBytes bytes, std::string_view ending, bool unit_is_known) {
  const std::vector<XmlElement> head = head_of(bytes, ending, {});
  const std::string_view unit = head.empty() ? std::string_view() : head.front().value("unit");
  return {unit_is_known ? 0 : unit_named(unit), 'z'};
}

// FBX counts in multiples of a centimetre.
Stated stated_by_fbx(const aiScene& scene) {
  Stated stated;
  if (!scene.mMetaData) return stated;
  double centimetres = 0;
  float single = 0;
  if (scene.mMetaData->Get("UnitScaleFactor", centimetres))
    stated.metres_per_unit = centimetres / 100;
  else if (scene.mMetaData->Get("UnitScaleFactor", single))
    stated.metres_per_unit = static_cast<double>(single) / 100;
  std::int32_t axis = 0, sign = 0;
  if (scene.mMetaData->Get("UpAxis", axis) && scene.mMetaData->Get("UpAxisSign", sign) && axis >= 0 && axis < 3 &&
      sign > 0)
    stated.up_axis = "xyz"[axis];
  return stated;
}

}  // namespace

bool is_collada(const std::string& extension) {
  return extension == "dae" || extension == "zae";
}

Stated what_is_stated(const std::string& extension, FileBytes bytes, const aiScene& scene, bool unit_is_known) {
  if (extension == "gltf" || extension == "glb") return {1, 'y'};
  if (is_collada(extension)) return stated_by_collada(bytes);
  if (extension == "3mf") return stated_by_root(bytes, ".model", unit_is_known);
  if (extension == "amf") return stated_by_root(bytes, ".amf", unit_is_known);
  if (extension == "fbx") return stated_by_fbx(scene);
  if (extension == "x3d") return stated_by_x3d(bytes);
  for (const char* y_up : {"x3db", "wrl", "vrml"})
    if (extension == y_up) return {0, 'y'};
  if (extension == "3ds") return {0, 'z'};
  return {};
}

}  // namespace cotouch
