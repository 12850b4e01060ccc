// Lease: who leads, as a state machine over one Lease object: it says what to send, is
// told what came back, and answers whether we may write now. Pure.
//
// Guarantees: leads(uptime) is true only within kRenewWithin of the moment the last
// successful write of ours was *sent*; another takes over only after it has seen the
// lease unchanged for kLeaseDuration. Both measure with a clock that nobody sets and that
// goes on while the machine sleeps (`uptime`), so no two lead at once as long as clocks run
// at about the same speed, whatever the date is set to. The date (`now`) is what people read
// in the lease; nothing is decided by it. A machine that is stopped as a whole and goes on, as
// a virtual one may be, knows nothing of it: then the versions, names and uids of what is
// written protect.
#pragma once

#include <atomic>
#include <optional>
#include <string>

#include "base/result.h"
#include "base/time.h"
#include "client/client.h"
#include "kube/request.h"

namespace trainyard::control {

inline constexpr Duration kLeaseDuration{15'000};
inline constexpr Duration kRenewWithin{10'000};
inline constexpr Duration kRenewEvery{2'000};

class Lease {
 public:
  Lease(std::string ns, std::string name, std::string identity);

  // What to send now, and when there is nothing, when there will be.
  std::optional<kube::Request> ask(Duration uptime, Time now);
  Duration next_ask() const { return next_; }
  // REQUIRES: ask() gave a request at `sent`.
  void answer(const Result<client::Reply>& reply, Duration sent, Duration uptime);

  bool leads(Duration uptime) const;
  // When the lease was renewed last, as leads() counts it; nullopt when it is not ours.
  std::optional<Duration> renewed_at() const { return renewed_at_; }
  // Whether another had it before us, as far as we saw.
  bool took_over() const { return took_over_; }
  // What leads() says of a lease that was renewed then.
  static bool leads_since(Duration renewed, Duration uptime) { return uptime < renewed + kRenewWithin; }
  // The request that hands the lease over at once; nullopt when it is not ours.
  std::optional<kube::Request> release(Duration uptime, Time now);

 private:
  enum class Asked { kNothing, kRead, kWrite };
  bool is_ours() const { return ours_; }
  bool may_be_taken(Duration uptime) const;
  json::object claimed(Time now) const;
  void learn(const client::Object& lease, Duration uptime);

  // Fixed.
  std::string ns_;
  std::string name_;
  std::string identity_;
  // State.
  Asked asked_ = Asked::kNothing;
  Duration next_{0};
  client::Object seen_;   // as last read or written; null: never
  bool ours_ = false;     // seen_ names us
  Duration seen_at_{0};   // when it was first seen like this
  bool certain_ = false;  // seen_ is what the server has, as far as we know
  bool absent_ = false;   // known not to exist
  std::optional<Duration> renewed_at_;
  bool took_over_ = false;
};

// Until when a lease is ours, for threads besides the one that keeps it. Thread-safe.
class Lead {
 public:
  // nullopt: it is not ours.
  void renewed(std::optional<Duration> at) { renewed_ms_.store(at ? at->count() : kNever); }
  bool holds(Duration uptime) const {
    int64_t renewed = renewed_ms_.load();
    return renewed != kNever && Lease::leads_since(Duration{renewed}, uptime);
  }

 private:
  static constexpr int64_t kNever = -1;
  std::atomic<int64_t> renewed_ms_{kNever};
};

}  // namespace trainyard::control
