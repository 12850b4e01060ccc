// Images with a registry of our own on loopback (Debian's docker-registry).
#include "node/image_store.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <fstream>
#include <sstream>

#include "base/nobodys_port.h"
#include "kube/access.h"
#include "node/process_runtime.h"
#include "node/sandbox_runtime.h"
#include "node/sandbox_tool.h"
#include "node/testing.h"

extern char** environ;

namespace trainyard::node {
namespace {

namespace fs = std::filesystem;
using testing::eventually;
using testing::TempFolder;

TEST(ImageConfig, IsReadFromTheBlob) {
  json::object blob = json::parse(R"({"architecture":"amd64","config":{"Entrypoint":["/e"],"Cmd":["a","b"],
    "Env":["A=1"],"User":"1000:100","WorkingDir":"/srv"}})")
                          .as_object();
  EXPECT_EQ(read_image_config(blob), (ImageConfig{{"/e"}, {"a", "b"}, {"A=1"}, "1000:100", "/srv", "amd64"}));
  EXPECT_EQ(read_image_config({}), ImageConfig{});
  EXPECT_EQ(read_image_config(json::parse(R"({"config":{"Cmd":null,"Env":[1]}})").as_object()),
            ImageConfig{});
}

void must(const std::vector<std::string>& argv) {
  ToolEnd end = run_tool(argv);
  ASSERT_TRUE(end.ok()) << argv[0] << " " << argv[1] << ": " << end.err;
}

// A root file system with a shell and a few commands, and the libraries that they need.
void make_root(const fs::path& root) {
  for (const char* folder : {"bin", "etc", "home/train", "tmp", "proc", "sys", "dev"}) {
    fs::create_directories(root / folder);
  }
  for (const char* command : {"sh", "cat", "id", "pwd", "env", "ls"}) {
    std::optional<fs::path> from = find_tool(command);
    ASSERT_TRUE(from) << command;
    fs::copy_file(fs::canonical(*from), root / "bin" / command);
    std::istringstream words(run_tool({"ldd", from->string()}).out);
    for (std::string word; words >> word;) {
      if (!word.starts_with('/')) continue;
      fs::create_directories((root / word.substr(1)).parent_path());
      fs::copy_file(fs::canonical(word), root / word.substr(1), fs::copy_options::skip_existing);
    }
  }
  std::ofstream(root / "etc/passwd") << "root:x:0:0::/:/bin/sh\ntrain:x:1234:55::/home/train:/bin/sh\n";
  std::ofstream(root / "etc/group") << "root:x:0:\ncrew:x:55:\n";
  std::ofstream(root / "etc/mark") << "this is the image\n";
}

// An OCI layout with one image in it that says how it is run.
void make_layout(const fs::path& root, const fs::path& layout) {
  std::string image = layout.string() + ":one";
  must({"umoci", "init", "--layout", layout.string()});
  must({"umoci", "new", "--image", image});
  must({"umoci", "insert", "--image", image, root.string(), "/"});
  must({"umoci", "config", "--image", image, "--config.entrypoint", "/bin/sh", "--config.entrypoint", "-c",
        "--config.cmd", "cat /etc/mark; id -u; id -g; pwd; echo $FLAVOUR", "--config.env", "FLAVOUR=vanilla",
        "--config.user", "train:crew", "--config.workingdir", "/home/train"});
}

