// The one reading of a Pod, over either JSON library. A Node offers:
//   members(f)   f(key, Node) for each member of an object, nothing for anything else
//   elements(f)  f(Node) for each element of a list, nothing for anything else
//   text()       the string, or nullopt      whole()  the whole number, or nullopt
//   truth()      the boolean, or nullopt     is_object()
// A document has no key twice; in a text that has, which of the two counts is not promised.
#pragma once

#include <charconv>
#include <limits>

#include "kube/pod.h"

namespace trainyard::kube {

template <typename Node>
class PodReader {
 public:
  // `only`: the one annotation that is read, and no label; "" for all of both.
  template <typename Root>
  static Pod read(const Root& root, std::string_view only = "") {
    Pod pod;
    root.members([&](std::string_view key, const Node& part) {
      if (key == "metadata") {
        read_metadata(part, only, pod);
      } else if (key == "spec") {
        read_spec(part, pod);
      } else if (key == "status") {
        read_status(part, pod);
      }
    });
    return pod;
  }

 private:
  static std::string text_of(const Node& node) { return std::string(node.text().value_or("")); }
  static std::optional<Time> time_of(const Node& node) {
    std::optional<std::string_view> text = node.text();
    return text ? parse_rfc3339(*text) : std::nullopt;
  }
  static int32_t small_of(const Node& node) {
    std::optional<int64_t> n = node.whole();
    if (!n || *n < std::numeric_limits<int32_t>::min() || *n > std::numeric_limits<int32_t>::max()) return 0;
    return static_cast<int32_t>(*n);
  }
  static int64_t version_of(const Node& node) {
    std::string_view text = node.text().value_or("");
    int64_t n = 0;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
    return error == std::errc{} && end == text.data() + text.size() ? n : 0;
  }
  static std::vector<std::string> texts_of(const Node& node) {
    std::vector<std::string> out;
    node.elements([&](const Node& element) {
      if (std::optional<std::string_view> text = element.text()) out.emplace_back(*text);
    });
    return out;
  }
  // The `name` of each entry of a list.
  static std::vector<std::string> names_of(const Node& node) {
    std::vector<std::string> out;
    node.elements([&](const Node& element) {
      std::string name;
      element.members([&](std::string_view key, const Node& part) {
        if (key == "name") name = text_of(part);
      });
      out.push_back(std::move(name));
    });
    return out;
  }

  static void read_metadata(const Node& node, std::string_view only, Pod& pod) {
    node.members([&](std::string_view key, const Node& part) {
      if (key == "name") {
        pod.name = text_of(part);
      } else if (key == "namespace") {
        pod.ns = text_of(part);
      } else if (key == "uid") {
        pod.uid = text_of(part);
      } else if (key == "resourceVersion") {
        pod.version = version_of(part);
      } else if (key == "labels") {
        if (only.empty()) pod.labels = pairs_of(part, [](std::string_view) { return true; });
      } else if (key == "annotations") {
        pod.annotations = pairs_of(part, [&](std::string_view name) {
          return only.empty() ? keeps_annotation(name) : name == only;
        });
      } else if (key == "creationTimestamp") {
        pod.created_at = time_of(part);
      } else if (key == "deletionTimestamp") {
        pod.deleted_at = time_of(part);
      } else if (key == "deletionGracePeriodSeconds") {
        pod.deletion_grace = small_of(part);
      } else if (key == "finalizers") {
        pod.finalizers = texts_of(part);
      } else if (key == "ownerReferences") {
        pod.controller_uid = controller_of(part);
      }
    });
  }

  template <typename Keep>
  static std::map<std::string, std::string> pairs_of(const Node& node, Keep keep) {
    std::map<std::string, std::string> out;
    node.members([&](std::string_view key, const Node& part) {
      if (!keep(key)) return;
      if (std::optional<std::string_view> text = part.text()) out[std::string(key)] = *text;
    });
    return out;
  }

  static std::string controller_of(const Node& node) {
    std::string found;
    node.elements([&](const Node& owner) {
      std::string uid;
      bool controls = false;
      owner.members([&](std::string_view key, const Node& part) {
        if (key == "uid") uid = text_of(part);
        if (key == "controller") controls = part.truth().value_or(false);
      });
      if (controls && found.empty()) found = std::move(uid);
    });
    return found;
  }

  static void read_spec(const Node& node, Pod& pod) {
    node.members([&](std::string_view key, const Node& part) {
      if (key == "nodeName") {
        pod.node_name = text_of(part);
      } else if (key == "schedulerName") {
        pod.scheduler_name = text_of(part);
      } else if (key == "restartPolicy") {
        pod.restart_policy = text_of(part);
      } else if (key == "schedulingGates") {
        pod.scheduling_gates = names_of(part);
      } else if (key == "containers") {
        pod.container_names = names_of(part);
      }
    });
  }

