#include "control/binder.h"

#include <algorithm>
#include <memory>

#include "base/check.h"
#include "control/take_first.h"

namespace trainyard::control {
namespace {

constexpr size_t kBatchFirst = 256;
constexpr size_t kBatchMin = 64;
constexpr size_t kBatchMax = 4'096;
constexpr Duration kBatchTime{500};
// One that the server works on, and one that is ready when it has done.
constexpr int kUnderWayMax = 2;

}  // namespace

Binder::Binder(client::Client& client, std::function<Time()> clock, Workers* workers)
    : client_(client), clock_(std::move(clock)), workers_(workers), batch_(kBatchFirst) {}

bool Binder::may_send() const { return !waiting_.empty() && under_way_ < kUnderWayMax; }

std::vector<Bind> Binder::next() {
  CHECK(may_send());
  return take_first(waiting_, batch_);
}

void Binder::send(std::vector<Bind> batch) {
  ++under_way_;
  // A function must be copyable; a flight is not.
  auto flight = std::make_shared<Flight>(Flight{{std::move(batch), {}}, clock_(), Time{}});
  auto fly = [this, flight] {
    std::vector<kube::Request> requests;
    requests.reserve(flight->landed.binds.size());
    for (const Bind& bind : flight->landed.binds) requests.push_back(bind_request(bind.pod, bind.node));
    flight->landed.replies = client_.send_all(std::move(requests));
    flight->ended = clock_();
    std::lock_guard lock(mutex_);
    landed_.push_back(std::move(*flight));
    changed_.notify_one();
  };
  if (workers_ == nullptr) {
    fly();
  } else {
    workers_->run(fly);
  }
}

std::optional<Binder::Landed> Binder::take_landed() {
  if (under_way_ == 0) return std::nullopt;
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return !landed_.empty(); });
  Flight flight = std::move(landed_.front());
  landed_.pop_front();
  lock.unlock();
  --under_way_;
  fit_batch(flight.landed.binds.size(), flight.ended - flight.began);
  return std::move(flight.landed);
}

void Binder::fit_batch(size_t sent, Duration took) {
  if (took > kBatchTime) batch_ = std::max(batch_ / 2, kBatchMin);
  if (sent == batch_ && took * 2 < kBatchTime) batch_ = std::min(batch_ * 2, kBatchMax);
}

}  // namespace trainyard::control
