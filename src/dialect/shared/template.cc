#include "dialect/shared/template.h"

#include <fmt/format.h>

#include <set>

#include "dialect/shared/container_checks.h"
#include "dialect/shared/dialect.h"
#include "kube/access.h"
#include "kube/meta.h"
#include "kube/placement_parts.h"
#include "kube/selector.h"
#include "kube/volume_parts.h"

namespace trainyard::dialect {
namespace {

constexpr size_t kLabelMax = 63;
constexpr size_t kSubdomainMax = 253;
constexpr size_t kGeneratedMax = 58;  // of generateName, to which the server adds five characters

bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_label(std::string_view name, bool starts_with_letter) {
  if (name.empty() || name.front() == '-' || name.back() == '-') return false;
  if (starts_with_letter && !is_lower(name.front())) return false;
  for (char c : name) {
    if (!is_lower(c) && !is_digit(c) && c != '-') return false;
  }
  return true;
}

bool is_subdomain(std::string_view name) {
  while (true) {
    size_t dot = name.find('.');
    if (!is_label(name.substr(0, dot), false)) return false;
    if (dot == std::string_view::npos) return true;
    name.remove_prefix(dot + 1);
  }
}

bool fits(std::string_view name, NameRule rule) {
  switch (rule) {
    case NameRule::kDns1035Label:
      return is_label(name, true);
    case NameRule::kDns1123Label:
      return is_label(name, false);
    case NameRule::kDns1123Subdomain:
      return is_subdomain(name);
  }
  return false;
}

std::string_view demand(NameRule rule) {
  switch (rule) {
    case NameRule::kDns1035Label:
      return "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an "
             "alphabetic "
             "character, and end with an alphanumeric character";
    case NameRule::kDns1123Label:
      return "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must "
             "start "
             "and end with an alphanumeric character";
    case NameRule::kDns1123Subdomain:
      return "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', "
             "and "
             "must start and end with an alphanumeric character";
  }
  return "";
}

void check_labels(const Reader& metadata) {
  Reader labels = metadata.child("labels");
  for (const auto& member : labels.object()) {
    std::string_view key = key_of(member);
    if (member.value().is_null()) continue;
    if (!kube::is_label_key(key)) labels.report(key, ProblemKind::kInvalid, "the key is not a label key");
    std::optional<std::string> value = labels.text(key);
    if (value && !kube::is_label_value(*value)) {
      labels.report(
          key, ProblemKind::kInvalid,
          "a label value must be at most 63 characters of letters, digits, '-', '_' or '.', and start and "
          "end with a letter or digit");
    }
  }
}

void check_string_map(const Reader& map) {
  for (const auto& member : map.object()) map.text(key_of(member));
}

std::set<std::string> check_volumes(const Reader& spec) {
  std::set<std::string> names;
  for (const Reader& volume : spec.children("volumes")) {
    std::optional<std::string> name = volume.text("name");
    if (volume.present()) report_faults(volume, kube::volume_faults(volume.object()));
    if (!volume.present() || (volume.has("name") && !name)) continue;
    if (!name || name->empty()) {
      volume.report("name", ProblemKind::kRequired, "must be specified");
      continue;
    }
    std::string fault = name_fault(*name, NameRule::kDns1123Label);
    if (!fault.empty()) volume.report("name", ProblemKind::kInvalid, fault);
    if (!names.insert(*name).second)
      volume.report("name", ProblemKind::kDuplicate, "another volume has this name");
  }
  return names;
}

// The fields that a pod is placed and run by.
void check_pod_fields(const Reader& spec) {
  // "" stands for nothing, as it does for servers.
  const json::value* policy = spec.raw("restartPolicy");
  if (policy != nullptr && *policy != "") spec.one_of("restartPolicy", {"Always", "OnFailure", "Never"});
  spec.one_of("dnsPolicy", {"ClusterFirst", "ClusterFirstWithHostNet", "Default", "None", ""});
  for (std::string_view key :
       {"schedulerName", "priorityClassName", "serviceAccountName", "nodeName", "runtimeClassName"}) {
    std::string name = spec.text(key).value_or("");
    if (name.empty() || key == "schedulerName") continue;  // a scheduler is called what it likes
    std::string fault = name_fault(name, NameRule::kDns1123Subdomain);
    if (!fault.empty()) spec.report(key, ProblemKind::kInvalid, fault);
  }
  for (std::string_view key : {"hostname", "subdomain"}) {
    std::string name = spec.text(key).value_or("");
    std::string fault = name.empty() ? "" : name_fault(name, NameRule::kDns1123Label);
    if (!fault.empty()) spec.report(key, ProblemKind::kInvalid, fault);
  }
  for (std::string_view key : {"hostNetwork", "hostIPC", "hostPID", "shareProcessNamespace",
                               "automountServiceAccountToken", "enableServiceLinks"}) {
    spec.boolean(key);
  }
  spec.whole("activeDeadlineSeconds", 1);
  spec.whole("terminationGracePeriodSeconds", 0);
  for (std::string_view key : {"affinity", "securityContext", "dnsConfig", "overhead"}) spec.child(key);
  for (std::string_view key : {"imagePullSecrets", "hostAliases", "topologySpreadConstraints"}) {
    spec.children(key);
  }
  for (const Reader& toleration : spec.children("tolerations")) {
    toleration.one_of("operator", {"Equal", "Exists", "Lt", "Gt", ""});
    toleration.one_of("effect", {"NoSchedule", "PreferNoSchedule", "NoExecute", ""});
  }
  check_string_map(spec.child("nodeSelector"));
  report_faults(spec, kube::placement_faults(spec.object()));
  const json::value* debuggers = spec.raw("ephemeralContainers");
  if (debuggers != nullptr && !debuggers->is_null()) {
    spec.report("ephemeralContainers", ProblemKind::kForbidden,
                "a pod template cannot have them: they are added to pods that run");
  }
}

}  // namespace

std::string name_fault(std::string_view name, NameRule rule) {
  std::string fault;
  if (!fits(name, rule)) fault = demand(rule);
  size_t limit = rule == NameRule::kDns1123Subdomain ? kSubdomainMax : kLabelMax;
  if (name.size() > limit) {
    fault += fmt::format("{}must be no more than {} characters", fault.empty() ? "" : ", ", limit);
  }
  return fault;
}

std::string job_name(const json::object& job) {
  std::string_view name = kube::name_of(job);
  if (!name.empty()) return std::string(name);
  std::string_view stem = kube::text_at(job, {"metadata", "generateName"});
  if (stem.empty()) return "";
  return fmt::format("{}xxxxx", stem.substr(0, kGeneratedMax));
}

void check_metadata(const Reader& root, NameRule rule) {
  Reader metadata = root.child("metadata");
  if (!metadata.present() && root.has("metadata")) return;
  bool generated = !metadata.has("name") && metadata.has("generateName");
  std::string_view key = generated ? "generateName" : "name";
  std::optional<std::string> given = metadata.text(key);
  if (given && !given->empty()) {
    std::string fault = name_fault(generated ? job_name(root.object()) : *given, rule);
    if (!fault.empty()) metadata.report(key, ProblemKind::kInvalid, "should match: " + fault);
  } else if (given || !metadata.has(key)) {
    metadata.report("name", ProblemKind::kRequired, "name or generateName is required");
  }
  std::optional<std::string> name_space = metadata.text("namespace");
  if (name_space && !name_space->empty()) {
    std::string fault = name_fault(*name_space, NameRule::kDns1123Label);
    if (!fault.empty()) metadata.report("namespace", ProblemKind::kInvalid, fault);
  }
  check_labels(metadata);
  check_string_map(metadata.child("annotations"));
}

void check_template(const Reader& pod_template, std::string_view main_container) {
  Reader metadata = pod_template.child("metadata");
  check_labels(metadata);
  check_string_map(metadata.child("annotations"));
  metadata.texts("finalizers");

  Reader spec = pod_template.child("spec");
  if (!spec.present() && pod_template.has("spec")) return;
  check_pod_fields(spec);
  ContainerNames names{.volumes = check_volumes(spec)};
  bool main_found = false;
  for (const Reader& container : spec.children("containers")) {
    check_container(container, names);
    if (kube::text_at(container.object(), {"name"}) == main_container) main_found = true;
  }
  for (const Reader& container : spec.children("initContainers")) check_container(container, names);

  const json::value* containers = spec.raw("containers");
  if (containers != nullptr && !containers->is_array()) return;
  if (containers == nullptr || containers->get_array().empty()) {
    spec.report("containers", ProblemKind::kRequired, "must be specified");
  }
  if (!main_container.empty() && !main_found) {
    Reader(nullptr, spec.path_of("containers"), spec.problems())
        .report(ProblemKind::kRequired,
                fmt::format("must have at least one container with name {}", main_container));
  }
}

void check_child_names(const Reader& where, std::string_view prefix, std::string_view role, int replicas) {
  if (replicas <= 0 || prefix.empty() || prefix.size() > kLabelMax) return;
  std::string name = fmt::format("{}-{}-{}", prefix, role, replicas - 1);
  if (name.size() > kLabelMax) {
    where.report(
        ProblemKind::kTooLong,
        fmt::format("its last replica would be named {}, which has {} characters: the name of a Service must "
                    "be no more than {}",
                    name, name.size(), kLabelMax));
  } else if (fits(prefix, NameRule::kDns1035Label) && !fits(name, NameRule::kDns1035Label)) {
    where.report(ProblemKind::kInvalid, fmt::format("its last replica would be named {}: {}", name,
                                                    demand(NameRule::kDns1035Label)));
  }
}

RestartWish restart_wish(const Reader& root) {
  Reader annotations = root.child("metadata").child("annotations");
  auto said = [&](std::string_view key, std::initializer_list<std::string_view> words) {
    bool there = annotations.has(key) && annotations.raw(key)->is_string();
    return there ? annotations.one_of(key, words) : std::nullopt;
  };
  RestartWish wish;
  wish.mirrored =
      said(kStrategyAnnotation, {"MultiWorkerMirrored", "ParameterServer"}) == "MultiWorkerMirrored";
  if (wish.mirrored) wish.scope = model::Scope::kJob;
  std::optional<std::string> word = said(kRestartScopeAnnotation, {"pod", "role", "job"});
  if (word == "pod") wish.scope = model::Scope::kPod;
  if (word == "role") wish.scope = model::Scope::kRole;
  if (word == "job") wish.scope = model::Scope::kJob;
  return wish;
}

bool holds_deletion(const Reader& root) {
  Reader annotations = root.child("metadata").child("annotations");
  if (!annotations.has(kHoldAnnotation) || !annotations.raw(kHoldAnnotation)->is_string()) return false;
  return annotations.one_of(kHoldAnnotation, {"true", "false"}) == "true";
}

}  // namespace trainyard::dialect
