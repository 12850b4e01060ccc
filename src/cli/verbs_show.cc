#include "cli/verbs_show.h"

#include <fmt/format.h>

#include <map>

#include "cli/commands.h"
#include "cli/complain.h"
#include "cli/dialects.h"
#include "cli/output_job.h"
#include "cli/output_table.h"
#include "cli/verbs_find.h"
#include "cli/world.h"
#include "engine/engine.h"
#include "kube/access.h"
#include "kube/objects.h"

namespace trainyard::cli {
namespace {

std::vector<const json::object*> bare(const std::vector<client::Object>& objects) {
  std::vector<const json::object*> pointers;
  for (const client::Object& object : objects) pointers.push_back(object.get());
  return pointers;
}

Result<std::vector<client::Object>> events_in(const Cluster& cluster, const std::string& ns) {
  Result<client::Reply> listed = client::list(cluster.client, kube::kEvents, ns);
  if (!listed.ok()) return listed.error();
  return listed->items;
}

// Whether TFJobs have gangs is a setting of the operator's: the group it made tells.
dialect::Settings settings_seen(const Cluster& cluster, const FoundJob& job) {
  dialect::Settings settings;
  if (job.dialect->resource != kube::kTfJobs) return settings;
  for (const auto& [groups, scheduler] : {std::pair(kube::kVolcanoPodGroups, "volcano"),
                                          {kube::kKubeBatchPodGroups, "kube-batch"},
                                          {kube::kCoschedulingPodGroups, "scheduler-plugins"}}) {
    Result<client::Object> group = client::get(cluster.client, groups, job.ns(), kube::name_of(*job.object));
    if (group.ok() && kube::controller_uid_of(**group) == kube::uid_of(*job.object)) {
      settings.gang_scheduler = scheduler;
      return settings;
    }
  }
  return settings;
}

// What a plan for the job, made as the operator would, waits for.
std::vector<std::string> waits_of(const Cluster& cluster, const FoundJob& job,
                                  const std::vector<client::Object>& pods) {
  dialect::LowerResult lowered = job.dialect->lower(*job.object, settings_seen(cluster, job));
  const auto* spec = std::get_if<model::JobSpec>(&lowered);
  if (spec == nullptr || !job.object->contains("status")) return {};
  std::vector<Object> objects;
  objects.push_back({nullptr, {}, "", *job.object, job.dialect});
  for (const client::Object& pod : pods) objects.push_back({nullptr, {}, "", *pod, nullptr});
  if (spec->gang) {
    for (const kube::Resource& groups : {kube::kVolcanoPodGroups, kube::kKubeBatchPodGroups,
                                         kube::kCoschedulingPodGroups, kube::kT9kPodGroups}) {
      Result<client::Object> group = client::get(cluster.client, groups, job.ns(), spec->gang->name);
      if (group.ok()) objects.push_back({nullptr, {}, "", **group, nullptr});
    }
  }
  std::span<const dialect::Dialect> dialects = all_dialects();
  model::Observation seen = observe_in(world_of(dialects, objects), dialects, objects.front(), *spec);
  std::vector<std::string> waits;
  for (const model::Wait& wait : engine::plan(seen, cluster.clock()).waits) waits.push_back(wait.text);
  return waits;
}

// How the job's TensorBoard is doing and where it is; "" when it has none.
std::string board_text(const Cluster& cluster, const FoundJob& job) {
  std::string_view name = kube::text_at(*job.object, {"status", "tensorboard", "dependent", "name"});
  if (name.empty()) return "";
  Result<client::Object> board = client::get(cluster.client, kube::kTensorBoards, job.ns(), name);
  if (!board.ok()) return fmt::format("TensorBoard: {}\n", name);
  return fmt::format("TensorBoard: {} ({}) {}\n", name, kube::text_at(**board, {"status", "phase"}),
                     kube::text_at(**board, {"status", "url"}));
}

int describe_one(const std::string& word, const Cluster& cluster, const Console& console) {
  Result<FoundJob> job = find_job(cluster, word);
  if (!job.ok()) return complain(console, job.error());
  Result<std::vector<client::Object>> pods = pods_of(cluster, *job);
  if (!pods.ok()) return complain(console, pods.error());
  Time now = cluster.clock();
  std::vector<const json::object*> bodies = bare(*pods);
  JobSummary summary = summary_of(*job->dialect, *job->object, bodies, now);
  console.out << describe_text(summary, bodies, waits_of(cluster, *job, *pods), now);
  console.out << board_text(cluster, *job);
  Result<std::vector<client::Object>> events = events_in(cluster, job->ns());
  if (!events.ok()) return complain(console, events.error());
  std::vector<const json::object*> own = events_about(bare(*events), *job->dialect, *job->object, bodies);
  console.out << (own.empty() ? "Events:      none\n" : "Events:\n" + indented(events_text(own, now)));
  return kFine;
}

}  // namespace

int describe_jobs(const DescribeJobs& verb, const Cluster& cluster, const Console& console) {
  int status = kFine;
  for (size_t i = 0; i < verb.jobs.size(); ++i) {
    if (i > 0) console.out << "\n\n";
    status = std::max(status, describe_one(verb.jobs[i], cluster, console));
  }
  return status;
}

namespace {

int show_all_events(const Cluster& cluster, const Console& console) {
  Result<std::vector<client::Object>> events = events_in(cluster, cluster.ns);
  if (!events.ok()) return complain(console, events.error());
  if (events->empty()) {
    console.err << fmt::format("there are no events in namespace {} (they are kept for about an hour)\n",
                               cluster.ns);
    return kFine;
  }
  console.out << events_text(by_last_seen(bare(*events)), cluster.clock());
  return kFine;
}

int show_events_of(const std::string& word, const Cluster& cluster, const Console& console) {
  Result<FoundJob> job = find_job(cluster, word);
  if (!job.ok()) return complain(console, job.error());
  Result<std::vector<client::Object>> pods = pods_of(cluster, *job);
  if (!pods.ok()) return complain(console, pods.error());
  Result<std::vector<client::Object>> events = events_in(cluster, job->ns());
  if (!events.ok()) return complain(console, events.error());
  std::vector<const json::object*> own =
      events_about(bare(*events), *job->dialect, *job->object, bare(*pods));
  if (own.empty()) {
    console.err << fmt::format("there are no events about {} (they are kept for about an hour)\n",
                               job->title());
    return kFine;
  }
  console.out << events_text(own, cluster.clock());
  return kFine;
}

}  // namespace

int show_events(const ShowEvents& verb, const Cluster& cluster, const Console& console) {
  if (verb.jobs.empty()) return show_all_events(cluster, console);
  int status = kFine;
  for (const std::string& word : verb.jobs) status = std::max(status, show_events_of(word, cluster, console));
  return status;
}

namespace {

// Usage of each pod by namespace and name.
using Usages = std::map<std::pair<std::string, std::string>, PodUsage>;

PodUsage usage_in(const json::object& metrics) {
  PodUsage sum;
  const json::array* containers = kube::array_at(metrics, {"containers"});
  if (containers == nullptr) return sum;
  for (const json::value& value : *containers) {
    if (!value.is_object()) continue;
    kube::Resources used = kube::decode_resources(kube::object_at(value.get_object(), {"usage"}));
    sum.cpu_millis += used["cpu"].value_milli();
    sum.memory_bytes += used["memory"].value();
  }
  return sum;
}

Result<Usages> usages(const Cluster& cluster) {
  std::string path = cluster.everywhere
                         ? "/apis/metrics.k8s.io/v1beta1/pods"
                         : fmt::format("/apis/metrics.k8s.io/v1beta1/namespaces/{}/pods", cluster.ns);
  Result<std::string> read = cluster.pods.read(path);
  if (!read.ok() &&
      (read.error().kind == ErrorKind::kNotFound || read.error().kind == ErrorKind::kUnavailable)) {
    return Error{read.error().kind,
                 fmt::format("{} gives no usage of pods (is its metrics-server there?): {}", cluster.where,
                             read.error().message)};
  }
  if (!read.ok()) return read.error();
  Result<json::value> parsed = kube::parse_json(*read);
  Usages all;
  const json::object* body = parsed.ok() ? parsed->if_object() : nullptr;
  const json::array* items = body == nullptr ? nullptr : kube::array_at(*body, {"items"});
  if (items == nullptr) return all;
  for (const json::value& item : *items) {
    if (!item.is_object()) continue;
    const json::object& metrics = item.get_object();
    all[{std::string(kube::namespace_of(metrics)), std::string(kube::name_of(metrics))}] = usage_in(metrics);
  }
  return all;
}

Result<std::vector<FoundJob>> jobs_to_show(const TopJobs& verb, const Cluster& cluster) {
  if (verb.jobs.empty()) return list_jobs(cluster, nullptr, {});
  std::vector<FoundJob> jobs;
  for (const std::string& word : verb.jobs) {
    Result<FoundJob> job = find_job(cluster, word);
    if (!job.ok()) return job.error();
    jobs.push_back(*job);
  }
  return jobs;
}

}  // namespace

int top_jobs(const TopJobs& verb, const Cluster& cluster, const Console& console) {
  Result<std::vector<FoundJob>> jobs = jobs_to_show(verb, cluster);
  if (!jobs.ok()) return complain(console, jobs.error());
  Result<Usages> used = usages(cluster);
  if (!used.ok()) return complain(console, used.error());
  std::vector<Cells> rows{{"NAMESPACE", "JOB", "REPLICA", "STATE", "CPU", "MEMORY"}};
  for (const FoundJob& job : *jobs) {
    Result<std::vector<client::Object>> pods = pods_of(cluster, job);
    if (!pods.ok()) return complain(console, pods.error());
    JobSummary summary = summary_of(*job.dialect, *job.object, bare(*pods), cluster.clock());
    for (const ReplicaRow& row : summary.view.replicas) {
      auto found = used->find({job.ns(), row.pod});
      if (row.pod.empty() || (found == used->end() && row.state != "running")) continue;
      bool known = found != used->end();
      // A runtime that cannot tell says less than nothing.
      bool cpu = known && found->second.cpu_millis >= 0;
      bool memory = known && found->second.memory_bytes >= 0;
      rows.push_back({job.ns(), job.title(), row.name, row.state,
                      cpu ? cpu_of(found->second.cpu_millis) : "-",
                      memory ? memory_of(found->second.memory_bytes) : "-"});
    }
  }
  for (Cells& row : rows) {
    if (!cluster.everywhere) row.erase(row.begin());
  }
  if (rows.size() == 1) {
    console.err << fmt::format("no replica runs in {}\n", cluster.everywhere ? "any namespace" : cluster.ns);
    return kFine;
  }
  console.out << table_of(rows);
  return kFine;
}

}  // namespace trainyard::cli
