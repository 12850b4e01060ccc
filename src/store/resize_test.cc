#include "store/resize.h"

#include <gtest/gtest.h>

#include "kube/access.h"
#include "store/builtin.h"
#include "store/testing.h"

namespace trainyard::store {
namespace {

constexpr const char* kPod = R"({"metadata":{"name":"p"},"spec":{
    "initContainers":[{"name":"side","image":"i","restartPolicy":"Always","resources":{"requests":{"cpu":"1"}}},
                      {"name":"init","image":"i","resources":{"requests":{"cpu":"1"}}}],
    "containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":"1","memory":"1Gi"},
                                                       "limits":{"cpu":"2","memory":"2Gi"}}},
                  {"name":"d","image":"i","resizePolicy":[{"resourceName":"memory","restartPolicy":"RestartContainer"}],
                   "resources":{"limits":{"memory":"1Gi","example.com/x":"1"}}}]}})";

class ResizeTest : public testing::Test {
 protected:
  ResizeTest() {
    admit_builtins([this](const kube::Resource& resource, Admission admission) {
      store_.set_admission(resource, std::move(admission));
    });
  }
  void create(std::string_view text = kPod) {
    Result<Object> made = store_.create(kube::kPods, "ns", json::parse(std::string(text)).as_object(), kNow);
    ASSERT_TRUE(made.ok()) << made.error().message;
  }
  Result<Object> resize(std::string_view patch, kube::PatchKind kind = kube::PatchKind::kStrategic,
                        const kube::WriteOptions& options = {}) {
    return store_.patch(kube::kPods, "ns", {"p", kind, json::parse(std::string(patch)), kube::Part::kResize},
                        kNow, options);
  }
  // "" when it is content, otherwise the fields of all causes and the words of the first.
  std::string refusal(std::string_view patch) {
    Result<Object> done = resize(patch);
    if (done.ok()) return "";
    std::string fields;
    for (const Cause& cause : done.error().causes) fields += cause.field + " ";
    return fields + "| " + done.error().causes.at(0).message;
  }

  Store store_;
};

TEST_F(ResizeTest, ChangesAmountsAndNothingElse) {
  create();
  Object before = store_.get(kube::kPods, "ns", "p").value();
  Result<Object> done = resize(R"({"metadata":{"labels":{"a":"b"},"annotations":{"x":"y"}},"spec":{
      "activeDeadlineSeconds":5,"containers":[{"name":"c","image":"other",
      "resources":{"requests":{"cpu":"1500m"},"limits":{"memory":"3Gi"}}}]}})");
  ASSERT_TRUE(done.ok()) << done.error().message;
  const json::object& c = kube::array_at(**done, {"spec", "containers"})->at(0).as_object();
  EXPECT_EQ(json::serialize(c.at("resources")),
            R"({"requests":{"cpu":"1500m","memory":"1Gi"},"limits":{"cpu":"2","memory":"3Gi"}})");
  EXPECT_EQ(kube::text_at(c, {"image"}), "i");
  EXPECT_EQ(kube::int_at(**done, {"spec", "activeDeadlineSeconds"}), std::nullopt);
  EXPECT_EQ(kube::object_at(**done, {"metadata", "labels"}), nullptr);
  EXPECT_EQ(kube::generation_of(**done), kube::generation_of(*before) + 1);
  EXPECT_EQ(resize("{}").value(), *done);
}

TEST_F(ResizeTest, RefusesAsKubernetesDoes) {
  create();
  struct Row {
    const char* patch;
    const char* refusal;
  };
  for (
      const Row& row : {
          Row{R"({"spec":{"containers":[{"name":"c","resources":{"requests":{"cpu":null}}}]}})", ""},
          Row{R"({"spec":{"containers":[{"name":"c","resources":{"requests":{"memory":null},"limits":{"memory":null}}}]}})",
              "spec.containers[0].resources.requests spec.containers[0].resources.limits | "
              "Forbidden: resource requests cannot be removed"},
          Row{R"({"spec":{"containers":[{"name":"c","resources":{"limits":{"memory":"1Gi"}}}]}})",
              "spec.containers[0].resources.limits[memory] | Forbidden: memory limits cannot be decreased "
              "unless "
              "resizePolicy is RestartContainer"},
          Row{R"({"spec":{"containers":[{"name":"d","resources":{"requests":{"memory":"512Mi"},"limits":{"memory":"512Mi"}}}]}})",
              ""},
          Row{R"({"spec":{"containers":[{"name":"d","resources":{"requests":{"example.com/x":"2"},"limits":{"example.com/x":"2"}}}]}})",
              "spec | Forbidden: only cpu and memory resources are mutable"},
          Row{R"({"spec":{"containers":[{"name":"d","resizePolicy":null}]}})",
              "spec | Forbidden: only cpu and memory resources are mutable"},
          Row{R"({"spec":{"containers":[{"name":"e","image":"i"}]}})",
              "spec.containers | Forbidden: containers may not be added or removed on resize"},
          Row{R"({"spec":{"initContainers":[{"name":"init","resources":{"requests":{"cpu":"2"}}}]}})",
              "spec | Forbidden: resources for non-sidecar init containers are immutable"},
          Row{R"({"spec":{"initContainers":[{"name":"side","resources":{"requests":{"cpu":"2"}}}]}})", ""},
          Row{R"({"spec":{"containers":[{"name":"c","resources":{"requests":{"cpu":"3"}}}]}})",
              "spec.containers[0].resources.requests | Invalid value: \"3\": must be less than or equal to "
              "cpu limit "
              "of 2"},
      }) {
    EXPECT_EQ(refusal(row.patch), row.refusal) << row.patch;
  }
}

