#include "server/line_cache.h"

namespace trainyard::server {
namespace {

struct Held {
  std::string text;
  Room::Share share;
};

}  // namespace

SharedText LineCache::find(const LineKey& key, const store::Object& object) {
  std::lock_guard lock(mutex_);
  return find_locked(key, object);
}

SharedText LineCache::find_locked(const LineKey& key, const store::Object& object) {
  auto found = lines_.find(key);
  if (found == lines_.end() || found->second.object.lock() != object) return nullptr;
  return found->second.line.lock();
}

SharedText LineCache::keep(const LineKey& key, const store::Object& object, std::string line) {
  std::lock_guard lock(mutex_);
  if (SharedText theirs = find_locked(key, object)) return theirs;
  Room::Share share = room_.take(line.size());
  if (share == nullptr) return nullptr;
  auto held = std::make_shared<Held>(Held{std::move(line), std::move(share)});
  SharedText kept(held, &held->text);
  std::erase_if(lines_, [](const auto& entry) { return entry.second.line.expired(); });
  lines_[key] = {object, kept};
  return kept;
}

}  // namespace trainyard::server