  static void read_status(const Node& node, Pod& pod) {
    node.members([&](std::string_view key, const Node& part) {
      if (key == "phase") {
        pod.phase = read_phase(part);
      } else if (key == "reason") {
        pod.reason = text_of(part);
      } else if (key == "message") {
        pod.message = text_of(part);
      } else if (key == "podIP") {
        pod.pod_ip = text_of(part);
      } else if (key == "hostIP") {
        pod.host_ip = text_of(part);
      } else if (key == "startTime") {
        pod.started_at = time_of(part);
      } else if (key == "conditions") {
        part.elements([&](const Node& condition) { read_condition(condition, pod); });
      } else if (key == "containerStatuses") {
        pod.containers = containers_of(part);
      } else if (key == "initContainerStatuses") {
        pod.init_containers = containers_of(part);
      }
    });
  }

  // A pod nobody has reported on yet is pending; a phase nobody knows is unknown.
  static PodPhase read_phase(const Node& node) {
    std::string_view text = node.text().value_or("");
    return text.empty() ? PodPhase::kPending : pod_phase_of(text).value_or(PodPhase::kUnknown);
  }

  static void read_condition(const Node& node, Pod& pod) {
    std::string type;
    PodCondition condition;
    condition.status = ConditionStatus::kUnknown;
    node.members([&](std::string_view key, const Node& part) {
      if (key == "type") {
        type = text_of(part);
      } else if (key == "status") {
        std::string_view status = part.text().value_or("");
        condition.status = status == "True"    ? ConditionStatus::kTrue
                           : status == "False" ? ConditionStatus::kFalse
                                               : ConditionStatus::kUnknown;
      } else if (key == "reason") {
        condition.reason = text_of(part);
      } else if (key == "message") {
        condition.message = text_of(part);
      } else if (key == "lastTransitionTime") {
        condition.changed_at = time_of(part);
      }
    });
    if (type == "Ready") {
      pod.ready = std::move(condition);
    } else if (type == "PodScheduled") {
      pod.scheduled = std::move(condition);
    } else if (type == "DisruptionTarget") {
      pod.disruption_target = std::move(condition);
    }
  }

  static std::vector<ContainerStatus> containers_of(const Node& node) {
    std::vector<ContainerStatus> out;
    node.elements([&](const Node& element) { out.push_back(container_of(element)); });
    return out;
  }

  static ContainerStatus container_of(const Node& node) {
    ContainerStatus status;
    node.members([&](std::string_view key, const Node& part) {
      if (key == "name") {
        status.name = text_of(part);
      } else if (key == "ready") {
        status.ready = part.truth().value_or(false);
      } else if (key == "restartCount") {
        status.restart_count = small_of(part);
      } else if (key == "state") {
        read_state(part, status);
      } else if (key == "lastState") {
        part.members([&](std::string_view kind, const Node& state) {
          if (kind == "terminated" && state.is_object()) status.last_ended = termination_of(state);
        });
      }
    });
    return status;
  }

  static void read_state(const Node& node, ContainerStatus& status) {
    node.members([&](std::string_view kind, const Node& state) {
      if (!state.is_object()) return;
      if (kind == "terminated") {
        status.state = ContainerStateKind::kTerminated;
        status.terminated = termination_of(state);
        status.reason = status.terminated->reason;
        status.message = status.terminated->message;
        status.started_at = status.terminated->started_at;
      } else if (kind == "running" || kind == "waiting") {
        status.state = kind == "running" ? ContainerStateKind::kRunning : ContainerStateKind::kWaiting;
        state.members([&](std::string_view key, const Node& part) {
          if (key == "reason") status.reason = text_of(part);
          if (key == "message") status.message = text_of(part);
          if (key == "startedAt") status.started_at = time_of(part);
        });
      }
    });
  }

  static Termination termination_of(const Node& node) {
    Termination end;
    node.members([&](std::string_view key, const Node& part) {
      if (key == "exitCode") {
        end.exit_code = small_of(part);
      } else if (key == "signal") {
        end.signal = small_of(part);
      } else if (key == "reason") {
        end.reason = text_of(part);
      } else if (key == "message") {
        end.message = text_of(part);
      } else if (key == "startedAt") {
        end.started_at = time_of(part);
      } else if (key == "finishedAt") {
        end.finished_at = time_of(part);
      }
    });
    return end;
  }
};

}  // namespace trainyard::kube
