#include "dialect/t9k/overrides.h"

#include <gtest/gtest.h>

#include "dialect/t9k/testing.h"

namespace trainyard::t9k {
namespace {

using testing::from_yaml;

constexpr std::string_view kPodYaml =
    "{spec: {initContainers: [{name: fetch}],"
    " containers: [{name: sidecar, command: [s]}, {name: tensorflow, command: [python, train.py], args: "
    "[--a]}]}}";

struct OverrideCase {
  std::string what;
  std::string run_mode;
  std::string type;
  int resumes = 0;
  std::string command;  // of the main container afterwards, command | args
  bool keeps_init = true;
};

std::string words(const json::object& container, std::string_view key) {
  std::string all;
  const json::value* list = container.if_contains(json::string_view(key.data(), key.size()));
  if (list == nullptr) return "-";
  for (const json::value& word : list->as_array())
    all += (all.empty() ? "" : " ") + std::string(word.as_string());
  return all;
}

TEST(T9kOverrides, WhatAPodIsStartedWith) {
  const std::string debug_ssh =
      "{debug: {enabled: true, replicaSpecs: [{type: worker, skipInitContainer: true, command: "
      "[/usr/bin/sshd]}]}}";
  const std::string resume_ssh =
      "{pause: {enabled: false, resumeSpecs: [{type: worker, skipInitContainer: true, command: "
      "[/usr/bin/sshd]}]}}";
  const std::string resume_args = "{pause: {resumeSpecs: [{type: worker, args: [--resume]}]}}";
  const std::string resume_both = "{pause: {resumeSpecs: [{type: worker, command: [bash], args: [-c, x]}]}}";
  const OverrideCase cases[] = {
      {"immediate", "{}", "worker", 0, "python train.py | --a"},
      {"immediate, resumed", "{}", "worker", 2, "python train.py | --a"},
      {"debug by default", "{debug: {enabled: true}}", "worker", 0, "sleep inf | -"},
      {"debug, old spelling", "{debug: {enable: true}}", "worker", 0, "sleep inf | -"},
      {"debug off", "{debug: {enabled: false, replicaSpecs: [{type: worker, command: [x]}]}}", "worker", 0,
       "python train.py | --a"},
      {"debug, own command", debug_ssh, "worker", 0, "/usr/bin/sshd | -", false},
      {"debug, another type", debug_ssh, "chief", 0, "sleep inf | -"},
      {"debug, empty command", "{debug: {enabled: true, replicaSpecs: [{type: worker, command: []}]}}",
       "worker", 0, "sleep inf | -"},
      {"debug, args are not for it", "{debug: {enabled: true, replicaSpecs: [{type: worker, args: [x]}]}}",
       "worker", 0, "sleep inf | -"},
      {"before the first resume", resume_ssh, "worker", 0, "python train.py | --a"},
      {"after a resume", resume_ssh, "worker", 1, "/usr/bin/sshd | -", false},
      {"after a resume, another type", resume_ssh, "ps", 1, "python train.py | --a"},
      {"args alone", resume_args, "worker", 1, "python train.py | --resume"},
      {"command and args", resume_both, "worker", 3, "bash | -c x"},
      {"debug before resume",
       "{debug: {enabled: true}, pause: {resumeSpecs: [{type: worker, command: [y], skipInitContainer: "
       "true}]}}",
       "worker", 1, "sleep inf | -"},
  };
  for (const OverrideCase& c : cases) {
    SCOPED_TRACE(c.what);
    json::object source = from_yaml("{spec: {runMode: " + c.run_mode + "}}");
    json::object pod = from_yaml(kPodYaml);
    if (auto override = override_for(source, c.type, c.resumes)) apply_override(*override, "tensorflow", pod);
    json::array& containers = pod["spec"].as_object()["containers"].as_array();
    const json::object& main = containers[1].as_object();
    EXPECT_EQ(words(main, "command") + " | " + words(main, "args"), c.command);
    EXPECT_EQ(words(containers[0].as_object(), "command"), "s") << "sidecars are left alone";
    EXPECT_EQ(pod["spec"].as_object().contains("initContainers"), c.keeps_init);
  }
}

TEST(T9kOverrides, NonsenseChangesNothing) {
  for (const char* source :
       {"{}", "{spec: 4}", "{spec: {runMode: [1]}}", "{spec: {runMode: {debug: {enabled: 3}}}}",
        "{spec: {runMode: {pause: {resumeSpecs: [1, {type: 3}]}}}}"}) {
    EXPECT_EQ(override_for(from_yaml(source), "worker", 1), std::nullopt) << source;
  }
  json::object pod;
  apply_override({.type = "worker", .skip_init_containers = true, .command = {{"a"}}}, "tensorflow", pod);
  EXPECT_EQ(pod, from_yaml("{spec: {}}"));
}

}  // namespace
}  // namespace trainyard::t9k
