// Store: API objects as a deterministic state machine with the semantics of a
// Kubernetes API server: versions, preconditions, generations, finalizers, graceful
// and cascading deletion, and a watch log. Pure value: no clock (every write is told
// the time), no I/O; a copy is an independent world. Equal calls give equal stores,
// uids included: they come from a counter and the seed.
//
// Objects are never changed in place: a write puts a new document there, so whoever
// holds an Object may keep it.
//
// Invariants: revision() rises by exactly one with every change and is the
// resourceVersion of what changed; a write that changes nothing makes no revision;
// uids are never used twice; an object without finalizers that is being deleted is
// either gone or a pod in its grace period.
//
// Errors: kNotFound, kAlreadyExists, kConflict (a precondition), kInvalid (the
// document or patch), kGone (a revision that is no longer kept); whatever admission says.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "kube/json.h"
#include "kube/meta.h"
#include "kube/request.h"

namespace trainyard::store {

using Object = std::shared_ptr<const json::object>;

enum class ChangeKind { kAdded, kModified, kDeleted, kBookmark };

// One entry of the watch log. `before` is null for kAdded and kBookmark.
struct WatchEvent {
  ChangeKind kind = ChangeKind::kAdded;
  int64_t revision = 0;
  Object object;  // after the change; of a deletion: as it was last, with the new revision
  Object before;
};

struct Page {
  std::vector<Object> items;   // order: namespace, name
  int64_t revision = 0;        // watch from here and nothing is missed
  std::string continue_token;  // "" on the last page
};

// What may be written for one resource. `before` is null for a creation. May complete
// the object (defaults); an Error refuses the write.
using Admission = std::function<Result<Done>(json::object& object, const json::object* before)>;

inline constexpr int64_t kGraceSecondsDefault = 30;

class Store {
 public:
  explicit Store(uint64_t seed = 1) : seed_(seed) {}

  void set_admission(const kube::Resource& resource, Admission admission);

  // Gives uid, creationTimestamp, generation and resourceVersion; a generateName gets
  // a suffix. The status is dropped where it is a subresource; pods start as Pending.
  Result<Object> create(const kube::Resource& resource, std::string_view ns, json::object body, Time now);
  Result<Object> get(const kube::Resource& resource, std::string_view ns, std::string_view name) const;
  // `ns` "" stands for all namespaces.
  Result<Page> list(const kube::Resource& resource, std::string_view ns, const kube::List& query = {}) const;
  // The whole object but its status; metadata.resourceVersion and uid, when set, are preconditions.
  Result<Object> update(const kube::Resource& resource, std::string_view ns, json::object body, Time now);
  // The status and nothing else. REQUIRES: resource.has_status.
  Result<Object> update_status(const kube::Resource& resource, std::string_view ns, json::object body,
                               Time now);
  Result<Object> patch(const kube::Resource& resource, std::string_view ns, const kube::Patch& patch,
                       Time now);
  // The object as it is now: still there with a deletionTimestamp, or as it was last.
  Result<Object> remove(const kube::Resource& resource, std::string_view ns, std::string_view name,
                        const kube::DeleteOptions& options, Time now);
  // All that match; how many.
  Result<int> remove_collection(const kube::Resource& resource, std::string_view ns,
                                const kube::DeleteCollection& which, Time now);

  // What happened to a resource after `revision`, oldest first.
  Result<std::vector<WatchEvent>> events_since(const kube::Resource& resource, int64_t revision) const;
  // The same as a watcher with a namespace and selectors sees it: an object that begins
  // to match is added, one that no longer does is deleted.
  Result<std::vector<WatchEvent>> watch(const kube::Resource& resource, std::string_view ns,
                                        const kube::Watch& query) const;
  // "Everything up to now has been told."
  WatchEvent bookmark(const kube::Resource& resource) const;
  // Forgets the log up to and including `revision`.
  void compact(int64_t revision);

  // One sweep: dependents of owners that are gone are deleted, foreground and orphan
  // deletions go on. How many objects it wrote; 0 means there is nothing to do.
  int collect_garbage(Time now);

  int64_t revision() const { return revision_; }
  int64_t compacted() const { return compacted_; }
  // Every object of every resource, in order of resource, namespace, name.
  std::vector<std::pair<kube::Resource, Object>> everything() const;

 private:
  using TypeKey = std::pair<std::string, std::string>;    // group, plural
  using ObjectKey = std::pair<std::string, std::string>;  // namespace, name
  // Finds pairs of text by pairs of views.
  struct PairLess {
    using is_transparent = void;
    template <typename A, typename B>
    bool operator()(const A& a, const B& b) const {
      std::string_view a_first = a.first, b_first = b.first;
      if (a_first != b_first) return a_first < b_first;
      return std::string_view(a.second) < std::string_view(b.second);
    }
  };
  // Where an object is: enough to find it again without its resource.
  struct Place {
    TypeKey type;
    ObjectKey key;
    auto operator<=>(const Place&) const = default;
  };
  struct Table {
    kube::Resource resource;
    std::shared_ptr<const std::vector<std::string>> names;  // what resource's views point into
    std::map<ObjectKey, Object, PairLess> objects;
    std::vector<WatchEvent> log;
    Admission admission;
  };
  enum class Part { kMain, kStatus };

  const Table* find_table(const kube::Resource& resource) const;
  Table& table_for(const kube::Resource& resource);
  const Object* find_object(const kube::Resource& resource, std::string_view ns, std::string_view name) const;
  std::string next_uid();
  std::string generated_name(const Table& table, std::string_view ns, std::string_view prefix);

  Result<Object> replace(Table& table, const Object& before, json::object body, Part part);
  // Each stores or removes one object, logs it and keeps the indexes.
  Object put(Table& table, const Object& before, json::object after);
  Object erase(Table& table, const Object& before, json::object last);
  void index(const Table& table, const json::object* before, const json::object* after);
  void index_owners(const Place& place, const json::object* object, bool present);

  Object start_deletion(Table& table, const Object& before, const kube::DeleteOptions& options, Time now);
  // Each step of the collector answers whether it wrote something.
  bool collect_dependent(const Place& place, Time now);
  bool finish_foreground(const std::string& owner_uid);
  int finish_orphaning(const std::string& owner_uid);
  bool drop_finalizer(const Place& place, std::string_view finalizer);
  bool drop_owners(const Place& place, const std::set<std::string>& owner_uids);
  Table& table_at(const Place& place);
  const Object& object_at(const Place& place) const;

  // Fixed.
  uint64_t seed_ = 1;
  // State.
  std::map<TypeKey, Table, PairLess> tables_;
  std::map<std::string, Place, std::less<>> by_uid_;
  std::map<std::string, std::set<Place>, std::less<>> dependents_;  // owner's uid -> who names it
  std::set<std::string> waiting_owners_;  // uids being deleted in foreground or orphaning
  bool garbage_possible_ = false;
  int64_t revision_ = 1;  // never 0: that means "any" to a watch
  int64_t compacted_ = 0;
  uint64_t uids_ = 0;
};

}  // namespace trainyard::store
