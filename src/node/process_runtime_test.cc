#include "node/process_runtime.h"

#include <signal.h>
#include <sys/wait.h>

#include "node/files.h"
#include "node/testing.h"

namespace trainyard::node {
namespace {

using testing::eventually;
using testing::shell;
using testing::TempFolder;

class ProcessRuntimeTest : public ::testing::Test {
 protected:
  ProcessRuntimeTest() { open(); }
  ~ProcessRuntimeTest() override {
    for (const std::string& uid : runtime_->pods()) EXPECT_TRUE(runtime_->destroy(uid).ok());
  }
  void open() {
    runtime_.reset();
    runtime_ = std::make_unique<ProcessRuntime>(testing::process_options(folder_.path()));
  }
  void start(const ContainerId& id, const std::string& script) {
    ASSERT_TRUE(runtime_->prepare({id.pod_uid, "ns", "pod-" + id.pod_uid}).ok());
    Result<Done> started = runtime_->start(shell(folder_.path(), id, script));
    ASSERT_TRUE(started.ok()) << started.error().message;
  }
  ContainerStatus status(const ContainerId& id) {
    for (const ContainerStatus& each : runtime_->list()) {
      if (each.id == id) return each;
    }
    ADD_FAILURE() << "not listed: " << id.container;
    return {};
  }
  bool wait_for_end(const ContainerId& id) {
    return eventually(
        [&] {
          runtime_->drain_changes();
          return status(id).phase == ContainerPhase::kExited;
        },
        runtime_->changes());
  }
  bool wait_until_runs(const ContainerId& id) {
    return eventually([&] { return status(id).phase == ContainerPhase::kRunning; }, runtime_->changes());
  }
  std::string log(const ContainerId& id) {
    std::filesystem::path file =
        folder_.path() / "logs" / id.pod_uid / id.container / (std::to_string(id.attempt) + ".log");
    Result<std::string> text = read_whole(file);
    return text.ok() ? *text : "";
  }
  bool wait_for_log(const ContainerId& id, std::string_view words) {
    return eventually([&] { return log(id).find(words) != std::string::npos; });
  }

