#include "server/node_metrics.h"

#include <fmt/format.h>

#include "kube/access.h"
#include "server/queries.h"

namespace trainyard::server {
namespace {

using kube::jview;

json::object quantities(const Usage& usage) {
  return {{"cpu", fmt::format("{}n", usage.cpu_nanocores)},
          {"memory", fmt::format("{}Ki", usage.memory_bytes / 1024)}};
}

constexpr std::string_view kWindow = "10s";

// What runs has memory: nothing, or less, means that it could not be measured.
bool is_measured(const ContainerUsage& one) {
  return one.usage.memory_bytes > 0 && one.usage.cpu_nanocores >= 0;
}

}  // namespace

json::object pod_metrics(const json::object& pod, std::string_view api_version,
                         const std::vector<ContainerUsage>& usage, Time now) {
  json::array containers;
  for (const ContainerUsage& one : usage) {
    containers.push_back(json::object{{"name", one.container}, {"usage", quantities(one.usage)}});
  }
  json::object metadata{{"name", jview(kube::name_of(pod))}, {"namespace", jview(kube::namespace_of(pod))}};
  if (const json::object* labels = kube::object_at(pod, {"metadata", "labels"})) metadata["labels"] = *labels;
  metadata["creationTimestamp"] = format_rfc3339(now);
  return {{"kind", "PodMetrics"},
          {"apiVersion", jview(api_version)},
          {"metadata", std::move(metadata)},
          {"timestamp", format_rfc3339(now)},
          {"window", jview(kWindow)},
          {"containers", std::move(containers)}};
}

json::object node_metrics(const json::object& node, std::string_view api_version, const Usage& usage,
                          Time now) {
  json::object metadata{{"name", jview(kube::name_of(node))}};
  if (const json::object* labels = kube::object_at(node, {"metadata", "labels"}))
    metadata["labels"] = *labels;
  metadata["creationTimestamp"] = format_rfc3339(now);
  return {{"kind", "NodeMetrics"},           {"apiVersion", jview(api_version)},
          {"metadata", std::move(metadata)}, {"timestamp", format_rfc3339(now)},
          {"window", jview(kWindow)},        {"usage", quantities(usage)}};
}

void NodeMetrics::handle(const CallRef& call) {
  if (call->request.method != "GET" || !call->path.subresource.empty()) {
    return refuse(call, method_not_allowed(&call->api->resource, call->request.method));
  }
  if (pods_ == nullptr) return refuse(call, unavailable("no node measures anything here"));
  // What is measured is selected by what is measured of it.
  const kube::Resource& measured = call->path.plural == "nodes" ? kube::kNodes : kube::kPods;
  kube::List list;
  Result<kube::LabelSelector> labels = labels_of_query(call->query());
  if (!labels.ok()) return refuse(call, bad_request(labels.error().message));
  list.labels = std::move(labels).value();
  Result<kube::FieldSelector> fields = fields_of_query(measured, call->query());
  if (!fields.ok()) return refuse(call, bad_request(fields.error().message));
  list.fields = std::move(fields).value();
  if (!call->path.name.empty()) list.fields.add("metadata.name", call->path.name);
  hub_.submit({measured, call->path.ns, std::move(list)}, [this, call](Result<hub::Answer> answer) {
    auto shared = std::make_shared<Result<hub::Answer>>(std::move(answer));
    run_([this, call, shared] {
      if (!shared->ok())
        return refuse(call, status_of(shared->error(), call->api->resource, call->path.name));
      answer_with(call, measure((*shared)->items, call));
    });
  });
}

// Of those that were found; what is not known of one is left out.
std::vector<ObjectRef> NodeMetrics::measure(const std::vector<hub::Object>& all, const CallRef& call) {
  const std::string api_version = call->api->resource.api_version();
  std::vector<ObjectRef> items;
  for (const hub::Object& object : all) {
    if (call->path.plural == "nodes") {
      // Simulated nodes have nothing that could be measured.
      if (kube::name_of(*object) != node_name_) continue;
      items.push_back(std::make_shared<const json::object>(
          node_metrics(*object, api_version, pods_->node_usage(), call->now)));
      continue;
    }
    std::vector<ContainerUsage> usage = pods_->usage(std::string(kube::uid_of(*object)));
    std::erase_if(usage, [](const ContainerUsage& one) { return !is_measured(one); });
    if (usage.empty()) continue;
    items.push_back(
        std::make_shared<const json::object>(pod_metrics(*object, api_version, usage, call->now)));
  }
  return items;
}

void NodeMetrics::answer_with(const CallRef& call, const std::vector<ObjectRef>& items) {
  if (call->path.name.empty()) return answer_list(call, items, {});
  if (items.empty()) return refuse(call, not_found(call->api->resource, call->path.name));
  answer_object(call, items.front());
}

}  // namespace trainyard::server
