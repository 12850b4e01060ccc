// PartFault: what an API server finds wrong with a part of a pod, and the rules that parts share:
// paths that stay below where they begin, fields that can be told to a container. Pure.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kube/json.h"

namespace trainyard::kube {

struct PartFault {
  enum class Kind { kRequired, kInvalid, kForbidden, kUnsupported };
  Kind kind = Kind::kInvalid;
  std::string path;                         // below the part: "hostPath.path"
  json::value value;                        // what was found, of kInvalid and kUnsupported
  std::string why;                          // what is wrong, of all but kUnsupported
  std::vector<std::string_view> supported;  // of kUnsupported, whose value is a text
};
using PartFaults = std::vector<PartFault>;

void add_required(PartFaults& faults, std::string path, std::string why = "");
void add_invalid_value(PartFaults& faults, std::string path, json::value value, std::string why);
void add_invalid(PartFaults& faults, std::string path, std::string_view value, std::string why);
void add_forbidden(PartFaults& faults, std::string path, std::string why);
void add_unsupported(PartFaults& faults, std::string path, std::string_view value,
                     std::span<const std::string_view> supported);

// Whether a member is there and not null.
bool is_there(const json::object& in, std::string_view member);

// Whether one of a path's names is "..".
bool goes_up(std::string_view path);
// That a path is relative and stays below where it begins.
void check_descending(std::string_view path, std::string at, PartFaults& faults);
// That what is there is a field of a pod, and one of those that can be told here. `at`: of the fieldRef.
void check_field_ref(const json::object& ref, std::span<const std::string_view> told, std::string at,
                     PartFaults& faults);

}  // namespace trainyard::kube
