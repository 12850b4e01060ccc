// Small words on text, manifests and containers that scenarios are written with. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "dialect/shared/dialect.h"
#include "kube/json.h"

namespace trainyard::scenarios {

// The parts between separators, without surrounding blanks; empty ones are left out.
std::vector<std::string> split(std::string_view text, std::string_view separator);

// The one document of the text.
json::object parse(const std::string& yaml);

// The value of the last variable of that name in a container; "" when there is none.
std::string env_of(const json::object& container, std::string_view name);

// The manifest as the dialect lowers it. REQUIRES: it is valid.
model::JobSpec lowered(const dialect::Dialect& dialect, const std::string& yaml,
                       const dialect::Settings& settings = {});
// What is wrong with the manifest, one problem per line; "" when nothing is.
std::string problems(const dialect::Dialect& dialect, const std::string& yaml,
                     const dialect::Settings& settings = {});

}  // namespace trainyard::scenarios
