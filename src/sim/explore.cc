#include "sim/explore.h"

#include <fmt/format.h>

#include "sim/world.h"

namespace trainyard::sim {

namespace {

constexpr Blow kBlows[] = {Blow::kCrashBefore, Blow::kCrashAfter, Blow::kConflict,
                           Blow::kServerError, Blow::kLost,       Blow::kLostApplied};
constexpr size_t kFindingsMax = 20;
constexpr size_t kShownBefore = 40;
constexpr size_t kShown = 120;

WorldInput input_for(const Script& script, const Perturbation& perturbation) {
  WorldInput input;
  input.options.trouble = seconds(10);
  input.options.nodes = 1;
  input.options.crowded = !script.yard.empty();
  // What a lost answer may excuse must be known to the checkers.
  if (perturbation.blow == Blow::kLostApplied) input.options.faults.add(Fault::kApiLostApplied);
  input.options.fault_percent = 0;
  input.script = &script;
  input.perturbation = perturbation;
  return input;
}

// The first line in which two texts differ.
std::string first_difference(std::string_view expected, std::string_view found) {
  while (!expected.empty() || !found.empty()) {
    const std::string_view a = expected.substr(0, expected.find('\n'));
    const std::string_view b = found.substr(0, found.find('\n'));
    if (a != b) {
      const auto differ = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
      const auto same = static_cast<size_t>(differ.first - a.begin());
      const size_t from = same - std::min(same, kShownBefore);
      return fmt::format("{} ... expected {} ... found {}", a.substr(0, a.find(':')), a.substr(from, kShown),
                         b.substr(std::min(from, b.size()), kShown));
    }
    expected.remove_prefix(std::min(a.size() + 1, expected.size()));
    found.remove_prefix(std::min(b.size() + 1, found.size()));
  }
  return "";
}

}  // namespace

std::string to_string(const Finding& finding) {
  if (finding.perturbation.blow == Blow::kNone) return fmt::format("{}: {}", finding.scenario, finding.text);
  const Perturbation& struck = finding.perturbation;
  return fmt::format("{}, {} write {} of the {}: {}", finding.scenario, to_string(struck.blow), struck.write,
                     to_string(struck.who), finding.text);
}

Exploration explore(const Scenario& scenario) {
  Exploration result;
  const Script script = parse_script(scenario.text);
  const auto report = [&](const Perturbation& perturbation, std::string text) {
    if (result.findings.size() < kFindingsMax) {
      result.findings.push_back({std::string(scenario.name), perturbation, std::move(text)});
    }
  };
  World undisturbed(input_for(script, {}));
  undisturbed.run();
  ++result.runs;
  for (const Violation& violation : undisturbed.violations()) report({}, to_string(violation));
  if (!result.findings.empty()) return result;
  result.operator_writes = undisturbed.operator_writes();
  result.scheduler_writes = undisturbed.scheduler_writes();
  const std::string expected = undisturbed.final_state();
  const auto strike_all = [&](Struck who, int writes) {
    for (int i = 0; i < writes * static_cast<int>(std::size(kBlows)); ++i) {
      const Perturbation perturbation{kBlows[static_cast<size_t>(i) % std::size(kBlows)],
                                      1 + i / static_cast<int>(std::size(kBlows)), who};
      World world(input_for(script, perturbation));
      world.run();
      ++result.runs;
      for (const Violation& violation : world.violations()) report(perturbation, to_string(violation));
      if (!world.violations().empty()) continue;
      const std::string found = world.final_state();
      if (found != expected) report(perturbation, first_difference(expected, found));
    }
  };
  strike_all(Struck::kOperator, result.operator_writes);
  strike_all(Struck::kScheduler, result.scheduler_writes);
  return result;
}

std::string tell(const Scenario& scenario, const Perturbation& perturbation) {
  const Script script = parse_script(scenario.text);
  WorldInput input = input_for(script, perturbation);
  input.trace = true;
  World world(input);
  world.run();
  std::string text;
  for (const std::string& line : world.take_trace()) text += line + "\n";
  for (const Violation& violation : world.violations()) text += "BROKEN " + to_string(violation) + "\n";
  return text + world.final_state();
}

}  // namespace trainyard::sim
