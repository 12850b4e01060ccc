// The recordings of Kubeflow's operator that are tables.
#include <fmt/format.h>

#include <algorithm>
#include <regex>
#include <sstream>

#include "base/check.h"
#include "dialect/shared/conditions.h"
#include "dialect/tfjob/tfjob.h"
#include "kube/access.h"
#include "tfjob_replay.h"
#include "tfjob_sight.h"
#include "world.h"

namespace trainyard::recorded {
namespace {

const dialect::Settings kAsKubeflow{.evaluator_in_cluster = true, .default_clean_policy = "None"};

json::object named(const json::object& manifest, const std::string& name) {
  json::object copy = manifest;
  kube::ensure_object(copy, {"metadata"})["name"] = name;
  return copy;
}

std::string conditions_in_full(const json::object& status) {
  std::string text;
  for (const json::value& entry : dialect::conditions_of(status)) {
    const json::object& one = entry.get_object();
    text += fmt::format("{}{}={} {}: {}", text.empty() ? "" : "; ", kube::text_at(one, {"type"}),
                        kube::text_at(one, {"status"}), kube::text_at(one, {"reason"}),
                        kube::text_at(one, {"message"}));
  }
  return text;
}

std::string list_text(const json::array& list) {
  std::string text;
  for (const json::value& entry : list) {
    text += fmt::format("{}{}", text.empty() ? "" : "; ", kube::view(entry.as_string()));
  }
  return text;
}

// Their texts end in an example and a pattern that ours leave out.
std::string without_examples(const std::string& text) {
  return std::regex_replace(text, std::regex(R"( \(e\.g\. '[^)]*?validation is '[^']*'\))"), "");
}

std::string their_answer(const json::object& answer) {
  if (kube::int_at(answer, {"code"}).value_or(0) < 300) return "accepted";
  std::string message(kube::text_at(answer, {"message"}));
  size_t at = message.find("denied the request: ");
  if (at != std::string::npos) return without_examples(message.substr(at + 20));
  // The schema refused it before any rule was asked: only the fields are comparable.
  std::set<std::string> fields;
  if (const json::array* causes = kube::array_at(answer, {"causes"})) {
    for (const json::value& cause : *causes) {
      std::string field(kube::text_at(cause.as_object(), {"field"}));
      if (field != "<nil>")
        fields.insert(
            std::regex_replace(field, std::regex(R"(tfReplicaSpecs\.(\w+))"), "tfReplicaSpecs[$1]"));
    }
  }
  return "fields " + joined(fields, " ");
}

// Where only their fields are known it is enough that ours name them all.
std::string our_answer(const std::vector<dialect::Problem>& problems, const std::string& theirs) {
  if (problems.empty()) return "accepted";
  std::string all;
  std::string paths = " ";
  for (const dialect::Problem& problem : problems) {
    paths += problem.path + " ";
    all += (all.empty() ? "" : ", ") + to_string(problem);
  }
  bool named = theirs.starts_with("fields ");
  std::istringstream fields(named ? theirs.substr(7) : "");
  for (std::string field; fields >> field;)
    named = named && paths.find(" " + field + " ") != std::string::npos;
  if (named) return theirs;
  return problems.size() == 1 ? all : "[" + all + "]";
}

std::string names_of(const std::map<std::string, json::object>& objects) {
  std::set<std::string> names;
  for (const auto& [name, object] : objects) names.insert(name);
  return joined(names, " ");
}

std::string names_of(const json::value& list) {
  std::set<std::string> names;
  if (const json::array* array = list.if_array()) {
    for (const json::value& name : *array) names.insert(std::string(kube::view(name.as_string())));
  }
  if (const json::object* object = list.if_object()) {
    for (const auto& member : *object) names.insert(std::string(member.key().data(), member.key().size()));
  }
  return joined(names, " ");
}

// What became of an accepted manifest: only what the table shows of it.
void compare_outcome(const std::string& file, int row, const std::string& label, World& world,
                     const json::object& then, std::vector<Difference>& found) {
  auto note = [&](const std::string& what, const std::string& ours, const std::string& theirs) {
    if (ours != theirs) found.push_back({file, row, label + ": " + what, ours, theirs});
  };
  json::object status;
  if (const json::object* whole = kube::object_at(then, {"status"})) status = *whole;
  Facts ours = status_facts(world.status());
  if (then.contains("status")) {
    Facts theirs = status_facts(status);
    for (const char* key : {"conditions", "replicaStatuses"}) note(key, ours[key], theirs[key]);
  } else {
    note("conditions", ours["conditions"], list_text(then.at("conditions").as_array()));
    note("replicaStatuses", ours["replicaStatuses"], status_facts(then)["replicaStatuses"]);
  }
  note("pods", names_of(world.pods()), names_of(then.at("pods")));
  note("services", names_of(world.services()), names_of(then.at("services")));
}

// The job of a state that kubectl was asked to print, brought into that state.
void bring_about(World& world, const std::string& state) {
  bool alone = state == "restarting-alone";
  json::object job =
      json::parse(
          fmt::format(
              R"({{"apiVersion":"kubeflow.org/v1","kind":"TFJob","metadata":{{"name":"{}"}},"spec":{{"runPolicy":{{}},"tfReplicaSpecs":
      {{"Worker":{{"replicas":{},"restartPolicy":"{}","template":{{"spec":{{"containers":[{{"name":"tensorflow","image":"i"}}]}}}}}}}}}}}})",
              state, alone ? 1 : 2, state.starts_with("restarting") ? "ExitCode" : "Never"))
          .as_object();
  json::object& policy = kube::ensure_object(job, {"spec", "runPolicy"});
  if (state == "suspended") policy["suspend"] = true;
  if (state == "managed") policy["managedBy"] = "kueue.x-k8s.io/multikueue";
  CHECK(world.create(job).empty());
  if (state == "created" || state == "suspended" || state == "managed") return;
  for (const char* pod : {"-worker-0", "-worker-1"}) world.set_pod(state + pod, {.phase = "Running"});
  world.settle();
  if (state == "succeeded") world.set_pod(state + "-worker-0", {.phase = "Succeeded", .exit_code = 0});
  if (state == "failed") world.set_pod(state + "-worker-1", {.phase = "Failed", .exit_code = 1});
  if (state == "restarting") world.set_pod(state + "-worker-1", {.phase = "Failed", .exit_code = 137});
  if (alone) world.set_pod(state + "-worker-0", {.phase = "Failed", .exit_code = 137});
  world.settle();
}

}  // namespace

