#include "control/apply.h"

#include "base/check.h"
#include "control/observe.h"
#include "control/retry.h"
#include "control/writer.h"
#include "dialect/shared/gang.h"
#include "kube/access.h"
#include "kube/same.h"

namespace trainyard::control {

using model::Note;
using model::NoteKind;

namespace {

constexpr size_t kFirstRound = 16;
constexpr size_t kRoundMax = 64;

// One pass's worth of writes. A step answers with the error that stops the pass, if any.
class Applier {
 public:
  Applier(const ApplyContext& context, const model::Observation& seen, const model::Plan& plan, Time now)
      : c_(context), seen_(seen), plan_(plan), now_(now), writer_(context, now) {}

  Applied run() {
    Applied applied;
    state_current_ = plan_.state == seen_.state;
    for (size_t next = 0; next < plan_.steps.size() && !applied.error;) {
      size_t alike = replicas_from(next);
      if (alike > 0) {
        applied.error = do_together(next, next + alike);
        next += alike;
      } else {
        applied.error = std::visit([&](const auto& each) { return take(each); }, plan_.steps[next]);
        ++next;
      }
    }
    applied.expected = writer_.take_expected();
    applied.writes = writer_.writes();
    applied.state_written = state_written_;
    applied.state_current = state_current_;
    applied.shown_in = shown_in_;
    applied.written = writer_.answered();
    return applied;
  }

 private:
  using Failure = std::optional<Error>;

  void tell(const Note& note) {
    std::optional<dialect::EventText> text = c_.dialect.announce(seen_.spec, note);
    if (text) c_.events.tell(*c_.job, c_.dialect.component, *text, now_);
  }
  // Tells the user of a failure that will not pass by itself.
  Failure failed(const Error& error, Note note) {
    Retry retry = retry_for(error.kind);
    note.text = error.message;
    if (retry == Retry::kTell) tell(note);
    return error;
  }
  static Note about(NoteKind kind, std::string object) {
    Note note;
    note.kind = kind;
    note.object = std::move(object);
    return note;
  }

  Failure take(const model::AddFinalizer&) { return writer_.set_finalizer(true); }
  Failure take(const model::DropFinalizer&) { return writer_.set_finalizer(false); }

  Failure take(const model::WriteState&) {
    if (c_.shown) {
      state_current_ = true;
      return std::nullopt;
    }
    const json::object* stored = kube::object_at(*writer_.job(), {"status"});
    const json::object none;
    const json::object& previous = stored == nullptr ? none : *stored;
    auto project = [&] { return c_.dialect.project(seen_, plan_.state, previous, now_); };
    json::object status = project();
    const bool is_same = kube::same(status, previous);
    if (is_same) shown_in_ = kube::version_of(*writer_.job());
    if (is_same || !is_news(plan_.state, status, previous)) {
      state_current_ = true;
      return std::nullopt;
    }
    if (Failure failure = writer_.write_status(std::move(status), project)) return failure;
    state_written_ = true;
    state_current_ = true;
    shown_in_ = kube::version_of(*writer_.job());
    for (const Note& note : plan_.notes) tell(note);
    return std::nullopt;
  }

  Failure remove(const kube::Resource& resource, int stream, const std::string& name, const std::string& uid,
                 std::optional<NoteKind> done, std::optional<NoteKind> not_done) {
    Result<bool> removed = writer_.remove(resource, stream, name, uid);
    if (!removed.ok()) {
      if (!not_done) return removed.error();
      return failed(removed.error(), about(*not_done, name));
    }
    if (*removed && done) tell(about(*done, name));
    return std::nullopt;
  }

  Failure take(const model::DeleteCompanion& step) {
    return remove(resource_of(step.kind), companion_stream(step.kind), step.name, step.uid, std::nullopt,
                  NoteKind::kCompanionFailed);
  }
  Failure take(const model::DeleteGang& step) {
    return remove(gang_resource(), gang_stream(), step.name, step.uid, NoteKind::kGangDeleted, std::nullopt);
  }
  Failure take(const model::DeleteCommand& step) {
    return remove(kube::kVolcanoCommands, shown_in(c_.view.commands), step.name, step.uid, std::nullopt,
                  std::nullopt);
  }

  Failure take(const model::UpsertGang& step) {
    CHECK(seen_.spec.gang.has_value());
    const std::string& name = seen_.spec.gang->name;
    if (gang_stream() < 0) return failed(not_followed(), about(NoteKind::kGangFailed, name));
    model::JobSpec as_wanted = seen_.spec;
    as_wanted.gang = step.gang;
    json::object body = c_.dialect.render_gang(as_wanted);
    Result<bool> written = step.uid.empty() ? writer_.create(gang_resource(), gang_stream(), std::move(body))
                                            : writer_.update_gang(gang_resource(), gang_stream(), body);
    if (!written.ok()) return failed(gang_error(written.error()), about(NoteKind::kGangFailed, name));
    if (*written && step.uid.empty()) tell(about(NoteKind::kGangCreated, name));
    return std::nullopt;
  }

