#include "cli/run_jobs.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <mutex>

#include "cli/data_dir.h"
#include "cli/dialects.h"
#include "cli/forewarn.h"
#include "cli/interrupts.h"
#include "cli/lower.h"
#include "cli/manifest.h"
#include "cli/plane.h"
#include "cli/run_session.h"
#include "cli/unmet.h"
#include "cli/up.h"
#include "cli/validate.h"
#include "kube/meta.h"
#include "node/shims.h"

namespace trainyard::cli {
namespace {

// Runs whose folders are kept: their logs stay readable.
constexpr size_t kRunsKept = 50;

// Whether the documents hold valid jobs; says what is wrong.
bool check(const Manifests& manifests, const RunJobs& command, const Console& console) {
  bool fine = report_complaints(manifests, console);
  int jobs = 0;
  for (const Object& object : manifests.objects) {
    if (object.dialect == nullptr) continue;
    ++jobs;
    dialect::LowerResult lowered = lower_document(object, command.plane.settings);
    if (const auto* problems = std::get_if<std::vector<dialect::Problem>>(&lowered)) {
      for (const std::string& line : located(object, *problems)) console.err << line << "\n";
      fine = false;
      continue;
    }
    for (const model::Advice& advice : std::get<model::JobSpec>(lowered).advice) {
      console.err << fmt::format("{}: warning: {}\n", object.place_of(""), advice.message);
    }
  }
  if (fine && jobs == 0) {
    console.err << no_job_in_words(manifests) << "\n";
    return false;
  }
  return fine;
}

std::string first_job_name(const Manifests& manifests) {
  for (const Object& object : manifests.objects) {
    if (object.dialect != nullptr && !kube::name_of(object.body).empty()) {
      return std::string(kube::name_of(object.body));
    }
  }
  return "job";
}

// Forgets the oldest runs. One that still goes on holds its lock; of one that was killed, replicas may.
void forget_old_runs(const std::filesystem::path& runs) {
  std::error_code ignored;
  std::vector<std::filesystem::path> folders;
  for (const auto& entry : std::filesystem::directory_iterator(runs, ignored))
    folders.push_back(entry.path());
  std::sort(folders.begin(), folders.end(), [](const auto& a, const auto& b) {
    std::error_code ignored_too;
    return std::filesystem::last_write_time(a, ignored_too) >
           std::filesystem::last_write_time(b, ignored_too);
  });
  for (size_t i = kRunsKept; i < folders.size(); ++i) {
    const DataDir run{folders[i]};
    if (node::pods_running_below(run.pods()) > 0 || holder_of(run) != 0) continue;
    std::filesystem::remove_all(folders[i], ignored);
  }
}

Result<PlaneOptions> options_for(const RunJobs& command, const std::string& job) {
  PlaneOptions options;
  options.settings = command.plane;
  options.overcommit_cpu = true;
  Result<std::filesystem::path> home = default_data_dir();
  if (!command.plane.data_dir.empty()) {
    options.dir.root = std::filesystem::absolute(command.plane.data_dir);
    options.volumes = options.dir.volumes();
    options.images = options.dir.images();
    return options;
  }
  if (!home.ok()) return home.error();
  DataDir shared{*home};
  options.volumes = shared.volumes();
  options.images = shared.images();
  std::filesystem::path runs = shared.runs();
  forget_old_runs(runs);
  std::time_t now = std::time(nullptr);
  options.dir.root = runs / fmt::format("{}-{:%Y%m%d-%H%M%S}-{}", job, fmt::localtime(now), ::getpid());
  return options;
}

}  // namespace

int run_jobs(const RunJobs& command, const Console& console) {
  std::vector<TextFile> files = read_paths(command.paths, console.in);
  Manifests manifests = take_apart(files, all_dialects());
  if (!check(manifests, command, console)) return kInputAtFault;

  Result<PlaneOptions> options = options_for(command, first_job_name(manifests));
  if (!options.ok()) {
    console.err << options.error().message << "\n";
    return kInputAtFault;
  }
  std::mutex speaking;
  options.value().say = [&](const std::string& text) {
    std::lock_guard lock(speaking);
    console.err << text << "\n";
    console.err.flush();
  };
  std::filesystem::path logs = options->dir.logs();
  const std::filesystem::path others = options->dir.root.parent_path();
  if (command.plane.data_dir.empty()) {
    for (const std::string& words : killed_runs_in_words(others)) console.err << "note: " << words << "\n";
  }
  Interrupts interrupts;
  Result<std::unique_ptr<Plane>> plane = Plane::start(std::move(options).value());
  if (!plane.ok()) {
    console.err << plane.error().message << "\n";
    return kInputAtFault;
  }
  Result<std::vector<std::string>> warnings = forewarnings(**plane, manifests.objects, command.plane);
  if (!warnings.ok()) {
    console.err << warnings.error().message << "\n";
    (*plane)->stop(Plane::Leave::kKilled);
    return kInputAtFault;
  }
  for (const std::string& warning : *warnings) console.err << "note: " << warning << "\n";
  std::vector<std::string> unmet = unmet_needs(**plane, manifests.objects, command.plane);
  for (const std::string& line : unmet) console.err << line << "\n";
  if (!unmet.empty()) {
    (*plane)->stop(Plane::Leave::kKilled);
    return kInputAtFault;
  }
  RunSession session(**plane, command, console, interrupts, logs);
  Result<Done> created = session.create(manifests.objects);
  int status = kInputAtFault;
  if (created.ok()) {
    status = session.watch();
  } else {
    console.err << created.error().message << "\n";
  }
  (*plane)->stop(session.leave());
  console.out << "logs: " << logs.string() << "\n";
  return status;
}

}  // namespace trainyard::cli
