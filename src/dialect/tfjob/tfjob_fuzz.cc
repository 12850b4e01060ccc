// Any JSON at all is lowered or refused, and what is lowered can be rendered and told.
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

}  // namespace
}  // namespace trainyard::dialect

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace trainyard;
  Result<json::value> parsed = kube::parse_json({reinterpret_cast<const char*>(data), size});
  if (!parsed.ok() || !parsed->is_object()) return 0;
  const json::object& object = parsed->get_object();
  for (const char* scheduler : {"", "volcano"}) {
    dialect::Settings settings{.gang_scheduler = scheduler};
    dialect::LowerResult lowered = dialect::tfjob().lower(object, settings);
    if (const auto* spec = std::get_if<model::JobSpec>(&lowered)) {
      dialect::render_all(*spec, settings);
      dialect::tfjob().recall(*spec, object);
    } else {
      CHECK(!std::get<std::vector<dialect::Problem>>(lowered).empty());
    }
  }
  dialect::tfjob().validate_update(object, object);
  return 0;
}
