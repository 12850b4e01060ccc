// Lease: who leads, as a state machine over one Lease object: it says what to send, is
// told what came back, and answers whether we may write now. Pure.
//
// Guarantees: leads(now) is true only within kRenewWithin of the moment the last
// successful write of ours was *sent*; another takes over only after it has watched the
// lease unchanged for kLeaseDuration by its own clock. So as long as clocks of different
// machines run at the same speed (to a third), no two lead at once, however far apart
// the clocks are set. A clock that went back since the last renewal ends leadership.
#pragma once

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
  std::optional<kube::Request> ask(Time now);
  Time next_ask() const { return next_; }
  // REQUIRES: ask() gave a request at `sent`.
  void answer(const Result<client::Reply>& reply, Time sent, Time now);

  bool leads(Time now) const;
  // The request that hands the lease over at once; nullopt when it is not ours.
  std::optional<kube::Request> release(Time now);

 private:
  enum class Asked { kNothing, kGet, kCreate, kUpdate };
  json::object claimed(Time now) const;
  void learn(const client::Object& lease, Time now);

  // Fixed.
  std::string ns_;
  std::string name_;
  std::string identity_;
  // State.
  Asked asked_ = Asked::kNothing;
  Time next_;
  client::Object seen_;  // as last read or written; null: unknown
  Time seen_at_;         // when it was first seen like this
  bool absent_ = false;  // known not to exist
  std::optional<Time> renewed_at_;
};

}  // namespace trainyard::control
