#include "control/lease.h"

#include "base/check.h"
#include "kube/access.h"
#include "kube/meta.h"

namespace trainyard::control {

namespace {

// A MicroTime, as the Lease wants it.
std::string micro_time(Time time) {
  std::string text = format_rfc3339(time);
  std::string fraction = std::to_string(1000 + time.ms % 1000);
  text.back() = '.';
  text.append(fraction, 1).append("000Z");
  return text;
}

}  // namespace

Lease::Lease(std::string ns, std::string name, std::string identity)
    : ns_(std::move(ns)), name_(std::move(name)), identity_(std::move(identity)) {
  CHECK(!identity_.empty());
}

bool Lease::leads(Duration uptime) const { return renewed_at_ && leads_since(*renewed_at_, uptime); }

// Free, or not renewed for as long as its holder promised. Who has it and was not seen renewing it is safe:
// the version of what was seen is old, and the claim is refused.
bool Lease::may_be_taken(Duration uptime) const {
  if (seen_ == nullptr) return false;
  if (kube::text_at(*seen_, {"spec", "holderIdentity"}).empty()) return true;
  Duration promised =
      seconds(kube::int_at(*seen_, {"spec", "leaseDurationSeconds"}).value_or(kLeaseDuration.count() / 1000));
  return uptime >= seen_at_ + promised;
}

json::object Lease::claimed(Time now) const {
  json::object lease = seen_ != nullptr
                           ? *seen_
                           : json::object{{"apiVersion", kube::kLeases.api_version()},
                                          {"kind", kube::kLeases.kind},
                                          {"metadata", json::object{{"name", name_}, {"namespace", ns_}}}};
  json::object& spec = kube::ensure_object(lease, {"spec"});
  int64_t transitions = kube::int_at(lease, {"spec", "leaseTransitions"}).value_or(0);
  if (!is_ours()) {
    spec["acquireTime"] = micro_time(now);
    spec["leaseTransitions"] = seen_ != nullptr ? transitions + 1 : 0;
  }
  spec["holderIdentity"] = identity_;
  spec["leaseDurationSeconds"] = kLeaseDuration.count() / 1000;
  // A write that changes nothing gives it no new version, and nobody would see that it was renewed.
  const bool reads_alike = kube::text_at(spec, {"renewTime"}) == micro_time(now);
  spec["renewTime"] = micro_time(reads_alike ? now + Duration{1} : now);
  return lease;
}

std::optional<kube::Request> Lease::ask(Duration uptime, Time now) {
  if (asked_ != Asked::kNothing || uptime < next_) return std::nullopt;
  if (absent_) {
    asked_ = Asked::kWrite;
    return kube::Request{kube::kLeases, ns_, kube::Create{claimed(now)}};
  }
  if (certain_ && (is_ours() || may_be_taken(uptime))) {
    asked_ = Asked::kWrite;
    return kube::Request{kube::kLeases, ns_, kube::Update{claimed(now)}};
  }
  asked_ = Asked::kRead;
  return kube::Request{kube::kLeases, ns_, kube::Get{name_}};
}

void Lease::answer(const Result<client::Reply>& reply, Duration sent, Duration uptime) {
  CHECK(asked_ != Asked::kNothing);
  bool wrote = asked_ == Asked::kWrite;
  asked_ = Asked::kNothing;
  absent_ = false;
  next_ = uptime + kRenewEvery;
  if (!reply.ok() || reply->object == nullptr) {
    // After a failed write nobody knows whose it is: read before writing again.
    certain_ = false;
    absent_ = !wrote && !reply.ok() && reply.error().kind == ErrorKind::kNotFound;
    bool lost_race =
        wrote && !reply.ok() &&
        (reply.error().kind == ErrorKind::kConflict || reply.error().kind == ErrorKind::kAlreadyExists);
    if (absent_ || lost_race) next_ = uptime;
    return;
  }
  bool was_anothers = seen_ != nullptr && !is_ours();
  learn(reply->object, uptime);
  // Also when it is read: the answer to our claim may have been lost.
  if (was_anothers && is_ours()) took_over_ = true;
  if (wrote && is_ours()) renewed_at_ = sent;
  if (wrote && !is_ours()) renewed_at_.reset();
  // What was just read may be ours from an earlier life or free for the taking.
  if (!wrote && (is_ours() || may_be_taken(uptime))) next_ = uptime;
}

void Lease::learn(const client::Object& lease, Duration uptime) {
  bool changed = seen_ == nullptr || kube::version_of(*seen_) != kube::version_of(*lease);
  seen_ = lease;
  ours_ = kube::text_at(*seen_, {"spec", "holderIdentity"}) == identity_;
  certain_ = true;
  if (changed) seen_at_ = uptime;
  if (!is_ours()) renewed_at_.reset();
}

std::optional<kube::Request> Lease::release(Duration uptime, Time now) {
  if (!leads(uptime) || !is_ours()) return std::nullopt;
  renewed_at_.reset();
  json::object lease = *seen_;
  json::object& spec = kube::ensure_object(lease, {"spec"});
  spec["holderIdentity"] = "";
  spec["leaseDurationSeconds"] = 1;
  spec["renewTime"] = micro_time(now);
  certain_ = false;
  return kube::Request{kube::kLeases, ns_, kube::Update{std::move(lease)}};
}

}  // namespace trainyard::control
