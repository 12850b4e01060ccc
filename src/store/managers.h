// The managers of an object's fields: metadata.managedFields as values, and what a write
// by one of them does to the others. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "kube/json.h"
#include "kube/managed_fields.h"
#include "kube/meta.h"
#include "kube/request.h"

namespace trainyard::store {

// One entry of managedFields. Who it is are the first four.
struct Manager {
  std::string name;
  bool applies = false;  // operation Apply, else Update
  std::string api_version;
  std::string subresource;
  std::string time;
  kube::FieldSet fields;

  bool is_same(const Manager& other) const;
  bool operator==(const Manager&) const = default;
};
using Managers = std::vector<Manager>;

inline constexpr size_t kManagerNameMax = 128;

// Who had everything of an object of which nobody was kept when the first apply came.
inline constexpr std::string_view kBeforeFirstApply = "before-first-apply";

// None when there is none or it cannot be read.
Managers read_managers(const json::object& object);
void write_managers(json::object& object, const Managers& managers);

// Those of the fields that a request about that part can manage. Nobody manages what the server
// itself sets.
kube::FieldSet managed_part(kube::FieldSet fields, kube::Part part);

// A write that is not an apply: `who` manages what changed, alone. A writer without a name
// takes from the others and has nothing.
Managers after_update(Managers managers, const Manager& who, const kube::FieldChanges& changes);

// What an apply may take from others.
struct Takes {
  bool force = false;   // everything
  kube::FieldSet free;  // these anyhow
};

// An apply: `who` (with the fields of what it applies) changes others' fields only as far as it may
// take them; else that is kConflict, with every other field named.
Result<Managers> after_apply(Managers managers, const Manager& who, const kube::FieldChanges& changes,
                             const Takes& takes);

}  // namespace trainyard::store
