#include "dialect/volcano/decode.h"

#include <fmt/format.h>

#include "base/check.h"
#include "dialect/shared/template.h"
#include "dialect/volcano/go_duration.h"
#include "dialect/volcano/policies.h"
#include "kube/access.h"
#include "kube/meta.h"
#include "model/job_spec.h"

namespace trainyard::dialect::vc {
namespace {

constexpr size_t kSchedulerNameMax = 63;

int count(const Reader& in, std::string_view key, int64_t low = 0, int64_t high = model::kReplicasMax) {
  return static_cast<int>(in.whole(key, low, high).value_or(low));
}

std::optional<int> optional_count(const Reader& in, std::string_view key, int64_t low) {
  std::optional<int64_t> n = in.whole(key, low);
  if (!n) return std::nullopt;
  return static_cast<int>(*n);
}

void check_topology_tiers(const Reader& owner) {
  Reader topology = owner.child("networkTopology");
  topology.one_of("mode", {"", "hard", "soft"});
  std::optional<std::string> name = topology.text("highestTierName");
  if (topology.whole("highestTierAllowed") && name && !name->empty()) {
    topology.report(ProblemKind::kForbidden,
                    "must not specify highestTierAllowed and highestTierName simultaneously");
  }
}

std::optional<PartitionPolicy> decode_partitions(const Reader& task) {
  Reader reader = task.child("partitionPolicy");
  if (!reader.present()) return std::nullopt;
  for (std::string_view key : {"totalPartitions", "partitionSize"}) {
    if (!reader.has(key)) reader.report(key, ProblemKind::kRequired, "must be specified");
  }
  PartitionPolicy partitions;
  partitions.total = count(reader, "totalPartitions", 1);
  partitions.size = count(reader, "partitionSize", 1);
  partitions.min = count(reader, "minPartitions");
  check_topology_tiers(reader);
  return partitions;
}

void decode_depends_on(const Reader& reader, Task& task) {
  Reader depends_on = reader.child("dependsOn");
  task.depends_on = depends_on.texts("name").value_or(std::vector<std::string>{});
  task.depends_on_any = depends_on.one_of("iteration", {"any", "all"}) == "any";
}

Task decode_task(const Reader& reader) {
  Task task;
  task.path = reader.path();
  task.name = reader.text("name").value_or("");
  const size_t told = reader.problems().size();
  task.replicas = count(reader, "replicas");
  task.replicas_clear = reader.problems().size() == told;
  task.min_available = count(reader, "minAvailable");
  task.max_retry = count(reader, "maxRetry", 0, INT32_MAX);
  task.topology_policy =
      reader.one_of("topologyPolicy", {"", "none", "best-effort", "restricted", "single-numa-node"})
          .value_or("");
  task.partitions = decode_partitions(reader);
  task.policies = decode_policies(reader, task.partitions.has_value());
  decode_depends_on(reader, task);
  Reader pod_template = reader.child("template");
  task.pod_template = &pod_template.object();
  if (pod_template.present() || !reader.has("template")) check_template(pod_template, "");
  return task;
}

Volume decode_volume(const Reader& reader) {
  Volume volume;
  volume.path = reader.path();
  volume.mount_path = reader.text("mountPath").value_or("");
  volume.claim_name = reader.text("volumeClaimName").value_or("");
  Reader claim = reader.child("volumeClaim");
  if (claim.present()) volume.claim = &claim.object();
  return volume;
}

void decode_tasks(const Reader& spec, Spec& result) {
  std::vector<Reader> readers = spec.children("tasks");
  if (readers.size() > size_t{model::kRolesMax}) {
    spec.problems().push_back({spec.path_of("tasks"), ProblemKind::kTooMany, fmt::to_string(readers.size()),
                               fmt::format("must have at most {} items", model::kRolesMax)});
    readers.erase(readers.begin() + model::kRolesMax, readers.end());
  }
  for (const Reader& reader : readers) {
    if (reader.present()) result.tasks.push_back(decode_task(reader));
  }
  if (spec.has("tasks") ? spec.raw("tasks")->is_array() && spec.raw("tasks")->get_array().empty()
                        : spec.present()) {
    spec.report("tasks", ProblemKind::kRequired, "no task specified: a job needs at least one");
  }
}

}  // namespace

int Spec::total_replicas() const {
  int total = 0;
  for (const Task& task : tasks) total += task.replicas;
  return total;
}

int Spec::total_min_available() const {
  int total = 0;
  for (const Task& task : tasks) total += task.min_available;
  return total;
}

Spec decode(const Reader& root) {
  Spec result;
  result.name = job_name(root.object());
  result.name_space = kube::namespace_of(root.object());
  result.uid = kube::uid_of(root.object());

  Reader spec = root.child("spec");
  if (!spec.present() && !root.has("spec")) root.report("spec", ProblemKind::kRequired, "must be specified");
  result.scheduler_name = spec.text("schedulerName").value_or("");
  if (result.scheduler_name.size() > kSchedulerNameMax) {
    spec.report("schedulerName", ProblemKind::kTooLong, "must be no more than 63 characters");
  }
  result.queue = spec.text("queue").value_or("");
  result.priority_class = spec.text("priorityClassName").value_or("");
  result.min_available = count(spec, "minAvailable", 0, INT32_MAX);
  result.max_retry = count(spec, "maxRetry", 0, INT32_MAX);
  result.min_success = optional_count(spec, "minSuccess", 1);
  result.ttl_seconds = optional_count(spec, "ttlSecondsAfterFinished", 0);
  decode_tasks(spec, result);
  bool has_partitions = false;
  for (const Task& task : result.tasks) has_partitions |= task.partitions.has_value();
  result.policies = decode_policies(spec, has_partitions);
  for (const Reader& reader : spec.children("volumes")) {
    if (reader.present()) result.volumes.push_back(decode_volume(reader));
  }
  result.plugins = decode_plugins(spec);
  check_topology_tiers(spec);
  std::optional<std::string> estimate = spec.text("runningEstimate");
  if (estimate && !parse_go_duration(*estimate)) {
    spec.report("runningEstimate", ProblemKind::kInvalid, std::string(kDurationRule));
  }
  return result;
}

const Spec& spec_of(const model::JobSpec& job) {
  CHECK(job.dialect == "volcano");
  CHECK(job.reading != nullptr);
  return *static_cast<const Spec*>(job.reading.get());
}

}  // namespace trainyard::dialect::vc
