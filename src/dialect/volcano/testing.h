// What the tests of this room share: manifests as people write them, short ways to lower
// them, pods as the engine sees them. Used by tests only.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "dialect/shared/dialect.h"
#include "dialect/volcano/lower.h"
#include "kube/access.h"
#include "kube/yaml.h"
#include "model/observation.h"

namespace trainyard::dialect::vc::testing {

inline json::object from_yaml(std::string_view text) {
  Result<std::vector<kube::Document>> documents = kube::parse_yaml(text);
  CHECK(documents.ok());
  CHECK(documents->size() == 1);
  CHECK(documents->front().body.is_object());
  return documents->front().body.as_object();
}

// One entry of spec.tasks, asking for 100m and 64Mi; `more` adds fields to it, indented by 4.
inline std::string task(std::string_view name, int replicas, std::string_view more = "",
                        std::string_view pod = "") {
  return "  - name: " + std::string(name) + "\n    replicas: " + std::to_string(replicas) + "\n" +
         std::string(more) +
         "    template:\n"
         "      spec:\n"
         "        restartPolicy: Never\n" +
         std::string(pod) +
         "        containers:\n"
         "        - name: main\n"
         "          image: registry.example/v:1\n"
         "          resources: {requests: {cpu: 100m, memory: 64Mi}}\n";
}

// A stored job named tj in namespace ns; `rest` are further fields of spec, indented by 2.
inline json::object job(const std::string& tasks, std::string_view rest = "",
                        std::string_view metadata = "name: tj, namespace: ns, uid: u1, generation: 2") {
  return from_yaml("apiVersion: batch.volcano.sh/v1alpha1\nkind: Job\nmetadata: {" + std::string(metadata) +
                   "}\nspec:\n" + std::string(rest) + "  tasks:\n" + tasks);
}

// ps 1, worker 2: what most of the recordings are made with.
inline json::object usual_job(std::string_view rest = "") {
  return job(task("ps", 1) + task("worker", 2), rest);
}

inline std::vector<Problem> problems_of(const json::object& object) {
  LowerResult result = lower(object, {});
  const auto* problems = std::get_if<std::vector<Problem>>(&result);
  return problems == nullptr ? std::vector<Problem>{} : *problems;
}

inline model::JobSpec lowered(const json::object& object) {
  LowerResult result = lower(object, {});
  const auto* problems = std::get_if<std::vector<Problem>>(&result);
  EXPECT_EQ(problems, nullptr) << (problems ? join(*problems) : "");
  CHECK(problems == nullptr);
  return std::get<model::JobSpec>(result);
}

inline model::PodSeen pod(const model::JobSpec& spec, int role, int index, model::PodPhase phase) {
  model::PodSeen seen;
  seen.id = {role, index};
  seen.name = spec.pod_name(seen.id);
  seen.uid = seen.name + "-uid";
  seen.phase = phase;
  return seen;
}

inline model::Observation observed(const model::JobSpec& spec, std::vector<model::PodSeen> pods = {}) {
  model::Observation seen;
  seen.spec = spec;
  seen.state = model::decode_state(spec, {});
  seen.pods = std::move(pods);
  return seen;
}

inline constexpr Time kNow{1'763'250'000'000};

}  // namespace trainyard::dialect::vc::testing
