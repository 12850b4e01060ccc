#include "dialect/shared/pod_template.h"

#include <gtest/gtest.h>

#include "dialect/shared/testing.h"

namespace trainyard::dialect {
namespace {

TEST(PodTemplate, ThePodKeepsWhatTheTemplateSays) {
  json::object from = parsed(R"({"metadata":{"name":"n","labels":{"a":"b"},"annotations":{"c":"d"},
      "finalizers":["f"],"creationTimestamp":null},"spec":{"containers":[{"name":"x"}],"extra":1}})");
  json::object pod = pod_from_template(from, "train-worker-0", "ns", parsed(R"({"uid":"u"})"), 0);
  EXPECT_EQ(pod,
            parsed(R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"train-worker-0","namespace":"ns",
      "labels":{"a":"b"},"annotations":{"c":"d"},"finalizers":["f"],"ownerReferences":[{"uid":"u"}]},
      "spec":{"containers":[{"name":"x"}],"extra":1}})"));
}

TEST(PodTemplate, APolicyThatIsNoneIsLeftToTheServer) {
  json::object pod = pod_from_template(parsed(R"({"spec":{"restartPolicy":""}})"), "p", "", {}, 0);
  EXPECT_EQ(pod, parsed(R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{}})"));
}

TEST(PodTemplate, OnlyLaterAttemptsAreMarked) {
  json::object pod = pod_from_template(parsed(R"({"spec":{}})"), "p", "", {}, 3);
  EXPECT_EQ(pod, parsed(R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","annotations":
      {"trainyard.dev/attempt":"3"}},"spec":{}})"));
}

TEST(PodTemplate, TheMainContainerIsFoundByNameOrFirst) {
  json::object pod =
      parsed(R"({"spec":{"containers":[{"name":"a"},{"name":"b","env":[{"name":"X","value":"1"}]}]}})");
  EXPECT_EQ(main_container(pod, "c"), nullptr);
  EXPECT_EQ(*main_container(pod, ""), parsed(R"({"name":"a"})"));
  append_env(*main_container(pod, "b"), "X", "2");
  EXPECT_EQ(*main_container(pod, "b"),
            parsed(R"({"name":"b","env":[{"name":"X","value":"1"},{"name":"X","value":"2"}]})"));
}

TEST(PodTemplate, LabelsAndAnnotationsAreSetOverWhatIsThere) {
  json::object pod = parsed(R"({"metadata":{"labels":{"a":"b"}}})");
  set_label(pod, "a", "c");
  set_annotation(pod, "x", "y");
  EXPECT_EQ(pod, parsed(R"({"metadata":{"labels":{"a":"c"},"annotations":{"x":"y"}}})"));
}

}  // namespace
}  // namespace trainyard::dialect
