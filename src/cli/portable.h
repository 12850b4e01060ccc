// Portable: a job between two dialects, in words that all three share, and a list of
// what could not be put into those words. Pure value.
//
// from_*: takes a job out of its dialect. to_*: writes it in another. Each adds to
// `lost` what it has to drop; a line of it begins with the field it is about.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "dialect/shared/restart_policy.h"
#include "kube/json.h"
#include "model/job_spec.h"

namespace trainyard::cli {

using Restart = dialect::RestartPolicy;

struct PortableRole {
  std::string name;  // chief, master, ps, worker, evaluator; from Volcano any other
  int replicas = 1;
  Restart restart = Restart::kNever;
  json::object pod_template;  // without a restartPolicy of its own
  bool failure_ends = false;  // one of it that fails for good fails the job, as the main replica does
  bool in_place = false;      // the node starts a failed container again in the same pod
};

struct PortableGang {
  std::optional<int> min_available;
  std::string queue;
  std::string priority_class;
  std::optional<int> priority;
  std::string scheduler;  // who places it, where that is said
};

struct Portable {
  std::string kind;       // of the source, for messages
  json::object metadata;  // what a person would write; nothing that the API fills in
  std::vector<PortableRole> roles;
  model::Scope scope = model::Scope::kPod;
  bool mirrored = false;          // exit code 42 restarts, as trainyard.dev/strategy says
  bool all_workers = false;       // succeeds when all workers have, not the first
  bool any_failure_ends = false;  // a replica that fails for good fails the job, whichever it is
  model::Cleanup cleanup = model::Cleanup::kNone;
  std::optional<int> restarts_max;
  std::optional<int64_t> deadline_seconds;
  std::optional<int64_t> ttl_seconds;
  bool paused = false;
  std::optional<PortableGang> gang;
  std::optional<json::object> tensorboard;
  std::vector<std::string> lost;

  const PortableRole* find(std::string_view role) const;
  // Whether any role is ever started again.
  bool restarts() const;
  // Whether a TFJob that says this would have the node start failed containers of the role again.
  bool restarts_in_place(const PortableRole& role) const;
  // Whether the role has replicas.
  bool runs(std::string_view role) const;
  // The chief or master, or null.
  const PortableRole* leader() const;
};

// REQUIRES: spec was lowered by the dialect of that name.
Portable from_tfjob(const model::JobSpec& spec);
Portable from_t9k(const model::JobSpec& spec);
Portable from_volcano(const model::JobSpec& spec);

// The manifest. kInvalid when the job has no counterpart at all; the message says why.
Result<json::object> to_tfjob(Portable& job);
Result<json::object> to_t9k(Portable& job);
Result<json::object> to_volcano(Portable& job);

// What the readers share: all that the JobSpec says whatever the dialect, and the
// metadata of `source` that a person would write.
Portable portable_base(const model::JobSpec& spec);
// The object's metadata without what the API and kubectl add to it.
json::object written_metadata(const json::object& object);

// What the writers of TFJob and T9k share.
// Gives every role one of TensorFlow's names, where there is no doubt which.
Result<Done> settle_role_names(Portable& job);
// The main container must be called tensorflow there.
void settle_main_container(PortableRole& role, std::vector<std::string>& lost);
// Takes an annotation away that says nothing in the dialect that is written.
void drop_annotation(json::object& metadata, std::string_view key);
// Says so where the node starts a failed container again in one of the two dialects and not in the other.
void tell_in_place(Portable& job, const PortableRole& role, bool in_place);
// metadata with the annotation trainyard.dev/restart-scope when it is needed.
json::object metadata_with_scope(const Portable& job);

}  // namespace trainyard::cli
