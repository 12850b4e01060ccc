#include "sim/yard.h"

#include <fmt/format.h>

#include "kube/access.h"
#include "kube/scheduling.h"

namespace trainyard::sim {
namespace {

constexpr Author kAdministrator{Hand::kUser, -1};
constexpr std::string_view kQueues[] = {"q0", "q1"};
constexpr int kManyCpus = 100;

json::object with_name(const kube::Resource& resource, std::string_view name) {
  return {{"apiVersion", resource.api_version()},
          {"kind", kube::jview(resource.kind)},
          {"metadata", json::object{{"name", kube::jview(name)}}}};
}

}  // namespace

Yard::Yard(Ports ports, const Options& options, std::vector<int> cpus)
    : ports_(std::move(ports)),
      options_(options),
      scripted_(!cpus.empty()),
      rng_(stream(options.seed, Stream::kYard)),
      cpus_(std::move(cpus)) {
  for (int i = 0; !scripted_ && i < options.nodes; ++i) cpus_.push_back(static_cast<int>(rng_.between(2, 5)));
}

std::string Yard::any_node() { return fmt::format("node-{}", rng_.below(cpus_.size())); }

void Yard::make_node(const std::string& name, int cpus) {
  ports_.cluster.create(kAdministrator, kube::kNodes, with_name(kube::kNodes, name));
  json::object room{{"cpu", std::to_string(cpus)}, {"pods", "50"}};
  ports_.cluster.write_status(kAdministrator, kube::kNodes, name, {{"allocatable", std::move(room)}});
}

void Yard::make_queues() {
  for (std::string_view name : kQueues) {
    json::object queue = with_name(kube::kVolcanoQueues, name);
    queue["spec"] = json::object{{"weight", rng_.between(1, 4)}, {"priority", rng_.between(0, 2)}};
    ports_.cluster.create(kAdministrator, kube::kVolcanoQueues, std::move(queue));
  }
  json::object high = with_name(kube::kPriorityClasses, "high");
  high["value"] = 1000;
  ports_.cluster.create(kAdministrator, kube::kPriorityClasses, std::move(high));
}

void Yard::start() {
  for (size_t i = 0; i < cpus_.size(); ++i) make_node(fmt::format("node-{}", i), cpus_[i]);
  make_queues();
  if (!scripted_) ports_.cluster.agenda().in(seconds(5), [this] { trouble(); });
}

void Yard::trouble() {
  if (!trouble_) return;
  if (options_.faults.has(Fault::kDrain) && rng_.chance(options_.fault_percent)) {
    const std::string node = any_node();
    say(node + " is drained");
    cordon(node, true);
    ports_.empty_node(node);
    ports_.cluster.agenda().in(Duration{rng_.between(5'000, 40'000)}, [this, node] { cordon(node, false); });
  }
  if (options_.faults.has(Fault::kQueueClose) && rng_.chance(options_.fault_percent)) {
    const std::string queue(kQueues[rng_.below(std::size(kQueues))]);
    set_queue(queue, "Closed");
    ports_.cluster.agenda().in(Duration{rng_.between(5'000, 60'000)},
                               [this, queue] { set_queue(queue, "Open"); });
  }
  if (options_.faults.has(Fault::kQueueShrink) && rng_.chance(options_.fault_percent)) {
    const std::string queue(kQueues[rng_.below(std::size(kQueues))]);
    limit_queue(queue, static_cast<int>(rng_.between(1, 3)));
    ports_.cluster.agenda().in(Duration{rng_.between(5'000, 60'000)},
                               [this, queue] { limit_queue(queue, std::nullopt); });
  }
  ports_.cluster.agenda().in(seconds(5), [this] { trouble(); });
}

void Yard::settle() {
  trouble_ = false;
  if (scripted_) return;
  for (std::string_view queue : kQueues) {
    set_queue(std::string(queue), "Open");
    limit_queue(std::string(queue), std::nullopt);
  }
  for (size_t i = 0; i < cpus_.size(); ++i) {
    const std::string node = fmt::format("node-{}", i);
    node_back(node);
    cordon(node, false);
  }
}

void Yard::grow(int nodes) {
  say("grows");
  for (int i = 0; i < nodes; ++i) make_node(fmt::format("node-large-{}", i), kManyCpus);
}

void Yard::node_lost(const std::string& node) {
  say(node + " is lost");
  ports_.cluster.remove(kAdministrator, kube::kNodes, node);
}

void Yard::node_back(const std::string& node) {
  if (ports_.cluster.find(kube::kNodes, node) != nullptr) return;
  for (size_t i = 0; i < cpus_.size(); ++i) {
    if (node == fmt::format("node-{}", i)) make_node(node, cpus_[i]);
  }
}

void Yard::cordon(const std::string& node, bool on) {
  const store::Object there = ports_.cluster.find(kube::kNodes, node);
  if (there == nullptr || kube::bool_at(*there, {"spec", "unschedulable"}).value_or(false) == on) return;
  json::object changed = *there;
  kube::ensure_object(changed, {"spec"})["unschedulable"] = on;
  ports_.cluster.update(kAdministrator, kube::kNodes, std::move(changed));
}

void Yard::limit_queue(const std::string& queue, std::optional<int> cpus) {
  const store::Object there = ports_.cluster.find(kube::kVolcanoQueues, queue);
  if (there == nullptr || (!cpus && kube::object_at(*there, {"spec", "capability"}) == nullptr)) return;
  say(fmt::format("{} may hold {}", queue, cpus ? fmt::format("{} cpus", *cpus) : "all"));
  json::object changed = *there;
  json::object& spec = kube::ensure_object(changed, {"spec"});
  spec.erase("capability");
  if (cpus) spec["capability"] = json::object{{"cpu", std::to_string(*cpus)}};
  ports_.cluster.update(kAdministrator, kube::kVolcanoQueues, std::move(changed));
}

void Yard::set_queue(const std::string& queue, std::string_view state) {
  const store::Object there = ports_.cluster.find(kube::kVolcanoQueues, queue);
  if (there == nullptr || kube::text_at(*there, {"status", "state"}) == state) return;
  say(fmt::format("{} is {}", queue, state));
  json::object status;
  if (const json::object* told = kube::object_at(*there, {"status"})) status = *told;
  status["state"] = kube::jview(state);
  ports_.cluster.write_status(kAdministrator, kube::kVolcanoQueues, queue, std::move(status));
}

}  // namespace trainyard::sim