  TempFolder folder_;
  std::unique_ptr<ProcessRuntime> runtime_;
};

TEST_F(ProcessRuntimeTest, TellsHowContainersEnd) {
  struct Case {
    std::string script;
    int exit_code;
    int signal;
  };
  const Case cases[] = {{"exit 0", 0, 0},
                        {"exit 3", 3, 0},
                        {"kill -9 $$", 137, 9},
                        {"kill -TERM $$", 143, 15},
                        {"kill -SEGV $$", 139, 11},
                        {"exit 255", 255, 0},
                        {"/no/such/command", 127, 0}};
  int n = 0;
  for (const Case& each : cases) {
    ContainerId id{"pod", "c" + std::to_string(n++), 0};
    start(id, each.script);
    ASSERT_TRUE(wait_for_end(id)) << each.script;
    EXPECT_EQ(status(id).exit_code, each.exit_code) << each.script;
    EXPECT_EQ(status(id).signal, each.signal) << each.script;
    EXPECT_GE(status(id).finished, status(id).started) << each.script;
  }
}

TEST_F(ProcessRuntimeTest, SaysWhyACommandCannotRun) {
  ASSERT_TRUE(runtime_->prepare({"pod", "ns", "pod"}).ok());
  struct Case {
    std::string command;
    int exit_code;
    std::string words;
  };
  int n = 0;
  for (const Case& each : {Case{"no-such-command", 127, "executable file not found in $PATH"},
                           Case{"/etc/passwd", 126, "exec: \"/etc/passwd\": Permission denied"},
                           Case{"/no/such", 127, "exec: \"/no/such\": No such file"}}) {
    ContainerPlan plan = shell(folder_.path(), {"pod", "c" + std::to_string(n++), 0}, "");
    plan.argv = {each.command};
    ASSERT_TRUE(runtime_->start(plan).ok());
    ASSERT_TRUE(wait_for_end(plan.id));
    EXPECT_EQ(status(plan.id).exit_code, each.exit_code);
    EXPECT_NE(status(plan.id).message.find(each.words), std::string::npos) << status(plan.id).message;
  }
}

TEST_F(ProcessRuntimeTest, KeepsBothStreamsInTheLog) {
  ContainerId id{"pod", "main", 0};
  start(id, "echo one; echo two >&2; printf three");
  ASSERT_TRUE(wait_for_end(id));
  EXPECT_NE(log(id).find(" stdout F one\n"), std::string::npos) << log(id);
  EXPECT_NE(log(id).find(" stderr F two\n"), std::string::npos) << log(id);
  EXPECT_NE(log(id).find(" stdout P three\n"), std::string::npos) << log(id);
}

TEST_F(ProcessRuntimeTest, ANewLifeAdoptsWhatRunsAndLearnsHowItEnded) {
  ContainerId runs{"pod", "runs", 0};
  ContainerId ends{"pod", "ends", 0};
  start(runs, "echo up; read line < fifo; exit 7");
  start(ends, "exit 5");
  ASSERT_TRUE(wait_for_log(runs, "up"));
  open();
  ASSERT_TRUE(wait_for_end(ends));
  EXPECT_EQ(status(ends).exit_code, 5);
  start(runs, "exit 1");  // found running: not started again
  ASSERT_TRUE(runtime_->signal(runs, SIGTERM).ok() || wait_for_end(runs));
  ASSERT_TRUE(wait_for_end(runs));
  EXPECT_NE(status(runs).exit_code, 1);
}

// The node's process is killed, as by kill -9 of the plane.
TEST_F(ProcessRuntimeTest, AKilledNodeLosesNoExitCode) {
  ContainerId id{"pod", "main", 0};
  std::string gate = folder_.path() / "gate";
  std::string script = "echo up $PPID; while [ ! -e " + gate + " ]; do sleep 0.02; done; exit 9";
  pid_t other = ::fork();
  if (other == 0) {
    ProcessRuntime runtime(testing::process_options(folder_.path()));
    bool well =
        runtime.prepare({"pod", "ns", "pod"}).ok() && runtime.start(shell(folder_.path(), id, script)).ok();
    for (;;) ::poll(nullptr, 0, well ? 1000 : 0);
  }
  ASSERT_TRUE(wait_for_log(id, "up "));
  ASSERT_EQ(::kill(other, SIGKILL), 0);
  ASSERT_EQ(::waitpid(other, nullptr, 0), other);
  open();
  EXPECT_EQ(status(id).phase, ContainerPhase::kRunning);
  ASSERT_TRUE(write_whole(gate, "").ok());
  ASSERT_TRUE(wait_for_end(id));
  EXPECT_EQ(status(id).exit_code, 9);
}

TEST_F(ProcessRuntimeTest, NothingOutlivesAContainer) {
  ContainerId id{"pod", "main", 0};
  // A grandchild in a session of its own that ignores SIGTERM and holds no stream.
  start(id, "setsid sh -c 'trap \"\" TERM; echo child $$; exec sleep 1000' & sleep 1000");
  ASSERT_TRUE(wait_for_log(id, "child "));
  std::string text = log(id);
  pid_t child = static_cast<pid_t>(std::stol(text.substr(text.find("child ") + 6)));
  ASSERT_EQ(::kill(child, 0), 0);
  ASSERT_TRUE(runtime_->signal(id, SIGTERM).ok());
  ASSERT_TRUE(wait_for_end(id));
  EXPECT_EQ(status(id).exit_code, 143);
  EXPECT_EQ(::kill(child, 0), -1);
}

// That its streams are at their end says nothing about the process.
TEST_F(ProcessRuntimeTest, WhoClosesItsStreamsStillRuns) {
  ContainerId id{"pod", "main", 0};
  std::string gate = folder_.path() / "gate";
  start(id, "echo up; exec >&- 2>&- <&-; while [ ! -e " + gate + " ]; do sleep 0.02; done; exit 6");
  ASSERT_TRUE(wait_for_log(id, "up"));
  ::poll(nullptr, 0, 200);
  EXPECT_EQ(status(id).phase, ContainerPhase::kRunning);
  ASSERT_TRUE(write_whole(gate, "").ok());
  ASSERT_TRUE(wait_for_end(id));
  EXPECT_EQ(status(id).exit_code, 6);
}

TEST_F(ProcessRuntimeTest, AShimThatIsKilledTakesItsContainerAlong) {
  ContainerId id{"pod", "main", 0};
  start(id, "echo pid $$ $PPID; exec sleep 1000");
  ASSERT_TRUE(wait_for_log(id, "pid "));
  std::string text = log(id).substr(log(id).find("pid ") + 4);
  pid_t child = static_cast<pid_t>(std::stol(text));
  pid_t shim = static_cast<pid_t>(std::stol(text.substr(text.find(' '))));
  ASSERT_EQ(::kill(shim, SIGKILL), 0);
  ASSERT_TRUE(wait_for_end(id));
  EXPECT_EQ(status(id).exit_code, 137);
  EXPECT_NE(status(id).message, "");
  EXPECT_TRUE(eventually([&] { return ::kill(child, 0) != 0; }));
}

TEST_F(ProcessRuntimeTest, RunsCommandsBesideAContainer) {
  ContainerId id{"pod", "main", 0};
  start(id, "sleep 1000");
  ASSERT_TRUE(wait_until_runs(id));
  Result<std::unique_ptr<ExecProcess>> exec =
      runtime_->exec(id, {{"/bin/sh", "-c", "read a; echo got $a; exit 4"}, true, false});
  ASSERT_TRUE(exec.ok()) << exec.error().message;
  ASSERT_EQ(::write(exec.value()->in.get(), "it\n", 3), 3);
  ASSERT_TRUE(eventually([&] { return exec.value()->exit_code().has_value(); }));
  EXPECT_EQ(exec.value()->exit_code(), 4);
  char buffer[64];
  ssize_t n = ::read(exec.value()->out.get(), buffer, sizeof buffer);
  ASSERT_GT(n, 0);
  EXPECT_EQ(std::string(buffer, n), "got it\n");
}

TEST_F(ProcessRuntimeTest, ATerminalHasASize) {
  ContainerId id{"pod", "main", 0};
  start(id, "sleep 1000");
  ASSERT_TRUE(wait_until_runs(id));
  Result<std::unique_ptr<ExecProcess>> exec =
      runtime_->exec(id, {{"/bin/sh", "-c", "test -t 0 && read a; stty size; echo $TERM"}, true, true});
  ASSERT_TRUE(exec.ok()) << exec.error().message;
  Fd in = std::move(exec.value()->in);
  Fd out = std::move(exec.value()->out);
  EXPECT_FALSE(exec.value()->err.valid());
  exec.value()->resize(123, 45);
  ASSERT_EQ(::write(in.get(), "\n", 1), 1);
  std::string text;
  EXPECT_TRUE(eventually([&] {
    char buffer[256];
    ssize_t n = ::read(out.get(), buffer, sizeof buffer);
    if (n > 0) text.append(buffer, static_cast<size_t>(n));
    return text.find("45 123\r\nxterm") != std::string::npos;
  })) << text;
}

TEST_F(ProcessRuntimeTest, AttachesToAContainersStreams) {
  ContainerId id{"pod", "main", 0};
  ContainerPlan plan = shell(folder_.path(), id, "echo begun; read a; echo got $a; exit 6");
  plan.stdin_open = true;
  ASSERT_TRUE(runtime_->prepare({"pod", "ns", "pod"}).ok());
  ASSERT_TRUE(runtime_->start(plan).ok());
  ASSERT_TRUE(wait_for_log(id, "begun"));
  Result<std::unique_ptr<ExecProcess>> attached = runtime_->exec(id, {{}, true, false});
  ASSERT_TRUE(attached.ok()) << attached.error().message;
  ASSERT_EQ(::write(attached.value()->in.get(), "it\n", 3), 3);
  ASSERT_TRUE(eventually([&] { return attached.value()->exit_code().has_value(); }));
  EXPECT_EQ(attached.value()->exit_code(), 6);
  char buffer[64];
  ssize_t n = ::read(attached.value()->out.get(), buffer, sizeof buffer);
  ASSERT_GT(n, 0);
  EXPECT_EQ(std::string(buffer, n), "got it\n");
}

TEST_F(ProcessRuntimeTest, GivesReplicasPortsOfTheirOwn) {
  const std::string cluster = R"("cluster":{"worker":["w0.ns.svc:2222","w1.ns.svc:2222"]})";
  for (int i : {0, 1}) {
    std::string uid = "pod" + std::to_string(i);
    ASSERT_TRUE(runtime_->prepare({uid, "ns", uid}).ok());
    ContainerPlan plan = shell(folder_.path(), {uid, "main", 0}, "echo \"$TF_CONFIG\"");
    plan.env = {{"TF_CONFIG", fmt::format(R"({{{},"task":{{"type":"worker","index":{}}}}})", cluster, i)}};
    ASSERT_TRUE(runtime_->start(plan).ok());
    ASSERT_TRUE(wait_for_end(plan.id));
  }
  auto cluster_of = [&](const std::string& uid) {
    std::string text = log({uid, "main", 0});
    size_t at = text.find("\"cluster\"");
    return text.substr(at, text.find('}') - at);
  };
  EXPECT_EQ(cluster_of("pod0"), cluster_of("pod1"));
  EXPECT_EQ(cluster_of("pod0").find("2222"), std::string::npos) << cluster_of("pod0");
  EXPECT_NE(cluster_of("pod0").find("127.0.0.1:2"), std::string::npos) << cluster_of("pod0");
}

TEST_F(ProcessRuntimeTest, FiftyPodsAtOnce) {
  for (int i = 0; i < 50; ++i) start({"pod" + std::to_string(i), "main", 0}, "exit " + std::to_string(i));
  for (int i = 0; i < 50; ++i) {
    ContainerId id{"pod" + std::to_string(i), "main", 0};
    ASSERT_TRUE(wait_for_end(id));
    EXPECT_EQ(status(id).exit_code, i);
  }
  for (int i = 0; i < 50; ++i) EXPECT_TRUE(runtime_->destroy("pod" + std::to_string(i)).ok());
  EXPECT_TRUE(runtime_->list().empty());
  // No process is left, not even a dead one.
  EXPECT_TRUE(eventually([&] {
    siginfo_t info{};
    return runtime_->list().empty() && ::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == -1;
  }));
}

TEST_F(ProcessRuntimeTest, SaysWhatItCannotHonour) {
  ContainerPlan plan = shell(folder_.path(), {"pod", "main", 0}, "");
  EXPECT_TRUE(runtime_->cannot_honour({}, {plan}).empty());
  plan.mounts = {{"/data/volumes/x", "/mnt/x"}, {"/etc", "/etc"}};
  plan.limits.memory_bytes = 1;
  std::vector<std::string> words = runtime_->cannot_honour({}, {plan});
  ASSERT_EQ(words.size(), 2u);
  EXPECT_EQ(words[0],
            "container main: nothing is mounted at /mnt/x; paths there are rewritten in its command and "
            "environment to where the volume's files are");
  EXPECT_EQ(words[1], "container main: the memory limit is not enforced");
}

TEST_F(ProcessRuntimeTest, SaysThatPrivilegesAreThisUsers) {
  ContainerPlan plan = shell(folder_.path(), {"pod", "main", 0}, "");
  plan.capabilities.dropped = {"ALL"};
  plan.no_new_privileges = true;
  plan.non_root = true;
  std::vector<std::string> words = runtime_->cannot_honour({}, {plan});
  ASSERT_EQ(words.size(), ::geteuid() == 0 ? 2u : 1u);
  EXPECT_EQ(words[0], "container main: it has the privileges and capabilities of this user");
  EXPECT_NE(words.back().find(::geteuid() == 0 ? "although runAsNonRoot is set" : "privileges"),
            std::string::npos);
}

TEST_F(ProcessRuntimeTest, SaysWhatBecomesOfMemoryVolumes) {
  ContainerPlan plan = shell(folder_.path(), {"pod", "main", 0}, "");
  plan.mounts = {{"/x/shm", "/dev/shm", false, 1, true}, {"/x/cache", "/cache", false, 1, true}};
  std::vector<std::string> words = runtime_->cannot_honour({}, {plan});
  ASSERT_EQ(words.size(), 2u);
  EXPECT_EQ(words[0], "container main: /dev/shm is the machine's own, without the volume's size limit");
  EXPECT_NE(words[1].find("on disk and without its size limit"), std::string::npos) << words[1];
}

TEST_F(ProcessRuntimeTest, SaysThatNamesOfVolcanoTasksDoNotResolve) {
  ContainerPlan plan = shell(folder_.path(), {"pod", "main", 0}, "");
  plan.mounts = {{"/x/svc", "/etc/volcano"}};
  std::vector<std::string> words = runtime_->cannot_honour({}, {plan, plan});
  ASSERT_EQ(words.size(), 2u);
  EXPECT_EQ(words[1],
            "host names from /etc/volcano do not resolve, and tasks share the machine's ports: tasks that "
            "find each other by them need sandboxes");
}

TEST_F(ProcessRuntimeTest, AWorkingFolderThatIsNotThereIsReplaced) {
  ContainerPlan plan = shell(folder_.path(), {"pod", "main", 0}, "pwd");
  plan.working_dir = "/opt/no/such/folder";
  std::vector<std::string> words = runtime_->cannot_honour({}, {plan});
  ASSERT_EQ(words.size(), 1u);
  EXPECT_EQ(words[0],
            "container main: /opt/no/such/folder is not on this machine; it starts in a folder of its own");
  ASSERT_TRUE(runtime_->prepare({"pod", "ns", "pod"}).ok());
  ASSERT_TRUE(runtime_->start(plan).ok());
  ASSERT_TRUE(wait_for_end(plan.id));
  EXPECT_EQ(status(plan.id).exit_code, 0);
  EXPECT_TRUE(wait_for_log(plan.id, (folder_.path() / "pods/pod/").native())) << log(plan.id);

  // In a volume it is made, as everywhere.
  plan.id.attempt = 1;
  plan.log_file.replace_filename("1.log");
  plan.mounts = {{folder_.path() / "volume", "/opt/no"}};
  ASSERT_TRUE(runtime_->start(plan).ok());
  ASSERT_TRUE(wait_for_end(plan.id));
  EXPECT_TRUE(wait_for_log(plan.id, (folder_.path() / "volume/such/folder").native())) << log(plan.id);
}

TEST_F(ProcessRuntimeTest, TellsWhatAContainerUses) {
  ContainerId id{"pod", "main", 0};
  start(id, "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; echo done; sleep 1000");
  ASSERT_TRUE(wait_for_log(id, "done"));
  std::optional<Usage> usage = runtime_->usage(id);
  ASSERT_TRUE(usage);
  EXPECT_GT(usage->memory_bytes, 0);
  EXPECT_LT(usage->memory_bytes, int64_t{1} << 30);
  EXPECT_GE(usage->cpu_nanos_total, 0);
  EXPECT_LT(usage->cpu_nanos_total, int64_t{60} * 1'000'000'000);
}

// Seen as running only once its process is there; the node is woken for it.
TEST_F(ProcessRuntimeTest, RunsOnceItsProcessDoes) {
  ContainerId id{"pod", "main", 0};
  start(id, "sleep 1000");
  while (status(id).phase == ContainerPhase::kStarting) {
    pollfd wait{runtime_->changes(), POLLIN, 0};
    ASSERT_EQ(::poll(&wait, 1, testing::kPatienceMs), 1);
  }
  EXPECT_EQ(status(id).phase, ContainerPhase::kRunning);
  EXPECT_TRUE(runtime_->usage(id));
  // And not for ever.
  EXPECT_TRUE(eventually([&] {
    pollfd quiet{runtime_->changes(), POLLIN, 0};
    return runtime_->list().size() == 1 && ::poll(&quiet, 1, 0) == 0;
  }));
}

}  // namespace
}  // namespace trainyard::node
