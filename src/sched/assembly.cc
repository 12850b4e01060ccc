#include "sched/assembly.h"

#include <algorithm>
#include <functional>
#include <set>

#include "base/hash.h"
#include "kube/access.h"
#include "kube/meta.h"
#include "kube/selector.h"
#include "sched/decode.h"

namespace trainyard::sched {
namespace {

constexpr int64_t kPodsUnlimited = 1 << 20;

bool selects_all(const json::value& selector) {
  const json::object* object = selector.if_object();
  return object == nullptr || object->empty();
}

bool is_ready(const json::object& node) {
  for (const kube::Condition& condition : kube::decode_conditions(node)) {
    if (condition.type == "Ready") return condition.is_true();
  }
  return true;  // says nothing: a declared node without a kubelet
}

// With the key of each label that a term of the shape asks for.
void for_each_asked_label(const Shape& shape, const std::function<void(const std::string& key)>& then) {
  auto read = [&](const PodTerm& term) {
    for (const kube::Requirement& one : term.selector) then(one.key);
  };
  std::for_each(shape.near.begin(), shape.near.end(), read);
  std::for_each(shape.apart.begin(), shape.apart.end(), read);
  for (const auto& [weight, term] : shape.preferred) read(term);
}

// Classes that are alike have the same.
uint64_t class_print(const PodClass& pod) {
  uint64_t print = fnv1a(pod.ns);
  auto put = [&](int64_t value) { print = fnv1a(std::to_string(value), fnv1a(";", print)); };
  for (int64_t amount : pod.requests) put(amount);
  put(pod.node_rule);
  for (const auto& [key, value] : pod.labels) print = fnv1a(value, fnv1a(key, print));
  for (int claim : pod.claims) put(claim);
  return print;
}

}  // namespace

PriorityClass decode_priority_class(const json::object& object) {
  return {std::string(kube::name_of(object)), kube::int_at(object, {"value"}).value_or(0),
          kube::bool_at(object, {"globalDefault"}).value_or(false),
          kube::text_at(object, {"preemptionPolicy"}) == "Never"};
}

NodeSeen see_node(const json::object& object) {
  NodeSeen out;
  out.node.name = kube::name_of(object);
  out.node.labels = decode_labels(kube::object_at(object, {"metadata", "labels"}));
  if (const json::array* taints = kube::array_at(object, {"spec", "taints"})) {
    for (const json::value& entry : *taints) {
      const json::object* taint = entry.if_object();
      if (taint == nullptr) continue;
      std::string_view effect = kube::text_at(*taint, {"effect"});
      out.node.taints.push_back({std::string(kube::text_at(*taint, {"key"})),
                                 std::string(kube::text_at(*taint, {"value"})),
                                 effect == "NoExecute"          ? TaintEffect::kNoExecute
                                 : effect == "PreferNoSchedule" ? TaintEffect::kPreferNoSchedule
                                                                : TaintEffect::kNoSchedule});
    }
  }
  out.node.cordoned = kube::bool_at(object, {"spec", "unschedulable"}).value_or(false);
  out.node.ready = is_ready(object) && !kube::is_deleting(object);
  for (const auto& [name, quantity] :
       kube::decode_resources(kube::object_at(object, {"status", "allocatable"}))) {
    out.offered[name] = bounded_amount(name, quantity);
  }
  if (!out.offered.contains("pods")) out.offered["pods"] = kPodsUnlimited;
  return out;
}

Assembly::Assembly(Cluster& cluster, const Documents& documents, const VolumesFound* volumes,
                   const Shapes& shapes, const FrontOptions& options)
    : cluster_(cluster), volumes_(volumes), shapes_(shapes), options_(options) {
  name_resources(documents);
  heed_labels(documents);
  read_nodes(documents.nodes);
  read_queues(documents);
  for (const json::object* object : documents.priority_classes) {
    priority_classes_.push_back(decode_priority_class(*object));
  }
}

void Assembly::name_resources(const Documents& documents) {
  // A cluster has a handful, and every node offers the same ones.
  std::vector<std::string_view> names{"cpu", "memory", "pods"};
  const auto known = static_cast<std::ptrdiff_t>(names.size());
  auto add_names = [&](const auto& quantities) {
    for (const auto& [name, _] : quantities) {
      if (std::find(names.begin(), names.end(), name) == names.end()) names.emplace_back(name);
    }
  };
  for (const NodeSeen* seen : documents.nodes) add_names(seen->offered);
  for (const kube::Queue* queue : documents.queues) {
    for (const kube::Resources* part : {&queue->capability, &queue->deserved, &queue->guarantee})
      add_names(*part);
  }
  for (const GroupSeen* seen : documents.groups) add_names(seen->group.min_resources);
  for (int shape = 0; shape < shapes_.size(); ++shape) add_names(shapes_.at(shape).requests);
  std::sort(names.begin() + known, names.end());
  cluster_.resources.assign(names.begin(), names.end());
  for (size_t r = 0; r < cluster_.resources.size(); ++r)
    resource_of_[cluster_.resources[r]] = static_cast<int>(r);
}

// Most clusters have none, or one: then pods of different jobs are alike.
void Assembly::heed_labels(const Documents& documents) {
  std::vector<bool> read(static_cast<size_t>(shapes_.size()), false);
  for (const PodSeen* pod : documents.pods) {
    if (read[static_cast<size_t>(pod->shape)]) continue;
    read[static_cast<size_t>(pod->shape)] = true;
    for_each_asked_label(shapes_.at(pod->shape), [&](const std::string& key) { heeded_.insert(key); });
  }
}

bool Assembly::knows(const Documents& part) const {
  auto all_known = [&](const auto& quantities) {
    return std::all_of(quantities.begin(), quantities.end(),
                       [&](const auto& entry) { return resource_of_.contains(entry.first); });
  };
  auto all_heeded = [&](const Shape& shape) {
    bool all = true;
    for_each_asked_label(shape, [&](const std::string& key) { all = all && heeded_.contains(key); });
    return all;
  };
  return std::all_of(part.pods.begin(), part.pods.end(),
                     [&](const PodSeen* pod) {
                       const Shape& shape = shapes_.at(pod->shape);
                       return all_known(shape.requests) && all_heeded(shape);
                     }) &&
         std::all_of(part.groups.begin(), part.groups.end(),
                     [&](const GroupSeen* group) { return all_known(group->group.min_resources); });
}

// By name: whoever ranks them has no work then.
void Assembly::read_nodes(std::vector<const NodeSeen*> nodes) {
  std::stable_sort(nodes.begin(), nodes.end(),
                   [](const NodeSeen* a, const NodeSeen* b) { return a->node.name < b->node.name; });
  cluster_.nodes.reserve(nodes.size());
  for (const NodeSeen* seen : nodes) {
    auto [_, fresh] = node_of_.emplace(seen->node.name, static_cast<int>(cluster_.nodes.size()));
    if (!fresh) continue;
    Node node = seen->node;
    node.allocatable.assign(cluster_.resources.size(), 0);
    for (const auto& [name, amount] : seen->offered) {
      node.allocatable[static_cast<size_t>(resource_index(name))] = amount;
    }
    cluster_.nodes.push_back(std::move(node));
  }
}

// Nothing of a resource is a limit, too; of cpu and memory Volcano takes it for no limit.
Amounts Assembly::capacity_of(const kube::Queue& queue) const {
  Amounts out = amounts(queue.capability);
  const bool t9k = queue.group == kube::kT9kQueues.group;
  for (const auto& [name, _] : queue.capability) {
    int64_t& most = out[static_cast<size_t>(resource_index(name))];
    if (most == 0 && (t9k || (name != "cpu" && name != "memory"))) most = kNoneOfIt;
  }
  return out;
}

void Assembly::add_queue(const kube::Queue& queue, const std::string& name, const Documents& documents) {
  Queue out;
  out.name = name;
  out.weight = std::max(1, queue.weight);
  out.priority = queue.priority;
  out.capacity = capacity_of(queue);
  out.guarantee = amounts(queue.guarantee);
  out.deserved = amounts(queue.deserved);
  out.closed = queue.closed;
  out.preemptible = queue.reclaimable;
  if (queue.node_selector && !selects_all(*queue.node_selector)) {
    out.node_selector = decode_selector(*queue.node_selector);
  }
  if (queue.namespace_selector && !selects_all(*queue.namespace_selector)) {
    Result<kube::LabelSelector> selector = kube::LabelSelector::from_json(*queue.namespace_selector);
    out.namespaces.emplace();
    for (const json::object* ns : documents.namespaces) {
      if (selector.ok() && selector->matches(*ns)) out.namespaces->emplace_back(kube::name_of(*ns));
    }
    std::sort(out.namespaces->begin(), out.namespaces->end());
  }
  cluster_.queues.push_back(std::move(out));
}

// Queues of both groups live side by side; a name that both have is told apart by the group.
void Assembly::read_queues(const Documents& documents) {
  std::set<std::string> names;
  for (const kube::Queue* queue : documents.queues) {
    if (queue->group == kube::kT9kQueues.group || !names.insert(queue->name).second) continue;
    add_queue(*queue, queue->name, documents);
  }
  for (const kube::Queue* queue : documents.queues) {
    if (queue->group != kube::kT9kQueues.group || t9k_queues_.contains(queue->name)) continue;
    std::string name = names.contains(queue->name) ? queue->group + "/" + queue->name : queue->name;
    t9k_queues_[queue->name] = name;
    names.insert(name);
    add_queue(*queue, name, documents);
  }
  if (!names.contains(options_.default_queue)) add_queue({}, options_.default_queue, documents);
}

std::string Assembly::queue_name(std::string_view group, const std::string& queue) const {
  if (group != kube::kT9kPodGroups.group) return queue;
  auto found = t9k_queues_.find(queue);
  return found == t9k_queues_.end() ? queue : found->second;
}

int Assembly::node_index(const std::string& name) const {
  auto found = node_of_.find(name);
  return found == node_of_.end() ? -1 : found->second;
}

int Assembly::resource_index(const std::string& name) const { return resource_of_.at(name); }

Amounts Assembly::amounts(const kube::Resources& quantities) const {
  Amounts out;
  for (const auto& [name, quantity] : quantities) {
    out.resize(cluster_.resources.size(), 0);
    out[static_cast<size_t>(resource_index(name))] = bounded_amount(name, quantity);
  }
  return out;
}

const PriorityClass* Assembly::priority_class(const std::string& name) const {
  for (const PriorityClass& one : priority_classes_) {
    if (!name.empty() && one.name == name) return &one;
  }
  return nullptr;
}

const PriorityClass* Assembly::default_priority_class() const {
  for (const PriorityClass& one : priority_classes_) {
    if (one.by_default) return &one;
  }
  return nullptr;
}

int Assembly::term_of(const PodTerm& term) {
  auto found = std::find(cluster_.pod_terms.begin(), cluster_.pod_terms.end(), term);
  if (found == cluster_.pod_terms.end()) found = cluster_.pod_terms.insert(found, term);
  return static_cast<int>(found - cluster_.pod_terms.begin());
}

int Assembly::rule_of(NodeRule rule) {
  auto found = std::find(cluster_.node_rules.begin(), cluster_.node_rules.end(), rule);
  if (found == cluster_.node_rules.end()) found = cluster_.node_rules.insert(found, std::move(rule));
  return static_cast<int>(found - cluster_.node_rules.begin());
}

int Assembly::source_of(int found) {
  auto [at, fresh] = source_of_.try_emplace(found, static_cast<int>(cluster_.sources.size()));
  if (!fresh) return at->second;
  const SourceFound& seen = volumes_->sources[static_cast<size_t>(found)];
  VolumeSource source{seen.volume, std::nullopt, seen.room};
  if (seen.nodes) source.nodes.emplace();
  for (const std::string& name : seen.nodes.value_or(std::vector<std::string>{})) {
    if (int node = node_index(name); node >= 0) source.nodes->push_back(node);
  }
  cluster_.sources.push_back(std::move(source));
  return at->second;
}

int Assembly::claim_of(const std::string& key, const OpenClaim& open) {
  auto [at, fresh] = claim_of_.try_emplace(key, static_cast<int>(cluster_.claims.size()));
  if (!fresh) return at->second;
  Claim claim{key, open.storage_class, open.size, {}};
  for (int source : open.sources) claim.sources.push_back(source_of(source));
  cluster_.claims.push_back(std::move(claim));
  return at->second;
}

void Assembly::add_claims(const Shape& shape, PodClass& pod, NodeRule& rule) {
  const VolumesFound& volumes = *volumes_;
  for (const std::string& claim : shape.claims) {
    std::string key = shape.ns + "/" + claim;
    if (auto open = volumes.open.find(key); open != volumes.open.end()) {
      pod.claims.push_back(claim_of(key, open->second));
    }
    auto reachable = volumes.nodes.find(key);
    if (reachable == volumes.nodes.end()) continue;
    if (!rule.allowed) {
      rule.allowed = reachable->second;
    } else {
      std::erase_if(*rule.allowed, [&](const std::string& node) {
        return !std::binary_search(reachable->second.begin(), reachable->second.end(), node);
      });
    }
  }
}

int Assembly::class_of(const PodSeen& seen) {
  auto [at, fresh] = class_of_.try_emplace({seen.shape, heeded_.empty() ? 0 : seen.labels}, -1);
  int& known = at->second;
  if (!fresh) return known;
  const Shape& shape = shapes_.at(seen.shape);
  PodClass out;
  out.requests.assign(cluster_.resources.size(), 0);
  for (const auto& [name, amount] : shape.requests) {
    if (name == "cpu" && options_.overcommit_cpu) continue;
    out.requests[static_cast<size_t>(resource_index(name))] = amount;
  }
  NodeRule rule = shape.rule;
  if (volumes_ != nullptr) add_claims(shape, out, rule);
  out.node_rule = rule_of(std::move(rule));
  out.ns = shape.ns;
  if (!heeded_.empty()) out.labels = shapes_.labels().at(seen.labels);
  std::erase_if(out.labels, [&](const auto& label) { return !heeded_.contains(label.first); });
  out.ports = shape.ports;
  for (const PodTerm& term : shape.near) out.near.push_back(term_of(term));
  for (const PodTerm& term : shape.apart) out.apart.push_back(term_of(term));
  for (const auto& [weight, term] : shape.preferred) out.preferred.push_back({weight, term_of(term)});
  const uint64_t print = class_print(out);
  auto [alike, last] = classes_.equal_range(print);
  for (; alike != last; ++alike) {
    if (cluster_.classes[static_cast<size_t>(alike->second)] == out) return known = alike->second;
  }
  known = static_cast<int>(cluster_.classes.size());
  classes_.emplace(print, known);
  cluster_.classes.push_back(std::move(out));
  return known;
}

bool Assembly::add_other(const PodSeen& pod) {
  if (pod.ended || is_ours(pod, options_)) return false;
  int node = node_index(pod.node);
  if (node >= 0) cluster_.others.push_back({node, class_of(pod), pod.leaving});
  return node >= 0;
}

}  // namespace trainyard::sched
