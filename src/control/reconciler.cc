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
    // Whatever it says, nothing of it must keep it from going.
    pass.error = writer.set_finalizer(false);
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

void Reconciler::release_tombstones(const JobKey& key, const model::Observation& seen) {
  std::vector<std::string> uids;
  for (const model::PodSeen& pod : seen.pods) {
    if (pod.gone) uids.push_back(pod.uid);
  }
  if (!uids.empty()) view_.caches[view_.dialects[key.dialect].pods].forget(seen.spec.uid, uids);
}

}  // namespace trainyard::control
