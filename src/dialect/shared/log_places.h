// Where a TensorBoard finds the logs of a training: what is wrong with an address, "" when nothing
// is. The same for a TensorBoard and for the tensorboardSpec of a job. Pure.
#pragma once

#include <string>
#include <string_view>

namespace trainyard::dialect {

inline constexpr std::string_view kFilesetInClaim = "t9k://pvc/";
inline constexpr std::string_view kFilesetInStore = "t9k://minio/";

// "t9k://pvc/<claim>/<path>" or "t9k://minio/<secret>/<bucket>/<path>".
std::string fileset_fault(std::string_view uri);
// "https://host/path"; a comma would end it in the list that the program is given.
std::string log_url_fault(std::string_view url);

}  // namespace trainyard::dialect
