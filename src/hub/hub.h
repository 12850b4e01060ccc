// Hub: the store as a service of this process. One Store, one journal, many callers.
// Thread-safe.
//
// A request is carried out on the store at once and answered when everything it shows is
// on disk: a write after its own commit, a read after the commit of what it saw. Writes
// that come together share a commit (group commit). A watcher hears of a change after it
// is on disk, never before. So whatever anybody was told survives a kill at any moment.
//
// When the disk refuses (full, I/O error) the writes of that commit are answered with
// kUnavailable and a message that says why, the store goes back to what is on disk, and
// nobody ever saw them. After a failed fsync nobody knows what is on disk: the answer is
// kUnknown and the hub stays read-only (`failed()` says why).
//
// The hub also does what a cluster's controllers do for storage: it makes the namespaces
// that are always there, collects garbage, ends namespaces that are being deleted, drops
// events after their time, and compacts the log.
// What a write leaves to collect is collected before the write is answered.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "kube/request.h"
#include "store/store.h"

namespace trainyard::hub {

using store::Object;
using store::WatchEvent;

struct Options {
  std::filesystem::path file;   // the SQLite database; "" keeps everything in memory alone
  std::function<Time()> clock;  // REQUIRES: set
  uint64_t seed = 1;            // of uids and generated names; the plane gives a random one
  Duration event_ttl = std::chrono::hours{1};
  // How much of the log is kept for watchers: that many revisions, no longer than that.
  int64_t keep_revisions = 10'000;
  Duration keep_for = std::chrono::minutes{10};
  // And no more than these bytes of it, as text, of a journal that has texts.
  size_t keep_bytes = 64 << 20;
};

class Journal;

struct Answer {
  Object object;              // of get, create, update, patch, delete
  std::string text;           // of a write the object as it was put on disk; "" where nothing was
  std::vector<Object> items;  // of list; of deletecollection what was deleted
  int64_t revision = 0;       // of list; of a write the revision it made
  std::string continue_token;
  std::optional<int64_t> remaining;  // of a list with a limit and no selector
  bool created = false;              // of an apply that made the object
};

// What a watch tells, in order; called on the hub's own thread: must not block, must not
// wait for the hub (submit is fine, call is not). May drop its own subscription.
struct WatchSink {
  std::function<void(const std::vector<WatchEvent>& events)> on_events;
  // The watch is over: the revision is no longer kept (kGone), or the hub closes (nullopt).
  std::function<void(const std::optional<Error>& error)> on_closed;
};

// An open watch. Dropping it ends it: after that the sink is not called any more.
class Subscription {
 public:
  virtual ~Subscription() = default;
};

class Hub {
 public:
  using Respond = std::function<void(Result<Answer>)>;

  // Reads what is on disk. kUnavailable when the file is locked by another hub or damaged.
  static Result<std::unique_ptr<Hub>> open(Options options);
  // The same with a journal of one's own; options.file is not looked at.
  static Result<std::unique_ptr<Hub>> open(Options options, std::unique_ptr<Journal> journal);
  virtual ~Hub() = default;  // waits for what was submitted

  // Before anything is submitted for the resource.
  virtual void set_admission(const kube::Resource& resource, store::Admission admission) = 0;

  // The same for the form of what patches leave (store::Shaping).
  virtual void set_shaping(const kube::Resource& resource, store::Shaping shaping) = 0;

  // The same for what describes the objects of a resource (store::SchemaSource).
  virtual void set_schema(const kube::Resource& resource, store::SchemaSource schema) = 0;

  // `respond` is called exactly once, on the hub's thread or, where nothing is left to wait
  // for, at once on the caller's. REQUIRES: the verb is no Watch; the text that
  // request.resource points at lives as long as the hub.
  virtual void submit(kube::Request request, Respond respond) = 0;
  // The same, waiting. Not on the hub's own thread.
  virtual Result<Answer> call(kube::Request request) = 0;

  // A watch with the semantics of the API: version "" or "0" begins with the present
  // objects as kAdded, a number with what came after it (kGone when that is not kept);
  // send_initial_events ends the present with a kBookmark whose object carries the
  // annotation k8s.io/initial-events-end. Bookmarks about once a minute when asked for.
  virtual Result<std::unique_ptr<Subscription>> watch(const kube::Resource& resource, std::string_view ns,
                                                      const kube::Watch& query, WatchSink sink) = 0;

  virtual int64_t revision() const = 0;  // of what is on disk
  // Why nothing can be written any more; nullopt while all is well.
  virtual std::optional<std::string> failed() const = 0;
};

}  // namespace trainyard::hub
