#include "node/pod_machine.h"

#include <gtest/gtest.h>
#include <signal.h>

#include "base/match.h"
#include "kube/access.h"
#include "kube/json.h"
#include "kube/meta.h"
#include "node/pod_plan.h"

namespace trainyard::node {
namespace {

constexpr Time kStart{1'700'000'000'000};

// A pod's life told in words: what runs is in the hands of the test.
class Life {
 public:
  explicit Life(const std::string& spec, const std::string& metadata = "{}") {
    pod_ = json::object{{"metadata", json::parse(metadata)}, {"spec", json::parse(spec)}};
    json::object& meta = pod_["metadata"].as_object();
    meta["name"] = "p";
    meta["namespace"] = "ns";
    meta["uid"] = "u";
  }

  // One step; what it decided, in words. Starting and preparing succeed.
  std::string step() {
    std::string words;
    PodView view{pod_,       containers_, last_words_, prepared_ ? "10.0.0.2" : "", "10.0.0.1", "test", now_,
                 allocated_, resize_,     enforced_};
    Decision decision = machine_.step(view);
    for (const Action& action : decision.actions) {
      if (!words.empty()) words += "; ";
      words += carry_out(action);
    }
    status_ = std::move(decision.status);
    pod_["status"] = status_;
    wake_ = decision.wake;
    for (PodEvent& event : decision.events) events_.push_back(std::move(event));
    return words;
  }
  // Steps until nothing is decided.
  std::string settle() {
    std::string words;
    for (int i = 0; i < 20; ++i) {
      std::string more = step();
      if (more.empty()) return words;
      if (!words.empty()) words += "; ";
      words += more;
      if (more.find("finish") != std::string::npos) return words;
    }
    return words + "; never settles";
  }

  void end(const std::string& name, int code, int signal = 0, bool oom = false) {
    for (ContainerStatus& status : containers_) {
      if (status.id.container != name || status.phase == ContainerPhase::kExited) continue;
      status.phase = ContainerPhase::kExited;
      status.exit_code = code;
      status.signal = signal;
      status.oom_killed = oom;
      status.finished = now_;
    }
  }
  void begin(const std::string& name) {
    for (ContainerStatus& status : containers_) {
      if (status.id.container == name && status.phase == ContainerPhase::kStarting)
        status.phase = ContainerPhase::kRunning;
    }
  }
  void check(const std::string& name, CheckKind kind, bool ok) {
    machine_.on_check(name, machine_.attempt_of(name), kind, ok, ok ? "" : "no");
  }
  void remove(int64_t grace) {
    json::object& meta = pod_["metadata"].as_object();
    meta["deletionTimestamp"] = format_rfc3339(now_ + seconds(grace));
    meta["deletionGracePeriodSeconds"] = grace;
  }
  void advance(Duration by) { now_ = now_ + by; }
  // The node was killed and is back.
  void new_life() { machine_ = PodMachine(); }

  std::string phase() const { return std::string(kube::text_at(status_, {"phase"})); }
  // "worker: running 0", "worker: terminated Error 3 1"; the last number counts restarts.
  std::string state(const std::string& name) const {
    for (std::string_view list :
         {"initContainerStatuses", "containerStatuses", "ephemeralContainerStatuses"}) {
      const json::array* statuses = kube::array_at(status_, {list});
      for (const json::value& entry : kube::or_empty(statuses)) {
        const json::object& status = entry.as_object();
        if (kube::text_at(status, {"name"}) != name) continue;
        std::string words;
        const json::object& state = status.at("state").as_object();
        for (const auto& member : state) {
          words += std::string(kube::view(member.key()));
          const json::object& of = member.value().as_object();
          if (of.contains("reason")) words += " " + std::string(kube::text_at(of, {"reason"}));
          if (of.contains("exitCode")) words += " " + std::to_string(*kube::int_at(of, {"exitCode"}));
        }
        return words + " " + std::to_string(*kube::int_at(status, {"restartCount"}));
      }
    }
    return "none";
  }
  std::string condition(const std::string& type) const {
    for (const json::value& entry : *kube::array_at(status_, {"conditions"})) {
      const json::object& condition = entry.as_object();
      if (kube::text_at(condition, {"type"}) != type) continue;
      std::string reason(kube::text_at(condition, {"reason"}));
      return std::string(kube::text_at(condition, {"status"})) + (reason.empty() ? "" : " " + reason);
    }
    return "none";
  }
  // A resize that the node has found room for, or not.
  void resize(const std::string& resources, ResizeVerdict verdict = {}) {
    pod_["spec"].as_object()["containers"].as_array()[0].as_object()["resources"] = json::parse(resources);
    if (verdict.state == ResizeState::kNone) allocated_ = wanted_of(pod_);
    resize_ = std::move(verdict);
  }
  // "2 of 1": what the first container has of what is set aside, in CPUs.
  std::string cpu() const {
    const json::object& status = status_.at("containerStatuses").as_array()[0].as_object();
    return fmt::format("{} of {}", kube::text_at(status, {"resources", "requests", "cpu"}),
                       kube::text_at(status, {"allocatedResources", "cpu"}));
  }
  bool told(const std::string& reason) const {
    return std::any_of(events_.begin(), events_.end(), [&](const PodEvent& e) { return e.reason == reason; });
  }

