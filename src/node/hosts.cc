#include "node/hosts.h"

#include "kube/access.h"
#include "kube/meta.h"
#include "kube/selector.h"

namespace trainyard::node {

using kube::text_at;

namespace {

void add_names(std::map<std::string, std::string>& hosts, std::string_view asking_ns, std::string_view name,
               std::string_view ns, const std::string& ip) {
  std::string full = fmt::format("{}.{}", name, ns);
  if (asking_ns == ns) hosts.emplace(name, ip);
  hosts.emplace(full, ip);
  hosts.emplace(full + ".svc", ip);
  hosts.emplace(full + ".svc.cluster.local", ip);
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
                                             const std::vector<Object>& services) {
  std::map<std::string, std::string> hosts;
  for (const Object& service : services) {
    std::string_view service_ns = kube::namespace_of(*service);
    for (const NamedPod& each : pods) {
      if (each.ip.empty() || kube::namespace_of(*each.pod) != service_ns) continue;
      if (!selects(*service, *each.pod)) continue;
      add_names(hosts, ns, kube::name_of(*service), service_ns, each.ip);
      break;
    }
  }
  for (const NamedPod& each : pods) {
    std::string_view subdomain = text_at(*each.pod, {"spec", "subdomain"});
    if (each.ip.empty() || subdomain.empty()) continue;
    std::string_view hostname = text_at(*each.pod, {"spec", "hostname"});
    if (hostname.empty()) hostname = kube::name_of(*each.pod);
    add_names(hosts, ns, fmt::format("{}.{}", hostname, subdomain), kube::namespace_of(*each.pod), each.ip);
  }
  return hosts;
}

}  // namespace trainyard::node
