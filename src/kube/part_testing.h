// What the tests of a pod's parts share: a part as text in, its faults as text out.
#pragma once

#include <fmt/format.h>

#include "kube/access.h"
#include "kube/part_fault.h"

namespace trainyard::kube {

struct PartRow {
  std::string_view part;
  std::string_view expected;
};

inline json::object part_of(std::string_view text) { return json::parse(jview(text)).as_object(); }

// "invalid hostPath.path = /a/../b; required secret.secretName"
inline std::string fault_text(const PartFaults& faults) {
  constexpr std::string_view kKinds[] = {"required", "invalid", "forbidden", "unsupported"};
  std::string all;
  for (const PartFault& fault : faults) {
    const json::string* text = fault.value.if_string();
    std::string value = text != nullptr ? std::string(view(*text)) : json::serialize(fault.value);
    all += fmt::format("{}{} {}{}{}", all.empty() ? "" : "; ", kKinds[static_cast<int>(fault.kind)],
                       fault.path, fault.value.is_null() ? "" : " = ", fault.value.is_null() ? "" : value);
  }
  return all;
}

}  // namespace trainyard::kube
