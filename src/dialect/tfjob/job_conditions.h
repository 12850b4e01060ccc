// The conditions of a TFJob and the rules by which they change. Pure value.
//
// The order is what people see (the State column shows the last one): a condition that
// changes goes to the end. The same status and reason again change nothing. Failed, once
// true, ends all change. Running and Restarting drive one another out. When the job has
// ended, Running and Restarting stay where they are and turn False.
#pragma once

#include <string_view>
#include <utility>

#include "base/time.h"
#include "kube/json.h"

namespace trainyard::dialect::tf {

class JobConditions {
 public:
  JobConditions(json::array stored, Time now);

  void set(std::string_view type, bool status, std::string_view reason, std::string_view message);
  bool has(std::string_view type) const;
  bool is_true(std::string_view type) const;
  // Succeeded or Failed is true: the job has ended.
  bool ended() const { return is_true("Succeeded") || is_true("Failed"); }
  const json::array& array() const { return conditions_; }
  // The last thing that is asked of it.
  json::array take() { return std::move(conditions_); }

 private:
  void drop(std::string_view type);
  void turn_false(std::string_view type);

  json::array conditions_;
  Time now_;
};

}  // namespace trainyard::dialect::tf
