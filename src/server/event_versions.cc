#include "server/event_versions.h"

#include <utility>

#include "kube/access.h"

namespace trainyard::server {
namespace {

using kube::jview;

constexpr std::pair<std::string_view, std::string_view> kNames[] = {
    {"involvedObject", "regarding"},
    {"message", "note"},
    {"reportingComponent", "reportingController"},
    {"source", "deprecatedSource"},
    {"firstTimestamp", "deprecatedFirstTimestamp"},
    {"lastTimestamp", "deprecatedLastTimestamp"},
    {"count", "deprecatedCount"},
};

std::string_view renamed(std::string_view key, bool to_new) {
  for (auto [core, other] : kNames) {
    if (key == (to_new ? core : other)) return to_new ? other : core;
  }
  return key;
}

json::object turned(const json::object& event, bool to_new) {
  json::object out;
  for (const auto& member : event) {
    std::string_view key = renamed(kube::view(member.key()), to_new);
    out[jview(key)] = member.value();
  }
  out["kind"] = "Event";
  out["apiVersion"] = to_new ? "events.k8s.io/v1" : "v1";
  return out;
}

}  // namespace

json::object to_new_event(const json::object& core_event) { return turned(core_event, true); }
json::object to_core_event(const json::object& new_event) { return turned(new_event, false); }

}  // namespace trainyard::server