  json::object pod_;
  std::vector<ContainerStatus> containers_;
  std::map<ContainerId, std::string> last_words_;
  json::object status_;
  std::optional<Time> wake_;
  std::vector<PodEvent> events_;
  PodMachine machine_;
  Time now_ = kStart;
  bool prepared_ = false;
  bool starts_fail_ = false;
  bool prepare_fails_ = false;
  bool resizes_fail_ = false;
  Allocation allocated_;
  ResizeVerdict resize_;
  Enforced enforced_;
  bool starts_last_ = false;  // what is started does not run before begin()

 private:
  std::string carry_out(const Action& action) {
    return std::visit(
        Match{
            [&](const PreparePod&) {
              if (prepare_fails_) {
                machine_.on_prepared(Error{ErrorKind::kUnavailable, "MountVolume.SetUp failed"}, now_);
                return std::string("try");
              }
              prepared_ = true;
              machine_.on_prepared(std::string("10.0.0.2"), now_);
              return std::string("prepare");
            },
            [&](const StartContainer& what) {
              if (starts_fail_) {
                machine_.on_start_failed(what.name, "CreateContainerConfigError", "secret \"s\" not found",
                                         now_);
                return "try " + what.name;
              }
              ContainerPhase phase = starts_last_ ? ContainerPhase::kStarting : ContainerPhase::kRunning;
              containers_.push_back({{"u", what.name, what.attempt}, phase, now_});
              machine_.on_started(what.name);
              return "start " + what.name + (what.attempt > 0 ? fmt::format("#{}", what.attempt) : "");
            },
            [&](const SignalContainer& what) { return fmt::format("signal {} {}", what.name, what.signal); },
            [&](const RunCheck& what) { return fmt::format("{} {}", name_of(what.kind), what.name); },
            [&](const ResizeContainer& what) {
              Result<Done> done = Done{};
              if (resizes_fail_) done = Error{ErrorKind::kUnavailable, "no such group"};
              machine_.on_resized(what, done, now_);
              return fmt::format("resize {} {}", what.name, json::serialize(what.resources));
            },
            [&](const RemoveContainer& what) {
              std::erase_if(containers_, [&](const ContainerStatus& status) {
                return status.id.container == what.name && status.id.attempt == what.attempt;
              });
              return fmt::format("remove {}#{}", what.name, what.attempt);
            },
            [&](const FinishPod&) { return std::string("finish"); },
            [&](const DeletePod&) { return std::string("delete"); },
        },
        action);
  }
};

TEST(PodMachine, SaysWhereAnImageIs) {
  PodMachine machine;
  machine.on_image("one", "example/one:1", "docker.io/example/one@sha256:1");
  machine.on_image("two", "example/two:2", "");
  json::object pod{{"spec", json::object{{"containers", json::array{}}}}};
  std::vector<PodEvent> events = machine.step({pod, {}, {}, "", "", "", kStart}).events;
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[0],
            (PodEvent{false, "Pulled", "Container image \"example/one:1\" already present on machine"}));
  EXPECT_EQ(events[1], (PodEvent{false, "Pulled",
                                 "Container image \"example/two:2\" is not on this machine: the host's own "
                                 "root stands in for it"}));
}

const char* kOne = R"({"restartPolicy":"Never","containers":[{"name":"a"}]})";

TEST(PodMachine, TellsWhichImageRunsAndRemembersIt) {
  Life life(kOne);
  auto id = [&] {
    const json::array* statuses = kube::array_at(life.status_, {"containerStatuses"});
    return std::string(kube::text_at(statuses->at(0).get_object(), {"imageID"}));
  };
  life.settle();
  EXPECT_EQ(id(), "");
  life.machine_.on_image("a", "example/one:1", "docker.io/example/one@sha256:1");
  life.step();
  EXPECT_EQ(id(), "docker.io/example/one@sha256:1");
  life.new_life();
  life.step();
  EXPECT_EQ(id(), "docker.io/example/one@sha256:1");
}

TEST(PodMachine, RunsOnlyOnceItsContainerDoes) {
  Life life(R"({"containers":[{"name":"a","lifecycle":{"postStart":{"exec":{"command":["x"]}}}}]})");
  life.starts_last_ = true;
  EXPECT_EQ(life.settle(), "prepare; start a");
  EXPECT_EQ(life.phase(), "Pending");
  EXPECT_EQ(life.state("a"), "waiting ContainerCreating 0");
  life.begin("a");
  EXPECT_EQ(life.settle(), "PostStart a");
  EXPECT_EQ(life.phase(), "Running");
  EXPECT_EQ(life.state("a"), "running 0");
}

// A kubelet tells it in an event alone; who looks at the pod should not have to know that.
TEST(PodMachine, WhatIsWaitedForBeforeContainersIsSaid) {
  Life life(kOne);
  auto message = [&] {
    const json::array* statuses = kube::array_at(life.status_, {"containerStatuses"});
    return std::string(kube::text_at(statuses->at(0).get_object(), {"state", "waiting", "message"}));
  };
  life.prepare_fails_ = true;
  EXPECT_EQ(life.step(), "try");
  EXPECT_EQ(life.step(), "");
  EXPECT_EQ(life.state("a"), "waiting ContainerCreating 0");
  EXPECT_EQ(message(), "MountVolume.SetUp failed");
  life.prepare_fails_ = false;
  life.advance(kStartRetry);
  life.starts_last_ = true;
  EXPECT_EQ(life.settle(), "prepare; start a");
  EXPECT_EQ(message(), "");
}

TEST(PodMachine, CountsARestartOnlyOnceItHasBegun) {
  Life life(R"({"restartPolicy":"OnFailure","containers":[{"name":"a"}]})");
  life.settle();
  life.starts_last_ = true;
  life.end("a", 1);
  EXPECT_EQ(life.settle(), "start a#1");
  EXPECT_EQ(life.state("a"), "waiting ContainerCreating 0");
  life.begin("a");
  life.settle();
  EXPECT_EQ(life.state("a"), "running 1");
}

TEST(PodMachine, AContainerOnItsWayIsStoppedToo) {
  Life life(kOne);
  life.starts_last_ = true;
  life.settle();
  life.remove(30);
  EXPECT_EQ(life.settle(), "signal a 15");
  life.end("a", 143, 15);
  EXPECT_EQ(life.settle(), "finish; delete");
}

TEST(PodMachine, RunsToTheEnd) {
  Life life(kOne);
  EXPECT_EQ(life.step(), "prepare");
  EXPECT_EQ(life.phase(), "Pending");
  EXPECT_EQ(life.state("a"), "waiting ContainerCreating 0");
  EXPECT_EQ(life.settle(), "start a");
  EXPECT_EQ(life.phase(), "Running");
  EXPECT_EQ(life.condition("Ready"), "True");
  EXPECT_EQ(kube::text_at(life.status_, {"podIP"}), "10.0.0.2");
  life.end("a", 0);
  EXPECT_EQ(life.settle(), "finish");
  EXPECT_EQ(life.phase(), "Succeeded");
  EXPECT_EQ(life.state("a"), "terminated Completed 0 0");
  EXPECT_EQ(life.condition("Ready"), "False PodCompleted");
  EXPECT_EQ(life.condition("Initialized"), "True PodCompleted");
  EXPECT_TRUE(life.told("Started"));
}

TEST(PodMachine, ADebugContainerIsStartedOnceAndLeavesWithTheOthers) {
  Life life(kOne);
  life.settle();
  json::object& spec = life.pod_["spec"].as_object();
  spec["ephemeralContainers"] = json::array{json::object{{"name", "look"}}, json::object{{"name", "left"}}};
  EXPECT_EQ(life.settle(), "start look; start left");
  EXPECT_EQ(life.state("look"), "running 0");
  EXPECT_EQ(life.condition("Ready"), "True");
  life.end("left", 3);
  EXPECT_EQ(life.settle(), "");
  EXPECT_EQ(life.state("left"), "terminated Error 3 0");
  EXPECT_EQ(life.phase(), "Running");
  life.end("a", 0);
  EXPECT_EQ(life.settle(), "signal look 15");
  life.end("look", 143, 15);
  EXPECT_EQ(life.settle(), "finish");
  EXPECT_EQ(life.phase(), "Succeeded");
}

TEST(PodMachine, EndsAreReportedAsKubernetesDoes) {
  struct Case {
    int code;
    int signal;
    bool oom;
    std::string state;
    std::string phase;
  };
  for (const Case& each : {Case{0, 0, false, "terminated Completed 0 0", "Succeeded"},
                           Case{1, 0, false, "terminated Error 1 0", "Failed"},
                           Case{137, 9, false, "terminated Error 137 0", "Failed"},
                           Case{137, 9, true, "terminated OOMKilled 137 0", "Failed"},
                           Case{143, 15, false, "terminated Error 143 0", "Failed"}}) {
    Life life(kOne);
    life.settle();
    life.end("a", each.code, each.signal, each.oom);
    EXPECT_EQ(life.settle(), "finish");
    EXPECT_EQ(life.state("a"), each.state);
    EXPECT_EQ(life.phase(), each.phase);
  }
}

TEST(PodMachine, RestartPolicies) {
  struct Case {
    std::string policy;
    int code;
    std::string then;
  };
  for (const Case& each :
       {Case{"Never", 0, "finish"}, Case{"Never", 1, "finish"}, Case{"OnFailure", 0, "finish"},
        Case{"OnFailure", 1, "start a#1"}, Case{"Always", 0, "start a#1"}, Case{"Always", 1, "start a#1"}}) {
    Life life(R"({"restartPolicy":")" + each.policy + R"(","containers":[{"name":"a"}]})");
    life.settle();
    life.end("a", each.code);
    EXPECT_EQ(life.settle(), each.then) << each.policy << " " << each.code;
  }
}

TEST(PodMachine, BackOffDoublesUpToFiveMinutes) {
  Life life(R"({"restartPolicy":"Always","containers":[{"name":"a"}]})");
  life.settle();
  const int64_t waits[] = {0, 10, 20, 40, 80, 160, 300, 300};
  int attempt = 0;
  for (int64_t wait : waits) {
    life.advance(seconds(1));
    life.end("a", 1);
    ++attempt;
    std::string start = fmt::format("start a#{}", attempt);
    if (wait > 0) {
      life.settle();
      EXPECT_EQ(life.state("a"), fmt::format("waiting CrashLoopBackOff {}", attempt - 1));
      EXPECT_EQ(life.phase(), "Running");
      ASSERT_TRUE(life.wake_);
      EXPECT_EQ(*life.wake_ - life.now_, seconds(wait));
      life.advance(seconds(wait) - Duration{1});
      EXPECT_EQ(life.settle(), "");
      life.advance(Duration{1});
    }
    EXPECT_NE(life.settle().find(start), std::string::npos) << start;
    EXPECT_EQ(life.state("a"), fmt::format("running {}", attempt));
  }
  EXPECT_TRUE(life.told("BackOff"));
  EXPECT_LE(life.containers_.size(), 2u);
}

TEST(PodMachine, ALongRunBeginsTheCountAnew) {
  Life life(R"({"restartPolicy":"Always","containers":[{"name":"a"}]})");
  life.settle();
  life.end("a", 1);
  EXPECT_EQ(life.settle(), "start a#1");
  life.advance(kBackOffForgotten);
  life.end("a", 1);
  EXPECT_EQ(life.settle(), "start a#2; remove a#0");
}

TEST(PodMachine, BackOffSurvivesTheNode) {
  Life life(R"({"restartPolicy":"Always","containers":[{"name":"a"}]})");
  life.settle();
  life.end("a", 1);
  life.settle();
  life.end("a", 1);
  life.settle();
  EXPECT_EQ(life.state("a"), "waiting CrashLoopBackOff 1");
  life.new_life();
  EXPECT_EQ(life.settle(), "prepare");
  EXPECT_EQ(life.state("a"), "waiting CrashLoopBackOff 1");
  life.advance(seconds(10));
  EXPECT_EQ(life.settle(), "start a#2");
}

TEST(PodMachine, InitContainersRunInOrder) {
  Life life(
      R"({"restartPolicy":"Never","initContainers":[{"name":"i"},{"name":"j"}],"containers":[{"name":"a"}]})");
  EXPECT_EQ(life.settle(), "prepare; start i");
  EXPECT_EQ(life.phase(), "Pending");
  EXPECT_EQ(life.state("a"), "waiting PodInitializing 0");
  EXPECT_EQ(life.state("j"), "waiting PodInitializing 0");
  EXPECT_EQ(life.condition("Initialized"), "False ContainersNotInitialized");
  life.end("i", 0);
  EXPECT_EQ(life.settle(), "start j");
  life.end("j", 0);
  EXPECT_EQ(life.settle(), "start a");
  EXPECT_EQ(life.condition("Initialized"), "True");
  life.end("a", 0);
  EXPECT_EQ(life.settle(), "finish");
  EXPECT_EQ(life.phase(), "Succeeded");
}

TEST(PodMachine, AFailedInitContainerEndsThePodOrIsTriedAgain) {
  Life never(R"({"restartPolicy":"Never","initContainers":[{"name":"i"}],"containers":[{"name":"a"}]})");
  never.settle();
  never.end("i", 1);
  EXPECT_EQ(never.settle(), "finish");
  EXPECT_EQ(never.phase(), "Failed");
  Life always(R"({"restartPolicy":"Always","initContainers":[{"name":"i"}],"containers":[{"name":"a"}]})");
  always.settle();
  always.end("i", 1);
  EXPECT_EQ(always.settle(), "start i#1");
  always.end("i", 0);
  EXPECT_EQ(always.settle(), "start a");
}

TEST(PodMachine, ASidecarStaysUntilTheRestIsDone) {
  Life life(
      R"({"restartPolicy":"Never","initContainers":[{"name":"s","restartPolicy":"Always"}],"containers":[{"name":"a"}]})");
  EXPECT_EQ(life.settle(), "prepare; start s; start a");
  life.end("s", 1);
  EXPECT_EQ(life.settle(), "start s#1");
  life.end("a", 0);
  EXPECT_EQ(life.step(), "signal s 15");
  life.end("s", 143, 15);
  EXPECT_EQ(life.settle(), "finish");
  EXPECT_EQ(life.phase(), "Succeeded");
}

TEST(PodMachine, SeveralContainersEndTogether) {
  Life life(R"({"restartPolicy":"Never","containers":[{"name":"a"},{"name":"b"}]})");
  EXPECT_EQ(life.settle(), "prepare; start a; start b");
  life.end("a", 0);
  EXPECT_EQ(life.settle(), "");
  EXPECT_EQ(life.phase(), "Running");
  EXPECT_EQ(life.condition("Ready"), "False ContainersNotReady");
  life.end("b", 2);
  EXPECT_EQ(life.settle(), "finish");
  EXPECT_EQ(life.phase(), "Failed");
}

TEST(PodMachine, DeletionStopsGracefullyThenKills) {
  Life life(kOne);
  life.settle();
  life.remove(30);
  EXPECT_EQ(life.step(), "signal a 15");
  EXPECT_EQ(life.step(), "");
  ASSERT_TRUE(life.wake_);
  life.advance(seconds(30));
  EXPECT_EQ(life.step(), "signal a 9");
  life.advance(seconds(1));
  EXPECT_EQ(life.step(), "signal a 9");
  life.end("a", 137, 9);
  EXPECT_EQ(life.step(), "finish; delete");
  EXPECT_EQ(life.phase(), "Failed");
}

TEST(PodMachine, AShorterGraceCounts) {
  Life life(kOne);
  life.settle();
  life.remove(30);
  life.step();
  life.remove(2);
  life.step();
  life.advance(seconds(2));
  EXPECT_EQ(life.step(), "signal a 9");
}

TEST(PodMachine, DeletionOfAPodThatNeverStartedOrHasEnded) {
  Life fresh(kOne);
  fresh.remove(30);
  EXPECT_EQ(fresh.step(), "finish; delete");
  Life ended(kOne);
  ended.settle();
  ended.end("a", 0);
  ended.settle();
  ended.remove(0);
  EXPECT_EQ(ended.step(), "finish; delete");
  EXPECT_EQ(ended.phase(), "Succeeded");
}

TEST(PodMachine, HooksRunAroundTheContainer) {
  Life life(
      R"({"restartPolicy":"Never","containers":[{"name":"a","lifecycle":{"postStart":{"exec":{"command":["x"]}},
      "preStop":{"exec":{"command":["y"]}}}}]})");
  EXPECT_EQ(life.settle(), "prepare; start a; PostStart a");
  EXPECT_EQ(life.condition("Ready"), "False ContainersNotReady");
  life.check("a", CheckKind::kPostStart, true);
  life.settle();
  EXPECT_EQ(life.condition("Ready"), "True");
  life.remove(30);
  EXPECT_EQ(life.step(), "PreStop a");
  EXPECT_EQ(life.step(), "");
  life.check("a", CheckKind::kPreStop, true);
  EXPECT_EQ(life.step(), "signal a 15");
}

