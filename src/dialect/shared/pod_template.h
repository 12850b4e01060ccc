// Making a Pod from the template in a manifest. Pure. Everything that is in the
// template and that we do not set is passed on untouched.
#pragma once

#include <string_view>

#include "kube/json.h"

namespace trainyard::dialect {

// The template's labels, annotations and finalizers are kept; name, namespace and owner
// are set; the attempt is written only when it is not the first, so that a first pod
// equals the one the original system would have made. `owner_reference` may be {}: then
// the pod has no owner (a manifest that was never stored has no uid).
// REQUIRES: pod_template passed check_template.
json::object pod_from_template(const json::object& pod_template, std::string_view name,
                               std::string_view name_space, const json::object& owner_reference, int attempt);

// The pod's container of that name (the first one when name is ""), null when there is none.
json::object* main_container(json::object& pod, std::string_view name);
// Same in a pod or template that is only read.
const json::object* main_container(const json::object& pod, std::string_view name);

void set_label(json::object& object, std::string_view key, std::string_view value);
void set_annotation(json::object& object, std::string_view key, std::string_view value);

// Appends, as the last entry; an entry of that name already there is left where it is
// (the last one wins when the container is started).
void append_env(json::object& container, std::string_view name, std::string_view value);

}  // namespace trainyard::dialect
