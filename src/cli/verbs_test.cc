// The verbs, on the embedded plane's store and on pods that are played.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <thread>

#include "cli/commands.h"
#include "cli/dialects.h"
#include "cli/testing.h"
#include "cli/verbs_change.h"
#include "cli/verbs_follow.h"
#include "cli/verbs_run.h"
#include "hub/hub_client.h"
#include "kube/access.h"
#include "kube/yaml.h"

namespace trainyard::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr Time kVerbTime{1'700'000'000'000};

std::string tfjob(std::string_view name) {
  return fmt::format(R"(
apiVersion: kubeflow.org/v1
kind: TFJob
metadata: {{name: {}}}
spec:
  tfReplicaSpecs:
    Chief: {{replicas: 1, template: {{spec: {{containers: [{{name: tensorflow, image: i}}]}}}}}}
    Worker: {{replicas: 2, template: {{spec: {{containers: [{{name: tensorflow, image: i}}]}}}}}}
)",
                     name);
}

std::string t9k(std::string_view name) {
  return fmt::format(R"(
apiVersion: batch.tensorstack.dev/v1beta1
kind: TensorFlowTrainingJob
metadata: {{name: {}}}
spec:
  replicaSpecs:
  - {{type: worker, replicas: 2, template: {{spec: {{containers: [{{name: tensorflow, image: i}}]}}}}}}
)",
                     name);
}

std::string volcano(std::string_view name) {
  return fmt::format(R"(
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {{name: {}}}
spec:
  minAvailable: 1
  tasks:
  - {{name: worker, replicas: 2, template: {{spec: {{restartPolicy: Never, containers: [{{name: c, image: i}}]}}}}}}
)",
                     name);
}

// Logs, usage and commands as told.
class PlayedPods final : public client::PodPort {
 public:
  std::unique_ptr<client::OpenWatch> open_stream(const std::string& path, client::ByteSink sink) override {
    auto found = logs.find(path.substr(0, path.find('?')));
    asked.push_back(path);
    if (found != logs.end()) sink.on_bytes(found->second);
    if (found == logs.end()) {
      sink.on_closed(Error{ErrorKind::kNotFound, "no log"});
    } else {
      sink.on_closed(std::nullopt);
    }
    return std::make_unique<client::OpenWatch>();
  }
  Result<std::string> read(const std::string& path) override {
    asked.push_back(path);
    if (usage.empty()) return Error{ErrorKind::kNotFound, "nothing"};
    return usage;
  }
  Result<int> exec(const std::string& path, client::ExecIo io) override {
    asked.push_back(path);
    io.out("out\n");
    if (io.err) io.err("err\n");
    return exit_code;
  }

  std::map<std::string, std::string> logs;  // by path without its query
  std::string usage;
  int exit_code = 0;
  std::vector<std::string> asked;
};

class Verbs : public testing::Test {
 protected:
  Verbs() {
    hub::Options options;
    options.clock = [] { return kVerbTime; };
    hub_ = hub::Hub::open(std::move(options)).value().release();
    client_ = std::make_unique<hub::HubClient>(*hub_);
    watches_ = std::make_unique<hub::HubWatches>(*hub_);
    cluster_ = std::make_unique<Cluster>(Cluster{*client_, *watches_, pods_, [] { return kVerbTime; },
                                                 "default", false, false, "the test", ""});
  }
  ~Verbs() override {
    cluster_.reset();
    delete hub_;
  }

