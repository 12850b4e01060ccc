// Any document at all is lowered or refused, and what is lowered can be rendered and told.
#include <cstddef>
#include <cstdint>

#include "base/check.h"
#include "dialect/tfjob/tfjob.h"
#include "kube/yaml.h"

namespace trainyard::dialect {
namespace {

constexpr int kReplicasTried = 8;

void render_all(const model::JobSpec& spec, const Settings& settings) {
  model::JobState state;
  state.roles.resize(spec.roles.size());
  for (size_t role = 0; role < spec.roles.size(); ++role) {
    for (int index = 0; index < spec.roles[role].replicas && index < kReplicasTried; ++index) {
      model::ReplicaId id{static_cast<int>(role), index};
      json::object pod = tfjob().render_pod(spec, settings, {.id = id, .attempt = index, .state = &state});
      CHECK(tfjob().identify(pod)->index == index);
      tfjob().render_service(spec, id);
    }
  }
  if (spec.gang) tfjob().render_gang(spec);
  model::Observation seen;
  seen.spec = spec;
  json::object status = tfjob().project(seen, state, {}, Time{1000});
  CHECK(tfjob().project(seen, state, status, Time{2000}) == status);
}

void try_out(const json::object& object) {
  for (const char* scheduler : {"", "volcano"}) {
    Settings settings{.gang_scheduler = scheduler};
    LowerResult lowered = tfjob().lower(object, settings);
    if (const auto* spec = std::get_if<model::JobSpec>(&lowered)) {
      render_all(*spec, settings);
      tfjob().recall(*spec, object);
    } else {
      CHECK(!std::get<std::vector<Problem>>(lowered).empty());
    }
  }
  tfjob().validate_update(object, object);
}

}  // namespace
}  // namespace trainyard::dialect

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace trainyard;
  Result<std::vector<kube::Document>> documents = kube::parse_yaml(
      {reinterpret_cast<const char*>(data), size}, {.bytes_max = 64 * 1024, .nodes_max = 5'000});
  if (!documents.ok()) return 0;
  for (const kube::Document& document : *documents) {
    if (document.body.is_object()) dialect::try_out(document.body.get_object());
  }
  return 0;
}
