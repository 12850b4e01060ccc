#include "server/status.h"

#include <gtest/gtest.h>

#include "store/errors.h"

namespace trainyard::server {
namespace {

TEST(Status, SaysWhatTheRealServerSays) {
  struct Case {
    ErrorKind kind;
    std::string message;
    int code;
    std::string reason;
    std::string says;
  };
  const Case cases[] = {
      {ErrorKind::kNotFound, "", 404, "NotFound", "tfjobs.kubeflow.org \"x\" not found"},
      {ErrorKind::kAlreadyExists, "", 409, "AlreadyExists", "tfjobs.kubeflow.org \"x\" already exists"},
      {ErrorKind::kConflict, "", 409, "Conflict",
       "Operation cannot be fulfilled on tfjobs.kubeflow.org \"x\": the object has been modified; please "
       "apply "
       "your changes to the latest version and try again"},
      {ErrorKind::kInvalid, "spec.a: Required value", 422, "Invalid",
       "TFJob.kubeflow.org \"x\" is invalid: spec.a: Required value"},
      {ErrorKind::kInvalid, "TFJob.kubeflow.org \"x\" is invalid: b", 422, "Invalid",
       "TFJob.kubeflow.org \"x\" is invalid: b"},
      {ErrorKind::kForbidden, "no room", 403, "Forbidden", "tfjobs.kubeflow.org \"x\" is forbidden: no room"},
      {ErrorKind::kForbidden, store::forbidden(kube::kTfJobs, "x", "no room").message, 403, "Forbidden",
       "tfjobs.kubeflow.org \"x\" is forbidden: no room"},
      {ErrorKind::kGone, "too old resource version: 1 (5)", 410, "Expired",
       "too old resource version: 1 (5)"},
      {ErrorKind::kUnavailable, "disk full", 503, "ServiceUnavailable", "disk full"},
      {ErrorKind::kUnknown, "no answer", 504, "Timeout", "Timeout: no answer"},
  };
  for (const Case& each : cases) {
    Status status = status_of(Error{each.kind, each.message}, kube::kTfJobs, "x");
    EXPECT_EQ(status.code, each.code);
    EXPECT_EQ(status.reason, each.reason);
    EXPECT_EQ(status.message, each.says);
  }
  EXPECT_EQ(status_of(Error{ErrorKind::kNotFound, ""}, kube::kPods, "p").message, "pods \"p\" not found");
}

TEST(Status, ANamespaceThatIsNotThereIsWhatIsNotFound) {
  Status status = status_of(store::not_found(kube::kNamespaces, "team"), kube::kTfJobs, "x");
  EXPECT_EQ(status.message, "namespaces \"team\" not found");
  EXPECT_EQ(status.name, "team");
  EXPECT_EQ(status.kind, "namespaces");
  EXPECT_EQ(status.group, "");
}

// kubectl prints `The TFJob "x" is invalid` and the causes, and the message only of what has no name.
TEST(Status, WhatHasNoCausesIsTold) {
  Status status = status_of({ErrorKind::kInvalid, "operation 0: nothing there"}, kube::kTfJobs, "x");
  EXPECT_EQ(status.message, "TFJob.kubeflow.org \"x\" is invalid: operation 0: nothing there");
  EXPECT_EQ(status.name, "");
  EXPECT_EQ(status.kind, "");
}

TEST(Status, ARequestThatDoesNotHoldTogetherIsABadOne) {
  Status status = status_of(store::bad_request("no"), kube::kPods, "p");
  EXPECT_EQ(status.code, 400);
  EXPECT_TRUE(status.causes.empty());
}

TEST(Status, OfAQuery) {
  EXPECT_EQ(status_of_query({ErrorKind::kInvalid, "limit: a number"}, "ListOptions").code, 400);
  Status status = status_of_query(
      {ErrorKind::kInvalid, "", {store::unsupported_value("dryRun", "Some", {"All"})}}, "CreateOptions");
  EXPECT_EQ(status.code, 422);
  EXPECT_EQ(status.kind, "CreateOptions");
  EXPECT_EQ(status.message,
            "CreateOptions.meta.k8s.io \"\" is invalid: dryRun: Unsupported value: \"Some\": supported "
            "values: \"All\"");
}

TEST(Status, IsAKubernetesObject) {
  EXPECT_EQ(json::serialize(to_json(not_found(kube::kTfJobs, "x"))),
            R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure",)"
            R"("message":"tfjobs.kubeflow.org \"x\" not found","reason":"NotFound",)"
            R"("details":{"name":"x","group":"kubeflow.org","kind":"tfjobs"},"code":404})");
  EXPECT_EQ(json::serialize(to_json(deleted(kube::kPods, "p", "u"))),
            R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Success",)"
            R"("details":{"name":"p","kind":"pods","uid":"u"}})");
}

TEST(Status, NamesEveryFieldThatAnApplyFightsOver) {
  Status one = status_of(
      Error{ErrorKind::kConflict, "Apply failed with 1 conflict: conflict with \"a\" using v1: .spec.x"},
      kube::kPods, "p");
  EXPECT_EQ(one.causes,
            (std::vector<StatusCause>{{"FieldManagerConflict", "conflict with \"a\" using v1", ".spec.x"}}));
  Status more = status_of(Error{ErrorKind::kConflict,
                                "Apply failed with 3 conflicts: conflicts with \"a\" using v1:\n- .spec.x\n"
                                "- .spec.y\nconflicts with \"b\":\n- .data.k"},
                          kube::kPods, "p");
  EXPECT_EQ(more.causes,
            (std::vector<StatusCause>{{"FieldManagerConflict", "conflict with \"a\" using v1", ".spec.x"},
                                      {"FieldManagerConflict", "conflict with \"a\" using v1", ".spec.y"},
                                      {"FieldManagerConflict", "conflict with \"b\"", ".data.k"}}));
}

TEST(Status, OfACommandCarriesItsExitCode) {
  EXPECT_EQ(json::serialize(to_json(exit_status(0))),
            R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Success"})");
  Status failed = exit_status(7);
  EXPECT_EQ(failed.reason, "NonZeroExitCode");
  EXPECT_EQ(failed.causes, (std::vector<StatusCause>{{"ExitCode", "7", ""}}));
}

TEST(Status, HasTheCodesOfHttp) {
  EXPECT_EQ(bad_request("x").code, 400);
  EXPECT_EQ(unauthorized().code, 401);
  EXPECT_EQ(method_not_allowed(&kube::kPods, "POST").code, 405);
  EXPECT_EQ(not_acceptable({"application/json"}).code, 406);
  EXPECT_EQ(body_too_large(3).code, 413);
  EXPECT_EQ(unsupported_media_type("text/x", {"application/json"}).code, 415);
  EXPECT_EQ(too_many_requests("slow", 2).retry_after_seconds, 2);
  EXPECT_EQ(version_too_large(9, 5).causes.at(0).reason, "ResourceVersionTooLarge");
}

}  // namespace
}  // namespace trainyard::server
