// What the tests of this room share: manifests as people write them, and short ways to
// lower them. Used by tests only.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "dialect/shared/dialect.h"
#include "dialect/t9k/lower.h"
#include "dialect/t9k/name.h"
#include "kube/yaml.h"

namespace trainyard::t9k::testing {

inline json::object from_yaml(std::string_view text) {
  Result<std::vector<kube::Document>> documents = kube::parse_yaml(text);
  CHECK(documents.ok());
  CHECK(documents->size() == 1);
  CHECK(documents->front().body.is_object());
  return documents->front().body.as_object();
}

// One replica spec, as an entry of spec.replicaSpecs; `more` adds lines to the entry.
inline std::string replica_spec(std::string_view type, int replicas, std::string_view policy = "",
                                std::string_view more = "") {
  std::string text = "  - type: " + std::string(type) + "\n    replicas: " + std::to_string(replicas) + "\n";
  if (!policy.empty()) text += "    restartPolicy: " + std::string(policy) + "\n";
  text += more;
  text +=
      "    template:\n"
      "      spec:\n"
      "        containers:\n"
      "        - name: tensorflow\n"
      "          image: tensorflow/tensorflow:2.11.0\n"
      "          command: [python, train.py]\n"
      "          args: [--epochs, '10']\n";
  return text;
}

// What the children of that job are called.
inline const std::string kPrefix = child_prefix("train", "3f1c");

// A stored job named train in namespace demo; `rest` are further fields of spec, indented by 2.
inline json::object job(std::string_view replica_specs, std::string_view rest = "") {
  return from_yaml(
      "apiVersion: batch.tensorstack.dev/v1beta1\n"
      "kind: TensorFlowTrainingJob\n"
      "metadata: {name: train, namespace: demo, uid: 3f1c, generation: 4}\n"
      "spec:\n"
      "  replicaSpecs:\n" +
      std::string(replica_specs) + std::string(rest));
}

inline model::JobSpec lowered(const json::object& object) {
  dialect::LowerResult result = lower(object, {});
  const auto* problems = std::get_if<std::vector<dialect::Problem>>(&result);
  EXPECT_EQ(problems, nullptr) << (problems ? dialect::join(*problems) : "");
  CHECK(problems == nullptr);
  return std::get<model::JobSpec>(result);
}

// The problems, one string each; empty when the manifest is valid.
inline std::vector<std::string> problems_of(const json::object& object) {
  dialect::LowerResult result = lower(object, {});
  std::vector<std::string> all;
  if (const auto* problems = std::get_if<std::vector<dialect::Problem>>(&result)) {
    for (const dialect::Problem& problem : *problems) all.push_back(to_string(problem));
  }
  return all;
}

inline constexpr Time kNow{1'767'000'000'000};

// A world in which nothing of the job is there yet.
inline model::Observation world(const json::object& object) {
  model::Observation seen;
  seen.spec = lowered(object);
  return seen;
}

inline model::JobState in_phase(const model::Observation& seen, model::Phase phase, bool initialized = true) {
  model::JobState state;
  state.roles.resize(seen.spec.roles.size());
  state.phase = phase;
  state.initialized = initialized;
  return state;
}

inline model::JobState ended(const model::Observation& seen, model::ResultKind result,
                             model::Cause cause = {}) {
  model::JobState state = in_phase(seen, model::Phase::kFinished);
  state.result = result;
  state.cause = std::move(cause);
  return state;
}

// A pod of this replica that the scheduler has placed.
inline model::PodSeen pod(const model::Observation& seen, model::ReplicaId id, model::PodPhase phase) {
  return {.id = id,
          .name = seen.spec.pod_name(id),
          .uid = fmt::format("uid-{}-{}", id.role, id.index),
          .phase = phase,
          .scheduled = true};
}

}  // namespace trainyard::t9k::testing