  Ran run(const Verb& verb, const std::string& input = "") {
    std::istringstream in(input);
    std::ostringstream out;
    std::ostringstream err;
    int status = carry_out(verb, *cluster_, Console{in, out, err});
    return {status, out.str(), err.str()};
  }
  json::object made(const kube::Resource& resource, json::object body) {
    Result<client::Object> object = client::create(*client_, resource, "default", std::move(body));
    EXPECT_TRUE(object.ok()) << (object.ok() ? "" : object.error().message);
    return object.ok() ? **object : json::object{};
  }
  json::object now(const kube::Resource& resource, std::string_view name) {
    Result<client::Object> object = client::get(*client_, resource, "default", name);
    return object.ok() ? **object : json::object{};
  }
  void set_status(const kube::Resource& resource, std::string_view name, std::string_view status) {
    json::object object = now(resource, name);
    object["status"] = parsed(status);
    EXPECT_TRUE(client::update_status(*client_, resource, "default", object).ok());
  }
  // A pod of a replica of the TFJob, in this phase.
  void make_pod(const json::object& job, std::string_view role, int index, std::string_view status) {
    std::string name = fmt::format("{}-{}-{}", kube::name_of(job), role, index);
    made(kube::kPods, parsed(fmt::format(R"(
metadata:
  name: {0}
  labels:
    training.kubeflow.org/job-name: {1}
    training.kubeflow.org/operator-name: tfjob-controller
    training.kubeflow.org/replica-index: "{3}"
    training.kubeflow.org/replica-type: {2}
  ownerReferences: [{{apiVersion: kubeflow.org/v1, kind: TFJob, name: {1}, uid: {4}, controller: true}}]
apiVersion: v1
kind: Pod
spec: {{containers: [{{name: tensorflow, image: i}}]}}
)",
                                         name, kube::name_of(job), role, index, kube::uid_of(job))));
    set_status(kube::kPods, name, status);
  }

  hub::Hub* hub_ = nullptr;
  std::unique_ptr<hub::HubClient> client_;
  std::unique_ptr<hub::HubWatches> watches_;
  PlayedPods pods_;
  std::unique_ptr<Cluster> cluster_;
};

// Lets nobody see some kinds.
class Forbids final : public client::Client {
 public:
  Forbids(client::Client& inner, std::set<std::string> plurals)
      : inner_(inner), plurals_(std::move(plurals)) {}
  Result<client::Reply> send(kube::Request request) override {
    if (plurals_.contains(std::string(request.resource.plural))) {
      return Error{ErrorKind::kForbidden, fmt::format("{} are secret", request.resource.plural)};
    }
    return inner_.send(std::move(request));
  }

 private:
  client::Client& inner_;
  std::set<std::string> plurals_;
};

constexpr const char* kRunning =
    "{phase: Running, containerStatuses: [{name: tensorflow, state: {running: {}}, restartCount: 0}]}";

TEST_F(Verbs, SubmitCreatesWhatIsValidAndOnlyThen) {
  Ran bad = run(Submit{{"-"}, {}}, tfjob("good") + "---" + tfjob("Bad_Name"));
  EXPECT_EQ(bad.status, kInputAtFault);
  EXPECT_THAT(bad.err, HasSubstr("metadata.name"));
  EXPECT_TRUE(now(kube::kTfJobs, "good").empty());
  std::string map = "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: data}\n";
  Ran good = run(Submit{{"-"}, {}}, tfjob("good") + map);
  EXPECT_EQ(good.status, kFine) << good.err;
  EXPECT_EQ(good.out, "tfjob/good created in default\nconfigmaps/data created in default\n");
  Ran again = run(Submit{{"-"}, {}}, tfjob("good"));
  EXPECT_EQ(again.status, kInputAtFault);
  EXPECT_THAT(again.err,
              AllOf(HasSubstr("<stdin>:2: tfjob/good:"), HasSubstr("trainyard delete --wait tfjob/good")));
  EXPECT_EQ(run(Submit{{"-"}, {}}, "").status, kInputAtFault);
}

TEST_F(Verbs, SubmitIntoANamespaceThatIsNotThere) {
  cluster_->ns = "team";
  Ran ran = run(Submit{{"-"}, {}}, tfjob("mnist"));
  EXPECT_EQ(ran.status, kInputAtFault);
  EXPECT_EQ(
      ran.err,
      "<stdin>:2: tfjob/mnist: namespaces \"team\" not found; make it with: kubectl create namespace team\n");
}

TEST_F(Verbs, SubmitRefusesFieldsThatThereAreNot) {
  std::string job = tfjob("a");
  job.replace(job.find("spec:"), 5, "spec:\n  runPolcy: {suspend: true}");
  Ran refused = run(Submit{{"-"}, {}}, job);
  EXPECT_EQ(refused.status, kInputAtFault);
  EXPECT_THAT(refused.err, HasSubstr("spec.runPolcy: Forbidden: there is no such field: did you mean "
                                     "\"runPolicy\"?\n"));
  EXPECT_TRUE(now(kube::kTfJobs, "a").empty());
}

