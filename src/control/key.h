// JobKey: which job a pass is about: the dialect by its position in the list the
// operator was given, and the object's namespace and name. Value.
#pragma once

#include <compare>
#include <string>

namespace trainyard::control {

struct JobKey {
  int dialect = 0;
  std::string ns;
  std::string name;

  auto operator<=>(const JobKey&) const = default;
};

}  // namespace trainyard::control
