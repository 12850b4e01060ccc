// Finding jobs by the names that people type: NAME, tfjob/NAME, tft/NAME (or tj/NAME, as with kubectl),
// vcjob/NAME. A name that several kinds have is refused with the list. Asks the API; names are read purely.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cli/connect.h"
#include "client/client.h"
#include "client/watcher.h"
#include "dialect/shared/dialect.h"

namespace trainyard::cli {

// The dialect that a word for a kind means ("tfjob", "tfjobs.kubeflow.org", "vj"); null for none.
const dialect::Dialect* dialect_of_word(std::string_view word);
// "tfjob", "tft", "vcjob": the word in front of a name.
std::string_view word_of(const dialect::Dialect& dialect);
// Whether the word means all three kinds.
bool means_all_kinds(std::string_view word);

// As kubectl's users write it: {"tfjob", "a", "b"} is {"tfjob/a", "tfjob/b"}. Words that do not begin with a
// kind and go on stay as they are, and so do those after a kind that have one of their own and ROLE=N. "t9k"
// and "volcano" are no kinds for kubectl, and may be names.
std::vector<std::string> with_kinds(std::vector<std::string> words);

struct JobName {
  const dialect::Dialect* dialect = nullptr;  // null: of whichever kind
  std::string name;

  bool operator==(const JobName&) const = default;
};
// kInvalid when what is before the slash is no kind of job.
Result<JobName> read_job_name(std::string_view word);

struct FoundJob {
  const dialect::Dialect* dialect = nullptr;
  client::Object object;

  std::string name() const;
  std::string ns() const;
  std::string title() const;  // "tfjob/mnist"
};

// kNotFound says which names are near; kInvalid when it is ambiguous.
Result<FoundJob> find_job(const Cluster& cluster, std::string_view word);
// By namespace, kind and name. `only` null: of all kinds; kinds that the API does not know have none.
Result<std::vector<FoundJob>> list_jobs(const Cluster& cluster, const dialect::Dialect* only,
                                        const kube::LabelSelector& labels);

// The pods whose controller this job is, by name.
Result<std::vector<client::Object>> pods_of(const Cluster& cluster, const FoundJob& job);
// All pods of jobs of this kind where the verb looks.
Result<std::vector<client::Object>> pods_of_kind(const Cluster& cluster, const dialect::Dialect& dialect);

// The streams of jobs and of pods of this kind in a namespace ("" for all), to follow.
client::Stream stream_of_jobs(const dialect::Dialect& dialect, const std::string& ns);
client::Stream stream_of_pods(const dialect::Dialect& dialect, const std::string& ns);

}  // namespace trainyard::cli
