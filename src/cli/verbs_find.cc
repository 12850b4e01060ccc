#include "cli/verbs_find.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/ascii.h"
#include "base/nearest_word.h"
#include "cli/dialects.h"
#include "kube/meta.h"

namespace trainyard::cli {
namespace {

struct KindWord {
  std::string_view word;
  std::string_view dialect;
};

constexpr std::array<KindWord, 18> kWords{{
    {"tfjob", "tfjob"},
    {"tfjobs", "tfjob"},
    {"tfjob.kubeflow.org", "tfjob"},
    {"tfjobs.kubeflow.org", "tfjob"},
    {"tft", "t9k"},
    {"tj", "t9k"},
    {"t9k", "t9k"},
    {"tensorflowtrainingjob", "t9k"},
    {"tensorflowtrainingjobs", "t9k"},
    {"tensorflowtrainingjob.batch.tensorstack.dev", "t9k"},
    {"tensorflowtrainingjobs.batch.tensorstack.dev", "t9k"},
    {"vcjob", "volcano"},
    {"vcjobs", "volcano"},
    {"vj", "volcano"},
    {"volcano", "volcano"},
    {"job.batch.volcano.sh", "volcano"},
    {"jobs.batch.volcano.sh", "volcano"},
    {"volcanojob", "volcano"},
}};

// Kinds that people ask for out of habit and that are no jobs.
constexpr std::array<std::string_view, 30> kKindsOfKubectl{
    "cm",        "configmap",  "configmaps", "deploy", "deployment",  "deployments", "ev",   "event",
    "namespace", "namespaces", "no",         "node",   "nodes",       "ns",          "pg",   "po",
    "pod",       "podgroup",   "podgroups",  "pods",   "pv",          "pvc",         "pvcs", "secret",
    "secrets",   "service",    "services",   "svc",    "tensorboard", "tensorboards"};

std::string namespace_asked(const Cluster& cluster) { return cluster.everywhere ? "" : cluster.ns; }

// The first namespace that has a job of that name; "" when none has, or none may be seen.
std::string namespace_that_has(const Cluster& cluster, const JobName& wanted) {
  for (const dialect::Dialect& dialect : all_dialects()) {
    if (wanted.dialect != nullptr && wanted.dialect != &dialect) continue;
    kube::List query;
    query.fields.add("metadata.name", wanted.name);
    Result<client::Reply> listed = client::list(cluster.client, dialect.resource, "", query);
    if (listed.ok() && !listed->items.empty()) return std::string(kube::namespace_of(*listed->items[0]));
  }
  return "";
}

// Where it may be instead; "did you mean", over the jobs there are.
std::string near_names(const Cluster& cluster, const JobName& wanted) {
  bool is_kind = std::find(kKindsOfKubectl.begin(), kKindsOfKubectl.end(), lower_case(wanted.name)) !=
                 kKindsOfKubectl.end();
  if (wanted.dialect == nullptr && is_kind)
    return fmt::format("; kubectl get {} shows what is no job", wanted.name);
  if (std::string ns = namespace_that_has(cluster, wanted); !ns.empty()) {
    return fmt::format("; there is one in namespace {0}: -n {0}", ns);
  }
  Result<std::vector<FoundJob>> all = list_jobs(cluster, wanted.dialect, {});
  if (!all.ok() || all->empty()) return "";
  std::vector<std::string> names;
  for (const FoundJob& job : *all) names.push_back(job.name());
  std::string near = nearest_word(wanted.name, {names.begin(), names.end()});
  return near.empty() ? "" : fmt::format("; did you mean '{}'?", near);
}

Error ambiguous(const std::string& name, const std::vector<FoundJob>& found) {
  std::string list;
  for (const FoundJob& job : found) list += fmt::format("{}{}", list.empty() ? "" : ", ", job.title());
  return {ErrorKind::kInvalid, fmt::format("'{}' is the name of several jobs: say which of {}", name, list)};
}

}  // namespace

const dialect::Dialect* dialect_of_word(std::string_view word) {
  std::string small = lower_case(word);
  for (const KindWord& known : kWords) {
    if (known.word == small) return &dialect_named(known.dialect);
  }
  return nullptr;
}

std::string_view word_of(const dialect::Dialect& dialect) {
  if (dialect.name == "t9k") return "tft";
  return dialect.name == "volcano" ? "vcjob" : "tfjob";
}

bool means_all_kinds(std::string_view word) { return word == "all-jobs" || word == "all" || word == "jobs"; }

std::vector<std::string> with_kinds(std::vector<std::string> words) {
  if (words.size() < 2 || words[0] == "t9k" || words[0] == "volcano") return words;
  const dialect::Dialect* dialect = dialect_of_word(words[0]);
  if (dialect == nullptr) return words;
  words.erase(words.begin());
  for (std::string& word : words) {
    if (word.find_first_of("/=") == std::string::npos) word = fmt::format("{}/{}", word_of(*dialect), word);
  }
  return words;
}

Result<JobName> read_job_name(std::string_view word) {
  size_t slash = word.find('/');
  if (slash == std::string_view::npos) return JobName{nullptr, std::string(word)};
  std::string_view kind = word.substr(0, slash);
  JobName name{dialect_of_word(kind), std::string(word.substr(slash + 1))};
  if (name.dialect == nullptr) {
    return Error{ErrorKind::kInvalid,
                 fmt::format("'{}': '{}' is no kind of job; tfjob, tft and vcjob are", word, kind)};
  }
  if (name.name.empty() || name.name.find('/') != std::string::npos) {
    return Error{ErrorKind::kInvalid, fmt::format("'{}' names no job", word)};
  }
  return name;
}

std::string FoundJob::name() const { return std::string(kube::name_of(*object)); }
std::string FoundJob::ns() const { return std::string(kube::namespace_of(*object)); }
std::string FoundJob::title() const { return fmt::format("{}/{}", word_of(*dialect), name()); }

Result<FoundJob> find_job(const Cluster& cluster, std::string_view word) {
  Result<JobName> wanted = read_job_name(word);
  if (!wanted.ok()) return wanted.error();
  std::vector<FoundJob> found;
  std::optional<Error> forbidden;
  for (const dialect::Dialect& dialect : all_dialects()) {
    if (wanted->dialect != nullptr && wanted->dialect != &dialect) continue;
    Result<client::Object> object = client::get(cluster.client, dialect.resource, cluster.ns, wanted->name);
    if (object.ok()) {
      found.push_back({&dialect, *object});
    } else if (object.error().kind == ErrorKind::kForbidden) {
      forbidden = object.error();  // of a kind that may not be the one that is meant
    } else if (object.error().kind != ErrorKind::kNotFound) {
      return object.error();
    }
  }
  if (found.size() > 1) return ambiguous(wanted->name, found);
  if (found.size() == 1) return found.front();
  if (forbidden) return *forbidden;
  return Error{ErrorKind::kNotFound,
               fmt::format("there is no {} '{}' in namespace {} of {}{}",
                           wanted->dialect == nullptr ? "training job" : wanted->dialect->resource.kind,
                           wanted->name, cluster.ns, cluster.where, near_names(cluster, *wanted))};
}

Result<std::vector<FoundJob>> list_jobs(const Cluster& cluster, const dialect::Dialect* only,
                                        const kube::LabelSelector& labels) {
  std::vector<FoundJob> all;
  std::optional<Error> forbidden;
  bool allowed = false;
  for (const dialect::Dialect& dialect : all_dialects()) {
    if (only != nullptr && only != &dialect) continue;
    kube::List query;
    query.labels = labels;
    Result<client::Reply> listed =
        client::list(cluster.client, dialect.resource, namespace_asked(cluster), query);
    if (!listed.ok() && listed.error().kind == ErrorKind::kNotFound && only == nullptr) continue;
    if (!listed.ok() && listed.error().kind == ErrorKind::kForbidden) {
      forbidden = listed.error();
      continue;
    }
    if (!listed.ok()) return listed.error();
    allowed = true;
    for (const client::Object& object : listed->items) all.push_back({&dialect, object});
  }
  if (forbidden && !allowed) return *forbidden;
  // order: namespace, kind as in all_dialects(), name
  std::stable_sort(all.begin(), all.end(), [](const FoundJob& a, const FoundJob& b) {
    return std::tuple(a.ns(), a.dialect, a.name()) < std::tuple(b.ns(), b.dialect, b.name());
  });
  return all;
}

client::Stream stream_of_jobs(const dialect::Dialect& dialect, const std::string& ns) {
  return {dialect.resource, {}, ns};
}

client::Stream stream_of_pods(const dialect::Dialect& dialect, const std::string& ns) {
  Result<kube::LabelSelector> labels = kube::LabelSelector::parse(dialect.pod_selector);
  CHECK(labels.ok());
  return {kube::kPods, *labels, ns};
}

Result<std::vector<client::Object>> pods_of_kind(const Cluster& cluster, const dialect::Dialect& dialect) {
  kube::List query;
  query.labels = stream_of_pods(dialect, "").labels;
  Result<client::Reply> listed = client::list(cluster.client, kube::kPods, namespace_asked(cluster), query);
  if (!listed.ok()) return listed.error();
  return listed->items;
}

Result<std::vector<client::Object>> pods_of(const Cluster& cluster, const FoundJob& job) {
  Result<std::vector<client::Object>> all = pods_of_kind(cluster, *job.dialect);
  if (!all.ok()) return all;
  std::vector<client::Object> own;
  for (const client::Object& pod : *all) {
    if (kube::controller_uid_of(*pod) == kube::uid_of(*job.object)) own.push_back(pod);
  }
  return own;
}

}  // namespace trainyard::cli
