#include "cli/verbs_change.h"

#include <fmt/format.h>

#include "base/ascii.h"
#include "cli/commands.h"
#include "cli/complain.h"
#include "cli/output_job.h"
#include "cli/output_table.h"
#include "cli/verbs_follow.h"
#include "kube/access.h"
#include "kube/meta.h"
#include "kube/patch.h"

namespace trainyard::cli {
namespace {

json::object volcano_command(const FoundJob& job, std::string_view action) {
  json::object owner = kube::owner_reference(job.dialect->resource.api_version(), job.dialect->resource.kind,
                                             job.name(), kube::uid_of(*job.object));
  return {{"apiVersion", kube::kVolcanoCommands.api_version()},
          {"kind", kube::jview(kube::kVolcanoCommands.kind)},
          {"metadata", json::object{{"generateName", fmt::format("{}-{}-", job.name(), "command")},
                                    {"namespace", job.ns()},
                                    {"ownerReferences", json::array{owner}}}},
          {"action", kube::jview(action)},
          {"target", std::move(owner)}};
}

// What must hold before a pause or resume is sent; "" when all is well, else what to say.
std::string nothing_to_do(const FoundJob& job, bool pause) {
  JobStatus status = status_of(*job.dialect, *job.object);
  if (status.finished_now()) {
    return fmt::format("{} is {} already: there is nothing to {}", job.title(), status.word,
                       pause ? "pause" : "resume");
  }
  return "";
}

bool is_paused_in_spec(const FoundJob& job) {
  dialect::LowerResult lowered = job.dialect->lower(*job.object, {});
  const auto* spec = std::get_if<model::JobSpec>(&lowered);
  return spec != nullptr && spec->mode == model::RunMode::kPause;
}

bool set_paused(const std::string& word, bool pause, const Cluster& cluster, const Console& console) {
  Result<FoundJob> job = find_job(cluster, word);
  if (!job.ok()) return complain(console, job.error()) == kFine;
  if (std::string why_not = nothing_to_do(*job, pause); !why_not.empty()) {
    console.err << why_not << "\n";
    return false;
  }
  bool by_command = job->dialect->name == "volcano";
  Standing standing = status_of(*job->dialect, *job->object).standing;
  bool is_so = by_command ? (standing == Standing::kPaused) == pause : is_paused_in_spec(*job) == pause;
  if (is_so) {
    console.out << fmt::format("{} {}\n", job->title(), pause ? "is paused already" : "is not paused");
    return true;
  }
  Result<client::Reply> sent = cluster.client.send(pause_request(*job, pause));
  if (!sent.ok()) {
    console.err << fmt::format("{}: {}\n", job->title(), sent.error().message);
    return false;
  }
  console.out << fmt::format("{} {}\n", job->title(), pause ? "will be paused" : "will be resumed");
  return true;
}

// Where the number of a role stands in the document: "/spec/tasks/0".
struct RolePlace {
  std::string pointer;
  std::string name_pointer;  // of a list: the entry's name, tested so that a moved entry is noticed
  std::string name;
};

std::vector<RolePlace> places_of(const FoundJob& job) {
  std::vector<RolePlace> places;
  if (job.dialect->name == "tfjob") {
    for (std::string_view map : {"tfReplicaSpecs", "replicaSpecs"}) {
      const json::object* roles = kube::object_at(*job.object, {"spec", map});
      if (roles == nullptr) continue;
      for (const json::key_value_pair& pair : *roles) {
        std::string name(kube::view(pair.key()));
        places.push_back({fmt::format("/spec/{}/{}", map, name), "", name});
      }
    }
    return places;
  }
  std::string_view list = job.dialect->name == "t9k" ? "replicaSpecs" : "tasks";
  std::string_view key = job.dialect->name == "t9k" ? "type" : "name";
  const json::array* entries = kube::array_at(*job.object, {"spec", list});
  for (size_t i = 0; entries != nullptr && i < entries->size(); ++i) {
    if (!(*entries)[i].is_object()) continue;
    std::string pointer = fmt::format("/spec/{}/{}", list, i);
    places.push_back({pointer, fmt::format("{}/{}", pointer, key),
                      std::string(kube::text_at((*entries)[i].get_object(), {key}))});
  }
  return places;
}

Result<json::array> scale_patch(const FoundJob& job, const std::vector<std::pair<std::string, int>>& roles) {
  std::vector<RolePlace> places = places_of(job);
  json::array patch;
  for (const auto& [role, count] : roles) {
    auto place = std::find_if(places.begin(), places.end(),
                              [&role = role](const RolePlace& p) { return same_but_for_case(p.name, role); });
    if (place == places.end()) {
      std::string known;
      for (const RolePlace& p : places) known += fmt::format("{}{}", known.empty() ? "" : ", ", p.name);
      return Error{ErrorKind::kInvalid, fmt::format("{} has no role '{}'; it has {}", job.title(), role,
                                                    known.empty() ? "none" : known)};
    }
    if (!place->name_pointer.empty()) {
      patch.push_back(json::object{{"op", "test"}, {"path", place->name_pointer}, {"value", place->name}});
    }
    patch.push_back(json::object{{"op", "add"}, {"path", place->pointer + "/replicas"}, {"value", count}});
  }
  return patch;
}

}  // namespace

kube::Request pause_request(const FoundJob& job, bool pause) {
  if (job.dialect->name == "volcano") {
    return {kube::kVolcanoCommands, job.ns(),
            kube::Create{volcano_command(job, pause ? "AbortJob" : "ResumeJob")}};
  }
  json::object spec =
      job.dialect->name == "tfjob"
          ? json::object{{"runPolicy", json::object{{"suspend", pause}}}}
          : json::object{{"runMode", json::object{{"pause", json::object{{"enabled", pause}}}}}};
  return {job.dialect->resource, job.ns(),
          kube::Patch{job.name(), kube::PatchKind::kMerge, json::object{{"spec", std::move(spec)}}}};
}

Result<kube::Request> scale_request(const FoundJob& job,
                                    const std::vector<std::pair<std::string, int>>& roles) {
  Result<json::array> patch = scale_patch(job, roles);
  if (!patch.ok()) return patch.error();
  Result<json::value> after = kube::apply_json_patch(*job.object, *patch);
  if (!after.ok()) return after.error();
  std::vector<dialect::Problem> problems = job.dialect->validate_update(*job.object, after->get_object());
  dialect::LowerResult lowered = job.dialect->lower(after->get_object(), {});
  if (auto* found = std::get_if<std::vector<dialect::Problem>>(&lowered)) {
    problems.insert(problems.end(), found->begin(), found->end());
  }
  if (!problems.empty()) {
    return Error{ErrorKind::kInvalid, fmt::format("{}: {}", job.title(), dialect::join(problems))};
  }
  return kube::Request{job.dialect->resource, job.ns(),
                       kube::Patch{job.name(), kube::PatchKind::kJson, std::move(patch).value()}};
}

int pause_jobs(const PauseJobs& verb, const Cluster& cluster, const Console& console) {
  bool fine = true;
  for (const std::string& word : verb.jobs) fine = set_paused(word, true, cluster, console) && fine;
  return fine ? kFine : kInputAtFault;
}

int resume_jobs(const ResumeJobs& verb, const Cluster& cluster, const Console& console) {
  bool fine = true;
  for (const std::string& word : verb.jobs) fine = set_paused(word, false, cluster, console) && fine;
  return fine ? kFine : kInputAtFault;
}

int scale_job(const ScaleJob& verb, const Cluster& cluster, const Console& console) {
  Result<FoundJob> job = find_job(cluster, verb.job);
  if (!job.ok()) return complain(console, job.error());
  JobStatus status = status_of(*job->dialect, *job->object);
  if (status.finished_now()) {
    console.err << fmt::format("{} is {} already: there is nothing to scale\n", job->title(), status.word);
    return kInputAtFault;
  }
  Result<kube::Request> request = scale_request(*job, verb.roles);
  if (!request.ok()) return complain(console, request.error());
  Result<client::Reply> sent = cluster.client.send(*request);
  if (!sent.ok())
    return complain(console, {sent.error().kind, fmt::format("{}: {}", job->title(), sent.error().message)});
  for (const auto& [role, count] : verb.roles) {
    console.out << fmt::format("{} scaled: {} to {}\n", job->title(), role, count);
  }
  return kFine;
}

namespace {

// Until neither the jobs nor their pods are there any more.
int wait_until_gone(const std::vector<FoundJob>& jobs, const DeleteJobs& verb, const Cluster& cluster,
                    const Console& console) {
  std::optional<Time> until;
  if (verb.timeout) until = cluster.clock() + *verb.timeout;
  for (const FoundJob& job : jobs) {
    Follow follow(cluster, {stream_of_jobs(*job.dialect, job.ns()), stream_of_pods(*job.dialect, job.ns())});
    std::string uid(kube::uid_of(*job.object));
    while (true) {
      Result<bool> changed = follow.next(until);
      if (!changed.ok()) return complain(console, changed.error());
      client::Object left = follow.cache(0).find(job.ns(), job.name());
      size_t pods = follow.cache(1).owned_by(uid).size();
      bool job_left = left != nullptr && kube::uid_of(*left) == uid;
      if (!job_left && pods == 0) break;
      if (!*changed) {
        console.err << fmt::format("{} is not gone after {}: {}{} of its pods left\n", job.title(),
                                   format_duration(*verb.timeout), job_left ? "the job and " : "", pods);
        return kOutOfTime;
      }
    }
    console.out << fmt::format("{} is gone\n", job.title());
  }
  return kFine;
}

}  // namespace

int delete_jobs(const DeleteJobs& verb, const Cluster& cluster, const Console& console) {
  std::vector<FoundJob> jobs;
  for (const std::string& word : verb.jobs) {
    Result<FoundJob> job = find_job(cluster, word);
    if (!job.ok()) return complain(console, job.error());
    jobs.push_back(*job);
  }
  for (const FoundJob& job : jobs) {
    kube::DeleteOptions options;
    options.uid = kube::uid_of(*job.object);
    Result<Done> removed =
        client::remove(cluster.client, job.dialect->resource, job.ns(), job.name(), options);
    if (!removed.ok() && removed.error().kind != ErrorKind::kNotFound) {
      return complain(console,
                      {removed.error().kind, fmt::format("{}: {}", job.title(), removed.error().message)});
    }
    console.out << fmt::format("{} deleted\n", job.title()) << std::flush;
  }
  return verb.wait ? wait_until_gone(jobs, verb, cluster, console) : kFine;
}

}  // namespace trainyard::cli
