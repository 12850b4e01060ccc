#include "cli/queue_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "cli/output_table.h"
#include "kube/pod.h"
#include "sched/gangs_from.h"

namespace trainyard::cli {
namespace {

constexpr std::string_view kDefaultQueue = "default";

std::string amounts_text(const kube::Resources& amounts) {
  std::string out;
  for (const auto& [name, amount] : amounts) {
    out += fmt::format("{}{}={}", out.empty() ? "" : ",", name, amount.to_string());
  }
  return out.empty() ? "-" : out;
}

json::object amounts_document(const kube::Resources& amounts) {
  json::object out;
  for (const auto& [name, amount] : amounts) out[name] = amount.to_string();
  return out;
}

std::string kind_of(const kube::Queue& queue) {
  return queue.group == kube::kT9kQueues.group ? "t9k" : "volcano";
}

std::string state_of(const QueueLine& line) {
  if (line.queue.state == "Closing") return "Closing";
  return line.queue.closed ? "Closed" : "Open";
}

// What the pods of a group do now.
struct GroupPods {
  int all = 0;
  int ended = 0;
  int on_nodes = 0;  // and stay there
  int leaving = 0;
  std::string told;                      // why one of them has no node
  std::map<std::string, int64_t> holds;  // of the nodes, by resource
};
using PodsByGroup = std::map<std::tuple<sched::GroupNaming, std::string, std::string>, GroupPods>;

PodsByGroup pods_by_group(const std::vector<client::Object>& pods) {
  PodsByGroup out;
  sched::Shapes shapes;
  for (const client::Object& object : pods) {
    sched::PodSeen pod = sched::see_pod(*object, shapes);
    if (pod.naming == sched::GroupNaming::kNone) continue;
    GroupPods& group = out[{pod.naming, pod.ns, pod.group}];
    bool stays = !pod.ended && !pod.leaving;
    ++group.all;
    group.ended += pod.ended;
    group.leaving += pod.leaving && !pod.ended;
    group.on_nodes += stays && !pod.node.empty();
    if (!pod.ended && !pod.node.empty()) {
      for (const auto& [name, amount] : shapes.at(pod.shape).requests) group.holds[name] += amount;
    }
    if (stays && pod.node.empty() && group.told.empty())
      group.told = kube::decode_pod(*object).scheduled.message;
  }
  return out;
}

sched::GroupNaming naming_of(const kube::PodGroup& group) {
  if (group.group == kube::kT9kPodGroups.group) return sched::GroupNaming::kT9k;
  if (group.group == kube::kCoschedulingPodGroups.group) return sched::GroupNaming::kCoscheduling;
  return sched::GroupNaming::kAnnotation;
}

std::string waits_because(const kube::PodGroup& group, const GroupPods& pods) {
  if (!pods.told.empty()) return pods.told;
  if (pods.leaving > 0) return "its former pods are still stopping";
  if (pods.all > 0) return "";
  return group.phase == "Inqueue" ? "let in; its pods are not there yet" : "its pods are not there yet";
}

GangLine gang_line(const kube::PodGroup& group, const GroupPods& pods) {
  GangLine out{group, "Waiting", ""};
  bool scheduled = group.phase == "Running";
  std::optional<Time> newest;
  for (const kube::Condition& condition : group.conditions) {
    bool yes = (condition.type == "GroupScheduled" || condition.type == "Scheduled") && condition.is_true();
    bool no = (condition.type == "Unschedulable" && condition.is_true()) ||
              (condition.type == "GroupScheduled" && condition.status == "False") ||
              (condition.type == "SufficientGroupMember" && condition.status == "False");
    scheduled = scheduled || (yes && group.group == kube::kT9kPodGroups.group);
    if (no && !condition.message.empty() && (!newest || condition.changed_at >= newest)) {
      out.reason = condition.message;
      newest = condition.changed_at;
    }
  }
  bool done = group.phase == "Completed" || group.phase == "Finished" || group.phase == "Failed";
  // A group that was scheduled once goes on to say so, and one whose job is over may lack members for ever:
  // its pods tell whether it runs now.
  if (done || (pods.all > 0 && pods.ended == pods.all)) {
    out.state = "Done";
  } else if (scheduled && pods.on_nodes > 0) {
    out.state = "Running";
  } else if (out.reason.empty()) {
    out.reason = waits_because(group, pods);
  }
  if (out.state != "Waiting") out.reason.clear();
  return out;
}

kube::Resources total_of(const std::vector<client::Object>& nodes) {
  kube::Resources out;
  for (const client::Object& node : nodes) {
    const json::object* status = node->contains("status") ? node->at("status").if_object() : nullptr;
    if (status == nullptr || !status->contains("allocatable")) continue;
    for (const auto& [name, amount] : kube::decode_resources(status->at("allocatable").if_object())) {
      Result<kube::Quantity> sum = out[name].plus(amount);
      if (sum.ok()) out[name] = *sum;
    }
  }
  return out;
}

void find_share(QueueLine& line, const kube::Resources& total) {
  for (const auto& [name, amount] : line.queue.allocated) {
    auto all = total.find(name);
    if (all == total.end() || all->second.is_zero() || name == "pods") continue;
    const auto percent = static_cast<int>(std::lround(static_cast<double>(amount.value_milli()) * 100 /
                                                      static_cast<double>(all->second.value_milli())));
    if (percent <= line.share_percent) continue;
    line.share_percent = percent;
    line.share_of = name;
  }
}

// What a queue that is no object holds: nobody writes it down, so its gangs are counted.
void add_held(QueueLine& line, const GroupPods& pods) {
  for (const auto& [name, amount] : pods.holds) {
    kube::Quantity more = name == "cpu" ? kube::Quantity::of_milli(amount) : kube::Quantity::of_whole(amount);
    Result<kube::Quantity> sum = line.queue.allocated[name].plus(more);
    if (sum.ok()) line.queue.allocated[name] = *sum;
  }
}

}  // namespace

std::vector<QueueLine> queue_lines(const QueueDocuments& documents) {
  kube::Resources total = total_of(documents.nodes);
  std::vector<QueueLine> lines;
  bool has_default = false;
  for (const client::Object& object : documents.queues) {
    QueueLine line;
    line.queue = kube::decode_queue(*object);
    has_default = has_default || line.queue.name == kDefaultQueue;
    lines.push_back(std::move(line));
  }
  if (!has_default) {
    QueueLine line;
    line.queue.name = kDefaultQueue;
    line.queue.group = kube::kVolcanoQueues.group;
    line.is_object = false;
    lines.push_back(std::move(line));
  }
  std::sort(lines.begin(), lines.end(), [](const QueueLine& a, const QueueLine& b) {
    return std::tie(a.queue.name, a.queue.group, a.queue.ns) <
           std::tie(b.queue.name, b.queue.group, b.queue.ns);
  });
  PodsByGroup pods = pods_by_group(documents.pods);
  for (const client::Object& object : documents.groups) {
    kube::PodGroup group = kube::decode_pod_group(*object);
    std::string wanted = group.queue.empty() ? std::string(kDefaultQueue) : group.queue;
    bool t9k = group.group == kube::kT9kPodGroups.group;
    QueueLine* place = nullptr;
    for (QueueLine& line : lines) {
      if (line.queue.name != wanted) continue;
      bool same_kind = (line.queue.group == kube::kT9kQueues.group) == t9k;
      if (place == nullptr || same_kind) place = &line;
    }
    if (place == nullptr) continue;
    const GroupPods& its = pods[{naming_of(group), group.ns, group.name}];
    GangLine gang = gang_line(group, its);
    if (!place->is_object) add_held(*place, its);
    place->running += gang.state == "Running";
    place->waiting += gang.state == "Waiting";
    place->gangs.push_back(std::move(gang));
  }
  for (QueueLine& line : lines) find_share(line, total);
  return lines;
}

std::string queue_table(const std::vector<QueueLine>& lines) {
  std::vector<Cells> rows{
      {"NAME", "KIND", "STATE", "WEIGHT", "PRIORITY", "SHARE", "RUNNING", "WAITING", "ALLOCATED"}};
  for (const QueueLine& line : lines) {
    rows.push_back({line.queue.name, kind_of(line.queue), state_of(line), std::to_string(line.queue.weight),
                    std::to_string(line.queue.priority),
                    line.share_percent < 0 ? "-" : fmt::format("{}%", line.share_percent),
                    std::to_string(line.running), std::to_string(line.waiting),
                    amounts_text(line.queue.allocated)});
  }
  return table_of(rows);
}

json::object queue_document(const QueueLine& line, bool with_gangs) {
  json::object out{{"name", line.queue.name},
                   {"kind", kind_of(line.queue)},
                   {"state", state_of(line)},
                   {"weight", line.queue.weight},
                   {"priority", line.queue.priority},
                   {"reclaimable", line.queue.reclaimable},
                   {"capacity", amounts_document(line.queue.capability)},
                   {"guarantee", amounts_document(line.queue.guarantee)},
                   {"allocated", amounts_document(line.queue.allocated)},
                   {"running", line.running},
                   {"waiting", line.waiting}};
  if (!line.queue.ns.empty()) out["namespace"] = line.queue.ns;
  if (line.share_percent >= 0)
    out["share"] = json::object{{"percent", line.share_percent}, {"of", line.share_of}};
  if (!with_gangs) return out;
  json::array gangs;
  for (const GangLine& gang : line.gangs) {
    json::object one{{"namespace", gang.group.ns},
                     {"name", gang.group.name},
                     {"state", gang.state},
                     {"pods", gang.group.min_member}};
    if (!gang.reason.empty()) one["reason"] = gang.reason;
    gangs.push_back(std::move(one));
  }
  out["gangs"] = std::move(gangs);
  return out;
}

std::string queue_description(const QueueLine& line, Time now) {
  std::vector<Cells> head{{"Name:", line.queue.name},
                          {"Kind:", kind_of(line.queue)},
                          {"State:", state_of(line)},
                          {"Weight:", std::to_string(line.queue.weight)},
                          {"Priority:", std::to_string(line.queue.priority)},
                          {"Capacity:", amounts_text(line.queue.capability)},
                          {"Guarantee:", amounts_text(line.queue.guarantee)},
                          {"Reclaimable:", line.queue.reclaimable ? "yes" : "no"},
                          {"Allocated:", amounts_text(line.queue.allocated)}};
  if (line.share_percent >= 0) {
    head.push_back({"Share:", fmt::format("{}% of the cluster's {}", line.share_percent, line.share_of)});
  }
  if (!line.is_object) head.push_back({"Note:", "there by itself; `trainyard queue create default` sets it"});
  std::string out = table_of(head);
  if (line.gangs.empty()) return out + "Gangs:  none\n";
  std::vector<Cells> rows{{"NAMESPACE", "GANG", "STATE", "PODS", "AGE", "WHY IT WAITS"}};
  for (const GangLine& gang : line.gangs) {
    rows.push_back({gang.group.ns, gang.group.name, gang.state, std::to_string(gang.group.min_member),
                    age_of(gang.group.created_at, now), gang.reason});
  }
  return out + "Gangs:\n" + indented(table_of(rows));
}

}  // namespace trainyard::cli
