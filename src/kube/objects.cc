#include "kube/objects.h"

#include "kube/access.h"

namespace trainyard::kube {

json::object to_object(const Pairs& pairs) {
  json::object out;
  out.reserve(pairs.size());
  for (const auto& [key, value] : pairs) out[key] = value;
  return out;
}

json::object new_object(const Resource& resource, const NewMeta& meta) {
  json::object metadata{{"name", meta.name}};
  if (!meta.ns.empty()) metadata["namespace"] = meta.ns;
  if (!meta.labels.empty()) metadata["labels"] = to_object(meta.labels);
  if (!meta.annotations.empty()) metadata["annotations"] = to_object(meta.annotations);
  if (meta.owner) metadata["ownerReferences"] = json::array{json::value(*meta.owner)};
  return {{"apiVersion", resource.api_version()},
          {"kind", jview(resource.kind)},
          {"metadata", std::move(metadata)}};
}

json::object headless_service(const NewMeta& meta, const Pairs& selector,
                              const std::vector<ServicePort>& ports, bool publish_not_ready_addresses) {
  json::object spec{{"clusterIP", "None"}};
  if (!selector.empty()) spec["selector"] = to_object(selector);
  json::array list;
  for (const ServicePort& port : ports) {
    json::object entry;
    if (!port.name.empty()) entry["name"] = port.name;
    entry["port"] = port.port;
    if (port.target_port) entry["targetPort"] = *port.target_port;
    if (!port.protocol.empty()) entry["protocol"] = port.protocol;
    list.push_back(std::move(entry));
  }
  if (!list.empty()) spec["ports"] = std::move(list);
  if (publish_not_ready_addresses) spec["publishNotReadyAddresses"] = true;
  json::object out = new_object(kServices, meta);
  out["spec"] = std::move(spec);
  return out;
}

json::object config_map(const NewMeta& meta, const Pairs& data) {
  json::object out = new_object(kConfigMaps, meta);
  out["data"] = to_object(data);
  return out;
}

json::object secret(const NewMeta& meta, const Pairs& data, std::string_view type) {
  json::object encoded;
  for (const auto& [key, value] : data) encoded[key] = encode_base64(value);
  json::object out = new_object(kSecrets, meta);
  out["type"] = jview(type);
  out["data"] = std::move(encoded);
  return out;
}

json::object same_labels_network_policy(const NewMeta& meta, const Pairs& labels) {
  json::object selector{{"matchLabels", to_object(labels)}};
  json::object peer{{"podSelector", selector}};
  json::object rule{{"from", json::array{std::move(peer)}}};
  json::object out = new_object(kNetworkPolicies, meta);
  out["spec"] = {{"podSelector", std::move(selector)},
                 {"ingress", json::array{std::move(rule)}},
                 {"policyTypes", json::array{"Ingress"}}};
  return out;
}

json::object event(const NewEvent& of) {
  json::object out = new_object(kEvents, {of.name, of.ns, {}, {}, {}});
  out.reserve(out.size() + 8);
  out["involvedObject"] = of.involved;
  out["reason"] = of.reason;
  out["message"] = of.message;
  out["type"] = of.type == EventType::kNormal ? "Normal" : "Warning";
  out["source"] = {{"component", of.component}};
  out["firstTimestamp"] = format_rfc3339(of.first);
  out["lastTimestamp"] = format_rfc3339(of.last);
  out["count"] = of.count;
  return out;
}

json::object involved_object(const json::object& object) {
  json::object out;
  out.reserve(6);
  auto copy = [&](std::string_view as, std::string_view text) {
    if (!text.empty()) out[jview(as)] = jview(text);
  };
  copy("kind", text_at(object, {"kind"}));
  copy("namespace", namespace_of(object));
  copy("name", name_of(object));
  copy("uid", uid_of(object));
  copy("apiVersion", text_at(object, {"apiVersion"}));
  copy("resourceVersion", text_at(object, {"metadata", "resourceVersion"}));
  return out;
}

}  // namespace trainyard::kube
