#include "control/tensorboard_plan.h"

#include <gtest/gtest.h>

#include "base/match.h"
#include "kube/access.h"
#include "kube/meta.h"
#include "kube/yaml.h"

namespace trainyard::control {
namespace {

constexpr Time kBoardNow{1'700'000'000'000};

json::object from_yaml(const std::string& text) {
  return kube::parse_yaml(text).value().at(0).body.as_object();
}

json::object board_of(const std::string& spec, const std::string& status = "{}") {
  return from_yaml(
      "apiVersion: tensorstack.dev/v1beta1\nkind: TensorBoard\n"
      "metadata: {name: tb, namespace: demo, uid: u-1}\nspec: " +
      spec + "\nstatus: " + status + "\n");
}

// The logs, claims and secret of a spec, or what is wrong with it.
std::string read(const std::string& spec) {
  Result<BoardSpec> board = read_board(board_of(spec), {});
  if (!board.ok()) return "! " + board.error().message;
  std::string text;
  for (const LogSource& source : board->logs) text += source.name + "=" + source.location + " ";
  for (const std::string& claim : board->claims) text += "claim:" + claim + " ";
  if (!board->s3_secret.empty()) text += "secret:" + board->s3_secret + " ";
  if (!board->queue.empty()) text += "queue:" + board->queue + " ";
  if (board->suspended) text += "suspended ";
  return text.substr(0, text.size() - 1);
}

TEST(TensorBoardSpec, SaysWhereTheLogsAre) {
  struct Row {
    const char* spec;
    const char* read;
  };
  const Row kRows[] = {
      {"{trainingLogFilesets: ['t9k://pvc/tensorflow-tensorboard-pvc/log']}",
       "tensorflow-tensorboard-pvc/log=/logs/tensorflow-tensorboard-pvc/log "
       "claim:tensorflow-tensorboard-pvc"},
      {"{trainingLogFilesets: ['t9k://pvc/a']}", "a=/logs/a claim:a"},
      {"{trainingLogFilesets: ['t9k://pvc/a/./x//y/', 't9k://pvc/a/z', 't9k://pvc/a/z']}",
       "a/x/y=/logs/a/x/y a/z=/logs/a/z claim:a"},
      {"{trainingLogFilesets: ['t9k://minio/s/bucket/runs/']}", "bucket/runs=s3://bucket/runs/ secret:s"},
      {"{logDir: {pvc: [{name: a}, {name: b, subPath: [./log, more]}]}}",
       "a=/logs/a b/log=/logs/b/log b/more=/logs/b/more claim:a claim:b"},
      {"{logDir: {s3: {secretRef: {name: s}, uri: ['s3://bucket/x/']}}}", "bucket/x=s3://bucket/x/ secret:s"},
      {"{logDir: {http: {url: ['http://h/x']}}}", "h/x=http://h/x"},
      {"{logDir: {pvc: [{name: a}]}, suspend: true}", "a=/logs/a claim:a suspended"},
      {"{logDir: {pvc: [{name: a}]}, runMode: paused}", "a=/logs/a claim:a suspended"},
      {"{logDir: {pvc: [{name: a}]}, scheduler: {t9kScheduler: {queue: q}}}", "a=/logs/a claim:a queue:q"},
      {"{}", "! spec.logDir: no logs are named, here or in spec.trainingLogFilesets"},
      {"{trainingLogFilesets: [/log]}",
       "! spec.trainingLogFilesets[0]: \"/log\" is neither t9k://pvc/<claim>/<path> nor "
       "t9k://minio/<secret>/<bucket>"},
      {"{trainingLogFilesets: ['t9k://pvc/a/../b']}",
       "! spec.trainingLogFilesets[0]: \"../b\" is not a path in a claim"},
      {"{trainingLogFilesets: ['t9k://pvc//b']}", "! spec.trainingLogFilesets[0]: names no claim"},
      {"{trainingLogFilesets: ['t9k://pvc/../b']}",
       "! spec.trainingLogFilesets[0]: \"b\" is not a path in a claim"},
      {"{logDir: {pvc: [{name: a, subPath: ['x,y']}]}}",
       "! spec.logDir.pvc[0].subPath[0]: \"x,y\" is not a path in a claim"},
      {"{logDir: {pvc: [3]}}", "! spec.logDir.pvc[0]: is not an object"},
      {"{logDir: {s3: {uri: ['s3://b/']}}}", "! spec.logDir.s3.uri[0]: names no secret to read it with"},
      {"{trainingLogFilesets: ['t9k://minio/s/b', 't9k://minio/other/b']}",
       "! spec.trainingLogFilesets[1]: one TensorBoard reads S3 with one secret only"},
      {"{logDir: {http: {url: ['file:///etc']}}}",
       "! spec.logDir.http.url[0]: \"file:///etc\" is not an address"},
  };
  for (const Row& row : kRows) EXPECT_EQ(read(row.spec), row.read) << row.spec;
}

const std::string kOnePvc = "{image: tb:1, trainingLogFilesets: ['t9k://pvc/c/log']}";

json::object pod_made(const json::object& board, const BoardSettings& settings = {}) {
  for (const BoardStep& step : plan_board({&board}, settings, kBoardNow).steps) {
    if (const auto* create = std::get_if<CreateBoardPod>(&step)) return create->body;
  }
  ADD_FAILURE() << "no pod";
  return {};
}

json::object only_container(const json::object& pod) {
  return kube::array_at(pod, {"spec", "containers"})->at(0).as_object();
}

TEST(TensorBoardPod, ShowsOneClaim) {
  json::object pod = pod_made(board_of(kOnePvc));
  EXPECT_EQ(kube::name_of(pod), "tb-tensorboard");
  EXPECT_EQ(kube::controller_uid_of(pod), "u-1");
  json::object container = only_container(pod);
  EXPECT_EQ(kube::text_at(container, {"image"}), "tb:1");
  EXPECT_EQ(json::serialize(container["command"]), R"(["tensorboard"])");
  EXPECT_EQ(json::serialize(container["args"]), R"(["--logdir=/logs/c/log","--bind_all","--port=6006"])");
  EXPECT_EQ(json::serialize(container["volumeMounts"]),
            R"([{"name":"logs-0","mountPath":"/logs/c","readOnly":true}])");
  EXPECT_EQ(json::serialize(*kube::array_at(pod, {"spec", "volumes"})),
            R"([{"name":"logs-0","persistentVolumeClaim":{"claimName":"c"}}])");
}

TEST(TensorBoardPod, ShowsSeveralSourcesAndAnswersBelowAPath) {
  BoardSettings settings;
  settings.url = "https://ml.example/boards/{namespace}/{name}/";
  json::object pod = pod_made(
      board_of("{logDir: {pvc: [{name: a, subPath: [x]}], s3: {secretRef: {name: s}, uri: ['s3://b/y/']}}, "
               "resources: {limits: {cpu: 1}}, scheduler: {t9kScheduler: {queue: q}}}"),
      settings);
  json::object container = only_container(pod);
  EXPECT_EQ(json::serialize(container["args"]),
            R"(["--logdir_spec=a/x:/logs/a/x,b/y:s3://b/y/","--bind_all","--port=6006",)"
            R"("--path_prefix=/boards/demo/tb"])");
  EXPECT_EQ(kube::text_at(container, {"readinessProbe", "httpGet", "path"}), "/boards/demo/tb/");
  EXPECT_EQ(container["env"].as_array().size(), 4u);
  EXPECT_EQ(json::serialize(container["resources"]), R"({"limits":{"cpu":1}})");
  EXPECT_EQ(kube::text_at(pod, {"spec", "schedulerName"}), "t9k-scheduler");
  EXPECT_EQ(kube::label_of(pod, "scheduler.tensorstack.dev/queue"), "q");
}

TEST(TensorBoardPod, OfPlainProcessesListensOnLoopbackAtAPortOfItsOwn) {
  BoardSettings settings;
  settings.plain_processes = true;
  json::object board = board_of(kOnePvc);
  int port = board_port(board, settings);
  EXPECT_NE(port, kBoardPort);
  json::object container = only_container(pod_made(board, settings));
  EXPECT_EQ(json::serialize(container["args"]),
            fmt::format(R"(["--logdir=/logs/c/log","--host=127.0.0.1","--port={}"])", port));
}

TEST(TensorBoardName, IsALabelAndItsOwn) {
  EXPECT_EQ(board_child_name("mnist-5b373"), "mnist-5b373-tensorboard");
  std::string longest = board_child_name(std::string(60, 'a') + "1");
  EXPECT_EQ(longest.size(), 63u);
  EXPECT_NE(longest, board_child_name(std::string(60, 'a') + "2"));
  EXPECT_NE(board_child_name("a.b"), board_child_name("a-b"));
  EXPECT_EQ(board_child_name("a.b").find('.'), std::string::npos);
}

// The steps as words.
std::string words_of(const BoardPlan& plan) {
  std::string text;
  for (const BoardStep& step : plan.steps) {
    if (!text.empty()) text += "; ";
    text += std::visit(Match{
                           [](const CreateBoardService&) { return std::string("service"); },
                           [](const CreateBoardPod&) { return std::string("pod"); },
                           [](const DeleteBoardPod& what) { return "delete " + what.uid; },
                           [](const WriteBoardStatus& what) {
                             const json::array& conditions = what.status.at("conditions").as_array();
                             const json::object& ready = conditions.at(conditions.size() - 1).as_object();
                             std::string notes;
                             for (const auto& note : what.notes) notes += " !" + note.reason;
                             return fmt::format("{} ({}){}", kube::text_at(what.status, {"phase"}),
                                                kube::text_at(ready, {"message"}), notes);
                           },
                       },
                       step);
  }
  if (plan.wake) text += fmt::format(" wake {}s", (*plan.wake - kBoardNow).count() / 1000);
  return text;
}

// A world in which everything that is planned comes about.
class TensorBoardLife : public ::testing::Test {
 protected:
  std::string pass() {
    BoardPlan plan =
        plan_board({&board_, pod_ ? &*pod_ : nullptr, service_ ? &*service_ : nullptr}, settings_, kBoardNow);
    for (const BoardStep& step : plan.steps) {
      std::visit(
          Match{
              [&](const CreateBoardService& what) { service_ = what.body; },
              [&](const CreateBoardPod& what) {
                pod_ = what.body;
                kube::ensure_object(*pod_, {"metadata"})["uid"] = "p";
                kube::ensure_object(*pod_, {"metadata"})["creationTimestamp"] = format_rfc3339(kBoardNow);
                kube::ensure_object(*pod_, {"status"})["phase"] = "Pending";
              },
              [&](const DeleteBoardPod&) {
                kube::ensure_object(*pod_, {"metadata"})["deletionTimestamp"] = format_rfc3339(kBoardNow);
              },
              [&](const WriteBoardStatus& what) { board_["status"] = what.status; },
          },
          step);
    }
    return words_of(plan);
  }
  void pod_becomes(const std::string& status) { (*pod_)["status"] = from_yaml(status); }
  void run() {
    pass();
    pass();
    pod_becomes("{phase: Running, podIP: 10.0.0.7, conditions: [{type: Ready, status: 'True'}]}");
    pass();
  }

