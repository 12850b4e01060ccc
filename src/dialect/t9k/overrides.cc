#include "dialect/t9k/overrides.h"

#include <fmt/format.h>

#include <algorithm>

#include "dialect/shared/pod_template.h"
#include "kube/access.h"

namespace trainyard::t9k {
namespace {

using dialect::Problem;
using dialect::ProblemKind;
using dialect::Reader;

const std::vector<std::string> kDebugCommand{"sleep", "inf"};

// `enabled`, or `enable` as it was called before; the newer spelling wins.
bool read_switch(const Reader& mode, RunModeSpec& into) {
  std::optional<bool> legacy = mode.boolean("enable");
  std::optional<bool> enabled = mode.boolean("enabled");
  if (legacy) into.legacy_paths.push_back(mode.path_of("enable"));
  return enabled.value_or(legacy.value_or(false));
}

std::optional<std::vector<std::string>> unless_empty(std::optional<std::vector<std::string>> words) {
  return words && words->empty() ? std::nullopt : words;
}

Override read_override(const Reader& entry) {
  return {.type = entry.text("type").value_or(""),
          .skip_init_containers = entry.boolean("skipInitContainer").value_or(false),
          .command = unless_empty(entry.texts("command")),
          .args = unless_empty(entry.texts("args"))};
}

std::string quoted_list(const std::vector<std::string>& words) {
  std::string list;
  for (const std::string& word : words) list += fmt::format("{}\"{}\"", list.empty() ? "" : ", ", word);
  return list;
}

const Override* find_type(const std::vector<Override>& all, std::string_view type) {
  auto found = std::find_if(all.begin(), all.end(), [&](const Override& o) { return o.type == type; });
  return found == all.end() ? nullptr : &*found;
}

void check_type(const Reader& entry, const std::string& type, const std::vector<std::string>& types,
                bool repeated) {
  const json::value* raw = entry.raw("type");
  if (raw != nullptr && !raw->is_string()) return;  // reported when it was read
  if (type.empty()) {
    entry.report("type", ProblemKind::kRequired, "must name the replica type it applies to");
  } else if (std::find(types.begin(), types.end(), type) == types.end()) {
    entry.report("type", ProblemKind::kUnsupported,
                 fmt::format("the job has no replicas of this type; its types: {}", quoted_list(types)));
  } else if (repeated) {
    entry.report("type", ProblemKind::kDuplicate, "a type may have only one entry");
  }
}

std::vector<Override> read_overrides(const Reader& mode, std::string_view key,
                                     const std::vector<std::string>& types) {
  std::vector<Override> all;
  for (const Reader& entry : mode.children(key)) {
    if (!entry.present()) continue;
    Override found = read_override(entry);
    check_type(entry, found.type, types, find_type(all, found.type) != nullptr);
    all.push_back(std::move(found));
  }
  return all;
}

json::array to_array(const std::vector<std::string>& words) {
  return json::array(words.begin(), words.end());
}

Override debug_override(const std::vector<Override>& specs, std::string_view type) {
  const Override* own = find_type(specs, type);
  Override chosen = own ? *own : Override{.type = std::string(type)};
  if (!chosen.command) chosen.command = kDebugCommand;
  chosen.args.reset();
  return chosen;
}

}  // namespace

RunModeSpec decode_run_mode(const Reader& spec, const std::vector<std::string>& types) {
  RunModeSpec mode;
  Reader run_mode = spec.child("runMode");
  Reader debug = run_mode.child("debug");
  mode.debug = read_switch(debug, mode);
  mode.debug_specs = read_overrides(debug, "replicaSpecs", types);
  Reader pause = run_mode.child("pause");
  mode.pause = read_switch(pause, mode);
  mode.resume_specs = read_overrides(pause, "resumeSpecs", types);
  return mode;
}

std::optional<Override> override_for(const json::object& source, std::string_view type, int resumes) {
  std::vector<Problem> ignored;
  RunModeSpec mode = decode_run_mode(Reader::root(source, ignored).child("spec"), {std::string(type)});
  if (mode.debug) return debug_override(mode.debug_specs, type);
  if (resumes == 0) return std::nullopt;
  const Override* resume = find_type(mode.resume_specs, type);
  return resume ? std::optional<Override>(*resume) : std::nullopt;
}

void apply_override(const Override& override, std::string_view main_container, json::object& pod) {
  if (override.skip_init_containers) kube::ensure_object(pod, {"spec"}).erase("initContainers");
  json::object* container = dialect::main_container(pod, main_container);
  if (container == nullptr) return;
  if (override.command) {
    (*container)["command"] = to_array(*override.command);
    container->erase("args");
  }
  if (override.args) (*container)["args"] = to_array(*override.args);
}

}  // namespace trainyard::t9k
