// Admission of the built-in kinds: the defaults and the validation of a Kubernetes API
// server for the kinds that a training job meets, in its words. Pure: every function
// completes the object and answers with what is wrong; `before` is null for a creation.
// Kinds that are not here are taken as they come.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "kube/json.h"
#include "kube/meta.h"
#include "store/errors.h"
#include "store/store.h"

namespace trainyard::store {

inline constexpr kube::Resource kPriorityClasses{"scheduling.k8s.io", "v1",  "PriorityClass",
                                                 "priorityclasses",   false, false};
inline constexpr kube::Resource kCustomResourceDefinitions{
    "apiextensions.k8s.io", "v1", "CustomResourceDefinition", "customresourcedefinitions", false};
// Holds a definition until the objects of its kind have gone; whoever serves the kind takes it away.
inline constexpr std::string_view kCustomResourceCleanup = "customresourcecleanup.apiextensions.k8s.io";

// Calls `add` for every built-in kind: a store's or a hub's set_admission.
void admit_builtins(const std::function<void(const kube::Resource&, Admission)>& add);

Causes admit_pod(json::object& pod, const json::object* before);
// The two halves of that which every write of a pod's spec goes through.
void default_pod_spec(json::object& spec);
void check_pod_spec(const json::object& spec, Causes& causes);
Causes admit_service(json::object& service, const json::object* before);
Causes admit_config_map(json::object& config_map, const json::object* before);
Causes admit_secret(json::object& secret, const json::object* before);
Causes admit_volume_claim(json::object& claim, const json::object* before);
Causes admit_event(json::object& event, const json::object* before);
Causes admit_lease(json::object& lease, const json::object* before);
Causes admit_priority_class(json::object& priority_class, const json::object* before);
Causes admit_custom_resource_definition(json::object& definition, const json::object* before);

// Labels and annotations, which every kind has.
void check_labels(const json::object& object, Causes& causes);

// A label of a DNS name; `starts_with_letter`: as a service's name must.
bool is_dns_label(std::string_view text, bool starts_with_letter = false);
inline constexpr std::string_view kDnsLabelRule =
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start "
    "and "
    "end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')";

// Sets a member that is not there or null.
void set_default(json::object& in, std::string_view member, json::value value);

}  // namespace trainyard::store
