// Condition arrays of a status ([{type, status, reason, message, ...}]), read and kept.
// Pure. Entries are looked up by type; what else an entry holds is left alone.
#pragma once

#include <string_view>

#include "base/time.h"
#include "kube/json.h"

namespace trainyard::dialect {

// The array at status.conditions with everything that is not an object left out.
json::array conditions_of(const json::object& status);

// The first condition of that type, null when there is none.
json::object* find_condition(json::array& conditions, std::string_view type);
const json::object* find_condition(const json::array& conditions, std::string_view type);
bool condition_is(const json::array& conditions, std::string_view type, std::string_view status);

// Sets the condition where it stands (or appends it): lastTransitionTime is `now` when the
// status changed and stays as it was when it did not. Returns whether anything changed.
bool set_condition(json::array& conditions, std::string_view type, std::string_view status,
                   std::string_view reason, std::string_view message, Time now);

}  // namespace trainyard::dialect
