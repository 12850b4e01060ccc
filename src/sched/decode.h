// decode: the parts of documents that pods, nodes, queues and volumes have in common. Pure; what is
// not as it should be is left out.
#pragma once

#include <string>
#include <vector>

#include "kube/json.h"
#include "sched/cluster.h"

namespace trainyard::sched {

// The texts of a list, sorted; null is an empty list.
std::vector<std::string> decode_texts(const json::array* list);
Labels decode_labels(const json::object* labels);
// An affinity's requirement list: [{key, operator, values}].
std::vector<kube::Requirement> decode_requirements(const json::array* expressions);
// One of nodeSelectorTerms.
NodeTerm decode_node_term(const json::object& term);
// Of a LabelSelector; one that is not valid, or null, matches nothing.
std::vector<kube::Requirement> decode_selector(const json::value& selector);

}  // namespace trainyard::sched
