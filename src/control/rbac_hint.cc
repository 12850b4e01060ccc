#include "control/rbac_hint.h"

#include <fmt/format.h>

namespace trainyard::control {
namespace {

// What stands between two marks; nullopt when they are not there.
std::optional<std::string_view> between(std::string_view text, std::string_view before,
                                        std::string_view after) {
  size_t start = text.find(before);
  if (start == std::string_view::npos) return std::nullopt;
  start += before.size();
  size_t end = text.find(after, start);
  if (end == std::string_view::npos) return std::nullopt;
  return text.substr(start, end - start);
}

}  // namespace

std::optional<MissingRight> missing_right(std::string_view message) {
  std::optional<std::string_view> verb = between(message, " cannot ", " resource \"");
  std::optional<std::string_view> resource = between(message, " resource \"", "\"");
  std::optional<std::string_view> group = between(message, " in API group \"", "\"");
  if (!verb || !resource || !group || verb->find(' ') != std::string_view::npos) return std::nullopt;
  std::optional<std::string_view> ns = between(message, " in the namespace \"", "\"");
  return MissingRight{std::string(*verb), std::string(*resource), std::string(*group),
                      std::string(ns.value_or(""))};
}

std::string what_to_grant(const MissingRight& missing) {
  // Who may list something in vain may as a rule not watch it either.
  bool reads = missing.verb == "list" || missing.verb == "watch";
  return fmt::format("grant verbs [{}] on resources [{}] of apiGroups [\"{}\"] {}",
                     reads ? "list, watch" : missing.verb, missing.resource, missing.group,
                     missing.ns.empty()
                         ? "in the whole cluster, by a ClusterRole and a ClusterRoleBinding"
                         : fmt::format("in namespace {}, by a Role and a RoleBinding", missing.ns));
}

}  // namespace trainyard::control
