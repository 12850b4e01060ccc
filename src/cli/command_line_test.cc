#include "cli/command_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace trainyard::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

using Words = std::vector<std::string>;

TEST(CommandLine, EachCommandIsRead) {
  EXPECT_EQ(read_command_line({"validate", "a.yaml", "b"}), Command(Validate{{"a.yaml", "b"}, {}}));
  EXPECT_EQ(read_command_line({"validate", "-"}), Command(Validate{{"-"}, {}}));
  EXPECT_EQ(read_command_line({"explain", "a"}), Command(Explain{{"a"}, OutputForm::kText, {}, {}}));
  EXPECT_EQ(read_command_line({"explain", "-o", "yaml", "a"}),
            Command(Explain{{"a"}, OutputForm::kYaml, {}, {}}));
  EXPECT_EQ(read_command_line({"explain", "a", "--output=json", "--now", "1970-01-01T00:00:05Z"}),
            Command(Explain{{"a"}, OutputForm::kJson, Time{5000}, {}}));
  EXPECT_EQ(read_command_line({"convert", "--to", "t9k", "a"}), Command(Convert{{"a"}, "t9k"}));
  EXPECT_EQ(read_command_line({"sim"}), Command(Simulate{1, 1, false, 0}));
  EXPECT_EQ(read_command_line({"sim", "--seed", "7", "--count", "9", "--threads", "2"}),
            Command(Simulate{7, 9, false, 2}));
  EXPECT_EQ(read_command_line({"sim", "--seed", "7", "--trace"}), Command(Simulate{7, 1, true, 0}));
  EXPECT_EQ(read_command_line({"completion", "fish"}), Command(Completion{"fish"}));
  EXPECT_EQ(read_command_line({"import", "--data-dir", "d", "./rootfs", "a/b:1"}),
            Command(Import{"d", "./rootfs", "a/b:1"}));
  EXPECT_EQ(read_command_line({"version"}), Command(Version{}));
  EXPECT_EQ(read_command_line({"--version"}), Command(Version{}));
}

// Who comes from kubectl types -f.
TEST(CommandLine, ManifestsMayBeNamedAsForKubectl) {
  EXPECT_EQ(read_command_line({"validate", "-f", "a.yaml"}), Command(Validate{{"a.yaml"}, {}}));
  EXPECT_EQ(read_command_line({"explain", "--filename=a"}),
            Command(Explain{{"a"}, OutputForm::kText, {}, {}}));
  EXPECT_EQ(read_command_line({"convert", "-f", "-", "--to", "t9k"}), Command(Convert{{"-"}, "t9k"}));
  EXPECT_EQ(std::get<RunJobs>(read_command_line({"run", "-f", "a", "-f", "b"})).paths, (Words{"a", "b"}));
}

TEST(CommandLine, HowPodsRunIsRead) {
  auto runtime = [](const char* word) {
    Command command = read_command_line({"run", "--runtime", word, "a"});
    return std::get<RunJobs>(command).plane.runtime;
  };
  EXPECT_EQ(runtime("auto"), RuntimeChoice::kAuto);
  EXPECT_EQ(runtime("sandbox"), RuntimeChoice::kSandbox);
  EXPECT_EQ(runtime("runc"), RuntimeChoice::kRunc);
  EXPECT_EQ(runtime("crun"), RuntimeChoice::kCrun);
  EXPECT_EQ(runtime("process"), RuntimeChoice::kProcess);
}

TEST(CommandLine, SettingsOfTheClusterAreRead) {
  Command command =
      read_command_line({"explain", "a", "--cluster-domain", "cluster.local", "--gang-scheduler-name",
                         "volcano", "--evaluator-in-cluster", "--clean-pod-policy", "All"});
  EXPECT_EQ(std::get<Explain>(command).settings,
            (dialect::Settings{"cluster.local", true, "All", "volcano"}));
}

