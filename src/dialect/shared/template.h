// Checks that every dialect makes of a manifest: its metadata, its pod templates, the
// names its children will have, the annotations that are ours. Pure; each problem is
// written to the Reader's list with its path. Nothing here throws, whatever the shape.
// Fields that nobody here reads are never a problem: they survive and are passed on.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "dialect/shared/reader.h"
#include "model/job_spec.h"

namespace trainyard::dialect {

// What a job's name must be: children that are Services ask for the first.
enum class NameRule { kDns1035Label, kDns1123Label, kDns1123Subdomain };

// "" when the name fits the rule, else what is wrong with it in Kubernetes' words.
std::string name_fault(std::string_view name, NameRule rule);

// The job's name; one that the server is yet to make from generateName ends in "xxxxx".
std::string job_name(const json::object& job);

// metadata: there, with a name (or generateName) that fits, a namespace that is a DNS
// label, labels and annotations that are maps of strings.
void check_metadata(const Reader& root, NameRule rule = NameRule::kDns1035Label);

// A PodTemplateSpec. `main_container` must be among its containers unless it is "".
void check_template(const Reader& pod_template, std::string_view main_container);

// The name of the role's last replica, <prefix>-<role>-<replicas-1>, names a Service:
// it must be a DNS label. Does nothing when replicas is 0. The problem is written at
// `where`. What check_metadata has reported of the prefix itself is not said again.
void check_child_names(const Reader& where, std::string_view prefix, std::string_view role, int replicas);

// What the annotations of a job say about restarts.
// trainyard.dev/strategy: which of TensorFlow's strategies its program uses, MultiWorkerMirrored
// or ParameterServer. Mirrored workers cannot go on without one another, and end with 42 when
// they have saved a checkpoint. trainyard.dev/restart-scope: pod, role or job; without it, job
// for a mirrored one.
inline constexpr std::string_view kStrategyAnnotation = "trainyard.dev/strategy";
struct RestartWish {
  std::optional<model::Scope> scope;
  bool mirrored = false;

  bool operator==(const RestartWish&) const = default;
};
RestartWish restart_wish(const Reader& root);
inline std::optional<model::Scope> restart_scope(const Reader& root) { return restart_wish(root).scope; }
// The annotation trainyard.dev/hold-deletion: "true" or "false"; anything else is a problem.
bool holds_deletion(const Reader& root);

}  // namespace trainyard::dialect
