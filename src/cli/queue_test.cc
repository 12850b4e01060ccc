// `trainyard queue`, on the embedded plane's store.
#include "cli/queue.h"

#include <gtest/gtest.h>

#include <sstream>

#include "cli/commands.h"
#include "cli/testing.h"
#include "hub/hub_client.h"
#include "kube/access.h"

namespace trainyard::cli {
namespace {

constexpr Time kQueueTime{1'700'000'000'000};

class NobodysPods final : public client::PodPort {
 public:
  std::unique_ptr<client::OpenWatch> open_stream(const std::string&, client::ByteSink) override {
    return std::make_unique<client::OpenWatch>();
  }
  Result<std::string> read(const std::string&) override { return Error{ErrorKind::kNotFound, "none"}; }
  Result<int> exec(const std::string&, client::ExecIo) override {
    return Error{ErrorKind::kNotFound, "none"};
  }
};

class QueueVerbs : public testing::Test {
 protected:
  QueueVerbs() {
    hub::Options options;
    options.clock = [] { return kQueueTime; };
    hub_ = hub::Hub::open(std::move(options)).value().release();
    client_ = std::make_unique<hub::HubClient>(*hub_);
    watches_ = std::make_unique<hub::HubWatches>(*hub_);
    cluster_ = std::make_unique<Cluster>(Cluster{*client_, *watches_, pods_, [] { return kQueueTime; },
                                                 "default", false, false, "the test", ""});
  }
  ~QueueVerbs() override {
    cluster_.reset();
    delete hub_;
  }

  // What it printed; "1: " before it when it failed.
  template <typename Verb>
  std::string run(Verb verb) {
    std::istringstream in;
    std::ostringstream out;
    std::ostringstream err;
    int status = run_queue_on(*cluster_, QueueCommand{{}, std::move(verb)}, Console{in, out, err});
    return (status == kFine ? "" : std::to_string(status) + ": ") + out.str() + err.str();
  }
  void add_group(std::string_view name, std::string_view queue, std::string_view status) {
    json::object group = parsed(
        fmt::format("{{apiVersion: scheduling.volcano.sh/v1beta1, kind: PodGroup, metadata: {{name: {}}}, "
                    "spec: {{minMember: 2, queue: {}}}, status: {}}}",
                    name, queue, status));
    ASSERT_TRUE(client::create(*client_, kube::kVolcanoPodGroups, "default", std::move(group)).ok());
  }

  hub::Hub* hub_ = nullptr;
  std::unique_ptr<hub::HubClient> client_;
  std::unique_ptr<hub::HubWatches> watches_;
  NobodysPods pods_;
  std::unique_ptr<Cluster> cluster_;
};

TEST_F(QueueVerbs, AQueueFromItsCreationToItsEnd) {
  EXPECT_EQ(run(CreateQueue{"research", 2, 5, {"cpu=4", "memory=8Gi"}, {"cpu=1"}, false}),
            "queue research is there\n");
  EXPECT_EQ(run(ListQueues{}),
            "NAME      KIND     STATE  WEIGHT  PRIORITY  SHARE  RUNNING  WAITING  ALLOCATED\n"
            "default   volcano  Open   1       0         -      0        0        -\n"
            "research  volcano  Open   2       5         -      0        0        -\n");
  EXPECT_EQ(run(CloseQueue{"research", true}), "queue research is closed\n");
  EXPECT_EQ(run(CloseQueue{"research", false}), "queue research is open\n");
  add_group("train", "research", "{phase: Pending}");
  EXPECT_EQ(run(DeleteQueue{"research"}),
            "1: the queue 'research' holds 1 gang; close it and wait for it first\n");
  EXPECT_EQ(run(CloseQueue{"research", true}), "queue research is closing: what is in it goes on\n");
  ASSERT_TRUE(client::remove(*client_, kube::kVolcanoPodGroups, "default", "train", {}).ok());
  EXPECT_EQ(run(DeleteQueue{"research"}), "queue research is gone\n");
  EXPECT_EQ(run(DeleteQueue{"research"}),
            "1: there is no queue 'research'; `trainyard queue list` shows them\n");
}

TEST_F(QueueVerbs, WhatCannotBeMeantIsRefused) {
  auto create = [&](std::vector<std::string> capacity, std::vector<std::string> guarantee) {
    return run(CreateQueue{"q", 1, 0, std::move(capacity), std::move(guarantee)});
  };
  EXPECT_EQ(create({"cpu"}, {}), "1: --capacity: 'cpu' is not NAME=AMOUNT, such as cpu=4\n");
  EXPECT_EQ(create({"cpu=many"}, {}), "1: --capacity: 'cpu=many' is not NAME=AMOUNT, such as cpu=4\n");
  EXPECT_EQ(create({"cpu=-3"}, {}), "1: --capacity: 'cpu=-3' is less than nothing\n");
  EXPECT_EQ(create({"cpu=4"}, {"cpu=8"}),
            "1: --guarantee: cpu=8 is more than the 4 that --capacity lets the queue hold\n");
  EXPECT_EQ(
      run(CloseQueue{"default", true}),
      "1: the queue 'default' is there by itself; `trainyard queue create default` makes it one that can "
      "be closed\n");
  EXPECT_EQ(run(DeleteQueue{"default"}), "1: the queue 'default' is always there\n");
  EXPECT_EQ(create({"cpu=4"}, {"cpu=4", "memory=1Gi"}), "queue q is there\n");
}

TEST_F(QueueVerbs, ForPrograms) {
  run(CreateQueue{"research", 2, 0, {"cpu=4"}, {}});
  add_group("train", "research",
            "{phase: Pending, conditions: [{type: Unschedulable, status: 'True', message: needs 9 cpu}]}");
  EXPECT_EQ(run(DescribeQueue{"research", ListForm::kYaml}), R"(name: research
kind: volcano
state: Open
weight: 2
priority: 0
reclaimable: true
capacity:
  cpu: "4"
guarantee: {}
allocated: {}
running: 0
waiting: 1
gangs:
- namespace: default
  name: train
  state: Waiting
  pods: 2
  reason: needs 9 cpu
)");
  json::value listed = json::parse(run(ListQueues{ListForm::kJson}));
  EXPECT_EQ(listed.at("queues").as_array().size(), 2u);
  EXPECT_EQ(listed.at("queues").at(1).at("waiting"), 1);
  EXPECT_FALSE(listed.at("queues").at(1).as_object().contains("gangs"));
}

}  // namespace
}  // namespace trainyard::cli
