#include "dialect/volcano/validate.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "dialect/shared/template.h"
#include "dialect/volcano/claims.h"
#include "kube/access.h"
#include "kube/quantity.h"

namespace trainyard::dialect::vc {
namespace {

constexpr size_t kLabelMax = 63;

using Problems = std::vector<Problem>;

void report(Problems& problems, std::string path, ProblemKind kind, std::string found, std::string message) {
  problems.push_back({std::move(path), kind, std::move(found), std::move(message)});
}

std::string quoted(std::string_view text) { return json::serialize(json::value(kube::jview(text))); }

void check_job_name(const Reader& root, const Spec& spec) {
  // The svc plugin names a Service after the job; else the name is only a label's value.
  check_metadata(root, spec.plugins.svc ? NameRule::kDns1035Label : NameRule::kDns1123Subdomain);
  if (!spec.plugins.svc && spec.name.size() > kLabelMax) {
    root.child("metadata")
        .report("name", ProblemKind::kTooLong,
                "must be no more than 63 characters, because pods are labelled with it");
  }
  size_t room = kLabelMax + 1;
  if (spec.plugins.svc || spec.plugins.ssh) room = kLabelMax - 4;   // volumes <job>-svc and <job>-ssh
  if (!spec.volumes.empty()) room = kLabelMax - 1 - kSuffixLength;  // volumes <job>-<suffix>
  if (spec.name.size() > room && spec.name.size() <= kLabelMax) {
    root.child("metadata")
        .report("name", ProblemKind::kTooLong,
                fmt::format("must be no more than {} characters, because volumes of the pods are "
                            "named after it",
                            room));
  }
}

void check_partitions(const Task& task, Problems& problems) {
  if (!task.partitions) return;
  const PartitionPolicy& partitions = *task.partitions;
  int64_t all = int64_t{partitions.total} * partitions.size;
  if (task.replicas_clear && all != task.replicas) {
    report(problems, task.path + ".replicas", ProblemKind::kInvalid, fmt::to_string(task.replicas),
           fmt::format("must equal totalPartitions x partitionSize, which is {}", all));
  }
  int64_t least = int64_t{partitions.min} * partitions.size;
  if (partitions.min > 0 && least != task.min_available) {
    report(problems, task.path + ".minAvailable", ProblemKind::kInvalid, fmt::to_string(task.min_available),
           fmt::format("must equal minPartitions x partitionSize, which is {}", least));
  }
}

// Pinning to a NUMA node needs whole cores.
void check_topology(const Task& task, Problems& problems) {
  if (task.topology_policy.empty() || task.topology_policy == "none") return;
  for (std::string_view key : {"containers", "initContainers"}) {
    const json::array* containers = kube::array_at(*task.pod_template, {"spec", key});
    for (size_t i = 0; containers != nullptr && i < containers->size(); ++i) {
      const json::object* container = (*containers)[i].if_object();
      if (container == nullptr) continue;
      const json::value* cpu = kube::find(*container, {"resources", "requests", "cpu"});
      if (cpu == nullptr) cpu = kube::find(*container, {"resources", "limits", "cpu"});
      Result<kube::Quantity> amount = cpu == nullptr ? kube::Quantity() : kube::Quantity::from_json(*cpu);
      if (!amount.ok()) continue;  // told by the check of the template
      int64_t milli = amount->value_milli();
      if (milli > 0 && milli % 1000 == 0) continue;
      report(
          problems, fmt::format("{}.template.spec.{}[{}].resources.requests.cpu", task.path, key, i),
          ProblemKind::kInvalid, cpu == nullptr ? "" : shown(*cpu),
          fmt::format("must be a whole number of cores, because topologyPolicy is {}", task.topology_policy));
    }
  }
}

void check_task(const Reader& root, const Spec& spec, const Task& task, std::set<std::string>& names) {
  Problems& problems = root.problems();
  std::string fault = name_fault(task.name, NameRule::kDns1123Label);
  if (!fault.empty()) {
    report(problems, task.path + ".name", ProblemKind::kInvalid, quoted(task.name), fault);
  } else if (!names.insert(task.name).second) {
    report(problems, task.path + ".name", ProblemKind::kDuplicate, quoted(task.name),
           "another task has this name");
  } else {
    check_child_names(Reader(nullptr, task.path + ".name", problems), spec.name, task.name, task.replicas);
  }
  if (task.replicas_clear && task.min_available > task.replicas) {
    report(problems, task.path + ".minAvailable", ProblemKind::kInvalid, fmt::to_string(task.min_available),
           fmt::format("must not be greater than replicas, which is {}", task.replicas));
  }
  check_partitions(task, problems);
  check_topology(task, problems);
}

// Follows dependencies from each task; a way that comes back to a task on it is a cycle.
class CycleFinder {
 public:
  CycleFinder(const Spec& spec, Problems& problems) : spec_(spec), problems_(problems) {
    for (size_t i = 0; i < spec.tasks.size(); ++i) index_.emplace(spec.tasks[i].name, i);
    marks_.assign(spec.tasks.size(), Mark::kNew);
  }

