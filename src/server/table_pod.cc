// A pod's row: what a person wants to know of it at a glance, in kubectl's words.
#include <fmt/format.h>

#include <algorithm>

#include "kube/access.h"
#include "kube/meta.h"
#include "server/table_rows.h"

namespace trainyard::server {
namespace {

using kube::array_at;
using kube::int_at;
using kube::object_at;
using kube::text_at;

const json::array& list_at(const json::object& from, std::initializer_list<std::string_view> path) {
  static const json::array kEmpty;
  const json::array* list = array_at(from, path);
  return list ? *list : kEmpty;
}

// What the containers of a pod have to tell.
struct Summary {
  std::string status;
  int64_t restarts = 0;
  std::optional<Time> last_restart;
  int ready = 0;
  int total = 0;
  bool initializing = false;
};

void note_restart(Summary& summary, const json::object& container) {
  std::optional<Time> finished = parse_rfc3339(text_at(container, {"lastState", "terminated", "finishedAt"}));
  if (finished && (!summary.last_restart || *finished > *summary.last_restart))
    summary.last_restart = finished;
}

// "OOMKilled", "Signal:9", "ExitCode:3".
std::string end_of(const json::object& terminated) {
  std::string_view reason = text_at(terminated, {"reason"});
  if (!reason.empty()) return std::string(reason);
  if (int64_t signal = int_at(terminated, {"signal"}).value_or(0); signal != 0) {
    return fmt::format("Signal:{}", signal);
  }
  return fmt::format("ExitCode:{}", int_at(terminated, {"exitCode"}).value_or(0));
}

const json::object* spec_of_init(const json::object& pod, std::string_view name) {
  for (const json::value& each : list_at(pod, {"spec", "initContainers"})) {
    const json::object* container = each.if_object();
    if (container && text_at(*container, {"name"}) == name) return container;
  }
  return nullptr;
}

bool is_sidecar(const json::object* container) {
  return container != nullptr && text_at(*container, {"restartPolicy"}) == "Always";
}

// Whether this init container lets the next one begin; if not, the summary says why.
bool init_is_done(Summary& summary, const json::object& pod, const json::object& status, size_t index,
                  size_t total) {
  const json::object* terminated = object_at(status, {"state", "terminated"});
  if (terminated && int_at(*terminated, {"exitCode"}).value_or(0) == 0) return true;
  bool sidecar = is_sidecar(spec_of_init(pod, text_at(status, {"name"})));
  if (sidecar && kube::bool_at(status, {"started"}).value_or(false)) {
    if (kube::bool_at(status, {"ready"}).value_or(false)) ++summary.ready;
    return true;
  }
  std::string_view waiting = text_at(status, {"state", "waiting", "reason"});
  if (terminated) {
    summary.status = "Init:" + end_of(*terminated);
  } else if (!waiting.empty() && waiting != "PodInitializing") {
    summary.status = fmt::format("Init:{}", waiting);
  } else {
    summary.status = fmt::format("Init:{}/{}", index, total);
  }
  return false;
}

void read_init_containers(Summary& summary, const json::object& pod) {
  const json::array& specs = list_at(pod, {"spec", "initContainers"});
  for (const json::value& each : specs) {
    if (each.is_object() && is_sidecar(&each.get_object())) ++summary.total;
  }
  const json::array& statuses = list_at(pod, {"status", "initContainerStatuses"});
  for (size_t i = 0; i < statuses.size(); ++i) {
    const json::object* status = statuses[i].if_object();
    if (status == nullptr) continue;
    summary.restarts += int_at(*status, {"restartCount"}).value_or(0);
    note_restart(summary, *status);
    if (!init_is_done(summary, pod, *status, i, specs.size())) {
      summary.initializing = true;
      return;
    }
  }
}

bool is_true(const json::object& pod, std::string_view type) {
  for (const json::value& each : list_at(pod, {"status", "conditions"})) {
    const json::object* condition = each.if_object();
    if (condition && text_at(*condition, {"type"}) == type) return text_at(*condition, {"status"}) == "True";
  }
  return false;
}

void read_containers(Summary& summary, const json::object& pod) {
  // While init containers run, only their restarts are of interest.
  bool running = false;
  if (!summary.initializing) {
    summary.restarts = 0;
    for (const json::value& each : list_at(pod, {"status", "initContainerStatuses"})) {
      const json::object* status = each.if_object();
      if (status && is_sidecar(spec_of_init(pod, text_at(*status, {"name"})))) {
        summary.restarts += int_at(*status, {"restartCount"}).value_or(0);
      }
    }
  }
  const json::array& statuses = list_at(pod, {"status", "containerStatuses"});
  for (size_t i = statuses.size(); i-- > 0;) {
    const json::object* status = statuses[i].if_object();
    if (status == nullptr) continue;
    bool ready = kube::bool_at(*status, {"ready"}).value_or(false);
    bool runs = object_at(*status, {"state", "running"}) != nullptr;
    if (ready && runs) ++summary.ready;
    if (summary.initializing) continue;
    summary.restarts += int_at(*status, {"restartCount"}).value_or(0);
    note_restart(summary, *status);
    std::string_view waiting = text_at(*status, {"state", "waiting", "reason"});
    const json::object* terminated = object_at(*status, {"state", "terminated"});
    if (!waiting.empty()) {
      summary.status = waiting;
    } else if (terminated) {
      summary.status = end_of(*terminated);
    } else if (ready && runs) {
      running = true;
    }
  }
  // One container is done, another goes on: the pod is not completed.
  if (!summary.initializing && summary.status == "Completed" && running) {
    summary.status = is_true(pod, "Ready") ? "Running" : "NotReady";
  }
}

Summary summary_of(const json::object& pod) {
  Summary summary;
  summary.total = static_cast<int>(list_at(pod, {"spec", "containers"}).size());
  summary.status = text_at(pod, {"status", "phase"});
  if (std::string_view reason = text_at(pod, {"status", "reason"}); !reason.empty()) summary.status = reason;
  for (const json::value& each : list_at(pod, {"status", "conditions"})) {
    const json::object* condition = each.if_object();
    if (condition && text_at(*condition, {"type"}) == "PodScheduled" &&
        text_at(*condition, {"reason"}) == "SchedulingGated") {
      summary.status = "SchedulingGated";
    }
  }
  read_init_containers(summary, pod);
  // A sidecar that has ended takes nothing back.
  if (is_true(pod, "Initialized")) summary.initializing = false;
  read_containers(summary, pod);
  if (kube::is_deleting(pod)) {
    summary.status = text_at(pod, {"status", "reason"}) == "NodeLost" ? "Unknown" : "Terminating";
  }
  return summary;
}

std::string readiness_gates(const json::object& pod) {
  const json::array& gates = list_at(pod, {"spec", "readinessGates"});
  if (gates.empty()) return "<none>";
  auto open = std::count_if(gates.begin(), gates.end(), [&](const json::value& each) {
    const json::object* gate = each.if_object();
    return gate && is_true(pod, text_at(*gate, {"conditionType"}));
  });
  return fmt::format("{}/{}", open, gates.size());
}

}  // namespace

json::array pod_cells(const json::object& pod, Time now) {
  Summary summary = summary_of(pod);
  std::string restarts = fmt::format("{}", summary.restarts);
  if (summary.restarts > 0 && summary.last_restart) {
    restarts += fmt::format(" ({} ago)", age_of(format_rfc3339(*summary.last_restart), now));
  }
  return {kube::jview(kube::name_of(pod)),
          fmt::format("{}/{}", summary.ready, summary.total),
          summary.status,
          restarts,
          age_of(pod, now),
          or_none(text_at(pod, {"status", "podIP"})),
          or_none(text_at(pod, {"spec", "nodeName"})),
          or_none(text_at(pod, {"status", "nominatedNodeName"})),
          readiness_gates(pod)};
}

}  // namespace trainyard::server
