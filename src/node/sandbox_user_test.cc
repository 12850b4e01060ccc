// Sandboxes of an ordinary user, in a process of its own that gives up being root.
#include "node/sandbox_user.h"

#include <grp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include "node/files.h"
#include "node/sandbox_runtime.h"
#include "node/testing.h"

namespace trainyard::node {
namespace {

namespace fs = std::filesystem;
using testing::eventually;
using testing::shell;
using testing::TempFolder;
using testing::text_of;

constexpr int kFine = 0;
constexpr int kWrong = 1;
constexpr int kForbiddenHere = 2;

TEST(SandboxUser, KnowsWhetherItHasAllUsers) {
  EXPECT_TRUE(maps_all_users("         0          0 4294967295\n"));
  EXPECT_FALSE(maps_all_users("         0       1000          1\n"));
  EXPECT_FALSE(maps_all_users("         0     100000      65536\n"));
  EXPECT_FALSE(maps_all_users(""));
}

// Runs `story` as nobody; it says what is wrong in the file `words`.
int as_nobody(const fs::path& folder, const std::function<int(std::ostream&)>& story) {
  pid_t child = ::fork();
  if (child == 0) {
    std::ofstream words(folder / "words");
    constexpr id_t kNobody = 65534;
    if (::setgroups(0, nullptr) != 0 || ::setgid(kNobody) != 0 || ::setuid(kNobody) != 0) ::_exit(kWrong);
    // Whoever changed user is not readable for itself in /proc until it says so.
    ::prctl(PR_SET_DUMPABLE, 1);
    int end = story(words);
    words.flush();
    ::_exit(end);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

struct Yard {
  fs::path data;
  std::vector<std::string> shim;
  std::unique_ptr<SandboxRuntime> runtime;

  // Whether the container ended; its log in `text`.
  bool run(const ContainerPlan& plan, std::ostream& words, std::string& text) {
    Result<std::string> ip =
        runtime->prepare({plan.id.pod_uid, "ns", plan.id.pod_uid, plan.id.pod_uid, false, {}});
    if (!ip.ok()) return words << ip.error().message, false;
    Result<Done> started = runtime->start(plan);
    if (!started.ok()) return words << started.error().message, false;
    bool ended = eventually(
        [&] {
          runtime->drain_changes();
          for (const ContainerStatus& one : runtime->list()) {
            if (one.id == plan.id) return one.phase == ContainerPhase::kExited;
          }
          return false;
        },
        runtime->changes());
    text = text_of(plan.log_file);
    return ended;
  }
};

int open_yard(Yard& yard, std::ostream& words) {
  Result<Done> entered = enter_user_namespace(yard.data);
  if (!entered.ok()) {
    words << entered.error().message;
    return entered.error().kind == ErrorKind::kForbidden ? kForbiddenHere : kWrong;
  }
  Result<SandboxSupport> support = sandbox_support(yard.data, testing::wanted_oci_runtime());
  if (!support.ok()) return words << support.error().message, kWrong;
  if (!support->rootless) return words << "not rootless", kWrong;
  Result<std::unique_ptr<SandboxRuntime>> opened =
      SandboxRuntime::open({yard.data, yard.shim, *support, {}, false});
  if (!opened.ok()) return words << opened.error().message, kWrong;
  yard.runtime = std::move(opened).value();
  return kFine;
}

constexpr const char* kServeOnce =
    "import socket\n"
    "s = socket.socket(); s.bind(('0.0.0.0', 2222)); s.listen(); print('listening', flush=True)\n"
    "c, a = s.accept(); c.sendall(b'hello from ' + socket.gethostname().encode())\n";

// Two pods of a user talk, the host's root stays as it is, and nothing is left.
int first_life(Yard& yard, std::ostream& words) {
  if (int end = open_yard(yard, words); end != kFine) return end;
  ContainerPlan server = shell(yard.data, {"p1", "server", 0}, "");
  server.argv = {"python3", "-c", kServeOnce};
  Result<std::string> ip = yard.runtime->prepare({"p1", "ns", "p1", "p1", false, {}});
  if (!ip.ok()) return words << ip.error().message, kWrong;
  if (Result<Done> started = yard.runtime->start(server); !started.ok()) {
    return words << started.error().message, kWrong;
  }
  if (!eventually([&] { return text_of(server.log_file).find("listening") != std::string::npos; })) {
    return words << "server: " << text_of(server.log_file), kWrong;
  }
  ContainerPlan client = shell(yard.data, {"p2", "client", 0}, "");
  client.argv = {"python3", "-c",
                 "import socket, os\n"
                 "print(socket.create_connection(('" +
                     *ip +
                     "', 2222), 10).recv(100).decode())\n"
                     "open('/usr/trainyard-test', 'w').write('x'); print('wrote', os.getuid())\n"};
  std::string text;
  if (!yard.run(client, words, text)) return words << " client: " << text, kWrong;
  if (text.find("hello from p1") == std::string::npos || text.find("wrote 0") == std::string::npos) {
    return words << "client: " << text, kWrong;
  }
  if (fs::exists("/usr/trainyard-test")) return words << "the host was touched", kWrong;
  // Left to run for the next life.
  ContainerPlan waits = shell(yard.data, {"p3", "waits", 0},
                              "echo ready; i=0; while [ ! -e /dev/shm/go ] && [ $i -lt 1000 ]; do "
                              "i=$((i+1)); sleep 0.02; done; exit 9");
  Result<std::string> third = yard.runtime->prepare({"p3", "ns", "p3", "p3", false, {}});
  if (!third.ok() || !yard.runtime->start(waits).ok()) return words << "p3 does not start", kWrong;
  if (!eventually([&] { return text_of(waits.log_file).find("ready") != std::string::npos; })) {
    return words << "waits: " << text_of(waits.log_file), kWrong;
  }
  yard.runtime.reset();
  return kFine;
}

int second_life(Yard& yard, std::ostream& words) {
  if (int end = open_yard(yard, words); end != kFine) return end;
  ContainerId waits{"p3", "waits", 0};
  bool runs = eventually([&] {
    std::vector<ContainerStatus> all = yard.runtime->list();
    return std::any_of(all.begin(), all.end(), [&](const ContainerStatus& one) {
      return one.id == waits && one.phase == ContainerPhase::kRunning;
    });
  });
  if (!runs) return words << "p3 does not run", kWrong;
  Result<std::unique_ptr<ExecProcess>> go = yard.runtime->exec(waits, {{"touch", "/dev/shm/go"}});
  if (!go.ok()) return words << go.error().message, kWrong;
  int code = -1;
  bool ended = eventually([&] {
    yard.runtime->drain_changes();
    for (const ContainerStatus& one : yard.runtime->list()) {
      if (one.id == waits && one.phase == ContainerPhase::kExited) code = one.exit_code;
    }
    return code >= 0;
  });
  if (!ended || code != 9) return words << "exit code " << code, kWrong;
  for (const std::string& uid : yard.runtime->pods()) {
    if (Result<Done> gone = yard.runtime->destroy(uid); !gone.ok())
      return words << gone.error().message, kWrong;
  }
  yard.runtime.reset();
  if (!fs::is_empty(yard.data / "sandbox" / "pods")) return words << "pods are left", kWrong;
  return kFine;
}

// Volumes lie where the host has no such folder, and where it is not the user's to make one.
int mounted_anywhere(Yard& yard, std::ostream& words) {
  if (int end = open_yard(yard, words); end != kFine) return end;
  const fs::path volume = yard.data / "volume", file = yard.data / "file";
  if (!make_folders(volume).ok() || !write_whole(file, "content\n").ok()) return words << "no volume", kWrong;
  const std::string beside = yard.data.parent_path() / "beside";  // a folder that is ours lies below it, too
  ContainerPlan plan = shell(yard.data, {"p1", "writes", 0},
                             "touch /usr/share/trainyard-test/in/one " + beside +
                                 "/two /var/lib/trainyard-test/three && cat /var/lib/trainyard-test.txt && "
                                 "touch /usr/share/four && ls /usr/share | wc -l");
  for (const std::string& target :
       {std::string("/usr/share/trainyard-test/in"), beside, std::string("/var/lib/trainyard-test")}) {
    plan.mounts.push_back({volume, target, false, std::nullopt, false});
  }
  plan.mounts.push_back({file, "/var/lib/trainyard-test.txt", false, std::nullopt, false});
  std::string text;
  if (!yard.run(plan, words, text)) return words << text, kWrong;
  const size_t first = text.find("content\n");
  // What the host has there is there as well.
  const bool shows_all = first != std::string::npos && std::atoi(text.c_str() + first + 8) > 5;
  if (!shows_all) return words << "says: " << text, kWrong;
  for (const char* name : {"one", "two", "three"}) {
    if (!fs::exists(volume / name)) return words << name << " is not in the volume: " << text, kWrong;
  }
  const bool is_untouched = !fs::exists("/usr/share/trainyard-test") && !fs::exists(beside);
  if (!is_untouched) return words << "the host was touched", kWrong;
  return yard.runtime->destroy("p1").ok() ? kFine : kWrong;
}

// Where anybody may write, with a shim that anybody can run.
Yard yard_of_everybody(const fs::path& folder) {
  fs::permissions(folder, fs::perms::all);
  fs::copy_file(TRAINYARD_TEST_SHIM, folder / "shim");
  Yard yard;
  yard.data = folder / "data";
  yard.shim = {(folder / "shim").string()};
  return yard;
}

TEST(SandboxUser, VolumesOfAnOrdinaryUserLieAnywhere) {
  if (::geteuid() != 0) GTEST_SKIP() << "run as root, to become another user";
  TempFolder folder;
  Yard yard = yard_of_everybody(folder.path());
  int end = as_nobody(folder.path(), [&](std::ostream& words) { return mounted_anywhere(yard, words); });
  if (end == kForbiddenHere) GTEST_SKIP() << text_of(folder.path() / "words");
  EXPECT_EQ(end, kFine) << text_of(folder.path() / "words");
}

TEST(SandboxUser, AnOrdinaryUserHasSandboxes) {
  if (::geteuid() != 0) GTEST_SKIP() << "run as root, to become another user";
  TempFolder folder;
  Yard yard = yard_of_everybody(folder.path());
  int first = as_nobody(folder.path(), [&](std::ostream& words) { return first_life(yard, words); });
  if (first == kForbiddenHere)
    GTEST_SKIP() << "no user namespaces on this machine: " << text_of(folder.path() / "words");
  ASSERT_EQ(first, kFine) << text_of(folder.path() / "words");
  int second = as_nobody(folder.path(), [&](std::ostream& words) { return second_life(yard, words); });
  EXPECT_EQ(second, kFine) << text_of(folder.path() / "words");
}

}  // namespace
}  // namespace trainyard::node
