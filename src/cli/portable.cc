#include "cli/portable.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>

#include "dialect/shared/dialect.h"
#include "dialect/shared/template.h"
#include "kube/access.h"
#include "kube/meta.h"

namespace trainyard::cli {
namespace {

constexpr std::string_view kMainContainer = "tensorflow";
constexpr std::array<std::string_view, 5> kTensorFlowRoles{"chief", "master", "ps", "worker", "evaluator"};

std::optional<int64_t> whole_seconds(const std::optional<Duration>& duration) {
  if (!duration) return std::nullopt;
  return std::chrono::duration_cast<std::chrono::seconds>(*duration).count();
}

bool is_tensorflow_role(std::string_view name) {
  return std::find(kTensorFlowRoles.begin(), kTensorFlowRoles.end(), name) != kTensorFlowRoles.end();
}

}  // namespace

const PortableRole* Portable::find(std::string_view role) const {
  auto found =
      std::find_if(roles.begin(), roles.end(), [&](const PortableRole& r) { return r.name == role; });
  return found == roles.end() ? nullptr : &*found;
}

bool Portable::restarts() const {
  return std::any_of(roles.begin(), roles.end(),
                     [](const PortableRole& r) { return r.restart != Restart::kNever; });
}

bool Portable::restarts_in_place(const PortableRole& role) const {
  return scope == model::Scope::kPod &&
         (role.restart == Restart::kOnFailure || role.restart == Restart::kAlways);
}

bool Portable::runs(std::string_view role) const {
  const PortableRole* found = find(role);
  return found != nullptr && found->replicas > 0;
}

const PortableRole* Portable::leader() const {
  const PortableRole* chief = find("chief");
  return chief != nullptr ? chief : find("master");
}

json::object written_metadata(const json::object& object) {
  json::object kept;
  const json::object* metadata = kube::object_at(object, {"metadata"});
  if (metadata == nullptr) return kept;
  for (const char* key : {"name", "generateName", "namespace", "labels", "annotations"}) {
    if (const json::value* value = metadata->if_contains(key); value != nullptr && !value->is_null())
      kept[key] = *value;
  }
  if (kept.contains("name")) kept.erase("generateName");
  if (json::value* annotations = kept.if_contains("annotations");
      annotations != nullptr && annotations->is_object()) {
    annotations->get_object().erase("kubectl.kubernetes.io/last-applied-configuration");
    if (annotations->get_object().empty()) kept.erase("annotations");
  }
  return kept;
}

Portable portable_base(const model::JobSpec& spec) {
  const json::object& source = *spec.source;
  Portable job;
  job.kind = kube::text_at(source, {"kind"});
  job.metadata = written_metadata(source);
  job.cleanup = spec.cleanup;
  job.restarts_max = spec.budget.restarts_max;
  job.deadline_seconds = whole_seconds(spec.active_deadline);
  job.ttl_seconds = whole_seconds(spec.ttl_after_finished);
  job.paused = spec.mode == model::RunMode::kPause;
  job.mirrored = kube::annotation_of(source, dialect::kStrategyAnnotation) == "MultiWorkerMirrored";
  if (job.mirrored) job.scope = model::Scope::kJob;
  std::string_view scope = kube::annotation_of(source, dialect::kRestartScopeAnnotation);
  if (scope == "pod") job.scope = model::Scope::kPod;
  if (scope == "role") job.scope = model::Scope::kRole;
  if (scope == "job") job.scope = model::Scope::kJob;
  return job;
}

Result<Done> settle_role_names(Portable& job) {
  std::vector<PortableRole*> unknown;
  for (PortableRole& role : job.roles) {
    if (!is_tensorflow_role(role.name)) unknown.push_back(&role);
  }
  if (unknown.empty()) return Done{};
  if (unknown.size() == 1 && job.find("worker") == nullptr) {
    job.lost.push_back(
        fmt::format("task {}: TensorFlow has no role of that name; it is now the worker", unknown[0]->name));
    unknown[0]->name = "worker";
    return Done{};
  }
  std::string names;
  for (const PortableRole* role : unknown) names += (names.empty() ? "" : ", ") + role->name;
  return Error{
      ErrorKind::kInvalid,
      fmt::format("TensorFlow has no role for: {} (there are chief, master, ps, worker and evaluator; the "
                  "arguments of the tensorflow plugin say which task plays which)",
                  names)};
}

void settle_main_container(PortableRole& role, std::vector<std::string>& lost) {
  json::array& containers = kube::ensure_array(role.pod_template, {"spec", "containers"});
  for (const json::value& container : containers) {
    if (container.is_object() && kube::text_at(container.get_object(), {"name"}) == kMainContainer) return;
  }
  if (containers.empty() || !containers[0].is_object()) return;
  json::object& first = containers[0].get_object();
  lost.push_back(fmt::format("container {} of {}: it is now called tensorflow, which marks the main one",
                             kube::text_at(first, {"name"}), role.name));
  first["name"] = kube::jview(kMainContainer);
}

void tell_in_place(Portable& job, const PortableRole& role, bool in_place) {
  if (role.in_place == in_place) return;
  job.lost.push_back(
      in_place
          ? fmt::format("restarts of {}: the node starts a failed container again in the same pod; before, a "
                        "new pod was made",
                        role.name)
          : fmt::format("restarts of {}: a new pod is made; before, the node started a failed container "
                        "again in the same pod",
                        role.name));
}

void drop_annotation(json::object& metadata, std::string_view key) {
  json::value* annotations = metadata.if_contains("annotations");
  if (annotations == nullptr || !annotations->is_object()) return;
  annotations->get_object().erase(kube::jview(key));
  if (annotations->get_object().empty()) metadata.erase("annotations");
}

json::object metadata_with_scope(const Portable& job) {
  json::object metadata = job.metadata;
  if (job.mirrored) return metadata;  // the strategy says it, or the scope that is there
  std::string_view word;
  switch (job.scope) {
    case model::Scope::kPod:
      break;
    case model::Scope::kPartition:
    case model::Scope::kRole:
      word = "role";
      break;
    case model::Scope::kJob:
      word = "job";
      break;
  }
  if (!word.empty()) {
    kube::ensure_object(metadata, {"annotations"})[kube::jview(dialect::kRestartScopeAnnotation)] =
        kube::jview(word);
  }
  return metadata;
}

}  // namespace trainyard::cli