TEST(PodMachine, APostStartHookThatFailsEndsTheContainer) {
  Life life(
      R"({"restartPolicy":"Never","containers":[{"name":"a","lifecycle":{"postStart":{"exec":{"command":["x"]}}}}]})");
  life.settle();
  life.check("a", CheckKind::kPostStart, false);
  EXPECT_EQ(life.step(), "signal a 15");
  EXPECT_TRUE(life.told("FailedPostStartHook"));
}

TEST(PodMachine, ReadinessFollowsItsProbe) {
  Life life(
      R"({"containers":[{"name":"a","readinessProbe":{"tcpSocket":{"port":1},"initialDelaySeconds":5,"periodSeconds":2,
      "failureThreshold":2}}]})");
  EXPECT_EQ(life.settle(), "prepare; start a");
  EXPECT_EQ(life.condition("Ready"), "False ContainersNotReady");
  life.advance(seconds(5));
  EXPECT_EQ(life.settle(), "Readiness a");
  life.check("a", CheckKind::kReadiness, true);
  life.settle();
  EXPECT_EQ(life.condition("Ready"), "True");
  for (int failure : {1, 2}) {
    life.advance(seconds(2));
    EXPECT_EQ(life.settle(), "Readiness a");
    life.check("a", CheckKind::kReadiness, false);
    life.settle();
    EXPECT_EQ(life.condition("Ready"), failure == 1 ? "True" : "False ContainersNotReady");
  }
  EXPECT_TRUE(life.told("Unhealthy"));
}

