// Table I of Barbič & James 2008, as printed, for the rows that `contact-table` repeats.
#pragma once

namespace cotouch {

struct PaperRow {
  double levels, points, visited, visited_no_coherence, in_contact, level;
  double elastic_us, contact_us, cycle_us, treeless_us;  // StVK, TT, total, TL
};

namespace table_one {
constexpr double k_coupling_us = 90;  // VC, in every row
constexpr PaperRow k_knight_axe{6, 1.02e6, 2050, 3400, 820, 6, 0, 780, 870, 80000};
constexpr PaperRow k_bridge_dinosaur{4, 85e3, 1989, 5200, 426, 4, 45, 710, 845, 12200};
constexpr PaperRow k_cad_scene_1{4, 80e3, 530, 1520, 50, 4, 45, 125, 260, 6600};
constexpr PaperRow k_dragon_hole{5, 256e3, 1701, 2642, 843, 2, 0, 722, 812, 45000};
constexpr PaperRow k_dragon_dinosaur{5, 256e3, 245, 1390, 24, 3, 90, 531, 711, 590e3};
}  // namespace table_one

}  // namespace cotouch
