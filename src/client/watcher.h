// Watcher: keeps one stream of objects (a resource and a selector) followed, as a state
// machine without I/O: it says what to send, is told what came back, and gives the
// changes to put into a cache.
//
//   kEmpty -> kListing -> kWatching        a list, then a watch from where it ended
//   kWatching -> kEmpty                    kGone, or somebody asked for a fresh list
//   kWatching -> kWatching                 the watch ended: again from the last version
//
// Guarantees: what is given out is Init, Apply*, InitDone for each list, page by page, then Apply
// and Delete; a list that fails half-way has no InitDone, and the next begins with Init; after
// InitDone the cache equals the server at the list's revision. Failures are retried with a growing pause, for
// ever. A resource that the server does not know (kNotFound) counts as an empty list. Pure: time is a
// parameter.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "client/client.h"
#include "client/packed.h"
#include "kube/request.h"

namespace trainyard::client {

// A fresh list begins: what follows replaces everything, at once, with InitDone.
struct Init {
  bool operator==(const Init&) const = default;
};
struct Apply {
  Object object;
  bool operator==(const Apply&) const = default;
};
struct Delete {
  Object object;
  bool operator==(const Delete&) const = default;
};
struct InitDone {
  int64_t revision = 0;  // of the list; 0 when the server does not know the resource
  bool operator==(const InitDone&) const = default;
};
// Everything up to this revision has been told.
struct Seen {
  int64_t revision = 0;
  bool operator==(const Seen&) const = default;
};
using Output = std::variant<Init, Apply, Delete, InitDone, Seen>;

inline constexpr int64_t kListPageMax = 500;

// Whether a cache remembers how what is gone was last (cache.h).
enum class Remains { kDropped, kKept };

// What is followed.
struct Stream {
  kube::Resource resource;
  kube::LabelSelector labels;
  std::string ns;                                  // "" for all
  Object (*keep)(const Object& object) = nullptr;  // what of an object is given out; null: all
  Form form = Form::kDocument;                     // how a cache of it holds objects
  // Of a page all documents are in memory at once, as the server tells them.
  int64_t page_max = kListPageMax;
  kube::FieldSelector fields{};         // besides the labels
  Remains remains = Remains::kDropped;  // in a cache of it
  kube::Heed heed = kube::Heed::kAll;   // at least what `keep` gives out
};

inline constexpr Duration kRetryFirst{500};
inline constexpr Duration kRetryMax{30'000};
// For a resource that the server does not know; longer each time, up to the second.
inline constexpr Duration kAbsentRetry{60'000};
inline constexpr Duration kAbsentRetryMax{300'000};

class Watcher {
 public:
  explicit Watcher(Stream stream) : stream_(std::move(stream)) {}

  // The list or watch to send now. Given once; a list must be answered before there is
  // another. It takes the place of a watch that is still open: that one may be closed, and
  // what it still tells is ignored. nullopt: one is under way, or it is not yet time.
  std::optional<kube::Request> ask(Time now);
  // Whether ask() has something now: it is asked of many at every step.
  bool wants(Time now) {
    // The pause is not that long: the clock went back.
    if (not_before_ > now + rest_) not_before_ = now;
    return !asked_ && now >= not_before_;
  }
  // When ask() will have something, as far as time alone decides.
  std::optional<Time> next_ask() const;

  // The answer to a List.
  std::vector<Output> on_list(const Result<Reply>& reply, Time now);
  // The server has agreed to the watch that was asked for.
  void on_opened();
  // An event of the open watch.
  std::vector<Output> on_event(const WatchEvent& event, Time now);
  // The watch ended, by itself or with an error (kGone among them).
  void on_closed(const std::optional<Error>& error, Time now);
  // Lists again as soon as possible: what is under way now counts for nothing any more.
  void relist(Time now);

  const Stream& stream() const { return stream_; }
  bool watching() const { return state_ == State::kWatching; }
  // The server does not know the resource.
  bool absent() const { return absent_; }
  // Why the last list or watch failed; nullopt once one has gone well.
  const std::optional<Error>& trouble() const { return trouble_; }

 private:
  enum class State { kEmpty, kListing, kWatching };
  void retry_later(Time now);
  void ask_again_after(Duration pause, Time now);
  void start_over();
  Object kept(const Object& object) const { return stream_.keep == nullptr ? object : stream_.keep(object); }

  // Fixed.
  Stream stream_;
  // State.
  State state_ = State::kEmpty;
  bool asked_ = false;  // an answer is due
  bool stale_ = false;  // ... to a list, and it will be thrown away
  Time asked_at_;
  Time not_before_;
  Duration rest_{0};  // until then, from when that was said
  Duration pause_{0};
  Duration absent_pause_{0};
  std::string continue_token_;
  int64_t list_revision_ = 0;  // of the first page
  int64_t version_ = 0;        // of the last thing seen
  bool heard_ = false;         // the open watch has told something
  bool absent_ = false;
  std::optional<Error> trouble_;
};

}  // namespace trainyard::client
