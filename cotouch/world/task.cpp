#include <cotouch/world/task.h>

namespace cotouch {

TaskError task_error(const Task& task, const Pose& body) noexcept {
  return {norm(body.position - task.target.position),
          norm(rotation_vector(task.target.rotation * body.rotation.conjugate()))};
}

bool within_tolerance(const Task& task, const TaskError& error) noexcept {
  return error.position <= task.position_tolerance && error.angle <= task.angle_tolerance;
}

}  // namespace cotouch
