#include "control/writer.h"

#include "kube/access.h"
#include "kube/same.h"

namespace trainyard::control {

using client::Object;
using kube::jview;
using kube::text_at;

namespace {

std::string described(const kube::Resource& resource, std::string_view name) {
  return fmt::format("{} \"{}\"", resource.plural, name);
}

bool has_record(const json::object* status) {
  return status != nullptr && status->contains(jview(dialect::kRecord));
}

// Of a definition that is not ours, as Kubeflow's: without what is remembered nothing must be begun.
Error forgetful(const kube::Resource& resource) {
  return {ErrorKind::kInvalid,
          fmt::format("the CustomResourceDefinition {}.{} does not keep status.{}, where is remembered what "
                      "became of replicas: replace it by that of 'trainyard install --crds-only'",
                      resource.plural, resource.group, dialect::kRecord)};
}

// The entry of the controller among an object's owners, null when it has none.
const json::object* controller_of(const json::object& object) {
  const json::array* owners = kube::array_at(object, {"metadata", "ownerReferences"});
  if (owners == nullptr) return nullptr;
  for (const json::value& entry : *owners) {
    const json::object* owner = entry.if_object();
    if (owner != nullptr && kube::bool_at(*owner, {"controller"}).value_or(false)) return owner;
  }
  return nullptr;
}

void set_finalizers(json::object& object, bool present) {
  json::array& list = kube::ensure_array(object, {"metadata", "finalizers"});
  if (present) {
    list.emplace_back(jview(dialect::kFinalizer));
    return;
  }
  for (auto it = list.begin(); it != list.end();) {
    it = it->is_string() && kube::view(it->get_string()) == dialect::kFinalizer ? list.erase(it) : it + 1;
  }
}

// Adds the members of one map to another.
void overlay(json::object& to, const json::object* from) {
  if (from == nullptr) return;
  for (const json::key_value_pair& member : *from) to[member.key()] = member.value();
}

// Whether a pod has ended, or any of its containers has been restarted.
bool has_past(const json::object& pod) {
  const std::string_view phase = text_at(pod, {"status", "phase"});
  if (phase == "Succeeded" || phase == "Failed") return true;
  const json::array* containers = kube::array_at(pod, {"status", "containerStatuses"});
  if (containers == nullptr) return false;
  return std::any_of(containers->begin(), containers->end(), [](const json::value& container) {
    return container.is_object() && kube::int_at(container.get_object(), {"restartCount"}).value_or(0) > 0;
  });
}

// Whether the watch, which selects by label, shows `found` as it would show `wanted`.
bool has_labels_of(const json::object& wanted, const json::object& found) {
  const json::object* labels = kube::object_at(wanted, {"metadata", "labels"});
  if (labels == nullptr) return true;
  return std::all_of(labels->begin(), labels->end(), [&](const json::key_value_pair& label) {
    std::string_view key{label.key().data(), label.key().size()};
    return label.value().is_string() && kube::label_of(found, key) == kube::view(label.value().get_string());
  });
}

// Whether the two are one job of which nothing but the status has changed: who has written it also sees what
// is asked of it by now.
bool is_asked_alike(const json::object& now, const json::object& then) {
  auto asked = [](const json::object& job) {
    const json::object* metadata = kube::object_at(job, {"metadata"});
    json::object named = metadata == nullptr ? json::object{} : *metadata;
    for (std::string_view written : {"resourceVersion", "managedFields"}) named.erase(kube::jview(written));
    return named;
  };
  const json::object* spec_now = kube::object_at(now, {"spec"});
  const json::object* spec_then = kube::object_at(then, {"spec"});
  bool same_spec =
      spec_now == nullptr || spec_then == nullptr ? spec_now == spec_then : kube::same(*spec_now, *spec_then);
  return same_spec && kube::same(asked(now), asked(then));
}

}  // namespace

void Writer::expect_version(int stream, const json::object& object) {
  if (stream < 0) return;
  client::Expected expected;
  expected.stream = stream;
  expected.object = {std::string(kube::namespace_of(object)), std::string(kube::name_of(object))};
  expected.version = kube::version_of(object);
  expected.since = now_;
  expected_.push_back(std::move(expected));
}

void Writer::expect_gone(int stream, std::string_view name, std::string_view uid) {
  if (stream < 0) return;
  client::Expected expected;
  expected.stream = stream;
  expected.object = {c_.key.ns, std::string(name)};
  expected.gone_uid = uid;
  expected.since = now_;
  expected_.push_back(std::move(expected));
}

// ---- the job -------------------------------------------------------------------

void Writer::job_became(const Object& job) {
  job_ = job;
  fresh_ = true;
  expect_version(jobs_stream(), *job);
}

Error Writer::job_lost(Error error) {
  if (error.kind != ErrorKind::kConflict && error.kind != ErrorKind::kNotFound) return error;
  int stream = jobs_stream();
  Result<Object> live = client::get(c_.client, c_.dialect.resource, c_.key.ns, c_.key.name);
  if (live.ok()) {
    expect_version(stream, **live);
  } else if (live.error().kind == ErrorKind::kNotFound) {
    expect_gone(stream, c_.key.name, kube::uid_of(*job_));
  }
  return error;
}

std::optional<Error> Writer::prove_fresh() {
  if (fresh_) return std::nullopt;
  int stream = jobs_stream();
  Result<Object> live = client::get(c_.client, c_.dialect.resource, c_.key.ns, c_.key.name);
  if (!live.ok()) {
    if (live.error().kind == ErrorKind::kNotFound) expect_gone(stream, c_.key.name, kube::uid_of(*job_));
    return live.error();
  }
  fresh_ = kube::uid_of(**live) == kube::uid_of(*job_) && kube::version_of(**live) == kube::version_of(*job_);
  if (fresh_) return std::nullopt;
  expect_version(stream, **live);
  return Error{ErrorKind::kConflict, "the job has changed since it was observed"};
}

std::optional<Error> Writer::write_status(json::object status,
                                          const std::function<json::object()>& once_more) {
  ++writes_;
  const bool remembers = has_record(&status);
  kube::UpdateStatus update = kube::status_update(c_.dialect.resource, *job_, std::move(status));
  Result<Object> written =
      client::update_status(c_.client, c_.dialect.resource, c_.key.ns, std::move(update.body));
  if (written.ok()) {
    job_became(*written);
    if (remembers && !has_record(kube::object_at(**written, {"status"}))) {
      return forgetful(c_.dialect.resource);
    }
    answered_ = *written;
    return std::nullopt;
  }
  if (written.error().kind != ErrorKind::kUnknown) return job_lost(written.error());
  Result<Object> live = client::get(c_.client, c_.dialect.resource, c_.key.ns, c_.key.name);
  if (!live.ok()) return written.error();
  if (kube::version_of(**live) == kube::version_of(*job_)) return written.error();
  const json::object* stored = kube::object_at(**live, {"status"});
  if (stored == nullptr || !is_asked_alike(**live, *job_) || !kube::same(*stored, once_more())) {
    expect_version(jobs_stream(), **live);
    return Error{ErrorKind::kConflict, "the job has changed since it was observed"};
  }
  job_became(*live);
  return std::nullopt;
}

std::optional<Error> Writer::set_finalizer(bool present) {
  if (kube::has_finalizer(*job_, dialect::kFinalizer) == present) return std::nullopt;
  json::object body = *job_;
  set_finalizers(body, present);
  ++writes_;
  Result<Object> written = client::update(c_.client, c_.dialect.resource, c_.key.ns, std::move(body));
  if (!written.ok()) return job_lost(written.error());
  job_became(*written);
  return std::nullopt;
}

std::optional<Error> Writer::remove_job() {
  kube::DeleteOptions options;
  options.uid = kube::uid_of(*job_);
  options.version = text_at(*job_, {"metadata", "resourceVersion"});
  ++writes_;
  Result<Done> removed = client::remove(c_.client, c_.dialect.resource, c_.key.ns, c_.key.name, options);
  if (removed.ok() || removed.error().kind == ErrorKind::kNotFound) {
    expect_gone(jobs_stream(), c_.key.name, options.uid);
    return std::nullopt;
  }
  return job_lost(removed.error());
}

// ---- children ------------------------------------------------------------------

Result<bool> Writer::create(const kube::Resource& resource, int stream, json::object body) {
  json::object shown;  // what is compared with one that is found in its place
  if (const json::object* metadata = kube::object_at(body, {"metadata"})) shown["metadata"] = *metadata;
  std::vector<json::object> bodies;
  bodies.push_back(std::move(body));
  return create_all(resource, stream, std::move(bodies), [&](size_t) { return shown; }).front();
}

std::vector<Result<bool>> Writer::create_all(const kube::Resource& resource, int stream,
                                             std::vector<json::object> bodies,
                                             const std::function<json::object(size_t)>& once_more) {
  if (std::optional<Error> error = prove_fresh()) return {*error};
  std::vector<kube::Request> requests;
  requests.reserve(bodies.size());
  for (json::object& body : bodies) {
    requests.push_back({resource, c_.key.ns, kube::Create{std::move(body)}, {}, kube::Heed::kIdentity});
  }
  writes_ += static_cast<int>(requests.size());
  std::vector<Result<client::Reply>> replies = c_.client.send_all(std::move(requests));
  CHECK(replies.size() == bodies.size());
  std::vector<Result<bool>> made;
  for (size_t i = 0; i < replies.size(); ++i) {
    made.push_back(made_or_found(
        resource, stream, [&] { return once_more(i); }, replies[i]));
  }
  return made;
}

Result<bool> Writer::made_or_found(const kube::Resource& resource, int stream,
                                   const std::function<json::object()>& wanted,
                                   const Result<client::Reply>& reply) {
  if (reply.ok() && reply->object != nullptr) {
    expect_version(stream, *reply->object);
    return true;
  }
  Error error =
      reply.ok() ? Error{ErrorKind::kUnknown, "the server answered without an object"} : reply.error();
  // Nothing is missing that could come back by itself: the kind or the namespace is not there.
  if (error.kind == ErrorKind::kNotFound) return Error{ErrorKind::kForbidden, error.message};
  if (error.kind != ErrorKind::kAlreadyExists && error.kind != ErrorKind::kUnknown) return error;
  return look_at_existing(resource, stream, wanted(), error);
}

Object Writer::stored(int stream, std::string_view name) const {
  auto found = c_.stored.find({stream, std::string(name)});
  return found == c_.stored.end() ? nullptr : found->second;
}

bool Writer::is_same_replica(const json::object& wanted, const json::object& found) const {
  std::optional<dialect::PodIdentity> a = c_.dialect.identify(wanted);
  std::optional<dialect::PodIdentity> b = c_.dialect.identify(found);
  if (!a || !b) return !a && !b;
  return a->role == b->role && a->index == b->index &&
         c_.dialect.job_name_of(wanted) == c_.dialect.job_name_of(found);
}

// Whether what is found does what is wanted: an orphan of another job may belong to a gang
// that is no more, which its annotations tell. Such a one is left alone, and the user told.
bool Writer::can_serve(const json::object& wanted, const json::object& found) const {
  // One that is not younger than the job ran for another: how it fared until now says nothing of this one.
  if (has_past(found) && kube::creation_time_of(found) <= kube::creation_time_of(*job_)) return false;
  const json::object* annotations = kube::object_at(wanted, {"metadata", "annotations"});
  if (annotations == nullptr) return true;
  return std::all_of(annotations->begin(), annotations->end(), [&](const json::key_value_pair& member) {
    std::string_view key(member.key().data(), member.key().size());
    if (key == dialect::kAttemptAnnotation || !member.value().is_string()) return true;
    return kube::annotation_of(found, key) == kube::view(member.value().get_string());
  });
}

Result<bool> Writer::look_at_existing(const kube::Resource& resource, int stream, const json::object& wanted,
                                      const Error& why) {
  Result<Object> live = client::get(c_.client, resource, c_.key.ns, kube::name_of(wanted));
  if (!live.ok()) {
    // It was not made after all, or has gone meanwhile: another pass will make it.
    if (live.error().kind == ErrorKind::kNotFound) return Error{ErrorKind::kUnavailable, why.message};
    return live.error();
  }
  const json::object& found = **live;
  bool same_attempt = kube::annotation_of(wanted, dialect::kAttemptAnnotation) ==
                      kube::annotation_of(found, dialect::kAttemptAnnotation);
  std::string_view owner = kube::controller_uid_of(found);
  bool ours = owner == kube::uid_of(*job_);
  // Without an owner and with our labels it is an orphan, which its controller may adopt.
  bool stripped = owner.empty() && c_.dialect.identify(found).has_value() && is_same_replica(wanted, found) &&
                  can_serve(wanted, found);
  if (!ours && !stripped) return not_ours(resource, found);
  bool hidden = stripped || !is_same_replica(wanted, found) || !has_labels_of(wanted, found);
  if (hidden && !kube::is_deleting(found)) {
    Result<bool> taken = take_back(resource, stream, wanted, found);
    if (!taken.ok()) return taken;
  } else {
    expect_version(stream, found);
  }
  if (kube::is_deleting(found) || !same_attempt) {
    return Error{ErrorKind::kConflict,
                 fmt::format("{} of before is still there", described(resource, kube::name_of(found)))};
  }
  return why.kind == ErrorKind::kUnknown;
}

Result<bool> Writer::recover(const kube::Resource& resource, int stream, const json::object& last) {
  Result<Object> live = client::get(c_.client, resource, c_.key.ns, kube::name_of(last));
  if (!live.ok()) {
    if (live.error().kind == ErrorKind::kNotFound) return false;
    return live.error();
  }
  std::string_view owner = kube::controller_uid_of(**live);
  bool same = kube::uid_of(**live) == kube::uid_of(last) && !kube::is_deleting(**live);
  if (!same || (!owner.empty() && owner != kube::uid_of(*job_))) return false;
  // A job that is deleted may have let go of it on purpose.
  if (std::optional<Error> error = prove_fresh()) return *error;
  Result<bool> taken = take_back(resource, stream, last, **live);
  if (!taken.ok()) return taken.error();
  return true;
}

// Gives an object of ours the labels and the owner back that somebody took off.
Result<bool> Writer::take_back(const kube::Resource& resource, int stream, const json::object& wanted,
                               const json::object& found) {
  json::object body = found;
  overlay(kube::ensure_object(body, {"metadata", "labels"}), kube::object_at(wanted, {"metadata", "labels"}));
  if (kube::controller_uid_of(found).empty()) {
    json::array& owners = kube::ensure_array(body, {"metadata", "ownerReferences"});
    if (const json::object* controller = controller_of(wanted)) owners.push_back(*controller);
  }
  return update(resource, stream, std::move(body));
}

Error Writer::not_ours(const kube::Resource& resource, const json::object& found) const {
  const json::object* owner = controller_of(found);
  bool of_predecessor = owner != nullptr && text_at(*owner, {"kind"}) == c_.dialect.resource.kind &&
                        text_at(*owner, {"name"}) == c_.key.name;
  std::string name = described(resource, kube::name_of(found));
  if (of_predecessor) {
    return {ErrorKind::kUnavailable, fmt::format("{} of an earlier job of this name has not gone yet", name)};
  }
  if (owner == nullptr) {
    return {ErrorKind::kAlreadyExists,
            fmt::format("{} already exists and does not belong to this job", name)};
  }
  return {ErrorKind::kAlreadyExists, fmt::format("{} already exists and belongs to {} \"{}\"", name,
                                                 text_at(*owner, {"kind"}), text_at(*owner, {"name"}))};
}

bool Writer::still_there(const kube::Resource& resource, const std::string& name, const std::string& uid) {
  Result<Object> live = client::get(c_.client, resource, c_.key.ns, name);
  return live.ok() ? kube::uid_of(**live) == uid : live.error().kind != ErrorKind::kNotFound;
}

Result<bool> Writer::remove(const kube::Resource& resource, int stream, const std::string& name,
                            const std::string& uid) {
  return remove_all(resource, stream, {{name, uid}}).front();
}

std::vector<Result<bool>> Writer::remove_all(const kube::Resource& resource, int stream,
                                             const std::vector<Named>& objects) {
  if (std::optional<Error> error = prove_fresh()) return {*error};
  std::vector<kube::Request> requests;
  requests.reserve(objects.size());
  for (const Named& object : objects) {
    kube::DeleteOptions options;
    options.uid = object.uid;
    requests.push_back(kube::unheeded(resource, c_.key.ns, kube::Delete{object.name, std::move(options)}));
  }
  writes_ += static_cast<int>(requests.size());
  std::vector<Result<client::Reply>> replies = c_.client.send_all(std::move(requests));
  CHECK(replies.size() == objects.size());
  std::vector<Result<bool>> removed;
  for (size_t i = 0; i < objects.size(); ++i) {
    removed.push_back(gone_or_there(resource, stream, objects[i], replies[i]));
  }
  return removed;
}

Result<bool> Writer::gone_or_there(const kube::Resource& resource, int stream, const Named& object,
                                   const Result<client::Reply>& reply) {
  if (!reply.ok()) {
    ErrorKind kind = reply.error().kind;
    if (kind != ErrorKind::kNotFound && kind != ErrorKind::kConflict) return reply.error();
    // Gone, or another object by now: either way the one that was meant is no more.
    if (kind == ErrorKind::kConflict && still_there(resource, object.name, object.uid)) return reply.error();
  }
  expect_gone(stream, object.name, object.uid);
  return reply.ok();
}

Result<bool> Writer::update(const kube::Resource& resource, int stream, json::object body) {
  ++writes_;
  Result<Object> written = client::update(c_.client, resource, c_.key.ns, std::move(body));
  if (!written.ok()) return written.error();
  expect_version(stream, **written);
  return true;
}

Result<bool> Writer::update_gang(const kube::Resource& resource, int stream, const json::object& rendered) {
  if (std::optional<Error> error = prove_fresh()) return *error;
  Object found = stored(stream, kube::name_of(rendered));
  if (found == nullptr) return Error{ErrorKind::kConflict, "the gang is no longer there"};
  json::object body = *found;
  json::object& spec = kube::ensure_object(body, {"spec"});
  // A queue stays once it is set; what nobody wants any more goes.
  std::optional<json::value> queue;
  if (const json::value* set = spec.if_contains("queue"); set != nullptr && *set != "") queue = *set;
  for (std::string_view field : {"minMember", "minTaskMember", "minResources", "priorityClassName",
                                 "priority", "scheduleTimeoutSeconds", "roles"}) {
    spec.erase(jview(field));
  }
  overlay(spec, kube::object_at(rendered, {"spec"}));
  if (queue) spec["queue"] = *queue;
  return update(resource, stream, std::move(body));
}

Result<bool> Writer::update_companion(const kube::Resource& resource, int stream,
                                      const json::object& rendered) {
  if (std::optional<Error> error = prove_fresh()) return *error;
  Object found = stored(stream, kube::name_of(rendered));
  if (found == nullptr) return Error{ErrorKind::kConflict, "the companion is no longer there"};
  json::object body = *found;
  for (std::string_view map : {"labels", "annotations"}) {
    overlay(kube::ensure_object(body, {"metadata", map}), kube::object_at(rendered, {"metadata", map}));
  }
  for (const json::key_value_pair& member : rendered) {
    if (member.key() == "metadata" || member.key() == "status") continue;
    // The server fills in parts of a Service that must not be taken away again.
    if (resource == kube::kServices && member.key() == "spec" && member.value().is_object()) {
      overlay(kube::ensure_object(body, {"spec"}), &member.value().get_object());
    } else {
      body[member.key()] = member.value();
    }
  }
  return update(resource, stream, std::move(body));
}

}  // namespace trainyard::control
