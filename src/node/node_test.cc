#include "node/node.h"

#include <signal.h>

#include <atomic>

#include "base/nobodys_port.h"
#include "kube/access.h"
#include "kube/meta.h"
#include "kube/objects.h"
#include "kube/pod.h"
#include "kube/yaml.h"
#include "node/fake_plane.h"
#include "node/files.h"
#include "node/node_object.h"
#include "node/testing.h"

namespace trainyard::node {
namespace {

using testing::eventually;
using testing::FakePlane;
using testing::parse;
using testing::TempFolder;

// A pod of one container that runs a shell script.
json::object shell_pod(const std::string& name, const std::string& script,
                       const std::string& policy = "Never") {
  return json::object{
      {"apiVersion", "v1"},
      {"kind", "Pod"},
      {"metadata",
       json::object{{"name", name}, {"namespace", "ns"}, {"labels", json::object{{"app", name}}}}},
      {"spec",
       json::object{{"nodeName", "trainyard"},
                    {"restartPolicy", policy},
                    {"containers", json::array{json::object{
                                       {"name", "main"},
                                       {"image", "example"},
                                       {"command", json::array{"/bin/sh", "-c", json::string(script)}}}}}}}};
}

class NodeTest : public ::testing::Test {
 protected:
  NodeTest() : plane_([this] { return now(); }) { open(); }
  ~NodeTest() override {
    node_->stop(true);
    for (const std::string& uid : runtime_->pods()) EXPECT_TRUE(runtime_->destroy(uid).ok());
  }

  Time now() const { return wall_clock() + Duration{ahead_.load()}; }
  void advance(Duration by) {
    ahead_ += by.count();
    node_->poke();
  }

  // A node in a new life.
  void open() {
    node_.reset();
    runtime_.reset();
    runtime_ = std::make_unique<ProcessRuntime>(testing::process_options(folder_.path()));
    NodeOptions options;
    options.data_dir = folder_.path();
    options.capacity = {2000, 1 << 30, 0};
    options.gpus = {0, 1};
    options.clock = [this] { return now(); };
    node_ = std::make_unique<Node>(std::move(options), plane_, plane_, *runtime_);
    node_->start();
  }

  std::string create(json::object pod) {
    Result<client::Object> made = client::create(plane_, kube::kPods, "ns", std::move(pod));
    EXPECT_TRUE(made.ok()) << made.error().message;
    return made.ok() ? std::string(kube::uid_of(**made)) : "";
  }
  kube::Pod pod(const std::string& name) { return kube::decode_pod(plane_.get(kube::kPods, "ns", name)); }
  bool wait_for_phase(const std::string& name, kube::PodPhase phase) {
    bool came = eventually([&] { return pod(name).phase == phase; });
    if (!came) ADD_FAILURE() << json::serialize(plane_.get(kube::kPods, "ns", name));
    return came;
  }
  bool wait_until_gone(const std::string& name) {
    return eventually([&] { return plane_.get(kube::kPods, "ns", name).empty(); });
  }
  const kube::ContainerStatus main_of(const std::string& name) {
    const kube::Pod seen = pod(name);
    const kube::ContainerStatus* status = seen.container("main");
    return status != nullptr ? *status : kube::ContainerStatus{};
  }
  std::string log(const std::string& name, LogQuery query = {}) {
    Result<std::unique_ptr<LogReader>> reader = node_->logs({"ns", name, "", "main"}, query);
    if (!reader.ok()) return "";
    std::string text;
    for (;;) {
      Result<bool> more = reader.value()->read(text);
      if (!more.ok() || !*more) return text;
    }
  }
  bool wait_for_log(const std::string& name, const std::string& words) {
    return eventually([&] { return log(name).find(words) != std::string::npos; });
  }
  void remove(const std::string& name, std::optional<int64_t> grace = std::nullopt) {
    kube::DeleteOptions options;
    options.grace_seconds = grace;
    EXPECT_TRUE(client::remove(plane_, kube::kPods, "ns", name, options).ok());
  }
  std::vector<std::string> events_of(const std::string& name) {
    std::vector<std::string> reasons;
    Result<client::Reply> all = client::list(plane_, kube::kEvents, "ns");
    for (const client::Object& event : all->items) {
      if (kube::text_at(*event, {"involvedObject", "name"}) == name) {
        reasons.emplace_back(kube::text_at(*event, {"reason"}));
      }
    }
    return reasons;
  }