  Failure take(const model::UpsertCompanion& step) {
    const model::Companion* companion = find_companion(step);
    CHECK(companion != nullptr);
    std::optional<dialect::KeyPair> keys;
    if (step.kind == model::CompanionKind::kSecret) keys = c_.make_keys();
    json::object body = c_.dialect.render_companion(seen_.spec, *companion, keys ? &*keys : nullptr);
    mark_companion(body, companion->digest);
    kube::Resource resource = resource_of(step.kind);
    int stream = companion_stream(step.kind);
    Result<bool> written = step.uid.empty() ? writer_.create(resource, stream, std::move(body))
                                            : writer_.update_companion(resource, stream, body);
    if (!written.ok()) return failed(written.error(), about(NoteKind::kCompanionFailed, step.name));
    return std::nullopt;
  }

  Failure take(const model::UpsertTensorBoard&) {
    CHECK(seen_.spec.tensorboard.has_value());
    Result<bool> written = writer_.create(kube::kTensorBoards, shown_in(c_.view.tensorboards),
                                          c_.dialect.render_tensorboard(seen_.spec));
    if (!written.ok()) return written.error();
    if (*written) tell(about(NoteKind::kTensorBoardCreated, *seen_.spec.tensorboard));
    return std::nullopt;
  }

  // ---- replicas, several at once -------------------------------------------------

  // How many steps from here on make or remove one thing of replicas, their services or their
  // pods; 0: this one does not.
  size_t replicas_from(size_t first) const {
    size_t kind = plan_.steps[first].index();
    bool together = is_at<model::CreateService>(first) || is_at<model::CreatePod>(first) ||
                    is_at<model::DeleteService>(first) || is_at<model::DeletePod>(first);
    size_t end = first;
    while (together && end < plan_.steps.size() && plan_.steps[end].index() == kind) ++end;
    return end - first;
  }
  template <typename Step>
  bool is_at(size_t step) const {
    return std::holds_alternative<Step>(plan_.steps[step]);
  }

  // A few at first: where one is refused, a quota is spent, the others will be too.
  Failure do_together(size_t first, size_t end) {
    size_t round = kFirstRound;
    for (size_t next = first; next < end; next += round, round = std::min(round * 2, kRoundMax)) {
      size_t last = std::min(end, next + round);
      Failure failure;
      if (is_at<model::DeletePod>(next)) {
        failure = remove_round<model::DeletePod>(next, last, kube::kPods, streams().pods,
                                                 NoteKind::kPodDeleted, NoteKind::kPodDeleteFailed);
      } else if (is_at<model::DeleteService>(next)) {
        failure =
            remove_round<model::DeleteService>(next, last, kube::kServices, streams().services,
                                               NoteKind::kServiceDeleted, NoteKind::kServiceDeleteFailed);
      } else {
        failure = make_round(next, last);
      }
      if (failure) return failure;
    }
    return std::nullopt;
  }
  template <typename Step>
  Failure remove_round(size_t first, size_t end, const kube::Resource& resource, int stream, NoteKind done,
                       NoteKind not_done) {
    std::vector<Named> objects;
    for (size_t i = first; i < end; ++i) {
      const auto& step = std::get<Step>(plan_.steps[i]);
      objects.push_back({step.name, step.uid});
    }
    std::vector<Result<bool>> removed = writer_.remove_all(resource, stream, objects);
    Failure failure;
    for (size_t i = 0; i < removed.size(); ++i) {  // one for all when none was sent
      if (removed[i].ok() && *removed[i]) tell(about(done, objects[i].name));
      if (removed[i].ok() || failure) continue;
      failure = failed(removed[i].error(), about(not_done, objects[i].name));
    }
    return failure;
  }
  Failure make_round(size_t first, size_t end) {
    bool pods = std::holds_alternative<model::CreatePod>(plan_.steps[first]);
    std::vector<json::object> bodies;
    std::vector<Note> notes;
    for (size_t i = first; i < end; ++i) {
      bodies.push_back(render(plan_.steps[i]));
      notes.push_back(note_of(plan_.steps[i]));
      notes.back().object = kube::name_of(bodies.back());
    }
    auto once_more = [&](size_t i) { return render(plan_.steps[first + i]); };
    std::vector<Result<bool>> made =
        pods ? writer_.create_all(kube::kPods, streams().pods, std::move(bodies), once_more)
             : writer_.create_all(kube::kServices, streams().services, std::move(bodies), once_more);
    Failure failure;
    for (size_t i = 0; i < made.size(); ++i) {  // one for all when none was sent
      if (made[i].ok() && *made[i]) tell(notes[i]);
      if (made[i].ok() || failure) continue;
      notes[i].kind = pods ? NoteKind::kPodCreateFailed : NoteKind::kServiceCreateFailed;
      failure = failed(made[i].error(), notes[i]);
    }
    return failure;
  }
  // What a step creates.
  json::object render(const model::Step& step) const {
    if (const auto* service = std::get_if<model::CreateService>(&step)) {
      return c_.dialect.render_service(seen_.spec, service->id);
    }
    const auto& pod = std::get<model::CreatePod>(step);
    return c_.dialect.render_pod(seen_.spec, c_.settings, {pod.id, pod.attempt, &plan_.state});
  }
  // For when it is done.
  static Note note_of(const model::Step& step) {
    Note note;
    if (const auto* service = std::get_if<model::CreateService>(&step)) {
      note.kind = NoteKind::kServiceCreated;
      note.replica = service->id;
      return note;
    }
    const auto& pod = std::get<model::CreatePod>(step);
    note.kind = NoteKind::kPodCreated;
    note.replica = pod.id;
    note.attempt = pod.attempt;
    return note;
  }
  // Taken by do_together.
  Failure take(const model::CreateService&) { return CHECK(false), std::nullopt; }
  Failure take(const model::CreatePod&) { return CHECK(false), std::nullopt; }
  Failure take(const model::DeleteService&) { return CHECK(false), std::nullopt; }
  Failure take(const model::DeletePod&) { return CHECK(false), std::nullopt; }

