#include "cli/world.h"

#include <memory>

#include "control/observe.h"
#include "kube/access.h"
#include "kube/meta.h"

namespace trainyard::cli {

control::View world_of(std::span<const dialect::Dialect> dialects, const std::vector<Object>& objects) {
  std::vector<kube::Resource> around = control::resources_around();
  control::View view = control::make_view(dialects, around);
  for (size_t i = 0; i < view.streams.size(); ++i) {
    const kube::Resource& resource = view.streams[i].resource;
    view.caches[i].apply(client::Init{}, Time{});
    for (const Object& object : objects) {
      bool of_stream = kube::text_at(object.body, {"apiVersion"}) == resource.api_version() &&
                       kube::text_at(object.body, {"kind"}) == resource.kind;
      if (of_stream)
        view.caches[i].apply(client::Apply{std::make_shared<const json::object>(object.body)}, Time{});
    }
    view.caches[i].apply(client::InitDone{}, Time{});
  }
  return view;
}

model::Observation observe_in(const control::View& world, std::span<const dialect::Dialect> dialects,
                              const Object& job, const model::JobSpec& spec) {
  control::JobKey key{static_cast<int>(job.dialect - dialects.data()), spec.name_space, spec.name};
  return control::observe(world, key, *job.dialect, job.body, spec, job.dialect->recall(spec, job.body));
}

}  // namespace trainyard::cli