TEST(CommandLine, VerbsAreRead) {
  auto verb = [](const Words& words) {
    Command command = read_command_line(words);
    if (auto* misused = std::get_if<Misused>(&command)) ADD_FAILURE() << words[0] << ": " << misused->text;
    auto* read = std::get_if<OnCluster>(&command);
    return read == nullptr ? Verb() : read->verb;
  };
  EXPECT_EQ(read_command_line({"get"}), Command(OnCluster{{}, GetJobs{}}));
  EXPECT_EQ(read_command_line({"get", "tfjobs", "-A", "-o", "wide", "-w", "--timeout", "5m", "-l", "a=b"}),
            Command(OnCluster{{"", "", "", "", true},
                              GetJobs{{"tfjobs"}, ListForm::kWide, true, seconds(300), "a=b"}}));
  EXPECT_EQ(read_command_line(
                {"describe", "a", "--context", "c", "--kubeconfig", "k", "-n", "x", "--data-dir", "d"}),
            Command(OnCluster{{"k", "c", "d", "x", false}, DescribeJobs{{"a"}}}));
  EXPECT_EQ(verb({"submit", "-f", "a.yaml", "-f", "b"}), Verb(Submit{{"a.yaml", "b"}, {}}));
  EXPECT_EQ(verb({"submit", "a.yaml"}), Verb(Submit{{"a.yaml"}, {}}));
  EXPECT_EQ(verb({"logs", "a", "-f", "--tail", "5", "--since", "10m", "--timestamps"}),
            Verb(ShowLogs{"a", {}, false, "", true, false, true, 5, seconds(600)}));
  EXPECT_EQ(verb({"logs", "a", "--role", "worker", "--index", "1", "-p", "-c", "x"}),
            Verb(ShowLogs{"a", {"worker", 1}, true, "x", false, true, false, {}, {}}));
  EXPECT_EQ(verb({"pause", "a", "b"}), Verb(PauseJobs{{"a", "b"}}));
  EXPECT_EQ(verb({"describe", "tfjob", "a"}), Verb(DescribeJobs{{"tfjob/a"}}));
  EXPECT_EQ(verb({"logs", "vcjob", "a"}).index(), Verb(ShowLogs{}).index());
  EXPECT_EQ(verb({"wait", "tfjob", "a"}), Verb(WaitForJob{"tfjob/a", Goal::kFinished, {}}));
  EXPECT_EQ(verb({"delete", "tj", "a", "b"}), Verb(DeleteJobs{{"tft/a", "tft/b"}, false, {}}));
  EXPECT_EQ(verb({"resume", "a"}), Verb(ResumeJobs{{"a"}}));
  EXPECT_EQ(verb({"scale", "a", "worker=4", "ps=0"}), Verb(ScaleJob{"a", {{"worker", 4}, {"ps", 0}}}));
  EXPECT_EQ(verb({"delete", "a", "--wait", "--timeout", "90s"}), Verb(DeleteJobs{{"a"}, true, seconds(90)}));
  EXPECT_EQ(verb({"wait", "a", "--for=succeeded"}), Verb(WaitForJob{"a", Goal::kSucceeded, {}}));
  for (const char* word : {"paused", "condition=Suspended", "condition=Aborted"}) {
    EXPECT_EQ(verb({"wait", "a", "--for", word}), Verb(WaitForJob{"a", Goal::kPaused, {}})) << word;
  }
  EXPECT_EQ(verb({"wait", "a", "--for=condition=Completed"}), Verb(WaitForJob{"a", Goal::kSucceeded, {}}));
  EXPECT_EQ(verb({"events"}), Verb(ShowEvents{}));
  EXPECT_EQ(verb({"top"}), Verb(TopJobs{}));
  EXPECT_EQ(verb({"events", "a"}), Verb(ShowEvents{{"a"}}));
  EXPECT_EQ(verb({"exec", "a", "--role", "ps", "-it", "--", "ls", "-l", "--all"}),
            Verb(ExecIn{"a", {"ps", {}}, "", true, true, {"ls", "-l", "--all"}}));
}

