// JSON merge patch, RFC 7386.
#include "kube/access.h"
#include "kube/patch.h"

namespace trainyard::kube {
namespace {

// What a patch gives where nothing was: itself without its nulls.
json::value without_nulls(const json::value& patch, int depth, bool& too_deep) {
  const json::object* members = patch.if_object();
  if (members == nullptr) return patch;
  too_deep = too_deep || depth > kPatchDepthMax;
  json::object out;
  if (too_deep) return out;
  for (const json::key_value_pair& member : *members) {
    if (!member.value().is_null()) out[member.key()] = without_nulls(member.value(), depth + 1, too_deep);
  }
  return out;
}

// Members keep their places; new ones come last.
void merge_into(json::value& target, const json::value& patch, int depth, bool& too_deep) {
  const json::object* changes = patch.if_object();
  json::object* members = target.if_object();
  if (changes == nullptr || members == nullptr) {
    target = without_nulls(patch, depth, too_deep);
    return;
  }
  too_deep = too_deep || depth > kPatchDepthMax;
  if (too_deep) return;
  for (const json::key_value_pair& change : *changes) {
    json::value* member = members->if_contains(change.key());
    if (member == nullptr) {
      if (change.value().is_null()) continue;
      members->emplace(change.key(), without_nulls(change.value(), depth + 1, too_deep));
    } else if (change.value().is_null()) {
      members->stable_erase(change.key());
    } else {
      merge_into(*member, change.value(), depth + 1, too_deep);
    }
  }
}

}  // namespace

Result<json::value> apply_merge_patch(json::value target, const json::value& patch) {
  bool too_deep = false;
  merge_into(target, patch, 1, too_deep);
  if (too_deep)
    return Error{ErrorKind::kInvalid, fmt::format("the patch is nested more than {} deep", kPatchDepthMax)};
  return target;
}

json::value merge_patch_between(const json::value& before, const json::value& after) {
  const json::object* from = before.if_object();
  const json::object* to = after.if_object();
  if (from == nullptr || to == nullptr) return after;
  json::object out;
  for (const json::key_value_pair& member : *from) {
    if (!to->contains(member.key())) out[member.key()] = nullptr;
  }
  for (const json::key_value_pair& member : *to) {
    const json::value* old = from->if_contains(member.key());
    if (old == nullptr) {
      out[member.key()] = member.value();
    } else if (*old != member.value()) {
      out[member.key()] = merge_patch_between(*old, member.value());
    }
  }
  return out;
}

}  // namespace trainyard::kube
