#include "control/reconciler.h"

#include "control/observe.h"
#include "control/writer.h"
#include "engine/engine.h"
#include "kube/access.h"

namespace trainyard::control {

Reconciler::Reconciler(client::Client& client, View& view, std::span<const dialect::Dialect> dialects,
                       const dialect::Settings& settings, MakeKeys make_keys)
    : client_(client),
      view_(view),
      dialects_(dialects.begin(), dialects.end()),
      settings_(settings),
      make_keys_(std::move(make_keys)) {}

Pass Reconciler::run(const JobKey& key, Time now) {
  client::Object job = view_.caches[view_.dialects[key.dialect].jobs].find(key.ns, key.name);
  if (job == nullptr) {
    told_invalid_.erase(key);
    Pass pass;
    pass.job_gone = true;
    return pass;
  }
  dialect::LowerResult lowered = dialects_[key.dialect].lower(*job, settings_);
  if (auto* problems = std::get_if<std::vector<dialect::Problem>>(&lowered)) {
    return run_invalid(key, job, *problems, now);
  }
  told_invalid_.erase(key);
  return run_valid(key, job, std::get<model::JobSpec>(std::move(lowered)), now);
}

ApplyContext Reconciler::context_for(const JobKey& key, const client::Object& job) {
  return {client_, recorder_, make_keys_, view_, dialects_[key.dialect], settings_, key, job};
}

Pass Reconciler::run_valid(const JobKey& key, const client::Object& job, model::JobSpec spec, Time now) {
  const dialect::Dialect& dialect = dialects_[key.dialect];
  if (std::optional<Pass> pass = recover_vanished(key, job, now)) return std::move(*pass);
  model::JobState state = dialect.recall(spec, *job);
  model::Observation seen = observe(view_, key, dialect, *job, std::move(spec), std::move(state));
  model::Plan plan = engine::plan(seen, now);
  Applied applied = apply(context_for(key, job), seen, plan, now);
  Pass pass;
  pass.wake = plan.wake;
  pass.error = std::move(applied.error);
  pass.expected = std::move(applied.expected);
  pass.writes = applied.writes;
  if (applied.state_written) pass.transition = transition_between(seen.state, plan.state);
  if (applied.state_current) release_tombstones(key, seen);
  return pass;
}

Pass Reconciler::run_invalid(const JobKey& key, const client::Object& job,
                             const std::vector<dialect::Problem>& problems, Time now) {
  const dialect::Dialect& dialect = dialects_[key.dialect];
  ApplyContext context = context_for(key, job);
  Writer writer(context, now);
  Pass pass;
  if (kube::is_deleting(*job)) {
    pass.error = let_go_invalid(writer, key, *job);
  } else {
    const json::object* stored = kube::object_at(*job, {"status"});
    json::object status = dialect.project_invalid(*job, problems, now);
    bool shows = !status.empty();
    bool news = shows && (stored == nullptr || *stored != status);
    if (news) pass.error = writer.write_status(std::move(status));
    Told& told = told_invalid_[key];
    Told current{std::string(kube::uid_of(*job)), kube::generation_of(*job)};
    if (!pass.error && told != current && (news || !shows)) {
      model::Note note;
      note.kind = model::NoteKind::kInvalidSpec;
      note.text = dialect::join(problems);
      model::JobSpec nameless;
      nameless.name = key.name;
      nameless.name_space = key.ns;
      std::optional<dialect::EventText> text = dialect.announce(nameless, note);
      if (text) recorder_.tell(client_, *job, dialect.component, *text, now);
    }
    if (!pass.error) told = std::move(current);
  }
  pass.expected = writer.take_expected();
  pass.writes = writer.writes();
  return pass;
}

// Whatever it says, nothing of it must keep an invalid job from going; but what it asked
// for when it was valid, pods first, is kept.
std::optional<Error> Reconciler::let_go_invalid(Writer& writer, const JobKey& key, const json::object& job) {
  if (!kube::has_finalizer(job, dialect::kFinalizer)) return std::nullopt;
  int stream = view_.dialects[key.dialect].pods;
  std::vector<client::Object> pods = view_.caches[stream].owned_by(kube::uid_of(job));
  for (const client::Object& pod : pods) {
    if (kube::is_deleting(*pod)) continue;
    Result<bool> removed =
        writer.remove(kube::kPods, stream, std::string(kube::name_of(*pod)), std::string(kube::uid_of(*pod)));
    if (!removed.ok()) return removed.error();
  }
  if (!pods.empty()) return std::nullopt;
  return writer.set_finalizer(false);
}

// A pod that left the watch without a deletion mark may only have lost its labels or its
// owner. To take it for deleted would start it a second time, so it is looked at first.
// nullopt: the view is complete, go on.
std::optional<Pass> Reconciler::recover_vanished(const JobKey& key, const client::Object& job, Time now) {
  int stream = view_.dialects[key.dialect].pods;
  std::vector<client::Object> vanished = view_.caches[stream].vanished_of(kube::uid_of(*job));
  if (vanished.empty() || kube::is_deleting(*job)) return std::nullopt;
  ApplyContext context = context_for(key, job);
  Writer writer(context, now);
  Pass pass;
  bool recovered = false;
  for (const client::Object& last : vanished) {
    Result<bool> found = writer.recover(kube::kPods, stream, *last);
    if (!found.ok()) pass.error = found.error();
    if (!found.ok()) break;
    recovered = recovered || *found;
  }
  pass.expected = writer.take_expected();
  pass.writes = writer.writes();
  if (!pass.error) view_.caches[stream].settle_vanished(kube::uid_of(*job));
  if (!pass.error && !recovered) return std::nullopt;
  // The cache will show what was recovered; that wakes the key.
  if (recovered) pass.wake = now;
  return pass;
}

void Reconciler::release_tombstones(const JobKey& key, const model::Observation& seen) {
  std::vector<std::string> uids;
  for (const model::PodSeen& pod : seen.pods) {
    if (pod.gone) uids.push_back(pod.uid);
  }
  if (!uids.empty()) view_.caches[view_.dialects[key.dialect].pods].forget(seen.spec.uid, uids);
}

}  // namespace trainyard::control
