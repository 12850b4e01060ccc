// Real sandboxes on this machine: needs root. Where the kernel forbids what they are made
// of, each test is skipped and says what is forbidden; a missing program is a failure.
#include "node/sandbox_runtime.h"

#include <fcntl.h>
#include <net/if.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/socket.h>

#include <fstream>

#include "node/files.h"
#include "node/sandbox_mounts.h"
#include "node/sandbox_support.h"
#include "node/sandbox_tool.h"
#include "node/testing.h"

namespace trainyard::node {
namespace {

namespace fs = std::filesystem;
using testing::eventually;
using testing::shell;
using testing::TempFolder;
using testing::text_of;

// Everything that a plane with this data folder has on this machine outside of the folder.
std::vector<std::string> traces(const fs::path& data_dir, const Cgroups& cgroups) {
  std::vector<std::string> found;
  std::ifstream mounts("/proc/self/mountinfo");
  for (std::string line; std::getline(mounts, line);) {
    if (line.find(data_dir.string()) != std::string::npos) found.push_back("mount " + line);
  }
  struct if_nameindex* all = ::if_nameindex();
  for (struct if_nameindex* one = all; one->if_index != 0; ++one) {
    if (std::string(one->if_name).find(plane_id(data_dir)) != std::string::npos) {
      found.push_back(std::string("device ") + one->if_name);
    }
  }
  ::if_freenameindex(all);
  if (cgroups.exists("/trainyard/" + plane_id(data_dir))) found.push_back("control group");
  for (const fs::directory_entry& entry : fs::directory_iterator("/proc")) {
    std::string command = text_of(entry.path() / "cmdline");
    if (command.find(data_dir.string()) != std::string::npos) found.push_back("process " + command);
  }
  return found;
}

class SandboxTest : public ::testing::Test {
 protected:
  void SetUp() override {
    Result<SandboxSupport> support = sandbox_support(folder_.path(), testing::wanted_oci_runtime());
    if (!support.ok() && support.error().kind == ErrorKind::kForbidden) {
      GTEST_SKIP() << "no sandboxes on this machine: " << support.error().message;
    }
    ASSERT_TRUE(support.ok()) << support.error().message;
    support_ = *support;
    open();
  }
  void TearDown() override {
    if (!runtime_) return;
    for (const std::string& uid : runtime_->pods()) {
      Result<Done> gone = runtime_->destroy(uid);
      EXPECT_TRUE(gone.ok()) << gone.error().message;
    }
    runtime_.reset();
    // A shim writes its last words and leaves; it is not waited for by destroy().
    Cgroups cgroups(support_.cgroups);
    EXPECT_TRUE(eventually([&] { return traces(folder_.path(), cgroups).empty(); }))
        << ::testing::PrintToString(traces(folder_.path(), cgroups));
    EXPECT_TRUE(fs::is_empty(folder_.path() / "sandbox" / "pods"));
    EXPECT_TRUE(fs::is_empty(folder_.path() / "sandbox" / "network" / "addresses"));
    EXPECT_TRUE(fs::is_empty(folder_.path() / "sandbox" / support_.runtime.filename()));
  }
  void open(bool outside = false) {
    runtime_.reset();
    SandboxOptions options;
    options.outside = outside;
    options.data_dir = folder_.path();
    options.shim_argv = {TRAINYARD_TEST_SHIM};
    options.support = support_;
    options.gpus = find_gpus(2);
    Result<std::unique_ptr<SandboxRuntime>> opened = SandboxRuntime::open(std::move(options));
    ASSERT_TRUE(opened.ok()) << opened.error().message;
    runtime_ = std::move(opened).value();
  }

