// Why a Volcano Job is where it is, in words for its status. Pure.
#pragma once

#include <string>

#include "model/job_state.h"

namespace trainyard::dialect::vc {

struct Reason {
  std::string reason;   // one word in CamelCase, "" when there is nothing to say
  std::string message;  // a sentence

  bool operator==(const Reason&) const = default;
};

Reason reason_of(const model::JobState& state);

}  // namespace trainyard::dialect::vc