TEST_F(Verbs, SubmitRefusesAnotherNamespaceThanTheOneNamed) {
  cluster_->ns_said = true;
  std::string job = tfjob("a");
  job.replace(job.find("{name: a}"), 9, "{name: a, namespace: lab}");
  EXPECT_THAT(run(Submit{{"-"}, {}}, job).err, HasSubstr("is 'lab', the command line says 'default'"));
}

TEST_F(Verbs, GetShowsJobsOfAllKinds) {
  EXPECT_EQ(run(GetJobs{}).err, "there are no training jobs in namespace default\n");
  json::object job = made(kube::kTfJobs, parsed(tfjob("mnist")));
  make_pod(job, "chief", 0, kRunning);
  made(kube::kVolcanoJobs, parsed(volcano("mnist")));
  EXPECT_EQ(run(GetJobs{}).out,
            "NAME   KIND   STATE    READY  RESTARTS  AGE\n"
            "mnist  TFJob  Pending  1/3    0         0s\n"
            "mnist  Job    Pending  0/2    0         0s\n");
  EXPECT_EQ(run(GetJobs{{"vcjob"}, ListForm::kName}).out, "vcjob/mnist\n");
  EXPECT_THAT(run(GetJobs{{"tfjob", "mnist"}, ListForm::kYaml}).out, HasSubstr("kind: TFJob\n"));
  EXPECT_THAT(run(GetJobs{{}, ListForm::kJson}).out, HasSubstr("\"kind\": \"List\""));
  Ran ambiguous = run(GetJobs{{"mnist"}});
  EXPECT_EQ(ambiguous.status, kInputAtFault);
  EXPECT_EQ(ambiguous.err, "'mnist' is the name of several jobs: say which of tfjob/mnist, vcjob/mnist\n");
  EXPECT_THAT(run(GetJobs{{"tfjob/mnits"}}).err, HasSubstr("did you mean 'mnist'?"));
}

TEST_F(Verbs, KindsThatAreForbiddenDoNotHideTheOthers) {
  made(kube::kTfJobs, parsed(tfjob("mnist")));
  auto run_without = [&](std::set<std::string> plurals, const Verb& verb) {
    Forbids forbids(*client_, std::move(plurals));
    Cluster cluster{forbids, *watches_,  pods_, [] { return kVerbTime; }, "default", false,
                    false,   "the test", ""};
    std::istringstream in;
    std::ostringstream out;
    std::ostringstream err;
    int status = carry_out(verb, cluster, Console{in, out, err});
    return Ran{status, out.str(), err.str()};
  };
  EXPECT_EQ(run_without({"jobs"}, GetJobs{{}, ListForm::kName}).out, "tfjob/mnist\n");
  EXPECT_EQ(run_without({"jobs"}, GetJobs{{"mnist"}, ListForm::kName}).out, "tfjob/mnist\n");
  EXPECT_EQ(run_without({"jobs"}, GetJobs{{"other"}}).err, "jobs are secret\n");
  EXPECT_EQ(run_without({"jobs", "tfjobs", "tensorflowtrainingjobs"}, GetJobs{}).status, kInputAtFault);
}

TEST_F(Verbs, DescribeTellsPodsAndEvents) {
  json::object job = made(kube::kTfJobs, parsed(tfjob("mnist")));
  make_pod(job, "chief", 0, kRunning);
  made(kube::kEvents,
       parsed(
           fmt::format("{{apiVersion: v1, kind: Event, metadata: {{name: e}}, reason: Made, message: hello, "
                       "involvedObject: {{kind: TFJob, name: mnist, uid: {}}}}}",
                       kube::uid_of(job))));
  Ran ran = run(DescribeJobs{{"mnist"}});
  EXPECT_EQ(ran.status, kFine) << ran.err;
  EXPECT_THAT(ran.out, AllOf(HasSubstr("mnist-chief-0"), HasSubstr("worker-1"), HasSubstr("hello")));
  EXPECT_THAT(run(ShowEvents{{"mnist"}}).out, HasSubstr("tfjob/mnist  hello"));
  EXPECT_THAT(run(ShowEvents{}).out, HasSubstr("tfjob/mnist  hello"));
  EXPECT_EQ(run(DescribeJobs{{"nobody"}}).status, kInputAtFault);
}

