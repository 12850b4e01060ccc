// The TFJob dialect: kubeflow.org/v1 TFJob, and the spellings of v1beta2, v1beta1, v1alpha2
// and v1alpha1. Pure; see dialect/shared/dialect.h for what a dialect gives.
#pragma once

#include "dialect/shared/dialect.h"

namespace trainyard::dialect {

const Dialect& tfjob();

}  // namespace trainyard::dialect
