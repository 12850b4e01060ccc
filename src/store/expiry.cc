// Events have their time and go.
#include "kube/access.h"
#include "store/store.h"

namespace trainyard::store {

int Store::expire_events(Time before, Time now) {
  // Times on the wire are UTC to the second, so their text sorts as they do.
  const std::string limit = format_rfc3339(before);
  auto is_old = [&](const json::object& event) {
    for (auto path : {std::pair<std::string_view, std::string_view>{"metadata", "creationTimestamp"},
                      {"lastTimestamp", ""},
                      {"eventTime", ""},
                      {"series", "lastObservedTime"}}) {
      std::string_view time = path.second.empty() ? kube::text_at(event, {path.first})
                                                  : kube::text_at(event, {path.first, path.second});
      if (time >= limit) return false;
    }
    return true;
  };
  Table& table = table_for(kube::kEvents);
  std::vector<Object> old;
  for (const auto& [key, object] : table.objects) {
    if (is_old(*object)) old.push_back(object);
  }
  for (const Object& object : old) start_deletion(table, object, {}, now);
  return static_cast<int>(old.size());
}

}  // namespace trainyard::store
