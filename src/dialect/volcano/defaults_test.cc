#include "dialect/volcano/defaults.h"

#include <gtest/gtest.h>

#include "dialect/volcano/testing.h"

namespace trainyard::dialect::vc {
namespace {

using testing::from_yaml;

std::string defaulted(std::string_view spec) {
  json::object job;
  job["spec"] = from_yaml(spec);
  return json::serialize(*kube::object_at(with_defaults(job), {"spec"}));
}

TEST(Defaults, WhatVolcanosWebhookFillsIn) {
  struct Case {
    std::string_view given;
    std::string_view got;
  };
  for (const Case& c : std::initializer_list<Case>{
           {"{tasks: [{replicas: 2}, {name: ps, replicas: 1}]}",
            R"({"tasks":[{"replicas":2,"name":"default0","minAvailable":2,"maxRetry":3},)"
            R"({"name":"ps","replicas":1,"minAvailable":1,"maxRetry":3}],)"
            R"("queue":"default","schedulerName":"volcano","maxRetry":3,"minAvailable":3})"},
           // What is written stays; 0 and "" count as absent.
           {"{queue: q, schedulerName: s, maxRetry: 5, minAvailable: 1, tasks: [{name: a, replicas: 2, "
            "minAvailable: 0, maxRetry: 7}]}",
            R"({"queue":"q","schedulerName":"s","maxRetry":5,"minAvailable":1,)"
            R"("tasks":[{"name":"a","replicas":2,"minAvailable":0,"maxRetry":7}]})"},
           {"{queue: '', maxRetry: 0, minAvailable: 0, tasks: []}",
            R"({"queue":"default","maxRetry":3,"minAvailable":0,"tasks":[],"schedulerName":"volcano"})"},
           // Partitions decide the task's minimum when they have one.
           {"{tasks: [{name: a, replicas: 6, partitionPolicy: {totalPartitions: 3, partitionSize: 2, "
            "minPartitions: 2}}]}",
            R"({"tasks":[{"name":"a","replicas":6,"partitionPolicy":{"totalPartitions":3,"partitionSize":2,)"
            R"("minPartitions":2},"minAvailable":4,"maxRetry":3}],)"
            R"("queue":"default","schedulerName":"volcano","maxRetry":3,"minAvailable":4})"},
           {"{tasks: [{name: a, replicas: 1, template: {spec: {hostNetwork: true}}}]}",
            R"({"tasks":[{"name":"a","replicas":1,"template":{"spec":{"hostNetwork":true,)"
            R"("dnsPolicy":"ClusterFirstWithHostNet"}},"minAvailable":1,"maxRetry":3}],)"
            R"("queue":"default","schedulerName":"volcano","maxRetry":3,"minAvailable":1})"},
           {"{plugins: {tensorflow: []}, tasks: []}",
            R"({"plugins":{"tensorflow":[],"svc":[]},"tasks":[],)"
            R"("queue":"default","schedulerName":"volcano","maxRetry":3,"minAvailable":0})"},
           {"{plugins: {env: []}, tasks: []}",
            R"({"plugins":{"env":[]},"tasks":[],)"
            R"("queue":"default","schedulerName":"volcano","maxRetry":3,"minAvailable":0})"},
       }) {
    EXPECT_EQ(defaulted(c.given), c.got) << c.given;
  }
}

TEST(Defaults, WrongTypesAreLeftForDecodeToTell) {
  EXPECT_EQ(json::serialize(with_defaults(from_yaml("{spec: [1]}"))), R"({"spec":[1]})");
  EXPECT_EQ(json::serialize(with_defaults(from_yaml("{kind: Job}"))), R"({"kind":"Job"})");
  EXPECT_EQ(defaulted("{queue: 3, tasks: [1, {replicas: x}], plugins: []}"),
            R"({"queue":3,"tasks":[1,{"replicas":"x","name":"default1","minAvailable":0,"maxRetry":3}],)"
            R"("plugins":[],"schedulerName":"volcano","maxRetry":3,"minAvailable":0})");
}

}  // namespace
}  // namespace trainyard::dialect::vc
