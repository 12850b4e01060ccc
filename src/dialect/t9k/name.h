// How the children of a TensorFlowTrainingJob are called: <job>-<h5> for the PodGroup and
// the TensorBoard, <job>-<h5>-<type>-<index> for pods and their services. Pure.
//
// h5 ties the name to one object: a job that is deleted and made again under the same
// name gets other children. A manifest that was never stored has no uid; its children are
// shown with the suffix of an empty one.
#pragma once

#include <string>
#include <string_view>

namespace trainyard::t9k {

// The first 5 of the 16 hex digits of the 64-bit FNV-1a hash of name and uid together.
std::string name_suffix(std::string_view name, std::string_view uid);

// "<job>-<h5>".
std::string child_prefix(std::string_view name, std::string_view uid);

}  // namespace trainyard::t9k