TEST(PodMachine, ASidecarThatIsNotReadyKeepsThePodFromIt) {
  Life life(
      R"({"initContainers":[{"name":"s","restartPolicy":"Always","readinessProbe":{"tcpSocket":{"port":1}}}],
      "containers":[{"name":"a"}]})");
  EXPECT_EQ(life.settle(), "prepare; start s; Readiness s; start a");
  EXPECT_EQ(life.condition("Ready"), "False ContainersNotReady");
  life.check("s", CheckKind::kReadiness, true);
  life.settle();
  EXPECT_EQ(life.condition("Ready"), "True");
}

TEST(PodMachine, ReadinessWaitsForItsGates) {
  Life life(R"({"readinessGates":[{"conditionType":"example.org/lit"}],"containers":[{"name":"a"}]})");
  EXPECT_EQ(life.settle(), "prepare; start a");
  EXPECT_EQ(life.condition("ContainersReady"), "True");
  EXPECT_EQ(life.condition("Ready"), "False ReadinessGatesNotReady");
  auto say = [&](const char* status) {
    json::array& conditions = life.pod_["status"].as_object()["conditions"].as_array();
    conditions.insert(conditions.begin(), json::object{{"type", "example.org/lit"}, {"status", status}});
    life.step();
  };
  say("False");
  EXPECT_EQ(life.condition("Ready"), "False ReadinessGatesNotReady");
  say("True");
  EXPECT_EQ(life.condition("Ready"), "True");
}

