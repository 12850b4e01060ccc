#include "node/node_object.h"

#include <sys/utsname.h>

#include "kube/access.h"
#include "kube/objects.h"
#include "node/files.h"

namespace trainyard::node {

using kube::text_at;

namespace {

struct ConditionWords {
  std::string_view type;
  bool holds;
  std::string_view reason;
  std::string_view message;
};

constexpr ConditionWords kConditions[] = {
    {"MemoryPressure", false, "KubeletHasSufficientMemory", "kubelet has sufficient memory available"},
    {"DiskPressure", false, "KubeletHasNoDiskPressure", "kubelet has no disk pressure"},
    {"PIDPressure", false, "KubeletHasSufficientPID", "kubelet has sufficient PID available"},
    {"Ready", true, "KubeletReady", "kubelet is posting ready status"},
};

std::string transition_of(const json::object* before, std::string_view type, std::string_view status,
                          Time now) {
  const json::array* conditions = before != nullptr ? kube::array_at(*before, {"conditions"}) : nullptr;
  for (const json::value& entry : kube::or_empty(conditions)) {
    if (!entry.is_object() || text_at(entry.get_object(), {"type"}) != type) continue;
    if (text_at(entry.get_object(), {"status"}) != status) break;
    return std::string(text_at(entry.get_object(), {"lastTransitionTime"}));
  }
  return format_rfc3339(now);
}

std::string line_of(const std::filesystem::path& file) {
  Result<std::string> text = read_whole(file);
  if (!text.ok()) return "";
  return text->substr(0, text->find('\n'));
}

std::string micro_time(Time time) {
  std::string text = format_rfc3339(time);
  text.pop_back();
  return fmt::format("{}.{:06}Z", text, time.ms % 1000 * 1000);
}

}  // namespace

json::object node_object(const NodeOptions& options, const MachineFacts& facts) {
  json::object labels{{"kubernetes.io/hostname", options.name},
                      {"kubernetes.io/os", "linux"},
                      {"kubernetes.io/arch", facts.architecture},
                      {"beta.kubernetes.io/os", "linux"},
                      {"beta.kubernetes.io/arch", facts.architecture}};
  for (const auto& [key, value] : options.labels) labels[key] = value;
  return json::object{{"apiVersion", "v1"},
                      {"kind", "Node"},
                      {"metadata", json::object{{"name", options.name}, {"labels", std::move(labels)}}},
                      {"spec", json::object{}}};
}

json::object node_status(const NodeOptions& options, const MachineFacts& facts, std::string_view runtime,
                         const json::object* before, Time now) {
  json::object capacity{{"cpu", kube::Quantity::of_milli(options.capacity.cpu_millis).to_string()},
                        {"memory", fmt::format("{}Ki", options.capacity.memory_bytes / 1024)},
                        {"pods", std::to_string(options.pods_max)}};
  if (options.disk_bytes > 0) capacity["ephemeral-storage"] = fmt::format("{}Ki", options.disk_bytes / 1024);
  if (!options.gpus.empty()) capacity["nvidia.com/gpu"] = std::to_string(options.gpus.size());
  json::array conditions;
  for (const ConditionWords& words : kConditions) {
    std::string_view status = words.holds ? "True" : "False";
    conditions.push_back(json::object{{"type", kube::jview(words.type)},
                                      {"status", kube::jview(status)},
                                      {"lastHeartbeatTime", format_rfc3339(now)},
                                      {"lastTransitionTime", transition_of(before, words.type, status, now)},
                                      {"reason", kube::jview(words.reason)},
                                      {"message", kube::jview(words.message)}});
  }
  return json::object{
      {"capacity", capacity},
      {"allocatable", capacity},
      {"conditions", std::move(conditions)},
      {"addresses", json::array{json::object{{"type", "InternalIP"}, {"address", options.host_ip}},
                                json::object{{"type", "Hostname"}, {"address", options.name}}}},
      {"nodeInfo", json::object{{"machineID", facts.machine_id},
                                {"systemUUID", facts.machine_id},
                                {"bootID", facts.boot_id},
                                {"kernelVersion", facts.kernel},
                                {"osImage", facts.os_image},
                                {"containerRuntimeVersion", fmt::format("{}://1", runtime)},
                                {"kubeletVersion", options.version},
                                {"kubeProxyVersion", options.version},
                                {"operatingSystem", "linux"},
                                {"architecture", facts.architecture}}}};
}

json::object node_lease(const NodeOptions& options, Time now) {
  return json::object{{"apiVersion", "coordination.k8s.io/v1"},
                      {"kind", "Lease"},
                      {"metadata", json::object{{"name", options.name}, {"namespace", kLeaseNamespace}}},
                      {"spec", json::object{{"holderIdentity", options.name},
                                            {"leaseDurationSeconds", kLeaseSeconds},
                                            {"renewTime", micro_time(now)}}}};
}

std::string machine_architecture() {
  utsname names{};
  if (::uname(&names) != 0) return "";
  std::string_view machine = names.machine;
  if (machine == "x86_64") return "amd64";
  if (machine == "aarch64") return "arm64";
  if (machine.starts_with("arm")) return "arm";
  return std::string(machine);
}

MachineFacts read_machine_facts() {
  MachineFacts facts;
  utsname names{};
  if (::uname(&names) == 0) facts.kernel = names.release;
  facts.architecture = machine_architecture();
  facts.machine_id = line_of("/etc/machine-id");
  facts.boot_id = line_of("/proc/sys/kernel/random/boot_id");
  Result<std::string> release = read_whole("/etc/os-release");
  if (release.ok()) {
    size_t at = release->find("PRETTY_NAME=\"");
    if (at != std::string::npos)
      facts.os_image = release->substr(at + 13, release->find('"', at + 13) - at - 13);
  }
  return facts;
}

}  // namespace trainyard::node
