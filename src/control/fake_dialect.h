// A dialect for the tests of control: the smallest manifest that needs everything.
//
//   {"spec": {"workers": 2, "policy": "Never" | "Restart", "hold": true, "companion": true,
//             "ttl": 10, "gang": true, "group": "an annotation of every pod"}}
//
// Pods are <job>-worker-<i>; the job succeeds when all workers have; its status is
// {"phase", "trainyard"}. A negative number of workers is invalid.
#pragma once

#include "dialect/shared/dialect.h"

namespace trainyard::control::testing {

inline constexpr kube::Resource kToys{"toys.example.com", "v1", "Toy", "toys"};

const dialect::Dialect& toy();

}  // namespace trainyard::control::testing
