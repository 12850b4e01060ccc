#include "dialect/tfjob/replicas.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/ascii.h"
#include "base/nearest_word.h"
#include "dialect/shared/pod_template.h"
#include "dialect/shared/template.h"
#include "kube/access.h"

namespace trainyard::dialect::tf {
namespace {

struct Found {
  TfRole role;
  Reader reader;
};

std::optional<TfRole> role_of(std::string_view key) {
  for (TfRole role : kTfRoles) {
    std::string_view name = name_of(role);
    bool same = std::equal(key.begin(), key.end(), name.begin(), name.end(),
                           [](char a, char b) { return (a >= 'A' && a <= 'Z' ? a - 'A' + 'a' : a) == b; });
    if (same) return role;
  }
  return std::nullopt;
}

// What is allowed instead of a role that there is not.
std::string roles_allowed(std::string_view given) {
  std::string text = "supported values: \"Chief\", \"Master\", \"PS\", \"Worker\", \"Evaluator\"";
  std::string near = nearest_word(lower_case(given), {"chief", "master", "ps", "worker", "evaluator"});
  if (std::optional<TfRole> role = role_of(near)) {
    text += fmt::format(": did you mean \"{}\"?", title_of(*role));
  }
  return text;
}

bool is_there(const std::vector<Found>& found, TfRole role) {
  return std::any_of(found.begin(), found.end(), [&](const Found& one) { return one.role == role; });
}

// The roles that a job has, and what stands where a role should be: it is looked into as well,
// so that all that is wrong is told at once.
struct Roles {
  std::vector<Found> known;
  std::vector<Reader> unknown;  // and roles that are there already
};

Roles find_in_map(const Reader& spec) {
  Roles found;
  Reader map = spec.child("tfReplicaSpecs");
  for (const auto& member : map.object()) {
    if (member.value().is_null()) continue;
    // The name of a role that there is not may be of any length, and stands in every path below it.
    std::string path = fmt::format("{}[{}]", map.path(), kube::shown(key_of(member)));
    Reader reader(member.value().if_object(), path, spec.problems());
    std::optional<TfRole> role = role_of(key_of(member));
    if (!role) {
      spec.problems().push_back(
          {path, ProblemKind::kUnsupported, shown(json::value(member.key())), roles_allowed(key_of(member))});
      if (reader.present()) found.unknown.push_back(reader);
    } else if (!reader.present()) {
      spec.problems().push_back({path, ProblemKind::kType, shown(member.value()), "must be an object"});
    } else if (is_there(found.known, *role)) {
      reader.report(ProblemKind::kDuplicate, fmt::format("the role {} is given twice", title_of(*role)));
      found.unknown.push_back(reader);
    } else {
      found.known.push_back({*role, reader});
    }
  }
  return found;
}

// v1alpha1: a list whose entries name their role, MASTER when they do not.
Roles find_in_list(const Reader& spec) {
  Roles found;
  for (const Reader& entry : spec.children("replicaSpecs")) {
    if (!entry.present()) continue;
    std::string type = entry.text("tfReplicaType").value_or("MASTER");
    std::optional<TfRole> role = role_of(type);
    if (!role) {
      entry.report("tfReplicaType", ProblemKind::kUnsupported, roles_allowed(type));
      found.unknown.push_back(entry);
    } else if (is_there(found.known, *role)) {
      entry.report("tfReplicaType", ProblemKind::kDuplicate,
                   fmt::format("the role {} is given twice", title_of(*role)));
      found.unknown.push_back(entry);
    } else {
      found.known.push_back({*role, entry});
    }
  }
  return found;
}

// Old manifests say it in the pod template; there it counts where the replica says nothing.
void read_restart_policy(const Reader& reader, TfReplicas& into) {
  std::string_view of_template = kube::text_at(into.pod_template, {"spec", "restartPolicy"});
  bool given = reader.has("restartPolicy") && reader.text("restartPolicy") != "";
  if (!given) {
    into.restart_policy = restart_policy_named(of_template);
    return;
  }
  std::optional<std::string> word =
      reader.one_of("restartPolicy", {"Always", "OnFailure", "Never", "ExitCode"});
  into.restart_policy = restart_policy_named(word.value_or("Never"));
  into.overwrites_template_policy = !of_template.empty();
}

void add_default_port(json::object& pod_template, int port) {
  json::object* container = main_container(pod_template, kTfContainer);
  if (container == nullptr) return;
  json::array& ports = kube::ensure_array(*container, {"ports"});
  for (const json::value& entry : ports) {
    const json::object* one = entry.if_object();
    if (one != nullptr && kube::text_at(*one, {"name"}) == kTfPortName) return;
  }
  ports.push_back(json::object{{"name", kube::jview(kTfPortName)}, {"containerPort", port}});
}

TfReplicas read_one(const Found& found, std::string_view job) {
  const Reader& reader = found.reader;
  TfReplicas one;
  one.role = found.role;
  Reader pod_template = reader.child("template");
  check_template(pod_template, kTfContainer);
  one.pod_template = pod_template.object();
  read_restart_policy(reader, one);
  std::optional<int64_t> replicas = reader.whole("replicas", 0, model::kReplicasMax);
  one.replicas = static_cast<int>(replicas.value_or(1));
  bool leads = found.role == TfRole::kChief || found.role == TfRole::kMaster;
  if (leads && one.replicas > 1) {
    reader.report("replicas", ProblemKind::kInvalid,
                  fmt::format("must be less than or equal to 1: a job has one {}", title_of(found.role)));
  }
  add_default_port(one.pod_template, static_cast<int>(reader.whole("tfPort", 1, 65535).value_or(kTfPort)));
  check_child_names(reader, job, name_of(found.role), one.replicas);
  return one;
}

// The role whose success is the job's must have somebody in it.
void check_somebody_decides(const Reader& spec, const std::vector<Found>& found,
                            const std::vector<TfReplicas>& replicas) {
  for (TfRole role : {TfRole::kChief, TfRole::kMaster, TfRole::kWorker}) {
    for (size_t i = 0; i < found.size(); ++i) {
      if (found[i].role != role) continue;
      if (replicas[i].replicas == 0) {
        found[i].reader.report(
            "replicas", ProblemKind::kInvalid,
            fmt::format("must be greater than or equal to 1: the job succeeds when its {} does",
                        title_of(role)));
      }
      return;
    }
  }
  int total = 0;
  for (const TfReplicas& one : replicas) total += one.replicas;
  if (!replicas.empty() && total == 0) {
    spec.report("tfReplicaSpecs", ProblemKind::kRequired, "must have at least one replica");
  }
}

void check_together(const Reader& spec, const std::vector<TfReplicas>& replicas) {
  int leaders = 0;
  int64_t total = 0;
  for (const TfReplicas& one : replicas) {
    leaders += one.role == TfRole::kChief || one.role == TfRole::kMaster ? 1 : 0;
    total += one.replicas;
  }
  if (leaders > 1) {
    spec.report("tfReplicaSpecs", ProblemKind::kForbidden, "must not have more than 1 Chief or Master role");
  }
  if (total > model::kReplicasMax) {
    Reader(nullptr, spec.path_of("tfReplicaSpecs"), spec.problems())
        .report(ProblemKind::kTooMany,
                fmt::format("has {} replicas in all: must have at most {}", total, model::kReplicasMax));
  }
}

}  // namespace

std::vector<TfReplicas> read_replicas(const Reader& spec, std::string_view api_version,
                                      std::string_view job) {
  bool is_list = api_version == "kubeflow.org/v1alpha1" && spec.has("replicaSpecs");
  std::string_view key = is_list ? "replicaSpecs" : "tfReplicaSpecs";
  auto [found, unknown] = is_list ? find_in_list(spec) : find_in_map(spec);
  const json::value* given = spec.raw(key);
  if (given == nullptr) {
    spec.report(key, ProblemKind::kRequired, "must be required");
  } else if (found.empty() && spec.problems().empty()) {
    spec.report(key, ProblemKind::kRequired, "must have at least one role");
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const Found& a, const Found& b) { return a.role < b.role; });
  std::vector<TfReplicas> replicas;
  for (const Found& one : found) replicas.push_back(read_one(one, job));
  for (const Reader& one : unknown) read_one({TfRole::kWorker, one}, "");
  check_together(spec, replicas);
  check_somebody_decides(spec, found, replicas);
  return replicas;
}

}  // namespace trainyard::dialect::tf
