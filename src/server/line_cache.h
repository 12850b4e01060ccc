// LineCache: the lines of large events, each made once for all the streams that are sending it. A line is
// kept for as long as somebody sends it and takes room (room.h) for that long. Thread-safe.
#pragma once

#include <compare>
#include <map>
#include <memory>
#include <mutex>

#include "server/http.h"
#include "server/negotiate.h"
#include "server/registry.h"
#include "server/room.h"
#include "server/table.h"
#include "store/store.h"

namespace trainyard::server {

// Events with equal keys have the same line.
struct LineKey {
  const json::object* object = nullptr;
  const ApiResource* api = nullptr;
  store::ChangeKind kind = store::ChangeKind::kAdded;
  Encoding encoding = Encoding::kJson;
  Shape shape = Shape::kObject;
  IncludeObject include = IncludeObject::kMetadata;
  bool first = false;  // of a table, which then has columns

  auto operator<=>(const LineKey&) const = default;
};

class LineCache {
 public:
  // The room outlives it and every line.
  explicit LineCache(Room& room) : room_(room) {}

  // Null when nobody sends it. `object` is that of the key: its address may have been another's before.
  SharedText find(const LineKey& key, const store::Object& object);
  // The line as others send it, or this one, now kept; null when there is no room.
  SharedText keep(const LineKey& key, const store::Object& object, std::string line);

 private:
  struct Entry {
    std::weak_ptr<const json::object> object;
    std::weak_ptr<const std::string> line;
  };
  SharedText find_locked(const LineKey& key, const store::Object& object);

  // Fixed.
  Room& room_;
  // State.
  std::mutex mutex_;
  std::map<LineKey, Entry> lines_;
};

}  // namespace trainyard::server
