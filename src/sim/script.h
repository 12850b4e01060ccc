// Script: a small world told in words, where nothing happens by chance: one job and
// what is done to it, at given seconds.
//
//   tfjob train worker=2 restart=ExitCode
//   20 exit worker-0 137
//   60 exit worker-0 0
//
// A first line "yard 2 1" makes it a crowded world, with nodes of two cpus and of one.
//
// Deeds: exit POD CODE, evict POD, hang POD (its deletion will), lose-node POD, delete-pod POD,
// delete-service SERVICE, apply BLUEPRINT, delete, orphan, create, command ACTION, quota PODS, no-quota;
// also BLUEPRINT, which makes one more job of the same kind, and not BLUEPRINT, which deletes it; cordon NODE
// and uncordon NODE (node-0, node-1, ...), freeze SECONDS (the scheduler is told of no pod), in a yard. Pods
// and services are named by the end of their names.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "sim/blueprint.h"

namespace trainyard::sim {

struct ScriptLine {
  Duration at{0};
  std::string deed;
  std::string argument;

  bool operator==(const ScriptLine&) const = default;
};

struct Script {
  std::vector<int> yard;  // cpus by node; none: there is room for everybody
  Blueprint job;
  std::vector<ScriptLine> lines;
};

// REQUIRES: the text is well formed (it is ours): CHECKed.
Script parse_script(std::string_view text);

struct Scenario {
  std::string_view name;
  std::string_view text;
};
// The small worlds that are explored exhaustively.
const std::vector<Scenario>& scenarios();

}  // namespace trainyard::sim
