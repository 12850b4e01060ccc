#include <signal.h>

#include "kube/access.h"
#include "node/fake_plane.h"
#include "node/files.h"
#include "node/node.h"
#include "node/testing.h"

namespace trainyard::node {
namespace {

using testing::eventually;
using testing::FakePlane;
using testing::TempFolder;

// Plain processes, and a record of how they are ended.
class Recorded final : public Runtime {
 public:
  explicit Recorded(const std::filesystem::path& data) : inner_(testing::process_options(data)) {}

  std::string_view name() const override { return inner_.name(); }
  std::vector<std::string> cannot_honour(const PodPlan& pod,
                                         const std::vector<ContainerPlan>& containers) const override {
    return inner_.cannot_honour(pod, containers);
  }
  std::string image_id(const std::string& image) const override { return inner_.image_id(image); }
  Result<std::string> prepare(const PodPlan& pod) override { return inner_.prepare(pod); }
  Result<Done> set_hosts(const std::string& uid, const std::map<std::string, std::string>& hosts) override {
    return inner_.set_hosts(uid, hosts);
  }
  Result<Done> start(const ContainerPlan& plan) override { return inner_.start(plan); }
  std::vector<ContainerStatus> list() override { return inner_.list(); }
  std::vector<ContainerStatus> list(const std::string& uid) override { return inner_.list(uid); }
  int changes() const override { return inner_.changes(); }
  void drain_changes() override { inner_.drain_changes(); }
  Result<Done> signal(const ContainerId& id, int signal) override {
    if (signal == SIGKILL) calls += "kill ";
    return inner_.signal(id, signal);
  }
  Enforced enforced() const override { return inner_.enforced(); }
  Result<Done> resize(const ContainerId& id, const Limits& limits) override {
    return inner_.resize(id, limits);
  }
  Result<Done> remove(const ContainerId& id) override { return inner_.remove(id); }
  Result<Done> destroy(const std::string& uid) override {
    {
      std::lock_guard lock(mutex_);
      calls += "destroy ";
    }
    return inner_.destroy(uid);
  }
  std::vector<std::string> pods() override { return inner_.pods(); }
  Result<std::unique_ptr<ExecProcess>> exec(const ContainerId& id, const ExecPlan& plan) override {
    return inner_.exec(id, plan);
  }
  Result<Fd> connect(const std::string& uid, int port) override { return inner_.connect(uid, port); }
  std::optional<Usage> usage(const ContainerId& id) override { return inner_.usage(id); }

  std::string calls;

 private:
  std::mutex mutex_;
  ProcessRuntime inner_;
};

json::object sleeper(const std::string& name) {
  return json::parse(R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":")" + name +
                     R"(","namespace":"ns"},"spec":{"nodeName":"trainyard","containers":[
                     {"name":"main","command":["sleep","1000"]}]}})")
      .as_object();
}

// Many that end one after the other would take long.
TEST(NodeStop, EndsAllPodsTogether) {
  TempFolder folder;
  FakePlane plane(wall_clock);
  Recorded runtime(folder.path());
  NodeOptions options;
  options.data_dir = folder.path();
  options.clock = wall_clock;
  Node node(std::move(options), plane, plane, runtime);
  node.start();
  for (const char* name : {"a", "b", "c"}) {
    ASSERT_TRUE(client::create(plane, kube::kPods, "ns", sleeper(name)).ok());
  }
  for (const char* name : {"a", "b", "c"}) {
    ASSERT_TRUE(eventually([&] {
      return kube::text_at(plane.get(kube::kPods, "ns", name), {"status", "phase"}) == "Running";
    }));
  }
  node.stop(false);
  EXPECT_EQ(runtime.calls, "kill kill kill destroy destroy destroy ");
  EXPECT_TRUE(runtime.list().empty());
  EXPECT_TRUE(runtime.pods().empty());
}

}  // namespace
}  // namespace trainyard::node
