// Arguments of a job plugin, read as Go's flag package reads them: --name=value,
// -name=value, -name value, and for switches --name alone. Pure.
//
//   Flags flags(arguments);
//   std::string ps = flags.text("ps", "ps");
//   int port = flags.whole("port", 2222, 1, 65535);
//   for (const std::string& fault : flags.faults()) ...
//
// A flag must be asked for before rest() or faults() is looked at: what nobody asked
// for is a fault. Which flags are switches must be known first, because "-a b" means
// another thing for a switch.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace trainyard::dialect::vc {

class Flags {
 public:
  Flags(const std::vector<std::string>& arguments, const std::set<std::string_view>& switches);

  std::string text(std::string_view name, std::string_view fallback);
  int whole(std::string_view name, int fallback, int low, int high);
  bool boolean(std::string_view name, bool fallback);

  // Everything wrong with the arguments, in order of the arguments where they have one.
  std::vector<std::string> faults() const;

 private:
  std::map<std::string, std::string, std::less<>> given_;
  std::set<std::string, std::less<>> asked_;
  std::vector<std::string> faults_;
};

}  // namespace trainyard::dialect::vc