struct MisuseRow {
  Words arguments;
  std::string says;
};

TEST(CommandLine, MisuseIsToldAndNothingElse) {
  for (const MisuseRow& row : {
           MisuseRow{{}, "Usage: trainyard"},
           MisuseRow{{"expalin", "a"}, "unknown command 'expalin'; did you mean 'explain'?"},
           MisuseRow{{"valid"}, "did you mean 'validate'?"},
           MisuseRow{{"teleport"}, "unknown command 'teleport'\n"},
           MisuseRow{{"apply", "-f", "a"},
                     "unknown command 'apply'; 'trainyard submit -f FILE' creates jobs"},
           MisuseRow{{"stop", "a"}, "unknown command 'stop'; 'trainyard pause JOB' stops a job"},
           MisuseRow{{"kill", "a"}, "unknown command 'kill'; 'trainyard delete JOB' ends a job\n"},
           MisuseRow{{"port-forward", "a"}, "unknown command 'port-forward'; kubectl does it"},
           MisuseRow{{"delete", "-f", "a"}, "unknown option '-f'; jobs are deleted by name"},
           MisuseRow{{"delete", "--all"}, "unknown option '--all'; jobs are deleted by name"},
           MisuseRow{{"scale", "a", "--replicas=3"}, "unknown option '--replicas'; a role has a size"},
           MisuseRow{{"run", "-n", "team", "a"}, "unknown option '-n'; a run has a plane of its own"},
           MisuseRow{{"scale", "worker=3"}, "no job was named: trainyard scale JOB ROLE=N"},
           MisuseRow{{"install", "-n", "Team_A"}, "--namespace: 'Team_A' is no name of a namespace"},
           MisuseRow{{"install", "--image", ""}, "--image: '' is no image\n"},
           MisuseRow{{"validate"}, "PATH is required"},
           MisuseRow{{"convert", "a"}, "--to is required"},
           MisuseRow{{"convert", "--to", "pytorch", "a"}, "tfjob,t9k,volcano"},
           MisuseRow{{"explain", "-o", "xml", "a"}, "yaml,json"},
           MisuseRow{{"explain", "--now", "yesterday", "a"}, "'yesterday' is not an RFC 3339 time"},
           MisuseRow{{"sim", "--seed", "x"}, "--seed: must be a whole number from 0 on, not 'x'\n"},
           MisuseRow{{"sim", "--count", "0"}, "--count: must be a whole number from 1 on, not '0'\n"},
           MisuseRow{{"sim", "--count", "-1"}, "--count: must be a whole number from 1 on, not '-1'\n"},
           MisuseRow{{"sim", "--count", "99999999999999999999"},
                     "--count: must be a whole number from 1 on, not '99999999999999999999'\n"},
           MisuseRow{{"sim", "--seed", "-1"}, "--seed: must be a whole number from 0 on, not '-1'\n"},
           MisuseRow{{"sim", "--seed", "1.5"}, "--seed: must be a whole number from 0 on, not '1.5'\n"},
           MisuseRow{{"logs", "a", "--tail", "x"}, "--tail: must be a whole number from 0 on, not 'x'\n"},
           MisuseRow{{"sim", "--count", "2", "--trace"}, "one seed"},
           MisuseRow{{"sim", "--seed", "18446744073709551615", "--count", "2"}, "not so many seeds"},
           MisuseRow{{"completion", "tcsh"}, "bash,zsh,fish"},
           MisuseRow{{"version", "now"}, "now"},
           MisuseRow{{"logs"}, "JOB is required"},
           MisuseRow{{"logs", "a", "b"}, "'b' was not expected: logs takes one job\n"},
           MisuseRow{{"logs", "a", "--since", "soon"}, "'soon' is not a duration"},
           MisuseRow{{"wait", "a", "--for", "godot"}, "succeeded"},
           MisuseRow{{"wait", "a", "--for=condition=godot"}, "godot not in"},
           MisuseRow{{"wait", "a", "--timeout", "x"}, "--timeout: 'x' is not a duration"},
           MisuseRow{{"scale", "a", "worker"}, "'worker' is not ROLE=N"},
           MisuseRow{{"scale", "a", "worker=-1"}, "'worker=-1' is not ROLE=N"},
           MisuseRow{{"exec", "a"}, "no command was given"},
           MisuseRow{{"exec", "a", "-r", "worker-1", "ls", "x"},
                     "the command goes after --: trainyard exec a -- ls x"},
           MisuseRow{{"get", "-o", "xml"}, "wide,yaml,json,name"},
           MisuseRow{{"--colour"}, "--colour"},
           MisuseRow{{"run", "--runtme", "process", "a"},
                     "unknown option '--runtme'; did you mean '--runtime'?\n"},
           MisuseRow{{"get", "--outptu=yaml"}, "unknown option '--outptu'; did you mean '--output'?\n"},
           MisuseRow{{"get", "-x"}, "unknown option '-x'\nRun 'trainyard get --help' for help.\n"},
           MisuseRow{{"up", "now"}, "'now' was not expected\n"},
           MisuseRow{{"run", "a", "--gpus"}, "--gpus: a value is missing\n"},
           MisuseRow{{"queue"}, "a command is missing: list, describe, create, close, open, delete\n"},
           MisuseRow{
               {"queue", "lst"},
               "unknown command 'queue lst'; did you mean 'list'?\nRun 'trainyard queue --help' for help.\n"},
           MisuseRow{{"queue", "list", "--wide"},
                     "unknown option '--wide'\nRun 'trainyard queue list --help'"},
           MisuseRow{{"scale", "a"}, "no size was given: trainyard scale JOB ROLE=N"},
           MisuseRow{{"scale"}, "JOB is required"},
           MisuseRow{{"run"}, "PATH is required"},
           MisuseRow{{"help", "rn"}, "unknown command 'rn'; did you mean 'run'?"},
       }) {
    Command command = read_command_line(row.arguments);
    ASSERT_TRUE(std::holds_alternative<Misused>(command)) << row.says;
    EXPECT_THAT(std::get<Misused>(command).text, HasSubstr(row.says));
  }
}

