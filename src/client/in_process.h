// InProcess: the client whose server is a Store in the same process. Every call is one
// step of the store; a watch is polled and answers with what has happened so far.
// Resource: borrows the store and the clock, both outlive it.
#pragma once

#include <functional>

#include "client/client.h"
#include "store/store.h"

namespace trainyard::client {

class InProcess final : public Client {
 public:
  using Clock = std::function<Time()>;

  InProcess(store::Store& store, Clock clock) : store_(store), clock_(std::move(clock)) {}
  InProcess(const InProcess&) = delete;
  InProcess& operator=(const InProcess&) = delete;

  Result<Reply> send(kube::Request request) override;

 private:
  store::Store& store_;
  Clock clock_;
};

// A request carried out on a store at the given time.
Result<Reply> carry_out(store::Store& store, kube::Request&& request, Time now);

// The store's log entry as a watch tells it.
WatchEvent to_watch_event(const store::WatchEvent& event);

}  // namespace trainyard::client
