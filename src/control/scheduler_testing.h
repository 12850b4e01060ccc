// SchedulerYard: a store, one scheduler and a clock in the hand of the test. Writes can be made
// to fail or to kill the scheduler; a new one carries on.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "control/scheduler.h"
#include "control/testing.h"
#include "kube/access.h"
#include "kube/scheduling.h"

namespace trainyard::control::testing {

class SchedulerYard {
 public:
  explicit SchedulerYard(SchedulerOptions options = {}) : options_(std::move(options)) { start(); }

  void start() {
    SchedulerPorts ports{*client, [this] { return now; }};
    ports.uptime = [this] { return now - Time{}; };
    ports.workers = workers;
    ports.events = sink;
    scheduler_ = std::make_unique<Scheduler>(std::move(ports), options_);
    from_.clear();
  }
  Scheduler& scheduler() { return *scheduler_; }
  // Another process has its turn, the one until now stands still: the first time, a new one.
  void change_over(const std::string& identity) {
    std::swap(scheduler_, idle_);
    std::swap(from_, idle_from_);
    options_.identity = identity;
    if (scheduler_ == nullptr) start();
  }
  // What is to be done now, without waiting for anything.
  void work() {
    do {
      carry();
    } while (scheduler_->step(now));
  }

  void carry() {
    for (const StreamRequest& wanted : scheduler_->requests(now)) {
      if (const auto* watch = std::get_if<kube::Watch>(&wanted.request.verb)) {
        from_[wanted.stream] = std::stoll(watch->version);
      } else {
        scheduler_->on_list(wanted.stream, tap.send(wanted.request), now);
      }
    }
    for (auto& [stream, version] : from_) {
      const client::Stream& what = scheduler_->streams()[static_cast<size_t>(stream)];
      if (frozen == what.resource.plural) continue;
      std::vector<store::WatchEvent> events = store.events_since(what.resource, version).value();
      for (const store::WatchEvent& event : events) {
        version = event.revision;
        scheduler_->on_event(stream, client::to_watch_event(event), now);
      }
    }
  }
  // Until there is nothing to do for a while: pauses that settle things are waited for.
  void settle() {
    for (int turn = 0; turn < 10'000; ++turn) {
      carry();
      bool stepped = false;
      try {
        stepped = scheduler_->step(now);
      } catch (const Crash&) {
        start();
        continue;
      }
      if (stepped) continue;
      std::optional<Time> next = scheduler_->next_wake();
      if (!next || *next > now + seconds(3)) return;
      now = std::max(now + Duration{1}, *next);
    }
    FAIL() << "the scheduler does not come to rest";
  }

