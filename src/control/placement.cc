#include "control/placement.h"

#include <algorithm>

#include "kube/access.h"
#include "kube/meta.h"

namespace trainyard::control {
namespace {

struct Node {
  const json::object* object = nullptr;
  Resources free;
};

void add(Resources& to, std::string_view name, const kube::Quantity& amount) {
  kube::Quantity& sum = to[std::string(name)];
  if (Result<kube::Quantity> more = sum.plus(amount); more.ok()) sum = *more;
}

void take(Resources& from, const Resources& what) {
  for (const auto& [name, amount] : what) {
    auto found = from.find(name);
    if (found == from.end()) continue;
    if (Result<kube::Quantity> less = found->second.minus(amount); less.ok()) found->second = *less;
  }
}

Resources requests_of_container(const json::object& container) {
  Resources out;
  for (std::string_view part : {"limits", "requests"}) {
    const json::object* amounts = kube::object_at(container, {"resources", part});
    if (amounts == nullptr) continue;
    for (const auto& member : *amounts) {
      Result<kube::Quantity> amount = kube::Quantity::from_json(member.value());
      if (amount.ok()) out[std::string(kube::view(member.key()))] = *amount;
    }
  }
  return out;
}

void for_each_container(const json::object& pod, std::string_view list, auto&& visit) {
  const json::array* containers = kube::array_at(pod, {"spec", list});
  if (containers == nullptr) return;
  for (const json::value& container : *containers) {
    if (const json::object* object = container.if_object()) visit(*object);
  }
}

bool has_ended(const json::object& pod) {
  std::string_view phase = kube::text_at(pod, {"status", "phase"});
  return phase == "Succeeded" || phase == "Failed";
}

bool waits_for_a_node(const json::object& pod) {
  const json::array* gates = kube::array_at(pod, {"spec", "schedulingGates"});
  return kube::text_at(pod, {"spec", "nodeName"}).empty() && !kube::is_deleting(pod) && !has_ended(pod) &&
         (gates == nullptr || gates->empty());
}

bool selects(const json::object& pod, const json::object& node) {
  const json::object* selector = kube::object_at(pod, {"spec", "nodeSelector"});
  if (selector == nullptr) return true;
  return std::all_of(selector->begin(), selector->end(), [&](const auto& member) {
    return member.value().is_string() &&
           kube::label_of(node, kube::view(member.key())) == kube::view(member.value().get_string());
  });
}

// Why this node cannot take the pod; "" when it can.
std::string why_not(const json::object& pod, const Resources& wants, const Node& node,
                    const PlacementOptions& options) {
  if (kube::bool_at(*node.object, {"spec", "unschedulable"}).value_or(false))
    return "node(s) were unschedulable";
  if (!selects(pod, *node.object)) return "node(s) didn't match Pod's node affinity/selector";
  for (const auto& [name, amount] : wants) {
    if (amount.is_zero() || (name == "cpu" && options.overcommit_cpu)) continue;
    auto found = node.free.find(name);
    kube::Quantity free = found == node.free.end() ? kube::Quantity() : found->second;
    if (amount <= free) continue;
    if (free.is_negative()) free = kube::Quantity();
    return name == "pods" ? "Too many pods"
                          : fmt::format("Insufficient {} (wants {}, {} free)", name, amount.to_string(),
                                        free.to_string());
  }
  return "";
}

std::vector<Node> free_nodes(const std::vector<const json::object*>& pods,
                             const std::vector<const json::object*>& nodes,
                             const std::map<std::string, std::string>& assumed) {
  std::vector<Node> out;
  std::map<std::string, size_t, std::less<>> by_name;
  for (const json::object* object : nodes) {
    Node node{object, {}};
    if (const json::object* amounts = kube::object_at(*object, {"status", "allocatable"})) {
      for (const auto& member : *amounts) {
        Result<kube::Quantity> amount = kube::Quantity::from_json(member.value());
        if (amount.ok()) node.free[std::string(kube::view(member.key()))] = *amount;
      }
    }
    by_name.emplace(kube::name_of(*object), out.size());
    out.push_back(std::move(node));
  }
  for (const json::object* pod : pods) {
    if (has_ended(*pod)) continue;
    std::string_view node = kube::text_at(*pod, {"spec", "nodeName"});
    if (node.empty()) {
      auto found = assumed.find(std::string(kube::uid_of(*pod)));
      if (found != assumed.end()) node = found->second;
    }
    if (auto found = by_name.find(node); found != by_name.end())
      take(out[found->second].free, requests_of(*pod));
  }
  return out;
}

std::variant<Bind, Wait> place_one(const json::object& pod, std::vector<Node>& nodes,
                                   const PlacementOptions& options) {
  Resources wants = requests_of(pod);
  std::map<std::string, int> reasons;
  for (Node& node : nodes) {
    std::string reason = why_not(pod, wants, node, options);
    if (reason.empty()) {
      take(node.free, wants);
      return Bind{std::string(kube::name_of(*node.object))};
    }
    ++reasons[reason];
  }
  std::string message = fmt::format("0/{} nodes are available", nodes.size());
  std::string_view separator = ": ";
  for (const auto& [reason, count] : reasons) {
    message += fmt::format("{}{} {}", separator, count, reason);
    separator = ", ";
  }
  return Wait{message + "."};
}

}  // namespace

Resources requests_of(const json::object& pod) {
  Resources sum;
  for_each_container(pod, "containers", [&](const json::object& container) {
    for (const auto& [name, amount] : requests_of_container(container)) add(sum, name, amount);
  });
  for_each_container(pod, "initContainers", [&](const json::object& container) {
    for (const auto& [name, amount] : requests_of_container(container)) {
      kube::Quantity& most = sum[name];
      if (most < amount) most = amount;
    }
  });
  sum["pods"] = kube::Quantity::of_whole(1);
  return sum;
}

std::vector<Placed> place(const std::vector<const json::object*>& pods,
                          const std::vector<const json::object*>& nodes,
                          const std::map<std::string, std::string>& assumed,
                          const PlacementOptions& options) {
  std::vector<Node> free = free_nodes(pods, nodes, assumed);
  std::vector<const json::object*> waiting;
  for (const json::object* pod : pods) {
    if (waits_for_a_node(*pod) && !assumed.contains(std::string(kube::uid_of(*pod)))) waiting.push_back(pod);
  }
  std::stable_sort(waiting.begin(), waiting.end(), [](const json::object* a, const json::object* b) {
    return kube::creation_time_of(*a) < kube::creation_time_of(*b);
  });
  std::vector<Placed> out;
  for (const json::object* pod : waiting) {
    out.push_back({std::string(kube::namespace_of(*pod)), std::string(kube::name_of(*pod)),
                   std::string(kube::uid_of(*pod)), place_one(*pod, free, options)});
  }
  return out;
}

}  // namespace trainyard::control
