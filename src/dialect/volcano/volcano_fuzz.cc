// Any document goes through the whole dialect: nothing may crash, what is lowered must
// render, and the laws of projecting must hold.
#include <cstddef>
#include <cstdint>

#include "base/check.h"
#include "dialect/volcano/volcano.h"
#include "kube/yaml.h"

namespace trainyard {
namespace {

constexpr int kReplicasRendered = 3;  // of each role; the rest looks the same

void render_all(const dialect::Dialect& dialect, const model::JobSpec& spec, const model::JobState& state) {
  for (int role = 0; role < static_cast<int>(spec.roles.size()); ++role) {
    for (int index = 0; index < std::min(spec.roles[role].replicas, kReplicasRendered); ++index) {
      CHECK(
          dialect.identify(dialect.render_pod(spec, {}, {.id = {role, index}, .state = &state})).has_value());
    }
  }
  for (const model::Companion& companion : spec.companions) {
    if (!companion.must_exist) dialect.render_companion(spec, companion, nullptr);
  }
  dialect.render_gang(spec);
}

void check_laws(const dialect::Dialect& dialect, const model::JobSpec& spec, json::object document) {
  model::Observation seen;
  seen.spec = spec;
  seen.state = dialect.recall(spec, document);
  const json::value* status = document.if_contains("status");
  json::object before = status != nullptr && status->is_object() ? status->get_object() : json::object();
  json::object once = dialect.project(seen, seen.state, before, Time{1'000'000});
  CHECK(dialect.project(seen, seen.state, once, Time{2'000'000}) == once);
  document["status"] = once;
  CHECK(dialect.recall(spec, document) == seen.state);
}

}  // namespace
}  // namespace trainyard

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace trainyard;
  Result<std::vector<kube::Document>> documents = kube::parse_yaml(
      {reinterpret_cast<const char*>(data), size}, {.bytes_max = 64 * 1024, .nodes_max = 5'000});
  if (!documents.ok()) return 0;
  const dialect::Dialect& dialect = dialect::volcano();
  for (const kube::Document& document : *documents) {
    if (!document.body.is_object()) continue;
    const json::object& object = document.body.get_object();
    dialect.see_command(object);
    dialect.validate_update(object, object);
    dialect::LowerResult result = dialect.lower(object, {});
    if (const auto* problems = std::get_if<std::vector<dialect::Problem>>(&result)) {
      CHECK(!problems->empty());
      dialect.project_invalid(object, *problems, Time{1'000'000});
      continue;
    }
    const model::JobSpec& spec = std::get<model::JobSpec>(result);
    if (spec.total_replicas() > 10'000) continue;
    render_all(dialect, spec, dialect.recall(spec, object));
    check_laws(dialect, spec, object);
  }
  return 0;
}
