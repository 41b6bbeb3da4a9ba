// The rows of the experiment `modal-table`, one at a time: what its tests run on something small.
#pragma once

#include <cotouch/elastic/anchor.h>
#include <cotouch/experiment/experiment.h>
#include <cotouch/mesh/mesh.h>

#include <cstdint>
#include <optional>
#include <string>

namespace cotouch {

struct ModalRow {
  std::string name, note;
  TriangleMesh surface;
  std::optional<TetMesh> tets;    // else made from the surface, about this many:
  std::uint32_t target_tets = 0;  // within 2 % if a few attempts get there
  std::uint32_t modes = 0;
  std::size_t up = 2;  // the axis along which the lowest twentieth is held
  // Table 2 of paper 000.
  std::optional<double> paper_tets, paper_precompute_s, paper_updates_per_s;
};

void add_modal_row(const ModalRow& row, const ExperimentOptions& options, ExperimentReport& report);

}  // namespace cotouch
