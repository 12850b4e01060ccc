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

  bool operator==(const JobKey&) const = default;
  // The order of the members, as a default would have it, in half the steps: every pass looks for its key
  // in a dozen maps.
  std::strong_ordering operator<=>(const JobKey& other) const {
    if (dialect != other.dialect) return dialect <=> other.dialect;
    const int by_ns = ns.compare(other.ns);
    return (by_ns != 0 ? by_ns : name.compare(other.name)) <=> 0;
  }
};

}  // namespace trainyard::control
