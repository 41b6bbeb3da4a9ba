// What every engine that samples a shell has found when it is done: the points in contact.
#pragma once

#include <cotouch/contact/engine.h>

namespace cotouch {

inline constexpr const char* k_workspace_invariant = "A workspace of contact has no room for the shell";

struct SampledWorkspace : ContactWorkspace {
  std::vector<ContactPoint> contacts;
  std::uint32_t contact_count = 0;

  // Of the last evaluation, in the order they were summed.
  std::span<const ContactPoint> touching() const noexcept { return {contacts.data(), contact_count}; }
};

}  // namespace cotouch