  Failure take(const model::DeleteJob&) {
    if (Failure failure = writer_.remove_job())
      return failed(*failure, about(NoteKind::kJobExpireFailed, ""));
    tell(about(NoteKind::kJobExpired, seen_.spec.name));
    return std::nullopt;
  }

  // Where this job's objects are shown.
  DialectStreams streams() const {
    const DialectStreams& places = c_.view.dialects[c_.key.dialect];
    return {shown_in(places.jobs), shown_in(places.pods), shown_in(places.services)};
  }
  int shown_in(int place) const { return c_.view.in(place, c_.key.ns); }
  int companion_stream(model::CompanionKind kind) const {
    auto found = c_.view.companions.find(kind);
    return found == c_.view.companions.end() ? -1 : shown_in(found->second);
  }
  int gang_stream() const {
    auto found = c_.view.gangs.find(seen_.spec.gang->scheduler);
    return found == c_.view.gangs.end() ? -1 : shown_in(found->second);
  }
  // In words that a person can act on when the kind itself is missing.
  Error gang_error(Error error) const {
    auto says = [&](std::string_view words) { return error.message.find(words) != std::string::npos; };
    if (!says("could not find the requested resource") && !says("page not found")) return error;
    error.message = fmt::format(
        "this cluster has no PodGroups of {}: install the CRDs of the scheduler that is to place the gang, "
        "or "
        "choose another scheduler",
        gang_resource().group);
    return error;
  }
  // What a group says, that it is let in above all, would never be seen.
  Error not_followed() const {
    return {ErrorKind::kInvalid,
            fmt::format("the operator does not follow PodGroups of {}: it needs --gang-scheduler-name, with "
                        "'asked' for the jobs alone that ask for a gang",
                        gang_resource().group)};
  }
  kube::Resource gang_resource() const { return dialect::resource_of(seen_.spec.gang->scheduler); }
  const model::Companion* find_companion(const model::UpsertCompanion& step) const {
    for (const model::Companion& companion : seen_.spec.companions) {
      if (companion.kind == step.kind && companion.name == step.name) return &companion;
    }
    return nullptr;
  }
  // What we need on a companion to find it again and to know what is in it.
  static void mark_companion(json::object& body, uint64_t digest) {
    kube::ensure_object(body, {"metadata", "labels"})[kube::jview(kCompanionLabel)] = "true";
    kube::ensure_object(body, {"metadata", "annotations"})[kube::jview(dialect::kDigestAnnotation)] =
        format_digest(digest);
  }

  const ApplyContext& c_;
  const model::Observation& seen_;
  const model::Plan& plan_;
  Time now_;
  Writer writer_;
  bool state_written_ = false;
  bool state_current_ = false;
  int64_t shown_in_ = 0;
};

}  // namespace

bool is_news(const model::JobState& state, const json::object& status, const json::object& stored) {
  if (kube::same(status, stored)) return false;
  if (!state.finished() || stored.contains(kube::jview(dialect::kRecord))) return true;
  // A job that ended before we were here, and of which there is nothing to say but what we alone
  // read: that would be a write for each old job of a cluster that comes over.
  json::object shown = status;
  shown.erase(kube::jview(dialect::kRecord));
  return !kube::same(shown, stored);
}

Applied apply(const ApplyContext& context, const model::Observation& seen, const model::Plan& plan,
              Time now) {
  return Applier(context, seen, plan, now).run();
}

}  // namespace trainyard::control
