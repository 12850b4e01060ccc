#include "dialect/volcano/update.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "dialect/shared/reader.h"
#include "dialect/volcano/defaults.h"
#include "kube/access.h"

namespace trainyard::dialect::vc {
namespace {

using Keys = std::set<std::string_view>;

const json::value kNothing;

const json::value& member(const json::object& of, std::string_view key) {
  const json::value* found = of.if_contains(kube::jview(key));
  return found == nullptr ? kNothing : *found;
}

Keys keys_of(const json::object& a, const json::object& b) {
  Keys keys;
  for (const json::object* each : {&a, &b}) {
    for (const auto& entry : *each) keys.insert(kube::view(entry.key()));
  }
  return keys;
}

// Each member that differs is told, those in `free` aside.
void compare(const json::object& before, const json::object& after, const std::string& path, const Keys& free,
             std::vector<Problem>& problems) {
  for (std::string_view key : keys_of(before, after)) {
    if (free.contains(key) || member(before, key) == member(after, key)) continue;
    problems.push_back(
        {fmt::format("{}.{}", path, key), ProblemKind::kForbidden, "",
         "may not change: of a stored job only minAvailable, priorityClassName, and the replicas and "
         "minAvailable of its tasks may"});
  }
}

const json::array& list_of(const json::object& spec, std::string_view key) {
  static const json::array kEmpty;
  const json::array* found = kube::array_at(spec, {key});
  return found == nullptr ? kEmpty : *found;
}

void compare_lists(const json::object& before, const json::object& after, std::string_view key,
                   const Keys& free, std::vector<Problem>& problems) {
  const json::array& old_list = list_of(before, key);
  const json::array& new_list = list_of(after, key);
  if (old_list.size() != new_list.size()) {
    problems.push_back({fmt::format("spec.{}", key), ProblemKind::kForbidden, "",
                        fmt::format("entries may not be added or removed: there were {}, now {}",
                                    old_list.size(), new_list.size())});
    return;
  }
  for (size_t i = 0; i < old_list.size(); ++i) {
    const json::object* old_entry = old_list[i].if_object();
    const json::object* new_entry = new_list[i].if_object();
    if (old_entry == nullptr || new_entry == nullptr) continue;
    Keys free_here = free;
    if (member(*new_entry, "volumeClaim").is_null()) free_here.erase("volumeClaimName");
    compare(*old_entry, *new_entry, fmt::format("spec.{}[{}]", key, i), free_here, problems);
  }
}

}  // namespace

std::vector<Problem> validate_update(const json::object& before, const json::object& after) {
  std::vector<Problem> problems;
  json::object old_job = with_defaults(before);
  json::object new_job = with_defaults(after);
  const json::object* old_spec = kube::object_at(old_job, {"spec"});
  const json::object* new_spec = kube::object_at(new_job, {"spec"});
  if (old_spec == nullptr || new_spec == nullptr) return problems;  // lower tells what is wrong with it
  compare(*old_spec, *new_spec, "spec", {"minAvailable", "priorityClassName", "tasks", "volumes"}, problems);
  compare_lists(*old_spec, *new_spec, "tasks", {"replicas", "minAvailable"}, problems);
  compare_lists(*old_spec, *new_spec, "volumes", {"volumeClaimName"}, problems);
  return problems;
}

}  // namespace trainyard::dialect::vc
