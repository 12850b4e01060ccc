#include "store/store.h"

#include <charconv>

#include "base/hash.h"
#include "base/rng.h"
#include "kube/access.h"
#include "kube/member.h"
#include "kube/patch.h"
#include "store/errors.h"
#include "store/managers.h"
#include "store/metadata.h"
#include "store/namespaces.h"
#include "store/references.h"
#include "store/resize.h"

namespace trainyard::store {

using kube::text_at;

namespace {

std::pair<std::string_view, std::string_view> type_key(const kube::Resource& resource) {
  return {resource.group, resource.plural};
}

std::pair<std::string_view, std::string_view> object_key(const kube::Resource& resource, std::string_view ns,
                                                         std::string_view name) {
  return {resource.namespaced ? ns : std::string_view{}, name};
}

// What every body must have, for whichever write.
std::optional<Error> check_body(const kube::Resource& resource, std::string_view ns,
                                const json::object& body) {
  const json::value* metadata = kube::member_of(body, "metadata");
  if (metadata == nullptr || !metadata->is_object()) {
    return invalid_object(resource, "", {required("metadata")});
  }
  std::string_view kind = text_at(body, {"kind"});
  if (!kind.empty() && kind != resource.kind) {
    return Error{ErrorKind::kInvalid, fmt::format("kind: {} cannot be written as {}", kind, resource.plural)};
  }
  std::string_view own = kube::namespace_of(body);
  if (resource.namespaced && ns.empty()) return Error{ErrorKind::kInvalid, "a namespace is required"};
  if (!own.empty() && own != ns && resource.namespaced) {
    return Error{ErrorKind::kInvalid,
                 fmt::format("the namespace of the provided object does not match the namespace sent on the "
                             "request ({} is not {})",
                             own, ns)};
  }
  return std::nullopt;
}

bool has_part(const kube::Resource& resource, kube::Part part) {
  switch (part) {
    case kube::Part::kMain:
      return true;
    case kube::Part::kStatus:
      return resource.has_status;
    case kube::Part::kResize:
      return resource == kube::kPods;
  }
  return false;
}

// The object with that part of the body.
json::object with_part(const json::object& before, json::object body, kube::Part part) {
  switch (part) {
    case kube::Part::kMain:
      break;
    case kube::Part::kStatus:
      return with_status(before, std::move(body));
    case kube::Part::kResize:
      return with_resources(before, std::move(body));
  }
  return body;
}

Result<json::value> patched_with(const kube::Resource& resource, const json::object& before,
                                 const kube::Patch& patch) {
  json::value target(copy_of(before));
  switch (patch.kind) {
    case kube::PatchKind::kJson:
      return kube::apply_json_patch(target, patch.body);
    case kube::PatchKind::kMerge:
      return kube::apply_merge_patch(std::move(target), patch.body);
    case kube::PatchKind::kStrategic:
      return kube::apply_strategic_patch(target, patch.body, resource);
    case kube::PatchKind::kApply:
      break;
  }
  return Error{ErrorKind::kInvalid, "apply is not a change of one document"};
}

}  // namespace

void Store::set_admission(const kube::Resource& resource, Admission admission) {
  table_for(resource).admission = std::move(admission);
}

void Store::set_shaping(const kube::Resource& resource, Shaping shaping) {
  table_for(resource).shaping = std::move(shaping);
}

void Store::set_schema(const kube::Resource& resource, SchemaSource schema) {
  table_for(resource).schema = std::move(schema);
}

const Store::Table* Store::find_table(const kube::Resource& resource) const {
  auto found = tables_.find(type_key(resource));
  return found == tables_.end() ? nullptr : &found->second;
}

Store::Table& Store::table_for(const kube::Resource& resource) {
  auto found = tables_.find(type_key(resource));
  if (found != tables_.end()) {
    // What was kept on a disk may be older than what is known of the kind today.
    found->second.resource.namespaced = resource.namespaced;
    found->second.resource.has_status = resource.has_status;
    return found->second;
  }
  Table table;
  table.names = std::make_shared<const std::vector<std::string>>(
      std::vector<std::string>{std::string(resource.group), std::string(resource.version),
                               std::string(resource.kind), std::string(resource.plural)});
  const std::vector<std::string>& names = *table.names;
  table.resource = {names[0], names[1], names[2], names[3], resource.namespaced, resource.has_status};
  return tables_.emplace(TypeKey(resource.group, resource.plural), std::move(table)).first->second;
}

const Object* Store::find_object(const kube::Resource& resource, std::string_view ns,
                                 std::string_view name) const {
  const Table* table = find_table(resource);
  return table == nullptr ? nullptr : find_object(*table, ns, name);
}

const Object* Store::find_object(const Table& table, std::string_view ns, std::string_view name) {
  auto found = table.objects.find(object_key(table.resource, ns, name));
  return found == table.objects.end() ? nullptr : &found->second;
}

std::string Store::next_uid() {
  Rng bits(seed_ * 0x9E3779B97F4A7C15u + ++uids_);
  uint64_t high = (bits.next() & ~uint64_t{0xF000}) | 0x4000;
  uint64_t low = (bits.next() & 0x3FFFFFFFFFFFFFFF) | 0x8000000000000000;
  std::string uid = "00000000-0000-0000-0000-000000000000";
  size_t digits = 0;
  for (char& c : uid) {
    if (c == '-') continue;
    const uint64_t half = digits < 16 ? high : low;
    c = "0123456789abcdef"[half >> (60 - digits % 16 * 4) & 0xF];
    ++digits;
  }
  return uid;
}

std::string Store::generated_name(const Table& table, std::string_view ns, std::string_view prefix) {
  static constexpr std::string_view kLetters = "bcdfghjklmnpqrstvwxz2456789";
  while (true) {
    Rng bits(seed_ ^ fnv1a(prefix) ^ ++uids_);
    std::string name(prefix.substr(0, kGeneratedPrefixMax));
    for (int i = 0; i < 5; ++i) name += kLetters[bits.below(kLetters.size())];
    if (!table.objects.contains(object_key(table.resource, ns, name))) return name;
  }
}

std::optional<Error> Store::check_namespace(const kube::Resource& resource, std::string_view ns,
                                            const json::object& body) const {
  if (!rules_.namespaces || !resource.namespaced) return std::nullopt;
  const Object* home = find_object(kube::kNamespaces, "", ns);
  if (home == nullptr) return not_found(kube::kNamespaces, ns);
  if (!kube::is_deleting(**home)) return std::nullopt;
  std::string why =
      fmt::format("unable to create new content in namespace {} because it is being terminated", ns);
  Error error = forbidden(resource, kube::name_of(body), why);
  error.causes.push_back(
      {"NamespaceTerminating", fmt::format("namespace {} is being terminated", ns), "metadata.namespace"});
  return error;
}

Result<Store::FreeName> Store::name_for(Table& table, std::string_view ns, const json::object& body) {
  std::string name(kube::name_of(body));
  if (name.empty()) {
    std::string_view prefix = text_at(body, {"metadata", "generateName"});
    if (prefix.empty()) {
      return invalid_object(table.resource, "",
                            {required("metadata.name", "name or generateName is required")});
    }
    name = generated_name(table, ns, prefix);
  }
  if (!is_object_name(name)) {
    return invalid_object(table.resource, name,
                          {invalid_value("metadata.name", json::value(name), kSubdomainRule)});
  }
  const auto key = object_key(table.resource, ns, name);
  auto next = table.objects.lower_bound(key);
  if (next != table.objects.end() && !PairLess()(key, next->first)) {
    return already_exists(table.resource, name);
  }
  return FreeName{std::move(name), next};
}

Result<Object> Store::create(const kube::Resource& resource, std::string_view ns, json::object body, Time now,
                             const kube::WriteOptions& options) {
  const int64_t revision = revision_;
  Result<Object> made = create_now(resource, ns, std::move(body), {now, options});
  return options.dry_run ? pretended(resource, std::move(made), revision) : made;
}

Result<Object> Store::create_now(const kube::Resource& resource, std::string_view ns, json::object body,
                                 const Write& write) {
  if (std::optional<Error> error = check_body(resource, ns, body)) return *error;
  if (std::optional<Error> error = check_namespace(resource, ns, body)) return *error;
  if (!text_at(body, {"metadata", "resourceVersion"}).empty()) {
    return Error{ErrorKind::kInvalid, "resourceVersion should not be set on objects to be created"};
  }
  Table& table = table_for(resource);
  Result<FreeName> free = name_for(table, ns, body);
  if (!free.ok()) return free.error();
  prepare_new(body, table.resource, ns, free->name, write.now);
  if (rules_.namespaces && table.resource == kube::kNamespaces) prepare_namespace(body);
  if (Causes causes = check_references(body, nullptr, table.resource); !causes.empty()) {
    return invalid_object(table.resource, free->name, std::move(causes));
  }
  if (table.admission) {
    Result<Done> admitted = table.admission(body, nullptr, kube::Part::kMain);
    if (!admitted.ok()) return admitted.error();
  }
  track_managers(body, nullptr, table, kube::Part::kMain, write);
  body["metadata"].get_object()["uid"] = next_uid();
  return put_new(table, free->next, std::move(body));
}

Result<Object> Store::pretended(const kube::Resource& resource, Result<Object> written, int64_t revision) {
  rollback(revision);
  if (!written.ok()) return written;
  json::object copy = **written;
  const Object* kept = find_object(resource, kube::namespace_of(copy), kube::name_of(copy));
  json::object& metadata = copy["metadata"].get_object();
  if (kept == nullptr) {
    metadata.erase("resourceVersion");
  } else {
    keep_member(metadata, (*kept)->at("metadata").get_object(), "resourceVersion");
  }
  return std::make_shared<const json::object>(std::move(copy));
}

Result<Object> Store::get(const kube::Resource& resource, std::string_view ns, std::string_view name) const {
  const Object* found = find_object(resource, ns, name);
  if (found == nullptr) return not_found(resource, name);
  return *found;
}

Result<Object> Store::replace_named(const kube::Resource& resource, std::string_view ns, json::object body,
                                    kube::Part part, const Write& write) {
  if (std::optional<Error> error = check_body(resource, ns, body)) return *error;
  Table& table = table_for(resource);
  const Object* before = find_object(table, ns, kube::name_of(body));
  if (before == nullptr) return not_found(resource, kube::name_of(body));
  return replace(table, Object(*before), std::move(body), part, write);
}

Result<Object> Store::update(const kube::Resource& resource, std::string_view ns, json::object body, Time now,
                             const kube::WriteOptions& options) {
  return replace_named(resource, ns, std::move(body), kube::Part::kMain, {now, options});
}

Result<Object> Store::update_status(const kube::Resource& resource, std::string_view ns, json::object body,
                                    Time now, const kube::WriteOptions& options) {
  if (!has_part(resource, kube::Part::kStatus)) return not_found(resource, "status");
  return replace_named(resource, ns, std::move(body), kube::Part::kStatus, {now, options});
}

Result<Object> Store::resize(const kube::Resource& resource, std::string_view ns, json::object body, Time now,
                             const kube::WriteOptions& options) {
  CHECK(has_part(resource, kube::Part::kResize));
  return replace_named(resource, ns, std::move(body), kube::Part::kResize, {now, options});
}

Result<Object> Store::patch(const kube::Resource& resource, std::string_view ns, const kube::Patch& patch,
                            Time now, const kube::WriteOptions& options) {
  if (!has_part(resource, patch.part)) return not_found(resource, name_of(patch.part));
  if (patch.kind == kube::PatchKind::kApply) return apply(resource, ns, patch, {now, options});
  Table& table = table_for(resource);
  const Object* found = find_object(table, ns, patch.name);
  if (found == nullptr) return not_found(resource, patch.name);
  Object before = *found;
  Result<json::value> patched = patched_with(resource, *before, patch);
  if (!patched.ok()) return patched.error();
  if (!patched->is_object()) return Error{ErrorKind::kInvalid, "the patch leaves no object"};
  json::object body = std::move(patched.value().get_object());
  if (std::optional<Error> error = check_body(resource, ns, body)) return *error;
  if (kube::name_of(body) != patch.name) {
    return bad_request(fmt::format("the name of the object ({}) does not match the name on the URL ({})",
                                   kube::shown(kube::name_of(body)), patch.name));
  }
  // A patch changes what is there: another uid is a change, and no precondition as in an update.
  if (kube::uid_of(body) != kube::uid_of(*before)) {
    return invalid_object(
        resource, patch.name,
        {invalid_value("metadata.uid", json::value(kube::uid_of(body)), "field is immutable")});
  }
  if (table.shaping) {
    if (Result<Done> shaped = table.shaping(body, *before); !shaped.ok()) return shaped.error();
  }
  return replace(table, before, std::move(body), patch.part, {now, options});
}

Result<Object> Store::replace(Table& table, const Object& before, json::object body, kube::Part part,
                              const Write& write) {
  const int64_t revision = revision_;
  Result<Object> written = replace_now(table, before, std::move(body), part, write);
  return write.options.dry_run ? pretended(table.resource, std::move(written), revision) : written;
}

Result<Object> Store::replace_now(Table& table, const Object& before, json::object body, kube::Part part,
                                  const Write& write) {
  std::optional<Error> stale = check_preconditions(table.resource, *before, kube::uid_of(body),
                                                   text_at(body, {"metadata", "resourceVersion"}));
  if (stale) return *stale;
  json::object after = with_part(*before, std::move(body), part);
  if (part == kube::Part::kMain) {
    keep_identity(after, *before);
    if (table.resource.has_status) keep_member(after, *before, "status");
    if (Causes causes = check_references(after, before.get(), table.resource); !causes.empty()) {
      return invalid_object(table.resource, kube::name_of(*before), std::move(causes));
    }
  }
  if (table.admission) {
    Result<Done> admitted = table.admission(after, before.get(), part);
    if (!admitted.ok()) return admitted.error();
  }
  track_managers(after, before.get(), table, part, write);
  // A write of the status took everything else over as it was.
  const bool may_differ = part != kube::Part::kStatus || table.admission;
  return finish_write(table, before, std::move(after), may_differ);
}

Result<Object> Store::finish_write(Table& table, const Object& before, json::object after, bool may_differ) {
  if (kube::is_deleting(*before) && adds_finalizer(*before, after)) {
    return invalid_object(table.resource, kube::name_of(*before),
                          {forbidden_value("metadata.finalizers",
                                           "no new finalizers can be added if the object is being deleted")});
  }
  const bool differs = may_differ && differs_beyond_status(*before, after);
  // The status first: in most writes that change nothing else it is what differs.
  if (!differs && same_member(*before, after, "status") && same_member(*before, after, "metadata")) {
    return before;
  }
  if (differs) {
    after["metadata"].get_object()["generation"] = kube::generation_of(*before) + 1;
  }
  if (is_ready_to_go(after)) return erase(table, before, std::move(after));
  return put(table, before, std::move(after));
}

Object Store::put(Table& table, const Object& before, json::object after) {
  set_version(after, ++revision_);
  Object object = std::make_shared<const json::object>(std::move(after));
  auto at =
      table.objects.find(object_key(table.resource, kube::namespace_of(*object), kube::name_of(*object)));
  CHECK(at != table.objects.end());
  at->second = object;
  table.log.push_back({ChangeKind::kModified, revision_, object, before});
  index(table, before.get(), object.get());
  return object;
}

Object Store::put_new(Table& table, Objects::iterator next, json::object made) {
  set_version(made, ++revision_);
  Object object = std::make_shared<const json::object>(std::move(made));
  auto key = object_key(table.resource, kube::namespace_of(*object), kube::name_of(*object));
  table.objects.emplace_hint(next, ObjectKey(key.first, key.second), object);
  table.log.push_back({ChangeKind::kAdded, revision_, object, nullptr});
  index(table, nullptr, object.get());
  return object;
}

Object Store::erase(Table& table, const Object& before, json::object last) {
  set_version(last, ++revision_);
  Object object = std::make_shared<const json::object>(std::move(last));
  auto key = object_key(table.resource, kube::namespace_of(*before), kube::name_of(*before));
  auto found = table.objects.find(key);
  CHECK(found != table.objects.end());
  table.objects.erase(found);
  table.log.push_back({ChangeKind::kDeleted, revision_, object, before});
  index(table, before.get(), nullptr);
  return object;
}

std::vector<std::pair<kube::Resource, Object>> Store::everything() const {
  std::vector<std::pair<kube::Resource, Object>> all;
  for (const auto& [type, table] : tables_) {
    for (const auto& [key, object] : table.objects) all.emplace_back(table.resource, object);
  }
  return all;
}

}  // namespace trainyard::store
