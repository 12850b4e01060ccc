#include "dialect/shared/container_checks.h"

#include <fmt/format.h>

#include "dialect/shared/template.h"
#include "kube/access.h"
#include "kube/pod_parts.h"
#include "kube/quantity.h"

namespace trainyard::dialect {
namespace {

constexpr int kPortMax = 65535;
constexpr size_t kPortNameMax = 15;

// A text that must be there; reports and answers nullopt when it is not.
std::optional<std::string> required_text(const Reader& in, std::string_view key, std::string_view message) {
  std::optional<std::string> text = in.text(key);
  if (text && !text->empty()) return text;
  if (text || !in.has(key)) in.report(key, ProblemKind::kRequired, std::string(message));
  return std::nullopt;
}

void check_name(const Reader& container, ContainerNames& names) {
  std::optional<std::string> name = required_text(container, "name", "must be specified");
  if (!name) return;
  std::string fault = name_fault(*name, NameRule::kDns1123Label);
  if (!fault.empty()) container.report("name", ProblemKind::kInvalid, fault);
  if (!names.taken.insert(*name).second) {
    container.report("name", ProblemKind::kDuplicate, "another container has this name");
  }
}

void check_source(const Reader& entry) {
  Reader source = entry.child("valueFrom");
  if (!source.present()) return;
  int given = 0;
  for (std::string_view key :
       {"fieldRef", "resourceFieldRef", "configMapKeyRef", "secretKeyRef", "fileKeyRef"}) {
    if (source.child(key).present()) ++given;
  }
  if (source.object().empty()) {
    source.report(ProblemKind::kRequired,
                  "must specify one of: fieldRef, resourceFieldRef, configMapKeyRef, secretKeyRef");
  } else if (given > 1) {
    source.report(ProblemKind::kInvalid, "may not have more than one field specified at a time");
  }
  if (!kube::text_at(entry.object(), {"value"}).empty()) {
    source.report(ProblemKind::kInvalid, "may not be specified when value is not empty");
  }
}

void check_env(const Reader& container) {
  for (const Reader& entry : container.children("env")) {
    if (!entry.present()) continue;
    required_text(entry, "name", "must be specified");
    entry.text("value");
    check_source(entry);
  }
  for (const Reader& entry : container.children("envFrom")) {
    entry.child("configMapRef");
    entry.child("secretRef");
  }
}

// An IANA service name: at least one letter, no two hyphens together.
bool is_port_name(std::string_view name) {
  bool letter = false;
  char before = '-';
  for (char c : name) {
    if (c >= 'a' && c <= 'z')
      letter = true;
    else if (c != '-' && !(c >= '0' && c <= '9'))
      return false;
    if (c == '-' && before == '-') return false;
    before = c;
  }
  return letter && before != '-' && name.size() <= kPortNameMax;
}

void check_ports(const Reader& container) {
  std::set<std::string> names;
  for (const Reader& port : container.children("ports")) {
    if (!port.present()) continue;
    if (!port.has("containerPort")) port.report("containerPort", ProblemKind::kRequired, "must be specified");
    port.whole("containerPort", 1, kPortMax);
    port.whole("hostPort", 0, kPortMax);
    port.one_of("protocol", {"TCP", "UDP", "SCTP"});
    std::optional<std::string> name = port.text("name");
    if (!name || name->empty()) continue;
    if (!is_port_name(*name)) {
      port.report(
          "name", ProblemKind::kInvalid,
          fmt::format(
              "must be no more than {} characters: lower case letters, digits or '-', with at least one "
              "letter, no '-' at either end and no two together",
              kPortNameMax));
    }
    if (!names.insert(*name).second)
      port.report("name", ProblemKind::kDuplicate, "another port has this name");
  }
}

// Devices and the like: a name with a domain that is not Kubernetes' own.
bool is_extended(std::string_view resource) {
  return resource.find('/') != std::string_view::npos &&
         resource.find("kubernetes.io/") == std::string_view::npos;
}

// What is wrong with so much of a resource, "" when nothing is.
std::string amount_fault(std::string_view resource, const kube::Quantity& amount) {
  if (amount.is_negative()) return "must be greater than or equal to 0";
  if (is_extended(resource) && amount != kube::Quantity::of_whole(amount.value()))
    return "must be an integer";
  bool known = resource == "cpu" || resource == "memory" || resource == "ephemeral-storage" ||
               resource.starts_with("hugepages-") || resource.find('/') != std::string_view::npos;
  return known ? "" : "must be a standard resource for containers";
}

std::map<std::string, kube::Quantity> check_amounts(const Reader& amounts) {
  std::map<std::string, kube::Quantity> good;
  for (const auto& member : amounts.object()) {
    std::string_view key = key_of(member);
    if (member.value().is_null()) continue;
    Result<kube::Quantity> amount = kube::Quantity::from_json(member.value());
    std::string fault = amount.ok() ? amount_fault(key, *amount) : "must be a quantity, as 500m, 2 or 1Gi";
    if (fault.empty()) {
      good.emplace(key, *amount);
    } else {
      amounts.report(key, ProblemKind::kInvalid, fault);
    }
  }
  return good;
}

void check_mounts(const Reader& container, const std::set<std::string>& volumes) {
  std::set<std::string> paths;
  for (const Reader& mount : container.children("volumeMounts")) {
    if (!mount.present()) continue;
    std::optional<std::string> name = required_text(mount, "name", "must be specified");
    if (name && !volumes.contains(*name)) {
      mount.report("name", ProblemKind::kInvalid, "must be the name of one of the template's volumes");
    }
    std::optional<std::string> path = required_text(mount, "mountPath", "must be specified");
    if (path && !paths.insert(*path).second) {
      mount.report("mountPath", ProblemKind::kDuplicate, "another volume is mounted there");
    }
    mount.boolean("readOnly");
    mount.text("subPath");
  }
}

}  // namespace

void check_resources(const Reader& container) {
  Reader resources = container.child("resources");
  std::map<std::string, kube::Quantity> limits = check_amounts(resources.child("limits"));
  Reader requests = resources.child("requests");
  for (const auto& [key, amount] : check_amounts(requests)) {
    auto limit = limits.find(key);
    bool exact = is_extended(key);  // a device is not given out twice
    if (limit == limits.end()) {
      if (exact && !resources.child("limits").has(key))
        resources.report("limits", ProblemKind::kRequired,
                         fmt::format("must have {} as well: it cannot be overcommitted", key));
    } else if (amount > limit->second || (exact && amount != limit->second)) {
      requests.report(key, ProblemKind::kInvalid,
                      fmt::format("must be {} {} limit of {}", exact ? "equal to" : "less than or equal to",
                                  key, limit->second.to_string()));
    }
  }
}

void report_faults(const Reader& part, const kube::PartFaults& faults) {
  using Kind = kube::PartFault::Kind;
  for (const kube::PartFault& fault : faults) {
    const std::string found = fault.value.is_null() ? "" : shown(fault.value);
    auto note = [&](ProblemKind kind, std::string message) {
      part.problems().push_back({part.path_of(fault.path), kind, found, std::move(message)});
    };
    switch (fault.kind) {
      case Kind::kRequired:
        note(ProblemKind::kRequired, fault.why.empty() ? "must be specified" : fault.why);
        break;
      case Kind::kInvalid:
        note(ProblemKind::kInvalid, fault.why);
        break;
      case Kind::kForbidden:
        note(ProblemKind::kForbidden, fault.why);
        break;
      case Kind::kUnsupported:
        note(ProblemKind::kUnsupported,
             fmt::format("supported values: \"{}\"", fmt::join(fault.supported, "\", \"")));
        break;
    }
  }
}

void check_container(const Reader& container, ContainerNames& names) {
  if (!container.present()) return;
  check_name(container, names);
  required_text(container, "image", "must be required");
  container.texts("command");
  container.texts("args");
  container.text("workingDir");
  container.one_of("imagePullPolicy", {"Always", "IfNotPresent", "Never"});
  check_env(container);
  check_ports(container);
  check_resources(container);
  check_mounts(container, names.volumes);
  report_faults(container, kube::container_faults(container.object()));
}

}  // namespace trainyard::dialect
