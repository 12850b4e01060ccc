#include "cli/verbs_get.h"

#include <fmt/format.h>

#include <map>
#include <set>

#include "cli/commands.h"
#include "cli/complain.h"
#include "cli/dialects.h"
#include "cli/objects.h"
#include "cli/output_job.h"
#include "cli/verbs_find.h"
#include "cli/verbs_follow.h"
#include "kube/yaml.h"

namespace trainyard::cli {
namespace {

// By the uid of the job.
using PodsByJob = std::map<std::string, std::vector<client::Object>, std::less<>>;

ListLook look_of(const GetJobs& verb, const Cluster& cluster) {
  return {cluster.everywhere, verb.form == ListForm::kWide};
}

// `pods` are those of the job.
Cells row_for(const FoundJob& job, const std::vector<client::Object>& pods, const ListLook& look, Time now) {
  std::vector<const json::object*> own;
  for (const client::Object& pod : pods) own.push_back(pod.get());
  return list_row(summary_of(*job.dialect, *job.object, own, now), look, now);
}

Result<std::vector<FoundJob>> chosen_jobs(const WhatToGet& what, const kube::LabelSelector& labels,
                                          const Cluster& cluster) {
  if (what.names.empty()) return list_jobs(cluster, what.only, labels);
  std::vector<FoundJob> jobs;
  for (const std::string& name : what.names) {
    Result<FoundJob> job = find_job(cluster, name);
    if (!job.ok()) return job.error();
    jobs.push_back(*job);
  }
  return jobs;
}

Result<std::vector<Cells>> rows_of(const std::vector<FoundJob>& jobs, const ListLook& look,
                                   const Cluster& cluster) {
  std::set<const dialect::Dialect*> listed;
  PodsByJob pods;
  std::vector<Cells> rows{list_heading(look)};
  for (const FoundJob& job : jobs) {
    if (listed.insert(job.dialect).second) {
      Result<std::vector<client::Object>> of_kind = pods_of_kind(cluster, *job.dialect);
      if (!of_kind.ok()) return of_kind.error();
      for (const client::Object& pod : *of_kind) {
        pods[std::string(kube::controller_uid_of(*pod))].push_back(pod);
      }
    }
    rows.push_back(row_for(job, pods[std::string(kube::uid_of(*job.object))], look, cluster.clock()));
  }
  return rows;
}

void print_documents(const std::vector<FoundJob>& jobs, bool one, ListForm form, const Console& console) {
  json::array items;
  for (const FoundJob& job : jobs) items.push_back(shown_object(*job.object));
  json::value document = one && items.size() == 1 ? items.front() : json::value(list_of(std::move(items)));
  console.out << (form == ListForm::kYaml ? kube::to_yaml(document) : pretty_json(document));
}

// The kinds that are followed: those asked for that the API knows.
std::vector<const dialect::Dialect*> kinds_of(const WhatToGet& what, const std::vector<FoundJob>& jobs) {
  std::vector<const dialect::Dialect*> kinds;
  for (const dialect::Dialect& dialect : all_dialects()) {
    bool named = what.names.empty();
    for (const FoundJob& job : jobs) named = named || job.dialect == &dialect;
    if (named && (what.only == nullptr || what.only == &dialect)) kinds.push_back(&dialect);
  }
  return kinds;
}

std::set<std::string> names_of(const WhatToGet& what, const std::vector<FoundJob>& jobs) {
  std::set<std::string> names;
  if (what.names.empty()) return names;
  for (const FoundJob& job : jobs) names.insert(job.title());
  return names;
}

std::string line_of(const Cells& cells, const GetJobs& verb, const FoundJob& job,
                    const std::vector<size_t>& widths) {
  switch (verb.form) {
    case ListForm::kTable:
    case ListForm::kWide:
      return row_of(cells, widths);
    case ListForm::kName:
      return job.title() + "\n";
    case ListForm::kYaml:
      return "---\n" + kube::to_yaml(shown_object(*job.object));
    case ListForm::kJson:
      return pretty_json(shown_object(*job.object));
  }
  return "";
}

// The cells that say something new: all but the age.
Cells news_in(Cells cells, const ListLook& look) {
  cells.erase(cells.begin() + (look.namespaces ? 6 : 5));
  if (look.wide) cells.erase(cells.begin() + (look.namespaces ? 6 : 5));
  return cells;
}

int watch_jobs(const GetJobs& verb, const WhatToGet& what, const std::vector<FoundJob>& first,
               const kube::LabelSelector& labels, const std::vector<size_t>& widths, const Cluster& cluster,
               const Console& console) {
  std::vector<const dialect::Dialect*> kinds = kinds_of(what, first);
  std::set<std::string> names = names_of(what, first);
  std::string ns = cluster.everywhere ? "" : cluster.ns;
  std::vector<client::Stream> streams;
  for (const dialect::Dialect* kind : kinds) {
    streams.push_back(stream_of_jobs(*kind, ns));
    streams.back().labels = labels;
    streams.push_back(stream_of_pods(*kind, ns));
  }
  ListLook look = look_of(verb, cluster);
  Follow follow(cluster, std::move(streams));
  std::map<std::pair<std::string, std::string>, Cells> told;  // by namespace and title
  bool listed = false;
  std::optional<Time> until;
  if (verb.timeout) until = cluster.clock() + *verb.timeout;
  while (true) {
    Result<bool> changed = follow.next(until);
    if (!changed.ok()) return complain(console, changed.error());
    if (!*changed) return kFine;
    for (size_t k = 0; k < kinds.size(); ++k) {
      for (const auto& [key, packed] : follow.cache(2 * k).all()) {
        client::Object object = packed.object();
        FoundJob job{kinds[k], object};
        if (!names.empty() && !names.contains(job.title())) continue;
        std::vector<client::Object> pods = follow.cache(2 * k + 1).owned_by(kube::uid_of(*object));
        Cells cells = row_for(job, pods, look, cluster.clock());
        Cells& before = told[{job.ns(), job.title()}];
        Cells news = news_in(cells, look);
        bool is_new = before != news;
        before = news;
        // The first view has been printed as a list.
        if (listed && is_new) console.out << line_of(cells, verb, job, widths) << std::flush;
      }
    }
    listed = true;
  }
}

}  // namespace

WhatToGet read_get_words(const std::vector<std::string>& words) {
  WhatToGet what;
  if (words.empty()) return what;
  bool kind_first = means_all_kinds(words[0]) || dialect_of_word(words[0]) != nullptr;
  what.only = kind_first && !means_all_kinds(words[0]) ? dialect_of_word(words[0]) : nullptr;
  for (size_t i = kind_first ? 1 : 0; i < words.size(); ++i) {
    bool plain = what.only != nullptr && words[i].find('/') == std::string::npos;
    what.names.push_back(plain ? fmt::format("{}/{}", word_of(*what.only), words[i]) : words[i]);
  }
  return what;
}

int get_jobs(const GetJobs& verb, const Cluster& cluster, const Console& console) {
  Result<kube::LabelSelector> labels = kube::LabelSelector::parse(verb.selector);
  if (!labels.ok()) return complain(console, labels.error());
  WhatToGet what = read_get_words(verb.words);
  Result<std::vector<FoundJob>> jobs = chosen_jobs(what, *labels, cluster);
  if (!jobs.ok()) return complain(console, jobs.error());
  std::vector<size_t> widths;
  if (verb.form == ListForm::kYaml || verb.form == ListForm::kJson) {
    print_documents(*jobs, what.names.size() == 1, verb.form, console);
  } else if (verb.form == ListForm::kName) {
    for (const FoundJob& job : *jobs) console.out << job.title() << "\n";
  } else {
    Result<std::vector<Cells>> rows = rows_of(*jobs, look_of(verb, cluster), cluster);
    if (!rows.ok()) return complain(console, rows.error());
    widths = widths_of(*rows);
    if (jobs->empty() && !verb.watch) {
      console.err << fmt::format("there are no training jobs in {}\n",
                                 cluster.everywhere ? "any namespace" : "namespace " + cluster.ns);
      return kFine;
    }
    console.out << table_of(*rows);
  }
  if (!verb.watch) return kFine;
  console.out << std::flush;
  return watch_jobs(verb, what, *jobs, *labels, widths, cluster, console);
}

}  // namespace trainyard::cli
