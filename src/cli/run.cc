#include "cli/run.h"

#include "base/match.h"
#include "cli/completion.h"
#include "cli/convert.h"
#include "cli/explain.h"
#include "cli/images.h"
#include "cli/install.h"
#include "cli/operator.h"
#include "cli/plane.h"
#include "cli/queue.h"
#include "cli/run_jobs.h"
#include "cli/scheduler.h"
#include "cli/simulate.h"
#include "cli/up.h"
#include "cli/validate.h"
#include "cli/verbs_run.h"
#include "node/shim.h"

namespace trainyard::cli {
namespace {

constexpr std::string_view kVersion = TRAINYARD_VERSION;

}  // namespace

int run(const Command& command, const Console& console) {
  return std::visit(Match{[&](const Validate& c) { return validate(c, console); },
                          [&](const Explain& c) { return explain(c, console, wall_clock()); },
                          [&](const Convert& c) { return convert(c, console); },
                          [&](const Simulate& c) { return simulate(c, console); },
                          [&](const OnCluster& c) { return run_verb(c, console); },
                          [&](const RunJobs& c) { return run_jobs(c, console); },
                          [&](const Up& c) { return up(c, console); },
                          [&](const Down& c) { return down(c, console); },
                          [&](const PlaneStatus& c) { return plane_status(c, console); },
                          [&](const Pull& c) { return pull(c, console); },
                          [&](const Import& c) { return import_image(c, console); },
                          [&](const Images& c) { return images(c, console); },
                          [&](const Shim& c) { return node::shim_main(c.plan); },
                          [&](const OperatorCommand& c) { return run_operator(c, console); },
                          [&](const SchedulerCommand& c) { return run_scheduler(c, console); },
                          [&](const QueueCommand& c) { return run_queue(c, console); },
                          [&](const Install& c) { return install(c, console); },
                          [&](const Completion& c) {
                            console.out << completion_script(c.shell);
                            return kFine;
                          },
                          [&](const Version&) {
                            console.out << "trainyard " << kVersion << "\n";
                            return kFine;
                          },
                          [&](const Help& c) {
                            console.out << c.text;
                            return kFine;
                          },
                          [&](const Misused& c) {
                            console.err << c.text;
                            return kUsage;
                          }},
                    command);
}

}  // namespace trainyard::cli
