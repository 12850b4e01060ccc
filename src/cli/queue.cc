#include "cli/queue.h"

#include <fmt/format.h>

#include "base/match.h"
#include "cli/commands.h"
#include "cli/complain.h"
#include "cli/queue_view.h"
#include "kube/access.h"

namespace trainyard::cli {
namespace {

constexpr kube::Resource kQueueKinds[] = {kube::kVolcanoQueues, kube::kT9kQueues};
constexpr kube::Resource kGroupKinds[] = {kube::kVolcanoPodGroups, kube::kKubeBatchPodGroups,
                                          kube::kCoschedulingPodGroups, kube::kT9kPodGroups};

// A kind that the server does not know has no objects.
Result<Done> gather(const Cluster& cluster, const kube::Resource& resource,
                    std::vector<client::Object>& into) {
  Result<client::Reply> listed = client::list(cluster.client, resource, "");
  if (!listed.ok()) {
    return listed.error().kind == ErrorKind::kNotFound ? Result<Done>(Done{}) : listed.error();
  }
  for (const client::Object& object : listed->items) {
    json::object named = *object;
    named["apiVersion"] = resource.api_version();
    named["kind"] = kube::jview(resource.kind);
    into.push_back(std::make_shared<const json::object>(std::move(named)));
  }
  return Done{};
}

Result<std::vector<QueueLine>> look(const Cluster& cluster) {
  QueueDocuments documents;
  for (const kube::Resource& kind : kQueueKinds) {
    if (Result<Done> done = gather(cluster, kind, documents.queues); !done.ok()) return done.error();
  }
  for (const kube::Resource& kind : kGroupKinds) {
    if (Result<Done> done = gather(cluster, kind, documents.groups); !done.ok()) return done.error();
  }
  if (Result<Done> done = gather(cluster, kube::kPods, documents.pods); !done.ok()) return done.error();
  if (Result<Done> done = gather(cluster, kube::kNodes, documents.nodes); !done.ok()) return done.error();
  return queue_lines(documents);
}

Result<QueueLine> find_queue(const Cluster& cluster, const std::string& name) {
  Result<std::vector<QueueLine>> lines = look(cluster);
  if (!lines.ok()) return lines.error();
  for (const QueueLine& line : *lines) {
    bool there = line.queue.ns.empty() || !cluster.ns_said || line.queue.ns == cluster.ns;
    if (line.queue.name == name && there) return line;
  }
  return Error{ErrorKind::kNotFound,
               fmt::format("there is no queue '{}'; `trainyard queue list` shows them", name)};
}

int list_queues(const Cluster& cluster, const Console& console) {
  Result<std::vector<QueueLine>> lines = look(cluster);
  if (!lines.ok()) return complain(console, lines.error());
  console.out << queue_table(*lines);
  return kFine;
}

int describe_queue(const Cluster& cluster, const DescribeQueue& verb, const Console& console) {
  Result<QueueLine> line = find_queue(cluster, verb.name);
  if (!line.ok()) return complain(console, line.error());
  console.out << queue_description(*line, cluster.clock());
  return kFine;
}

Result<json::object> amounts_of(const std::vector<std::string>& words, std::string_view flag) {
  json::object out;
  for (const std::string& word : words) {
    size_t at = word.find('=');
    Result<kube::Quantity> amount = kube::Quantity::parse(at == std::string::npos ? "" : word.substr(at + 1));
    if (at == std::string::npos || at == 0 || !amount.ok()) {
      return Error{ErrorKind::kInvalid,
                   fmt::format("{}: '{}' is not NAME=AMOUNT, such as cpu=4", flag, word)};
    }
    out[word.substr(0, at)] = word.substr(at + 1);
  }
  return out;
}

int create_queue(const Cluster& cluster, const CreateQueue& verb, const Console& console) {
  Result<json::object> capacity = amounts_of(verb.capacity, "--capacity");
  if (!capacity.ok()) return complain(console, capacity.error());
  Result<json::object> guarantee = amounts_of(verb.guarantee, "--guarantee");
  if (!guarantee.ok()) return complain(console, guarantee.error());
  json::object spec{{"weight", verb.weight}, {"reclaimable", verb.reclaimable}};
  if (verb.priority != 0) spec["priority"] = verb.priority;
  if (!capacity->empty()) spec["capability"] = std::move(capacity).value();
  if (!guarantee->empty()) spec["guarantee"] = json::object{{"resource", std::move(guarantee).value()}};
  json::object body = kube::new_object(kube::kVolcanoQueues, {.name = verb.name});
  body["spec"] = std::move(spec);
  Result<client::Object> made = client::create(cluster.client, kube::kVolcanoQueues, "", std::move(body));
  if (!made.ok()) return complain(console, made.error());
  console.out << fmt::format("queue {} is there\n", verb.name);
  return kFine;
}

int close_queue(const Cluster& cluster, const CloseQueue& verb, const Console& console) {
  Result<QueueLine> line = find_queue(cluster, verb.name);
  if (!line.ok()) return complain(console, line.error());
  const kube::Queue& queue = line->queue;
  if (!line->is_object) {
    return complain(console,
                    {ErrorKind::kNotFound,
                     fmt::format("the queue '{}' is there by itself; `trainyard queue create {}` makes "
                                 "it one that can be closed",
                                 verb.name, verb.name)});
  }
  bool t9k = queue.group == kube::kT9kQueues.group;
  bool busy = line->running + line->waiting > 0;
  std::string_view state = !verb.close ? "Open" : busy ? "Closing" : "Closed";
  json::object body = t9k ? json::object{{"spec", json::object{{"closed", verb.close}}}}
                          : json::object{{"status", json::object{{"state", kube::jview(state)}}}};
  Result<client::Object> done = client::patch(
      cluster.client, t9k ? kube::kT9kQueues : kube::kVolcanoQueues, queue.ns,
      {queue.name, kube::PatchKind::kMerge, std::move(body), t9k ? kube::Part::kMain : kube::Part::kStatus});
  if (!done.ok()) return complain(console, done.error());
  console.out << fmt::format("queue {} is {}\n", verb.name,
                             !verb.close ? "open"
                             : busy      ? "closing: what is in it goes on"
                                         : "closed");
  return kFine;
}

int delete_queue(const Cluster& cluster, const DeleteQueue& verb, const Console& console) {
  Result<QueueLine> line = find_queue(cluster, verb.name);
  if (!line.ok()) return complain(console, line.error());
  if (!line->is_object) {
    return complain(console, {ErrorKind::kInvalid, fmt::format("the queue '{}' is always there", verb.name)});
  }
  if (line->running + line->waiting > 0) {
    return complain(console, {ErrorKind::kConflict,
                              fmt::format("the queue '{}' holds {} gangs; close it and wait for them first",
                                          verb.name, line->running + line->waiting)});
  }
  bool t9k = line->queue.group == kube::kT9kQueues.group;
  Result<Done> gone = client::remove(cluster.client, t9k ? kube::kT9kQueues : kube::kVolcanoQueues,
                                     line->queue.ns, verb.name, {.uid = line->queue.uid});
  if (!gone.ok()) return complain(console, gone.error());
  console.out << fmt::format("queue {} is gone\n", verb.name);
  return kFine;
}

}  // namespace

int run_queue_on(const Cluster& cluster, const QueueCommand& command, const Console& console) {
  return std::visit(Match{
                        [&](const ListQueues&) { return list_queues(cluster, console); },
                        [&](const DescribeQueue& verb) { return describe_queue(cluster, verb, console); },
                        [&](const CreateQueue& verb) { return create_queue(cluster, verb, console); },
                        [&](const CloseQueue& verb) { return close_queue(cluster, verb, console); },
                        [&](const DeleteQueue& verb) { return delete_queue(cluster, verb, console); },
                    },
                    command.verb);
}

int run_queue(const QueueCommand& command, const Console& console) {
  Result<std::unique_ptr<Connection>> connection = connect(command.target);
  if (!connection.ok()) return complain(console, connection.error());
  return run_queue_on((*connection)->cluster(), command, console);
}

}  // namespace trainyard::cli