  std::string prepare(const std::string& uid, bool host_network = false) {
    Result<std::string> ip = runtime_->prepare({uid, "ns", "pod-" + uid, "pod-" + uid, host_network, {}});
    EXPECT_TRUE(ip.ok()) << (ip.ok() ? "" : ip.error().message);
    return ip.ok() ? *ip : "";
  }
  ContainerPlan plan(const ContainerId& id, const std::string& script) {
    return shell(folder_.path(), id, script);
  }
  void start(const ContainerPlan& of) {
    prepare(of.id.pod_uid);
    Result<Done> started = runtime_->start(of);
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
  std::string log(const ContainerId& id) {
    return text_of(folder_.path() / "logs" / id.pod_uid / id.container /
                   (std::to_string(id.attempt) + ".log"));
  }
  bool wait_for_log(const ContainerId& id, std::string_view words) {
    bool seen = eventually([&] { return log(id).find(words) != std::string::npos; });
    if (!seen) ADD_FAILURE() << "log of " << id.container << " is: " << log(id);
    // It may speak a moment before the runtime's tool has left.
    return seen && eventually([&] { return status(id).phase != ContainerPhase::kStarting; });
  }
  // Runs it to its end and gives back what it said.
  std::string said(const ContainerPlan& of) {
    start(of);
    EXPECT_TRUE(wait_for_end(of.id));
    return log(of.id);
  }

  TempFolder folder_;
  SandboxSupport support_;
  std::unique_ptr<SandboxRuntime> runtime_;
};

#define EXPECT_SAID(text, words) EXPECT_NE((text).find(words), std::string::npos) << (text)
#define EXPECT_NOT_SAID(text, words) EXPECT_EQ((text).find(words), std::string::npos) << (text)

TEST_F(SandboxTest, TellsHowContainersEnd) {
  struct Case {
    std::vector<std::string> argv;
    int exit_code;
    int signal;
  };
  const Case cases[] = {{{"/bin/sh", "-c", "exit 0"}, 0, 0},
                        {{"/bin/sh", "-c", "exit 42"}, 42, 0},
                        {{"/no/such/command"}, 127, 0},
                        {{"no-such-command"}, 127, 0},
                        {{"/etc/passwd"}, 126, 0}};
  int n = 0;
  for (const Case& each : cases) {
    ContainerPlan of = plan({"p1", "c" + std::to_string(n++), 0}, "");
    of.argv = each.argv;
    start(of);
    ASSERT_TRUE(wait_for_end(of.id));
    ContainerStatus end = status(of.id);
    EXPECT_EQ(end.exit_code, each.exit_code) << end.message;
    EXPECT_EQ(end.signal, each.signal);
    EXPECT_FALSE(end.oom_killed);
    EXPECT_EQ(end.message.empty(), each.exit_code != 127 && each.exit_code != 126) << end.message;
  }
}

TEST_F(SandboxTest, SignalsReachTheFirstProcess) {
  ContainerPlan of =
      plan({"p1", "c", 0}, "trap 'echo bye; exit 7' TERM; echo ready; while :; do sleep 0.05; done");
  start(of);
  ASSERT_TRUE(wait_for_log(of.id, "ready"));
  ASSERT_TRUE(runtime_->signal(of.id, SIGTERM).ok());
  ASSERT_TRUE(wait_for_end(of.id));
  EXPECT_EQ(status(of.id).exit_code, 7);

  ContainerPlan deaf = plan({"p1", "deaf", 0}, "trap '' TERM; echo ready; sleep 1000");
  start(deaf);
  ASSERT_TRUE(wait_for_log(deaf.id, "ready"));
  ASSERT_TRUE(runtime_->signal(deaf.id, SIGTERM).ok());
  EXPECT_EQ(status(deaf.id).phase, ContainerPhase::kRunning);
  ASSERT_TRUE(runtime_->signal(deaf.id, SIGKILL).ok());
  ASSERT_TRUE(wait_for_end(deaf.id));
  EXPECT_EQ(status(deaf.id).exit_code, 137);
  EXPECT_EQ(status(deaf.id).signal, 9);
  EXPECT_FALSE(status(deaf.id).oom_killed);
}

// A trainer that is told to stop still has the processes that feed it.
TEST_F(SandboxTest, SignalsReachNobodyElse) {
  ContainerPlan of = plan({"p1", "c", 0},
                          "sh -c \"trap 'echo child told' TERM; echo ready; while :; do sleep 0.05; done\" & "
                          "trap 'sleep 0.3; echo bye; exit 7' TERM; while :; do sleep 0.05; done");
  start(of);
  ASSERT_TRUE(wait_for_log(of.id, "ready"));
  ASSERT_TRUE(runtime_->signal(of.id, SIGTERM).ok());
  ASSERT_TRUE(wait_for_end(of.id));
  EXPECT_EQ(status(of.id).exit_code, 7);
  EXPECT_SAID(log(of.id), "bye");
  EXPECT_NOT_SAID(log(of.id), "child told");
}

TEST_F(SandboxTest, HasItsOwnNamespaces) {
  std::string text =
      said(plan({"p1", "c", 0}, "echo pid $$; hostname; ls /sys/class/net; id -u; echo $HOSTNAME"));
  EXPECT_SAID(text, "pid 1\n");
  EXPECT_SAID(text, "pod-p1");
  EXPECT_SAID(text, "eth0");
  EXPECT_NOT_SAID(text, support_.cgroups.memory.string());
}

TEST_F(SandboxTest, NamesInTheHostsFileResolve) {
  ContainerPlan of =
      plan({"p1", "c", 0}, "while ! getent hosts peer-0.ns; do sleep 0.02; done; getent hosts pod-p1");
  std::string ip = prepare("p1");
  start(of);
  ASSERT_TRUE(runtime_->set_hosts("p1", {{"peer-0.ns", "10.9.8.7"}, {"peer-1.ns", "10.9.8.6"}}).ok());
  ASSERT_TRUE(wait_for_end(of.id));
  EXPECT_SAID(log(of.id), "10.9.8.7");
  EXPECT_SAID(log(of.id), ip);
  EXPECT_TRUE(runtime_->set_hosts("p1", {}).ok());
  EXPECT_NOT_SAID(said(plan({"p1", "d", 0}, "cat /etc/hosts")), "peer-1.ns");
}

constexpr const char* kServe =
    "import socket\n"
    "s = socket.socket(); s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)\n"
    "s.bind(('0.0.0.0', 2222)); s.listen(); print('listening', flush=True)\n"
    "while True:\n"
    "  c, a = s.accept(); c.sendall(('I am ' + socket.gethostname() + ' for ' + a[0]).encode()); c.close()\n";

TEST_F(SandboxTest, TwoPodsTalkOnTheSamePort) {
  std::string first = prepare("p1");
  std::string second = prepare("p2");
  EXPECT_NE(first, second);
  for (const char* uid : {"p1", "p2"}) {
    ContainerPlan server = plan({uid, "server", 0}, "");
    server.argv = {"python3", "-c", kServe};
    start(server);
    ASSERT_TRUE(wait_for_log(server.id, "listening"));
  }
  ASSERT_TRUE(runtime_->set_hosts("p1", {{"other", second}}).ok());
  ContainerPlan client = plan({"p1", "client", 0}, "");
  client.argv = {"python3", "-c",
                 "import socket\nfor host in ('other', 'localhost'):\n"
                 "  print(socket.create_connection((host, 2222), 10).recv(100).decode())\n"};
  std::string text = said(client);
  EXPECT_SAID(text, "I am pod-p2 for " + first);
  EXPECT_SAID(text, "I am pod-p1 for 127.0.0.1");

  // The node reaches the port from outside, as a port-forward does.
  Result<Fd> connection = runtime_->connect("p2", 2222);
  ASSERT_TRUE(connection.ok()) << connection.error().message;
  std::string answer;
  EXPECT_TRUE(eventually([&] {
    std::array<char, 100> buffer;
    ssize_t n = ::read(connection.value().get(), buffer.data(), buffer.size());
    if (n > 0) answer.append(buffer.data(), static_cast<size_t>(n));
    return n == 0;
  }));
  EXPECT_EQ(answer, "I am pod-p2 for 127.0.0.1");
  EXPECT_FALSE(runtime_->connect("p2", 2223).ok());
}

TEST_F(SandboxTest, HostNetworkIsTheHosts) {
  prepare("p1", true);
  ContainerPlan of = plan({"p1", "c", 0}, "readlink /proc/self/ns/net");
  start(of);
  ASSERT_TRUE(wait_for_end(of.id));
  EXPECT_SAID(log(of.id), fs::read_symlink("/proc/self/ns/net").string());
}

TEST_F(SandboxTest, TheOutsideIsOpenedAndClosed) {
  auto rules = [] { return run_tool({"iptables", "-w", "-t", "nat", "-S", "POSTROUTING"}).out; };
  std::string before = rules();
  EXPECT_NOT_SAID(before, plane_id(folder_.path()));
  open(true);
  EXPECT_SAID(rules(), "trainyard " + plane_id(folder_.path()));
  open(true);  // the next life finds the rule there
  open();
  EXPECT_EQ(rules(), before);
}

TEST_F(SandboxTest, MemoryLimitKillsAndIsTold) {
  ContainerPlan of = plan({"p1", "c", 0}, "");
  of.argv = {"python3", "-c", "x = bytearray(200 << 20); print(len(x))"};
  of.limits.memory_bytes = 64 << 20;
  start(of);
  ASSERT_TRUE(wait_for_end(of.id));
  ContainerStatus end = status(of.id);
  EXPECT_EQ(end.exit_code, 137);
  EXPECT_TRUE(end.oom_killed);
  // The next life of the node still knows.
  open();
  EXPECT_TRUE(status(of.id).oom_killed);
}

TEST_F(SandboxTest, MemoryVolumesHaveTheirSize) {
  ContainerPlan of = plan({"p1", "c", 0},
                          "df -k /dev/shm /cache | awk '{print $2}'; "
                          "dd if=/dev/zero of=/dev/shm/x bs=1M count=12 2>&1 || echo refused");
  of.mounts = {{folder_.path() / "pods/p1/volumes/cache", "/cache", false, 4 << 20, true},
               {"", "/dev/shm", false, 8 << 20, true}};
  std::string text = said(of);
  EXPECT_SAID(text, " 8192\n");
  EXPECT_SAID(text, " 4096\n");
  EXPECT_SAID(text, "refused");

  ContainerPlan plain = plan({"p1", "d", 0}, "df -k /dev/shm | awk '{print $2}'");
  EXPECT_SAID(said(plain), " 65536\n");
}

TEST_F(SandboxTest, MemoryVolumesAreSharedInThePod) {
  Mount cache{folder_.path() / "pods/p1/volumes/cache", "/cache", false, 4 << 20, true};
  ContainerPlan writer = plan({"p1", "writer", 0}, "echo words > /cache/file; echo shm > /dev/shm/file");
  writer.mounts = {cache};
  said(writer);
  ContainerPlan reader = plan({"p1", "reader", 0}, "cat /cache/file /dev/shm/file");
  reader.mounts = {cache};
  std::string text = said(reader);
  EXPECT_SAID(text, "words");
  EXPECT_SAID(text, "shm");
}

TEST_F(SandboxTest, PartsOfAMemoryVolumeLieInIt) {
  Mount all{folder_.path() / "pods/p1/volumes/cache", "/all", false, 4 << 20, true};
  Mount part = all;
  part.target = "/part";
  part.memory_folder = "a/b";
  ContainerPlan of =
      plan({"p1", "c", 0},
           "echo words > /part/file; cat /all/a/b/file; df -k /part | awk '{print $2}'; stat -c %a /part");
  of.mounts = {all, part};
  std::string text = said(of);
  EXPECT_SAID(text, "words");
  EXPECT_SAID(text, " 4096\n");
  EXPECT_SAID(text, " 1777\n");
}

TEST_F(SandboxTest, MountsAreReadOnlyWhenAsked) {
  fs::create_directories(folder_.path() / "volume");
  std::ofstream(folder_.path() / "volume" / "file") << "hello";
  ContainerPlan of =
      plan({"p1", "c", 0}, "cat /ro/file; echo x > /ro/new || echo refused; echo mine > /rw/new");
  of.mounts = {{folder_.path() / "volume", "/ro", true, std::nullopt, false},
               {folder_.path() / "volume", "/rw", false, std::nullopt, false}};
  std::string text = said(of);
  EXPECT_SAID(text, "hello");
  EXPECT_SAID(text, "refused");
  EXPECT_EQ(text_of(folder_.path() / "volume" / "new"), "mine\n");
}

TEST_F(SandboxTest, TheHostsRootIsWritableWithoutTouchingTheHost) {
  std::string name = "trainyard-test-" + plane_id(folder_.path());
  std::string text = said(plan({"p1", "c", 0}, "echo x > /etc/" + name + " && rm /etc/passwd && cat /etc/" +
                                                   name + "; ls -A " + folder_.path().string() + " | wc -l"));
  EXPECT_SAID(text, " x\n");
  EXPECT_SAID(text, " 0\n");  // our own data is not shown
  EXPECT_FALSE(fs::exists("/etc/" + name));
  EXPECT_TRUE(fs::exists("/etc/passwd"));

  ContainerPlan fixed = plan({"p1", "d", 0}, "echo x > /etc/" + name + " || echo refused");
  fixed.read_only_root = true;
  EXPECT_SAID(said(fixed), "refused");
}

TEST_F(SandboxTest, RunsAsTheUserAskedFor) {
  ContainerPlan of =
      plan({"p1", "c", 0}, "id -u; id -g; grep CapEff /proc/self/status; pwd; cat /etc/shadow");
  of.run_as_user = 65534;
  of.run_as_group = 65534;
  of.working_dir = "/usr/share";
  std::string text = said(of);
  EXPECT_SAID(text, " 65534\n");
  EXPECT_SAID(text, "0000000000000000");
  EXPECT_SAID(text, "/usr/share");
  EXPECT_SAID(text, "Permission denied");
}

TEST_F(SandboxTest, LimitsAndUsageAreRead) {
  ContainerPlan of =
      plan({"p1", "c", 0}, "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done; echo done; sleep 1000");
  of.limits = {500, 128 << 20, 100};
  start(of);
  ASSERT_TRUE(wait_for_log(of.id, "done"));
  std::optional<Usage> usage = runtime_->usage(of.id);
  ASSERT_TRUE(usage);
  EXPECT_GT(usage->cpu_nanos_total, 1'000'000);
  EXPECT_GT(usage->memory_bytes, 0);
  EXPECT_LT(usage->memory_bytes, 128 << 20);
  EXPECT_EQ(runtime_->usage({"p1", "other", 0}), std::nullopt);
}

TEST_F(SandboxTest, LimitsOfWhatRunsAreChanged) {
  const bool v2 = support_.cgroups.v2;
  ContainerPlan of = plan({"p1", "c", 0}, "echo ready; sleep 1000");
  of.limits = {500, 128 << 20, 100};
  start(of);
  ASSERT_TRUE(wait_for_log(of.id, "ready"));
  EXPECT_EQ(runtime_->enforced(), (Enforced{true, true}));
  Result<Done> done = runtime_->resize(of.id, {1500, 256 << 20, 1000});
  ASSERT_TRUE(done.ok()) << done.error().message;
  const fs::path folder = support_.cgroups.memory / "trainyard" / plane_id(folder_.path()) / "podp1" / "c.0";
  EXPECT_EQ(text_of(folder / (v2 ? "memory.max" : "memory.limit_in_bytes")), "268435456\n");
  EXPECT_FALSE(runtime_->resize({"p1", "other", 0}, {100, 1 << 20, 0}).ok());
}

TEST_F(SandboxTest, ExecRunsInside) {
  ContainerPlan of = plan({"p1", "c", 0}, "echo ready; sleep 1000");
  of.env = {{"COLOUR", "blue"}};
  start(of);
  ASSERT_TRUE(wait_for_log(of.id, "ready"));
  auto run = [&](const ExecPlan& exec, const std::string& input) {
    Result<std::unique_ptr<ExecProcess>> process = runtime_->exec(of.id, exec);
    EXPECT_TRUE(process.ok());
    ExecProcess& p = *process.value();
    if (exec.in) {
      EXPECT_EQ(::write(p.in.get(), input.data(), input.size()), static_cast<ssize_t>(input.size()));
    }
    if (!exec.tty) p.in.reset();
    std::string out;
    std::optional<int> code;
    EXPECT_TRUE(eventually([&] {
      std::array<char, 1000> buffer;
      ssize_t n = 0;
      while ((n = ::read(p.out.get(), buffer.data(), buffer.size())) > 0)
        out.append(buffer.data(), static_cast<size_t>(n));
      code = p.exit_code();
      return code.has_value() && n <= 0;
    }));
    return std::pair(out, code.value_or(-1));
  };
  EXPECT_EQ(run({{"/bin/sh", "-c", "echo $COLOUR; hostname; exit 5"}}, ""),
            (std::pair<std::string, int>("blue\npod-p1\n", 5)));
  EXPECT_EQ(run({{"cat"}, true}, "words"), (std::pair<std::string, int>("words", 0)));
  auto [out, code] = run({{"/bin/sh", "-c", "test -t 0 && echo terminal $TERM; exit 3"}, true, true}, "");
  EXPECT_SAID(out, "terminal xterm");
  EXPECT_EQ(code, 3);

  // Whoever asked for it goes away: so does it.
  {
    Result<std::unique_ptr<ExecProcess>> process =
        runtime_->exec(of.id, {{"/bin/sh", "-c", "echo $$; exec sleep 4321"}});
    ASSERT_TRUE(process.ok());
    std::array<char, 100> buffer;
    ASSERT_TRUE(
        eventually([&] { return ::read(process.value()->out.get(), buffer.data(), buffer.size()) > 0; }));
  }
  EXPECT_TRUE(eventually([&] {
    return run({{"/bin/sh", "-c", "cat /proc/[0-9]*/cmdline | tr '\\0' ' '"}}, "")
               .first.find("sleep 4321 ") == std::string::npos;
  }));
}

TEST_F(SandboxTest, ExecWorksAsSoonAsItRuns) {
  for (int attempt = 0; attempt < 3; ++attempt) {
    ContainerPlan of = plan({"p1", "c", attempt}, "sleep 1000");
    start(of);
    ASSERT_TRUE(
        eventually([&] { return status(of.id).phase == ContainerPhase::kRunning; }, runtime_->changes()));
    Result<std::unique_ptr<ExecProcess>> process = runtime_->exec(of.id, {{"/bin/sh", "-c", "exit 6"}});
    ASSERT_TRUE(process.ok()) << process.error().message;
    ASSERT_TRUE(eventually([&] { return process.value()->exit_code().has_value(); }));
    EXPECT_EQ(process.value()->exit_code(), 6);
    EXPECT_TRUE(process.value()->begun().ok());
  }
}

TEST_F(SandboxTest, WhatTheRuntimeCannotBeginIsNotTheCommandsWords) {
  ContainerPlan of = plan({"p1", "c", 0}, "echo ready; sleep 1000");
  start(of);
  ASSERT_TRUE(wait_for_log(of.id, "ready"));
  ASSERT_TRUE(eventually([&] { return status(of.id).phase == ContainerPhase::kRunning; }));
  for (bool tty : {false, true}) {
    Result<std::unique_ptr<ExecProcess>> process = runtime_->exec(of.id, {{"no-such-command"}, false, tty});
    ASSERT_TRUE(process.ok());
    ASSERT_TRUE(eventually([&] { return !process.value()->begun().ok(); }));
    EXPECT_SAID(process.value()->begun().error().message, "no-such-command");
    EXPECT_FALSE(process.value()->out.valid() || process.value()->err.valid());
  }
}

TEST_F(SandboxTest, ATerminalIsATerminal) {
  ContainerPlan of = plan({"p1", "c", 0}, "test -t 1 && echo terminal; read line; echo got $line");
  of.tty = true;
  of.stdin_open = true;
  start(of);
  ASSERT_TRUE(wait_for_log(of.id, "terminal"));
  Result<std::unique_ptr<ExecProcess>> attached = runtime_->exec(of.id, {{}, true, true});
  ASSERT_TRUE(attached.ok()) << attached.error().message;
  ASSERT_EQ(::write(attached.value()->in.get(), "words\n", 6), 6);
  ASSERT_TRUE(wait_for_end(of.id));
  EXPECT_SAID(log(of.id), "got words");
}

TEST_F(SandboxTest, OutlivesTheNodeAndIsAdopted) {
  ContainerPlan of =
      plan({"p1", "c", 0}, "echo ready; while [ ! -e /dev/shm/go ]; do sleep 0.02; done; exit 9");
  start(of);
  ASSERT_TRUE(wait_for_log(of.id, "ready"));
  std::string ip = prepare("p1");
  open();
  EXPECT_EQ(runtime_->pods(), (std::vector<std::string>{"p1"}));
  EXPECT_EQ(prepare("p1"), ip);
  ASSERT_TRUE(runtime_->start(of).ok());  // not doubled
  EXPECT_EQ(status(of.id).phase, ContainerPhase::kRunning);
  EXPECT_NE(prepare("p2"), ip);
  Result<std::unique_ptr<ExecProcess>> go = runtime_->exec(of.id, {{"touch", "/dev/shm/go"}});
  ASSERT_TRUE(go.ok());
  ASSERT_TRUE(wait_for_end(of.id));
  EXPECT_EQ(status(of.id).exit_code, 9);
  // Removed and started again under the next attempt.
  ASSERT_TRUE(runtime_->remove(of.id).ok());
  ContainerPlan again = plan({"p1", "c", 1}, "exit 0");
  start(again);
  ASSERT_TRUE(wait_for_end(again.id));
  EXPECT_EQ(runtime_->list().size(), 1u);
}

TEST_F(SandboxTest, DestroyEndsWhatRuns) {
  ContainerPlan of = plan({"p1", "c", 0}, "trap '' TERM; (setsid sleep 1000 &) ; echo ready; sleep 1000");
  start(of);
  start(plan({"p1", "d", 0}, "sleep 1000"));
  ASSERT_TRUE(wait_for_log(of.id, "ready"));
  ASSERT_TRUE(runtime_->destroy("p1").ok());
  EXPECT_TRUE(runtime_->pods().empty());
  EXPECT_TRUE(runtime_->list().empty());
  EXPECT_TRUE(runtime_->destroy("p1").ok());
}

TEST_F(SandboxTest, AHalfMadePodIsTakenAway) {
  prepare("p1");
  ContainerPlan of = plan({"p1", "c", 0}, "");
  of.argv.clear();
  EXPECT_EQ(runtime_->start(of).error().kind, ErrorKind::kInvalid);
  open();
  EXPECT_EQ(runtime_->pods(), (std::vector<std::string>{"p1"}));
  EXPECT_TRUE(runtime_->destroy("p1").ok());
}

// Whoever else writes to a volume may put a link where a subPath was found, before it is mounted.
TEST_F(SandboxTest, ALinkThatTakesTheirPlaceIsNotMounted) {
  fs::path volume = fs::canonical(folder_.path()) / "volume";
  fs::create_directories(volume / "sub");
  std::ofstream(volume / "sub" / "file") << "words\n";
  fs::create_directory_symlink("/etc", volume / "swapped");
  ContainerPlan of = plan({"p1", "c", 0}, "cat /a/file /b; echo more > /a/more");
  Mount folder{volume / "sub", "/a"};
  folder.exact = true;
  Mount file{volume / "sub" / "file", "/b"};
  file.exact = true;
  of.mounts = {folder, file};
  std::string text = said(of);
  EXPECT_SAID(text, "words\n");
  EXPECT_TRUE(fs::exists(volume / "sub" / "more"));
  ContainerPlan swapped = plan({"p1", "d", 0}, "ls /a");
  for (const char* path : {"swapped", "swapped/ssl"}) {
    swapped.mounts = {folder};
    swapped.mounts[0].source = volume / path;
    Result<Done> started = runtime_->start(swapped);
    ASSERT_FALSE(started.ok()) << path;
    EXPECT_EQ(started.error().kind, ErrorKind::kForbidden) << path;
  }
  EXPECT_TRUE(runtime_->remove(of.id).ok());
  EXPECT_TRUE(runtime_->destroy("p1").ok());
  EXPECT_EQ(text_of(volume / "sub" / "file"), "words\n");
}

// Of the host's mounts a container gets the folders that stay. Another plane's come and go with its pods,
// and so do the files that its runc mounts.
TEST_F(SandboxTest, NothingOfAnotherPlaneIsMounted) {
  if (support_.rootless) GTEST_SKIP() << "without root the host's mounts are bound, not overlaid";
  TempFolder host;
  const fs::path kept = host.path() / "kept";
  const fs::path other = host.path() / "plane" / "sandbox" / "pods" / "x" / "held";
  const fs::path file = host.path() / "runc.copy";
  fs::create_directories(kept);
  fs::create_directories(other);
  fs::create_directories(host.path() / "plane" / "sandbox" / "network" / "addresses");
  std::ofstream(file).put('x');
  const std::vector<fs::path> mounted = {kept, other, file};
  for (const fs::path& each : mounted) {
    ASSERT_EQ(::mount(each.c_str(), each.c_str(), nullptr, MS_BIND, nullptr), 0) << each;
  }
  // A temporary folder may lie in memory, of which nothing is mounted.
  const auto layers = host_layer_targets(text_of("/proc/self/mountinfo"), {});
  const bool is_layer = std::find(layers.begin(), layers.end(), kept) != layers.end();
  std::string text = said(plan({"p1", "c", 0}, "cat /proc/self/mountinfo"));
  for (const fs::path& each : mounted) EXPECT_EQ(::umount(each.c_str()), 0);
  EXPECT_EQ(text.find(" " + kept.string() + " ") != text.npos, is_layer) << text;
  EXPECT_NOT_SAID(text, " " + other.string() + " ");
  EXPECT_NOT_SAID(text, " " + file.string() + " ");
}

// Between two lives of the plane the other OCI runtime was installed, or taken away.
TEST_F(SandboxTest, AContainerIsReachedThroughTheToolThatMadeIt) {
  ContainerPlan of = plan({"p1", "c", 0}, "echo ready; sleep 1000");
  start(of);
  ASSERT_TRUE(wait_for_log(of.id, "ready"));
  const fs::path made_by = support_.runtime;
  support_.runtime = made_by.filename() == "runc" ? "/usr/bin/crun" : "/usr/sbin/runc";
  open();
  Result<std::unique_ptr<ExecProcess>> process = runtime_->exec(of.id, {{"/bin/sh", "-c", "exit 6"}});
  ASSERT_TRUE(process.ok()) << process.error().message;
  ASSERT_TRUE(eventually([&] { return process.value()->exit_code().has_value(); }));
  EXPECT_EQ(process.value()->exit_code(), 6);
  EXPECT_TRUE(runtime_->resize(of.id, {500, std::nullopt, 0}).ok());
  EXPECT_TRUE(runtime_->destroy("p1").ok());
  EXPECT_TRUE(fs::is_empty(folder_.path() / "sandbox" / made_by.filename()));
}

// The plane was killed after the namespaces and the address, before the files.
TEST_F(SandboxTest, AHalfPreparedPodIsMadeWhole) {
  std::string ip = prepare("p1");
  fs::path folder = folder_.path() / "sandbox" / "pods" / "p1";
  fs::remove(folder / "whole");
  fs::remove(folder / "hosts");
  ASSERT_EQ(::umount((folder / "shm").c_str()), 0);
  fs::remove(folder / "shm");
  open();
  EXPECT_EQ(prepare("p1"), ip);
  ContainerPlan of = plan({"p1", "c", 0}, "touch /dev/shm/x && grep -q localhost /etc/hosts");
  start(of);
  ASSERT_TRUE(wait_for_end(of.id));
  EXPECT_EQ(status(of.id).exit_code, 0);
}

TEST_F(SandboxTest, SaysWhatItCannotHonour) {
  PodPlan pod{"p1", "ns", "n", "n", false, {{"vm.swappiness", "10"}, {"net.core.somaxconn", "100"}}};
  EXPECT_EQ(runtime_->cannot_honour(pod, {}),
            (std::vector<std::string>{"sysctl vm.swappiness is not set: it is the whole machine's"}));
  ContainerPlan first;
  first.image = "tensorflow/tensorflow:2.15.0";
  first.argv = {"true"};
  std::vector<std::string> words = runtime_->cannot_honour({}, {first, first});
  ASSERT_EQ(words.size(), 1u);
  EXPECT_SAID(words[0], "trainyard pull tensorflow/tensorflow:2.15.0");
  first.id.container = "c";
  first.argv.clear();
  EXPECT_SAID(runtime_->cannot_honour({}, {first}).at(0), "container c has no command");
  first.non_root = true;
  EXPECT_SAID(runtime_->cannot_honour({}, {first}).at(1), "runs as user 0, although runAsNonRoot is set");
  ASSERT_TRUE(runtime_->prepare(pod).ok());
  ContainerPlan of = plan({"p1", "c", 0}, "cat /proc/sys/net/core/somaxconn");
  ASSERT_TRUE(runtime_->start(of).ok());
  ASSERT_TRUE(wait_for_end(of.id));
  EXPECT_SAID(log(of.id), " 100\n");
}

}  // namespace
}  // namespace trainyard::node
