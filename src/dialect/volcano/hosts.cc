#include "dialect/volcano/hosts.h"

#include <fmt/format.h>

#include "kube/access.h"

namespace trainyard::dialect::vc {

std::string host_of(const Spec& spec, const Task& task, int index) {
  std::string_view subdomain = kube::text_at(*task.pod_template, {"spec", "subdomain"});
  if (subdomain.empty()) subdomain = spec.name;
  std::string_view fixed = kube::text_at(*task.pod_template, {"spec", "hostname"});
  if (!fixed.empty()) return fmt::format("{}.{}", fixed, subdomain);
  return fmt::format("{}-{}-{}.{}", spec.name, task.name, index, subdomain);
}

std::vector<std::string> hosts_of(const Spec& spec, const Task& task) {
  bool fixed = !kube::text_at(*task.pod_template, {"spec", "hostname"}).empty();
  std::vector<std::string> hosts;
  for (int i = 0; i < task.replicas && (i == 0 || !fixed); ++i) hosts.push_back(host_of(spec, task, i));
  return hosts;
}

}  // namespace trainyard::dialect::vc