TEST_F(ResizeTest, TheQualityOfServiceStays) {
  create(R"({"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i",
             "resources":{"limits":{"cpu":"1","memory":"1Gi"}}}]}})");
  EXPECT_EQ(refusal(R"({"spec":{"containers":[{"name":"c","resources":{"requests":{"cpu":"500m"}}}]}})"),
            "spec | Invalid value: \"Guaranteed\": Pod QOS Class may not change as a result of resizing");
  EXPECT_EQ(refusal(R"({"spec":{"containers":[{"name":"c",
                       "resources":{"requests":{"cpu":"2"},"limits":{"cpu":"2"}}}]}})"),
            "");
}

TEST_F(ResizeTest, ANodeMustBeAbleToDoIt) {
  create();
  json::object body = *store_.get(kube::kPods, "ns", "p").value();
  body["status"].as_object()["containerStatuses"] = json::parse(R"([{"name":"c","state":{"running":{}}}])");
  ASSERT_TRUE(store_.update_status(kube::kPods, "ns", body, kNow).ok());
  constexpr const char* kMore =
      R"({"spec":{"containers":[{"name":"c","resources":{"requests":{"cpu":"2"}}}]}})";
  EXPECT_EQ(refusal(kMore), "spec | Forbidden: Pod running on node without support for resize");
  body["metadata"].as_object().erase("resourceVersion");
  body["status"].as_object()["containerStatuses"] =
      json::parse(R"([{"name":"c","state":{"running":{}},"resources":{}}])");
  ASSERT_TRUE(store_.update_status(kube::kPods, "ns", body, kNow).ok());
  EXPECT_EQ(refusal(kMore), "");
}

TEST_F(ResizeTest, OnlyResizeChangesResources) {
  create();
  kube::Patch direct{
      "p", kube::PatchKind::kStrategic,
      json::parse(R"({"spec":{"containers":[{"name":"c","resources":{"requests":{"cpu":"2"}}}]}})")};
  Result<Object> refused = store_.patch(kube::kPods, "ns", direct, kNow);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().causes.at(0).field, "spec");
}

TEST_F(ResizeTest, WhoAppliesAResizeManagesTheAmountsAlone) {
  create();
  const kube::WriteOptions one{.field_manager = "one", .force = true};
  Result<Object> done = resize(R"({"apiVersion":"v1","kind":"Pod","metadata":{"labels":{"a":"b"}},"spec":{
      "containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":"2"}}}]}})",
                               kube::PatchKind::kApply, one);
  ASSERT_TRUE(done.ok()) << done.error().message;
  const json::object& entry = kube::array_at(**done, {"metadata", "managedFields"})->back().as_object();
  EXPECT_EQ(kube::text_at(entry, {"manager"}), "one");
  EXPECT_EQ(kube::text_at(entry, {"subresource"}), "resize");
  EXPECT_EQ(
      json::serialize(entry.at("fieldsV1")),
      R"({"f:spec":{"f:containers":{"k:{\"name\":\"c\"}":{".":{},"f:name":{},"f:resources":{"f:requests":{"f:cpu":{}}}}}}})");
  done = resize(R"({"apiVersion":"v1","kind":"Pod","spec":{"containers":[{"name":"c",
                    "resources":{"requests":{"cpu":"1"}}}]}})",
                kube::PatchKind::kApply, {.field_manager = "two"});
  ASSERT_FALSE(done.ok());
  EXPECT_EQ(done.error().kind, ErrorKind::kConflict);
  kube::Patch of_nothing{"q", kube::PatchKind::kApply, json::parse(R"({"apiVersion":"v1","kind":"Pod"})"),
                         kube::Part::kResize};
  EXPECT_EQ(store_.patch(kube::kPods, "ns", of_nothing, kNow, one).error().kind, ErrorKind::kNotFound);
}

TEST(ResizePolicy, IsHeldToItsWords) {
  struct Row {
    const char* policy;
    const char* restart_policy;
    const char* field;
  };
  for (
      const Row& row : {
          Row{R"([{"resourceName":"cpu","restartPolicy":"NotRequired"},
                   {"resourceName":"memory","restartPolicy":"RestartContainer"}])",
              "Always", ""},
          Row{R"([{"resourceName":"cpu","restartPolicy":"NotRequired"},{"resourceName":"cpu","restartPolicy":"NotRequired"}])",
              "Always", "c.resizePolicy[1]"},
          Row{R"([{"resourceName":"disk","restartPolicy":"NotRequired"}])", "Always", "c.resizePolicy"},
          Row{R"([{"resourceName":"cpu","restartPolicy":"Perhaps"}])", "Always", "c.resizePolicy"},
          Row{R"([{"restartPolicy":"NotRequired"}])", "Always", "c.resizePolicy"},
          Row{R"([{"resourceName":"cpu"}])", "Always", "c.resizePolicy"},
          Row{R"([{"resourceName":"cpu","restartPolicy":"RestartContainer"}])", "Never", "c.resizePolicy"},
      }) {
    Causes causes;
    check_resize_policy({{"resizePolicy", json::parse(row.policy)}}, "c", row.restart_policy, causes);
    EXPECT_EQ(causes.empty() ? "" : causes[0].field, row.field) << row.policy;
    EXPECT_LE(causes.size(), 1u) << row.policy;
  }
}

}  // namespace
}  // namespace trainyard::store