  void node(std::string_view name, std::string_view cpu) {
    json::object made{{"metadata", json::object{{"name", kube::jview(name)}}}};
    if (!store.get(kube::kNodes, "", name).ok()) {
      ASSERT_TRUE(store.create(kube::kNodes, "", made, now).ok());
    }
    json::object object = **store.get(kube::kNodes, "", name);
    object["status"] =
        json::object{{"allocatable", json::object{{"cpu", kube::jview(cpu)}, {"pods", "110"}}}};
    ASSERT_TRUE(store.update_status(kube::kNodes, "", object, now).ok());
  }
  // A pod; of the Volcano group that is named, unless it is "".
  void pod(std::string_view name, std::string_view cpu, std::string_view group = "") {
    add(pod_object(name, cpu, group));
  }
  void gated_pod(std::string_view name, std::string_view cpu) {
    json::object made = pod_object(name, cpu, "");
    made["spec"].as_object()["schedulingGates"] = json::array{json::object{{"name", "example.com/later"}}};
    add(made);
  }
  void lift_gates(std::string_view name) {
    json::object changed = **store.get(kube::kPods, "ns", name);
    changed["spec"].as_object().erase("schedulingGates");
    ASSERT_TRUE(store.update(kube::kPods, "ns", changed, now).ok());
  }
  static json::object pod_object(std::string_view name, std::string_view cpu, std::string_view group) {
    json::object meta{{"name", kube::jview(name)}, {"namespace", "ns"}};
    if (!group.empty()) {
      meta["annotations"] = json::object{{"scheduling.k8s.io/group-name", kube::jview(group)}};
    }
    json::object container{
        {"name", "c"}, {"resources", json::object{{"requests", json::object{{"cpu", kube::jview(cpu)}}}}}};
    return {{"apiVersion", "v1"},
            {"kind", "Pod"},
            {"metadata", std::move(meta)},
            {"spec", json::object{{"containers", json::array{container}}}}};
  }
  void add(const json::object& pod) { ASSERT_TRUE(store.create(kube::kPods, "ns", pod, now).ok()); }
  void group(std::string_view name, int min_member, std::string_view queue = "") {
    json::object spec{{"minMember", min_member}};
    if (!queue.empty()) spec["queue"] = kube::jview(queue);
    json::object made{{"apiVersion", "scheduling.volcano.sh/v1beta1"},
                      {"kind", "PodGroup"},
                      {"metadata", json::object{{"name", kube::jview(name)}, {"namespace", "ns"}}},
                      {"spec", std::move(spec)}};
    ASSERT_TRUE(store.create(kube::kVolcanoPodGroups, "ns", made, now).ok());
  }
  // A queue of Volcano, made or changed.
  void queue(std::string_view name, json::object status, json::object spec = {}) {
    json::object made{{"apiVersion", "scheduling.volcano.sh/v1beta1"},
                      {"kind", "Queue"},
                      {"metadata", json::object{{"name", kube::jview(name)}}},
                      {"spec", std::move(spec)}};
    if (!store.get(kube::kVolcanoQueues, "", name).ok()) {
      ASSERT_TRUE(store.create(kube::kVolcanoQueues, "", made, now).ok());
    }
    json::object object = **store.get(kube::kVolcanoQueues, "", name);
    object["status"] = std::move(status);
    ASSERT_TRUE(store.update_status(kube::kVolcanoQueues, "", object, now).ok());
  }
  // A group of so many pods, "<name>-<i>".
  void gang(std::string_view name, int pods, std::string_view cpu) {
    group(name, pods);
    for (int i = 0; i < pods; ++i) pod(fmt::format("{}-{}", name, i), cpu, name);
  }
  void remove_pod(std::string_view name) {
    ASSERT_TRUE(store.remove(kube::kPods, "ns", name, {.grace_seconds = 0}, now).ok());
  }
  std::string node_of(std::string_view name) {
    return std::string(kube::text_at(**store.get(kube::kPods, "ns", name), {"spec", "nodeName"}));
  }
  // How many of a gang's pods have a node.
  int bound(std::string_view gang) {
    int count = 0;
    store::Page pods = store.list(kube::kPods, "ns").value();
    for (const client::Object& pod : pods.items) {
      bool has = !kube::text_at(*pod, {"spec", "nodeName"}).empty();
      count += has && kube::annotation_of(*pod, "scheduling.k8s.io/group-name") == gang;
    }
    return count;
  }
  std::string phase(std::string_view group) {
    return std::string(kube::text_at(**store.get(kube::kVolcanoPodGroups, "ns", group), {"status", "phase"}));
  }
  std::string told(std::string_view pod) {
    for (const kube::Condition& one : kube::decode_conditions(**store.get(kube::kPods, "ns", pod))) {
      if (one.type == "PodScheduled") return one.message;
    }
    return "";
  }
  int events(std::string_view reason) {
    int count = 0;
    store::Page told = store.list(kube::kEvents, "ns").value();
    for (const client::Object& event : told.items) {
      count += kube::text_at(*event, {"reason"}) == reason;
    }
    return count;
  }

  Time now{1'700'000'000'000};
  store::Store store;
  Tap tap{store, now};
  std::string frozen;  // the plural of a resource whose watches are silent
  // Of schedulers that are started from now on.
  client::Client* client = &tap;
  Workers* workers = nullptr;
  EventSink* sink = nullptr;

 private:
  SchedulerOptions options_;
  std::unique_ptr<Scheduler> scheduler_;
  std::map<int, int64_t> from_;
  std::unique_ptr<Scheduler> idle_;
  std::map<int, int64_t> idle_from_;
};

}  // namespace trainyard::control::testing
