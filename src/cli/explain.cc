#include "cli/explain.h"

#include <fmt/format.h>

#include "cli/dialects.h"
#include "cli/explain_text.h"
#include "cli/keys.h"
#include "cli/lower.h"
#include "cli/manifest.h"
#include "cli/objects.h"
#include "cli/validate.h"
#include "cli/world.h"
#include "engine/engine.h"
#include "kube/access.h"

namespace trainyard::cli {
namespace {

struct Job {
  const Object* object = nullptr;
  model::JobSpec spec;
};

struct Jobs {
  std::vector<Job> valid;
  bool all_fine = true;
};

Jobs lower_all(const Manifests& manifests, const dialect::Settings& settings, const Console& console) {
  Jobs jobs;
  jobs.all_fine = report_complaints(manifests, console);
  for (const Object& object : manifests.objects) {
    if (object.dialect == nullptr) continue;
    dialect::LowerResult lowered = lower_document(object, settings);
    if (auto* spec = std::get_if<model::JobSpec>(&lowered)) {
      jobs.valid.push_back({&object, std::move(*spec)});
      continue;
    }
    jobs.all_fine = false;
    for (const std::string& line : located(object, std::get<std::vector<dialect::Problem>>(lowered))) {
      console.err << line << "\n";
    }
  }
  if (jobs.valid.empty() && jobs.all_fine) {
    console.err << "there is no training job in the input\n";
    jobs.all_fine = false;
  }
  return jobs;
}

bool has_status(const Object& object) {
  const json::object* status = kube::object_at(object.body, {"status"});
  return status != nullptr && !status->empty();
}

void explain_one(const Job& job, const Manifests& manifests, const Explain& command, const Console& console,
                 Time now) {
  ExplainText text(console, *job.object->dialect, command.settings, job.spec);
  text.manifest(*job.object);
  if (!has_status(*job.object)) return;
  std::span<const dialect::Dialect> dialects = all_dialects();
  model::Observation seen =
      observe_in(world_of(dialects, manifests.objects), dialects, *job.object, job.spec);
  text.outlook(seen, engine::plan(seen, now), now);
}

// What a reader of the List should know that does not stand in it.
void remark(const Job& job, const model::JobState& state, const Console& console) {
  auto say = [&](std::string_view text) {
    console.err << fmt::format("{}: {}\n", job.object->title(), text);
  };
  if (state.finished()) say("is done: nothing more would be created");
  if (!job.spec.managed) say("is managed by another controller: nothing would be created");
  if (job.spec.mode == model::RunMode::kPause) say("is paused: no pods would be created until it is resumed");
  if (job.spec.uid.empty()) say("has no uid yet: the objects carry no ownerReferences");
}

int print_objects(const Jobs& jobs, const Explain& command, const Console& console) {
  json::array items;
  for (const Job& job : jobs.valid) {
    const dialect::Dialect& dialect = *job.object->dialect;
    model::JobState state = dialect.recall(job.spec, job.object->body);
    Result<json::array> children = children_of(dialect, command.settings, job.spec, state, make_key_pair);
    if (!children.ok()) {
      console.err << children.error().message << "\n";
      return kInputAtFault;
    }
    remark(job, state, console);
    for (json::value& child : children.value()) items.push_back(std::move(child));
  }
  json::object list = list_of(std::move(items));
  if (command.form == OutputForm::kJson) {
    console.out << json::serialize(list) << "\n";
  } else {
    console.out << kube::to_yaml(json::value(std::move(list)));
  }
  return jobs.all_fine ? kFine : kInputAtFault;
}

}  // namespace

int explain(const Explain& command, const Console& console, Time now) {
  std::vector<TextFile> files = read_paths(command.paths, console.in);
  Manifests manifests = take_apart(files, all_dialects());
  Jobs jobs = lower_all(manifests, command.settings, console);
  if (command.form != OutputForm::kText) return print_objects(jobs, command, console);
  for (size_t i = 0; i < jobs.valid.size(); ++i) {
    if (i > 0) console.out << "\n";
    explain_one(jobs.valid[i], manifests, command, console, command.now.value_or(now));
  }
  return jobs.all_fine ? kFine : kInputAtFault;
}

}  // namespace trainyard::cli
