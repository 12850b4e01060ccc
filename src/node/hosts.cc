#include "node/hosts.h"

#include <optional>

#include "kube/access.h"
#include "kube/meta.h"
#include "kube/selector.h"

namespace trainyard::node {

using kube::text_at;

namespace {

// Who asks, and in which cluster.
struct Asker {
  std::string_view ns;
  std::string_view domain;
};

void add_names(std::map<std::string, std::string>& hosts, const Asker& asker, std::string_view name,
               std::string_view ns, const std::string& ip) {
  std::string full = fmt::format("{}.{}", name, ns);
  if (asker.ns == ns) hosts.emplace(name, ip);
  hosts.emplace(full, ip);
  hosts.emplace(full + ".svc", ip);
  hosts.emplace(fmt::format("{}.svc.{}", full, asker.domain), ip);
}

// Pods by one of their labels, so that a service finds its own without asking each.
using ByLabel = std::map<std::string, std::vector<const NamedPod*>>;

std::string label_key(std::string_view ns, std::string_view key, std::string_view value) {
  return fmt::format("{}/{}={}", ns, key, value);
}

ByLabel index_of(const std::vector<NamedPod>& pods) {
  ByLabel index;
  for (const NamedPod& each : pods) {
    const json::object* labels = kube::object_at(*each.pod, {"metadata", "labels"});
    if (labels == nullptr || each.ip.empty()) continue;
    for (const auto& label : *labels) {
      if (!label.value().is_string()) continue;
      std::string_view value = kube::view(label.value().get_string());
      index[label_key(kube::namespace_of(*each.pod), kube::view(label.key()), value)].push_back(&each);
    }
  }
  return index;
}

// Those that have the rarest label which the service asks for.
std::vector<const NamedPod*> candidates(const json::object& service, const ByLabel& index) {
  const json::object* selector = kube::object_at(service, {"spec", "selector"});
  std::optional<std::vector<const NamedPod*>> fewest;
  for (size_t i = 0; selector != nullptr && i < selector->size(); ++i) {
    const auto& term = *(selector->begin() + static_cast<std::ptrdiff_t>(i));
    if (!term.value().is_string()) return {};
    auto found = index.find(label_key(kube::namespace_of(service), kube::view(term.key()),
                                      kube::view(term.value().get_string())));
    if (found == index.end()) return {};
    if (!fewest || found->second.size() < fewest->size()) fewest = found->second;
  }
  return fewest.value_or(std::vector<const NamedPod*>{});
}

bool selects(const json::object& service, const json::object& pod) {
  const json::object* selector = kube::object_at(service, {"spec", "selector"});
  if (selector == nullptr || selector->empty()) return false;
  for (const auto& term : *selector) {
    if (!term.value().is_string()) return false;
    if (kube::label_of(pod, kube::view(term.key())) != kube::view(term.value().get_string())) return false;
  }
  return true;
}

}  // namespace

std::map<std::string, std::string> hosts_for(std::string_view ns, const std::vector<NamedPod>& pods,
                                             const std::vector<Object>& services, std::string_view domain) {
  std::map<std::string, std::string> hosts;
  Asker asker{ns, domain};
  ByLabel index = index_of(pods);
  for (const Object& service : services) {
    for (const NamedPod* each : candidates(*service, index)) {
      if (!selects(*service, *each->pod)) continue;
      add_names(hosts, asker, kube::name_of(*service), kube::namespace_of(*service), each->ip);
      break;
    }
  }
  for (const NamedPod& each : pods) {
    std::string_view subdomain = text_at(*each.pod, {"spec", "subdomain"});
    if (each.ip.empty() || subdomain.empty()) continue;
    std::string_view hostname = text_at(*each.pod, {"spec", "hostname"});
    if (hostname.empty()) hostname = kube::name_of(*each.pod);
    add_names(hosts, asker, fmt::format("{}.{}", hostname, subdomain), kube::namespace_of(*each.pod),
              each.ip);
  }
  return hosts;
}

std::map<std::string, std::string> host_aliases_of(const json::object& pod) {
  std::map<std::string, std::string> hosts;
  const json::array* aliases = kube::array_at(pod, {"spec", "hostAliases"});
  for (size_t i = 0; aliases != nullptr && i < aliases->size(); ++i) {
    const json::object* alias = (*aliases)[i].if_object();
    const json::array* names = alias != nullptr ? kube::array_at(*alias, {"hostnames"}) : nullptr;
    for (size_t k = 0; names != nullptr && k < names->size(); ++k) {
      if ((*names)[k].is_string())
        hosts[std::string(kube::view((*names)[k].get_string()))] = text_at(*alias, {"ip"});
    }
  }
  return hosts;
}

}  // namespace trainyard::node