TEST_F(Verbs, LogsOfTheDecidingReplicaOrOfAll) {
  json::object job = made(kube::kTfJobs, parsed(tfjob("mnist")));
  make_pod(job, "chief", 0, kRunning);
  make_pod(job, "worker", 0, kRunning);
  make_pod(job, "worker", 1, "{phase: Pending}");
  pods_.logs["/api/v1/namespaces/default/pods/mnist-chief-0/log"] = "step 1\nstep 2";
  pods_.logs["/api/v1/namespaces/default/pods/mnist-worker-0/log"] = "hi\n";
  EXPECT_EQ(run(ShowLogs{"mnist"}).out, "step 1\nstep 2");
  Ran all = run(ShowLogs{.job = "mnist", .all = true, .tail = 5});
  EXPECT_EQ(all.out, "chief-0  | step 1\nchief-0  | step 2\nworker-0 | hi\n");
  EXPECT_THAT(all.err, HasSubstr("worker-1 (mnist-worker-1): it has not started yet"));
  EXPECT_THAT(pods_.asked.back(), HasSubstr("container=tensorflow&tailLines=5"));
  EXPECT_EQ(run(ShowLogs{.job = "mnist", .replicas = {"worker", 0}, .all = true}).out, "hi\n");
  EXPECT_THAT(run(ShowLogs{.job = "mnist", .replicas = {"ps", {}}, .all = true}).err,
              HasSubstr("has no role 'ps'"));
  EXPECT_THAT(run(ShowLogs{.job = "mnist", .replicas = {"", 1}, .all = true}).err,
              HasSubstr("--index needs a --role"));
}

// To follow what never comes would be to wait for ever.
TEST_F(Verbs, LogsOfAContainerThatThereIsNot) {
  json::object job = made(kube::kTfJobs, parsed(tfjob("mnist")));
  make_pod(job, "chief", 0, kRunning);
  for (bool follow : {false, true}) {
    Ran ran = run(ShowLogs{.job = "mnist", .container = "side", .follow = follow});
    EXPECT_EQ(ran.status, kInputAtFault);
    EXPECT_EQ(ran.err, "chief-0 (mnist-chief-0): it has no container 'side'; it has tensorflow\n");
  }
}

TEST_F(Verbs, LogsTakeTheNameOfAPodToo) {
  json::object job = made(kube::kTfJobs, parsed(tfjob("mnist")));
  make_pod(job, "chief", 0, kRunning);
  pods_.logs["/api/v1/namespaces/default/pods/mnist-chief-0/log"] = "step 1\n";
  EXPECT_EQ(run(ShowLogs{"mnist-chief-0"}).out, "step 1\n");
  EXPECT_THAT(run(ShowLogs{"mnist-chief-7"}).err, HasSubstr("there is no training job 'mnist-chief-7'"));
}

TEST_F(Verbs, WhatIsNoJobIsSentToKubectl) {
  for (const char* kind : {"pods", "PVC", "svc"}) {
    EXPECT_THAT(run(GetJobs{{kind}}).err,
                HasSubstr(fmt::format("; kubectl get {} shows what is no job\n", kind)));
  }
}

TEST_F(Verbs, AJobOfAnotherNamespaceIsToldOf) {
  ASSERT_TRUE(client::create(*client_, kube::kNamespaces, "", parsed("{metadata: {name: team}}")).ok());
  ASSERT_TRUE(client::create(*client_, kube::kTfJobs, "team", parsed(tfjob("mnist"))).ok());
  made(kube::kTfJobs, parsed(tfjob("minst")));
  EXPECT_EQ(run(DescribeJobs{{"mnist"}}).err,
            "there is no training job 'mnist' in namespace default of the test; there is one in namespace "
            "team: -n team\n");
  EXPECT_THAT(run(DescribeJobs{{"vcjob/mnist"}}).err, HasSubstr("of the test\n"));
  EXPECT_THAT(run(DescribeJobs{{"minsd"}}).err, HasSubstr("did you mean 'minst'?"));
}

