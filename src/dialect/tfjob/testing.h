// Shared by the tests of this room: manifests and specs in few words.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "dialect/tfjob/tfjob.h"
#include "kube/yaml.h"

namespace trainyard::dialect::tf {

inline json::object from_yaml(std::string_view text) {
  Result<std::vector<kube::Document>> documents = kube::parse_yaml(text);
  if (!documents.ok() || documents->size() != 1) {
    ADD_FAILURE() << "not one document: " << (documents.ok() ? "" : documents.error().message) << "\n"
                  << text;
    return {};
  }
  return documents->front().body.as_object();
}

inline json::object from_json(std::string_view text) {
  return json::parse(json::string_view(text.data(), text.size())).as_object();
}

// A manifest whose spec is given as flow YAML, without templates: each role that has
// none gets the usual one.
inline json::object manifest(std::string_view spec,
                             std::string_view metadata = "{name: train, namespace: ns, uid: u1}") {
  json::object job = from_yaml(
      fmt::format("apiVersion: kubeflow.org/v1\nkind: TFJob\nmetadata: {}\nspec: {}\n", metadata, spec));
  json::object* roles = nullptr;
  if (json::object* body = job["spec"].if_object()) {
    if (json::value* found = body->if_contains("tfReplicaSpecs")) roles = found->if_object();
  }
  if (roles == nullptr) return job;
  for (auto& role : *roles) {
    json::object* entry = role.value().if_object();
    if (entry == nullptr || entry->contains("template")) continue;
    (*entry)["template"] = from_json(R"({"spec":{"containers":[{"name":"tensorflow","image":"i"}]}})");
  }
  return job;
}

inline model::JobSpec lowered(const json::object& job, const Settings& settings = {}) {
  LowerResult result = tfjob().lower(job, settings);
  if (const auto* problems = std::get_if<std::vector<Problem>>(&result)) {
    ADD_FAILURE() << join(*problems);
    return {};
  }
  return std::get<model::JobSpec>(result);
}

inline model::JobSpec lowered(std::string_view spec, const Settings& settings = {}) {
  return lowered(manifest(spec), settings);
}

inline std::vector<std::string> problems_of(const json::object& job, const Settings& settings = {}) {
  LowerResult result = tfjob().lower(job, settings);
  std::vector<std::string> said;
  if (const auto* problems = std::get_if<std::vector<Problem>>(&result)) {
    for (const Problem& problem : *problems) said.push_back(to_string(problem));
  }
  return said;
}

inline json::object pod_of(const model::JobSpec& spec, int role, int index, const Settings& settings = {},
                           int attempt = 0) {
  model::JobState state;
  state.roles.resize(spec.roles.size());
  return tfjob().render_pod(spec, settings, {.id = {role, index}, .attempt = attempt, .state = &state});
}

}  // namespace trainyard::dialect::tf
