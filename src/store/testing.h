// For tests of the store: the moment at which they happen, and an object to put into it.
#pragma once

#include <string_view>

#include "base/time.h"
#include "kube/json.h"

namespace trainyard::store {

inline constexpr Time kNow{1'700'000'000'000};

inline json::object thing(std::string_view name) {
  return {{"metadata", json::object{{"name", name}}}, {"data", json::object{}}};
}

}  // namespace trainyard::store