  TempFolder folder_;
  std::atomic<int64_t> ahead_{0};
  FakePlane plane_;
  std::unique_ptr<ProcessRuntime> runtime_;
  std::unique_ptr<Node> node_;
};

TEST_F(NodeTest, RunsAPodToItsEnd) {
  create(shell_pod("good", "echo hello; exit 0"));
  create(shell_pod("bad", "echo oh; exit 3"));
  ASSERT_TRUE(wait_for_phase("good", kube::PodPhase::kSucceeded));
  ASSERT_TRUE(wait_for_phase("bad", kube::PodPhase::kFailed));
  ASSERT_TRUE(main_of("bad").terminated);
  EXPECT_EQ(main_of("bad").terminated->exit_code, 3);
  EXPECT_EQ(main_of("bad").terminated->reason, "Error");
  EXPECT_EQ(main_of("good").terminated->reason, "Completed");
  EXPECT_EQ(pod("good").pod_ip, "127.0.0.1");
  EXPECT_EQ(log("good"), "hello\n");
  EXPECT_EQ(log("bad"), "oh\n");
}

TEST_F(NodeTest, LogsStayWhenThePodIsGone) {
  create(shell_pod("pod", "echo hello"));
  ASSERT_TRUE(wait_for_phase("pod", kube::PodPhase::kSucceeded));
  remove("pod");
  ASSERT_TRUE(wait_until_gone("pod"));
  EXPECT_EQ(log("pod"), "hello\n");
}

TEST_F(NodeTest, RegistersItself) {
  ASSERT_TRUE(eventually([&] {
    json::object node = plane_.get(kNodes, "", "trainyard");
    return kube::text_at(node, {"status", "capacity", "nvidia.com/gpu"}) == "2";
  }));
  EXPECT_TRUE(eventually([&] { return !plane_.get(kube::kLeases, kLeaseNamespace, "trainyard").empty(); }));
}

TEST_F(NodeTest, RestartsWithBackOff) {
  create(shell_pod("pod", "echo run; exit 1", "OnFailure"));
  // The first restart is at once, the second waits ten seconds.
  ASSERT_TRUE(eventually([&] { return main_of("pod").reason == "CrashLoopBackOff"; }));
  EXPECT_EQ(main_of("pod").restart_count, 1);
  EXPECT_EQ(pod("pod").phase, kube::PodPhase::kRunning);
  advance(seconds(11));
  ASSERT_TRUE(eventually([&] { return main_of("pod").restart_count == 2; }));
  ASSERT_TRUE(eventually([&] { return main_of("pod").reason == "CrashLoopBackOff"; }));
  EXPECT_EQ(main_of("pod").last_ended->exit_code, 1);
  LogQuery previous;
  previous.previous = true;
  EXPECT_EQ(log("pod", previous), "run\n");
}

TEST_F(NodeTest, DeletionGivesGraceAndThenKills) {
  create(shell_pod("polite", "trap 'exit 5' TERM; echo up; while :; do sleep 0.05; done"));
  create(shell_pod("deaf", "trap '' TERM; echo up; while :; do sleep 0.05; done"));
  ASSERT_TRUE(wait_for_log("polite", "up"));
  ASSERT_TRUE(wait_for_log("deaf", "up"));
  remove("polite");
  ASSERT_TRUE(wait_until_gone("polite"));
  remove("deaf");
  ASSERT_TRUE(eventually([&] {
    std::vector<std::string> reasons = events_of("deaf");
    return std::find(reasons.begin(), reasons.end(), "Killing") != reasons.end();
  }));
  EXPECT_EQ(pod("deaf").phase, kube::PodPhase::kRunning);
  advance(seconds(31));
  ASSERT_TRUE(wait_until_gone("deaf"));
  EXPECT_TRUE(eventually([&] { return std::filesystem::is_empty(folder_.path() / "pods"); }));
}

TEST_F(NodeTest, AForcedDeletionKillsAtOnce) {
  create(shell_pod("pod", "echo $$$$; trap '' TERM; while :; do sleep 0.05; done"));
  ASSERT_TRUE(wait_for_log("pod", "\n"));
  pid_t pid = static_cast<pid_t>(std::stol(log("pod")));
  remove("pod", 0);
  EXPECT_TRUE(eventually([&] { return ::kill(pid, 0) != 0; }));
}

TEST_F(NodeTest, ANewLifeAdoptsPods) {
  TempFolder side;
  std::string gate = (side.path() / "gate").native();
  create(shell_pod("runs", "echo once; while [ ! -e " + gate + " ]; do sleep 0.02; done; exit 7"));
  create(shell_pod("orphan", "echo $$$$; sleep 1000"));
  ASSERT_TRUE(wait_for_log("runs", "once"));
  ASSERT_TRUE(wait_for_log("orphan", "\n"));
  pid_t orphan = static_cast<pid_t>(std::stol(log("orphan")));
  node_->stop(true);
  remove("orphan", 0);
  ASSERT_TRUE(write_whole(gate, "").ok());
  EXPECT_EQ(::kill(orphan, 0), 0);
  open();
  ASSERT_TRUE(wait_for_phase("runs", kube::PodPhase::kFailed));
  EXPECT_EQ(main_of("runs").terminated->exit_code, 7);
  EXPECT_EQ(main_of("runs").restart_count, 0);
  EXPECT_EQ(log("runs"), "once\n");
  EXPECT_TRUE(eventually([&] { return ::kill(orphan, 0) != 0; }));
}

TEST_F(NodeTest, StatusIsWrittenWhenTheServerComesBack) {
  create(shell_pod("pod", "echo up; sleep 0.2; exit 2"));
  ASSERT_TRUE(wait_for_log("pod", "up"));
  plane_.refuse_writes(true);
  ASSERT_TRUE(eventually([&] { return !log("pod").empty(); }));
  plane_.refuse_writes(false);
  ASSERT_TRUE(wait_for_phase("pod", kube::PodPhase::kFailed));
  EXPECT_EQ(main_of("pod").terminated->exit_code, 2);
}

TEST_F(NodeTest, GivesGpusToOneContainerEach) {
  for (std::string name : {"one", "two", "three"}) {
    json::object pod = shell_pod(name, "echo gpu $CUDA_VISIBLE_DEVICES; sleep 1000");
    pod["spec"].at("containers").at(0).as_object()["resources"] = parse(R"({"limits":{"nvidia.com/gpu":1}})");
    create(std::move(pod));
  }
  int running = 0, refused = 0;
  ASSERT_TRUE(eventually([&] {
    running = refused = 0;
    for (std::string name : {"one", "two", "three"}) {
      running += pod(name).phase == kube::PodPhase::kRunning;
      refused += pod(name).reason == "OutOfnvidia.com/gpu";
    }
    return running == 2 && refused == 1;
  })) << running
      << " run, " << refused << " refused";
  std::set<std::string> given;
  for (std::string name : {"one", "two", "three"}) {
    if (pod(name).phase != kube::PodPhase::kRunning) continue;
    ASSERT_TRUE(wait_for_log(name, "gpu"));
    given.insert(log(name));
  }
  EXPECT_EQ(given, (std::set<std::string>{"gpu 0\n", "gpu 1\n"}));
}

TEST_F(NodeTest, GpusStayWithTheirContainersInTheNextLife) {
  auto start = [&](const std::string& name) {
    json::object pod = shell_pod(name, "echo gpu $CUDA_VISIBLE_DEVICES; sleep 1000");
    pod["spec"].at("containers").at(0).as_object()["resources"] = parse(R"({"limits":{"nvidia.com/gpu":1}})");
    create(std::move(pod));
  };
  start("one");
  ASSERT_TRUE(wait_for_log("one", "gpu 0"));
  open();
  start("two");
  ASSERT_TRUE(wait_for_log("two", "gpu 1"));
  start("three");
  ASSERT_TRUE(eventually([&] { return pod("three").reason == "OutOfnvidia.com/gpu"; }));
  ASSERT_TRUE(client::remove(plane_, kube::kPods, "ns", "one", {}).ok());
  ASSERT_TRUE(wait_until_gone("one"));
  start("four");
  ASSERT_TRUE(wait_for_log("four", "gpu 0"));
}

// Whoever sees that a pod is over may send the next one at once.
TEST_F(NodeTest, WhatAPodThatIsOverHeldIsFreeForTheNext) {
  for (int i = 0; i < 10; ++i) {
    std::string name = fmt::format("turn-{}", i);
    json::object pod = shell_pod(name, "exit 0");
    pod["spec"].at("containers").at(0).as_object()["resources"] = parse(R"({"limits":{"nvidia.com/gpu":2}})");
    create(std::move(pod));
    ASSERT_TRUE(wait_for_phase(name, kube::PodPhase::kSucceeded));
  }
}

TEST_F(NodeTest, MissingConfigurationIsSaidAndWaitedFor) {
  json::object pod = shell_pod("pod", "echo got $KEY");
  pod["spec"].at("containers").at(0).as_object()["env"] =
      json::parse(R"([{"name":"KEY","valueFrom":{"secretKeyRef":{"name":"s","key":"k"}}}])");
  create(std::move(pod));
  ASSERT_TRUE(eventually([&] { return main_of("pod").reason == "CreateContainerConfigError"; }));
  EXPECT_EQ(main_of("pod").message, "secret \"s\" not found");
  ASSERT_TRUE(client::create(plane_, kube::kSecrets, "ns",
                             parse(R"({"metadata":{"name":"s","namespace":"ns"},"data":{"k":"dmFsdWU="}})"))
                  .ok());
  advance(seconds(11));
  ASSERT_TRUE(wait_for_phase("pod", kube::PodPhase::kSucceeded));
  EXPECT_EQ(log("pod"), "got value\n");
}

TEST_F(NodeTest, APodMayWantNoVariablesOfServices) {
  ASSERT_TRUE(
      client::create(plane_, kube::kServices, "ns", parse(R"({"metadata":{"name":"web","namespace":"ns"},
                             "spec":{"clusterIP":"10.1.1.1","ports":[{"port":80}]}})"))
          .ok());
  int pods = 0;
  auto says = [&](bool links) {
    const std::string name = fmt::format("pod-{}", pods++);
    json::object pod = shell_pod(name, "env");
    pod["spec"].as_object()["enableServiceLinks"] = links;
    create(std::move(pod));
    EXPECT_TRUE(wait_for_phase(name, kube::PodPhase::kSucceeded));
    return log(name).find("WEB_SERVICE_HOST=") != std::string::npos;
  };
  // The node hears of the service when it does.
  ASSERT_TRUE(eventually([&] { return says(true); }));
  EXPECT_FALSE(says(false));
}

TEST_F(NodeTest, ProbesAndHooksRunInTheContainer) {
  TempFolder side;
  std::string ready = side.path() / "ready";
  std::string hook = side.path() / "hook";
  std::string bye = side.path() / "bye";
  json::object pod = shell_pod("pod", "trap 'exit 0' TERM; while :; do sleep 0.05; done");
  json::object& container = pod["spec"].at("containers").at(0).as_object();
  container["readinessProbe"] =
      json::object{{"exec", json::object{{"command", json::array{"test", "-e", json::string(ready)}}}},
                   {"periodSeconds", 1}};
  container["lifecycle"] = json::object{
      {"postStart",
       json::object{{"exec", json::object{{"command", json::array{"touch", json::string(hook)}}}}}},
      {"preStop",
       json::object{{"exec", json::object{{"command", json::array{"touch", json::string(bye)}}}}}}};
  create(std::move(pod));
  ASSERT_TRUE(eventually([&] { return std::filesystem::exists(hook); }));
  ASSERT_TRUE(wait_for_phase("pod", kube::PodPhase::kRunning));
  EXPECT_FALSE(this->pod("pod").ready.is_true());
  ASSERT_TRUE(write_whole(ready, "").ok());
  ASSERT_TRUE(eventually([&] { return this->pod("pod").ready.is_true(); }));
  remove("pod");
  ASSERT_TRUE(wait_until_gone("pod"));
  EXPECT_TRUE(std::filesystem::exists(bye));
}

TEST_F(NodeTest, LivenessFailsAndTheContainerIsStartedAgain) {
  json::object pod = shell_pod("pod", "sleep 1000", "Always");
  pod["spec"].at("containers").at(0).as_object()["livenessProbe"] =
      json::parse(R"({"exec":{"command":["false"]},"periodSeconds":1,"failureThreshold":1})");
  create(std::move(pod));
  ASSERT_TRUE(eventually([&] { return main_of("pod").restart_count >= 1; }));
  EXPECT_EQ(main_of("pod").last_ended->exit_code, 143);
}

TEST_F(NodeTest, InitContainersComeFirst) {
  json::object pod = shell_pod("pod", "echo main");
  pod["spec"].as_object()["initContainers"] =
      json::parse(R"([{"name":"init","image":"x","command":["/bin/sh","-c","echo init; exit 0"]}])");
  create(std::move(pod));
  ASSERT_TRUE(wait_for_phase("pod", kube::PodPhase::kSucceeded));
  kube::Pod ended = this->pod("pod");
  ASSERT_EQ(ended.init_containers.size(), 1u);
  EXPECT_LE(ended.init_containers[0].terminated->finished_at, ended.containers[0].terminated->started_at);
}

TEST_F(NodeTest, CommandsConnectionsAndUsage) {
  std::string uid = create(shell_pod("pod", "echo up; sleep 1000"));
  ASSERT_TRUE(wait_for_log("pod", "up"));
  Result<std::unique_ptr<ExecProcess>> exec =
      node_->exec({"ns", "pod", uid, "main"}, {{"/bin/sh", "-c", "exit 11"}, false, false});
  ASSERT_TRUE(exec.ok()) << exec.error().message;
  ASSERT_TRUE(eventually([&] { return exec.value()->exit_code().has_value(); }));
  EXPECT_EQ(exec.value()->exit_code(), 11);
  EXPECT_EQ(node_->usage(uid).count("main"), 1u);
  EXPECT_GT(node_->node_usage().memory_bytes, 0);
  EXPECT_FALSE(node_->exec({"ns", "pod", "none", "main"}, {{"true"}, false, false}).ok());
  EXPECT_FALSE(node_->connect({"ns", "pod", uid, "main"}, NobodysPort().number()).ok());
  node_->stop(true);
  EXPECT_FALSE(node_->exec({"ns", "pod", uid, "main"}, {{"true"}, false, false}).ok());
  EXPECT_TRUE(node_->usage(uid).empty());
}

TEST_F(NodeTest, FollowsALogToItsEnd) {
  TempFolder side;
  std::string gate = side.path() / "gate";
  create(shell_pod("pod", "echo one; while [ ! -e " + gate + " ]; do sleep 0.02; done; echo two"));
  ASSERT_TRUE(wait_for_log("pod", "one"));
  LogQuery query;
  query.follow = true;
  Result<std::unique_ptr<LogReader>> reader = node_->logs({"ns", "pod", "", "main"}, query);
  ASSERT_TRUE(reader.ok());
  std::string text;
  EXPECT_TRUE(*reader.value()->read(text));
  EXPECT_EQ(text, "one\n");
  ASSERT_TRUE(write_whole(gate, "").ok());
  ASSERT_TRUE(eventually([&] { return !*reader.value()->read(text); }));
  EXPECT_EQ(text, "one\ntwo\n");
}

TEST_F(NodeTest, ALogThatIsNotBegunIsEmptyAndCanBeFollowed) {
  std::string uid = create(shell_pod("pod", "sleep 1000"));
  ASSERT_TRUE(wait_for_phase("pod", kube::PodPhase::kRunning));
  std::filesystem::remove_all(folder_.path() / "logs");
  LogQuery query;
  for (bool follow : {false, true}) {
    query.follow = follow;
    Result<std::unique_ptr<LogReader>> reader = node_->logs({"ns", "pod", uid, "main"}, query);
    ASSERT_TRUE(reader.ok()) << reader.error().message;
    std::string text;
    EXPECT_EQ(*reader.value()->read(text), follow);
    EXPECT_EQ(text, "");
  }
}

TEST_F(NodeTest, LogsOfWhatHasNotStarted) {
  json::object unbound = shell_pod("unbound", "exit 0");
  unbound["spec"].as_object().erase("nodeName");
  std::string uid = create(std::move(unbound));
  json::object stuck = shell_pod("stuck", "exit 0");
  stuck["spec"].at("containers").at(0).as_object()["env"] =
      json::parse(R"([{"name":"KEY","valueFrom":{"secretKeyRef":{"name":"s","key":"k"}}}])");
  std::string stuck_uid = create(std::move(stuck));
  ASSERT_TRUE(eventually([&] { return main_of("stuck").reason == "CreateContainerConfigError"; }));
  auto refusal = [&](const PodRef& which) {
    Result<std::unique_ptr<LogReader>> reader = node_->logs(which, {});
    return reader.ok() ? Error{ErrorKind::kUnknown, "there is one"} : reader.error();
  };
  Error error = refusal({"ns", "unbound", uid, "main"});
  EXPECT_EQ(error.kind, ErrorKind::kInvalid);
  EXPECT_EQ(error.message, "container \"main\" in pod \"unbound\" is waiting to start: ContainerCreating");
  EXPECT_TRUE(eventually([&] {
    return refusal({"ns", "stuck", stuck_uid, "main"}).message ==
           "container \"main\" in pod \"stuck\" is waiting to start: CreateContainerConfigError";
  }));
  json::object far = shell_pod("far", "exit 0");
  far["spec"].as_object()["nodeName"] = "gpu-1";
  std::string far_uid = create(std::move(far));
  EXPECT_TRUE(eventually([&] {
    return refusal({"ns", "far", far_uid, "main"}).message ==
           "pod \"far\" is on the simulated node \"gpu-1\", where nothing runs: it has no log";
  }));
  EXPECT_EQ(refusal({"ns", "unbound", uid, "other"}).kind, ErrorKind::kNotFound);
  EXPECT_EQ(refusal({"ns", "unbound", "another", "main"}).kind, ErrorKind::kNotFound);
  EXPECT_EQ(refusal({"ns", "nobody", "", "main"}).kind, ErrorKind::kNotFound);
}

TEST_F(NodeTest, LastWordsOfAFailure) {
  json::object pod = shell_pod("pod", "echo it broke; exit 1");
  pod["spec"].at("containers").at(0).as_object()["terminationMessagePolicy"] = "FallbackToLogsOnError";
  create(std::move(pod));
  ASSERT_TRUE(wait_for_phase("pod", kube::PodPhase::kFailed));
  EXPECT_EQ(main_of("pod").terminated->message, "it broke\n");
}

// Others wait behind it for as long as it takes to look after it.
TEST_F(NodeTest, APodOfTooManyContainersIsRefused) {
  json::object pod = shell_pod("pod", "exit 0");
  json::array& containers = pod["spec"].at("containers").as_array();
  for (int i = 0; i < 20'000; ++i) {
    containers.push_back(containers.front());
    containers.back().as_object()["name"] = fmt::format("c{}", i);
  }
  create(std::move(pod));
  create(shell_pod("other", "exit 0"));
  ASSERT_TRUE(wait_for_phase("pod", kube::PodPhase::kFailed));
  EXPECT_EQ(this->pod("pod").reason, "TooManyContainers");
  ASSERT_TRUE(wait_for_phase("other", kube::PodPhase::kSucceeded));
}

TEST_F(NodeTest, NamesThatLeaveTheirFolderAreRefused) {
  json::object pod = shell_pod("pod", "exit 0");
  pod["spec"].at("containers").at(0).as_object()["name"] = "../../main";
  create(std::move(pod));
  ASSERT_TRUE(wait_for_phase("pod", kube::PodPhase::kFailed));
  EXPECT_EQ(this->pod("pod").reason, "InvalidName");
}

TEST_F(NodeTest, TheSizeOfAClaimIsSpokenOfOnce) {
  json::object claim = parse(R"({"apiVersion":"v1","kind":"PersistentVolumeClaim",
      "metadata":{"name":"data","namespace":"ns"},"spec":{"resources":{"requests":{"storage":"1Gi"}}}})");
  ASSERT_TRUE(client::create(plane_, kube::kPersistentVolumeClaims, "ns", claim).ok());
  for (const char* name : {"a", "b"}) {
    json::object pod = shell_pod(name, "true");
    pod["spec"].as_object()["volumes"] = json::array{
        json::object{{"name", "v"}, {"persistentVolumeClaim", json::object{{"claimName", "data"}}}}};
    create(std::move(pod));
    ASSERT_TRUE(wait_for_phase(name, kube::PodPhase::kSucceeded));
  }
  EXPECT_TRUE(eventually([&] { return !events_of("data").empty(); }));
  EXPECT_EQ(events_of("data"), std::vector<std::string>{"SizeNotEnforced"});
}

// Plain processes: what is asked for is counted, and no limit is claimed.
TEST_F(NodeTest, ResizesWhenThereIsRoom) {
  auto with_cpu = [&](const std::string& name, const std::string& cpu) {
    json::object pod = shell_pod(name, "trap 'exit 0' TERM; while :; do sleep 0.05; done");
    pod["spec"].as_object()["containers"].as_array()[0].as_object()["resources"] =
        json::object{{"requests", json::object{{"cpu", cpu}}}, {"limits", json::object{{"cpu", cpu}}}};
    return pod;
  };
  auto resize = [&](const std::string& name, const std::string& cpu) {
    std::string text = R"({"spec":{"containers":[{"name":"main","resources":{"requests":{"cpu":")" + cpu +
                       R"("},"limits":{"cpu":")" + cpu + R"("}}}]}})";
    kube::Patch patch{name, kube::PatchKind::kStrategic, json::parse(text), kube::Part::kResize};
    Result<client::Object> done = client::patch(plane_, kube::kPods, "ns", std::move(patch));
    EXPECT_TRUE(done.ok()) << done.error().message;
  };
  auto condition = [&](const std::string& name, const std::string& type) {
    for (const kube::Condition& each : kube::decode_conditions(plane_.get(kube::kPods, "ns", name))) {
      if (each.type == type) return each.reason.empty() ? each.status : each.reason;
    }
    return std::string("none");
  };
  auto has = [&](const std::string& name, const std::string& resources) {
    json::object pod = plane_.get(kube::kPods, "ns", name);
    const json::value* given = kube::find(pod["status"].at("containerStatuses").at(0), {"resources"});
    return given != nullptr && json::serialize(*given) == resources;
  };
  create(with_cpu("a", "1"));
  create(with_cpu("b", "500m"));
  ASSERT_TRUE(wait_for_phase("a", kube::PodPhase::kRunning));
  ASSERT_TRUE(wait_for_phase("b", kube::PodPhase::kRunning));
  ASSERT_TRUE(eventually([&] { return has("a", R"({"requests":{"cpu":"1"}})"); }));
  resize("a", "1500m");
  EXPECT_TRUE(eventually([&] { return has("a", R"({"requests":{"cpu":"1500m"}})"); }));
  EXPECT_TRUE(eventually([&] { return condition("a", "PodResizeInProgress") == "none"; }));
  EXPECT_EQ(main_of("a").restart_count, 0);
  resize("b", "9");
  EXPECT_TRUE(eventually([&] { return condition("b", "PodResizePending") == "Infeasible"; }));
  resize("b", "1");
  EXPECT_TRUE(eventually([&] { return condition("b", "PodResizePending") == "Deferred"; }));
  open();
  EXPECT_TRUE(eventually([&] { return condition("b", "PodResizePending") == "Deferred"; }));
  remove("a");
  EXPECT_TRUE(eventually([&] { return has("b", R"({"requests":{"cpu":"1"}})"); }));
  EXPECT_TRUE(eventually([&] { return condition("b", "PodResizePending") == "none"; }));
  remove("b");
  EXPECT_TRUE(wait_until_gone("b"));
}

TEST_F(NodeTest, FiftyPodsAtOnce) {
  for (int i = 0; i < 50; ++i) create(shell_pod("p" + std::to_string(i), "exit " + std::to_string(i % 2)));
  for (int i = 0; i < 50; ++i) {
    ASSERT_TRUE(wait_for_phase("p" + std::to_string(i),
                               i % 2 == 0 ? kube::PodPhase::kSucceeded : kube::PodPhase::kFailed));
  }
  // What the runtime held is given back.
  EXPECT_TRUE(eventually([&] {
    for (const auto& pod : std::filesystem::directory_iterator(folder_.path() / "pods")) {
      if (std::filesystem::exists(pod.path() / "containers")) return false;
    }
    return true;
  }));
}

}  // namespace
}  // namespace trainyard::node
