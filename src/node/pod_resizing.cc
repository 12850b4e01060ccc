// How a PodMachine's containers come to the resources that the node has set aside for them.
#include "node/pod_machine.h"
#include "node/pod_parts.h"

namespace trainyard::node {

using kube::text_at;

namespace {

constexpr Duration kResizeRetry{10'000};

// Whether the server knows that a resize is under way: what is promised is written down first.
bool is_resize_told(const json::object& pod) {
  for (const json::value& entry : kube::or_empty(kube::array_at(pod, {"status", "conditions"}))) {
    if (entry.is_object() && text_at(entry.get_object(), {"type"}) == "PodResizeInProgress") return true;
  }
  return false;
}

}  // namespace

json::object allocated_for(const PodView& view, const json::object& container) {
  auto found = view.allocated.find(text_at(container, {"name"}));
  if (found != view.allocated.end()) return found->second;
  const json::object* resources = kube::object_at(container, {"resources"});
  return resources == nullptr ? json::object{} : *resources;
}

bool PodMachine::is_resizing(const Part& part, const PodView& view) {
  if (part.debug || (part.init && !part.sidecar)) return false;
  if (part.memory->restarts_for_resize) return true;
  return part.running() && part.memory->applied &&
         way_of_resize(*part.spec, *part.memory->applied, allocated_for(view, *part.spec)) !=
             ResizeWay::kNone;
}

void PodMachine::recall_resources(const json::object& status) {
  const json::object* resources = kube::object_at(status, {"resources"});
  if (resources == nullptr || kube::object_at(status, {"state", "running"}) == nullptr) return;
  recalled_resources_[std::string(text_at(status, {"name"}))] = *resources;
}

void PodMachine::note_resources(std::vector<Part>& parts, const PodView& view) {
  for (Part& part : parts) {
    if (!part.running()) continue;
    ContainerMemory& memory = *part.memory;
    json::object allocated = allocated_for(view, *part.spec);
    if (!memory.applied) {
      auto found = recalled_resources_.find(part.name);
      memory.applied = found == recalled_resources_.end() ? allocated : found->second;
    }
    if (is_resizing(part, view)) continue;
    memory.applied = std::move(allocated);
    memory.resize_error.clear();
  }
}

void PodMachine::drive_resize(Part& part, const PodView& view, Decision& decision) {
  ContainerMemory& memory = *part.memory;
  if (memory.stop || !part.running() || !is_resizing(part, view) || !is_resize_told(view.pod)) return;
  json::object allocated = allocated_for(view, *part.spec);
  switch (way_of_resize(*part.spec, *memory.applied, allocated)) {
    case ResizeWay::kNone:
      return;
    case ResizeWay::kInPlace:
      if (memory.resize_after && *memory.resize_after > view.now)
        return wake_at(decision, *memory.resize_after);
      decision.actions.push_back(ResizeContainer{part.name, memory.attempt, std::move(allocated)});
      return;
    case ResizeWay::kRestart:
      memory.restarts_for_resize = true;
      begin_stop(part, view.now, grace_of(view.pod),
                 fmt::format("Container {} resize requires restart", part.name));
      return drive_stop(part, view, decision);
  }
}

void PodMachine::on_resized(const ResizeContainer& what, const Result<Done>& done, Time now) {
  ContainerMemory& memory = memory_[what.name];
  if (memory.attempt != what.attempt) return;
  if (done.ok()) {
    memory.applied = what.resources;
    memory.resize_after.reset();
    memory.resize_error.clear();
    return;
  }
  memory.resize_after = now + kResizeRetry;
  memory.resize_error = done.error().message;
}

void PodMachine::tell_resize(bool under_way) {
  if (std::exchange(was_resizing_, under_way) && !under_way && !deletion_seen_ && !ending_) {
    events_.push_back({false, "ResizeCompleted", "Pod resize completed"});
  }
}

}  // namespace trainyard::node
