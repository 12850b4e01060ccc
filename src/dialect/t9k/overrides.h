// Overrides: what runMode puts in place of a template's command. In debug mode every
// replica gets the debug command (sleep inf unless its type says otherwise) and the
// template's args are dropped, for they belong to the command that is not run. After a
// pause, pods start with the command and args of resumeSpecs, where their type has any;
// until the first resume resumeSpecs mean nothing. Debug goes before resume. Pure.
//
// Only the main container is changed; skipInitContainer drops the pod's initContainers.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dialect/shared/reader.h"
#include "kube/json.h"

namespace trainyard::t9k {

struct Override {
  std::string type;
  bool skip_init_containers = false;
  std::optional<std::vector<std::string>> command;
  std::optional<std::vector<std::string>> args;

  bool operator==(const Override&) const = default;
};

// What the run mode of a job asks for.
struct RunModeSpec {
  bool debug = false;
  std::vector<Override> debug_specs;
  bool pause = false;
  std::vector<Override> resume_specs;
  std::vector<std::string> legacy_paths;  // switches that were written `enable`
};

// Reads spec.runMode; `types` are the replica types of the job, which overrides may name.
RunModeSpec decode_run_mode(const dialect::Reader& spec, const std::vector<std::string>& types);

// The override for a pod of this type made after `resumes` resumes, if any. Reads a
// document as it is stored; what cannot be read is left out.
std::optional<Override> override_for(const json::object& source, std::string_view type, int resumes);

void apply_override(const Override& override, std::string_view main_container, json::object& pod);

}  // namespace trainyard::t9k
