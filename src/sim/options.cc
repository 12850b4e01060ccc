#include "sim/options.h"

#include <fmt/format.h>

#include <array>

namespace trainyard::sim {

namespace {

constexpr std::array<std::string_view, kFaultCount> kNames{
    "watch-delay",    "watch-drop",      "watch-duplicate",
    "watch-gone",     "watch-freeze",    "watch-time-travel",
    "conflict",       "too-many",        "server-error",
    "lost",           "lost-applied",    "slow",
    "crash",          "pause",           "clock-step",
    "rival",          "pod-fails",       "eviction",
    "node-loss",      "stuck-deletion",  "image-pull",
    "phase-flap",     "pod-collected",   "scale",
    "policy-edit",    "invalid-edit",    "suspend",
    "delete-job",     "recreate-job",    "delete-pod",
    "delete-service", "strip-labels",    "command",
    "foreign-pod",    "orphan",          "quota",
    "drain",          "queue-close",     "move",
    "queue-shrink",   "rival-scheduler", "refusal",
    "bookmark",       "old-manifest",
};

// Of a hundred worlds so many have the real scheduler and too little room.
constexpr unsigned kCrowdedPercent = 12;
// And of a hundred with several jobs so many have people who mix up whose things are whose.
constexpr unsigned kMovePercent = 40;
// And of a hundred that are crowded so many have two schedulers.
constexpr unsigned kRivalSchedulerPercent = 30;

void make_crowded(Options& options, Rng& rng) {
  options.crowded = true;
  options.jobs = static_cast<int>(rng.between(2, 4));
  options.nodes = static_cast<int>(rng.between(1, 3));
  for (Fault fault : {Fault::kDrain, Fault::kQueueClose}) {
    if (rng.chance(50)) options.faults.add(fault);
  }
  // A lease that is renewed for ever makes worlds dear, and a pod without labels is no member of its gang.
  options.faults.remove(Fault::kRival);
  options.faults.remove(Fault::kStripLabels);
}

// One takes over from another that is stopped, or away, for long; and what it has seen may be old.
void add_rival_scheduler(Options& options, Rng& rng) {
  options.faults.add(Fault::kRivalScheduler);
  for (Fault fault : {Fault::kPause, Fault::kWatchFreeze}) {
    if (rng.chance(60)) options.faults.add(fault);
  }
}

}  // namespace

std::string_view to_string(Fault fault) { return kNames.at(static_cast<size_t>(fault)); }

std::optional<Fault> fault_named(std::string_view name) {
  for (int i = 0; i < kFaultCount; ++i) {
    if (to_string(static_cast<Fault>(i)) == name) return static_cast<Fault>(i);
  }
  return std::nullopt;
}

Rng stream(uint64_t seed, Stream which) {
  Rng mix(seed * 0x9E3779B97F4A7C15u + static_cast<uint64_t>(which) * 0xD1B54A32D192ED03u);
  return mix.fork();
}

Options derive_options(uint64_t seed) {
  Rng rng = stream(seed, Stream::kOptions);
  Options options;
  options.seed = seed;
  // Swarm: a world has a few kinds of trouble, not all; some have none at all.
  const auto each = static_cast<unsigned>(rng.below(4) == 0 ? 50 : rng.between(0, 30));
  for (int i = 0; i < static_cast<int>(Fault::kOrphan); ++i) {
    if (rng.chance(each)) options.faults.add(static_cast<Fault>(i));
  }
  // Two operators renew a lease for ever: such worlds cost more than the others.
  if (options.faults.has(Fault::kRival) && rng.chance(60)) options.faults.remove(Fault::kRival);
  options.fault_percent = static_cast<unsigned>(rng.between(2, 25));
  options.jobs = rng.chance(80) ? 1 : static_cast<int>(rng.between(2, 3));
  options.replicas_max = rng.chance(80) ? static_cast<int>(rng.between(1, 2)) : 3;
  options.user_actions = static_cast<int>(rng.between(0, 6));
  options.nodes = static_cast<int>(rng.between(1, 3));
  options.trouble = seconds(rng.between(20, 120));
  // Later ideas draw last, so that a seed stays as much the world it was as can be.
  for (Fault fault : {Fault::kOrphan, Fault::kQuota}) {
    if (rng.chance(each)) options.faults.add(fault);
  }
  if (rng.chance(kCrowdedPercent)) make_crowded(options, rng);
  if (options.jobs > 1 && rng.chance(kMovePercent)) options.faults.add(Fault::kMove);
  if (options.crowded && rng.chance(50)) options.faults.add(Fault::kQueueShrink);
  if (options.crowded && rng.chance(kRivalSchedulerPercent)) add_rival_scheduler(options, rng);
  for (Fault fault : {Fault::kRefusal, Fault::kBookmark, Fault::kOldManifest}) {
    if (rng.chance(each)) options.faults.add(fault);
  }
  return options;
}

std::string to_string(const Options& options) {
  std::string text =
      fmt::format("seed {}: {} jobs, up to {} replicas of a role, {} user actions, {} nodes, {} of trouble",
                  options.seed, options.jobs, options.replicas_max, options.user_actions, options.nodes,
                  format_duration(options.trouble));
  if (options.crowded) text += ", crowded";
  if (options.faults.empty()) return text + "; no faults";
  text += fmt::format("; faults at {}%:", options.fault_percent);
  const char* comma = "";
  for (int i = 0; i < kFaultCount; ++i) {
    const auto fault = static_cast<Fault>(i);
    if (!options.faults.has(fault)) continue;
    text += fmt::format("{} {}", comma, to_string(fault));
    comma = ",";
  }
  return text;
}

}  // namespace trainyard::sim
