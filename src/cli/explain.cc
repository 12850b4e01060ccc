#include "cli/explain.h"

#include <fmt/format.h>

#include <memory>

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
#include "kube/meta.h"

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

// The gang as it would be made: never of more pods than there can be.
void settle_gang(model::JobSpec& spec, Time now) {
  model::Observation fresh;
  fresh.spec = spec;
  fresh.spec.mode = model::RunMode::kRun;
  fresh.state.roles.resize(spec.roles.size());
  for (const model::Step& step : engine::plan(fresh, now).steps) {
    if (const auto* made = std::get_if<model::UpsertGang>(&step)) spec.gang = made->gang;
  }
}

Jobs lower_all(const Manifests& manifests, const dialect::Settings& settings, const Console& console) {
  Jobs jobs;
  jobs.all_fine = report_complaints(manifests, console);
  for (const Object& object : manifests.objects) {
    if (object.dialect == nullptr) continue;
    dialect::LowerResult lowered = lower_document(object, settings);
    if (auto* spec = std::get_if<model::JobSpec>(&lowered)) {
      settle_gang(*spec, Time{});
      jobs.valid.push_back({&object, std::move(*spec)});
      continue;
    }
    jobs.all_fine = false;
    for (const std::string& line : located(object, std::get<std::vector<dialect::Problem>>(lowered))) {
      console.err << line << "\n";
    }
  }
  if (jobs.valid.empty() && jobs.all_fine) {
    console.err << no_job_in_words(manifests) << "\n";
    jobs.all_fine = false;
  }
  return jobs;
}

bool has_status(const Object& object) {
  const json::object* status = kube::object_at(object.body, {"status"});
  return status != nullptr && !status->empty();
}

// The objects of the input as a world, made for the first job that needs one.
class World {
 public:
  explicit World(const Manifests& manifests) : manifests_(manifests) {}

  model::Observation observe(const Job& job) {
    std::span<const dialect::Dialect> dialects = all_dialects();
    if (!view_) view_ = std::make_unique<control::View>(world_of(dialects, manifests_.objects));
    return observe_in(*view_, dialects, *job.object, job.spec);
  }

 private:
  const Manifests& manifests_;
  std::unique_ptr<control::View> view_;
};

void explain_one(const Job& job, World& world, const Explain& command, const Console& console, Time now) {
  ExplainText text(console, *job.object->dialect, command.settings, job.spec);
  text.manifest(*job.object);
  if (!has_status(*job.object)) return;
  model::Observation seen = world.observe(job);
  text.outlook(*kube::object_at(job.object->body, {"status"}), seen, engine::plan(seen, now), now);
}

// What a reader of the List should know that does not stand in it.
void remark(const Job& job, const model::JobState& state, const Console& console) {
  auto say = [&](std::string_view text) {
    console.err << fmt::format("{}: {}\n", job.object->title(), text);
  };
  if (state.finished()) say("is done: nothing more would be created");
  if (kube::is_deleting(job.object->body)) say("is being deleted: nothing more would be created");
  if (!job.spec.managed) say("is managed by another controller: nothing would be created");
  if (job.spec.mode == model::RunMode::kPause) say("is paused: no pods would be created until it is resumed");
  if (job.spec.uid.empty()) say("has no uid yet: the objects carry no ownerReferences");
}

// A v1 List, printed item by item.
class PrintedList {
 public:
  PrintedList(OutputForm form, std::ostream& out) : json_(form == OutputForm::kJson), out_(out) {
    out_ << (json_ ? R"({"apiVersion":"v1","kind":"List","items":[)" : "apiVersion: v1\nkind: List\nitems:");
  }
  void add(json::object item) {
    if (json_) {
      out_ << (empty_ ? "" : ",") << json::serialize(item);
    } else {
      out_ << (empty_ ? "\n" : "") << kube::to_yaml(json::array{std::move(item)});
    }
    empty_ = false;
  }
  void end() { out_ << (json_ ? "]}\n" : empty_ ? " []\n" : ""); }

 private:
  const bool json_;
  std::ostream& out_;
  bool empty_ = true;
};

// What is remembered once the next plan is made: pods of a job that is about to be resumed or started
// again are other ones than those of a new job.
model::JobState planned_state(const Job& job, World& world, Time now) {
  if (!has_status(*job.object)) return job.object->dialect->recall(job.spec, job.object->body);
  return engine::plan(world.observe(job), now).state;
}

int print_objects(const Jobs& jobs, World& world, const Explain& command, const Console& console, Time now) {
  PrintedList list(command.form, console.out);
  for (const Job& job : jobs.valid) {
    const dialect::Dialect& dialect = *job.object->dialect;
    const model::JobState state = planned_state(job, world, now);
    if (kube::is_deleting(job.object->body)) {
      remark(job, state, console);
      continue;
    }
    Result<Done> told = each_child_of(dialect, command.settings, job.spec, state, make_key_pair,
                                      [&](json::object child) { list.add(std::move(child)); });
    if (!told.ok()) {
      console.err << told.error().message << "\n";
      return kInputAtFault;
    }
    remark(job, state, console);
  }
  list.end();
  return jobs.all_fine ? kFine : kInputAtFault;
}

}  // namespace

int explain(const Explain& command, const Console& console, Time now) {
  std::vector<TextFile> files = read_paths(command.paths, console.in);
  Manifests manifests = take_apart(files, all_dialects());
  Jobs jobs = lower_all(manifests, command.settings, console);
  World world(manifests);
  const Time planned = command.now.value_or(now);
  if (command.form != OutputForm::kText) return print_objects(jobs, world, command, console, planned);
  for (size_t i = 0; i < jobs.valid.size(); ++i) {
    if (i > 0) console.out << "\n";
    explain_one(jobs.valid[i], world, command, console, planned);
  }
  return jobs.all_fine ? kFine : kInputAtFault;
}

}  // namespace trainyard::cli
