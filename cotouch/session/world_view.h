// What there is to see of a world's bodies, hands and task, whether it runs or is replayed.
#pragma once

#include <cotouch/session/view.h>
#include <cotouch/world/model.h>
#include <cotouch/world/state.h>
#include <cotouch/world/step.h>

#include <span>
#include <vector>

namespace cotouch {

// Contact of each body in the last step, in the order of the model's bodies.
void copy_body_contacts(const StepScratch& scratch, std::span<ContactStats> contacts) noexcept;

bool is_held(const WorldState& state, std::size_t body) noexcept;
// Does any point of the body move faster than 1 mm/s? What rests on something creeps more slowly.
bool moves_noticeably(const WorldModel& model, const WorldState& state, std::size_t body) noexcept;

// Of the bodies that are not fixed by the model, or bend; one that was docked is among them.
std::vector<BodyView> body_views(const WorldModel& model, const WorldState& state,
                                 std::span<const ContactStats> contacts);

// Of the bodies that bend.
std::vector<BendingView> bending_views(const WorldModel& model, const WorldState& state);

// Of the hand with this index: what concerns the world, without who holds it. `felt` is what the limits left of the
// force and `max_force` the largest that they allow, newtons. The numbers of contact are those of the body it holds.
HandView hand_view(const WorldModel& model, const WorldState& state, std::span<const ContactStats> contacts,
                   std::size_t hand, const Wrench& felt, double max_force);

// Nothing if the world has no task.
std::optional<TaskView> task_view(const WorldModel& model, const WorldState& state);

}  // namespace cotouch
