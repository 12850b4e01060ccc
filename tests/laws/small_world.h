// SmallWorld: the plainest world a plan can be carried out in: whatever is ordered is
// there at once, pods run in the next turn and end in the one after. For the laws that
// must hold for every status that a job ever gets; trouble is the simulator's business.
#pragma once

#include <string>

#include "model/observation.h"
#include "model/plan.h"

namespace trainyard::laws {

class SmallWorld {
 public:
  // The exit code of every pod of the first attempt; later attempts end with 0.
  explicit SmallWorld(int first_exit_code) : first_exit_code_(first_exit_code) {}

  // Does what was planned. REQUIRES: the plan was made for `seen`.
  void carry_out(const model::Plan& plan, model::Observation& seen);
  // A turn of the kubelets: pending pods run, running ones end.
  void turn(model::Observation& seen, Time now) const;

 private:
  int first_exit_code_;
  int next_uid_ = 1;
};

}  // namespace trainyard::laws
