// A snapshot that is kept from pass to pass says what one says that is made anew, whatever was seen in
// between. A failure names the seed.
#include "control/scheduler_view.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/rng.h"
#include "kube/access.h"
#include "kube/scheduling.h"
#include "sched/schedule.h"
#include "sched/snapshot_testing.h"

namespace trainyard::control {
namespace {

using sched::testing::said;

constexpr Time kThisMoment{1'700'000'000'000};
constexpr std::string_view kSchedulers[] = {"trainyard", "default-scheduler"};
constexpr std::string_view kAmounts[] = {R"("cpu": "1")", R"("cpu": "2")",
                                         R"("cpu": "1", "example.com/gpu": 1)"};

// What is on the server, by stream and uid, and what was told of it.
class Town {
 public:
  explicit Town(uint64_t seed) : rng_(seed) {
    for (size_t stream = 0; stream < view_.streams().size(); ++stream) list(static_cast<int>(stream));
  }
  // Something happens, or the scheduler does something.
  void live() {
    switch (rng_.below(12)) {
      case 0:
      case 1:
      case 2:
      case 3:
      case 4:
        return put("pods", pod());
      case 5:
      case 6:
        return put_group();
      case 7:
        return assume();
      case 8:
        return lose_one();
      case 9:
        return write_status();
      case 10:
        return list(stream_at(rng_.below(4) == 0 ? any_kind() : "pods"));
      default:
        return rng_.chance(70) ? put("pods", pod()) : put_other();
    }
  }
  void check() {
    view_.look_at_claims({});
    const uint64_t before = kept_.revision();
    const sched::Snapshot& kept = kept_.update(view_, view_.shapes(), view_.take_changes());
    const sched::Snapshot fresh = sched::assemble(view_.all(), view_.shapes(), front_);
    ASSERT_TRUE(said(kept) == said(fresh));
    sched::Decisions decisions = sched::schedule(fresh.cluster, fresh.gangs, {}, kThisMoment);
    ASSERT_TRUE(sched::schedule(kept.cluster, kept.gangs, {}, kThisMoment) == decisions);
    ASSERT_TRUE(sched::schedule(kept_.standing(), kept.gangs, {}, kThisMoment) == decisions);
    check_queues(kept, fresh);
    ASSERT_TRUE(kept_.revision() != before || decisions == decisions_) << "what stands is not asked again";
    stood_ += kept_.revision() == before;
    decisions_ = std::move(decisions);
  }
  int stood() const { return stood_; }

 private:
  // What queues are told is the same, too.
  void check_queues(const sched::Snapshot& kept, const sched::Snapshot& fresh) {
    const sched::QueueSums sums = sched::queue_sums(fresh);
    for (const client::Object& queue : view_.queues()) {
      ASSERT_EQ(sched::queue_status(*queue, kept, kept_.queue_sums(), kThisMoment),
                sched::queue_status(*queue, fresh, sums, kThisMoment));
    }
  }
  std::string any(std::string_view prefix, int of) { return fmt::format("{}{}", prefix, rng_.below(of)); }
  std::string any_kind() {
    constexpr std::string_view kKinds[] = {"nodes", "priorityclasses", "namespaces",
                                           "persistentvolumeclaims"};
    return std::string(kKinds[rng_.below(std::size(kKinds))]);
  }
  int stream_at(std::string_view plural, size_t which = 0) const {
    for (size_t stream = 0; stream < view_.streams().size(); ++stream) {
      if (view_.streams()[stream].resource.plural == plural && which-- == 0) return static_cast<int>(stream);
    }
    ADD_FAILURE() << plural;
    return 0;
  }