  void run() {
    for (size_t i = 0; i < spec_.tasks.size(); ++i) visit(i);
  }

 private:
  enum class Mark { kNew, kOnTheWay, kDone };

  void visit(size_t at) {
    marks_[at] = Mark::kOnTheWay;
    way_.push_back(at);
    const Task& task = spec_.tasks[at];
    std::set<size_t> followed;  // a name may be given often
    for (size_t i = 0; i < task.depends_on.size(); ++i) {
      auto next = index_.find(task.depends_on[i]);
      if (next == index_.end() || !followed.insert(next->second).second) continue;
      if (marks_[next->second] == Mark::kNew)
        visit(next->second);
      else if (marks_[next->second] == Mark::kOnTheWay)
        tell(task, i, next->second);
    }
    way_.pop_back();
    marks_[at] = Mark::kDone;
  }

  void tell(const Task& task, size_t entry, size_t back_to) {
    auto from = std::find(way_.begin(), way_.end(), back_to);
    std::string cycle;
    for (auto step = from; step != way_.end(); ++step) cycle += spec_.tasks[*step].name + " -> ";
    cycle += spec_.tasks[back_to].name;
    report(problems_, fmt::format("{}.dependsOn.name[{}]", task.path, entry), ProblemKind::kInvalid,
           quoted(task.depends_on[entry]), fmt::format("tasks wait for one another in a circle: {}", cycle));
  }

