#include "cli/forewarn.h"

#include <algorithm>
#include <set>

#include "cli/job_admission.h"
#include "kube/access.h"
#include "kube/kept_only.h"
#include "kube/meta.h"

namespace trainyard::cli {
namespace {

std::vector<std::string> images_of(const json::object& pod) {
  std::vector<std::string> images;
  for (std::string_view list : {"initContainers", "containers"}) {
    const json::array* containers = kube::array_at(pod, {"spec", list});
    if (containers == nullptr) continue;
    for (const json::value& value : *containers) {
      if (const json::object* container = value.if_object()) {
        images.emplace_back(kube::text_at(*container, {"image"}));
      }
    }
  }
  return images;
}

}  // namespace

std::vector<json::object> sample_pods(const Object& document, const PlaneSettings& settings) {
  std::vector<json::object> pods;
  json::object job = as_stored(*document.dialect, document.body);
  dialect::LowerResult lowered = document.dialect->lower(job, settings.settings);
  const auto* spec = std::get_if<model::JobSpec>(&lowered);
  if (spec == nullptr) return pods;
  model::JobState state = document.dialect->recall(*spec, job);
  for (size_t role = 0; role < spec->roles.size(); ++role) {
    if (spec->roles[role].replicas == 0) continue;
    pods.push_back(
        document.dialect->render_pod(*spec, settings.settings, {{static_cast<int>(role), 0}, 0, &state}));
  }
  return pods;
}

Result<std::vector<std::string>> forewarnings(Plane& plane, const std::vector<Object>& documents,
                                              const PlaneSettings& settings) {
  std::vector<std::string> said;
  auto say = [&](std::string text) {
    if (std::find(said.begin(), said.end(), text) == said.end()) said.push_back(std::move(text));
  };
  std::set<std::string> seen_images;
  for (const Object& document : documents) {
    if (document.dialect == nullptr) {
      std::string_view version = kube::text_at(document.body, {"apiVersion"});
      std::string_view group = version.substr(0, version.find('/') == version.npos ? 0 : version.find('/'));
      for (const std::string& words :
           kube::kept_only(group, kube::text_at(document.body, {"kind"}), document.body)) {
        say(fmt::format("{}: {}", document.title(), words));
      }
      continue;
    }
    for (const json::object& pod : sample_pods(document, settings)) {
      for (const std::string& image : images_of(pod)) {
        if (!settings.pull || image.empty() || !seen_images.insert(image).second) continue;
        if (Result<Done> here = plane.bring_image(image); !here.ok()) return here.error();
      }
      for (std::string& words : plane.cannot_honour(pod)) say(std::move(words));
    }
  }
  return said;
}

}  // namespace trainyard::cli