TEST(PodMachine, LivenessKillsAndThePolicyDecides) {
  Life life(
      R"({"restartPolicy":"Always","terminationGracePeriodSeconds":3,
      "containers":[{"name":"a","livenessProbe":{"exec":{"command":["x"]},"periodSeconds":1,"failureThreshold":2},
      "startupProbe":{"exec":{"command":["y"]},"periodSeconds":1}}]})");
  EXPECT_EQ(life.settle(), "prepare; start a; Startup a");
  life.check("a", CheckKind::kStartup, true);
  EXPECT_EQ(life.settle(), "Liveness a");
  life.check("a", CheckKind::kLiveness, false);
  life.advance(seconds(1));
  EXPECT_EQ(life.settle(), "Liveness a");
  life.check("a", CheckKind::kLiveness, false);
  EXPECT_EQ(life.settle(), "signal a 15");
  life.advance(seconds(3));
  EXPECT_EQ(life.step(), "signal a 9");
  life.end("a", 137, 9);
  EXPECT_EQ(life.settle(), "start a#1; Startup a");
}

TEST(PodMachine, ADeadlineEndsThePod) {
  Life life(R"({"restartPolicy":"Always","activeDeadlineSeconds":60,"containers":[{"name":"a"}]})");
  life.settle();
  EXPECT_EQ(life.wake_, kStart + seconds(60));
  life.advance(seconds(60));
  EXPECT_EQ(life.settle(), "signal a 15");
  life.end("a", 143, 15);
  EXPECT_EQ(life.settle(), "finish");
  EXPECT_EQ(life.phase(), "Failed");
  EXPECT_EQ(kube::text_at(life.status_, {"reason"}), "DeadlineExceeded");
}

