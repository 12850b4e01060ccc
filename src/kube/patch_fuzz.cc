// Input: {"target": ..., "patch": ...}. Whatever they are: no crash, no runaway.
#include "kube/access.h"
#include "kube/patch.h"
#include "kube/yaml.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace trainyard;
  Result<json::value> input = kube::parse_json({reinterpret_cast<const char*>(data), size});
  if (!input.ok() || !input.value().is_object()) return 0;
  const json::value* target = kube::find(input.value(), {"target"});
  const json::value* patch = kube::find(input.value(), {"patch"});
  if (target == nullptr || patch == nullptr) return 0;
  (void)kube::apply_json_patch(*target, *patch);
  (void)kube::apply_merge_patch(*target, *patch);
  (void)kube::apply_strategic_patch(*target, *patch, kube::kPods);
  (void)kube::apply_strategic_patch(*target, *patch, kube::kServices);
  return 0;
}
