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
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "kube/json.h"
#include "kube/managed_fields.h"
#include "kube/meta.h"
#include "kube/request.h"

namespace trainyard::store {

using Object = std::shared_ptr<const json::object>;

struct Manager;

enum class ChangeKind { kAdded, kModified, kDeleted, kBookmark };

// One entry of the watch log. `before` is null for kAdded and kBookmark.
struct WatchEvent {
  ChangeKind kind = ChangeKind::kAdded;
  int64_t revision = 0;
  Object object;  // after the change; of a deletion: as it was last, with the new revision
  Object before;
  size_t bytes = 0;  // what the object takes as text, where somebody knows
};

// One entry of the log and whose it is. The resource's text lives as long as the store.
struct Change {
  kube::Resource resource;
  WatchEvent event;
};

struct Page {
  std::vector<Object> items;         // order: namespace, name
  int64_t revision = 0;              // of the snapshot; watch from here and nothing is missed
  std::string continue_token;        // "" on the last page
  std::optional<int64_t> remaining;  // how many follow; only where nothing selects
};

// What a store demands beyond what every object has in common.
struct Rules {
  // Objects live in namespaces that exist; a deleted namespace takes all that is in it along.
  bool namespaces = false;
};

// An entry of the log as a watcher with a namespace and selectors is told it, if at all.
std::optional<WatchEvent> as_watched(const WatchEvent& event, const kube::Resource& resource,
                                     std::string_view ns, const kube::Watch& query);

// What may be written for one resource. `before` is null for a creation. May complete
// the object (defaults); an Error refuses the write.
using Admission =
    std::function<Result<Done>(json::object& object, const json::object* before, kube::Part part)>;

// Brings what a patch made of an object into the form of its kind, as the body of another write
// already has it: types, and what is null. An Error refuses the patch.
using Shaping = std::function<Result<Done>(json::object& patched, const json::object& before)>;

// The structural schema by which the objects of a resource have parts that are managed one by
// one; null where there is none. Asked anew at each write that needs it.
using SchemaSource = std::function<std::shared_ptr<const json::object>()>;

inline constexpr int64_t kGraceSecondsDefault = 30;

class Store {
 public:
  explicit Store(uint64_t seed = 1, Rules rules = {}) : seed_(seed), rules_(rules) {}

  void set_admission(const kube::Resource& resource, Admission admission);
  void set_shaping(const kube::Resource& resource, Shaping shaping);
  void set_schema(const kube::Resource& resource, SchemaSource schema);

  // Every write takes the options of its request: a dry run answers as if and leaves
  // nothing behind; a named field manager is entered in metadata.managedFields.

  // Gives uid, creationTimestamp, generation and resourceVersion; a generateName gets
  // a suffix. The status is dropped where it is a subresource; pods start as Pending.
  Result<Object> create(const kube::Resource& resource, std::string_view ns, json::object body, Time now,
                        const kube::WriteOptions& options = {});
  Result<Object> get(const kube::Resource& resource, std::string_view ns, std::string_view name) const;
  // `ns` "" stands for all namespaces.
  Result<Page> list(const kube::Resource& resource, std::string_view ns, const kube::List& query = {}) const;
  // The whole object but its status; metadata.resourceVersion and uid, when set, are preconditions.
  Result<Object> update(const kube::Resource& resource, std::string_view ns, json::object body, Time now,
                        const kube::WriteOptions& options = {});
  // The status and nothing else. REQUIRES: resource.has_status.
  Result<Object> update_status(const kube::Resource& resource, std::string_view ns, json::object body,
                               Time now, const kube::WriteOptions& options = {});
  // The resources of a pod's containers and nothing else. REQUIRES: resource is pods.
  Result<Object> resize(const kube::Resource& resource, std::string_view ns, json::object body, Time now,
                        const kube::WriteOptions& options = {});
  // An apply of what is not there makes it.
  Result<Object> patch(const kube::Resource& resource, std::string_view ns, const kube::Patch& patch,
                       Time now, const kube::WriteOptions& options = {});
  // The object as it is now: still there with a deletionTimestamp, or as it was last.
  Result<Object> remove(const kube::Resource& resource, std::string_view ns, std::string_view name,
                        const kube::DeleteOptions& options, Time now, bool dry_run = false);
  // All that match; each as remove() answers it, of a dry run as it is.
  Result<std::vector<Object>> remove_collection(const kube::Resource& resource, std::string_view ns,
                                                const kube::DeleteCollection& which, Time now,
                                                bool dry_run = false);

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

  // Deletes the events that were last seen before `before`; how many.
  int expire_events(Time before, Time now);

  // Everything that happened after `revision`, oldest first. REQUIRES: revision >= compacted().
  std::vector<Change> changes_since(int64_t revision) const;
  // Of the changes up to and including `revision`: those that nobody can ask for any more when the log up
  // to there is forgotten, ascending.
  std::vector<int64_t> superseded_up_to(int64_t revision) const;
  // Takes back everything that happened after `revision`, as if it had never been; uids
  // stay used. REQUIRES: revision >= compacted().
  void rollback(int64_t revision);

  // Building a store from what was kept of another: the changes that are not superseded and
  // those of the log, in the order of revisions, then the counters.
  void replay(const kube::Resource& resource, ChangeKind kind, Object object, bool in_log);
  void set_counters(int64_t revision, int64_t compacted, uint64_t uids);

