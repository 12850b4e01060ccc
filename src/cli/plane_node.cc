#include "cli/plane_node.h"

#include <sys/sysinfo.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <thread>

#include "cli/plane_pods.h"
#include "kube/access.h"
#include "kube/meta.h"
#include "node/gpu.h"
#include "node/image_store.h"
#include "node/node.h"
#include "node/process_runtime.h"
#include "node/sandbox_runtime.h"
#include "node/sandbox_support.h"

namespace trainyard::cli {
namespace {

// How long pods may take to stop beyond the grace that they ask for.
constexpr Duration kStopMargin{10'000};
constexpr std::chrono::milliseconds kNodeLooksEvery{50};

node::Requests capacity_of_machine() {
  node::Requests capacity;
  capacity.cpu_millis = static_cast<int64_t>(std::max(1u, std::thread::hardware_concurrency())) * 1000;
  struct sysinfo info = {};
  if (::sysinfo(&info) == 0) capacity.memory_bytes = static_cast<int64_t>(info.totalram) * info.mem_unit;
  return capacity;
}

int64_t disk_behind(const std::filesystem::path& folder) {
  std::error_code failed;
  std::filesystem::space_info space = std::filesystem::space(folder, failed);
  return failed ? 0 : static_cast<int64_t>(space.capacity);
}

// What a plain process sees of the user's own environment.
std::vector<std::pair<std::string, std::string>> base_environment() {
  std::vector<std::pair<std::string, std::string>> env;
  for (const char* name : {"PATH", "HOME", "USER", "LANG", "LD_LIBRARY_PATH", "VIRTUAL_ENV", "TMPDIR"}) {
    if (const char* value = std::getenv(name); value != nullptr) env.emplace_back(name, value);
  }
  return env;
}

// Folders that several planes share are linked into the folder of this one.
Result<Done> link_shared(const std::filesystem::path& own, const std::filesystem::path& shared) {
  if (own == shared) return Done{};
  std::error_code failed;
  std::filesystem::create_directories(shared, failed);
  if (!failed && !std::filesystem::exists(std::filesystem::symlink_status(own))) {
    std::filesystem::create_directory_symlink(shared, own, failed);
  }
  if (failed) {
    return Error{ErrorKind::kUnavailable,
                 fmt::format("cannot use {}: {}", shared.string(), failed.message())};
  }
  return Done{};
}

class NodeOfPlane final : public PlaneNode {
 public:
  NodeOfPlane(const PlaneOptions& options, client::Client& client) : options_(options), client_(client) {}

  Result<Done> begin(client::WatchSource& watches) {
    if (auto linked = link_shared(options_.dir.volumes(), options_.volumes); !linked.ok()) return linked;
    if (auto linked = link_shared(options_.dir.images(), options_.images); !linked.ok()) return linked;
    gpus_ = node::find_gpus(options_.settings.gpus);
    if (auto chosen = choose_runtime(); !chosen.ok()) return chosen;
    node::NodeOptions node;
    node.name = std::string(kNodeName);
    node.data_dir = options_.dir.root;
    const std::string& domain = options_.settings.settings.cluster_domain;
    if (!domain.empty()) node.cluster_domain = domain;
    node.capacity = capacity_of_machine();
    node.overcommits_cpu = options_.overcommit_cpu;
    node.disk_bytes = disk_behind(options_.dir.root);
    node.gpus = gpus_.indexes;
    node.clock = wall_clock;
    node.logs.age_max = seconds(int64_t{options_.settings.log_days} * 24 * 3600);
    node.logs.bytes_max = int64_t{options_.settings.log_megabytes} << 20;
    node_ = std::make_unique<node::Node>(std::move(node), client_, watches, *runtime_);
    access_ = std::make_unique<NodeAccess>(*node_);
    node_->start();
    return Done{};
  }

  server::PodAccess& access() override { return *access_; }
  std::string_view runtime() const override { return runtime_->name(); }
  std::vector<std::filesystem::path> writable_folders(const json::object& pod) override;
  std::vector<std::string> cannot_honour(const json::object& pod) override {
    return node_->cannot_honour(pod);
  }
  bool runs_on_image(const std::string& image) override { return runtime_->has_image(image); }
  Result<Done> bring_image(const std::string& image) override;
  void stop(Plane::Leave leave) override;

 private:
  Result<Done> choose_runtime();
  Result<Done> try_sandbox();
  Result<Done> open_sandbox(const node::SandboxSupport& support);
  std::vector<client::Object> live_pods();
  void end_pods();

  PlaneOptions options_;
  client::Client& client_;
  node::Gpus gpus_;
  std::unique_ptr<node::Runtime> runtime_;
  std::unique_ptr<node::Node> node_;
  std::unique_ptr<NodeAccess> access_;
};

Result<Done> NodeOfPlane::choose_runtime() {
  RuntimeChoice wanted = options_.settings.runtime;
  if (wanted != RuntimeChoice::kProcess) {
    Result<Done> opened = try_sandbox();
    if (opened.ok()) return Done{};
    if (wanted != RuntimeChoice::kAuto) {
      return Error{ErrorKind::kUnavailable, "sandboxes do not work here: " + opened.error().message};
    }
    options_.say(fmt::format("replicas run as plain processes, because sandboxes do not work here: {}",
                             opened.error().message));
  }
  runtime_ = std::make_unique<node::ProcessRuntime>(
      node::ProcessRuntimeOptions{options_.dir.root, {"/proc/self/exe", "shim"}, base_environment()});
  return Done{};
}

Result<Done> NodeOfPlane::try_sandbox() {
  if (options_.no_sandbox) return *options_.no_sandbox;
  RuntimeChoice wanted = options_.settings.runtime;
  const char* program = wanted == RuntimeChoice::kRunc   ? "runc"
                        : wanted == RuntimeChoice::kCrun ? "crun"
                                                         : "";
  Result<node::SandboxSupport> support = node::sandbox_support(options_.dir.root, program);
  if (!support.ok()) return support.error();
  if (support->no_limits.empty()) support.value().no_limits = options_.no_limits;
  return open_sandbox(*support);
}

Result<Done> NodeOfPlane::open_sandbox(const node::SandboxSupport& support) {
  node::SandboxOptions sandbox{options_.dir.root, {"/proc/self/exe", "shim"}, support, gpus_, true};
  Result<std::unique_ptr<node::SandboxRuntime>> runtime = node::SandboxRuntime::open(sandbox);
  if (!runtime.ok()) {
    // Most jobs need only one another.
    std::string why = runtime.error().message;
    sandbox.outside = false;
    runtime = node::SandboxRuntime::open(sandbox);
    if (runtime.ok()) options_.say("pods cannot reach the world outside this machine: " + why);
  }
  if (!runtime.ok()) return runtime.error();
  runtime_ = std::move(runtime).value();
  return Done{};
}

std::vector<std::filesystem::path> NodeOfPlane::writable_folders(const json::object& pod) {
  std::vector<std::filesystem::path> folders;
  std::string ns(kube::namespace_of(pod));
  const json::array* volumes = kube::array_at(pod, {"spec", "volumes"});
  if (volumes == nullptr) return folders;
  for (const json::value& value : *volumes) {
    const json::object* volume = value.if_object();
    if (volume == nullptr) continue;
    std::string claim(kube::text_at(*volume, {"persistentVolumeClaim", "claimName"}));
    if (!claim.empty()) folders.push_back(options_.volumes / ns / claim);
    if (volume->contains("emptyDir")) {
      folders.push_back(options_.dir.root / "pods" / std::string(kube::uid_of(pod)) / "volumes" /
                        std::string(kube::text_at(*volume, {"name"})));
    }
  }
  return folders;
}

Result<Done> NodeOfPlane::bring_image(const std::string& image) {
  node::ImageStore store(options_.dir.images());
  if (store.find(image)) return Done{};
  Result<node::Image> pulled =
      store.pull(image, [this](std::string_view line) { options_.say(std::string(line)); });
  if (!pulled.ok()) return pulled.error();
  return Done{};
}

std::vector<client::Object> NodeOfPlane::live_pods() {
  Result<client::Reply> pods = client::list(client_, kube::kPods, "");
  if (!pods.ok()) return {};
  std::vector<client::Object> live = pods->items;
  std::erase_if(live, [](const client::Object& pod) {
    std::string_view phase = kube::text_at(*pod, {"status", "phase"});
    return kube::text_at(*pod, {"spec", "nodeName"}) != kNodeName || phase == "Succeeded" ||
           phase == "Failed";
  });
  return live;
}

// Asks every pod that runs to go and waits as long as their grace lasts.
void NodeOfPlane::end_pods() {
  Duration grace{0};
  for (const client::Object& pod : live_pods()) {
    grace =
        std::max(grace, seconds(kube::int_at(*pod, {"spec", "terminationGracePeriodSeconds"}).value_or(30)));
    Result<Done> removed =
        client::remove(client_, kube::kPods, kube::namespace_of(*pod), kube::name_of(*pod), {});
    if (!removed.ok() && removed.error().kind != ErrorKind::kNotFound) options_.say(removed.error().message);
  }
  Time patience_ends = wall_clock() + grace + kStopMargin;
  while (!live_pods().empty() && wall_clock() < patience_ends) std::this_thread::sleep_for(kNodeLooksEvery);
}

void NodeOfPlane::stop(Plane::Leave leave) {
  if (node_ == nullptr) return;
  if (leave == Plane::Leave::kStopped) end_pods();
  node_->stop(leave == Plane::Leave::kRunning);
}

}  // namespace

Result<std::unique_ptr<PlaneNode>> PlaneNode::start(const PlaneOptions& options, client::Client& client,
                                                    client::WatchSource& watches) {
  auto node = std::make_unique<NodeOfPlane>(options, client);
  if (Result<Done> begun = node->begin(watches); !begun.ok()) return begun.error();
  return std::unique_ptr<PlaneNode>(std::move(node));
}

}  // namespace trainyard::cli
