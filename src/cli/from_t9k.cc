#include <fmt/format.h>

#include "cli/portable.h"
#include "kube/access.h"

namespace trainyard::cli {

Portable from_t9k(const model::JobSpec& spec) {
  Portable job = portable_base(spec);
  const json::object& source = *spec.source;
  if (const json::array* entries = kube::array_at(source, {"spec", "replicaSpecs"})) {
    for (const json::value& value : *entries) {
      if (!value.is_object()) continue;
      const json::object& entry = value.get_object();
      PortableRole role{std::string(kube::text_at(entry, {"type"})),
                        static_cast<int>(kube::int_at(entry, {"replicas"}).value_or(1)),
                        dialect::restart_policy_named(kube::text_at(entry, {"restartPolicy"})),
                        {}};
      if (const json::object* pod_template = kube::object_at(entry, {"template"}))
        role.pod_template = *pod_template;
      kube::ensure_object(role.pod_template, {"spec"}).erase("restartPolicy");
      job.roles.push_back(std::move(role));
    }
  }
  if (const json::object* place = kube::object_at(source, {"spec", "scheduler", "t9kScheduler"})) {
    PortableGang gang;
    gang.queue = kube::text_at(*place, {"queue"});
    if (auto priority = kube::int_at(*place, {"priority"})) gang.priority = static_cast<int>(*priority);
    job.gang = gang;
  }
  if (const json::object* board = kube::object_at(source, {"spec", "tensorboardSpec"}))
    job.tensorboard = *board;
  const json::object* debug = kube::object_at(source, {"spec", "runMode", "debug"});
  if (debug != nullptr && (kube::bool_at(*debug, {"enabled"}).value_or(false) ||
                           kube::bool_at(*debug, {"enable"}).value_or(false))) {
    job.lost.push_back("spec.runMode.debug: no counterpart; the replicas run their own commands");
  }
  if (kube::find(source, {"spec", "runMode", "pause", "resumeSpecs"}) != nullptr) {
    job.lost.push_back("spec.runMode.pause.resumeSpecs: no counterpart; a resumed job runs its own commands");
  }
  return job;
}

}  // namespace trainyard::cli
