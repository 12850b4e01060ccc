#include "sim/quota.h"

#include <fmt/format.h>

namespace trainyard::sim {

Quota::Quota(Cluster& cluster, Trace& trace, const Options& options)
    : cluster_(cluster), trace_(trace), options_(options), rng_(stream(options.seed, Stream::kQuota)) {}

void Quota::start() {
  if (!options_.faults.has(Fault::kQuota)) return;
  const int64_t times = rng_.between(1, 3);
  for (int64_t i = 0; i < times; ++i) {
    const Duration begin{rng_.between(0, options_.trouble.count())};
    const Duration end = begin + Duration{rng_.between(2'000, 60'000)};
    const int pods_max = static_cast<int>(rng_.below(4));
    cluster_.agenda().in(begin, [this, pods_max] {
      if (trouble_) close(pods_max);
    });
    cluster_.agenda().in(end, [this] { open(); });
  }
}

void Quota::settle() {
  trouble_ = false;
  open();
}

void Quota::close(int pods_max) {
  if (!guards_) {
    cluster_.store().set_admission(
        kube::kPods, [this](json::object&, const json::object* before, kube::Part) { return judge(before); });
    guards_ = true;
  }
  pods_max_ = pods_max;
  // A spent quota is a 403; an object that is too large, or one that a webhook does not like, any 4xx.
  answer_ = rng_.chance(70) ? ErrorKind::kForbidden : ErrorKind::kInvalid;
  trace_.say(cluster_.now(), "quota", fmt::format("no more than {} pods", pods_max));
}

void Quota::open() {
  if (!pods_max_) return;
  pods_max_.reset();
  trace_.say(cluster_.now(), "quota", "pods are let in again");
}

Result<Done> Quota::judge(const json::object* before) {
  if (before != nullptr || !pods_max_) return Done{};
  auto pods = cluster_.store().list(kube::kPods, "");
  CHECK(pods.ok());
  if (static_cast<int>(pods->items.size()) < *pods_max_) return Done{};
  return Error{answer_, fmt::format("simulated: exceeded quota: pods={}, used: pods={}, limited: pods={}", 1,
                                    pods->items.size(), *pods_max_)};
}

}  // namespace trainyard::sim
