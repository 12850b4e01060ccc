// Explore: a small world, exhaustively. The undisturbed run of a scenario says how many
// writes the operator makes, and in a crowded world the scheduler, and what is there in the end;
// then, for every single write, its process is struck at it in every way there is, and the end must
// be the same.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/process.h"
#include "sim/script.h"

namespace trainyard::sim {

struct Finding {
  std::string scenario;
  Perturbation perturbation;  // none: the undisturbed run
  std::string text;
};
std::string to_string(const Finding& finding);

struct Exploration {
  int operator_writes = 0;  // of the undisturbed run
  int scheduler_writes = 0;
  int runs = 0;
  std::vector<Finding> findings;
};

Exploration explore(const Scenario& scenario);

// One run, with its story.
std::string tell(const Scenario& scenario, const Perturbation& perturbation);

}  // namespace trainyard::sim
