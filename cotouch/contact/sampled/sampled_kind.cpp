#include <cotouch/base/hash.h>
#include <cotouch/contact/sampled/sampled.h>
#include <cotouch/contact/sampled/wall.h>

#include <algorithm>

namespace cotouch {
namespace {

constexpr double k_thickened = 2;  // cells by which a field may be fatter than the mesh, if that is open

double spacing_of(const Part& part) {
  return part.shell_quality.levels.empty() ? 0 : part.shell_quality.levels.back().mean_spacing;
}

bool has_field(const Part& part) {
  return !part.field.data().brick_index.empty();
}

}  // namespace

std::string SampledKind::missing_as_shell(const Part& part) const {
  return part.shell.point_count() == 0 ? "has no pointshell" : "";
}

std::string SampledKind::missing_as_field(const Part& part) const {
  return has_field(part) ? "" : "has no distance field";
}

bool SampledKind::first_is_shell(const Part& first, const Part& second) const {
  if ((first.elastic != nullptr) != (second.elastic != nullptr)) return first.elastic != nullptr;
  const auto can_meet = [this](const Part& shell, const Part& field) {
    return missing_as_shell(shell).empty() && missing_as_field(field).empty();
  };
  if (can_meet(first, second) != can_meet(second, first)) return can_meet(first, second);
  const double a = spacing_of(first), b = spacing_of(second);
  const bool more = first.shell.point_count() >= second.shell.point_count();
  if (a > 0 && b > 0 && more && a > 2 * b) return false;
  if (a > 0 && b > 0 && !more && b > 2 * a) return true;
  return more;
}

PartExtent SampledKind::extent(const Part& part) const {
  Box3d box = part.mesh.bounds();
  for (const Vec3f& point : part.shell.data().positions) box.add(Vec3d(point));
  if (part.mesh.triangles.empty() && has_field(part)) {  // made by hand
    box.add(Vec3d(part.field.box().low));
    box.add(Vec3d(part.field.box().high));
  }
  const auto cell = static_cast<double>(part.field.spacing());
  const double more = k_thickened * cell;
  return {box.center(), box.size() * 0.5 + Vec3d{more, more, more}, cell};
}

double SampledKind::reach(const Part& part, const Pose& place) const {
  double reach = 0;
  const Box3f box = part.field.box();
  for (int corner = 0; corner < 8; ++corner) {
    const Vec3d p{static_cast<double>((corner & 1) != 0 ? box.high.x : box.low.x),
                  static_cast<double>((corner & 2) != 0 ? box.high.y : box.low.y),
                  static_cast<double>((corner & 4) != 0 ? box.high.z : box.low.z)};
    reach = std::max(reach, norm(transform(place, p)));
  }
  return std::max(reach, norm(place.position) + static_cast<double>(part.shell.reach()));
}

double SampledKind::thinnest_wall(const Part& part, double most) const {
  return cotouch::thinnest_wall(part.shell, part.field, most);
}

std::uint64_t SampledKind::hash(const Part& part) const {
  Hasher hash;
  const FieldData& field = part.field.data();
  hash.add_bytes(std::as_bytes(field.samples));
  hash.add_bytes(std::as_bytes(field.coarse));
  hash.add_bytes(std::as_bytes(field.brick_index));
  for (const float v : {field.spacing, field.origin.x, field.origin.y, field.origin.z}) hash.add(v);
  hash.add_bytes(std::as_bytes(part.shell.data().positions));
  if (part.elastic) hash.add(part.elastic->hash());
  return hash.digest();
}

}  // namespace cotouch
