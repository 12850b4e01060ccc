#include "cli/queue.h"

#include <fmt/format.h>

#include "base/match.h"
#include "cli/commands.h"
#include "cli/complain.h"
#include "cli/output_table.h"
#include "cli/queue_view.h"
#include "kube/access.h"
#include "kube/yaml.h"

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

void print_document(const json::value& document, ListForm form, const Console& console) {
  console.out << (form == ListForm::kYaml ? kube::to_yaml(document) : pretty_json(document));
}

int list_queues(const Cluster& cluster, const ListQueues& verb, const Console& console) {
  Result<std::vector<QueueLine>> lines = look(cluster);
  if (!lines.ok()) return complain(console, lines.error());
  if (verb.form == ListForm::kTable) {
    console.out << queue_table(*lines);
    return kFine;
  }
  json::array queues;
  for (const QueueLine& line : *lines) queues.push_back(queue_document(line, false));
  print_document(json::object{{"queues", std::move(queues)}}, verb.form, console);
  return kFine;
}

int describe_queue(const Cluster& cluster, const DescribeQueue& verb, const Console& console) {
  Result<QueueLine> line = find_queue(cluster, verb.name);
  if (!line.ok()) return complain(console, line.error());
  if (verb.form == ListForm::kTable) {
    console.out << queue_description(*line, cluster.clock());
  } else {
    print_document(queue_document(*line, true), verb.form, console);
  }
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
    if (amount->is_negative()) {
      return Error{ErrorKind::kInvalid, fmt::format("{}: '{}' is less than nothing", flag, word)};
    }
    out[word.substr(0, at)] = word.substr(at + 1);
  }
  return out;
}

// What is kept for a queue that may not hold it would be nobody's.
std::optional<Error> guaranteed_too_much(const json::object& guarantee, const json::object& capacity) {
  kube::Resources most = kube::decode_resources(&capacity);
  for (const auto& [name, amount] : kube::decode_resources(&guarantee)) {
    auto found = most.find(name);
    if (found == most.end() || found->second.is_zero() || amount <= found->second) continue;
    return Error{ErrorKind::kInvalid,
                 fmt::format("--guarantee: {}={} is more than the {} that --capacity lets the queue hold",
                             name, amount.to_string(), found->second.to_string())};
  }
  return std::nullopt;
}

int create_queue(const Cluster& cluster, const CreateQueue& verb, const Console& console) {
  Result<json::object> capacity = amounts_of(verb.capacity, "--capacity");
  if (!capacity.ok()) return complain(console, capacity.error());
  Result<json::object> guarantee = amounts_of(verb.guarantee, "--guarantee");
  if (!guarantee.ok()) return complain(console, guarantee.error());
  if (std::optional<Error> too_much = guaranteed_too_much(*guarantee, *capacity)) {
    return complain(console, *too_much);
  }
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
  const int held = line->running + line->waiting;
  if (held > 0) {
    return complain(console, {ErrorKind::kConflict,
                              fmt::format("the queue '{}' holds {} gang{}; close it and wait for {} first",
                                          verb.name, held, held == 1 ? "" : "s", held == 1 ? "it" : "them")});
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
                        [&](const ListQueues& verb) { return list_queues(cluster, verb, console); },
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
