// sim_seeds: simulates many seeds and explores every scenario, for ctest, the soak and
// the mutants. `trainyard sim` is the face for people.
//
//   sim_seeds [--first N] [--count N] [--threads N]   seeds; prints what was broken; with --stop
//                                                     no more are begun once one has failed
//   sim_seeds --seed N [--shrink]                     one seed with its story
//   ... --without FAULT                               that fault is left out; may be repeated
//   sim_seeds --explore [SCENARIO [BLOW WRITE [scheduler]]]
//                                                     the small worlds; or the story of one, struck at
//                                                     that write of the operator, or of the scheduler
//
// Exit status: 0 nothing was broken, 1 something was, 2 it was called wrongly.
#include <fmt/format.h>

#include <charconv>
#include <cstdio>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/explore.h"
#include "sim/heap_operators.h"
#include "sim/run.h"
#include "sim/shrink.h"

namespace {

using namespace trainyard::sim;  // NOLINT: the one program of this room

struct Call {
  uint64_t first = 1;
  uint64_t count = 1000;
  int threads = 1;
  std::optional<uint64_t> seed;
  bool shrink = false;
  ManyOptions many;
  bool explore = false;
  std::vector<std::string> words;
};

std::optional<uint64_t> number(std::string_view text) {
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<Call> read_call(int argc, char** argv) {
  Call call;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == "--shrink") {
      call.shrink = true;
    } else if (word == "--stop") {
      call.many.stop_at_first = true;
    } else if (word == "--explore") {
      call.explore = true;
    } else if (word == "--without") {
      const std::optional<Fault> fault = i + 1 < argc ? fault_named(argv[++i]) : std::nullopt;
      if (!fault) return std::nullopt;
      call.many.without.add(*fault);
    } else if (word.starts_with("--")) {
      const std::optional<uint64_t> value = i + 1 < argc ? number(argv[++i]) : std::nullopt;
      if (!value) return std::nullopt;
      if (word == "--first") {
        call.first = *value;
      } else if (word == "--count") {
        call.count = *value;
      } else if (word == "--threads" && *value >= 1 && *value <= 256) {
        call.threads = static_cast<int>(*value);
      } else if (word == "--seed") {
        call.seed = *value;
      } else {
        return std::nullopt;
      }
    } else {
      call.words.emplace_back(word);
    }
  }
  return call;
}

int run_one_seed(uint64_t seed, const Call& call) {
  Options options = derive_options(seed);
  options.faults.remove(call.many.without);
  const RunReport report = run_seed({.seed = seed, .trace = true, .options = options});
  if (!call.shrink || report.ok()) {
    fmt::print("{}", to_string(report));
    return report.ok() ? 0 : 1;
  }
  const Shrunk shrunk = trainyard::sim::shrink(report.options);
  fmt::print("{}shrunk in {} runs\n", to_string(shrunk.report), shrunk.runs);
  return 1;
}

int run_seeds(const Call& call) {
  const ManyReport many = run_many(call.first, call.count, call.threads, call.many);
  for (const RunReport& failure : many.failures) fmt::print("{}", to_string(failure));
  fmt::print("{} seeds from {}: {} failed; {:.1f} s, {:.0f} seeds/s on {} threads, {} revisions\n",
             many.count, many.first, many.failed, many.seconds_taken,
             static_cast<double>(many.count) / std::max(many.seconds_taken, 1e-9), call.threads,
             many.revisions);
  return many.failed == 0 ? 0 : 1;
}

int tell_story(const Scenario& scenario, const Call& call) {
  Perturbation perturbation;
  if (call.words.size() >= 3) {
    if (call.words.size() == 4 && call.words[3] == "scheduler") perturbation.who = Struck::kScheduler;
    const std::optional<uint64_t> write = number(call.words[2]);
    if (!write) return 2;
    perturbation.write = static_cast<int>(*write);
    for (int blow = 0; blow <= static_cast<int>(Blow::kLostApplied); ++blow) {
      if (to_string(static_cast<Blow>(blow)).starts_with(call.words[1]))
        perturbation.blow = static_cast<Blow>(blow);
    }
  }
  fmt::print("{}", tell(scenario, perturbation));
  return 0;
}

int explore_all(const Call& call) {
  int runs = 0;
  int findings = 0;
  for (const Scenario& scenario : scenarios()) {
    if (!call.words.empty()) {
      if (scenario.name == call.words.front()) return tell_story(scenario, call);
      continue;
    }
    const Exploration exploration = explore(scenario);
    for (const Finding& finding : exploration.findings) fmt::print("BROKEN {}\n", to_string(finding));
    runs += exploration.runs;
    findings += static_cast<int>(exploration.findings.size());
  }
  fmt::print("{} scenarios in {} runs: {} findings\n", scenarios().size(), runs, findings);
  return findings == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const std::optional<Call> call = read_call(argc, argv);
  if (!call) {
    std::fputs(
        "usage: sim_seeds [--first N] [--count N] [--threads N] | --seed N [--shrink] | --explore [NAME]\n",
        stderr);
    return 2;
  }
  if (call->explore) return explore_all(*call);
  if (call->seed) return run_one_seed(*call->seed, *call);
  return run_seeds(*call);
}
