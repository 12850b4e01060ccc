#include "kube/part_fault.h"

#include <fmt/format.h>

#include <algorithm>

#include "kube/access.h"

namespace trainyard::kube {
namespace {

using Kind = PartFault::Kind;

// Fields of a pod that there are; not every place can be told of each.
constexpr std::array<std::string_view, 14> kFields{
    "metadata.annotations", "metadata.labels", "metadata.name",           "metadata.namespace",
    "metadata.uid",         "spec.nodeName",   "spec.restartPolicy",      "spec.schedulerName",
    "status.hostIP",        "status.hostIPs",  "spec.serviceAccountName", "status.phase",
    "status.podIP",         "status.podIPs",
};

bool contains(std::span<const std::string_view> list, std::string_view word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

// "metadata.labels['app']" and the like are taken whatever the key is.
bool has_subscript(std::string_view path) {
  return (path.starts_with("metadata.labels['") || path.starts_with("metadata.annotations['")) &&
         path.ends_with("']");
}

}  // namespace

void add_required(PartFaults& faults, std::string path, std::string why) {
  faults.push_back({Kind::kRequired, std::move(path), nullptr, std::move(why), {}});
}

void add_invalid_value(PartFaults& faults, std::string path, json::value value, std::string why) {
  faults.push_back({Kind::kInvalid, std::move(path), std::move(value), std::move(why), {}});
}

void add_invalid(PartFaults& faults, std::string path, std::string_view value, std::string why) {
  add_invalid_value(faults, std::move(path), json::value(jview(value)), std::move(why));
}

void add_forbidden(PartFaults& faults, std::string path, std::string why) {
  faults.push_back({Kind::kForbidden, std::move(path), nullptr, std::move(why), {}});
}

void add_unsupported(PartFaults& faults, std::string path, std::string_view value,
                     std::span<const std::string_view> supported) {
  faults.push_back({Kind::kUnsupported, std::move(path), json::value(jview(value)), "",
                    std::vector<std::string_view>(supported.begin(), supported.end())});
}

bool is_there(const json::object& in, std::string_view member) {
  const json::value* found = in.if_contains(jview(member));
  return found != nullptr && !found->is_null();
}

bool goes_up(std::string_view path) {
  while (true) {
    size_t slash = path.find('/');
    if (path.substr(0, slash) == "..") return true;
    if (slash == path.npos) return false;
    path.remove_prefix(slash + 1);
  }
}

void check_descending(std::string_view path, std::string at, PartFaults& faults) {
  if (path.starts_with('/')) add_invalid(faults, at, path, "must be a relative path");
  if (goes_up(path)) add_invalid(faults, std::move(at), path, "must not contain '..'");
}

void check_field_ref(const json::object& ref, std::span<const std::string_view> told, std::string at,
                     PartFaults& faults) {
  std::string_view path = text_at(ref, {"fieldPath"});
  at += ".fieldPath";
  if (path.empty()) return add_required(faults, std::move(at));
  if (contains(told, path) || has_subscript(path)) return;
  if (contains(kFields, path)) return add_unsupported(faults, std::move(at), path, told);
  add_invalid(faults, std::move(at), path,
              fmt::format("error converting fieldPath: field label not supported: {}", shown(path)));
}

}  // namespace trainyard::kube
