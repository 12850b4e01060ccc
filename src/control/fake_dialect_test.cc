#include "control/fake_dialect.h"

#include <gtest/gtest.h>

#include "kube/access.h"
#include "kube/objects.h"

namespace trainyard::control::testing {

namespace {

using model::ActionKind;
using model::Trigger;

bool recognises(std::string_view api_version, std::string_view kind) {
  return api_version == "toys.example.com/v1" && kind == "Toy";
}

dialect::LowerResult lower(const json::object& object, const dialect::Settings&) {
  int64_t workers = kube::int_at(object, {"spec", "workers"}).value_or(1);
  if (workers < 0) {
    return std::vector<dialect::Problem>{
        {"spec.workers", dialect::ProblemKind::kInvalid, std::to_string(workers), "must not be negative"}};
  }
  model::JobSpec spec;
  spec.dialect = "toy";
  spec.name_space = kube::namespace_of(object);
  spec.name = kube::name_of(object);
  spec.uid = kube::uid_of(object);
  spec.generation = kube::generation_of(object);
  spec.pod_prefix = spec.name;
  model::Role worker;
  worker.name = "worker";
  worker.replicas = static_cast<int>(workers);
  worker.otherwise = {ActionKind::kFail};
  if (kube::text_at(object, {"spec", "policy"}) == "Restart") {
    worker.rules.push_back({{Trigger::kFailed, Trigger::kDisrupted}, {}, {ActionKind::kRestart}, {}});
  }
  spec.roles = {worker};
  spec.success = model::WholeRole{0};
  spec.running_min = worker.replicas;
  spec.cleanup = model::Cleanup::kAll;
  spec.holds_deletion = kube::bool_at(object, {"spec", "hold"}).value_or(false);
  if (auto ttl = kube::int_at(object, {"spec", "ttl"})) spec.ttl_after_finished = seconds(*ttl);
  if (kube::bool_at(object, {"spec", "companion"}).value_or(false)) {
    spec.companions.push_back({model::CompanionKind::kSecret, spec.name + "-keys", 7});
  }
  if (kube::bool_at(object, {"spec", "gang"}).value_or(false)) {
    spec.gang.emplace();
    spec.gang->name = spec.name;
    spec.gang->min_member = worker.replicas;
  }
  spec.source = std::make_shared<const json::object>(object);
  return spec;
}

std::vector<dialect::Problem> validate_update(const json::object&, const json::object&) { return {}; }

std::optional<dialect::PodIdentity> identify(const json::object& pod) {
  std::string_view index = kube::label_of(pod, "toy-index");
  if (index.empty()) return std::nullopt;
  return dialect::PodIdentity{"worker", std::stoi(std::string(index))};
}

std::string job_name_of(const json::object& object) { return std::string(kube::label_of(object, "toy")); }

kube::NewMeta meta_of(const model::JobSpec& spec, std::string name) {
  kube::NewMeta meta;
  meta.name = std::move(name);
  meta.ns = spec.name_space;
  meta.labels = {{"toy", spec.name}};
  meta.owner = kube::owner_reference(kToys.api_version(), kToys.kind, spec.name, spec.uid);
  return meta;
}

json::object render_pod(const model::JobSpec& spec, const dialect::Settings&,
                        const dialect::PodContext& context) {
  kube::NewMeta meta = meta_of(spec, spec.pod_name(context.id));
  meta.labels.emplace_back("toy-index", std::to_string(context.id.index));
  if (context.attempt > 0) {
    meta.annotations.emplace_back(dialect::kAttemptAnnotation, std::to_string(context.attempt));
  }
  std::string_view group = kube::text_at(*spec.source, {"spec", "group"});
  if (!group.empty()) meta.annotations.emplace_back("group", group);
  json::object pod = kube::new_object(kube::kPods, meta);
  pod["spec"] = json::object{{"containers", json::array{json::object{{"name", "main"}}}}};
  return pod;
}

json::object render_service(const model::JobSpec& spec, model::ReplicaId id) {
  kube::NewMeta meta = meta_of(spec, spec.pod_name(id));
  meta.labels.emplace_back("toy-index", std::to_string(id.index));
  return kube::headless_service(meta, meta.labels, {});
}

json::object render_companion(const model::JobSpec& spec, const model::Companion& companion,
                              const dialect::KeyPair* keys) {
  EXPECT_NE(keys, nullptr);
  return kube::secret(meta_of(spec, companion.name), {{"key", keys->private_pem}});
}

json::object render_gang(const model::JobSpec& spec) {
  json::object gang = kube::new_object(kube::kVolcanoPodGroups, meta_of(spec, spec.gang->name));
  gang["spec"] = json::object{{"minMember", spec.gang->min_member}};
  return gang;
}

json::object render_tensorboard(const model::JobSpec& spec) {
  return kube::new_object(kube::kTensorBoards, meta_of(spec, spec.name));
}

model::JobState recall(const model::JobSpec& spec, const json::object& object) {
  const json::object* state = kube::object_at(object, {"status", dialect::kRecord});
  return model::decode_state(spec, state == nullptr ? json::object{} : *state);
}

json::object project(const model::Observation& seen, const model::JobState& state, const json::object&,
                     Time) {
  return {{"phase", model::to_string(state.phase)},
          {kube::jview(dialect::kRecord), model::encode_state(seen.spec, state)}};
}

std::optional<dialect::EventText> announce(const model::JobSpec&, const model::Note& note) {
  if (note.kind == model::NoteKind::kJobInitialized) return std::nullopt;
  bool warning = note.kind == model::NoteKind::kInvalidSpec || note.kind == model::NoteKind::kPodCreateFailed;
  return dialect::EventText{warning, std::string(model::to_string(note.kind)),
                            note.text.empty() ? note.object : note.text};
}

json::object project_invalid(const json::object&, const std::vector<dialect::Problem>&, Time) { return {}; }

}  // namespace

const dialect::Dialect& toy() {
  static constexpr dialect::Dialect kDialect{
      .name = "toy",
      .resource = kToys,
      .component = "toy-operator",
      .pod_selector = "toy",
      .main_container = "main",
      .recognises = recognises,
      .lower = lower,
      .validate_update = validate_update,
      .identify = identify,
      .job_name_of = job_name_of,
      .render_pod = render_pod,
      .render_service = render_service,
      .render_companion = render_companion,
      .render_gang = render_gang,
      .render_tensorboard = render_tensorboard,
      .recall = recall,
      .project = project,
      .announce = announce,
      .project_invalid = project_invalid,
  };
  return kDialect;
}

}  // namespace trainyard::control::testing
