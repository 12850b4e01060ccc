#include "sched/shape.h"

#include <fmt/format.h>

#include <algorithm>

#include "kube/access.h"
#include "kube/member.h"
#include "kube/meta.h"
#include "sched/decode.h"

namespace trainyard::sched {
namespace {

using kube::array_at;
using kube::object_at;
using kube::text_at;

void for_each(const json::array* list, auto&& visit) {
  if (list == nullptr) return;
  for (const json::value& entry : *list) {
    if (const json::object* object = entry.if_object()) visit(*object);
  }
}

std::optional<TaintEffect> effect_of(std::string_view text) {
  if (text == "NoSchedule") return TaintEffect::kNoSchedule;
  if (text == "PreferNoSchedule") return TaintEffect::kPreferNoSchedule;
  if (text == "NoExecute") return TaintEffect::kNoExecute;
  return std::nullopt;
}

NodeRule rule_of(const json::object& pod) {
  NodeRule out;
  out.selector = decode_labels(object_at(pod, {"spec", "nodeSelector"}));
  const json::object* affinity = object_at(pod, {"spec", "affinity", "nodeAffinity"});
  if (affinity != nullptr) {
    for_each(array_at(*affinity, {"requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms"}),
             [&](const json::object& term) { out.required.push_back(decode_node_term(term)); });
    for_each(array_at(*affinity, {"preferredDuringSchedulingIgnoredDuringExecution"}),
             [&](const json::object& wish) {
               const json::object* term = object_at(wish, {"preference"});
               int weight = static_cast<int>(kube::int_at(wish, {"weight"}).value_or(1));
               if (term != nullptr) out.preferred.push_back({weight, decode_node_term(*term)});
             });
  }
  for_each(array_at(pod, {"spec", "tolerations"}), [&](const json::object& one) {
    out.tolerations.push_back({std::string(text_at(one, {"key"})), text_at(one, {"operator"}) == "Exists",
                               std::string(text_at(one, {"value"})), effect_of(text_at(one, {"effect"}))});
  });
  return out;
}

PodTerm pod_term(const json::object& term, const std::string& ns) {
  PodTerm out;
  out.topology_key = text_at(term, {"topologyKey"});
  const json::value* selector = kube::find(term, {"labelSelector"});
  Result<kube::LabelSelector> read =
      kube::LabelSelector::from_json(selector == nullptr ? json::value() : *selector);
  if (read.ok()) out.selector = read->requirements();
  bool nothing = !read.ok() || (!read->matches_everything() && out.selector.empty());
  out.namespaces = decode_texts(array_at(term, {"namespaces"}));
  // A namespaceSelector is read as "any namespace": labels of namespaces are not known here.
  if (object_at(term, {"namespaceSelector"}) != nullptr) out.namespaces.reset();
  if (out.namespaces && out.namespaces->empty()) out.namespaces = {ns};
  if (nothing) out.namespaces = std::vector<std::string>{};
  return out;
}

void read_pod_affinity(const json::object& pod, Shape& shape) {
  for (std::string_view kind : {"podAffinity", "podAntiAffinity"}) {
    const json::object* affinity = object_at(pod, {"spec", "affinity", kind});
    if (affinity == nullptr) continue;
    bool anti = kind == "podAntiAffinity";
    for_each(array_at(*affinity, {"requiredDuringSchedulingIgnoredDuringExecution"}),
             [&](const json::object& term) {
               (anti ? shape.apart : shape.near).push_back(pod_term(term, shape.ns));
             });
    for_each(array_at(*affinity, {"preferredDuringSchedulingIgnoredDuringExecution"}),
             [&](const json::object& wish) {
               const json::object* term = object_at(wish, {"podAffinityTerm"});
               int weight = static_cast<int>(kube::int_at(wish, {"weight"}).value_or(1));
               if (term != nullptr)
                 shape.preferred.emplace_back(anti ? -weight : weight, pod_term(*term, shape.ns));
             });
  }
}

void read_ports(const json::object& pod, Shape& shape) {
  bool host_network = kube::bool_at(pod, {"spec", "hostNetwork"}).value_or(false);
  for_each(array_at(pod, {"spec", "containers"}), [&](const json::object& container) {
    for_each(array_at(container, {"ports"}), [&](const json::object& port) {
      std::optional<int64_t> number = kube::int_at(port, {host_network ? "containerPort" : "hostPort"});
      if (!number || *number <= 0) return;
      std::string_view protocol = text_at(port, {"protocol"});
      shape.ports.push_back({std::string(text_at(port, {"hostIP"})),
                             protocol.empty() ? "TCP" : std::string(protocol), static_cast<int>(*number)});
    });
  });
}

// A claim that lives as long as its pod is made in the name of both.
std::vector<std::string> mounted_claims(const json::object& pod) {
  std::vector<std::string> out;
  for_each(array_at(pod, {"spec", "volumes"}), [&](const json::object& volume) {
    std::string claim(text_at(volume, {"persistentVolumeClaim", "claimName"}));
    if (object_at(volume, {"ephemeral"}) != nullptr) {
      claim = fmt::format("{}-{}", kube::name_of(pod), text_at(volume, {"name"}));
    }
    if (!claim.empty() && std::find(out.begin(), out.end(), claim) == out.end()) out.push_back(claim);
  });
  return out;
}

// Appends a part in such a way that no two lists of parts give the same text.
void add_part(std::string& text, std::string_view part) {
  text.append(std::to_string(part.size())).append(":").append(part);
}

// The member as it is, if it is there.
void add_member(std::string& text, const json::object& from, std::string_view key) {
  const json::value* value = kube::member_of(from, key);
  if (value == nullptr) return;
  add_part(text, key);
  if (value->is_string()) {
    text += '"';
    add_part(text, kube::view(value->get_string()));
  } else {
    add_part(text, json::serialize(*value));
  }
}

// What shape_of() reads. It is asked for with every change of a pod: no document is made for it.
std::string text_of(const json::object& pod) {
  std::string text;
  add_part(text, kube::namespace_of(pod));
  const json::object* spec = object_at(pod, {"spec"});
  if (spec == nullptr) return text;
  for (std::string_view key :
       {"nodeSelector", "affinity", "tolerations", "hostNetwork", "overhead", "topologySpreadConstraints"}) {
    add_member(text, *spec, key);
  }
  for (std::string_view list : {"containers", "initContainers"}) {
    text += ';';
    for_each(array_at(*spec, {list}), [&](const json::object& container) {
      for (std::string_view key : {"resources", "ports", "restartPolicy"}) add_member(text, container, key);
      text += ',';
    });
  }
  if (kube::is_resizing(pod)) {
    for (const auto& [name, amount] : kube::requests_of(pod))
      add_part(text, fmt::format("{}={}", name, amount));
  }
  text += ';';
  for (const std::string& claim : mounted_claims(pod)) add_part(text, claim);
  return text;
}

}  // namespace

kube::Requests requests_of(const json::object& pod) {
  kube::Requests sum = kube::requests_of(pod);
  for (auto& [name, amount] : sum) amount = within_bounds(amount);
  sum["pods"] = 1;
  return sum;
}

Shape shape_of(const json::object& pod) {
  Shape out;
  out.requests = requests_of(pod);
  out.rule = rule_of(pod);
  out.ns = kube::namespace_of(pod);
  read_pod_affinity(pod, out);
  read_ports(pod, out);
  out.claims = mounted_claims(pod);
  for_each(array_at(pod, {"spec", "topologySpreadConstraints"}), [&](const json::object& one) {
    out.spread = out.spread || text_at(one, {"topologyKey"}) == "kubernetes.io/hostname";
  });
  return out;
}

int Shapes::number(const json::object& pod) {
  auto [at, fresh] = by_text_.try_emplace(text_of(pod), size());
  if (fresh) shapes_.push_back(shape_of(pod));
  return at->second;
}

std::vector<int> Shapes::keep(const std::vector<bool>& used) {
  std::vector<int> renamed(shapes_.size(), -1);
  std::vector<Shape> kept;
  for (size_t i = 0; i < shapes_.size(); ++i) {
    if (i >= used.size() || !used[i]) continue;
    renamed[i] = static_cast<int>(kept.size());
    kept.push_back(std::move(shapes_[i]));
  }
  shapes_ = std::move(kept);
  std::erase_if(by_text_, [&](const auto& entry) { return renamed[static_cast<size_t>(entry.second)] < 0; });
  for (auto& [text, number] : by_text_) number = renamed[static_cast<size_t>(number)];
  return renamed;
}

}  // namespace trainyard::sched
