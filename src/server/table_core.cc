// Rows of the built-in kinds that are no workloads.
#include <fmt/format.h>

#include <span>

#include "base/ascii.h"
#include "kube/access.h"
#include "kube/meta.h"
#include "server/table_rows.h"

namespace trainyard::server {
namespace {

using kube::array_at;
using kube::int_at;
using kube::object_at;
using kube::text_at;

size_t size_at(const json::object& from, std::string_view key) {
  const json::object* object = object_at(from, {key});
  return object ? object->size() : 0;
}

std::string joined_texts(const json::array* list, std::string_view fallback) {
  std::string text;
  if (list != nullptr) {
    for (const json::value& each : *list) {
      if (!each.is_string()) continue;
      if (!text.empty()) text += ",";
      text += kube::view(each.get_string());
    }
  }
  return text.empty() ? std::string(fallback) : text;
}

// "80/TCP,443:30443/TCP".
std::string service_ports(const json::object& service) {
  std::string text;
  if (const json::array* ports = array_at(service, {"spec", "ports"})) {
    for (const json::value& each : *ports) {
      const json::object* port = each.if_object();
      if (port == nullptr) continue;
      if (!text.empty()) text += ",";
      text += fmt::format("{}", int_at(*port, {"port"}).value_or(0));
      if (int64_t node_port = int_at(*port, {"nodePort"}).value_or(0)) text += fmt::format(":{}", node_port);
      std::string_view protocol = text_at(*port, {"protocol"});
      text += fmt::format("/{}", protocol.empty() ? "TCP" : protocol);
    }
  }
  return text.empty() ? "<none>" : text;
}

std::string external_ip(const json::object& service, std::string_view type) {
  if (type == "ExternalName") return or_none(text_at(service, {"spec", "externalName"}));
  return joined_texts(array_at(service, {"spec", "externalIPs"}),
                      type == "LoadBalancer" ? "<pending>" : "<none>");
}

json::array service_cells(const json::object& service, Time now) {
  std::string_view type = text_at(service, {"spec", "type"});
  if (type.empty()) type = "ClusterIP";
  return {name_cell(service),
          kube::jview(type),
          or_none(text_at(service, {"spec", "clusterIP"})),
          external_ip(service, type),
          service_ports(service),
          age_of(service, now),
          labels_text(object_at(service, {"spec", "selector"}))};
}

json::array namespace_cells(const json::object& space, Time now) {
  std::string_view phase = text_at(space, {"status", "phase"});
  return {name_cell(space), kube::jview(phase.empty() ? "Active" : phase), age_of(space, now)};
}

json::array config_map_cells(const json::object& map, Time now) {
  return {name_cell(map), size_at(map, "data") + size_at(map, "binaryData"), age_of(map, now)};
}

json::array secret_cells(const json::object& secret, Time now) {
  std::string_view type = text_at(secret, {"type"});
  return {name_cell(secret), kube::jview(type.empty() ? "Opaque" : type), size_at(secret, "data"),
          age_of(secret, now)};
}

std::string_view first_text(std::initializer_list<std::string_view> texts) {
  for (std::string_view text : texts) {
    if (!text.empty()) return text;
  }
  return {};
}

// An event has other names for its fields in events.k8s.io than in the core group.
json::array event_cells(const json::object& event, Time now) {
  bool core = object_at(event, {"regarding"}) == nullptr;
  std::string_view about = core ? "involvedObject" : "regarding";
  std::string_view source = core ? "source" : "deprecatedSource";
  std::string_view first = first_text({text_at(event, {core ? "firstTimestamp" : "deprecatedFirstTimestamp"}),
                                       text_at(event, {"eventTime"})});
  std::string_view last = first_text({text_at(event, {"series", "lastObservedTime"}),
                                      text_at(event, {core ? "lastTimestamp" : "deprecatedLastTimestamp"}),
                                      first, text_at(event, {"metadata", "creationTimestamp"})});
  int64_t count = int_at(event, {core ? "count" : "deprecatedCount"}).value_or(1);
  std::string_view component =
      first_text({text_at(event, {source, "component"}),
                  text_at(event, {core ? "reportingComponent" : "reportingController"})});
  std::string_view host = text_at(event, {source, "host"});
  return {age_of(last, now),
          kube::jview(text_at(event, {"type"})),
          kube::jview(text_at(event, {"reason"})),
          fmt::format("{}/{}", lower_case(text_at(event, {about, "kind"})), text_at(event, {about, "name"})),
          kube::jview(text_at(event, {about, "fieldPath"})),
          host.empty() ? std::string(component) : fmt::format("{}, {}", component, host),
          kube::jview(text_at(event, {core ? "message" : "note"})),
          age_of(first_text({first, last}), now),
          int_at(event, {"series", "count"}).value_or(count),
          name_cell(event)};
}

std::string node_status(const json::object& node) {
  std::string status = "Unknown";
  if (const json::array* conditions = array_at(node, {"status", "conditions"})) {
    for (const json::value& each : *conditions) {
      const json::object* condition = each.if_object();
      if (condition == nullptr || text_at(*condition, {"type"}) != "Ready") continue;
      status = text_at(*condition, {"status"}) == "True" ? "Ready" : "NotReady";
    }
  }
  if (kube::bool_at(node, {"spec", "unschedulable"}).value_or(false)) status += ",SchedulingDisabled";
  return status;
}

std::string node_roles(const json::object& node) {
  constexpr std::string_view kPrefix = "node-role.kubernetes.io/";
  std::string roles;
  if (const json::object* labels = object_at(node, {"metadata", "labels"})) {
    for (const json::key_value_pair& label : *labels) {
      std::string_view key = kube::view(label.key());
      if (!key.starts_with(kPrefix)) continue;
      if (!roles.empty()) roles += ",";
      roles += key.substr(kPrefix.size());
    }
  }
  return or_none(roles);
}

std::string node_address(const json::object& node, std::string_view type) {
  if (const json::array* addresses = array_at(node, {"status", "addresses"})) {
    for (const json::value& each : *addresses) {
      const json::object* address = each.if_object();
      if (address && text_at(*address, {"type"}) == type) return std::string(text_at(*address, {"address"}));
    }
  }
  return "<none>";
}

json::array node_cells(const json::object& node, Time now) {
  auto info = [&](std::string_view field) {
    std::string_view text = text_at(node, {"status", "nodeInfo", field});
    return text.empty() ? std::string("<unknown>") : std::string(text);
  };
  return {name_cell(node),
          node_status(node),
          node_roles(node),
          age_of(node, now),
          kube::jview(text_at(node, {"status", "nodeInfo", "kubeletVersion"})),
          node_address(node, "InternalIP"),
          node_address(node, "ExternalIP"),
          info("osImage"),
          info("kernelVersion"),
          info("containerRuntimeVersion")};
}

std::string access_modes(const json::array* modes) {
  static constexpr std::pair<std::string_view, std::string_view> kShort[] = {
      {"ReadWriteOnce", "RWO"},
      {"ReadOnlyMany", "ROX"},
      {"ReadWriteMany", "RWX"},
      {"ReadWriteOncePod", "RWOP"},
  };
  std::string text;
  for (const auto& [mode, letters] : kShort) {
    bool there = false;
    for (const json::value& each : kube::or_empty(modes)) {
      there = there || (each.is_string() && kube::view(each.get_string()) == mode);
    }
    if (!there) continue;
    if (!text.empty()) text += ",";
    text += letters;
  }
  return text;
}

std::string text_or(std::string_view text, std::string_view fallback) {
  return std::string(text.empty() ? fallback : text);
}

std::string class_of_claim(const json::object& claim) {
  std::string_view annotated = kube::annotation_of(claim, "volume.beta.kubernetes.io/storage-class");
  return std::string(annotated.empty() ? text_at(claim, {"spec", "storageClassName"}) : annotated);
}

json::array claim_cells(const json::object& claim, Time now) {
  std::string_view phase = text_at(claim, {"status", "phase"});
  bool bound = !text_at(claim, {"spec", "volumeName"}).empty();
  const json::value* capacity = bound ? kube::find(claim, {"status", "capacity", "storage"}) : nullptr;
  const json::array* modes = bound ? array_at(claim, {"status", "accessModes"}) : nullptr;
  return {name_cell(claim),
          kube::is_deleting(claim) ? "Terminating" : kube::jview(phase),
          kube::jview(text_at(claim, {"spec", "volumeName"})),
          capacity && capacity->is_string() ? capacity->get_string() : json::string(),
          access_modes(modes),
          class_of_claim(claim),
          text_or(text_at(claim, {"spec", "volumeAttributesClassName"}), "<unset>"),
          age_of(claim, now),
          text_or(text_at(claim, {"spec", "volumeMode"}), "<unset>")};
}

json::array volume_cells(const json::object& volume, Time now) {
  std::string_view claim = text_at(volume, {"spec", "claimRef", "name"});
  std::string claimed =
      claim.empty() ? "" : fmt::format("{}/{}", text_at(volume, {"spec", "claimRef", "namespace"}), claim);
  std::string_view phase = text_at(volume, {"status", "phase"});
  return {name_cell(volume),
          kube::jview(text_at(volume, {"spec", "capacity", "storage"})),
          access_modes(array_at(volume, {"spec", "accessModes"})),
          kube::jview(text_at(volume, {"spec", "persistentVolumeReclaimPolicy"})),
          kube::is_deleting(volume) ? "Terminating" : kube::jview(phase),
          claimed,
          kube::jview(text_at(volume, {"spec", "storageClassName"})),
          text_or(text_at(volume, {"spec", "volumeAttributesClassName"}), "<unset>"),
          kube::jview(text_at(volume, {"status", "reason"})),
          age_of(volume, now),
          text_or(text_at(volume, {"spec", "volumeMode"}), "<unset>")};
}

json::array lease_cells(const json::object& lease, Time now) {
  return {name_cell(lease), kube::jview(text_at(lease, {"spec", "holderIdentity"})), age_of(lease, now)};
}

json::array priority_class_cells(const json::object& priority, Time now) {
  return {name_cell(priority), int_at(priority, {"value"}).value_or(0),
          kube::bool_at(priority, {"globalDefault"}).value_or(false), age_of(priority, now),
          text_or(text_at(priority, {"preemptionPolicy"}), "PreemptLowerPriority")};
}

json::array network_policy_cells(const json::object& policy, Time now) {
  return {name_cell(policy), selector_text(object_at(policy, {"spec", "podSelector"})), age_of(policy, now)};
}

json::array created_cells(const json::object& object, Time) {
  return {name_cell(object), kube::jview(text_at(object, {"metadata", "creationTimestamp"}))};
}

json::array account_cells(const json::object& account, Time now) {
  const json::array* secrets = array_at(account, {"secrets"});
  return {name_cell(account), secrets ? secrets->size() : 0, age_of(account, now)};
}

json::array role_binding_cells(const json::object& binding, Time now) {
  auto subjects = [&](std::string_view kind) {
    std::string text;
    const json::array* list = array_at(binding, {"subjects"});
    for (const json::value& each : kube::or_empty(list)) {
      const json::object* subject = each.if_object();
      if (subject == nullptr || text_at(*subject, {"kind"}) != kind) continue;
      if (!text.empty()) text += ", ";
      if (kind == "ServiceAccount") text += fmt::format("{}/", text_at(*subject, {"namespace"}));
      text += text_at(*subject, {"name"});
    }
    return text;
  };
  std::string role =
      fmt::format("{}/{}", text_at(binding, {"roleRef", "kind"}), text_at(binding, {"roleRef", "name"}));
  return {name_cell(binding),        role, age_of(binding, now), subjects("User"), subjects("Group"),
          subjects("ServiceAccount")};
}

// "10.0.0.1:80,10.0.0.2:80", at most three.
std::string endpoint_addresses(const json::object& endpoints) {
  std::vector<std::string> all;
  const json::array* subsets = array_at(endpoints, {"subsets"});
  for (const json::value& each : kube::or_empty(subsets)) {
    const json::object* subset = each.if_object();
    const json::array* addresses = subset ? array_at(*subset, {"addresses"}) : nullptr;
    if (addresses == nullptr) continue;
    const json::array* ports = array_at(*subset, {"ports"});
    for (const json::value& address : *addresses) {
      if (!address.is_object()) continue;
      std::string_view ip = text_at(address.get_object(), {"ip"});
      if (ports == nullptr || ports->empty()) all.emplace_back(ip);
      for (const json::value& port : kube::or_empty(ports)) {
        if (!port.is_object()) continue;
        all.push_back(fmt::format("{}:{}", ip, int_at(port.get_object(), {"port"}).value_or(0)));
      }
    }
  }
  if (all.empty()) return "<none>";
  std::string text = fmt::format("{}", fmt::join(std::span(all).first(std::min<size_t>(3, all.size())), ","));
  return all.size() > 3 ? fmt::format("{} + {} more...", text, all.size() - 3) : text;
}

json::array endpoints_cells(const json::object& endpoints, Time now) {
  return {name_cell(endpoints), endpoint_addresses(endpoints), age_of(endpoints, now)};
}

json::array slice_cells(const json::object& slice, Time now) {
  std::string ports;
  std::string addresses;
  const json::array* list = array_at(slice, {"ports"});
  for (const json::value& each : kube::or_empty(list)) {
    if (!each.is_object()) continue;
    if (!ports.empty()) ports += ",";
    ports += fmt::format("{}", int_at(each.get_object(), {"port"}).value_or(0));
  }
  const json::array* endpoints = array_at(slice, {"endpoints"});
  for (const json::value& each : kube::or_empty(endpoints)) {
    if (!each.is_object()) continue;
    std::string text = joined_texts(array_at(each.get_object(), {"addresses"}), "");
    if (!addresses.empty() && !text.empty()) addresses += ",";
    addresses += text;
  }
  return {name_cell(slice), kube::jview(text_at(slice, {"addressType"})), ports.empty() ? "<unset>" : ports,
          addresses.empty() ? "<unset>" : addresses, age_of(slice, now)};
}

// "requests.cpu: 1/4, pods: 3/10", of those that are limits or are not.
std::string quota_text(const json::object& quota, bool limits) {
  std::string text;
  const json::object* hard = object_at(quota, {"status", "hard"});
  if (hard == nullptr) hard = object_at(quota, {"spec", "hard"});
  for (const json::key_value_pair& each : hard ? *hard : json::object()) {
    std::string_view key = kube::view(each.key());
    if (key.starts_with("limits.") != limits || !each.value().is_string()) continue;
    if (!text.empty()) text += ", ";
    std::string_view used = text_at(quota, {"status", "used", key});
    text += fmt::format("{}: {}/{}", key, used.empty() ? "0" : used, kube::view(each.value().get_string()));
  }
  return text;
}

json::array quota_cells(const json::object& quota, Time now) {
  return {name_cell(quota), quota_text(quota, false), quota_text(quota, true), age_of(quota, now)};
}

constexpr Column kPodColumns[] = {{"Name"},
                                  {"Ready"},
                                  {"Status"},
                                  {"Restarts"},
                                  {"Age"},
                                  {"IP", "string", 1},
                                  {"Node", "string", 1},
                                  {"Nominated Node", "string", 1},
                                  {"Readiness Gates", "string", 1}};
constexpr Column kServiceColumns[] = {{"Name"},    {"Type"}, {"Cluster-IP"},           {"External-IP"},
                                      {"Port(s)"}, {"Age"},  {"Selector", "string", 1}};
constexpr Column kNamespaceColumns[] = {{"Name"}, {"Status"}, {"Age"}};
constexpr Column kConfigMapColumns[] = {{"Name"}, {"Data", "integer"}, {"Age"}};
constexpr Column kSecretColumns[] = {{"Name"}, {"Type"}, {"Data", "integer"}, {"Age"}};
constexpr Column kEventColumns[] = {{"Last Seen"},
                                    {"Type"},
                                    {"Reason"},
                                    {"Object"},
                                    {"Subobject", "string", 1},
                                    {"Source", "string", 1},
                                    {"Message"},
                                    {"First Seen", "string", 1},
                                    {"Count", "integer", 1},
                                    {"Name", "string", 1}};
constexpr Column kNodeColumns[] = {{"Name"},
                                   {"Status"},
                                   {"Roles"},
                                   {"Age"},
                                   {"Version"},
                                   {"Internal-IP", "string", 1},
                                   {"External-IP", "string", 1},
                                   {"OS-Image", "string", 1},
                                   {"Kernel-Version", "string", 1},
                                   {"Container-Runtime", "string", 1}};
constexpr Column kClaimColumns[] = {{"Name"},
                                    {"Status"},
                                    {"Volume"},
                                    {"Capacity"},
                                    {"Access Modes"},
                                    {"StorageClass"},
                                    {"VolumeAttributesClass"},
                                    {"Age"},
                                    {"VolumeMode", "string", 1}};
constexpr Column kVolumeColumns[] = {
    {"Name"},   {"Capacity"}, {"Access Modes"},           {"Reclaim Policy"},
    {"Status"}, {"Claim"},    {"StorageClass"},           {"VolumeAttributesClass"},
    {"Reason"}, {"Age"},      {"VolumeMode", "string", 1}};
constexpr Column kLeaseColumns[] = {{"Name"}, {"Holder"}, {"Age"}};
constexpr Column kPriorityColumns[] = {
    {"Name"}, {"Value", "integer"}, {"Global-Default", "boolean"}, {"Age"}, {"PreemptionPolicy"}};
constexpr Column kPolicyColumns[] = {{"Name"}, {"Pod-Selector"}, {"Age"}};
constexpr Column kCreatedColumns[] = {{"Name"}, {"Created At", "date"}};
constexpr Column kAccountColumns[] = {{"Name"}, {"Secrets", "integer"}, {"Age"}};
constexpr Column kBindingColumns[] = {{"Name"},
                                      {"Role"},
                                      {"Age"},
                                      {"Users", "string", 1},
                                      {"Groups", "string", 1},
                                      {"ServiceAccounts", "string", 1}};
constexpr Column kEndpointsColumns[] = {{"Name"}, {"Endpoints"}, {"Age"}};
constexpr Column kSliceColumns[] = {{"Name"}, {"AddressType"}, {"Ports"}, {"Endpoints"}, {"Age"}};
constexpr Column kQuotaColumns[] = {{"Name"}, {"Request"}, {"Limit"}, {"Age"}};

constexpr std::string_view kRbac = "rbac.authorization.k8s.io";

constexpr KindTable kCoreTables[] = {
    {"", "Pod", kPodColumns, pod_cells},
    {"", "Service", kServiceColumns, service_cells},
    {"", "Namespace", kNamespaceColumns, namespace_cells},
    {"", "ConfigMap", kConfigMapColumns, config_map_cells},
    {"", "Secret", kSecretColumns, secret_cells},
    {"", "Event", kEventColumns, event_cells},
    {"events.k8s.io", "Event", kEventColumns, event_cells},
    {"", "Node", kNodeColumns, node_cells},
    {"", "PersistentVolumeClaim", kClaimColumns, claim_cells},
    {"", "PersistentVolume", kVolumeColumns, volume_cells},
    {"", "ServiceAccount", kAccountColumns, account_cells},
    {"", "Endpoints", kEndpointsColumns, endpoints_cells},
    {"", "ResourceQuota", kQuotaColumns, quota_cells},
    {"", "LimitRange", kCreatedColumns, created_cells},
    {"discovery.k8s.io", "EndpointSlice", kSliceColumns, slice_cells},
    {"coordination.k8s.io", "Lease", kLeaseColumns, lease_cells},
    {"scheduling.k8s.io", "PriorityClass", kPriorityColumns, priority_class_cells},
    {"networking.k8s.io", "NetworkPolicy", kPolicyColumns, network_policy_cells},
    {"apiextensions.k8s.io", "CustomResourceDefinition", kCreatedColumns, created_cells},
    {kRbac, "Role", kCreatedColumns, created_cells},
    {kRbac, "ClusterRole", kCreatedColumns, created_cells},
    {kRbac, "RoleBinding", kBindingColumns, role_binding_cells},
    {kRbac, "ClusterRoleBinding", kBindingColumns, role_binding_cells},
};

}  // namespace

const KindTable* kind_table(std::string_view group, std::string_view kind) {
  auto named = [&](std::span<const KindTable> tables) -> const KindTable* {
    for (const KindTable& table : tables) {
      if (table.group == group && table.kind == kind) return &table;
    }
    return nullptr;
  };
  const KindTable* found = named(kCoreTables);
  return found ? found : named(workload_tables());
}

}  // namespace trainyard::server
