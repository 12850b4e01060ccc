// What is to be seen of a TFJob, ours and theirs, brought to the same few words so that
// they can be compared. Pure but for the World it looks at.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "harness.h"
#include "world.h"

namespace trainyard::recorded {

// Facts by name: "conditions" -> "Created=True Running=True".
using Facts = std::map<std::string, std::string>;

Facts status_facts(const json::object& status);
std::string event_line(std::string_view type, std::string_view reason, std::string_view message);

// Compares step after step; remembers what "unchanged" and "as before" stand for.
class Sight {
 public:
  Sight(std::string file, World& world) : file_(std::move(file)), world_(world) {}

  // `see` is the step's entry in the recording.
  void compare(int step, const json::object& see);
  std::vector<Difference> take() { return std::exchange(found_, {}); }

 private:
  void note(int step, const std::string& what, const std::string& ours, const std::string& theirs);
  void compare_facts(int step, const Facts& ours, const Facts& theirs);
  void compare_job(int step, const json::value& job);
  void compare_times(int step, const json::object& ours, const json::object& theirs);
  void compare_pods(int step, const json::value& pods);
  void compare_services(int step, const json::value& services);
  void compare_gang(int step, const json::value& groups);
  void compare_events(int step, const json::array& theirs);

  // Fixed.
  std::string file_;
  World& world_;
  // State.
  json::object their_status_;
  json::object our_last_status_;
  json::object their_last_status_;
  std::map<std::string, int> our_services_made_;
  std::vector<Difference> found_;
};

}  // namespace trainyard::recorded
