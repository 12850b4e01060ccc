#include "cli/queue_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "cli/output_table.h"

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

std::string kind_of(const kube::Queue& queue) {
  return queue.group == kube::kT9kQueues.group ? "t9k" : "volcano";
}

std::string state_of(const QueueLine& line) {
  if (line.queue.state == "Closing") return "Closing";
  return line.queue.closed ? "Closed" : "Open";
}

GangLine gang_line(const kube::PodGroup& group) {
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
  if (done) {
    out.state = "Done";
  } else if (scheduled) {
    out.state = "Running";
  } else if (out.reason.empty() && group.phase == "Inqueue") {
    out.reason = "let in; its pods are not there yet";
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

}  // namespace

std::vector<QueueLine> queue_lines(const QueueDocuments& documents) {
  kube::Resources total = total_of(documents.nodes);
  std::vector<QueueLine> lines;
  bool has_default = false;
  for (const client::Object& object : documents.queues) {
    QueueLine line;
    line.queue = kube::decode_queue(*object);
    has_default = has_default || line.queue.name == kDefaultQueue;
    find_share(line, total);
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
    GangLine gang = gang_line(group);
    place->running += gang.state == "Running";
    place->waiting += gang.state == "Waiting";
    place->gangs.push_back(std::move(gang));
  }
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
