// Any document: lowering never crashes, and what it accepts renders and projects.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "dialect/t9k/t9k.h"
#include "kube/yaml.h"

namespace trainyard {
namespace {

constexpr int kRenderedMax = 8;  // of each role: a valid job may have a hundred thousand

void exercise(const dialect::Dialect& t9k, const model::JobSpec& spec, const json::object& object) {
  model::Observation seen;
  seen.spec = spec;
  seen.state = t9k.recall(spec, object);
  for (int role = 0; role < static_cast<int>(spec.roles.size()); ++role) {
    int rendered = std::min(kRenderedMax, spec.roles[static_cast<size_t>(role)].replicas);
    for (int index = 0; index < rendered; ++index) {
      json::object pod = t9k.render_pod(spec, {}, {.id = {role, index}, .state = &seen.state});
      CHECK(t9k.identify(pod).has_value());
      t9k.render_service(spec, {role, index});
    }
  }
  if (spec.gang) t9k.render_gang(spec);
  if (spec.tensorboard) t9k.render_tensorboard(spec);
  const json::value* stored = object.if_contains("status");
  json::object previous = stored != nullptr && stored->is_object() ? stored->get_object() : json::object();
  json::object status = t9k.project(seen, seen.state, previous, Time{1'700'000'000'000});
  CHECK(t9k.project(seen, seen.state, status, Time{1'800'000'000'000}) == status);
}

}  // namespace
}  // namespace trainyard

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace trainyard;
  Result<std::vector<kube::Document>> documents = kube::parse_yaml(
      {reinterpret_cast<const char*>(data), size}, {.bytes_max = 64 * 1024, .nodes_max = 5'000});
  if (!documents.ok() || documents->empty() || !documents->front().body.is_object()) return 0;
  const json::object& object = documents->front().body.get_object();
  const dialect::Dialect& t9k = dialect::t9k();
  dialect::LowerResult lowered = t9k.lower(object, {});
  t9k.validate_update(object, object);
  t9k.validate_update({}, object);
  if (const auto* spec = std::get_if<model::JobSpec>(&lowered)) {
    if (spec->total_replicas() <= 1000) exercise(t9k, *spec, object);
  } else {
    t9k.project_invalid(object, std::get<std::vector<dialect::Problem>>(lowered), Time{1'700'000'000'000});
  }
  return 0;
}
