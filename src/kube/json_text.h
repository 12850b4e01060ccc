// JSON as text, for who has to find something in it before, or without, reading all of it. Pure.
#pragma once

#include <cstddef>
#include <string_view>

namespace trainyard::kube {

// Behind the string that begins at `at`; npos when it does not end. REQUIRES: there is a quotation mark.
size_t end_of_string(std::string_view text, size_t at);

}  // namespace trainyard::kube
