#include "node/oci_spec.h"

#include <gtest/gtest.h>

#include "kube/access.h"
#include "node/sandbox_mounts.h"

namespace trainyard::node {
namespace {

constexpr const char* kPlain = R"(ociVersion 1.0.2
process.terminal false
process.user {"uid":0,"gid":0}
process.args ["python","train.py"]
process.env ["PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin","HOSTNAME=mnist-worker-0","TF_CONFIG={}"]
process.cwd "/"
process.noNewPrivileges false
process.oomScoreAdj 500
root.path "/d/rootfs"
root.readonly false
mounts {"destination":"/proc","type":"proc","source":"proc","options":["nosuid","noexec","nodev"]}
mounts {"destination":"/dev","type":"tmpfs","source":"tmpfs","options":["nosuid","strictatime","mode=755","size=65536k"]}
mounts {"destination":"/dev/pts","type":"devpts","source":"devpts","options":["nosuid","noexec","newinstance","ptmxmode=0666","mode=0620","gid=5"]}
mounts {"destination":"/dev/mqueue","type":"mqueue","source":"mqueue","options":["nosuid","noexec","nodev"]}
mounts {"destination":"/dev/shm","type":"bind","source":"/d/shm","options":["rbind","rprivate","rw"]}
mounts {"destination":"/sys","type":"sysfs","source":"sysfs","options":["nosuid","noexec","nodev","ro"]}
mounts {"destination":"/sys/fs/cgroup","type":"cgroup","source":"cgroup","options":["nosuid","noexec","nodev","ro"]}
mounts {"destination":"/etc/hosts","type":"bind","source":"/d/hosts","options":["rbind","rprivate","rw"]}
mounts {"destination":"/etc/hostname","type":"bind","source":"/d/hostname","options":["rbind","rprivate","rw"]}
mounts {"destination":"/etc/resolv.conf","type":"bind","source":"/d/resolv.conf","options":["rbind","rprivate","rw"]}
mounts {"destination":"/data","type":"bind","source":"/v/data","options":["rbind","rprivate","ro"]}
linux.namespaces [{"type":"pid"},{"type":"mount"},{"type":"ipc","path":"/d/ns/ipc"},{"type":"uts","path":"/d/ns/uts"},{"type":"network","path":"/d/ns/net"}]
linux.cgroupsPath "/trainyard/p/podu1/tensorflow.0"
linux.resources {"devices":[{"allow":false,"access":"rwm"}],"cpu":{"shares":512,"quota":150000,"period":100000},"memory":{"limit":2147483648,"swap":2147483648},"pids":{"limit":32768}}
linux.devices []
linux.maskedPaths ["/proc/acpi","/proc/asound","/proc/kcore","/proc/keys","/proc/latency_stats","/proc/sched_debug","/proc/timer_list","/proc/scsi","/sys/firmware","/sys/devices/virtual/powercap"]
linux.readonlyPaths ["/proc/bus","/proc/fs","/proc/irq","/proc/sys","/proc/sysrq-trigger"]
)";

PodPlan mnist_pod() { return {"u1", "ns", "mnist-worker-0", "mnist-worker-0", false, {}}; }

ContainerPlan plan() {
  ContainerPlan plan;
  plan.id = {"u1", "tensorflow", 0};
  plan.image = "tf:1";
  plan.argv = {"python", "train.py"};
  plan.env = {{"TF_CONFIG", "{}"}};
  return plan;
}

SandboxFacts facts() {
  SandboxFacts facts;
  facts.root = "/d/rootfs";
  facts.network_ns = "/d/ns/net";
  facts.ipc_ns = "/d/ns/ipc";
  facts.uts_ns = "/d/ns/uts";
  facts.hosts = "/d/hosts";
  facts.hostname = "/d/hostname";
  facts.resolv_conf = "/d/resolv.conf";
  facts.shm = "/d/shm";
  facts.cgroup_path = "/trainyard/p/podu1/tensorflow.0";
  facts.limits = {true, true};
  facts.users = {"root:x:0:0:root:/root:/bin/sh\ntrain:x:1000:100:t:/home/train:/bin/sh\n",
                 "root:x:0:\nusers:x:100:\nvideo:x:44:other,train\n"};
  return facts;
}

// The whole of a spec: a line for each part, one for each mount.
std::string lines(const json::object& spec) {
  std::string text;
  auto add = [&](const json::string_view part, const json::object& from) {
    for (const auto& [key, value] : from)
      text += fmt::format("{}.{} {}\n", kube::view(part), kube::view(key), json::serialize(value));
  };
  for (const auto& [key, value] : spec) {
    if (value.is_object()) add(key, value.get_object());
    if (value.is_string()) text += fmt::format("{} {}\n", kube::view(key), kube::view(value.get_string()));
    for (const json::value& one : value.is_array() ? value.get_array() : json::array()) {
      text += fmt::format("{} {}\n", kube::view(key), json::serialize(one));
    }
  }
  return text;
}

json::object spec_of(const ContainerPlan& plan, const SandboxFacts& known = facts(),
                     const ImageConfig& image = {}) {
  Result<json::object> spec = oci_spec(mnist_pod(), plan, image, known);
  EXPECT_TRUE(spec.ok()) << (spec.ok() ? "" : spec.error().message);
  return spec.ok() ? *spec : json::object();
}

const json::object* mount_at(const json::object& spec, std::string_view target) {
  const json::object* found = nullptr;
  for (const json::value& one : *kube::array_at(spec, {"mounts"})) {
    if (kube::text_at(one.get_object(), {"destination"}) == target) found = &one.get_object();
  }
  return found;
}

// The whole of a plain container, so that nothing changes unseen.
TEST(OciSpec, PlainContainer) {
  ContainerPlan of = plan();
  of.limits = {1500, int64_t{2} << 30, 500};
  of.mounts = {{"/v/data", "/data", true, std::nullopt, false}};
  json::object spec = spec_of(of);
  json::object& process = spec["process"].as_object();
  for (const char* set : {"bounding", "effective", "permitted"}) {
    EXPECT_EQ(kube::array_at(process, {"capabilities", set})->size(), 14u);
  }
  process.stable_erase(process.find("capabilities"));
  EXPECT_EQ(lines(spec), kPlain);
}

TEST(OciSpec, CommandLineIsFilledUpFromTheImage) {
  ImageConfig image;
  image.entrypoint = {"/entry"};
  image.cmd = {"a", "b"};
  ContainerPlan of = plan();
  EXPECT_EQ(*command_line(of, image), (std::vector<std::string>{"python", "train.py"}));
  of.argv_is_args_only = true;
  EXPECT_EQ(*command_line(of, image), (std::vector<std::string>{"/entry", "python", "train.py"}));
  EXPECT_EQ(*command_line(of, {}), (std::vector<std::string>{"python", "train.py"}));
  of.argv.clear();
  EXPECT_EQ(*command_line(of, image), (std::vector<std::string>{"/entry", "a", "b"}));
  of.argv_is_args_only = false;
  EXPECT_EQ(*command_line(of, image), (std::vector<std::string>{"/entry", "a", "b"}));
  EXPECT_EQ(command_line(of, {}).error().message,
            "container tensorflow has no command, and image tf:1 names none");
}

TEST(OciSpec, EnvironmentIsMergedWithTheImages) {
  ImageConfig image;
  image.env = {"PATH=/opt/bin", "A=1", "B=2", "broken"};
  ContainerPlan of = plan();
  of.env = {{"B", "3"}, {"C", "4"}, {"B", "5"}};
  EXPECT_EQ(environment(mnist_pod(), of, image, false),
            (std::vector<std::string>{"PATH=/opt/bin", "HOSTNAME=mnist-worker-0", "A=1", "B=5", "C=4"}));
}

TEST(OciSpec, GpusAreCountedAsTheContainerSeesThem) {
  ContainerPlan of = plan();
  of.gpus = {2, 5};
  of.env = {{"CUDA_VISIBLE_DEVICES", "2,5"}};
  EXPECT_EQ(environment(mnist_pod(), of, {}, true).back(), "CUDA_VISIBLE_DEVICES=0,1");
  EXPECT_EQ(environment(mnist_pod(), of, {}, false).back(), "CUDA_VISIBLE_DEVICES=2,5");
  of.env = {{"CUDA_VISIBLE_DEVICES", "1"}};
  EXPECT_EQ(environment(mnist_pod(), of, {}, true).back(), "CUDA_VISIBLE_DEVICES=1");

  SandboxFacts known = facts();
  known.devices = {{"/dev/nvidia2", 'c', 195, 2}};
  json::object spec = spec_of(of, known);
  EXPECT_EQ(json::serialize(*kube::find(spec, {"linux", "devices"})),
            R"([{"path":"/dev/nvidia2","type":"c","major":195,"minor":2,"fileMode":438}])");
  EXPECT_EQ(json::serialize(*kube::find(spec, {"linux", "resources", "devices"})),
            R"([{"allow":false,"access":"rwm"},)"
            R"({"allow":true,"type":"c","major":195,"minor":2,"access":"rw"}])");
}

TEST(OciSpec, UsersAreFoundByNameAndNumber) {
  UserFiles files = facts().users;
  EXPECT_EQ(*find_user("", files), (UserIds{0, 0, {}}));
  EXPECT_EQ(*find_user("train", files), (UserIds{1000, 100, {44}}));
  EXPECT_EQ(*find_user("1000", files), (UserIds{1000, 100, {44}}));
  EXPECT_EQ(*find_user("1000:7", files), (UserIds{1000, 7, {44}}));
  EXPECT_EQ(*find_user("train:video", files), (UserIds{1000, 44, {44}}));
  EXPECT_EQ(*find_user("4242", files), (UserIds{4242, 0, {}}));
  EXPECT_FALSE(find_user("nobody-knows", files).ok());
  EXPECT_FALSE(find_user("train:nogroup", files).ok());
  EXPECT_FALSE(find_user("train", {}).ok());
}

TEST(OciSpec, ThePodsUserWinsAndLosesItsPowers) {
  ImageConfig image;
  image.user = "train";
  EXPECT_EQ(kube::int_at(spec_of(plan(), facts(), image), {"process", "user", "uid"}), 1000);
  ContainerPlan of = plan();
  of.run_as_user = 77;
  of.run_as_group = 88;
  json::object spec = spec_of(of, facts(), image);
  EXPECT_EQ(json::serialize(*kube::find(spec, {"process", "user"})), R"({"uid":77,"gid":88})");
  EXPECT_TRUE(kube::array_at(spec, {"process", "capabilities", "effective"})->empty());
  EXPECT_FALSE(kube::array_at(spec, {"process", "capabilities", "bounding"})->empty());
}

TEST(OciSpec, PrivilegedContainersHaveAllThatTheKernelKnows) {
  ContainerPlan of = plan();
  of.privileged = true;
  SandboxFacts known = facts();
  known.cap_last = 37;
  json::object spec = spec_of(of, known);
  EXPECT_EQ(kube::array_at(spec, {"process", "capabilities", "effective"})->size(), 38u);
  EXPECT_EQ(kube::find(spec, {"linux", "maskedPaths"}), nullptr);
  EXPECT_EQ(kube::text_at(*mount_at(spec, "/dev"), {"source"}), "/dev");
}

TEST(OciSpec, PrivilegesAreThoseThatWereLeft) {
  ContainerPlan of = plan();
  of.capabilities = {{"NET_BIND_SERVICE"}, {"ALL"}};
  of.no_new_privileges = true;
  json::object spec = spec_of(of);
  for (const char* set : {"bounding", "effective", "permitted"}) {
    EXPECT_EQ(json::serialize(*kube::array_at(spec, {"process", "capabilities", set})),
              R"(["CAP_NET_BIND_SERVICE"])");
  }
  EXPECT_EQ(kube::bool_at(spec, {"process", "noNewPrivileges"}), true);
}

TEST(OciSpec, AnImageThatRunsAsRootIsRefusedWhereThatIsForbidden) {
  ContainerPlan of = plan();
  of.non_root = true;
  SandboxFacts known = facts();
  EXPECT_EQ(oci_spec(mnist_pod(), of, {}, known).error().message,
            "container has runAsNonRoot and image will run as root");
  ImageConfig image;
  image.user = "train";
  EXPECT_TRUE(oci_spec(mnist_pod(), of, image, known).ok());
  // Whose user nobody knows.
  known.host_root = true;
  EXPECT_TRUE(oci_spec(mnist_pod(), of, {}, known).ok());
  known.host_root = false;
  of.run_as_user = 1000;
  EXPECT_TRUE(oci_spec(mnist_pod(), of, {}, known).ok());
}

TEST(OciSpec, WorkingDirectoryIsThePodsThenTheImages) {
  ImageConfig image;
  image.working_dir = "/srv";
  ContainerPlan of = plan();
  EXPECT_EQ(kube::text_at(spec_of(of, facts(), image), {"process", "cwd"}), "/srv");
  of.working_dir = "/work";
  EXPECT_EQ(kube::text_at(spec_of(of, facts(), image), {"process", "cwd"}), "/work");
}

TEST(OciSpec, LimitsBecomeControlGroupValues) {
  struct Case {
    Limits limits;
    const char* cpu;
    const char* memory;
  };
  for (const Case& c : std::initializer_list<Case>{
           {{}, R"({"shares":2})", nullptr},
           {{2000, std::nullopt, 0}, R"({"shares":2048,"quota":200000,"period":100000})", nullptr},
           {{std::nullopt, 1 << 20, 250}, R"({"shares":256})", R"({"limit":1048576,"swap":1048576})"},
           {{5, std::nullopt, 5}, R"({"shares":5,"quota":1000,"period":100000})", nullptr},
       }) {
    ContainerPlan of = plan();
    of.limits = c.limits;
    json::object spec = spec_of(of);
    EXPECT_EQ(json::serialize(*kube::find(spec, {"linux", "resources", "cpu"})), c.cpu);
    const json::value* memory = kube::find(spec, {"linux", "resources", "memory"});
    EXPECT_EQ(memory == nullptr ? "none" : json::serialize(*memory), c.memory == nullptr ? "none" : c.memory);
  }
}

TEST(OciSpec, AUserSetsWhatWasHandedOver) {
  SandboxFacts handed_over = facts();
  handed_over.user_namespace = true;
  handed_over.limits.cpu = false;
  ContainerPlan of = plan();
  of.limits = {2000, 1 << 20, 0};
  Result<json::object> spec = oci_spec({}, of, {}, handed_over);
  ASSERT_TRUE(spec.ok()) << spec.error().message;
  const json::object* resources = kube::object_at(*spec, {"linux", "resources"});
  ASSERT_NE(resources, nullptr);
  EXPECT_EQ(json::serialize(*resources),
            R"({"memory":{"limit":1048576,"swap":1048576},"pids":{"limit":32768}})");
}

TEST(OciSpec, PlannedMountsWinOverOurs) {
  ContainerPlan of = plan();
  of.mounts = {{"", "/dev/shm", false, 128 << 20, true},
               {"/my/hosts", "/etc/hosts", true, std::nullopt, false}};
  json::object spec = spec_of(of);
  EXPECT_EQ(json::serialize(*mount_at(spec, "/dev/shm")),
            R"({"destination":"/dev/shm","type":"tmpfs","source":"tmpfs",)"
            R"("options":["nosuid","nodev","mode=1777","size=134217728"]})");
  EXPECT_EQ(json::serialize(*mount_at(spec, "/etc/hosts")),
            R"({"destination":"/etc/hosts","type":"bind","source":"/my/hosts",)"
            R"("options":["rbind","rprivate","ro"]})");
  int count = 0;
  for (const json::value& one : *kube::array_at(spec, {"mounts"})) {
    count += kube::text_at(one.get_object(), {"destination"}) == "/etc/hosts";
  }
  EXPECT_EQ(count, 1);
}

TEST(OciSpec, TheHostsRootIsShownWithoutOurData) {
  SandboxFacts known = facts();
  known.host_root = true;
  known.hidden = {"/var/lib/yard"};
  known.host_layers = {{"/home", "/d/host0/upper", "/d/host0/work"}};
  json::object spec = spec_of(plan(), known);
  EXPECT_EQ(kube::text_at(*mount_at(spec, "/var/lib/yard"), {"type"}), "tmpfs");
  EXPECT_EQ(kube::text_at(*mount_at(spec, "/run"), {"type"}), "tmpfs");
  EXPECT_EQ(json::serialize(*kube::find(*mount_at(spec, "/home"), {"options"})),
            R"(["lowerdir=/home","upperdir=/d/host0/upper","workdir=/d/host0/work"])");
}

TEST(OciSpec, AVolumeThatCoversOurDataIsNotHidden) {
  SandboxFacts known = facts();
  known.host_root = true;
  known.hidden = {"/home/me/.state/yard"};
  ContainerPlan with_home = plan();
  with_home.mounts = {{"/home/me", "/home/me"}};
  json::object spec = spec_of(with_home, known);
  EXPECT_EQ(mount_at(spec, "/home/me/.state/yard"), nullptr);
  with_home.mounts = {{"/home/you", "/home/you"}};
  spec = spec_of(with_home, known);
  EXPECT_NE(mount_at(spec, "/home/me/.state/yard"), nullptr);
}

TEST(OciSpec, HostNetworkIsNotANamespace) {
  SandboxFacts known = facts();
  known.network_ns = "";
  json::object spec = spec_of(plan(), known);
  EXPECT_EQ(json::serialize(*kube::find(spec, {"linux", "namespaces"})).find("network"), std::string::npos);
}

TEST(SandboxMounts, RealFileSystemsOfTheHostAreFound) {
  const char* text =
      "25 1 8:1 / / rw - ext4 /dev/sda1 rw\n"
      "26 25 0:5 / /proc rw - proc proc rw\n"
      "40 25 8:2 / /home rw shared:1 - xfs /dev/sda2 rw\n"
      "41 40 8:3 / /home/big\\040disk rw shared:1 - ext4 /dev/sdb1 rw\n"
      "42 25 8:4 / /boot rw - ext4 /dev/sda3 rw\n"
      "43 25 0:9 / /data/yard/x rw - nfs server:/x rw\n"
      "44 25 0:9 / /data/yard/x/rootfs rw - overlay overlay rw,lowerdir=/\n"
      "45 25 0:9 / /data/yardstick rw - nfs server:/y rw\n";
  EXPECT_EQ(host_layer_targets(text, {"/data/yard"}),
            (std::vector<std::string>{"/data/yardstick", "/home", "/home/big disk"}));
  EXPECT_EQ(mounts_below(text, "/data/yard"),
            (std::vector<std::string>{"/data/yard/x", "/data/yard/x/rootfs"}));
}

}  // namespace
}  // namespace trainyard::node
