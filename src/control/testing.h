// Yard: a small world for the tests of control: a store, a client that can be told to
// fail, one operator, a clock in the hand of the test. The operator can be thrown away
// and started again at any moment.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "client/in_process.h"
#include "control/fake_dialect.h"
#include "control/operator.h"
#include "kube/access.h"

namespace trainyard::control::testing {

// Thrown out of a write: the process died there.
struct Crash {};

// Between the operator and the store: counts writes (Events aside) and lets a test
// decide what becomes of each.
class Tap final : public client::Client {
 public:
  Tap(store::Store& store, const Time& now) : inner_(store, [&now] { return now; }) {}

  Result<client::Reply> send(kube::Request request) override {
    bool counts = client::is_write(request) && request.resource != kube::kEvents;
    if (counts && request.resource != kube::kLeases) {
      ++writes;
      log.push_back(kube::to_string(request));
    }
    if (auto* update = std::get_if<kube::UpdateStatus>(&request.verb)) {
      kube::ensure_object(update->body, {"status"}).erase(pruned);
    }
    if (!counts || !before) return inner_.send(std::move(request));
    std::optional<Error> error = before(writes, request);
    if (error) return *error;
    Result<client::Reply> reply = inner_.send(request);
    if (after) {
      error = after(writes, request);
      if (error) return *error;
    }
    return reply;
  }

  // Called with the number of the write; an error is answered in place of doing it
  // (before) or in spite of having done it (after).
  std::function<std::optional<Error>(int, const kube::Request&)> before = [](int, const kube::Request&) {
    return std::nullopt;
  };
  std::function<std::optional<Error>(int, const kube::Request&)> after;
  int writes = 0;
  std::vector<std::string> log;
  std::string pruned;  // a member of statuses that the server's schema does not know

 private:
  client::InProcess inner_;
};

class Yard {
 public:
  explicit Yard(OperatorOptions options = {}) : options_(std::move(options)) { start(); }

  void start() {
    auto keys = [] { return dialect::KeyPair{"private", "public"}; };
    OperatorPorts ports{tap, keys, [this] { return now; }};
    ports.uptime = [this] { return now - date_of_boot; };
    ports.observer = observer;
    operator_ = std::make_unique<Operator>(ports, std::vector<dialect::Dialect>{toy()}, options_);
    watched_.assign(operator_->streams().size(), -1);
  }
  Operator& op() { return *operator_; }

  // Brings in what the streams have to tell. A frozen stream tells nothing.
  void carry() {
    for (const StreamRequest& wanted : operator_->requests(now)) {
      if (const auto* watch = std::get_if<kube::Watch>(&wanted.request.verb)) {
        watched_[wanted.stream] = std::stoll(watch->version);
      } else {
        operator_->on_list(wanted.stream, tap.send(wanted.request), now);
      }
    }
    for (size_t i = 0; i < watched_.size(); ++i) tell(static_cast<int>(i));
  }
  void tell(int stream) {
    const client::Stream& what = operator_->streams()[stream];
    if (watched_[stream] < 0 || frozen == what.resource.plural) return;
    kube::Watch query{.labels = what.labels, .fields = {}, .version = std::to_string(watched_[stream])};
    std::vector<store::WatchEvent> events = store.watch(what.resource, "", query).value();
    for (const store::WatchEvent& event : events) {
      operator_->on_event(stream, client::to_watch_event(event), now);
      watched_[stream] = event.revision;
    }
  }
  // Runs until nothing is due at this time. Starts the operator again when it dies.
  void settle() {
    for (int turns = 0; turns < 1000; ++turns) {
      carry();
      carry();
      try {
        if (!operator_->run_one(now)) return;
      } catch (const Crash&) {
        start();
      }
      while (store.collect_garbage(now) > 0) {
      }
    }
    FAIL() << "the world does not come to rest";
  }
  // Nothing of what is measured shows it.
  void set_clock(Time date) {
    date_of_boot = date_of_boot + (date - now);
    now = date;
  }
  void pass(Duration time) {
    Time end = now + time;
    settle();
    while (true) {
      std::optional<Time> wake = operator_->next_wake();
      if (!wake || *wake > end) break;
      now = std::max(*wake, now + Duration{1});
      settle();
    }
    now = end;
    settle();
  }

  client::Object submit(std::string_view name, json::object spec) {
    json::object body{{"metadata", json::object{{"name", name}}}, {"spec", std::move(spec)}};
    return *store.create(kToys, "ns", std::move(body), now);
  }
  client::Object find(const kube::Resource& resource, std::string_view name) {
    Result<client::Object> found = store.get(resource, "ns", name);
    return found.ok() ? *found : nullptr;
  }
  std::vector<client::Object> all(const kube::Resource& resource) {
    return store.list(resource, "ns").value().items;
  }
  std::string phase(std::string_view name = "j") {
    client::Object job = find(kToys, name);
    return job == nullptr ? "gone" : std::string(kube::text_at(*job, {"status", "phase"}));
  }
  void set_pod(std::string_view name, std::string_view phase, int exit_code = 0) {
    json::object pod = *find(kube::kPods, name);
    json::object state;
    if (phase == "Running") {
      state["running"] = json::object{};
    } else {
      state["terminated"] = json::object{{"exitCode", exit_code}, {"finishedAt", format_rfc3339(now)}};
    }
    pod["status"] = json::object{
        {"phase", phase},
        {"containerStatuses", json::array{json::object{{"name", "main"}, {"state", std::move(state)}}}}};
    ASSERT_TRUE(store.update_status(kube::kPods, "ns", pod, now).ok());
  }
  void remove(const kube::Resource& resource, std::string_view name) {
    ASSERT_TRUE(store.remove(resource, "ns", name, {}, now).ok());
  }
  // The names of all live objects, in order.
  std::string names(const kube::Resource& resource) {
    std::string text;
    for (const client::Object& object : all(resource)) {
      if (!text.empty()) text += " ";
      text += kube::name_of(*object);
    }
    return text;
  }
  // Every Event as "reason: message xN", in order of reason.
  std::string events(std::string_view reason) {
    std::string text;
    for (const client::Object& event : all(kube::kEvents)) {
      if (kube::text_at(*event, {"reason"}) != reason) continue;
      if (!text.empty()) text += "; ";
      text += fmt::format("{} x{}", kube::text_at(*event, {"message"}),
                          kube::int_at(*event, {"count"}).value_or(0));
    }
    return text;
  }
  // Lets the job "j" with two workers run until it is done.
  void run_to_the_end() {
    for (int round = 0; round < 20; ++round) {
      pass(seconds(30));
      for (const client::Object& pod : all(kube::kPods)) {
        std::string_view phase = kube::text_at(*pod, {"status", "phase"});
        if (phase == "Pending") set_pod(kube::name_of(*pod), "Running");
        if (phase == "Running") set_pod(kube::name_of(*pod), "Succeeded");
      }
    }
  }

  Time now{1'700'000'000'000};
  Time date_of_boot{1'600'000'000'000};  // as the clock has it
  store::Store store;
  Tap tap{store, now};
  std::string frozen;            // the plural of a resource whose watches are silent
  Observer* observer = nullptr;  // from the next start() on

 private:
  OperatorOptions options_;
  std::unique_ptr<Operator> operator_;
  std::vector<int64_t> watched_;
};

}  // namespace trainyard::control::testing