TEST_F(Verbs, LogsAreFollowedUntilTheJobIsDone) {
  json::object job = made(kube::kTfJobs, parsed(tfjob("mnist")));
  make_pod(job, "chief", 0, kRunning);
  pods_.logs["/api/v1/namespaces/default/pods/mnist-chief-0/log"] = "step 1\n";
  std::thread ends(
      [&] { set_status(kube::kTfJobs, "mnist", "{conditions: [{type: Succeeded, status: 'True'}]}"); });
  Ran ran = run(ShowLogs{.job = "mnist", .follow = true});
  ends.join();
  EXPECT_EQ(ran.status, kFine) << ran.err;
  EXPECT_EQ(ran.out, "step 1\n");
}

TEST_F(Verbs, LogsOfPodsThatAreGoneAreReadFromDisk) {
  made(kube::kTfJobs, parsed(tfjob("mnist")));
  std::string folder = testing::TempDir() + "verbs-XXXXXX";
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  cluster_->kept_logs = folder;
  std::filesystem::path run_folder =
      std::filesystem::path(folder) / "default" / "mnist-chief-0_u1" / "tensorflow";
  std::filesystem::create_directories(run_folder);
  std::ofstream(run_folder / "0.log") << "2023-11-14T22:13:00Z stdout F first run\n";
  std::ofstream(run_folder / "1.log")
      << "2023-11-14T22:13:10Z stdout P sec\n2023-11-14T22:13:10Z stdout F ond run\n";
  EXPECT_EQ(run(ShowLogs{"mnist"}).out, "second run\n");
  EXPECT_EQ(run(ShowLogs{.job = "mnist", .previous = true}).out, "first run\n");
  EXPECT_EQ(run(ShowLogs{.job = "pod/mnist-chief-0"}).out, "second run\n");
  std::ofstream(run_folder / "2.log") << "2023-11-14T22:13:20Z stdout F third run\n";
  EXPECT_EQ(run(ShowLogs{.job = "mnist", .back = 1}).out, "second run\n");
  EXPECT_EQ(run(ShowLogs{.job = "mnist", .back = 2}).out, "first run\n");
  Ran never = run(ShowLogs{.job = "mnist", .back = 3});
  EXPECT_EQ(never.status, kInputAtFault);
  EXPECT_THAT(never.err, HasSubstr("it has not run as often"));
  Ran none = run(ShowLogs{.job = "mnist", .replicas = {"worker", 0}, .all = true});
  EXPECT_EQ(none.status, kInputAtFault);
  EXPECT_THAT(none.err, HasSubstr("its pod is gone"));
  std::filesystem::remove_all(folder);
}

TEST_F(Verbs, PauseAndResumeSpeakEachDialect) {
  made(kube::kTfJobs, parsed(tfjob("a")));
  made(kube::kT9kJobs, parsed(t9k("b")));
  json::object c = made(kube::kVolcanoJobs, parsed(volcano("c")));
  Ran paused = run(PauseJobs{{"a", "b", "c"}});
  EXPECT_EQ(paused.out, "tfjob/a will be paused\ntft/b will be paused\nvcjob/c will be paused\n")
      << paused.err;
  EXPECT_EQ(kube::bool_at(now(kube::kTfJobs, "a"), {"spec", "runPolicy", "suspend"}), true);
  EXPECT_EQ(kube::bool_at(now(kube::kT9kJobs, "b"), {"spec", "runMode", "pause", "enabled"}), true);
  Result<client::Reply> commands = client::list(*client_, kube::kVolcanoCommands, "default");
  ASSERT_TRUE(commands.ok());
  ASSERT_EQ(commands->items.size(), 1u);
  std::optional<dialect::CommandFor> seen = dialect_named("volcano").see_command(*commands->items[0]);
  ASSERT_TRUE(seen.has_value());
  EXPECT_EQ(seen->job_uid, kube::uid_of(c));
  EXPECT_EQ(seen->seen.action.kind, model::ActionKind::kAbort);
  EXPECT_EQ(run(PauseJobs{{"a"}}).out, "tfjob/a is paused already\n");
  EXPECT_EQ(run(ResumeJobs{{"a"}}).out, "tfjob/a will be resumed\n");
  EXPECT_EQ(kube::bool_at(now(kube::kTfJobs, "a"), {"spec", "runPolicy", "suspend"}), false);
  EXPECT_EQ(run(ResumeJobs{{"vcjob/c"}}).out, "vcjob/c is not paused\n");
  set_status(kube::kTfJobs, "a", "{conditions: [{type: Failed, status: 'True'}]}");
  Ran late = run(PauseJobs{{"a"}});
  EXPECT_EQ(late.status, kInputAtFault);
  EXPECT_EQ(late.err, "tfjob/a is Failed already: there is nothing to pause\n");
}

