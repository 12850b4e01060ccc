// Server-side apply, and the bookkeeping of managers that every other write does.
#include "kube/access.h"
#include "kube/managed_fields.h"
#include "kube/yaml.h"
#include "store/errors.h"
#include "store/managers.h"
#include "store/metadata.h"
#include "store/store.h"

namespace trainyard::store {

using kube::text_at;

namespace {

constexpr std::string_view kKubectl = "kubectl";  // the manager of `kubectl apply --server-side`
constexpr std::string_view kLastApplied = "kubectl.kubernetes.io/last-applied-configuration";

Error bad_options(Cause cause) { return invalid_object("PatchOptions.meta.k8s.io", "", {std::move(cause)}); }

std::optional<Error> check_apply(const kube::Resource& resource, const kube::Patch& patch,
                                 const kube::WriteOptions& options) {
  if (options.field_manager.empty()) {
    return bad_options(required("fieldManager", "is required for apply patch"));
  }
  if (options.field_manager.size() > kManagerNameMax) {
    return bad_options({"FieldValueTooLong",
                        fmt::format("Too long: may not be more than {} bytes", kManagerNameMax),
                        "fieldManager"});
  }
  const json::object* config = patch.body.if_object();
  if (config == nullptr) return Error{ErrorKind::kInvalid, "an apply needs an object"};
  if (text_at(*config, {"apiVersion"}).empty() || text_at(*config, {"kind"}).empty()) {
    return bad_request("apiVersion and kind must be set in what is applied");
  }
  if (kube::find(*config, {"metadata", "managedFields"}) != nullptr) {
    return bad_request("metadata.managedFields must be nil");
  }
  std::string_view name = kube::name_of(*config);
  if (!name.empty() && name != patch.name) {
    return bad_request(fmt::format("the name of the object ({}) does not match the name on the URL ({})",
                                   kube::shown(name), patch.name));
  }
  if (text_at(*config, {"kind"}) != resource.kind) {
    return Error{ErrorKind::kInvalid, fmt::format("kind: {} cannot be written as {}",
                                                  kube::shown(text_at(*config, {"kind"})), resource.plural)};
  }
  return std::nullopt;
}

// Whether a writer asks for all bookkeeping to be forgotten.
bool is_reset(const json::object& body) {
  const json::array* entries = kube::array_at(body, {"metadata", "managedFields"});
  return entries != nullptr && entries->size() == 1 && entries->front().is_object() &&
         entries->front().get_object().empty();
}

// As kube-apiserver has it: what an object has when the first apply comes is not free to be taken.
Managers first_managers(const Manager& who, kube::FieldSet fields) {
  if (fields.empty()) return {};
  return {
      {std::string(kBeforeFirstApply), false, who.api_version, who.subresource, who.time, std::move(fields)}};
}

// The fields that kubectl applied from its own side (`kubectl apply`), and that are as it left them: with
// --server-side it takes them over from itself, under its other name.
kube::FieldSet own_fields_of_kubectl(const json::object& live, const kube::FieldRules& rules) {
  std::string_view text = text_at(live, {"metadata", "annotations", kLastApplied});
  if (text.empty()) return {};
  Result<json::value> last = kube::parse_json(text);
  if (!last.ok() || !last->is_object()) return {};
  const json::object& applied = last->get_object();
  const kube::FieldChanges since = kube::compare_fields(applied, live, rules);
  return kube::subtract(kube::subtract(kube::fields_of(applied, rules), since.modified), since.removed);
}

}  // namespace

Result<Object> Store::apply(const kube::Resource& resource, std::string_view ns, const kube::Patch& patch,
                            const Write& write) {
  if (std::optional<Error> error = check_apply(resource, patch, write.options)) return *error;
  json::object config = patch.body.get_object();
  kube::ensure_object(config, {"metadata"})["name"] = patch.name;
  const Object* found = find_object(resource, ns, patch.name);
  if (found != nullptr) {
    return apply_to(table_for(resource), Object(*found), std::move(config), patch.part, write);
  }
  if (patch.part != kube::Part::kMain) return not_found(resource, patch.name);
  if (!text_at(config, {"metadata", "resourceVersion"}).empty() || !kube::uid_of(config).empty()) {
    return conflict(resource, patch.name,
                    "uid mismatch: the provided object specified a uid or version, and no "
                    "existing object was found");
  }
  return apply_new(resource, ns, std::move(config), write);
}

Result<Object> Store::apply_new(const kube::Resource& resource, std::string_view ns, json::object config,
                                const Write& write) {
  if (resource.has_status && resource != kube::kNodes) config.erase("status");
  kube::FieldSet fields =
      managed_part(kube::fields_of(config, rules_of(table_for(resource))), kube::Part::kMain);
  const Managers managers{{write.options.field_manager, true, std::string(text_at(config, {"apiVersion"})),
                           "", format_rfc3339(write.now), std::move(fields)}};
  const int64_t revision = revision_;
  Result<Object> made = create_now(resource, ns, std::move(config), {write.now, write.options, &managers});
  return write.options.dry_run ? pretended(resource, std::move(made), revision) : made;
}

Result<Object> Store::apply_to(Table& table, const Object& before, json::object config, kube::Part part,
                               const Write& write) {
  std::optional<Error> stale = check_preconditions(table.resource, *before, kube::uid_of(config),
                                                   text_at(config, {"metadata", "resourceVersion"}));
  if (stale) return *stale;
  const kube::FieldRules rules = rules_of(table);
  Manager who{write.options.field_manager,
              true,
              std::string(text_at(config, {"apiVersion"})),
              std::string(name_of(part)),
              format_rfc3339(write.now),
              managed_part(kube::fields_of(config, rules), part)};
  if (part != kube::Part::kStatus && table.resource.has_status) {
    config.erase("status");
    who.fields.children.erase("f:status");
  }
  Managers managers = read_managers(*before);
  if (managers.empty()) {
    kube::FieldSet fields = managed_part(kube::compare_fields({}, *before, rules).added, part);
    if (part != kube::Part::kStatus && table.resource.has_status) fields.children.erase("f:status");
    managers = first_managers(who, std::move(fields));
  }
  kube::FieldSet last;
  kube::FieldSet kept = who.fields;
  for (const Manager& manager : managers) {
    if (manager.is_same(who)) {
      last = manager.fields;
    } else {
      kept = kube::unite(kept, manager.fields);
    }
  }
  json::object after = kube::remove_fields(kube::merge_fields(*before, config, rules), last, kept, rules);
  keep_identity(after, *before);
  keep_member(after["metadata"].get_object(), before->at("metadata").get_object(), "managedFields");
  kube::FieldChanges changes = kube::compare_fields(*before, after, rules);
  changes = {managed_part(changes.added, part), managed_part(changes.modified, part),
             managed_part(changes.removed, part)};
  Takes takes{write.options.force, {}};
  if (who.name == kKubectl) takes.free = own_fields_of_kubectl(*before, rules);
  Result<Managers> decided = after_apply(managers, who, changes, takes);
  if (!decided.ok()) return decided.error();
  return replace(table, before, std::move(after), part, {write.now, write.options, &*decided});
}

kube::FieldRules Store::rules_of(const Table& table) {
  kube::FieldRules rules = kube::field_rules_of(table.resource);
  if (table.schema) rules.schema = table.schema();
  return rules;
}

void Store::track_managers(json::object& after, const json::object* before, const Table& table,
                           kube::Part part, const Write& write) {
  if (write.managers != nullptr) {
    write_managers(after, *write.managers);
    return;
  }
  // Nobody ever managed anything here, and nobody wants to.
  auto is_managed = [](const json::object& object) {
    return kube::find(object, {"metadata", "managedFields"}) != nullptr;
  };
  if (write.options.field_manager.empty() && !is_managed(after) &&
      (before == nullptr || !is_managed(*before))) {
    return;
  }
  Managers managers = is_reset(after) ? Managers{} : read_managers(after);
  // Who does not know of managed fields must not lose them.
  if (managers.empty() && before != nullptr && !is_reset(after)) managers = read_managers(*before);
  if (managers.empty() && write.options.field_manager.empty()) {
    after["metadata"].get_object().erase("managedFields");
    return;
  }
  static const json::object kNothing;
  kube::FieldChanges changes =
      kube::compare_fields(before == nullptr ? kNothing : *before, after, rules_of(table));
  changes = {managed_part(changes.added, part), managed_part(changes.modified, part),
             managed_part(changes.removed, part)};
  const std::string& name =
      write.options.field_manager.empty() ? write.options.program : write.options.field_manager;
  Manager who{name.substr(0, kManagerNameMax),
              false,
              std::string(text_at(after, {"apiVersion"})),
              std::string(name_of(part)),
              format_rfc3339(write.now),
              {}};
  write_managers(after, after_update(std::move(managers), who, changes));
}

}  // namespace trainyard::store