  json::object object(std::string_view text) { return json::parse(kube::jview(text)).as_object(); }
  json::object pod() {
    constexpr std::string_view kNames[] = {R"("annotations": {{"scheduling.k8s.io/group-name": "{}"}})",
                                           R"("labels": {{"scheduling.x-k8s.io/pod-group": "{}"}})",
                                           R"("labels": {{"scheduler.tensorstack.dev/group-name": "{}"}})"};
    std::string name = any("p", 12);
    std::string meta = fmt::format(R"("name": "{}", "namespace": "ns", "uid": "{}")", name, name);
    if (rng_.chance(70)) meta += ", " + fmt::format(fmt::runtime(kNames[rng_.below(3)]), any("g", 3));
    if (rng_.chance(10)) meta += R"(, "deletionTimestamp": "2023-11-14T22:00:00Z")";
    std::string spec =
        fmt::format(R"("schedulerName": "{}", "containers": [{{"resources": {{"requests": {{{}}}}}}}])",
                    kSchedulers[rng_.chance(20)], kAmounts[rng_.below(3)]);
    if (rng_.chance(50)) spec += fmt::format(R"(, "nodeName": "{}")", any("n", 4));
    if (rng_.chance(10)) spec += R"(, "schedulingGates": [{"name": "later"}])";
    if (rng_.chance(20)) spec += fmt::format(R"(, "priorityClassName": "{}")", any("c", 2));
    if (rng_.chance(15)) {
      spec += fmt::format(R"(, "volumes": [{{"name": "v", "persistentVolumeClaim": {{"claimName": "{}"}}}}])",
                          any("v", 2));
    }
    if (rng_.chance(10)) {
      spec += R"(, "affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution":
        [{"topologyKey": "kubernetes.io/hostname", "labelSelector":
          {"matchLabels": {"scheduling.x-k8s.io/pod-group": "g1"}}}]}})";
    }
    constexpr std::string_view kPhases[] = {"Pending", "Running", "Running", "Succeeded", "Failed"};
    return object(fmt::format(R"({{"metadata": {{{}}}, "spec": {{{}}}, "status": {{"phase": "{}"}}}})", meta,
                              spec, kPhases[rng_.below(5)]));
  }
  void put_group() {
    constexpr std::string_view kPhases[] = {"", "Pending", "Inqueue", "Running"};
    auto which = static_cast<size_t>(rng_.below(4));
    const kube::Resource& resource =
        view_.streams()[static_cast<size_t>(stream_at("podgroups", which))].resource;
    std::string name = any("g", 3);
    json::object made = object(fmt::format(
        R"({{"metadata": {{"name": "{}", "namespace": "ns", "uid": "{}-{}"}}, "spec": {{"minMember": {}, "queue": "{}",
            "minResources": {{{}}}}}, "status": {{"phase": "{}"}}}})",
        name, name, which, rng_.between(0, 3), any("q", 2), kAmounts[rng_.below(3)], kPhases[rng_.below(4)]));
    made["apiVersion"] = resource.api_version();
    made["kind"] = kube::jview(resource.kind);
    put_at(stream_at("podgroups", which), std::move(made));
  }
  void put_other() {
    std::string node = any("n", 3);
    std::string queue = any("q", 2);
    switch (rng_.below(5)) {
      case 0:
        return put("nodes", object(fmt::format(
                                R"({{"metadata": {{"name": "{}", "uid": "{}"}}, "status": {{"allocatable":
                   {{"cpu": "{}", "pods": "9"}}}}}})",
                                node, node, rng_.between(1, 9))));
      case 1: {
        auto which = static_cast<size_t>(rng_.below(2));
        json::object made = object(fmt::format(
            R"({{"metadata": {{"name": "{}", "uid": "{}-{}"}}, "spec": {{"weight": {}}}, "status": {{"state": "{}"}}}})",
            queue, queue, which, rng_.between(1, 2), rng_.chance(20) ? "Closed" : "Open"));
        const kube::Resource& resource =
            view_.streams()[static_cast<size_t>(stream_at("queues", which))].resource;
        made["apiVersion"] = resource.api_version();
        made["kind"] = "Queue";
        return put_at(stream_at("queues", which), std::move(made));
      }
      case 2: {
        std::string name = any("c", 2);
        return put("priorityclasses",
                   object(fmt::format(R"({{"metadata": {{"name": "{}", "uid": "{}"}}, "value": {}}})", name,
                                      name, rng_.between(1, 3))));
      }
      case 3:
        return put("namespaces", object(R"({"metadata": {"name": "ns", "uid": "ns"}})"));
      default: {
        std::string name = any("v", 2);
        return put("persistentvolumeclaims",
                   object(fmt::format(R"({{"metadata": {{"name": "{}", "namespace": "ns", "uid": "{}"}},
                     "spec": {{"storageClassName": "{}"}}, "status": {{"phase": "Pending"}}}})",
                                      name, name, any("s", 2))));
      }
    }
  }

  void put(std::string_view plural, json::object made) { put_at(stream_at(plural), std::move(made)); }
  void put_at(int stream, json::object made) {
    made["metadata"].as_object()["resourceVersion"] = std::to_string(++version_);
    auto kept = std::make_shared<const json::object>(std::move(made));
    there_[stream][std::string(kube::uid_of(*kept))] = kept;
    view_.take_in(stream, client::Apply{kept});
  }
  void lose_one() {
    auto which = static_cast<size_t>(rng_.below(4));
    int stream = rng_.chance(50) ? stream_at("pods") : stream_at("podgroups", which);
    auto& there = there_[stream];
    if (there.empty()) return;
    auto one = std::next(there.begin(), static_cast<std::ptrdiff_t>(rng_.below(there.size())));
    json::object last = *one->second;
    last["metadata"].as_object()["resourceVersion"] = std::to_string(++version_);
    view_.take_in(stream, client::Delete{std::make_shared<const json::object>(std::move(last))});
    there.erase(one);
  }
  // All of a stream is listed again; now and then it has lost something meanwhile.
  void list(int stream) {
    auto& there = there_[stream];
    if (!there.empty() && rng_.chance(30)) there.erase(there.begin());
    view_.take_in(stream, client::Init{});
    for (const auto& [uid, one] : there) view_.take_in(stream, client::Apply{one});
    view_.take_in(stream, client::InitDone{++version_});
  }
  void assume() {
    std::string uid = any("p", 12);
    const PodSight* pod = view_.find_pod(uid);
    if (pod == nullptr) return;
    if (view_.assumed().contains(uid)) {
      view_.forget_assumed(uid);
    } else if (pod->seen.node.empty()) {
      view_.assume(uid, any("n", 3));
    }
  }
  // Of a group or a queue; the stream tells it later, or never.
  void write_status() {
    bool group = rng_.chance(50);
    int stream = stream_at(group ? "podgroups" : "queues", 0);
    auto& there = there_[stream];
    if (there.empty()) return;
    auto one = std::next(there.begin(), static_cast<std::ptrdiff_t>(rng_.below(there.size())));
    json::object after = *one->second;
    after["metadata"].as_object()["resourceVersion"] = std::to_string(++version_);
    std::string_view word = group ? "phase" : "state";
    after["status"] = json::object{{kube::jview(word), group             ? "Running"
                                                       : rng_.chance(30) ? "Closed"
                                                                         : "Open"}};
    one->second = std::make_shared<const json::object>(std::move(after));
    view_.wrote(view_.streams()[static_cast<size_t>(stream)].resource, one->second);
    if (rng_.chance(50)) view_.take_in(stream, client::Apply{one->second});
  }

  Rng rng_;
  const sched::FrontOptions front_{.schedulers = {"trainyard"}};
  SchedulerView view_{true};
  sched::KeptSnapshot kept_{front_};
  std::map<int, std::map<std::string, client::Object>> there_;
  int64_t version_ = 0;
  sched::Decisions decisions_;
  int stood_ = 0;
};

TEST(SchedulerView, AKeptSnapshotIsAsOneMadeAnew) {
  int stood = 0;
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    Town town(seed);
    for (int step = 0; step < 80 && !::testing::Test::HasFatalFailure(); ++step) {
      town.live();
      town.check();
    }
    if (::testing::Test::HasFatalFailure()) return;
    stood += town.stood();
  }
  EXPECT_GT(stood, 100);
}

}  // namespace
}  // namespace trainyard::control