TEST_F(Verbs, ScaleChangesTheNumberOfARole) {
  made(kube::kTfJobs, parsed(tfjob("a")));
  made(kube::kT9kJobs, parsed(t9k("b")));
  made(kube::kVolcanoJobs, parsed(volcano("c")));
  EXPECT_EQ(run(ScaleJob{"a", {{"worker", 4}}}).out, "tfjob/a scaled: worker to 4\n");
  EXPECT_EQ(run(ScaleJob{"b", {{"worker", 5}}}).status, kFine);
  EXPECT_EQ(run(ScaleJob{"c", {{"worker", 6}}}).status, kFine);
  EXPECT_EQ(kube::int_at(now(kube::kTfJobs, "a"), {"spec", "tfReplicaSpecs", "Worker", "replicas"}), 4);
  auto first = [&](const kube::Resource& resource, std::string_view name, std::string_view list) {
    return kube::int_at(kube::array_at(now(resource, name), {"spec", list})->front().get_object(),
                        {"replicas"});
  };
  EXPECT_EQ(first(kube::kT9kJobs, "b", "replicaSpecs"), 5);
  EXPECT_EQ(first(kube::kVolcanoJobs, "c", "tasks"), 6);
  EXPECT_EQ(run(ScaleJob{"a", {{"ps", 1}}}).err, "tfjob/a has no role 'ps'; it has Chief, Worker\n");
  Ran bad = run(ScaleJob{"a", {{"chief", 2}}});
  EXPECT_EQ(bad.status, kInputAtFault);
  EXPECT_THAT(bad.err, HasSubstr("spec.tfReplicaSpecs"));
}

TEST_F(Verbs, DeleteWaitsUntilJobAndPodsAreGone) {
  json::object job = made(kube::kTfJobs, parsed(tfjob("mnist")));
  make_pod(job, "chief", 0, "{phase: Succeeded}");
  Ran ran = run(DeleteJobs{{"mnist"}, true, {}});
  EXPECT_EQ(ran.status, kFine) << ran.err;
  EXPECT_EQ(ran.out, "tfjob/mnist deleted\ntfjob/mnist is gone\n");
  EXPECT_TRUE(now(kube::kPods, "mnist-chief-0").empty());
  EXPECT_EQ(run(DeleteJobs{{"mnist"}}).status, kInputAtFault);
}

TEST_F(Verbs, DeleteThatTakesTooLongSaysWhatIsLeft) {
  json::object held = parsed(tfjob("held"));
  held["metadata"].get_object()["finalizers"] = json::array{"example.com/hold"};
  made(kube::kTfJobs, held);
  Ran ran = run(DeleteJobs{{"held"}, true, Duration{0}});
  EXPECT_EQ(ran.status, kOutOfTime);
  EXPECT_EQ(ran.err, "tfjob/held is not gone after 0s: the job and 0 of its pods left\n");
}

TEST_F(Verbs, WaitEndsWhenTheJobIsThere) {
  made(kube::kTfJobs, parsed(tfjob("mnist")));
  Ran late = run(WaitForJob{"mnist", Goal::kRunning, Duration{0}});
  EXPECT_EQ(late.status, kOutOfTime);
  EXPECT_EQ(late.err, "tfjob/mnist is not running after 0s: it is Pending\n");
  std::thread runs([&] {
    set_status(kube::kTfJobs, "mnist", "{conditions: [{type: Running, status: 'True'}]}");
    set_status(kube::kTfJobs, "mnist", "{conditions: [{type: Failed, status: 'True', message: broke}]}");
  });
  Ran ended = run(WaitForJob{"mnist", Goal::kFinished, {}});
  runs.join();
  EXPECT_EQ(ended.status, kFine);
  EXPECT_EQ(ended.out, "tfjob/mnist is Failed (broke)\n");
  EXPECT_EQ(run(WaitForJob{"mnist", Goal::kSucceeded, {}}).status, kInputAtFault);
  EXPECT_EQ(run(WaitForJob{"nobody", Goal::kSucceeded, {}}).status, kInputAtFault);
}