  BoardSettings settings_;
  json::object board_ = board_of(kOnePvc);
  std::optional<json::object> pod_, service_;
};

TEST_F(TensorBoardLife, FromNothingToRunningAndThenQuiet) {
  EXPECT_EQ(pass(), "service; pod; Initializing (the pod is being created)");
  EXPECT_EQ(pass(), "Initializing (the pod is starting)");
  pod_becomes("{phase: Pending, conditions: [{type: PodScheduled, status: 'False', message: no room}]}");
  EXPECT_EQ(pass(), "Initializing (the pod waits: no room)");
  pod_becomes("{phase: Running, containerStatuses: [{state: {waiting: {reason: CrashLoopBackOff}}}]}");
  EXPECT_EQ(pass(), "Initializing (the container waits: CrashLoopBackOff)");
  pod_becomes("{phase: Running, conditions: [{type: Ready, status: 'True'}]}");
  EXPECT_EQ(pass(), "Running (TensorBoard is ready) !Ready");
  EXPECT_EQ(pass(), "");
  const json::object& status = board_["status"].as_object();
  EXPECT_EQ(kube::text_at(status, {"url"}), "http://tb-tensorboard.demo.svc:6006/");
  EXPECT_EQ(json::serialize(*kube::object_at(status, {"pod"})),
            R"({"reference":{"name":"tb-tensorboard","uid":"p"},"phase":"Running"})");
}

TEST_F(TensorBoardLife, OnOneMachineTheAddressIsThePods) {
  settings_.pod_addresses = true;
  run();
  EXPECT_EQ(kube::text_at(board_["status"].as_object(), {"url"}), "http://10.0.0.7:6006/");
}

TEST_F(TensorBoardLife, SuspendedItLosesItsPodAndKeepsItsService) {
  run();
  board_["spec"].as_object()["suspend"] = true;
  EXPECT_EQ(pass(), "delete p; Paused (the pod is being stopped)");
  EXPECT_EQ(pass(), "");
  pod_.reset();
  EXPECT_EQ(pass(), "Paused (TensorBoard is suspended)");
  EXPECT_EQ(pass(), "");
  EXPECT_FALSE(board_["status"].as_object().contains("url"));
  board_["spec"].as_object()["suspend"] = false;
  EXPECT_EQ(pass(), "pod; Initializing (the pod is being created)");
}

TEST_F(TensorBoardLife, AnotherSpecMakesAnotherPod) {
  run();
  board_["spec"].as_object()["image"] = "tb:2";
  EXPECT_EQ(pass(), "delete p");
  EXPECT_EQ(pass(), "Initializing (the pod is being replaced)");
  EXPECT_EQ(pass(), "");
  pod_.reset();
  EXPECT_EQ(pass(), "pod; Initializing (the pod is being created)");
}

TEST_F(TensorBoardLife, APodThatEndedIsReplacedAfterAWhile) {
  run();
  pod_becomes("{phase: Failed, reason: Evicted, message: disk}");
  EXPECT_EQ(pass(), "Initializing (the pod has ended: Evicted disk) wake 10s");
  (*pod_)["metadata"].as_object()["creationTimestamp"] = format_rfc3339(kBoardNow - seconds(11));
  EXPECT_EQ(pass(), "delete p");
}

TEST_F(TensorBoardLife, WhatIsWrongIsToldOnceAndNothingIsMade) {
  board_ = board_of("{}");
  EXPECT_EQ(
      pass(),
      "Initializing (spec.logDir: no logs are named, here or in spec.trainingLogFilesets) !InvalidSpec");
  EXPECT_EQ(pass(), "");
}

TEST_F(TensorBoardLife, WhatOthersWroteStays) {
  board_ = board_of(kOnePvc, "{conditions: [{type: Idle, status: 'True', x: 1}, 7], more: 1}");
  run();
  const json::object& status = board_["status"].as_object();
  EXPECT_EQ(status.at("more").as_int64(), 1);
  EXPECT_EQ(status.at("conditions").as_array().size(), 3u);
}

TEST_F(TensorBoardLife, OneThatGoesIsLeftAlone) {
  board_["metadata"].as_object()["deletionTimestamp"] = format_rfc3339(kBoardNow);
  EXPECT_EQ(pass(), "");
}

}  // namespace
}  // namespace trainyard::control
