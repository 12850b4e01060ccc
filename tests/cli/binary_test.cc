// The binary itself: that arguments, standard input and the exit status get through.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdio>
#include <string>

namespace trainyard::cli_suite {
namespace {

using ::testing::HasSubstr;

struct Ran {
  std::string out;
  int status = -1;
};

Ran run_shell(const std::string& command) {
  Ran ran;
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return ran;
  char buffer[4096];
  for (size_t n = 0; (n = fread(buffer, 1, sizeof buffer, pipe)) > 0;) ran.out.append(buffer, n);
  int status = pclose(pipe);
  ran.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return ran;
}

const std::string kBinary = TRAINYARD_BINARY;
const std::string kExamples = TRAINYARD_SOURCE_DIR "/examples";

TEST(Binary, ExitStatusTellsWhoseFaultItIs) {
  EXPECT_EQ(run_shell(kBinary + " validate " + kExamples).status, 0);
  EXPECT_EQ(run_shell("echo 'kind: Pod' | " + kBinary + " validate - 2>&1").status, 1);
  EXPECT_EQ(run_shell(kBinary + " validate /no/such/file 2>&1").status, 1);
  EXPECT_EQ(run_shell(kBinary + " vaildate x 2>&1").status, 2);
  EXPECT_EQ(run_shell(kBinary + " 2>&1").status, 2);
}

TEST(Binary, ErrorsGoToStandardError) {
  EXPECT_EQ(run_shell(kBinary + " validate /no/such/file 2>/dev/null").out, "");
  EXPECT_THAT(run_shell(kBinary + " validate /no/such/file 2>&1 >/dev/null").out,
              HasSubstr("/no/such/file: cannot be read: No such file or directory"));
}

TEST(Binary, ThereIsNoColourInAPipe) {
  EXPECT_EQ(run_shell(kBinary + " explain " + kExamples + "/tfjob.yaml").out.find('\x1b'), std::string::npos);
}

TEST(Binary, WhatCannotBePrintedIsAFault) {
  Ran ran = run_shell(kBinary + " explain " + kExamples + "/tfjob.yaml 2>&1 >/dev/full");
  EXPECT_EQ(ran.status, 1);
  EXPECT_EQ(ran.out, "not all that was to be printed could be written\n");
}

TEST(Binary, NoFileTakesThePlaceOfAStreamThatWasClosed) {
  const std::string folder = testing::TempDir() + "closed-streams";
  Ran ran = run_shell("rm -rf " + folder + "; " + kBinary + " up --detach --runtime process --data-dir " +
                      folder + " <&- >&- 2>&-; cat " + folder + "/lock; " + kBinary + " down --data-dir " +
                      folder + " >/dev/null; rm -rf " + folder);
  EXPECT_EQ(ran.out.find_first_not_of("0123456789"), ran.out.size() - 1) << ran.out;
}

TEST(Binary, VersionIsThatOfTheProject) {
  EXPECT_EQ(run_shell(kBinary + " version").out, "trainyard 0.1.0\n");
}

// What bash offers for these words, the last of which is being typed.
std::string completed(const std::string& words) {
  return run_shell("cd " + kExamples + " && bash -c 'source <(" + kBinary +
                   " completion bash); COMP_WORDS=(trainyard " + words +
                   "); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _trainyard; echo ${COMPREPLY[@]}'")
      .out;
}

TEST(Binary, CompletionForBashKnowsWhatFollowsAnOption) {
  EXPECT_EQ(completed("explain -o \"\""), "yaml json\n");
  EXPECT_EQ(completed("get --output y"), "yaml\n");
  EXPECT_EQ(completed("status --data-dir tfjob."), "tfjob.yaml\n");
  EXPECT_EQ(completed("operator --kubeconfig tfjob."), "tfjob.yaml\n");
  EXPECT_EQ(completed("submit -f tfjob."), "tfjob.yaml\n");
  EXPECT_EQ(completed("describe -n \"\""), "\n") << "a namespace is not known here";
  EXPECT_EQ(completed("help expl"), "explain\n");
}

TEST(Binary, CompletionForBashIsAcceptedByBash) {
  Ran ran = run_shell(
      "bash -c 'source <(" + kBinary +
      " completion bash); COMP_WORDS=(trainyard co); COMP_CWORD=1; _trainyard; echo ${COMPREPLY[@]}'");
  EXPECT_EQ(ran.out, "convert completion\n");
  ran = run_shell("bash -c 'source <(" + kBinary +
                  " completion bash); COMP_WORDS=(trainyard convert --to \"\"); COMP_CWORD=3; _trainyard; "
                  "echo ${COMPREPLY[@]}'");
  EXPECT_EQ(ran.out, "tfjob t9k volcano\n");
}

}  // namespace
}  // namespace trainyard::cli_suite