TEST_F(Verbs, WaitEndsWhenTheJobIsDeleted) {
  made(kube::kTfJobs, parsed(tfjob("mnist")));
  std::thread deletes(
      [&] { EXPECT_TRUE(client::remove(*client_, kube::kTfJobs, "default", "mnist", {}).ok()); });
  Ran ran = run(WaitForJob{"mnist", Goal::kFinished, {}});
  deletes.join();
  EXPECT_EQ(ran.status, kInputAtFault);
}

TEST_F(Verbs, TopShowsWhatReplicasUse) {
  json::object job = made(kube::kTfJobs, parsed(tfjob("mnist")));
  make_pod(job, "chief", 0, kRunning);
  make_pod(job, "worker", 0, kRunning);
  EXPECT_THAT(run(TopJobs{}).err, HasSubstr("gives no usage of pods"));
  pods_.usage = R"({"items":[{"metadata":{"name":"mnist-chief-0","namespace":"default"},
    "containers":[{"name":"a","usage":{"cpu":"1500m","memory":"100Mi"}},{"name":"b","usage":{"cpu":"1","memory":"28Mi"}}]}]})";
  EXPECT_EQ(run(TopJobs{}).out,
            "JOB          REPLICA   STATE    CPU    MEMORY\n"
            "tfjob/mnist  chief-0   running  2500m  128Mi\n"
            "tfjob/mnist  worker-0  running  -      -\n");
  cluster_->everywhere = true;
  EXPECT_EQ(run(TopJobs{}).out,
            "NAMESPACE  JOB          REPLICA   STATE    CPU    MEMORY\n"
            "default    tfjob/mnist  chief-0   running  2500m  128Mi\n"
            "default    tfjob/mnist  worker-0  running  -      -\n");
}

TEST_F(Verbs, ExecPassesTheExitCodeOn) {
  json::object job = made(kube::kTfJobs, parsed(tfjob("mnist")));
  make_pod(job, "chief", 0, kRunning);
  pods_.exit_code = 7;
  Ran ran = run(ExecIn{.job = "mnist", .command = {"ls", "-l"}});
  EXPECT_EQ(ran.status, 7);
  EXPECT_EQ(ran.out, "out\n");
  EXPECT_EQ(ran.err, "err\n");
  EXPECT_EQ(pods_.asked.back(),
            "/api/v1/namespaces/default/pods/mnist-chief-0/exec?command=ls&command=-l&container=tensorflow"
            "&stdout=true&stderr=true");
  EXPECT_EQ(run(ExecIn{.job = "mnist-chief-0", .command = {"ls"}}).status, 7);
  EXPECT_THAT(run(ExecIn{.job = "mnist", .replica = {"worker", 1}, .command = {"ls"}}).err,
              HasSubstr("worker-1 of tfjob/mnist has no pod now"));
  EXPECT_THAT(run(ExecIn{.job = "mnist", .replica = {"worker", {}}, .command = {"ls"}}).err,
              HasSubstr("say which with --index"));
}

TEST_F(Verbs, FollowTellsEveryChange) {
  Follow follow(*cluster_, {{kube::kTfJobs, {}, "default"}});
  Result<bool> first = follow.next(std::nullopt);
  ASSERT_TRUE(first.ok() && *first);
  EXPECT_TRUE(follow.cache(0).all().empty());
  EXPECT_FALSE(*follow.next(kVerbTime));
  made(kube::kTfJobs, parsed(tfjob("mnist")));
  EXPECT_TRUE(*follow.next(std::nullopt));
  EXPECT_NE(follow.cache(0).find("default", "mnist"), nullptr);
}

TEST_F(Verbs, WatchedJobsComeAsTheyChange) {
  made(kube::kTfJobs, parsed(tfjob("mnist")));
  Ran ran = run(GetJobs{.watch = true, .timeout = Duration{0}});
  EXPECT_EQ(ran.status, kFine);
  EXPECT_THAT(ran.out, AllOf(HasSubstr("NAME"), HasSubstr("mnist")));
}

}  // namespace
}  // namespace trainyard::cli
