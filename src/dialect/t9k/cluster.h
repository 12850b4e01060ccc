// The cluster as TensorFlow hears of it: the ports of a role and TF_CONFIG. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "dialect/shared/dialect.h"
#include "kube/objects.h"

namespace trainyard::t9k {

// The pod template of a role, {} when there is none.
const json::object& template_of(const model::JobSpec& spec, std::string_view type);

// Where the role's TensorFlow server listens: the main container's port named tfjob-port, else 2222.
int port_of(const json::object& pod_template);

// The ports of a replica's service: TensorFlow's first, then what else the main container
// declares. Every one has a name, as a service of several ports needs.
std::vector<kube::ServicePort> ports_of(const json::object& pod_template);

// {"cluster":{"<type>":["<host>:<port>",...]},"task":{"type":"<type>","index":<n>}}, roles in
// the manifest's order. The evaluator is no member of the cluster it watches: it is left out
// unless settings ask for it. A job of one replica has its TF_CONFIG like any other, because
// the scripts written for T9k read it without asking whether it is there, and TensorFlow
// takes a cluster of one.
std::string tf_config(const model::JobSpec& spec, const dialect::Settings& settings, model::ReplicaId id);

}  // namespace trainyard::t9k