  const Spec& spec_;
  Problems& problems_;
  std::map<std::string, size_t> index_;
  std::vector<Mark> marks_;
  std::vector<size_t> way_;
};

void check_dependencies(const Spec& spec, Problems& problems) {
  std::set<std::string> names;
  for (const Task& task : spec.tasks) names.insert(task.name);
  for (const Task& task : spec.tasks) {
    for (size_t i = 0; i < task.depends_on.size(); ++i) {
      if (names.contains(task.depends_on[i])) continue;
      report(problems, fmt::format("{}.dependsOn.name[{}]", task.path, i), ProblemKind::kInvalid,
             quoted(task.depends_on[i]), "must be the name of another task of this job");
    }
  }
  CycleFinder(spec, problems).run();
}

// What a claim that is to be made must say for an API server to take it.
void check_claim(const Volume& volume, Problems& problems) {
  const std::string at = volume.path + ".volumeClaim";
  const json::array* modes = kube::array_at(*volume.claim, {"accessModes"});
  if (modes == nullptr || modes->empty()) {
    report(problems, at + ".accessModes", ProblemKind::kRequired, "", "at least 1 access mode is required");
  }
  for (size_t i = 0; modes != nullptr && i < modes->size(); ++i) {
    const json::value& mode = (*modes)[i];
    if (mode == "ReadWriteOnce" || mode == "ReadOnlyMany" || mode == "ReadWriteMany" ||
        mode == "ReadWriteOncePod")
      continue;
    report(problems, fmt::format("{}.accessModes[{}]", at, i), ProblemKind::kUnsupported, shown(mode),
           "supported values: \"ReadWriteOnce\", \"ReadOnlyMany\", \"ReadWriteMany\", \"ReadWriteOncePod\"");
  }
  const std::string size = at + ".resources.requests.storage";
  const json::value* storage = kube::find(*volume.claim, {"resources", "requests", "storage"});
  if (storage == nullptr) {
    report(problems, size, ProblemKind::kRequired, "", "must be specified");
    return;
  }
  Result<kube::Quantity> amount = kube::Quantity::from_json(*storage);
  if (!amount.ok() || amount->is_negative() || amount->is_zero()) {
    report(problems, size, ProblemKind::kInvalid, shown(*storage), "must be a quantity above 0, as 10Gi");
  }
}

void check_volume(const Spec& spec, const Volume& volume, std::set<std::string>& paths, Problems& problems) {
  if (volume.mount_path.empty()) {
    report(problems, volume.path + ".mountPath", ProblemKind::kRequired, "", "must be specified");
  } else if (volume.mount_path.find(':') != std::string::npos) {
    report(problems, volume.path + ".mountPath", ProblemKind::kInvalid, quoted(volume.mount_path),
           "must not contain ':'");
  } else if (!paths.insert(volume.mount_path).second) {
    report(problems, volume.path + ".mountPath", ProblemKind::kDuplicate, quoted(volume.mount_path),
           "another volume is mounted there");
  }
  if (volume.claim_name.empty() && volume.claim == nullptr) {
    report(problems, volume.path, ProblemKind::kRequired, "",
           "either volumeClaim or volumeClaimName must be specified");
  }
  if (volume.claim_name.empty()) {
    if (volume.claim != nullptr) check_claim(volume, problems);
    return;
  }
  std::string fault = name_fault(volume.claim_name, NameRule::kDns1123Subdomain);
  if (!fault.empty()) {
    report(problems, volume.path + ".volumeClaimName", ProblemKind::kInvalid, quoted(volume.claim_name),
           fault);
  } else if (volume.claim != nullptr && !is_generated_claim(spec.name, volume.claim_name)) {
    report(problems, volume.path + ".volumeClaimName", ProblemKind::kForbidden, "",
           "give volumeClaimName alone to use a claim that is there, or volumeClaim alone to have one made");
  }
}

void check_totals(const Reader& reader, const Spec& spec) {
  const bool clear =
      std::all_of(spec.tasks.begin(), spec.tasks.end(), [](const Task& task) { return task.replicas_clear; });
  int total = spec.total_replicas();
  if (clear && spec.min_available > total) {
    reader.report(
        "minAvailable", ProblemKind::kInvalid,
        fmt::format("must not be greater than the replicas of all tasks together, which are {}", total));
  }
  if (clear && spec.min_success && *spec.min_success > total) {
    reader.report(
        "minSuccess", ProblemKind::kInvalid,
        fmt::format("must not be greater than the replicas of all tasks together, which are {}", total));
  }
  std::string fault = name_fault(spec.queue, NameRule::kDns1123Subdomain);
  if (!spec.queue.empty() && !fault.empty()) reader.report("queue", ProblemKind::kInvalid, fault);
  fault = name_fault(spec.priority_class, NameRule::kDns1123Subdomain);
  if (!spec.priority_class.empty() && !fault.empty()) {
    reader.report("priorityClassName", ProblemKind::kInvalid, fault);
  }
  if (spec.queue == "root") {
    reader.report("queue", ProblemKind::kInvalid, "jobs cannot be submitted to the root queue");
  }
}

}  // namespace

void validate(const Reader& root, const Spec& spec) {
  Problems& problems = root.problems();
  check_job_name(root, spec);
  std::vector<Problem> told;  // decode has told what is wrong with the types already
  Reader reader = Reader(&root.object(), root.path(), told).child("spec");
  Reader fields(reader.present() ? &reader.object() : nullptr, reader.path(), problems);
  if (!fields.present()) return;

  std::set<std::string> names;
  for (const Task& task : spec.tasks) check_task(root, spec, task, names);
  const json::array* tasks = kube::array_at(root.object(), {"spec", "tasks"});
  if (tasks != nullptr && !tasks->empty() && tasks->size() == spec.tasks.size()) check_totals(fields, spec);
  check_dependencies(spec, problems);
  std::set<std::string> paths;
  for (const Volume& volume : spec.volumes) check_volume(spec, volume, paths, problems);
}

}  // namespace trainyard::dialect::vc
