#include "kube/objects.h"

#include "kube/access.h"

namespace trainyard::kube {

json::object to_object(const Pairs& pairs) {
  json::object out;
  out.reserve(pairs.size());
  for (const auto& [key, value] : pairs) out[key] = value;
  return out;
}

namespace {

// Room for what an object is given here and for what a server adds: grown one by one they would move often.
constexpr size_t kMembersUsual = 8;
constexpr size_t kMetadataUsual = 10;

}  // namespace

json::object new_object(const Resource& resource, const NewMeta& meta) {
  json::object metadata;
  metadata.reserve(kMetadataUsual);
  metadata.emplace("name", meta.name);
  if (!meta.ns.empty()) metadata.emplace("namespace", meta.ns);
  if (!meta.labels.empty()) metadata.emplace("labels", to_object(meta.labels));
  if (!meta.annotations.empty()) metadata.emplace("annotations", to_object(meta.annotations));
  if (meta.owner) metadata.emplace("ownerReferences", json::array{json::value(*meta.owner)});
  json::object out;
  out.reserve(kMembersUsual);
  out.emplace("apiVersion", resource.api_version());
  out.emplace("kind", jview(resource.kind));
  out.emplace("metadata", std::move(metadata));
  return out;
}

json::object headless_service(const NewMeta& meta, const Pairs& selector,
                              const std::vector<ServicePort>& ports, bool publish_not_ready_addresses) {
  json::object spec{{"clusterIP", "None"}};
  if (!selector.empty()) spec["selector"] = to_object(selector);
  json::array list;
  for (const ServicePort& port : ports) {
    json::object entry;
    entry.reserve(4);
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

json::object event(NewEvent of) {
  json::object out = new_object(kEvents, {of.name, of.ns, {}, {}, {}});
  out.reserve(out.size() + 8);
  out.emplace("involvedObject", std::move(of.involved));
  out.emplace("reason", of.reason);
  out.emplace("message", of.message);
  out.emplace("type", of.type == EventType::kNormal ? "Normal" : "Warning");
  out.emplace("source", json::object{{"component", of.component}});
  out.emplace("firstTimestamp", format_rfc3339(of.first));
  out.emplace("lastTimestamp", format_rfc3339(of.last));
  out.emplace("count", of.count);
  return out;
}

json::object involved_object(const json::object& object) {
  json::object out;
  out.reserve(6);
  auto copy = [&](std::string_view as, std::string_view text) {
    if (!text.empty()) out.emplace(jview(as), jview(text));
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
