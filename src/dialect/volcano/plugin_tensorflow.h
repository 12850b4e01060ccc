// The tensorflow plugin: TF_CONFIG for every main container. Pure.
//
// {"cluster":{"ps":[...],"worker":[...],"chief":[...],"evaluator":[...]},"task":{"type":T,"index":I}}
// with these keys in this order and roles without replicas left out. A task of another
// name is its own type and stands in no list. A job of one task with one replica gets none.
#pragma once

#include <optional>
#include <string>

#include "dialect/volcano/plugins.h"
#include "dialect/volcano/spec.h"
#include "kube/json.h"

namespace trainyard::dialect::vc {

std::optional<std::string> tf_config(const TensorFlowPlugin& plugin, const Spec& spec, const Task& task,
                                     int index);

void apply(const TensorFlowPlugin& plugin, const Spec& spec, const Task& task, int index, json::object& pod);

}  // namespace trainyard::dialect::vc
