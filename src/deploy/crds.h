// The CustomResourceDefinitions that a cluster needs for our kinds. Pure.
//
// TFJob is stored as v1 and served as v1beta2, v1beta1 and v1alpha2 as well, converted by
// changing the version alone: the schema of v1 has the places of the older fields, too.
#pragma once

#include <vector>

#include "kube/json.h"

namespace trainyard::deploy {

// TFJob, TensorFlowTrainingJob, TensorBoard and the queues and pod groups of T9k.
std::vector<json::object> own_crds();

// The Job, PodGroup, Queue and Command of Volcano, for clusters where Volcano is not: enough
// for our own operator and scheduler, not a substitute for Volcano's own definitions.
std::vector<json::object> volcano_crds();

// The PodGroup of kube-batch. Its own definition is of apiextensions.k8s.io/v1beta1, which no Kubernetes
// since 1.22 takes.
std::vector<json::object> kube_batch_crds();

}  // namespace trainyard::deploy