  int64_t revision() const { return revision_; }
  int64_t compacted() const { return compacted_; }
  uint64_t uids() const { return uids_; }
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
      const int first = std::string_view(a.first).compare(b.first);
      return first != 0 ? first < 0 : std::string_view(a.second) < std::string_view(b.second);
    }
  };
  using Objects = std::map<ObjectKey, Object, PairLess>;
  // Finds text by views of it.
  struct TextHash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };
  // Where an object is: enough to find it again without its resource.
  struct Place {
    std::pair<std::string_view, std::string_view> type;  // of Table::names, which all copies share
    ObjectKey key;
    auto operator<=>(const Place&) const = default;
  };
  struct Table {
    kube::Resource resource;
    std::shared_ptr<const std::vector<std::string>> names;  // what resource's views point into
    Objects objects;
    std::vector<WatchEvent> log;
    Admission admission;
    Shaping shaping;
    SchemaSource schema;
  };
  struct Write {
    Time now;
    const kube::WriteOptions& options;
    // Of an apply: who manages what, already worked out.
    const std::vector<Manager>* managers = nullptr;
  };
  struct ListStart {
    int64_t revision = 0;
    std::optional<ObjectKey> after;
  };

  Result<ListStart> list_start(const kube::List& query) const;
  // What events_since() answers, where it lies; good until the next write.
  Result<std::span<const WatchEvent>> log_since(const kube::Resource& resource, int64_t revision) const;
  Objects differences_at(const Table& table, int64_t revision) const;

  const Table* find_table(const kube::Resource& resource) const;
  Table& table_for(const kube::Resource& resource);
  const Object* find_object(const kube::Resource& resource, std::string_view ns, std::string_view name) const;
  static const Object* find_object(const Table& table, std::string_view ns, std::string_view name);
  std::string next_uid();
  std::string generated_name(const Table& table, std::string_view ns, std::string_view prefix);

  std::optional<Error> check_namespace(const kube::Resource& resource, std::string_view ns,
                                       const json::object& body) const;
  // The name a new object gets, free to be used, and what comes behind it.
  struct FreeName {
    std::string name;
    Objects::iterator next;
  };
  Result<FreeName> name_for(Table& table, std::string_view ns, const json::object& body);

  Result<Object> create_now(const kube::Resource& resource, std::string_view ns, json::object body,
                            const Write& write);
  Result<Object> replace_named(const kube::Resource& resource, std::string_view ns, json::object body,
                               kube::Part part, const Write& write);
  Result<Object> replace(Table& table, const Object& before, json::object body, kube::Part part,
                         const Write& write);
  Result<Object> replace_now(Table& table, const Object& before, json::object body, kube::Part part,
                             const Write& write);
  // `may_differ`: in more than the status and the metadata.
  Result<Object> finish_write(Table& table, const Object& before, json::object after, bool may_differ);
  Result<Object> apply(const kube::Resource& resource, std::string_view ns, const kube::Patch& patch,
                       const Write& write);
  Result<Object> apply_new(const kube::Resource& resource, std::string_view ns, json::object config,
                           const Write& write);
  Result<Object> apply_to(Table& table, const Object& before, json::object config, kube::Part part,
                          const Write& write);
  // Enters in `after` who manages what it changed.
  static void track_managers(json::object& after, const json::object* before, const Table& table,
                             kube::Part part, const Write& write);
  static kube::FieldRules rules_of(const Table& table);
  // What a dry run answers: as written, but everything since `revision` is taken back.
  Result<Object> pretended(const kube::Resource& resource, Result<Object> written, int64_t revision);
  // Each stores or removes one object, logs it and keeps the indexes.
  Object put(Table& table, const Object& before, json::object after);
  Object put_new(Table& table, Objects::iterator next, json::object made);
  Object erase(Table& table, const Object& before, json::object last);
  void index(const Table& table, const json::object* before, const json::object* after);
  static Place place_of(const Table& table, const json::object& object);
  void index_owners(const Place& place, const json::object* object, bool present);
  void index_namespaces(const Place& place, const json::object* after);
  void suspect_dependents(const std::string& owner_uid);
  void undo(const Change& change);

  Object start_deletion(Table& table, const Object& before, const kube::DeleteOptions& options, Time now);
  // Each step of the collector answers whether it wrote something.
  bool collect_dependent(const Place& place, Time now);
  int empty_namespace(const std::string& name, Time now);
  bool finish_foreground(const std::string& owner_uid);
  int finish_orphaning(const std::string& owner_uid);
  bool drop_finalizer(const Place& place, std::string_view finalizer);
  bool drop_owners(const Place& place, const std::set<std::string>& owner_uids);
  Table& table_at(const Place& place);
  const Object& object_at(const Place& place) const;

  // Fixed.
  uint64_t seed_ = 1;
  Rules rules_;
  // State.
  std::map<TypeKey, Table, PairLess> tables_;
  std::unordered_map<std::string, Place, TextHash, std::equal_to<>> by_uid_;  // never walked
  std::map<std::string, std::set<Place>, std::less<>> dependents_;            // owner's uid -> who names it
  std::set<std::string> waiting_owners_;  // uids being deleted in foreground or orphaning
  std::set<Place> suspects_;              // dependents whose owners may have gone or begun to wait
  std::set<std::string> emptying_;        // namespaces being deleted in which something changed
  int64_t revision_ = 1;                  // never 0: that means "any" to a watch
  int64_t compacted_ = 0;
  uint64_t uids_ = 0;
};

}  // namespace trainyard::store
