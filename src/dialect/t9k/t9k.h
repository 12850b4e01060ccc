// T9k: the front end of TensorFlowTrainingJobs (batch.tensorstack.dev/v1beta1). Pure.
// See dialect/shared/dialect.h for what each function of a dialect promises.
#pragma once

#include "dialect/shared/dialect.h"

namespace trainyard::dialect {

const Dialect& t9k();

}  // namespace trainyard::dialect
