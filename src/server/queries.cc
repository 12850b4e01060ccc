#include "server/queries.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "kube/access.h"
#include "store/errors.h"

namespace trainyard::server {
namespace {

constexpr size_t kFieldManagerLengthMax = 128;
constexpr int64_t kWatchSecondsMax = 1'000'000;

Error bad_query(std::string message) { return {ErrorKind::kInvalid, std::move(message)}; }

using store::Causes;

// REQUIRES: there is a cause.
Error bad_options(Causes causes) {
  CHECK(!causes.empty());
  std::string message = fmt::format("{}: {}", causes.front().field, causes.front().message);
  return {ErrorKind::kInvalid, std::move(message), std::move(causes)};
}

struct FieldName {
  std::string_view label;  // in the query
  std::string_view path;   // in the object
};

constexpr FieldName kPodFields[] = {
    {"spec.nodeName", ""},    {"spec.restartPolicy", ""},       {"spec.schedulerName", ""},
    {"spec.hostNetwork", ""}, {"spec.serviceAccountName", ""},  {"status.phase", ""},
    {"status.podIP", ""},     {"status.nominatedNodeName", ""}, {"status.podIPs", "status.podIP"},
};
constexpr FieldName kEventFields[] = {
    {"involvedObject.kind", ""},
    {"involvedObject.namespace", ""},
    {"involvedObject.name", ""},
    {"involvedObject.uid", ""},
    {"involvedObject.apiVersion", ""},
    {"involvedObject.resourceVersion", ""},
    {"involvedObject.fieldPath", ""},
    {"reason", ""},
    {"reportingComponent", ""},
    {"source", "source.component"},
    {"type", ""},
};
constexpr FieldName kNewEventFields[] = {
    {"regarding.kind", "involvedObject.kind"},
    {"regarding.namespace", "involvedObject.namespace"},
    {"regarding.name", "involvedObject.name"},
    {"regarding.uid", "involvedObject.uid"},
    {"regarding.apiVersion", "involvedObject.apiVersion"},
    {"regarding.resourceVersion", "involvedObject.resourceVersion"},
    {"regarding.fieldPath", "involvedObject.fieldPath"},
    {"reason", ""},
    {"reportingController", "reportingComponent"},
    {"type", ""},
};
constexpr FieldName kNamespaceFields[] = {{"status.phase", ""}};
constexpr FieldName kSecretFields[] = {{"type", ""}};
constexpr FieldName kNodeFields[] = {{"spec.unschedulable", ""}};
constexpr FieldName kJobFields[] = {{"status.successful", "status.succeeded"}};

std::span<const FieldName> fields_of(const kube::Resource& resource) {
  if (resource.plural == "events") {
    return resource.group.empty() ? std::span<const FieldName>(kEventFields) : kNewEventFields;
  }
  if (resource.group == "batch" && resource.plural == "jobs") return kJobFields;
  if (!resource.group.empty()) return {};
  if (resource.plural == "pods") return kPodFields;
  if (resource.plural == "namespaces") return kNamespaceFields;
  if (resource.plural == "secrets") return kSecretFields;
  if (resource.plural == "nodes") return kNodeFields;
  return {};
}

// "" when objects cannot be selected by it.
std::string_view path_of_field(const kube::Resource& resource, std::string_view label) {
  if (label == "metadata.name") return label;
  if (label == "metadata.namespace" && resource.namespaced) return label;
  for (const FieldName& field : fields_of(resource)) {
    if (field.label == label) return field.path.empty() ? field.label : field.path;
  }
  return {};
}

std::string term_text(std::string_view path, const kube::FieldSelector::Term& term) {
  kube::FieldSelector one;
  one.add(path, term.value);
  std::string text = one.to_string();
  if (!term.equal) text.insert(path.size(), "!");
  return text;
}

Result<bool> dry_run_of(const std::vector<std::string>& values) {
  for (const std::string& value : values) {
    if (value != "All") return bad_options({store::unsupported_value("dryRun", value, {"All"})});
  }
  return !values.empty();
}

bool is_version(std::string_view text) {
  return text.find_first_not_of("0123456789") == std::string_view::npos && text.size() <= 18;
}

Result<kube::Propagation> propagation_of(std::string_view text) {
  for (kube::Propagation value :
       {kube::Propagation::kBackground, kube::Propagation::kForeground, kube::Propagation::kOrphan}) {
    if (kube::name_of(value) == text) return value;
  }
  return bad_options(
      {store::unsupported_value("propagationPolicy", text, {"Foreground", "Background", "Orphan"})});
}

// What becomes of the dependents, as it is said in two ways.
struct Dependents {
  std::string policy;          // propagationPolicy
  std::optional<bool> orphan;  // orphanDependents, of old
};

Result<kube::Propagation> propagation_of(const Dependents& said) {
  if (said.orphan && !said.policy.empty()) {
    return bad_options({store::invalid_value("propagationPolicy", json::value(said.policy),
                                             "orphanDependents and deletionPropagation cannot be both set")});
  }
  if (!said.policy.empty()) return propagation_of(std::string_view(said.policy));
  return said.orphan.value_or(false) ? kube::Propagation::kOrphan : kube::Propagation::kBackground;
}

// What a list may not ask for together.
Causes list_causes(const Query& query) {
  Causes causes;
  const std::string_view match = query.get("resourceVersionMatch");
  const std::string_view version = query.get("resourceVersion");
  auto forbid = [&](std::string_view field, std::string_view why) {
    causes.push_back(store::forbidden_value(field, why));
  };
  if (!match.empty()) {
    if (version.empty()) {
      forbid("resourceVersionMatch", "resourceVersionMatch is forbidden unless resourceVersion is provided");
    }
    if (!query.get("continue").empty()) {
      forbid("resourceVersionMatch", "resourceVersionMatch is forbidden when continue is provided");
    }
    if (match != "Exact" && match != "NotOlderThan") {
      causes.push_back(
          store::unsupported_value("resourceVersionMatch", match, {"", "Exact", "NotOlderThan"}));
    }
    if (match == "Exact" && version == "0") {
      forbid("resourceVersionMatch", "resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"");
    }
  }
  if (query.has("sendInitialEvents")) {
    forbid("sendInitialEvents", "sendInitialEvents is forbidden for list");
  }
  return causes;
}

// What a watch may not ask for together.
Causes watch_causes(const Query& query) {
  const std::string_view match = query.get("resourceVersionMatch");
  if (query.has("sendInitialEvents") && match != "NotOlderThan") {
    return {store::forbidden_value(
        "resourceVersionMatch", "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan")};
  }
  if (!query.has("sendInitialEvents") && !match.empty()) {
    return {store::forbidden_value(
        "resourceVersionMatch",
        "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided")};
  }
  return {};
}

// What a write may not ask for.
Causes write_causes(const Query& query, std::optional<kube::PatchKind> patch) {
  Causes causes;
  const bool is_apply = patch == kube::PatchKind::kApply;
  if (patch && !is_apply && query.has("force")) {
    causes.push_back(store::forbidden_value("force", "may not be specified for non-apply patch"));
  }
  const std::string_view manager = query.get("fieldManager");
  if (is_apply && manager.empty()) {
    causes.push_back(store::required("fieldManager", "is required for apply patch"));
  }
  if (manager.size() > kFieldManagerLengthMax) {
    causes.push_back({"FieldValueTooLong",
                      fmt::format("Too long: may not be more than {} bytes", kFieldManagerLengthMax),
                      "fieldManager"});
  }
  const std::string_view validation = query.get("fieldValidation");
  if (!validation.empty() && validation != "Ignore" && validation != "Warn" && validation != "Strict") {
    causes.push_back(
        store::unsupported_value("fieldValidation", validation, {"", "Ignore", "Strict", "Warn"}));
  }
  return causes;
}

Result<Done> take_delete_body(const json::object& body, DeleteQuery& out, Dependents& dependents) {
  out.options.uid = kube::text_at(body, {"preconditions", "uid"});
  out.options.version = kube::text_at(body, {"preconditions", "resourceVersion"});
  if (const json::value* grace = kube::find(body, {"gracePeriodSeconds"}); grace && !grace->is_null()) {
    out.options.grace_seconds = kube::as_whole(*grace);
    if (!out.options.grace_seconds) return bad_query("gracePeriodSeconds: a whole number is wanted");
  }
  dependents.orphan = kube::bool_at(body, {"orphanDependents"});
  dependents.policy = kube::text_at(body, {"propagationPolicy"});
  std::vector<std::string> dry_run;
  if (const json::array* list = kube::array_at(body, {"dryRun"})) {
    for (const json::value& value : *list) {
      dry_run.emplace_back(value.is_string() ? kube::view(value.get_string()) : "?");
    }
  }
  Result<bool> dry = dry_run_of(dry_run);
  if (!dry.ok()) return dry.error();
  out.dry_run = *dry;
  return Done{};
}

}  // namespace

Result<kube::LabelSelector> labels_of_query(const Query& query) {
  return kube::LabelSelector::parse(query.get("labelSelector"));
}

Result<kube::FieldSelector> fields_of_query(const kube::Resource& resource, const Query& query) {
  Result<kube::FieldSelector> asked = kube::FieldSelector::parse(query.get("fieldSelector"));
  if (!asked.ok()) return asked;
  std::string text;
  for (const kube::FieldSelector::Term& term : asked->terms()) {
    std::string_view path = path_of_field(resource, term.path);
    if (path.empty()) return bad_query(fmt::format("field label not supported: {}", kube::shown(term.path)));
    text += (text.empty() ? "" : ",") + term_text(path, term);
  }
  return kube::FieldSelector::parse(text);
}

Result<kube::List> list_of_query(const ApiResource& resource, const Query& query) {
  if (Causes causes = list_causes(query); !causes.empty()) return bad_options(std::move(causes));
  kube::List list;
  Result<kube::LabelSelector> labels = labels_of_query(query);
  if (!labels.ok()) return labels.error();
  list.labels = std::move(labels).value();
  Result<kube::FieldSelector> fields = fields_of_query(resource.resource, query);
  if (!fields.ok()) return fields.error();
  list.fields = std::move(fields).value();
  Result<std::optional<int64_t>> limit = query.number("limit");
  if (!limit.ok()) return limit.error();
  list.limit = std::max<int64_t>(0, limit->value_or(0));
  list.continue_token = query.get("continue");
  list.version = query.get("resourceVersion");
  list.version_match = query.get("resourceVersionMatch");
  if (!is_version(list.version)) return bad_query("resourceVersion: a number is wanted");
  if (!list.continue_token.empty() && !list.version.empty() && list.version != "0") {
    return bad_query("specifying resource version is not allowed when using continue");
  }
  return list;
}

Result<kube::Watch> watch_of_query(const ApiResource& resource, const Query& query, int64_t revision) {
  if (Causes causes = watch_causes(query); !causes.empty()) return bad_options(std::move(causes));
  kube::Watch watch;
  Result<kube::LabelSelector> labels = labels_of_query(query);
  if (!labels.ok()) return labels.error();
  watch.labels = std::move(labels).value();
  Result<kube::FieldSelector> fields = fields_of_query(resource.resource, query);
  if (!fields.ok()) return fields.error();
  watch.fields = std::move(fields).value();
  watch.version = query.get("resourceVersion");
  if (!is_version(watch.version)) return bad_query("resourceVersion: a number is wanted");
  Result<bool> bookmarks = query.flag("allowWatchBookmarks");
  if (!bookmarks.ok()) return bookmarks.error();
  watch.bookmarks = *bookmarks;
  Result<std::optional<int64_t>> timeout = query.number("timeoutSeconds");
  if (!timeout.ok()) return timeout.error();
  watch.timeout_seconds = std::clamp<int64_t>(timeout->value_or(0), 0, kWatchSecondsMax);
  Result<bool> initial = query.flag("sendInitialEvents");
  if (!initial.ok()) return initial.error();
  if (query.has("sendInitialEvents")) {
    watch.send_initial_events = *initial;
    // What is here now is not older than any version that was ever given out.
    if (*initial) watch.version.clear();
    if (!*initial && (watch.version.empty() || watch.version == "0"))
      watch.version = std::to_string(revision);
  }
  return watch;
}

Result<kube::WriteOptions> write_options_of_query(const Query& query, std::optional<kube::PatchKind> patch) {
  if (Causes causes = write_causes(query, patch); !causes.empty()) return bad_options(std::move(causes));
  kube::WriteOptions options;
  Result<bool> dry = dry_run_of(query.all("dryRun"));
  if (!dry.ok()) return dry.error();
  options.dry_run = *dry;
  options.field_manager = query.get("fieldManager");
  options.field_validation = query.get("fieldValidation");
  Result<bool> force = query.flag("force");
  if (!force.ok()) return force.error();
  options.force = *force;
  return options;
}

Result<DeleteQuery> delete_of_query(const Query& query, const json::object* body) {
  DeleteQuery out;
  Dependents dependents;
  if (body != nullptr) {
    Result<Done> taken = take_delete_body(*body, out, dependents);
    if (!taken.ok()) return taken.error();
  }
  Result<bool> orphan = query.flag("orphanDependents");
  if (!orphan.ok()) return orphan.error();
  if (query.has("orphanDependents")) dependents.orphan = *orphan;
  if (query.has("propagationPolicy")) dependents.policy = query.get("propagationPolicy");
  Result<kube::Propagation> propagation = propagation_of(dependents);
  if (!propagation.ok()) return propagation.error();
  out.options.propagation = *propagation;
  Result<std::optional<int64_t>> grace = query.number("gracePeriodSeconds");
  if (!grace.ok()) return grace.error();
  if (grace->has_value()) out.options.grace_seconds = **grace;
  // As the real server takes it: less than nothing is one second.
  if (out.options.grace_seconds.value_or(0) < 0) out.options.grace_seconds = 1;
  Result<bool> dry = dry_run_of(query.all("dryRun"));
  if (!dry.ok()) return dry.error();
  out.dry_run = out.dry_run || *dry;
  return out;
}

std::optional<TooNew> too_new(const Query& query, int64_t revision) {
  Result<std::optional<int64_t>> asked = query.number("resourceVersion");
  if (!asked.ok() || asked->value_or(0) <= revision) return std::nullopt;
  return TooNew{**asked};
}

}  // namespace trainyard::server
