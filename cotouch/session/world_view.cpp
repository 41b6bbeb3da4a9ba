#include <cotouch/session/world_view.h>

#include <algorithm>

namespace cotouch {
namespace {

constexpr double k_largest_share = 0.995;    // of the largest force: as good as all of it
constexpr double k_noticeable_speed = 1e-3;  // m/s

// Was any pair of this body that touches rendered more coarsely than it could be?
bool is_coarse(const WorldModel& model, const WorldState& state, std::size_t body) {
  for (std::size_t i = 0; i < std::min(model.pairs().size(), state.pairs().size()); ++i) {
    const PairModel& pair = model.pairs()[i];
    if (pair.shell_body != body && pair.field_body != body) continue;
    const double level = state.pairs()[i].level;
    if (level > 0 && level + 1 < static_cast<double>(model.engine(pair).levels())) return true;
  }
  return false;
}

}  // namespace

void copy_body_contacts(const StepScratch& scratch, std::span<ContactStats> contacts) noexcept {
  for (std::size_t i = 0; i < contacts.size(); ++i) contacts[i] = scratch.body_stats(i);
}

bool is_held(const WorldState& state, std::size_t body) noexcept {
  const std::span<const HandRecord> hands = state.hands();
  return std::any_of(hands.begin(), hands.end(), [&](const HandRecord& hand) {
    return hand.present != 0 && hand.body == static_cast<double>(body);
  });
}

bool moves_noticeably(const WorldModel& model, const WorldState& state, std::size_t body) noexcept {
  const BodyRecord& record = state.bodies()[body];
  const auto i = static_cast<std::uint32_t>(body);
  double speed = norm(record.velocity) + norm(record.spin) * model.reach(i);
  if (const ElasticModel* const elastic = model.elastic(i))
    speed += elastic->largest_move(state.bending().data() + model.elastic_begin(i) + elastic->size());
  return speed > k_noticeable_speed;
}

std::vector<BodyView> body_views(const WorldModel& model, const WorldState& state,
                                 std::span<const ContactStats> contacts) {
  std::vector<BodyView> views;
  for (std::size_t i = 0; i < model.bodies().size(); ++i) {
    const BodyModel& body = model.bodies()[i];
    if (body.motion == Motion::fixed && model.elastic(static_cast<std::uint32_t>(i)) == nullptr) continue;
    const BodyRecord& record = state.bodies()[i];
    BodyView view;
    view.id = body.id;
    view.motion = static_cast<Motion>(static_cast<int>(record.motion));
    view.held = is_held(state, i);
    view.touching = contacts[i].in_contact > 0;
    view.resting = !view.held && !moves_noticeably(model, state, i);
    view.pose = record.pose;
    view.speed = static_cast<float>(norm(record.velocity));
    views.push_back(view);
  }
  return views;
}

std::vector<BendingView> bending_views(const WorldModel& model, const WorldState& state) {
  std::vector<BendingView> views;
  for (std::uint32_t i = 0; i < model.bodies().size(); ++i) {
    const ElasticModel* const elastic = model.elastic(i);
    if (elastic == nullptr) continue;
    BendingView& view = views.emplace_back();
    view.body = model.bodies()[i].id;
    for (const double q : state.bending().subspan(model.elastic_begin(i), elastic->size()))
      view.coordinates.push_back(static_cast<float>(q));
  }
  return views;
}

HandView hand_view(const WorldModel& model, const WorldState& state, std::span<const ContactStats> contacts,
                   std::size_t hand, const Wrench& felt, double max_force) {
  const HandRecord& record = state.hands()[hand];
  HandView view;
  view.id = HandId{static_cast<std::uint32_t>(hand + 1)};
  view.pose = view.grip = record.pose;
  view.felt = felt;
  // The coupling saturates at the largest force by itself, so the limiter need not have cut anything.
  view.force_limited = norm(record.felt.force - felt.force) > 1e-6 || norm(felt.force) > k_largest_share * max_force;
  if (record.present == 0 || record.body < 0) return view;
  const auto body = static_cast<std::size_t>(record.body);
  const ContactStats& contact = contacts[body];
  view.body = model.bodies()[body].id;
  view.grip = held_pose(model, state, record);
  view.level = contact.level;
  view.detail_limited = contact.in_contact > 0 && is_coarse(model, state, body);
  view.visited = contact.visited;
  view.in_contact = contact.in_contact;
  view.deepest = contact.deepest;
  return view;
}

std::optional<TaskView> task_view(const WorldModel& model, const WorldState& state) {
  const std::optional<Task>& task = model.task();
  const std::optional<std::uint32_t> body = task ? model.index_of(task->body) : std::nullopt;
  if (!body) return std::nullopt;
  const TaskRecord& record = state.head().task;
  const TaskError error = task_error(*task, state.bodies()[*body].pose);
  TaskView view;
  view.state = record.done != 0      ? TaskView::State::done
               : record.started != 0 ? TaskView::State::running
                                     : TaskView::State::waiting;
  view.body = task->body;
  view.position_error = static_cast<float>(error.position);
  view.angle_error = static_cast<float>(error.angle);
  view.position_tolerance = static_cast<float>(task->position_tolerance);
  view.angle_tolerance = static_cast<float>(task->angle_tolerance);
  view.seconds = static_cast<float>(record.seconds);
  view.target = task->target;
  return view;
}

}  // namespace cotouch
