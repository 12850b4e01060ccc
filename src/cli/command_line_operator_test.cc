#include <gtest/gtest.h>

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "cli/command_line.h"

namespace trainyard::cli {
namespace {

OperatorCommand read_operator(std::vector<std::string> flags) {
  flags.insert(flags.begin(), "operator");
  Command command = read_command_line(flags);
  if (const auto* wrong = std::get_if<Misused>(&command)) ADD_FAILURE() << wrong->text;
  auto* found = std::get_if<OperatorCommand>(&command);
  return found == nullptr ? OperatorCommand{} : *found;
}

std::string complaint(std::vector<std::string> flags) {
  flags.insert(flags.begin(), "operator");
  Command command = read_command_line(flags);
  const auto* wrong = std::get_if<Misused>(&command);
  return wrong == nullptr ? "" : wrong->text.substr(0, wrong->text.find('\n'));
}

// A config file that goes with the test.
class ConfigFile {
 public:
  explicit ConfigFile(const std::string& text) {
    char name[] = "/tmp/trainyard-config-XXXXXX";
    int fd = ::mkstemp(name);
    if (fd >= 0) ::close(fd);
    path = name;
    std::ofstream(path) << text;
  }
  ~ConfigFile() {
    std::error_code ignored;
    std::filesystem::remove(path, ignored);
  }
  std::string path;
};

TEST(CommandLineOperator, Defaults) {
  OperatorCommand command = read_operator({});
  EXPECT_TRUE(command.namespaces.empty());
  EXPECT_EQ(command.dialects, (std::vector<std::string>{"tfjob", "t9k"}));
  EXPECT_TRUE(command.leader_elect);
  EXPECT_EQ(command.settings, dialect::Settings{});
  EXPECT_EQ(command.metrics_address, ":8080");
  EXPECT_EQ(command.health_address, ":8081");
}

TEST(CommandLineOperator, FlagsOfADeploymentOfTheirs) {
  OperatorCommand command = read_operator(
      {"--enable-scheme=TFJob", "--enable-scheme=pytorchjob", "--leader-elect", "--namespace=a,b",
       "--controller-threads=10", "--kube-api-qps=200", "--gang-scheduler-name=volcano",
       "--metrics-bind-address=:9090", "--health-probe-bind-address=0", "--zap-log-level=debug",
       "--zap-encoder=json", "--zap-devel=false"});
  EXPECT_EQ(command.dialects, std::vector<std::string>{"tfjob"});
  EXPECT_EQ(command.namespaces, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(command.workers, 10);
  EXPECT_EQ(command.settings.gang_scheduler, "volcano");
  EXPECT_EQ(command.metrics_address, ":9090");
  EXPECT_EQ(command.health_address, "0");
  EXPECT_EQ(command.log_level, LogLevel::kDebug);
  EXPECT_EQ(command.log_form, LogForm::kJson);
  ASSERT_EQ(command.notes.size(), 2u);
  EXPECT_EQ(command.notes[0], "--enable-scheme=pytorchjob: not run by Trainyard");
}

TEST(CommandLineOperator, FlagsOfTheirOlderOperator) {
  OperatorCommand command = read_operator(
      {"--master=https://10.0.0.1:6443", "--threadiness=4", "--json-log-format", "--zap-log-level=2"});
  EXPECT_EQ(command.server, "https://10.0.0.1:6443");
  EXPECT_EQ(command.workers, 4);
  EXPECT_EQ(command.log_level, LogLevel::kDebug);
  EXPECT_NE(complaint({"--zap-log-level=0"}), "");
  EXPECT_TRUE(std::holds_alternative<Version>(read_command_line({"operator", "--version"})));
}

// As Deployments of theirs have them, whose charts write a value that is not set as nothing.
TEST(CommandLineOperator, FlagsAsGoReadsThem) {
  OperatorCommand command =
      read_operator({"-leader-elect=false", "-enable-scheme", "tfjob",
                     "--namespace=", "--gang-scheduler-name=", "--zap-log-level=Error", "--zap-encoder=JSON",
                     "-alsologtostderr", "--logtostderr=true", "-v=1", "-n", "x"});
  EXPECT_FALSE(command.leader_elect);
  EXPECT_EQ(command.dialects, std::vector<std::string>{"tfjob"});
  EXPECT_EQ(command.namespaces, (std::vector<std::string>{"", "x"}));
  EXPECT_EQ(command.settings.gang_scheduler, "");
  EXPECT_EQ(command.log_level, LogLevel::kError);
  EXPECT_EQ(command.log_form, LogForm::kJson);
  EXPECT_EQ(command.notes, std::vector<std::string>{"--v has no effect: --log-level says how much is told"});
  EXPECT_EQ(complaint({"-leader-elekt"}), "unknown option '-leader-elekt'; did you mean '--leader-elect'?");
  EXPECT_NE(complaint({"--workers="}), "");
  ConfigFile file("gang-scheduler-name: volcano\n");
  EXPECT_EQ(read_operator({"--config", file.path, "--gang-scheduler-name="}).settings.gang_scheduler, "");
}

TEST(CommandLineOperator, GangScheduling) {
  EXPECT_EQ(read_operator({"--enable-gang-scheduling"}).settings.gang_scheduler, "volcano");
  EXPECT_EQ(
      read_operator({"--enable-gang-scheduling", "--gang-scheduler-name=kube-batch"}).settings.gang_scheduler,
      "kube-batch");
  EXPECT_EQ(read_operator({"--enable-gang-scheduling=false", "--gang-scheduler-name=volcano"})
                .settings.gang_scheduler,
            "");
  EXPECT_EQ(read_operator({"--gang-scheduler-name=none"}).settings.gang_scheduler, "");
}

TEST(CommandLineOperator, VolcanoJobsOnlyWhenAskedForTwice) {
  EXPECT_EQ(read_operator({"--own-volcano-jobs"}).dialects,
            (std::vector<std::string>{"tfjob", "t9k", "volcano"}));
  EXPECT_NE(complaint({"--enable-scheme=volcano"}).find("needs --own-volcano-jobs"), std::string::npos);
  EXPECT_EQ(complaint({"--enable-scheme=cronjob"}),
            "--enable-scheme: 'cronjob' is none of tfjob, t9k, volcano");
  EXPECT_EQ(complaint({"--enable-scheme=mpijob"}), "--enable-scheme: nothing is left to do");
}

TEST(CommandLineOperator, AConfigFileCountsForLess) {
  ConfigFile file("namespace: [a, b]\nworkers: 4\nleader-elect: false\nlog-level: warn\n");
  OperatorCommand command = read_operator({"--config", file.path, "--workers=8"});
  EXPECT_EQ(command.namespaces, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(command.workers, 8);
  EXPECT_FALSE(command.leader_elect);
  EXPECT_EQ(command.log_level, LogLevel::kWarning);
}

TEST(CommandLineOperator, AConfigFileCountsForLessInOtherWordsToo) {
  ConfigFile old("monitoring-port: 8443\njson-log-format: true\nenable-gang-scheduling: false\n");
  OperatorCommand command = read_operator({"--config", old.path, "--metrics-bind-address=:9000",
                                           "--log-format=text", "--gang-scheduler-name=volcano"});
  EXPECT_EQ(command.metrics_address, ":9000");
  EXPECT_EQ(command.log_form, LogForm::kText);
  EXPECT_EQ(command.settings.gang_scheduler, "volcano");
  command = read_operator({"--config", old.path});
  EXPECT_EQ(command.metrics_address, ":8443");
  EXPECT_EQ(command.log_form, LogForm::kJson);
  ConfigFile both("monitoring-port: 8443\nmetrics-bind-address: :9000\nenable-gang-scheduling: true\n");
  EXPECT_EQ(read_operator({"--config", both.path}).metrics_address, ":8443");
  EXPECT_EQ(read_operator({"--config", both.path, "--gang-scheduler-name=none"}).settings.gang_scheduler, "");
}

TEST(CommandLineOperator, AConfigFileMayDenyToo) {
  ConfigFile file("no-leader-elect: true\n");
  EXPECT_FALSE(read_operator({"--config", file.path}).leader_elect);
  EXPECT_TRUE(read_operator({"--config", file.path, "--leader-elect"}).leader_elect);
  ConfigFile undone("no-leader-elect: false\n");
  EXPECT_TRUE(read_operator({"--config", undone.path}).leader_elect);
}

TEST(CommandLineOperator, WhatIsWrongInAConfigFileNamesItsLine) {
  ConfigFile unknown("workers: 4\nworker: 5\n");
  EXPECT_EQ(complaint({"--config", unknown.path}),
            unknown.path + ":2: unknown name 'worker'; did you mean 'workers'?");
  ConfigFile many("\nworkers: 4000\n");
  EXPECT_TRUE(complaint({"--config", many.path}).starts_with(many.path + ":2: "));
  EXPECT_EQ(complaint({"--config", "/nowhere/at/all"}), "cannot read /nowhere/at/all");
}

}  // namespace
}  // namespace trainyard::cli
