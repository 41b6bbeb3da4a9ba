#include <cotouch/mesh/raw_mesh.h>

namespace cotouch {

void turn_z_up(TriangleMesh& mesh, char up_axis) {
  if (up_axis == 'y')
    for (Vec3d& v : mesh.vertices) v = {v.x, -v.z, v.y};
  if (up_axis == 'x')
    for (Vec3d& v : mesh.vertices) v = {-v.y, -v.z, v.x};
}

void turn_from_z_up(TriangleMesh& mesh, char up_axis) {
  if (up_axis == 'y')
    for (Vec3d& v : mesh.vertices) v = {v.x, v.z, -v.y};
  if (up_axis == 'x')
    for (Vec3d& v : mesh.vertices) v = {v.z, -v.x, -v.y};
}

}  // namespace cotouch