TEST(PodMachine, AnEvictedPodFailsWithItsReason) {
  Life life(kOne);
  life.machine_.evict("OutOfcpu", "Pod was rejected");
  EXPECT_EQ(life.step(), "finish");
  EXPECT_EQ(life.phase(), "Failed");
  EXPECT_EQ(kube::text_at(life.status_, {"reason"}), "OutOfcpu");
}

TEST(PodMachine, AStartThatCannotBePlannedIsTriedAgain) {
  Life life(kOne);
  life.starts_fail_ = true;
  EXPECT_EQ(life.settle(), "prepare; try a");
  EXPECT_EQ(life.state("a"), "waiting CreateContainerConfigError 0");
  EXPECT_EQ(life.phase(), "Pending");
  life.starts_fail_ = false;
  life.advance(kStartRetry);
  EXPECT_EQ(life.settle(), "start a");
  EXPECT_EQ(life.state("a"), "running 0");
}

TEST(PodMachine, ANewLifeStartsNothingTwice) {
  // The runtime has lost everything: what the status says is what is known.
  Life lost(kOne);
  lost.settle();
  lost.new_life();
  lost.containers_.clear();
  EXPECT_EQ(lost.settle(), "finish");
  EXPECT_EQ(lost.state("a"), "terminated ContainerStatusUnknown 137 0");
  // It ended well while the other one runs.
  Life two(R"({"restartPolicy":"OnFailure","containers":[{"name":"a"},{"name":"b"}]})");
  two.settle();
  two.end("a", 0);
  two.settle();
  two.new_life();
  std::erase_if(two.containers_, [](const ContainerStatus& s) { return s.id.container == "a"; });
  EXPECT_EQ(two.settle(), "prepare");
  EXPECT_EQ(two.state("a"), "terminated Completed 0 0");
  // It ended while nobody looked.
  Life unseen(kOne);
  unseen.settle();
  unseen.new_life();
  unseen.end("a", 7);
  EXPECT_EQ(unseen.settle(), "finish");
  EXPECT_EQ(unseen.state("a"), "terminated Error 7 0");
}

