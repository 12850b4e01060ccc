#include "world.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "base/match.h"
#include "dialect/shared/gang.h"
#include "dialect/shared/see_pod.h"
#include "engine/engine.h"
#include "kube/access.h"
#include "kube/objects.h"
#include "kube/patch.h"
#include "kube/pod.h"

namespace trainyard::recorded {
namespace {

constexpr int kPassesMax = 200;
constexpr Time kStart{1'700'000'000'000};

model::ReplicaId replica_of(const model::JobSpec& spec, const dialect::Dialect& dialect,
                            const json::object& object) {
  std::optional<dialect::PodIdentity> identity = dialect.identify(object);
  if (!identity) return {-1, 0};
  return {spec.role_named(identity->role), identity->index};
}

json::object container_state(const PodFate& fate, bool is_main, Time now) {
  json::object state;
  bool ended = fate.phase == "Succeeded" || fate.phase == "Failed" || (is_main && fate.main_ended);
  if (ended) {
    int code = is_main ? fate.exit_code.value_or(0) : 0;
    state["terminated"] = json::object{{"exitCode", code},
                                       {"reason", code == 0 ? "Completed" : "Error"},
                                       {"finishedAt", format_rfc3339(now)}};
  } else {
    state["running"] = json::object{{"startedAt", format_rfc3339(now)}};
  }
  return state;
}

json::object status_for(const json::object& pod, const PodFate& fate, std::string_view main, Time now) {
  json::object status;
  status["phase"] = fate.phase;
  if (!fate.reason.empty()) {
    status["reason"] = fate.reason;
    status["message"] = "the node was low on resource: memory";
    return status;
  }
  if (fate.phase == "Pending") return status;
  json::array statuses;
  bool first = true;
  for (const json::value& container : *kube::array_at(pod, {"spec", "containers"})) {
    std::string_view name = kube::text_at(container.get_object(), {"name"});
    bool is_main = main.empty() ? first : name == main;
    first = false;
    statuses.push_back(json::object{{"name", kube::jview(name)},
                                    {"restartCount", is_main ? fate.restarts : 0},
                                    {"ready", fate.phase == "Running"},
                                    {"state", container_state(fate, is_main, now)}});
  }
  status["containerStatuses"] = std::move(statuses);
  bool ready = fate.phase == "Running" && !fate.main_ended;
  status["conditions"] = json::array{json::object{{"type", "Ready"}, {"status", ready ? "True" : "False"}}};
  return status;
}

std::vector<dialect::Problem> problems_of(const dialect::LowerResult& result) {
  const auto* problems = std::get_if<std::vector<dialect::Problem>>(&result);
  return problems ? *problems : std::vector<dialect::Problem>{};
}

bool is_owned_by(const json::object& object, std::string_view uid) {
  return kube::controller_uid_of(object) == uid;
}

}  // namespace

// What one pass works on.
struct World::Pass {
  model::Observation seen;
  model::Plan plan;
  bool changed = false;
  bool stopped = false;  // a write was refused; the rest waits
};

World::World(const dialect::Dialect& dialect, dialect::Settings settings, std::string name_space)
    : dialect_(dialect), settings_(std::move(settings)), name_space_(std::move(name_space)), now_(kStart) {}

std::string World::next_uid() { return fmt::format("uid-{}", ++uids_); }

const json::object& World::status() const {
  static const json::object kNothing;
  const json::object* found = job_ ? kube::object_at(*job_, {"status"}) : nullptr;
  return found ? *found : kNothing;
}

int World::pod_incarnation(const std::string& name) const {
  auto at = pods_made_.find(name);
  return at == pods_made_.end() ? 0 : at->second;
}

int World::service_incarnation(const std::string& name) const {
  auto at = services_made_.find(name);
  return at == services_made_.end() ? 0 : at->second;
}

std::vector<dialect::EventText> World::take_events() { return std::exchange(events_, {}); }
std::vector<json::object> World::take_history() { return std::exchange(history_, {}); }

// ---- what people do -----------------------------------------------------------------

std::vector<dialect::Problem> World::create(json::object manifest) {
  json::object& meta = kube::ensure_object(manifest, {"metadata"});
  meta["namespace"] = name_space_;
  meta["uid"] = next_uid();
  meta["generation"] = 1;
  meta["creationTimestamp"] = format_rfc3339(now_);
  std::vector<dialect::Problem> problems = problems_of(dialect_.lower(manifest, settings_));
  if (!problems.empty()) return problems;
  job_ = std::move(manifest);
  settle();
  return {};
}

std::vector<dialect::Problem> World::patch(const json::value& patch) {
  CHECK(job_.has_value());
  Result<json::value> patched = kube::apply_merge_patch(*job_, patch);
  CHECK(patched.ok());
  json::object after = patched->as_object();
  std::vector<dialect::Problem> problems = dialect_.validate_update(*job_, after);
  for (dialect::Problem& problem : problems_of(dialect_.lower(after, settings_))) problems.push_back(problem);
  if (!problems.empty()) return problems;
  if (after["spec"] != (*job_)["spec"]) {
    kube::ensure_object(after, {"metadata"})["generation"] = kube::generation_of(*job_) + 1;
  }
  job_ = std::move(after);
  settle();
  return {};
}

void World::remove_children(const std::string& uid) {
  auto gone = [&](const auto& entry) { return is_owned_by(entry.second, uid); };
  std::erase_if(pods_, gone);
  std::erase_if(services_, gone);
  std::erase_if(companions_, gone);
  if (gang_ && is_owned_by(*gang_, uid)) gang_.reset();
}

void World::delete_job(bool orphan) {
  CHECK(job_.has_value());
  std::string uid(kube::uid_of(*job_));
  job_.reset();
  wake_.reset();
  if (!orphan) return remove_children(uid);
  for (auto* children : {&pods_, &services_}) {
    for (auto& [name, object] : *children) kube::ensure_object(object, {"metadata"}).erase("ownerReferences");
  }
}

void World::delete_pod(const std::string& name) {
  auto at = pods_.find(name);
  if (at == pods_.end()) return;
  if (bound_.contains(name)) {
    kube::ensure_object(at->second, {"metadata"})["deletionTimestamp"] = format_rfc3339(now_);
  } else {
    tombstones_.push_back(at->second);
    pods_.erase(at);
  }
  settle();
}

void World::remove_pod(const std::string& name) {
  bound_.erase(name);
  delete_pod(name);
}

void World::delete_service(const std::string& name) {
  services_.erase(name);
  settle();
}

void World::delete_gang() {
  gang_.reset();
  settle();
}

void World::add_command(json::object command) {
  json::object& meta = kube::ensure_object(command, {"metadata"});
  meta["uid"] = next_uid();
  commands_.push_back(std::move(command));
  settle();
}

void World::add_foreign_pod(json::object pod) {
  std::string name(kube::name_of(pod));
  pod["status"] = json::object{{"phase", "Pending"}};
  kube::ensure_object(pod, {"metadata"})["uid"] = next_uid();
  pods_[name] = std::move(pod);
}

void World::add_companion(model::CompanionKind kind, json::object object) {
  kube::ensure_object(object, {"metadata"})["uid"] = next_uid();
  std::string name(kube::name_of(object));
  companions_[{kind, name}] = std::move(object);
  settle();
}

// ---- what machines do ---------------------------------------------------------------

void World::set_pod(const std::string& name, const PodFate& fate) {
  auto at = pods_.find(name);
  if (at == pods_.end()) return;
  at->second["status"] = status_for(at->second, fate, dialect_.main_container, now_);
}

void World::set_gang_phase(std::string_view phase) {
  if (!gang_) return;
  (*gang_)["status"] = json::object{{"phase", kube::jview(phase)}};
}

void World::advance(Duration by) {
  Time target = now_ + by;
  while (wake_ && *wake_ <= target) {
    now_ = std::max(now_, *wake_);
    wake_.reset();
    settle();
  }
  now_ = target;
  settle();
}

void World::settle() {
  for (int n = 0; n < kPassesMax; ++n) {
    if (!pass()) return;
  }
  CHECK(!"the world never comes to rest");
}

// ---- one pass -----------------------------------------------------------------------

model::Observation World::observe(model::JobSpec spec) const {
  model::Observation seen;
  auto see = [&](const json::object& pod, bool gone) {
    if (!is_owned_by(pod, spec.uid)) return;
    seen.pods.push_back(
        dialect::see_pod(kube::decode_pod(pod), replica_of(spec, dialect_, pod), dialect_.main_container));
    seen.pods.back().gone = gone;
  };
  for (const auto& [name, pod] : pods_) see(pod, false);
  for (const json::object& pod : tombstones_) see(pod, true);
  std::sort(seen.pods.begin(), seen.pods.end(), [](const model::PodSeen& a, const model::PodSeen& b) {
    return std::tie(a.id, a.name, b.gone, a.uid) < std::tie(b.id, b.name, a.gone, b.uid);
  });
  for (const auto& [name, service] : services_) {
    if (!is_owned_by(service, spec.uid)) continue;
    seen.services.push_back({replica_of(spec, dialect_, service), name, std::string(kube::uid_of(service))});
  }
  std::sort(seen.services.begin(), seen.services.end(),
            [](const model::ServiceSeen& a, const model::ServiceSeen& b) {
              return std::tie(a.id, a.name) < std::tie(b.id, b.name);
            });
  for (const model::Companion& wanted : spec.companions) {
    auto at = companions_.find({wanted.kind, wanted.name});
    if (at == companions_.end()) continue;
    std::string digest(kube::annotation_of(at->second, dialect::kDigestAnnotation));
    seen.companions.push_back({wanted.kind, wanted.name, std::string(kube::uid_of(at->second)),
                               digest.empty() ? wanted.digest : std::stoull(digest),
                               is_owned_by(at->second, spec.uid)});
  }
  if (gang_ && spec.gang) {
    seen.gang = dialect::decode_gang(spec.gang->scheduler, *gang_);
    seen.gang->owned = is_owned_by(*gang_, spec.uid);
  }
  for (const json::object& command : commands_) {
    if (dialect_.see_command == nullptr) continue;
    if (auto found = dialect_.see_command(command)) seen.commands.push_back(found->seen);
  }
  seen.state = dialect_.recall(spec, *job_);
  seen.spec = std::move(spec);
  return seen;
}

bool World::pass() {
  if (!job_) return false;
  dialect::LowerResult lowered = dialect_.lower(*job_, settings_);
  CHECK(std::holds_alternative<model::JobSpec>(lowered));
  Pass pass;
  pass.seen = observe(std::get<model::JobSpec>(std::move(lowered)));
  pass.plan = engine::plan(pass.seen, now_);
  tombstones_.clear();
  wake_ = pass.plan.wake;
  waits_ = pass.plan.waits;
  for (const model::Step& step : pass.plan.steps) {
    std::visit([&](const auto& one) { carry_out(pass, one); }, step);
    if (pass.stopped || !job_) break;
  }
  return pass.changed && !pass.stopped;
}

void World::tell(const model::JobSpec& spec, const model::Note& note) {
  if (auto event = dialect_.announce(spec, note)) events_.push_back(*event);
}

void World::told(Pass& pass, model::NoteKind kind, const std::string& object) {
  pass.changed = true;
  tell(pass.seen.spec, {.kind = kind, .object = object});
}

void World::carry_out(Pass& pass, const model::AddFinalizer&) {
  kube::ensure_array(*job_, {"metadata", "finalizers"})
      .push_back(json::string(kube::jview(dialect::kFinalizer)));
  pass.changed = true;
}

void World::carry_out(Pass& pass, const model::WriteState&) {
  json::object before = status();
  json::object after = dialect_.project(pass.seen, pass.plan.state, before, now_);
  if (after == before) return;
  (*job_)["status"] = after;
  history_.push_back(std::move(after));
  pass.changed = true;
  for (const model::Note& note : pass.plan.notes) tell(pass.seen.spec, note);
}

void World::carry_out(Pass& pass, const model::DeletePod& gone) {
  auto at = pods_.find(gone.name);
  if (at == pods_.end() || kube::uid_of(at->second) != gone.uid || kube::is_deleting(at->second)) return;
  if (bound_.contains(gone.name)) {
    kube::ensure_object(at->second, {"metadata"})["deletionTimestamp"] = format_rfc3339(now_);
  } else {
    pods_.erase(at);
  }
  told(pass, model::NoteKind::kPodDeleted, gone.name);
}

void World::carry_out(Pass& pass, const model::DeleteService& gone) {
  if (services_.erase(gone.name) > 0) told(pass, model::NoteKind::kServiceDeleted, gone.name);
}

void World::carry_out(Pass& pass, const model::DeleteCompanion& gone) {
  pass.changed |= companions_.erase({gone.kind, gone.name}) > 0;
}

void World::carry_out(Pass& pass, const model::DeleteGang& gone) {
  gang_.reset();
  told(pass, model::NoteKind::kGangDeleted, gone.name);
}

void World::carry_out(Pass& pass, const model::DeleteCommand& gone) {
  auto is_it = [&](const json::object& one) { return kube::uid_of(one) == gone.uid; };
  pass.changed |= std::erase_if(commands_, is_it) > 0;
}

void World::carry_out(Pass& pass, const model::UpsertGang& step) {
  model::JobSpec as_wanted = pass.seen.spec;
  as_wanted.gang = step.gang;
  json::object fresh = dialect_.render_gang(as_wanted);
  kube::ensure_object(fresh, {"metadata"})["uid"] = gang_ ? std::string(kube::uid_of(*gang_)) : next_uid();
  if (gang_ && gang_->contains("status")) fresh["status"] = gang_->at("status");
  bool made = !gang_;
  gang_ = std::move(fresh);
  pass.changed = true;
  if (made) told(pass, model::NoteKind::kGangCreated, pass.seen.spec.gang->name);
}

void World::carry_out(Pass& pass, const model::UpsertCompanion& wanted) {
  for (const model::Companion& companion : pass.seen.spec.companions) {
    if (companion.kind != wanted.kind || companion.name != wanted.name) continue;
    dialect::KeyPair keys{"private", "ssh-rsa public"};
    json::object fresh = dialect_.render_companion(pass.seen.spec, companion, &keys);
    kube::ensure_object(fresh, {"metadata"})["uid"] = next_uid();
    companions_[{wanted.kind, wanted.name}] = std::move(fresh);
    pass.changed = true;
  }
}

void World::carry_out(Pass&, const model::UpsertTensorBoard&) { CHECK(!"no recording has a TensorBoard"); }

void World::carry_out(Pass& pass, const model::CreateService& wanted) {
  json::object service = dialect_.render_service(pass.seen.spec, wanted.id);
  std::string name(kube::name_of(service));
  auto there = services_.find(name);
  if (there != services_.end()) {  // left behind by a job of this name: taken over
    kube::ensure_object(there->second, {"metadata"})["ownerReferences"] =
        service["metadata"].at("ownerReferences");
    pass.changed = true;
    return;
  }
  kube::ensure_object(service, {"metadata"})["uid"] = next_uid();
  services_[name] = std::move(service);
  ++services_made_[name];
  told(pass, model::NoteKind::kServiceCreated, name);
}

void World::carry_out(Pass& pass, const model::CreatePod& step) {
  const model::JobSpec& spec = pass.seen.spec;
  json::object pod = dialect_.render_pod(spec, settings_, {step.id, step.attempt, &pass.plan.state});
  std::string name(kube::name_of(pod));
  auto there = pods_.find(name);
  if (there != pods_.end()) {
    bool stripped = kube::controller_uid_of(there->second).empty() && dialect_.identify(there->second) &&
                    dialect_.job_name_of(there->second) == spec.name;
    if (stripped) {
      kube::ensure_object(there->second, {"metadata"})["ownerReferences"] =
          pod["metadata"].at("ownerReferences");
      pass.changed = true;
      return;
    }
    pass.stopped = true;
    tell(spec, {.kind = model::NoteKind::kPodCreateFailed,
                .replica = step.id,
                .object = name,
                .text = fmt::format("pods \"{}\" already exists", name)});
    return;
  }
  json::object& meta = kube::ensure_object(pod, {"metadata"});
  meta["uid"] = next_uid();
  meta["creationTimestamp"] = format_rfc3339(now_);
  pod["status"] = json::object{{"phase", "Pending"}};
  pods_[name] = std::move(pod);
  ++pods_made_[name];
  pass.changed = true;
  tell(spec,
       {.kind = model::NoteKind::kPodCreated, .replica = step.id, .object = name, .attempt = step.attempt});
}

void World::carry_out(Pass& pass, const model::DropFinalizer&) {
  kube::ensure_object(*job_, {"metadata"}).erase("finalizers");
  pass.changed = true;
}

void World::carry_out(Pass& pass, const model::DeleteJob&) {
  tell(pass.seen.spec, {.kind = model::NoteKind::kJobExpired, .object = pass.seen.spec.name});
  delete_job(/*orphan=*/false);
}

}  // namespace trainyard::recorded