std::vector<Difference> replay_tfjob_exit_codes(const Recording& recording) {
  std::vector<Difference> found;
  const json::object& manifest = recording.body.at("manifest").as_object();
  for (const auto& member : recording.body.at("outcome").as_object()) {
    std::string code(member.key().data(), member.key().size());
    World world(dialect::tfjob(), kAsKubeflow, "rec-08b");
    std::string job = "x" + code;
    CHECK(world.create(named(manifest, job)).empty());
    world.set_pod(job + "-worker-0", {.phase = "Running"});
    world.settle();
    world.set_pod(job + "-worker-0", {.phase = "Failed", .exit_code = std::stoi(code)});
    world.settle();
    const json::object& outcome = member.value().as_object();
    auto note = [&](const std::string& what, const std::string& ours, const std::string& theirs) {
      if (ours != theirs) found.push_back({recording.name, std::stoi(code), what, ours, theirs});
    };
    note("conditions", conditions_in_full(world.status()), list_text(outcome.at("conditions").as_array()));
    const json::object& pod = world.pods().at(job + "-worker-0");
    note("pod",
         fmt::format("{}, {}", world.pod_incarnation(job + "-worker-0") > 1 ? "replaced" : "same",
                     kube::text_at(pod, {"status", "phase"})),
         std::string(kube::text_at(outcome, {"pod"})));
    note("replicaStatuses", status_facts(world.status())["replicaStatuses"],
         status_facts(outcome)["replicaStatuses"]);
  }
  return found;
}

std::vector<Difference> replay_tfjob_manifests(const Recording& recording) {
  std::vector<Difference> found;
  int row = 0;
  for (const json::value& entry : recording.body.at("cases").as_array()) {
    ++row;
    const json::object& one = entry.as_object();
    std::string label(kube::text_at(one, {"case"}));
    World world(dialect::tfjob(), kAsKubeflow, "rec-26");
    std::string theirs = their_answer(one.at("answer").as_object());
    std::string ours = our_answer(world.create(one.at("manifest").as_object()), theirs);
    if (ours != theirs) found.push_back({recording.name, row, label + ": answer", ours, theirs});
    const json::object* then = kube::object_at(one, {"then"});
    if (then != nullptr && ours == "accepted")
      compare_outcome(recording.name, row, label, world, *then, found);
  }
  return found;
}

std::vector<Difference> replay_tfjob_updates(const Recording& recording) {
  std::vector<Difference> found;
  World world(dialect::tfjob(), kAsKubeflow, "rec-26b");
  CHECK(world.create(recording.body.at("manifest").as_object()).empty());
  int row = 0;
  for (const json::value& entry : recording.body.at("cases").as_array()) {
    ++row;
    const json::object& one = entry.as_object();
    std::string label(kube::text_at(one, {"case"}));
    std::string theirs = their_answer(one.at("answer").as_object());
    std::string ours = our_answer(world.patch(one.at("patch")), theirs);
    if (ours != theirs) found.push_back({recording.name, row, label + ": answer", ours, theirs});
    const json::object* then = kube::object_at(one, {"then"});
    if (then != nullptr && ours == "accepted")
      compare_outcome(recording.name, row, label, world, *then, found);
  }
  return found;
}

std::vector<Difference> replay_tfjob_states(const Recording& recording) {
  std::vector<Difference> found;
  int row = 0;
  for (const auto& member : recording.body.at("table_state_cells").as_object()) {
    ++row;
    std::string state(member.key().data(), member.key().size());
    World world(dialect::tfjob(), kAsKubeflow, "rec-30");
    bring_about(world, state);
    json::array conditions = dialect::conditions_of(world.status());
    std::string ours =
        conditions.empty() ? "" : std::string(kube::text_at(conditions.back().get_object(), {"type"}));
    std::string theirs = member.value().is_null() ? "" : std::string(kube::view(member.value().as_string()));
    if (ours != theirs) found.push_back({recording.name, row, state + ": State", ours, theirs});
  }
  return found;
}

}  // namespace trainyard::recorded
