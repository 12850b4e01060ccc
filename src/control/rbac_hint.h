// What a role lacks, read from the words in which an API server refuses. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace trainyard::control {

struct MissingRight {
  std::string verb;
  std::string resource;  // with its subresource: "tfjobs/status"
  std::string group;     // "" for the core
  std::string ns;        // "" for the whole cluster

  bool operator==(const MissingRight&) const = default;
};

// nullopt when the message is about something else (a quota, a policy).
std::optional<MissingRight> missing_right(std::string_view message);
// "grant verbs [create] on resources [pods] of apiGroups [""] in namespace a, by a Role ..."
std::string what_to_grant(const MissingRight& missing);

}  // namespace trainyard::control
