#include "kube/pod.h"

#include "kube/access.h"
#include "kube/pod_reader.h"

namespace trainyard::kube {
namespace {

class DocumentNode {
 public:
  explicit DocumentNode(const json::value& value) : value_(value) {}

  template <typename F>
  void members(F f) const {
    if (const json::object* object = value_.if_object()) visit(*object, f);
  }
  template <typename F>
  static void visit(const json::object& object, F f) {
    for (const json::key_value_pair& member : object) {
      f(std::string_view(member.key().data(), member.key().size()), DocumentNode(member.value()));
    }
  }
  template <typename F>
  void elements(F f) const {
    if (const json::array* array = value_.if_array()) {
      for (const json::value& element : *array) f(DocumentNode(element));
    }
  }
  std::optional<std::string_view> text() const {
    if (const json::string* text = value_.if_string()) return view(*text);
    return std::nullopt;
  }
  std::optional<int64_t> whole() const { return as_whole(value_); }
  std::optional<bool> truth() const {
    return value_.is_bool() ? std::optional(value_.get_bool()) : std::nullopt;
  }
  bool is_object() const { return value_.is_object(); }

 private:
  const json::value& value_;
};

// The root, which callers hold as an object.
class DocumentRoot {
 public:
  explicit DocumentRoot(const json::object& object) : object_(object) {}
  template <typename F>
  void members(F f) const {
    DocumentNode::visit(object_, f);
  }

 private:
  const json::object& object_;
};

std::string_view find_in(const std::map<std::string, std::string>& map, std::string_view key) {
  auto found = map.find(std::string(key));
  return found == map.end() ? std::string_view() : std::string_view(found->second);
}

}  // namespace

std::string_view Pod::label(std::string_view key) const { return find_in(labels, key); }
std::string_view Pod::annotation(std::string_view key) const { return find_in(annotations, key); }

const ContainerStatus* Pod::container(std::string_view container_name) const {
  for (const ContainerStatus& status : containers) {
    if (status.name == container_name) return &status;
  }
  return nullptr;
}

bool keeps_annotation(std::string_view key) {
  constexpr std::string_view kDomains[] = {
      "trainyard.dev",         "volcano.sh",        "scheduling.volcano.sh", "kubeflow.org",
      "training.kubeflow.org", "scheduling.k8s.io", "tensorstack.dev",       "scheduler.tensorstack.dev",
      "scheduling.x-k8s.io"};
  std::string_view domain = key.substr(0, key.find('/'));
  return domain.size() < key.size() &&
         std::find(std::begin(kDomains), std::end(kDomains), domain) != std::end(kDomains);
}

Pod decode_pod(const json::object& object) { return PodReader<DocumentNode>::read(DocumentRoot(object)); }

Pod decode_pod_with(const json::object& object, std::string_view annotation) {
  return PodReader<DocumentNode>::read(DocumentRoot(object), annotation);
}

namespace {

// These say that the pod is about to be deleted, by another write. Until that has come nothing was done to
// the pod, and it never comes when the writer dies or decides otherwise. Kubelets and the collector of pods
// say it of pods that they end themselves; so, as far as anybody knows, do those whose reasons are not known.
bool is_announced_deletion(std::string_view reason) {
  constexpr std::string_view kReasons[] = {"PreemptionByScheduler", "EvictionByEvictionAPI",
                                           "DeletionByTaintManager", "DeletionByDeviceTaintManager"};
  return std::find(std::begin(kReasons), std::end(kReasons), reason) != std::end(kReasons);
}

}  // namespace

bool is_disrupted(const Pod& pod) {
  const PodCondition& mark = pod.disruption_target;
  if (mark.is_true() && (pod.is_deleting() || !is_announced_deletion(mark.reason))) return true;
  if (pod.phase != PodPhase::kFailed) return false;
  constexpr std::string_view kReasons[] = {
      "Evicted",       // node pressure, taints and the eviction API
      "Preempting",    // by the kubelet, for a critical pod
      "Preempted",     // by a scheduler
      "NodeLost",      // the node stopped answering
      "Terminated",    // graceful node shutdown
      "Shutdown",      // the same, kubelets before 1.22
      "NodeShutdown",  // admission on a node that is going down
      "NodeAffinity",  // admission: the node no longer fits
      "UnexpectedAdmissionError",
  };
  if (std::find(std::begin(kReasons), std::end(kReasons), pod.reason) != std::end(kReasons)) return true;
  return pod.reason.starts_with("OutOf");  // admission: OutOfcpu, OutOfmemory, OutOfpods, ...
}

std::string_view name_of(PodPhase phase) {
  switch (phase) {
    case PodPhase::kPending:
      return "Pending";
    case PodPhase::kRunning:
      return "Running";
    case PodPhase::kSucceeded:
      return "Succeeded";
    case PodPhase::kFailed:
      return "Failed";
    case PodPhase::kUnknown:
      return "Unknown";
  }
  return "Unknown";
}

std::optional<PodPhase> pod_phase_of(std::string_view text) {
  for (PodPhase phase : {PodPhase::kPending, PodPhase::kRunning, PodPhase::kSucceeded, PodPhase::kFailed,
                         PodPhase::kUnknown}) {
    if (name_of(phase) == text) return phase;
  }
  return std::nullopt;
}

}  // namespace trainyard::kube
