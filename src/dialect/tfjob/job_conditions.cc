#include "dialect/tfjob/job_conditions.h"

#include "dialect/shared/conditions.h"
#include "kube/access.h"

namespace trainyard::dialect::tf {

JobConditions::JobConditions(json::array stored, Time now) : conditions_(std::move(stored)), now_(now) {}

bool JobConditions::has(std::string_view type) const { return find_condition(conditions_, type) != nullptr; }

bool JobConditions::is_true(std::string_view type) const { return condition_is(conditions_, type, "True"); }

void JobConditions::drop(std::string_view type) {
  for (size_t i = 0; i < conditions_.size(); ++i) {
    if (kube::text_at(conditions_[i].get_object(), {"type"}) != type) continue;
    conditions_.erase(conditions_.begin() + i);
    return;
  }
}

void JobConditions::turn_false(std::string_view type) {
  if (json::object* found = find_condition(conditions_, type)) (*found)["status"] = "False";
}

void JobConditions::set(std::string_view type, bool status, std::string_view reason,
                        std::string_view message) {
  if (is_true("Failed")) return;
  std::string_view word = status ? "True" : "False";
  std::string now = format_rfc3339(now_);
  std::string since = now;
  if (const json::object* old = find_condition(conditions_, type)) {
    bool same_status = kube::text_at(*old, {"status"}) == word;
    if (same_status && kube::text_at(*old, {"reason"}) == reason) return;
    if (same_status) since = kube::text_at(*old, {"lastTransitionTime"});
  }
  drop(type);
  if (type == "Restarting") drop("Running");
  if (type == "Running") drop("Restarting");
  if (status && (type == "Succeeded" || type == "Failed")) {
    turn_false("Running");
    turn_false("Restarting");
  }
  json::object fresh;
  fresh["type"] = kube::jview(type);
  fresh["status"] = kube::jview(word);
  fresh["reason"] = kube::jview(reason);
  fresh["message"] = kube::jview(message);
  fresh["lastUpdateTime"] = now;
  fresh["lastTransitionTime"] = since;
  conditions_.push_back(std::move(fresh));
}

}  // namespace trainyard::dialect::tf
