#include "cli/volcano_controller.h"

#include <fmt/format.h>

#include "base/check.h"
#include "kube/access.h"

namespace trainyard::cli {
namespace {

Result<std::string> find_in(client::Client& client, const std::string& ns) {
  kube::List query;
  Result<kube::LabelSelector> labels = kube::LabelSelector::parse("app=volcano-controller");
  CHECK(labels.ok());
  query.labels = *labels;
  query.limit = 10;
  Result<client::Reply> pods = client::list(client, kube::kPods, ns, query);
  if (!pods.ok()) return pods.error();
  for (const client::Object& pod : pods->items) {
    std::string_view phase = kube::text_at(*pod, {"status", "phase"});
    if (phase == "Succeeded" || phase == "Failed") continue;
    return fmt::format("{}/{}", kube::namespace_of(*pod), kube::name_of(*pod));
  }
  return std::string();
}

}  // namespace

Result<std::string> find_volcano_controller(client::Client& client,
                                            const std::vector<std::string>& namespaces) {
  Result<std::string> found = find_in(client, "");
  if (found.ok() || found.error().kind != ErrorKind::kForbidden) return found;
  for (const std::string& ns : namespaces) {
    found = find_in(client, ns);
    if (!found.ok() || !found->empty()) break;
  }
  return found;
}

bool must_begin_anew(VolcanoController before, VolcanoController now) {
  if (before == VolcanoController::kUnknown) return now != VolcanoController::kUnknown;
  return before == VolcanoController::kAbsent && now == VolcanoController::kRuns;
}

}  // namespace trainyard::cli
