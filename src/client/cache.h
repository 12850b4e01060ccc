// Cache: what we have seen of one stream of objects, by namespace and name and by the
// uid of the controller. It may lag behind the server; see barrier.h for what we wrote
// ourselves. Value, moved but not copied; pure.
//
// A fresh list is gathered aside and swapped in at once, so a reader sees the old world
// or the new one, never a half. The cache goes forward only: a list, an object or a
// deletion that is older than what was seen is ignored (a server that lags, an event that
// comes twice). It counts on what a watch promises: events in the order of versions, none
// left out.
//
// At rest: a cache of texts holds the objects that came last as the documents they are, because whoever is
// told of a change reads them next; each is packed when enough others have come after it.
//
// Remains, for who asks for them and sees to it that they go again:
// - vanished objects: one that left the stream without having been seen going (its labels or
//   its owner were taken off, or it was deleted by force) is remembered until settle(), so
//   that somebody looks before it is taken for deleted;
// - tombstones: a pod that vanished after it had ended is kept with its last state until
//   forget(), because how it ended may not be recorded yet. A new pod of the same name
//   does not replace the tombstone of the old one.
#pragma once

#include <compare>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "client/client.h"
#include "client/packed.h"
#include "client/watcher.h"
#include "kube/pod.h"

namespace trainyard::client {

struct ObjectKey {
  std::string ns;
  std::string name;
  bool operator==(const ObjectKey&) const = default;
  // By namespace and name, as a default would have it, in half the steps.
  std::strong_ordering operator<=>(const ObjectKey& other) const {
    const int by_ns = ns.compare(other.ns);
    return (by_ns != 0 ? by_ns : name.compare(other.name)) <=> 0;
  }
};

// An object that is new, different or gone: what depends on it is worth another look.
struct Changed {
  std::optional<Packed> was;  // none: it is new
  Object after;               // null: it is gone
  // It was and is the same object, of the same owners and with the same labels. False: perhaps all the same.
  bool akin = false;

  // Null: it is new. Another document each time.
  Object before() const { return was ? was->object() : nullptr; }
};

// Stands for a pod that is no more.
struct Tombstone {
  Packed last;
  Time seen;
};

// Among fewer objects than this each lies for itself: patterns of them would take more than they save.
inline constexpr size_t kAlikeMin = 32;
// So many of those that came last are not packed yet.
inline constexpr size_t kUnpackedMax = 8;
inline constexpr size_t kTombstonesMax = 100'000;

class Cache {
 public:
  Cache() = default;
  // `form`: how objects lie here.
  explicit Cache(Form form, Remains remains = Remains::kDropped) : form_(form), remains_(remains) {}
  Cache(Cache&&) = default;
  Cache& operator=(Cache&&) = default;

  // What changed for a reader, one after the other, what is gone first; nothing between Init and
  // InitDone. REQUIRES: whoever is told changes nothing here and asks for contains() and all() at most.
  using Tell = std::function<void(const Changed&)>;
  void apply(const Output& output, Time now, const Tell& tell);
  // All of it at once: after a list as many documents as there are objects.
  std::vector<Changed> apply(const Output& output, Time now);

  bool contains(std::string_view ns, std::string_view name) const;
  // Null when it is not there.
  Object find(std::string_view ns, std::string_view name) const;
  // The same as it lies here; good until the next apply().
  const Packed* packed(std::string_view ns, std::string_view name) const;
  // Those whose controller has this uid, by namespace and name.
  std::vector<Object> owned_by(std::string_view uid) const;
  // The same as they lie here; good until the next apply().
  std::vector<std::pair<const ObjectKey*, const Packed*>> packed_of(std::string_view uid) const;
  // Ended pods of this controller that are gone, by uid.
  std::vector<Object> tombstones_of(std::string_view owner_uid) const;
  // What this controller lost without a deletion mark, as it was last, by name.
  std::vector<Object> vanished_of(std::string_view owner_uid) const;
  const std::map<ObjectKey, Packed>& all() const { return objects_; }

  // The outcome of these pods is recorded.
  void forget(std::string_view owner_uid, const std::vector<std::string>& pod_uids);
  // Somebody has looked where these vanished objects of this controller are.
  void settle_vanished(std::string_view owner_uid, const std::vector<Object>& looked_for);
  // Forgets what vanished from controllers that nobody asks about any more.
  void drop_vanished_unless(const std::function<bool(std::string_view owner_uid)>& is_needed);
  // Tombstones for which the answer is true, of whoever.
  void forget_if(const std::function<bool(std::string_view owner_uid, const Tombstone&)>& is_useless);

  bool synced() const { return synced_; }  // one list has been seen whole
  int64_t revision() const { return revision_; }
  int lists() const { return lists_; }  // how many have been swapped in
  size_t tombstone_count() const { return tombstone_count_; }
  // Whether there is a tombstone, or anything vanished.
  bool has_remains() const { return tombstone_count_ > 0 || !vanished_.empty(); }

 private:
  using Place = std::map<ObjectKey, Packed>::iterator;

  Packed unpacked(const Object& object) const;
  Packed pack(const Object& object);
  Patterns* patterns();
  // What lies here came just now, and is not packed before others have come.
  void came(Place at);
  std::optional<Changed> put(const Object& object, Time now);
  std::optional<Changed> drop(const Object& last, Time now);
  void swap_in(int64_t revision, Time now, const Tell& tell);
  void set_owner(Place at, std::string_view before, std::string_view after);
  void bury(const Object& last, Time now);
  void miss(const Object& last);

  Form form_ = Form::kDocument;
  Remains remains_ = Remains::kDropped;
  Patterns patterns_;
  std::map<ObjectKey, Packed> objects_;
  std::vector<Place> unpacked_;                                      // in objects_, the earliest first
  std::map<std::string, std::vector<Place>, std::less<>> by_owner_;  // places in objects_, in order
  std::map<std::string, std::map<std::string, Tombstone>, std::less<>> tombstones_;  // owner uid, pod uid
  size_t tombstone_count_ = 0;
  std::map<std::string, std::map<ObjectKey, Object>, std::less<>> vanished_;  // by owner's uid
  std::optional<std::map<ObjectKey, Packed>> incoming_;
  bool synced_ = false;
  int64_t revision_ = 0;  // the newest seen
  int lists_ = 0;
};

}  // namespace trainyard::client
