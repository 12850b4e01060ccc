#include "dialect/volcano/update.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dialect/volcano/testing.h"

namespace trainyard::dialect::vc {
namespace {

using ::testing::ElementsAreArray;
using testing::job;
using testing::task;

std::vector<std::string> forbidden(const json::object& before, const json::object& after) {
  std::vector<std::string> paths;
  for (const Problem& problem : validate_update(before, after)) {
    EXPECT_EQ(problem.kind, ProblemKind::kForbidden);
    paths.push_back(problem.path);
  }
  return paths;
}

TEST(Update, WhatMayChangeAndWhatNot) {
  json::object before = job(task("ps", 1) + task("worker", 2), "  maxRetry: 3\n  plugins: {env: []}\n");
  struct Case {
    std::string_view about;
    json::object after;
    std::vector<std::string> paths;
  };
  for (const Case& c : std::initializer_list<Case>{
           {"nothing", before, {}},
           {"a default spelled out",
            job(task("ps", 1) + task("worker", 2), "  queue: default\n  plugins: {env: []}\n"),
            {}},
           {"scale",
            job(task("ps", 1) + task("worker", 3, "    minAvailable: 2\n"),
                "  minAvailable: 3\n  priorityClassName: high\n  plugins: {env: []}\n"),
            {}},
           {"a task more",
            job(task("ps", 1) + task("worker", 2) + task("x", 1), "  plugins: {env: []}\n"),
            {"spec.tasks"}},
           {"a task's name",
            job(task("ps", 1) + task("w", 2), "  plugins: {env: []}\n"),
            {"spec.tasks[1].name"}},
           {"a template",
            job(task("ps", 1, "", "        hostNetwork: false\n") + task("worker", 2),
                "  plugins: {env: []}\n"),
            {"spec.tasks[0].template"}},
           {"much",
            job(task("ps", 1) + task("worker", 2, "    policies: []\n"), "  queue: q\n  maxRetry: 4\n"),
            {"spec.maxRetry", "spec.plugins", "spec.queue", "spec.tasks[1].policies"}},
       }) {
    EXPECT_THAT(forbidden(before, c.after), ElementsAreArray(c.paths)) << c.about;
  }
}

TEST(Update, TheClaimNameThatVolcanoWritesBack) {
  json::object before = job(task("w", 1), "  volumes: [{mountPath: /a, volumeClaim: {}}]\n");
  json::object after =
      job(task("w", 1), "  volumes: [{mountPath: /a, volumeClaim: {}, volumeClaimName: tj-pvc-x}]\n");
  EXPECT_THAT(forbidden(before, after), ElementsAreArray(std::vector<std::string>{}));
  EXPECT_THAT(forbidden(job(task("w", 1), "  volumes: [{mountPath: /a, volumeClaimName: b}]\n"),
                        job(task("w", 1), "  volumes: [{mountPath: /a, volumeClaimName: c}]\n")),
              ElementsAreArray(std::vector<std::string>{"spec.volumes[0].volumeClaimName"}));
}

}  // namespace
}  // namespace trainyard::dialect::vc
