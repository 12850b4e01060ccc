#include "control/reconciler.h"

#include "base/match.h"
#include "client/keep.h"
#include "control/observe.h"
#include "control/writer.h"
#include "dialect/shared/gang.h"
#include "engine/engine.h"
#include "kube/access.h"
#include "kube/same.h"

namespace trainyard::control {

Reconciler::Reconciler(client::Client& client, EventSink& events, View& view,
                       std::span<const dialect::Dialect> dialects, const dialect::Settings& settings,
                       MakeKeys make_keys)
    : client_(client),
      events_(events),
      view_(view),
      dialects_(dialects.begin(), dialects.end()),
      settings_(settings),
      make_keys_(std::move(make_keys)) {}

Pass Reconciler::run(const JobKey& key, Time now) {
  while (true) {
    Errand errand = begin(key, now);
    carry_out(errand);
    if (std::optional<Pass> pass = settle(errand)) return std::move(*pass);
  }
}

// ---- begin: look and plan --------------------------------------------------------

Errand Reconciler::begin(const JobKey& key, Time now) {
  Errand errand{key, now, nullptr, Errand::Nothing{}, {}};
  const DialectStreams& places = view_.dialects[key.dialect];
  const client::Packed* shown = view_.cache(places.jobs, key.ns).packed(key.ns, key.name);
  if (shown == nullptr) {
    errand.pass.job_gone = true;
    return errand;
  }
  errand.job = lowered_.known(key, shown->version());
  if (errand.job == nullptr) errand.job = shown->object();
  dialect::LowerResult lowered = lowered_.of(key, errand.job, dialects_[key.dialect], settings_);
  if (auto* problems = std::get_if<std::vector<dialect::Problem>>(&lowered)) {
    errand.what = begin_refusal(key, *errand.job, std::move(*problems));
    return errand;
  }
  // A pod that left the watch without a deletion mark may only have lost its labels or its
  // owner. To take it for deleted would start it a second time, so it is looked at first.
  std::vector<client::Object> vanished =
      view_.cache(places.pods, key.ns).vanished_of(kube::uid_of(*errand.job));
  if (!vanished.empty() && !kube::is_deleting(*errand.job)) {
    errand.what = Errand::LookFor{std::move(vanished)};
    return errand;
  }
  begin_work(errand, std::get<model::JobSpec>(std::move(lowered)));
  return errand;
}

Errand::Refuse Reconciler::begin_refusal(const JobKey& key, const json::object& job,
                                         std::vector<dialect::Problem> problems) {
  Errand::Refuse refusal;
  refusal.problems = std::move(problems);
  if (!is_orphaning(job)) {
    refusal.pods = view_.cache(view_.dialects[key.dialect].pods, key.ns).owned_by(kube::uid_of(job));
  }
  auto told = told_invalid_.find(key);
  Told current{std::string(kube::uid_of(job)), kube::generation_of(job)};
  refusal.untold = told == told_invalid_.end() || told->second != current;
  return refusal;
}

void Reconciler::begin_work(Errand& errand, model::JobSpec&& spec) {
  const JobKey& key = errand.key;
  const dialect::Dialect& dialect = dialects_[key.dialect];
  const json::object& job = *errand.job;
  auto& work = errand.what.emplace<Errand::Work>();
  model::JobState written = lowered_.recall(key, errand.job, spec, dialect);
  model::JobState state = written;
  put_off_.remind(key, kube::uid_of(job), state);
  work.seen = observe(view_, key, dialect, job, std::move(spec), std::move(state), seen_);
  work.plan = engine::plan(work.seen, errand.now);
  work.shown = shown_.holds(key, kube::version_of(job), work.seen, work.plan.state);
  put_off_write(key, job, written, work, errand.now);
  work.stored = stored_for(key, work.seen.spec, work.plan);
}

// Takes the write of the status out of the plan when it is for ourselves alone and may wait.
void Reconciler::put_off_write(const JobKey& key, const json::object& job, const model::JobState& written,
                               Errand::Work& work, Time now) {
  model::Plan& plan = work.plan;
  bool only_writes = plan.steps.size() == 1 && std::holds_alternative<model::WriteState>(plan.steps.front());
  if (!only_writes || !PutOff::may_wait(written, plan.state)) return;
  const dialect::Dialect& dialect = dialects_[key.dialect];
  bool is_told = std::any_of(plan.notes.begin(), plan.notes.end(), [&](const model::Note& note) {
    return dialect.announce(work.seen.spec, note).has_value();
  });
  const json::object* stored = kube::object_at(job, {"status"});
  if (is_told || stored == nullptr) return;
  if (!kube::same(dialect.project(work.seen, written, *stored, now), *stored)) return;
  std::optional<Time> due = put_off_.keep(key, kube::uid_of(job), written, plan.state, now);
  if (!due) return;
  plan.steps.clear();
  plan.wake = std::min(plan.wake.value_or(*due), *due);
}

Stored Reconciler::stored_for(const JobKey& key, const model::JobSpec& spec, const model::Plan& plan) const {
  Stored stored;
  auto keep = [&](int place, const std::string& name) {
    int stream = view_.in(place, key.ns);
    if (stream >= 0) stored[{stream, name}] = view_.caches[stream].find(key.ns, name);
  };
  for (const model::Step& step : plan.steps) {
    if (const auto* companion = std::get_if<model::UpsertCompanion>(&step)) {
      auto place = view_.companions.find(companion->kind);
      if (place != view_.companions.end()) keep(place->second, companion->name);
    }
    if (std::holds_alternative<model::UpsertGang>(step)) {
      auto place = view_.gangs.find(spec.gang->scheduler);
      if (place != view_.gangs.end()) keep(place->second, spec.gang->name);
    }
  }
  return stored;
}

// ---- carry out: talk to the server -----------------------------------------------

void Reconciler::carry_out(Errand& errand) const {
  std::visit(Match{
                 [](const Errand::Nothing&) {},
                 [&](const Errand::LookFor& lost) { look_for(errand, lost); },
                 [&](Errand::Refuse& refusal) { refuse(errand, refusal); },
                 [&](Errand::Work& work) { do_work(errand, work); },
             },
             errand.what);
}

ApplyContext Reconciler::context_for(const Errand& errand) const {
  return {client_,   events_,    make_keys_, view_, dialects_[errand.key.dialect],
          settings_, errand.key, errand.job};
}

void Reconciler::do_work(Errand& errand, Errand::Work& work) const {
  ApplyContext context = context_for(errand);
  context.stored = std::move(work.stored);
  context.shown = work.shown;
  Applied applied = apply(context, work.seen, work.plan, errand.now);
  Pass& pass = errand.pass;
  pass.wake = work.plan.wake;
  pass.error = std::move(applied.error);
  pass.expected = std::move(applied.expected);
  pass.writes = applied.writes;
  work.state_written = applied.state_written;
  if (applied.state_written) pass.transition = transition_between(work.seen.state, work.plan.state);
  work.state_current = applied.state_current;
  work.shown_in = applied.shown_in;
  if (applied.written != nullptr) work.written = client::keep_all_but_managers(applied.written);
}

void Reconciler::refuse(Errand& errand, Errand::Refuse& refusal) const {
  const dialect::Dialect& dialect = dialects_[errand.key.dialect];
  const json::object& job = *errand.job;
  ApplyContext context = context_for(errand);
  Writer writer(context, errand.now);
  Pass& pass = errand.pass;
  if (kube::is_deleting(job)) {
    pass.error = let_go_invalid(writer, errand, refusal.pods);
  } else {
    const json::object* stored = kube::object_at(job, {"status"});
    auto project = [&] { return dialect.project_invalid(job, refusal.problems, errand.now); };
    json::object status = project();
    bool shows = !status.empty();
    bool news = shows && (stored == nullptr || !kube::same(*stored, status));
    if (news) pass.error = writer.write_status(std::move(status), project);
    if (!pass.error && refusal.untold && (news || !shows)) {
      model::Note note;
      note.kind = model::NoteKind::kInvalidSpec;
      note.text = pass.invalid = dialect::join(refusal.problems);
      model::JobSpec nameless;
      nameless.name = errand.key.name;
      nameless.name_space = errand.key.ns;
      std::optional<dialect::EventText> text = dialect.announce(nameless, note);
      if (text) events_.tell(job, dialect.component, *text, errand.now);
    }
    refusal.told = !pass.error;
  }
  pass.expected = writer.take_expected();
  pass.writes = writer.writes();
}

// Whatever it says, nothing of it must keep an invalid job from going; but what it asked
// for when it was valid, pods first, is kept.
std::optional<Error> Reconciler::let_go_invalid(Writer& writer, const Errand& errand,
                                                const std::vector<client::Object>& pods) const {
  if (!kube::has_finalizer(*errand.job, dialect::kFinalizer)) return std::nullopt;
  int stream = view_.in(view_.dialects[errand.key.dialect].pods, errand.key.ns);
  for (const client::Object& pod : pods) {
    if (kube::is_deleting(*pod)) continue;
    Result<bool> removed =
        writer.remove(kube::kPods, stream, std::string(kube::name_of(*pod)), std::string(kube::uid_of(*pod)));
    if (!removed.ok()) return removed.error();
  }
  if (!pods.empty()) return std::nullopt;
  return writer.set_finalizer(false);
}

void Reconciler::look_for(Errand& errand, const Errand::LookFor& lost) const {
  ApplyContext context = context_for(errand);
  Writer writer(context, errand.now);
  int stream = view_.in(view_.dialects[errand.key.dialect].pods, errand.key.ns);
  bool recovered = false;
  for (const client::Object& last : lost.vanished) {
    Result<bool> found = writer.recover(kube::kPods, stream, *last);
    if (!found.ok()) errand.pass.error = found.error();
    if (!found.ok()) break;
    recovered = recovered || *found;
  }
  errand.pass.expected = writer.take_expected();
  errand.pass.writes = writer.writes();
  // The cache will show what was recovered; that wakes the key.
  if (recovered) errand.pass.wake = errand.now;
}

// ---- settle: remember ------------------------------------------------------------

std::optional<Pass> Reconciler::settle(Errand& errand) {
  if (!std::holds_alternative<Errand::Refuse>(errand.what)) told_invalid_.erase(errand.key);
  bool again = false;
  std::visit(Match{
                 [&](const Errand::Nothing&) {
                   lowered_.forget(errand.key);
                   seen_.forget(errand.key);
                   shown_.forget(errand.key);
                   put_off_.forget(errand.key);
                 },
                 [&](const Errand::LookFor& lost) {
                   if (errand.pass.error) return;
                   client::Cache& pods = view_.cache(view_.dialects[errand.key.dialect].pods, errand.key.ns);
                   pods.settle_vanished(kube::uid_of(*errand.job), lost.vanished);
                   // Nothing was there after all: the view is complete, go on.
                   again = !errand.pass.wake.has_value();
                 },
                 [&](const Errand::Refuse& refusal) {
                   Told& told = told_invalid_[errand.key];
                   if (refusal.told)
                     told = {std::string(kube::uid_of(*errand.job)), kube::generation_of(*errand.job)};
                 },
                 [&](Errand::Work& work) {
                   if (work.state_written) put_off_.forget(errand.key);
                   if (work.state_current) release_tombstones(errand.key, work.seen);
                   if (work.written != nullptr) {
                     lowered_.wrote(errand.key, errand.job, work.written, work.plan.state);
                   }
                   if (work.shown_in != 0) {
                     shown_.keep(errand.key, work.shown_in, std::move(work.seen), work.plan.state);
                   }
                   if (work.state_current) errand.pass.state = std::move(work.plan.state);
                 },
             },
             errand.what);
  if (again) return std::nullopt;
  return std::move(errand.pass);
}

void Reconciler::release_tombstones(const JobKey& key, const model::Observation& seen) {
  std::vector<std::string> uids;
  for (const model::PodSeen& pod : seen.pods) {
    if (pod.gone) uids.push_back(pod.uid);
  }
  if (!uids.empty()) view_.cache(view_.dialects[key.dialect].pods, key.ns).forget(seen.spec.uid, uids);
}

}  // namespace trainyard::control
