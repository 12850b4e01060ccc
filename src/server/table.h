// Table: objects as `kubectl get` prints them, and as metadata alone. Pure; `now` makes ages.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/time.h"
#include "kube/json.h"
#include "server/registry.h"

namespace trainyard::server {

using ObjectRef = std::shared_ptr<const json::object>;

// What a row carries besides its cells (the query parameter includeObject).
enum class IncludeObject { kNone, kMetadata, kObject };
// "" is kMetadata; nullopt for words that mean nothing (400).
std::optional<IncludeObject> include_object_of(std::string_view query);

// The metadata of a list.
struct ListMeta {
  int64_t revision = 0;  // 0: not said
  std::string continue_token;
  std::optional<int64_t> remaining;
};
json::object to_json(const ListMeta& meta);

struct TableOptions {
  IncludeObject include = IncludeObject::kMetadata;
  bool v1beta1 = false;
  bool columns = true;  // false for all but the first event of a watch
  Time now;
};

json::object table_of(const ApiResource& resource, std::span<const ObjectRef> objects, const ListMeta& meta,
                      const TableOptions& options);

// The same object or list as metadata alone.
json::object partial_metadata(const json::object& object);
json::object partial_metadata_list(std::span<const ObjectRef> objects, const ListMeta& meta);

// An ordinary list: "PodList" with its items.
json::object list_of(const ApiResource& resource, std::span<const ObjectRef> objects, const ListMeta& meta);

// "5s", "3m20s", "47h", "3d4h", "2y10d": as kubectl prints ages.
std::string human_duration(Duration age);

}  // namespace trainyard::server
