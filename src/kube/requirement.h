// Whether one requirement of a selector holds. Pure.
#pragma once

#include <optional>
#include <string_view>

#include "kube/selector.h"

namespace trainyard::kube {

// `value`: what stands under the requirement's key; nullopt when nothing does.
bool holds(const Requirement& requirement, std::optional<std::string_view> value);

}  // namespace trainyard::kube