TEST(PodMachine, AToldEndIsNeverToldDifferently) {
  Life life(kOne);
  life.settle();
  life.end("a", 0);
  life.settle();
  json::object told = life.status_;
  life.new_life();
  life.containers_.clear();
  life.advance(seconds(100));
  EXPECT_EQ(life.step(), "finish");
  EXPECT_EQ(life.status_, told);
}

TEST(PodMachine, AQuietPodChangesNothing) {
  Life life(kOne);
  life.settle();
  json::object told = life.status_;
  life.advance(seconds(1000));
  EXPECT_EQ(life.step(), "");
  EXPECT_EQ(life.status_, told);
}

TEST(PodMachine, KeepsConditionsOfOthers) {
  Life life(kOne);
  life.settle();
  life.pod_["status"].as_object()["conditions"].as_array().push_back(
      json::parse(R"({"type":"DisruptionTarget","status":"True"})"));
  life.step();
  EXPECT_EQ(life.condition("DisruptionTarget"), "True");
}

TEST(PodMachine, LastWordsAreTheMessage) {
  Life life(kOne);
  life.settle();
  life.end("a", 1);
  life.last_words_[{"u", "a", 0}] = "out of data";
  life.settle();
  const json::array& statuses = *kube::array_at(life.status_, {"containerStatuses"});
  EXPECT_EQ(kube::text_at(statuses[0].as_object(), {"state", "terminated", "message"}), "out of data");
}

constexpr const char* kOneCpuPod =
    R"({"containers":[{"name":"a","resizePolicy":[{"resourceName":"memory","restartPolicy":"RestartContainer"}],
        "resources":{"requests":{"cpu":"1"},"limits":{"memory":"1Gi"}}}]})";