TEST(CommandLine, HelpIsGivenWhateverElseIsMissing) {
  for (std::vector<std::string> words : std::vector<std::vector<std::string>>{
           {"scale", "job", "--help"}, {"scale", "-h", "job"}, {"wait", "--for", "--help"}}) {
    Command command = read_command_line(words);
    ASSERT_TRUE(std::holds_alternative<Help>(command)) << words[0];
    EXPECT_THAT(std::get<Help>(command).text, HasSubstr("trainyard " + words[0]));
  }
  for (const auto& [asked, same] :
       std::vector<std::pair<Words, Words>>{{{"help"}, {"--help"}},
                                            {{"help", "run"}, {"run", "--help"}},
                                            {{"help", "queue", "create"}, {"queue", "create", "--help"}}}) {
    EXPECT_EQ(read_command_line(asked), read_command_line(same));
  }
  Command nested = read_command_line({"queue", "create", "--help"});
  ASSERT_TRUE(std::holds_alternative<Help>(nested));
  EXPECT_THAT(std::get<Help>(nested).text, HasSubstr("--weight"));
}

TEST(CommandLine, EveryCommandHasHelpWithExamples) {
  EXPECT_THAT(std::get<Help>(read_command_line({"--help"})).text, HasSubstr("Examples:"));
  for (std::string_view name : command_names()) {
    Command command = read_command_line({std::string(name), "--help"});
    ASSERT_TRUE(std::holds_alternative<Help>(command)) << name;
    EXPECT_THAT(std::get<Help>(command).text, HasSubstr(std::string(name)));
    if (name != "version") {
      EXPECT_THAT(std::get<Help>(command).text,
                  AllOf(HasSubstr("Examples:"), HasSubstr("trainyard " + std::string(name))));
    }
  }
}

}  // namespace
}  // namespace trainyard::cli
