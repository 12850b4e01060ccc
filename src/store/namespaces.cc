#include "store/namespaces.h"

#include "kube/access.h"
#include "store/metadata.h"
#include "store/store.h"

namespace trainyard::store {

bool is_immortal_namespace(std::string_view name) {
  return name == "default" || name == "kube-system" || name == "kube-public";
}

void prepare_namespace(json::object& body) {
  kube::ensure_object(body, {"spec"})["finalizers"] = json::array{"kubernetes"};
  kube::ensure_object(body, {"status"})["phase"] = "Active";
  const std::string name(kube::name_of(body));  // a copy: making room for labels moves the text
  kube::ensure_object(body, {"metadata", "labels"})["kubernetes.io/metadata.name"] = name;
}

// Notes which namespaces that are being deleted are worth a look.
void Store::index_namespaces(const Place& place, const json::object* after) {
  if (place.type.first.empty() && place.type.second == kube::kNamespaces.plural) {
    if (after != nullptr && kube::is_deleting(*after)) emptying_.insert(place.key.second);
    return;
  }
  if (after != nullptr || place.key.first.empty()) return;
  const Object* home = find_object(kube::kNamespaces, "", place.key.first);
  if (home != nullptr && kube::is_deleting(**home)) emptying_.insert(place.key.first);
}

int Store::empty_namespace(const std::string& name, Time now) {
  const Object* home = find_object(kube::kNamespaces, "", name);
  if (home == nullptr || !kube::is_deleting(**home)) return 0;
  const int64_t revision = revision_;
  bool is_empty = true;
  for (auto& [type, table] : tables_) {
    if (!table.resource.namespaced) continue;
    std::vector<Object> content;
    for (auto it = table.objects.lower_bound(std::pair<std::string_view, std::string_view>(name, ""));
         it != table.objects.end() && it->first.first == name; ++it) {
      content.push_back(it->second);
    }
    for (const Object& object : content) {
      if (!kube::is_deleting(*object)) start_deletion(table, object, {}, now);
      is_empty =
          is_empty && !table.objects.contains(std::pair(std::string_view(name), kube::name_of(*object)));
    }
  }
  if (!is_empty) return static_cast<int>(revision_ - revision);
  Table& namespaces = table_for(kube::kNamespaces);
  const Object before = *find_object(kube::kNamespaces, "", name);
  json::object after = copy_of(*before);
  after["spec"].get_object().erase("finalizers");
  if (is_ready_to_go(after)) {
    erase(namespaces, before, std::move(after));
  } else if (after != *before) {
    put(namespaces, before, std::move(after));
  }
  return static_cast<int>(revision_ - revision);
}

}  // namespace trainyard::store