TEST(PodMachine, ResizesWhatRunsOnceItIsTold) {
  Life life(kOneCpuPod, R"({"generation":1})");
  life.allocated_ = wanted_of(life.pod_);
  life.settle();
  EXPECT_EQ(life.cpu(), "1 of 1");
  EXPECT_EQ(kube::int_at(life.status_, {"observedGeneration"}), 1);
  life.resize(R"({"requests":{"cpu":"2"},"limits":{"memory":"1Gi"}})");
  EXPECT_EQ(life.step(), "");
  EXPECT_EQ(life.cpu(), "1 of 2");
  EXPECT_EQ(life.condition("PodResizeInProgress"), "True");
  EXPECT_EQ(life.step(), R"(resize a {"requests":{"cpu":"2"},"limits":{"memory":"1Gi"}})");
  EXPECT_EQ(life.step(), "");
  EXPECT_EQ(life.cpu(), "2 of 2");
  EXPECT_EQ(life.condition("PodResizeInProgress"), "none");
  EXPECT_TRUE(life.told("ResizeCompleted"));
}

TEST(PodMachine, AResizeThatFailsIsToldAndTriedAgain) {
  Life life(kOneCpuPod);
  life.allocated_ = wanted_of(life.pod_);
  life.settle();
  life.resizes_fail_ = true;
  life.resize(R"({"requests":{"cpu":"2"},"limits":{"memory":"1Gi"}})");
  life.step();
  EXPECT_EQ(life.settle(), R"(resize a {"requests":{"cpu":"2"},"limits":{"memory":"1Gi"}})");
  EXPECT_EQ(life.condition("PodResizeInProgress"), "True Error");
  EXPECT_EQ(life.cpu(), "1 of 2");
  ASSERT_TRUE(life.wake_);
  life.now_ = *life.wake_;
  life.resizes_fail_ = false;
  EXPECT_NE(life.settle(), "");
  EXPECT_EQ(life.condition("PodResizeInProgress"), "none");
}

TEST(PodMachine, AResizeThatHasNoRoomWaits) {
  Life life(kOneCpuPod);
  life.allocated_ = wanted_of(life.pod_);
  life.settle();
  life.resize(R"({"requests":{"cpu":"9"},"limits":{"memory":"1Gi"}})", {ResizeState::kDeferred, "no room"});
  EXPECT_EQ(life.settle(), "");
  EXPECT_EQ(life.condition("PodResizePending"), "True Deferred");
  EXPECT_EQ(life.condition("PodResizeInProgress"), "none");
  EXPECT_EQ(life.cpu(), "1 of 1");
}

TEST(PodMachine, StartsAgainWhereThePolicyAsksForIt) {
  Life life(kOneCpuPod);
  life.allocated_ = wanted_of(life.pod_);
  life.settle();
  life.resize(R"({"requests":{"cpu":"1"},"limits":{"memory":"2Gi"}})");
  life.step();
  EXPECT_EQ(life.settle(), fmt::format("signal a {}", SIGTERM));
  EXPECT_EQ(life.condition("PodResizeInProgress"), "True");
  life.end("a", 0);
  EXPECT_EQ(life.settle(), "start a#1");
  EXPECT_EQ(life.state("a"), "running 1");
  EXPECT_EQ(life.condition("PodResizeInProgress"), "none");
  // It was no crash: the next one is started at once.
  life.end("a", 1);
  EXPECT_EQ(life.settle(), "start a#2; remove a#0");
}

TEST(PodMachine, ANewLifeGoesOnWithAResize) {
  Life life(kOneCpuPod);
  life.allocated_ = wanted_of(life.pod_);
  life.settle();
  life.resize(R"({"requests":{"cpu":"2"},"limits":{"memory":"1Gi"}})");
  life.step();
  life.new_life();
  life.machine_.on_prepared(std::string("10.0.0.2"), life.now_);
  EXPECT_EQ(life.settle(), R"(resize a {"requests":{"cpu":"2"},"limits":{"memory":"1Gi"}})");
}

TEST(PodMachine, LimitsThatBindNobodyAreNotTold) {
  Life life(kOneCpuPod);
  life.allocated_ = wanted_of(life.pod_);
  life.enforced_ = {false, false};
  life.settle();
  const json::object& status = life.status_.at("containerStatuses").as_array()[0].as_object();
  EXPECT_EQ(json::serialize(status.at("resources")), R"({"requests":{"cpu":"1"}})");
}

TEST(PodMachine, OfLimitsThoseThatBindAreTold) {
  Life life(R"({"containers":[{"name":"a","resources":{"limits":{"cpu":"1","memory":"1Gi"}}}]})");
  life.allocated_ = wanted_of(life.pod_);
  life.enforced_ = {.cpu = false, .memory = true};
  life.settle();
  const json::object& status = life.status_.at("containerStatuses").as_array()[0].as_object();
  EXPECT_EQ(json::serialize(*kube::find(status, {"resources", "limits"})), R"({"memory":"1Gi"})");
}

}  // namespace
}  // namespace trainyard::node
