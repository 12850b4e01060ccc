// Built-in kinds that are more than a few lines: services and custom resource definitions.
#include "base/hash.h"
#include "kube/access.h"
#include "store/builtin.h"
#include "store/errors.h"
#include "store/metadata.h"

namespace trainyard::store {

using kube::jview;
using kube::text_at;
using kube::view;

namespace {

constexpr std::string_view kServiceNameRule =
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic "
    "character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for "
    "validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";

// An address of 10.96.0.0/12 that the name always gets. Nothing listens there: it stands for
// the service until its name is resolved.
std::string cluster_ip(std::string_view ns, std::string_view name) {
  uint64_t at = fnv1a(name, fnv1a("/", fnv1a(ns))) % ((1u << 20) - 2) + 1;
  return fmt::format("10.{}.{}.{}", 96 + (at >> 16), (at >> 8) & 0xFF, at & 0xFF);
}

void admit_service_ports(json::object& spec, Causes& causes) {
  const bool is_headless = text_at(spec, {"clusterIP"}) == "None";
  const bool is_name = text_at(spec, {"type"}) == "ExternalName";
  json::value* ports = spec.if_contains("ports");
  const size_t count = ports != nullptr && ports->is_array() ? ports->get_array().size() : 0;
  if (count == 0) {
    if (!is_headless && !is_name) causes.push_back(required("spec.ports"));
    return;
  }
  std::set<std::string> names;
  for (size_t i = 0; i < count; ++i) {
    std::string path = fmt::format("spec.ports[{}]", i);
    json::object* port = ports->get_array()[i].if_object();
    if (port == nullptr) {
      causes.push_back(required(path));
      continue;
    }
    set_default(*port, "protocol", "TCP");
    const json::value* number = port->if_contains("port");
    std::optional<int64_t> n = number == nullptr ? std::nullopt : kube::as_whole(*number);
    if (n.value_or(0) < 1 || n.value_or(0) > 65535) {
      causes.push_back(invalid_value(path + ".port", number == nullptr ? json::value(0) : *number,
                                     "must be between 1 and 65535, inclusive"));
    } else {
      set_default(*port, "targetPort", *n);
    }
    std::string name(text_at(*port, {"name"}));
    if (name.empty() && count > 1) causes.push_back(required(path + ".name"));
    if (!name.empty() && !is_dns_label(name)) {
      causes.push_back(invalid_value(path + ".name", json::value(name), kDnsLabelRule));
    }
    if (!name.empty() && !names.insert(name).second) {
      causes.push_back(duplicate_value(path + ".name", json::value(name)));
    }
  }
}

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return out;
}

json::object condition(std::string_view type, std::string_view reason, std::string_view message,
                       std::string_view since) {
  return {{"type", type},
          {"status", "True"},
          {"lastTransitionTime", since},
          {"reason", reason},
          {"message", message}};
}

}  // namespace

Causes admit_service(json::object& service, const json::object* before) {
  Causes causes;
  if (before == nullptr && !is_dns_label(kube::name_of(service), true)) {
    causes.push_back(
        invalid_value("metadata.name", json::value(jview(kube::name_of(service))), kServiceNameRule));
  }
  json::object& spec = kube::ensure_object(service, {"spec"});
  set_default(spec, "type", "ClusterIP");
  set_default(spec, "sessionAffinity", "None");
  std::string_view type = text_at(spec, {"type"});
  if (type != "ClusterIP" && type != "ExternalName" && type != "LoadBalancer" && type != "NodePort") {
    causes.push_back(
        unsupported_value("spec.type", type, {"ClusterIP", "ExternalName", "LoadBalancer", "NodePort"}));
    return causes;
  }
  if (type == "ExternalName") {
    if (text_at(spec, {"externalName"}).empty()) causes.push_back(required("spec.externalName"));
  } else {
    std::string_view old = before == nullptr ? "" : text_at(*before, {"spec", "clusterIP"});
    if (text_at(spec, {"clusterIP"}).empty()) {
      spec["clusterIP"] =
          old.empty() ? cluster_ip(kube::namespace_of(service), kube::name_of(service)) : std::string(old);
    }
    if (!old.empty() && text_at(spec, {"clusterIP"}) != old) {
      causes.push_back(invalid_value("spec.clusterIP", spec["clusterIP"], "field is immutable"));
    }
    set_default(spec, "clusterIPs", json::array{spec["clusterIP"]});
    set_default(spec, "internalTrafficPolicy", "Cluster");
    set_default(spec, "ipFamilies", json::array{"IPv4"});
    set_default(spec, "ipFamilyPolicy", "SingleStack");
  }
  admit_service_ports(spec, causes);
  if (before == nullptr) service["status"] = json::object{{"loadBalancer", json::object{}}};
  return causes;
}

Causes admit_custom_resource_definition(json::object& definition, const json::object*) {
  Causes causes;
  json::object& spec = kube::ensure_object(definition, {"spec"});
  set_default(spec, "conversion", json::object{{"strategy", "None"}});
  for (std::string_view field : {"group", "scope"}) {
    if (text_at(spec, {field}).empty()) causes.push_back(required(fmt::format("spec.{}", field)));
  }
  for (std::string_view field : {"plural", "kind"}) {
    if (text_at(spec, {"names", field}).empty()) {
      causes.push_back(required(fmt::format("spec.names.{}", field)));
    }
  }
  const json::array* versions = kube::array_at(spec, {"versions"});
  if (versions == nullptr || versions->empty()) causes.push_back(required("spec.versions"));
  if (!causes.empty()) return causes;
  if (!kube::is_deleting(definition)) set_finalizer(definition, kCustomResourceCleanup, true);
  json::object& names = spec["names"].get_object();
  std::string kind(text_at(names, {"kind"}));
  set_default(names, "singular", json::value(lower(kind)));
  set_default(names, "listKind", json::value(kind + "List"));
  std::string full = fmt::format("{}.{}", text_at(names, {"plural"}), text_at(spec, {"group"}));
  if (kube::name_of(definition) != full) {
    causes.push_back(invalid_value("metadata.name", json::value(jview(kube::name_of(definition))),
                                   "must be spec.names.plural+\".\"+spec.group"));
    return causes;
  }
  json::array stored;
  for (const json::value& version : *versions) {
    const json::object* one = version.if_object();
    if (one != nullptr && kube::bool_at(*one, {"storage"}).value_or(false)) {
      stored.push_back(json::value(jview(text_at(*one, {"name"}))));
    }
  }
  std::string_view since = text_at(definition, {"metadata", "creationTimestamp"});
  definition["status"] = json::object{
      {"conditions", json::array{condition("NamesAccepted", "NoConflicts", "no conflicts found", since),
                                 condition("Established", "InitialNamesAccepted",
                                           "the initial names have been accepted", since)}},
      {"acceptedNames", names},
      {"storedVersions", std::move(stored)}};
  return causes;
}

}  // namespace trainyard::store