class Registry {
 public:
  explicit Registry(const fs::path& folder) : config_(folder / "registry.yaml") {
    Fd probe(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    CHECK(::bind(probe.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
    CHECK(::getsockname(probe.get(), reinterpret_cast<sockaddr*>(&address), &size) == 0);
    port_ = ntohs(address.sin_port);
    probe.reset();
    std::ofstream(config_) << "version: 0.1\nlog: {level: error}\nstorage: {filesystem: {rootdirectory: "
                           << (folder / "registry").string() << "}}\nhttp: {addr: '" << host() << "'}\n";
    std::string command = "docker-registry";
    std::string verb = "serve";
    std::string config = config_.string();
    std::array<char*, 4> argv{command.data(), verb.data(), config.data(), nullptr};
    posix_spawn_file_actions_t quiet;
    posix_spawn_file_actions_init(&quiet);
    posix_spawn_file_actions_addopen(&quiet, 1, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&quiet, 2, (folder / "registry.log").c_str(), O_WRONLY | O_CREAT, 0600);
    failure_ = ::posix_spawnp(&pid_, argv[0], &quiet, nullptr, argv.data(), environ);
    posix_spawn_file_actions_destroy(&quiet);
  }
  ~Registry() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  std::string host() const { return "127.0.0.1:" + std::to_string(port_); }
  bool wait() {
    return failure_ == 0 && eventually([&] { return connect_tcp("127.0.0.1", port_).ok(); });
  }

 private:
  fs::path config_;
  int port_ = 0;
  pid_t pid_ = -1;
  int failure_ = 0;
};

class ImageStoreTest : public ::testing::Test {
 protected:
  void SetUp() override {
    make_root(folder_.path() / "root");
    make_layout(folder_.path() / "root", folder_.path() / "layout");
  }
  TempFolder folder_;
  ImageStore store_{folder_.path() / "data" / "images"};
};

TEST_F(ImageStoreTest, ImportsLayoutsAndFolders) {
  EXPECT_FALSE(store_.find("mine:1"));
  Result<Image> layout = store_.import(folder_.path() / "layout", "mine:1", {});
  ASSERT_TRUE(layout.ok()) << layout.error().message;
  EXPECT_EQ(layout->name, "docker.io/library/mine:1");
  EXPECT_EQ(layout->config.user, "train:crew");
  EXPECT_TRUE(fs::exists(layout->root / "etc/mark"));
  Result<Image> tagged = store_.import(folder_.path() / "layout:one", "mine:2", {});
  ASSERT_TRUE(tagged.ok()) << tagged.error().message;
  EXPECT_EQ(tagged->digest, layout->digest);  // one root for both names
  Result<Image> plain = store_.import(folder_.path() / "root", "plain", {});
  ASSERT_TRUE(plain.ok()) << plain.error().message;
  EXPECT_EQ(plain->config.entrypoint, std::vector<std::string>());
  EXPECT_TRUE(fs::exists(plain->root / "etc/mark"));
  // Again: the same name, the newer content.
  std::ofstream(folder_.path() / "root/etc/mark") << "changed\n";
  Result<Image> again = store_.import(folder_.path() / "root", "plain", {});
  ASSERT_TRUE(again.ok()) << again.error().message;
  EXPECT_NE(again->digest, plain->digest);
  EXPECT_EQ(store_.list().size(), 3u);
  EXPECT_FALSE(store_.import(folder_.path() / "nowhere", "x", {}).ok());
  EXPECT_FALSE(store_.import(folder_.path() / "root", "Not A Name", {}).ok());

  ASSERT_TRUE(store_.remove("mine:1").ok());
  EXPECT_TRUE(fs::exists(tagged->root / "etc/mark"));
  ASSERT_TRUE(store_.remove("mine:2").ok());
  EXPECT_FALSE(fs::exists(tagged->root));
  EXPECT_EQ(store_.remove("mine:2").error().kind, ErrorKind::kNotFound);
  EXPECT_EQ(store_.list().size(), 1u);
}

// What the failed copy leaves is in nobody's way.
TEST_F(ImageStoreTest, AFolderIsImportedAfterAPullThatFailed) {
  NobodysPort port;
  EXPECT_FALSE(store_.pull(fmt::format("127.0.0.1:{}/none", port.number()), {}).ok());
  fs::create_directories(folder_.path() / "data" / "images" / "oci" / "blobs");
  Result<Image> plain = store_.import(folder_.path() / "root", "plain", {});
  ASSERT_TRUE(plain.ok()) << plain.error().message;
  EXPECT_TRUE(fs::exists(plain->root / "etc/mark"));
}

// From a registry to a container that is run as its image says.
TEST_F(ImageStoreTest, PullsFromARegistryAndRuns) {
  Registry registry(folder_.path());
  ASSERT_TRUE(registry.wait()) << "docker-registry does not answer";
  std::string name = registry.host() + "/yard/one:v1";
  must({"skopeo", "--insecure-policy", "copy", "--dest-tls-verify=false",
        "oci:" + (folder_.path() / "layout").string() + ":one", "docker://" + name});
  std::vector<std::string> progress;
  Result<Image> image = store_.pull(name, [&](std::string_view line) { progress.emplace_back(line); });
  ASSERT_TRUE(image.ok()) << image.error().message;
  EXPECT_FALSE(progress.empty());
  EXPECT_TRUE(image->digest.starts_with("sha256:"));
  ASSERT_TRUE(store_.find(name));
  EXPECT_EQ(store_.find(name)->digest, image->digest);
  // By digest it is the same image; pulled again nothing is unpacked twice.
  Result<Image> exact = store_.pull(registry.host() + "/yard/one@" + image->digest, {});
  ASSERT_TRUE(exact.ok()) << exact.error().message;
  EXPECT_EQ(exact->root, image->root);
  Result<Image> missing = store_.pull(registry.host() + "/yard/none:v1", {});
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().kind, ErrorKind::kUnavailable);
  EXPECT_NE(missing.error().message.find("unknown"), std::string::npos) << missing.error().message;
  EXPECT_EQ(missing.error().message.find("level=fatal"), std::string::npos) << missing.error().message;

  fs::path data = folder_.path() / "data";
  Result<SandboxSupport> support = sandbox_support(data);
  if (!support.ok() && support.error().kind == ErrorKind::kForbidden) {
    GTEST_SKIP() << "pulled, but no sandboxes on this machine: " << support.error().message;
  }
  ASSERT_TRUE(support.ok()) << support.error().message;
  Result<std::unique_ptr<SandboxRuntime>> runtime =
      SandboxRuntime::open({data, {TRAINYARD_TEST_SHIM}, *support, {}, false});
  ASSERT_TRUE(runtime.ok()) << runtime.error().message;
  SandboxRuntime& yard = *runtime.value();
  ASSERT_TRUE(yard.prepare({"p1", "ns", "pod", "pod", false, {}}).ok());
  auto run = [&](ContainerPlan plan) {
    plan.image = name;
    plan.log_file = data / (plan.id.container + ".log");
    Result<Done> started = yard.start(plan);
    EXPECT_TRUE(started.ok()) << (started.ok() ? "" : started.error().message);
    EXPECT_TRUE(eventually(
        [&] {
          yard.drain_changes();
          for (const ContainerStatus& one : yard.list()) {
            if (one.id == plan.id) return one.phase == ContainerPhase::kExited;
          }
          return false;
        },
        yard.changes()));
    std::ifstream in(plan.log_file);
    std::string text;
    for (std::string line; std::getline(in, line);) text += line.substr(line.find(" F ") + 3) + "\n";
    return text;
  };
  EXPECT_EQ(run({{"p1", "own", 0}}), "this is the image\n1234\n55\n/home/train\nvanilla\n");
  EXPECT_EQ(store_.remove(name + "x").error().kind, ErrorKind::kNotFound);
  ContainerPlan args{{"p1", "args", 0}};
  args.argv = {"echo $0 $FLAVOUR; pwd; ls -d /usr/share 2>&1", "zero"};
  args.argv_is_args_only = true;
  args.env = {{"FLAVOUR", "mint"}};
  args.working_dir = "/etc";
  std::string text = run(args);
  EXPECT_TRUE(text.starts_with("zero mint\n/etc\n")) << text;
  EXPECT_NE(text.find("No such file"), std::string::npos) << text;
  EXPECT_TRUE(store_.remove(registry.host() + "/yard/one@" + image->digest).ok());
  EXPECT_EQ(store_.remove(name).error().kind, ErrorKind::kConflict);  // a container is still there
  EXPECT_TRUE(yard.destroy("p1").ok());
  EXPECT_TRUE(store_.remove(name).ok());
}

}  // namespace
}  // namespace trainyard::node
