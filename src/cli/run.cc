#include "cli/run.h"

#include <chrono>

#include "base/match.h"
#include "cli/completion.h"
#include "cli/convert.h"
#include "cli/explain.h"
#include "cli/simulate.h"
#include "cli/validate.h"

namespace trainyard::cli {
namespace {

constexpr std::string_view kVersion = TRAINYARD_VERSION;

Time the_time() {
  auto since_1970 = std::chrono::system_clock::now().time_since_epoch();
  return {std::chrono::duration_cast<std::chrono::milliseconds>(since_1970).count()};
}

}  // namespace

int run(const Command& command, const Console& console) {
  return std::visit(Match{[&](const Validate& c) { return validate(c, console); },
                          [&](const Explain& c) { return explain(c, console, the_time()); },
                          [&](const Convert& c) { return convert(c, console); },
                          [&](const Simulate& c) { return simulate(c, console); },
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
