#include "dialect/shared/conditions.h"

#include "kube/access.h"
#include "kube/member.h"

namespace trainyard::dialect {

json::array conditions_of(const json::object& status) {
  json::array kept;
  if (const json::array* stored = kube::array_at(status, {"conditions"})) {
    kept.reserve(stored->size());
    for (const json::value& entry : *stored) {
      if (entry.is_object()) kept.push_back(entry);
    }
  }
  return kept;
}

const json::object* find_condition(const json::array& conditions, std::string_view type) {
  for (const json::value& entry : conditions) {
    const json::object* condition = entry.if_object();
    const json::value* own = condition == nullptr ? nullptr : kube::member_of(*condition, "type");
    if (own != nullptr && own->is_string() && kube::view(own->get_string()) == type) return condition;
  }
  return nullptr;
}

json::object* find_condition(json::array& conditions, std::string_view type) {
  return const_cast<json::object*>(find_condition(static_cast<const json::array&>(conditions), type));
}

bool condition_is(const json::array& conditions, std::string_view type, std::string_view status) {
  const json::object* found = find_condition(conditions, type);
  return found != nullptr && kube::text_at(*found, {"status"}) == status;
}

bool set_condition(json::array& conditions, std::string_view type, std::string_view status,
                   std::string_view reason, std::string_view message, Time now) {
  json::object* found = find_condition(conditions, type);
  if (found == nullptr) {
    json::object fresh;
    fresh.reserve(5);
    fresh.emplace("type", kube::jview(type));
    conditions.push_back(std::move(fresh));
    found = &conditions.back().get_object();
  }
  bool flipped = kube::text_at(*found, {"status"}) != status;
  if (!flipped && kube::text_at(*found, {"reason"}) == reason &&
      kube::text_at(*found, {"message"}) == message) {
    return false;
  }
  (*found)["status"] = kube::jview(status);
  (*found)["reason"] = kube::jview(reason);
  (*found)["message"] = kube::jview(message);
  if (flipped) (*found)["lastTransitionTime"] = format_rfc3339(now);
  return true;
}

}  // namespace trainyard::dialect
