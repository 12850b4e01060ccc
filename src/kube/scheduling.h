// What schedulers read and write besides pods and nodes: bindings, priority classes, volumes.
// Pure.
#pragma once

#include <string_view>

#include "kube/access.h"
#include "kube/json.h"
#include "kube/meta.h"

namespace trainyard::kube {

// A pod is given its node by creating one of these: nothing of it is stored. The server answers
// kConflict when the pod has a node, is being deleted or is another of that name.
inline constexpr Resource kBindings{"", "v1", "Binding", "bindings", true, false};
inline constexpr Resource kPriorityClasses{"scheduling.k8s.io", "v1",  "PriorityClass",
                                           "priorityclasses",   false, false};
inline constexpr Resource kPersistentVolumes{"", "v1", "PersistentVolume", "persistentvolumes", false};
inline constexpr Resource kStorageClasses{"storage.k8s.io", "v1",  "StorageClass",
                                          "storageclasses", false, false};
inline constexpr Resource kCsiDrivers{"storage.k8s.io", "v1", "CSIDriver", "csidrivers", false, false};
inline constexpr Resource kCsiStorageCapacities{"storage.k8s.io",       "v1", "CSIStorageCapacity",
                                                "csistoragecapacities", true, false};

// On a claim whose class waits for the first consumer: the node for which its volume is to be made.
inline constexpr std::string_view kSelectedNodeAnnotation = "volume.kubernetes.io/selected-node";
// On a volume whose claim was chosen for it: it may be taken from it again.
inline constexpr std::string_view kBoundByControllerAnnotation = "pv.kubernetes.io/bound-by-controller";

// On a PodGroup, or on a job for its PodGroup: the node label of which all members must, or should
// if possible, have one value.
inline constexpr std::string_view kSameTopologyAnnotation = "trainyard.dev/same-topology";
inline constexpr std::string_view kPreferSameTopologyAnnotation = "trainyard.dev/prefer-same-topology";

// On a PodGroup: the schedulerName of the pods it is for, where its kind does not tell. Of a group without
// pods nobody else could know whether it is theirs to let in.
inline constexpr std::string_view kPlacedByAnnotation = "trainyard.dev/gang-scheduler";

inline json::object binding(std::string_view ns, std::string_view pod, std::string_view uid,
                            std::string_view node) {
  return {{"apiVersion", "v1"},
          {"kind", "Binding"},
          {"metadata", json::object{{"name", jview(pod)}, {"namespace", jview(ns)}, {"uid", jview(uid)}}},
          {"target", json::object{{"apiVersion", "v1"}, {"kind", "Node"}, {"name", jview(node)}}}};
}

}  // namespace trainyard::kube
