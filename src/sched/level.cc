#include "sched/level.h"

#include <algorithm>

#include "base/check.h"

namespace trainyard::sched {
namespace {

bool any_address(const std::string& ip) { return ip.empty() || ip == "0.0.0.0"; }

bool clash(const HostPort& a, const HostPort& b) {
  return a.port == b.port && a.protocol == b.protocol &&
         (a.ip == b.ip || any_address(a.ip) || any_address(b.ip));
}

}  // namespace

Level::Level(const Tables& tables) : width_(static_cast<size_t>(tables.resources())) {
  free_.assign(static_cast<size_t>(tables.nodes()) * width_, 0);
  for (int n = 0; n < tables.nodes(); ++n) {
    const Amounts& offered = tables.node(n).allocatable;
    std::copy(offered.begin(), offered.end(), free_.begin() + static_cast<std::ptrdiff_t>(n * width_));
  }
  const Cluster& cluster = tables.cluster();
  bool ports = std::any_of(cluster.classes.begin(), cluster.classes.end(),
                           [](const PodClass& pod) { return !pod.ports.empty(); });
  if (ports) ports_.resize(static_cast<size_t>(tables.nodes()));
  for (size_t term = 0; term < cluster.pod_terms.size(); ++term) {
    size_t domains = tables.domains_of_term(static_cast<int>(term)).names.size();
    matching_.emplace_back(domains, 0);
    carrying_.emplace_back(domains, 0);
  }
  matching_anywhere_.assign(cluster.pod_terms.size(), 0);
}

void Level::take(const Tables& tables, int node, int pod_class, int times) {
  int64_t* row = &free_[static_cast<size_t>(node) * width_];
  for (const Need& need : tables.needs(pod_class)) row[need.resource] -= need.amount * times;
  if (!ports_.empty()) {
    for (const HostPort& port : tables.pod_class(pod_class).ports) {
      ports_[static_cast<size_t>(node)].push_back(&port);
    }
  }
  count(tables, node, pod_class, times);
}

void Level::give(const Tables& tables, int node, int pod_class, int times) {
  int64_t* row = &free_[static_cast<size_t>(node) * width_];
  for (const Need& need : tables.needs(pod_class)) row[need.resource] += need.amount * times;
  if (!ports_.empty()) {
    std::vector<const HostPort*>& used = ports_[static_cast<size_t>(node)];
    for (const HostPort& port : tables.pod_class(pod_class).ports) {
      auto found = std::find(used.begin(), used.end(), &port);
      CHECK(found != used.end());
      used.erase(found);
    }
  }
  count(tables, node, pod_class, -times);
}

void Level::count(const Tables& tables, int node, int pod_class, int by) {
  for (size_t term = 0; term < matching_.size(); ++term) {
    int domain = tables.domains_of_term(static_cast<int>(term)).of_node[static_cast<size_t>(node)];
    if (domain < 0 || !tables.matches(static_cast<int>(term), pod_class)) continue;
    matching_[term][static_cast<size_t>(domain)] += by;
    matching_anywhere_[term] += by;
  }
  for (int term : tables.pod_class(pod_class).apart) {
    int domain = tables.domains_of_term(term).of_node[static_cast<size_t>(node)];
    if (domain >= 0) carrying_[static_cast<size_t>(term)][static_cast<size_t>(domain)] += by;
  }
}

int Level::port_in_use(const Tables& tables, int node, int pod_class) const {
  if (ports_.empty()) return -1;
  const std::vector<const HostPort*>& used = ports_[static_cast<size_t>(node)];
  const std::vector<HostPort>& wanted = tables.pod_class(pod_class).ports;
  for (size_t i = 0; i < wanted.size(); ++i) {
    for (const HostPort* other : used) {
      if (clash(wanted[i], *other)) return static_cast<int>(i);
    }
  }
  return -1;
}

int Level::matching_there(const Tables& tables, int term, int node) const {
  int domain = tables.domains_of_term(term).of_node[static_cast<size_t>(node)];
  return domain < 0 ? 0 : matching_[static_cast<size_t>(term)][static_cast<size_t>(domain)];
}

std::optional<Hindrance> Level::disturbed(const Tables& tables, int node, int pod_class) const {
  if (int port = port_in_use(tables, node, pod_class); port >= 0)
    return Hindrance{Hindrance::By::kPort, port};
  for (int term : tables.pod_class(pod_class).apart) {
    if (matching_there(tables, term, node) > 0) return Hindrance{Hindrance::By::kApart, term};
  }
  for (int term : tables.apart_terms()) {
    int domain = tables.domains_of_term(term).of_node[static_cast<size_t>(node)];
    if (domain >= 0 && tables.matches(term, pod_class) &&
        carrying_[static_cast<size_t>(term)][static_cast<size_t>(domain)] > 0) {
      return Hindrance{Hindrance::By::kMinded, term};
    }
  }
  return std::nullopt;
}

std::optional<Hindrance> Level::lonely(const Tables& tables, int node, int pod_class, bool placed) const {
  for (int term : tables.pod_class(pod_class).near) {
    bool itself = tables.matches(term, pod_class);
    int counted = placed && itself ? 1 : 0;
    int anywhere = matching_anywhere_[static_cast<size_t>(term)];
    bool nobody = !itself && anywhere == 0;
    Hindrance far{nobody ? Hindrance::By::kNobody : Hindrance::By::kFar, term};
    int domain = tables.domains_of_term(term).of_node[static_cast<size_t>(node)];
    if (domain < 0) return far;
    bool first = itself && anywhere == counted;
    if (matching_there(tables, term, node) <= counted && !first) return far;
  }
  return std::nullopt;
}

std::optional<Hindrance> Level::hindrance(const Tables& tables, int node, int pod_class) const {
  std::optional<Hindrance> found = disturbed(tables, node, pod_class);
  return found ? found : lonely(tables, node, pod_class, false);
}

}  // namespace trainyard::sched
