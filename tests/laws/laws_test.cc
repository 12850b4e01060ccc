// The laws of a dialect (dialect/shared/dialect.h), on every valid job of tests/golden and
// examples, through a whole small life: all pods succeed, fail for good, or fail once.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "cli/dialects.h"
#include "cli/manifest.h"
#include "engine/engine.h"
#include "kube/access.h"
#include "kube/meta.h"
#include "small_world.h"

namespace trainyard::laws {
namespace {

namespace fs = std::filesystem;
using cli::all_dialects;

constexpr Time kStart{1'700'000'000'000};

struct Job {
  std::string place;
  const dialect::Dialect* dialect = nullptr;
  json::object body;
  model::JobSpec spec;
};

// Valid jobs of the folders; those without a uid get one, as the API would give it.
const std::vector<Job>& jobs() {
  static const std::vector<Job> kJobs = [] {
    std::istringstream nothing;
    const std::string root = TRAINYARD_SOURCE_DIR;
    static const std::vector<cli::TextFile> files =
        cli::read_paths({root + "/tests/golden", root + "/examples"}, nothing);
    std::vector<Job> found;
    for (const cli::Object& object : cli::take_apart(files, all_dialects()).objects) {
      if (object.dialect == nullptr) continue;
      json::object body = object.body;
      json::object& metadata = kube::ensure_object(body, {"metadata"});
      if (!metadata.contains("uid")) metadata["uid"] = "5a8b2a9c-0000-4000-8000-000000000001";
      if (!metadata.contains("name")) metadata["name"] = "generated";
      body.erase("status");
      dialect::LowerResult lowered = object.dialect->lower(body, {});
      if (auto* spec = std::get_if<model::JobSpec>(&lowered)) {
        found.push_back(
            {object.place_of("").substr(root.size() + 1), object.dialect, body, std::move(*spec)});
      }
    }
    return found;
  }();
  return kJobs;
}

// One life of a job, pass by pass; `look` is called with every status it gets.
template <typename Look>
void live(const Job& job, int first_exit_code, Look look) {
  SmallWorld world(first_exit_code);
  model::Observation seen;
  seen.spec = job.spec;
  seen.state.roles.resize(job.spec.roles.size());
  json::object status;
  Time now = kStart;
  for (int pass = 0; pass < 12; ++pass) {
    model::Plan plan = engine::plan(seen, now);
    SCOPED_TRACE(fmt::format("{} exit {} pass {}", job.place, first_exit_code, pass));
    json::object before = status;
    status = job.dialect->project(seen, plan.state, before, now);
    look(seen, plan, status, now);
    world.carry_out(plan, seen);
    now = now + seconds(7);
    world.turn(seen, now);
  }
}

constexpr int kExitCodes[] = {0, 1, 137};

TEST(Laws, ThereAreJobsOfEveryDialect) {
  std::set<std::string_view> names;
  for (const Job& job : jobs()) names.insert(job.dialect->name);
  EXPECT_THAT(names, ::testing::ElementsAre("t9k", "tfjob", "volcano"));
  EXPECT_GE(jobs().size(), 20u);
}

TEST(Laws, ProjectingTwiceIsProjectingOnce) {
  for (const Job& job : jobs()) {
    for (int code : kExitCodes) {
      live(
          job, code,
          [&](const model::Observation& seen, const model::Plan& plan, const json::object& status, Time now) {
            json::object again = job.dialect->project(seen, plan.state, status, now + seconds(3));
            EXPECT_TRUE(again == status) << json::serialize(again) << "\n" << json::serialize(status);
          });
    }
  }
}

TEST(Laws, WhatIsRememberedDecodesBack) {
  for (const Job& job : jobs()) {
    for (int code : kExitCodes) {
      live(job, code,
           [&](const model::Observation&, const model::Plan& plan, const json::object& status, Time) {
             json::object stored = job.body;
             stored["status"] = status;
             model::JobState recalled = job.dialect->recall(job.spec, stored);
             EXPECT_EQ(json::serialize(model::encode_state(job.spec, recalled)),
                       json::serialize(model::encode_state(job.spec, plan.state)));
             EXPECT_TRUE(recalled == plan.state);
           });
    }
  }
}

TEST(Laws, TerminalIsTerminal) {
  for (const Job& job : jobs()) {
    for (int code : kExitCodes) {
      std::optional<model::ResultKind> result;
      live(job, code, [&](const model::Observation&, const model::Plan& plan, const json::object&, Time) {
        if (result) {
          EXPECT_EQ(plan.state.result, result);
        }
        result = plan.state.result;
      });
    }
  }
}

TEST(Laws, AQuietWorldIsNotWrittenTo) {
  for (const Job& job : jobs()) {
    SmallWorld world(0);
    model::Observation seen;
    seen.spec = job.spec;
    seen.state.roles.resize(job.spec.roles.size());
    json::object status;
    for (int pass = 0; pass < 6; ++pass) {
      model::Plan plan = engine::plan(seen, kStart);
      status = job.dialect->project(seen, plan.state, status, kStart);
      world.carry_out(plan, seen);
    }
    SCOPED_TRACE(job.place);
    model::Plan plan = engine::plan(seen, kStart + seconds(1));
    EXPECT_TRUE(plan.state == seen.state);
    json::object again = job.dialect->project(seen, plan.state, status, kStart + seconds(1));
    EXPECT_TRUE(again == status) << json::serialize(again) << " " << json::serialize(status);
    for (const model::Step& step : plan.steps) {
      EXPECT_TRUE(std::holds_alternative<model::WriteState>(step)) << to_string(job.spec, step);
    }
  }
}

TEST(Laws, UnknownFieldsSurvive) {
  for (const Job& job : jobs()) {
    json::object body = job.body;
    kube::ensure_object(body, {"spec"})["aFieldOfTomorrow"] = json::object{{"x", 1}};
    dialect::LowerResult lowered = job.dialect->lower(body, {});
    ASSERT_TRUE(std::holds_alternative<model::JobSpec>(lowered)) << job.place;
    EXPECT_NE(kube::find(*std::get<model::JobSpec>(lowered).source, {"spec", "aFieldOfTomorrow", "x"}),
              nullptr);
  }
}

// What the operator remembers of a manifest (control/lowered.h) holds whatever happens to its status.
TEST(Laws, LoweringLooksAtNeitherStatusNorVersions) {
  for (const Job& job : jobs()) {
    json::object later = job.body;
    later["status"] = json::object{{"phase", "Running"}, {"conditions", json::array{}}, {"trainyard", "x"}};
    json::object& metadata = later["metadata"].as_object();
    metadata["resourceVersion"] = "77";
    metadata["managedFields"] = json::array{json::object{{"manager", "somebody"}}};
    dialect::LowerResult lowered = job.dialect->lower(later, {});
    const auto* spec = std::get_if<model::JobSpec>(&lowered);
    ASSERT_NE(spec, nullptr) << job.place;
    EXPECT_TRUE(model::same_intent(*spec, job.spec)) << job.place;
    EXPECT_EQ(spec->advice, job.spec.advice) << job.place;
    model::JobState state;
    state.roles.resize(spec->roles.size());
    const dialect::PodContext context{.id = {0, 0}, .attempt = 0, .state = &state};
    EXPECT_EQ(job.dialect->render_pod(*spec, {}, context), job.dialect->render_pod(job.spec, {}, context))
        << job.place;
  }
}

// Every example exists in three dialects under one name: same roles, same sizes.
TEST(Laws, EqualJobsLowerToEqualRoles) {
  std::map<std::string_view, std::map<std::string, int>> replicas;
  for (const Job& job : jobs()) {
    if (!job.place.starts_with("examples/")) continue;
    std::string name(kube::name_of(job.body));
    if (name == "digits-lost") continue;  // there is one, a TFJob
    for (const model::Role& role : job.spec.roles) {
      replicas[job.dialect->name][name + "/" + role.name] = role.replicas;
    }
  }
  ASSERT_EQ(replicas.size(), 3u);
  EXPECT_EQ(replicas["tfjob"], replicas["t9k"]);
  EXPECT_EQ(replicas["tfjob"], replicas["volcano"]);
}

// One worker role under a restart policy and the annotation trainyard.dev/restart-scope ("" for none),
// as the dialect writes it. Volcano says with a policy what the others call OnFailure.
model::Role worker_of(std::string_view dialect, std::string_view policy, std::string_view scope) {
  json::object annotations;
  if (!scope.empty()) annotations["trainyard.dev/restart-scope"] = kube::jview(scope);
  json::object metadata{{"name", "j"}, {"annotations", std::move(annotations)}};
  json::object pod{{"containers", json::array{json::object{{"name", "tensorflow"}, {"image", "i"}}}}};
  json::object worker{{"replicas", 2}, {"template", json::object{{"spec", pod}}}};
  json::object spec;
  if (dialect == "volcano") {
    worker["name"] = "worker";
    worker["policies"] = json::array{json::object{{"event", "PodFailed"}, {"action", "RestartPod"}}};
    spec["tasks"] = json::array{worker};
  } else {
    worker["restartPolicy"] = kube::jview(policy);
    if (dialect == "t9k") worker["type"] = "worker";
    if (dialect == "t9k") spec["replicaSpecs"] = json::array{worker};
    if (dialect == "tfjob") spec["tfReplicaSpecs"] = json::object{{"Worker", worker}};
  }
  for (const dialect::Dialect& one : all_dialects()) {
    if (one.name != dialect) continue;
    json::object job{{"apiVersion", kube::jview(one.resource.api_version())},
                     {"kind", kube::jview(one.resource.kind)},
                     {"metadata", std::move(metadata)},
                     {"spec", std::move(spec)}};
    return std::get<model::JobSpec>(one.lower(job, {})).roles.at(0);
  }
  return {};
}

// The action of the first rule that answers; nullopt when none does.
std::optional<model::Action> answer(const model::Role& role, model::Trigger trigger, int code) {
  for (const model::Rule& rule : role.rules) {
    bool named = std::find(rule.on.begin(), rule.on.end(), trigger) != rule.on.end();
    bool coded = rule.exits.empty() ||
                 std::any_of(rule.exits.begin(), rule.exits.end(), [&](const model::ExitRange& range) {
                   return range.first <= code && code <= range.last;
                 });
    if (named && coded) return rule.action;
  }
  return std::nullopt;
}

// Which exit codes are retried, and what happens after a failure that is not, are declared differences.
TEST(Laws, EqualJobsAnswerAlikeWhatHappensToAReplica) {
  struct Row {
    std::string_view dialect, policy;
  };
  for (std::string_view scope : {"", "pod", "role", "job"}) {
    for (const Row& row :
         {Row{"tfjob", "OnFailure"}, Row{"tfjob", "Always"}, Row{"tfjob", "ExitCode"},
          Row{"t9k", "OnFailure"}, Row{"t9k", "Always"}, Row{"t9k", "ExitCode"}, Row{"volcano", ""}}) {
      SCOPED_TRACE(fmt::format("{} {} {}", row.dialect, row.policy, scope));
      model::Role role = worker_of(row.dialect, row.policy, scope);
      model::Action again{model::ActionKind::kRestart, scope == "job"    ? model::Scope::kJob
                                                       : scope == "role" ? model::Scope::kRole
                                                                         : model::Scope::kPod};
      EXPECT_EQ(answer(role, model::Trigger::kFailed, 137), again);
      EXPECT_EQ(answer(role, model::Trigger::kDisrupted, 0), again);
      // Alone it is made again without a rule (docs/decisions/0006-deleted-pods-come-back.md).
      bool alone = again.scope == model::Scope::kPod;
      EXPECT_EQ(answer(role, model::Trigger::kDeleted, 0), alone ? std::nullopt : std::optional(again));
    }
  }
}

}  // namespace
}  // namespace trainyard::laws
