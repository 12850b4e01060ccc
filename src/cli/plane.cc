#include "cli/plane.h"

#include <fcntl.h>
#include <malloc.h>
#include <sys/stat.h>
#include <time.h>

#include <chrono>
#include <fstream>
#include <random>

#include "base/check.h"
#include "cli/dialects.h"
#include "cli/job_admission.h"
#include "cli/keys.h"
#include "cli/plane_node.h"
#include "control/loop.h"
#include "control/operator.h"
#include "control/scheduler.h"
#include "control/simulated_nodes.h"
#include "control/tensorboard.h"
#include "hub/hub.h"
#include "hub/hub_client.h"
#include "node/sandbox_user.h"
#include "node/user_scope.h"
#include "server/kubeconfig.h"
#include "server/server.h"
#include "server/tls_files.h"
#include "store/builtin.h"

namespace trainyard::cli {
namespace {

uint64_t random_seed() {
  std::random_device device;
  return (static_cast<uint64_t>(device()) << 32) | device();
}

// Without keys there is no secret to be made, and nobody to ask for others.
dialect::KeyPair must_make_keys() {
  Result<dialect::KeyPair> keys = make_key_pair();
  CHECK(keys.ok());
  return std::move(keys).value();
}

// A file that only we may read, written whole or not at all.
Result<Done> write_private(const std::filesystem::path& path, const std::string& text) {
  std::filesystem::path temporary = path;
  temporary += ".new";
  std::error_code ignored;
  std::filesystem::remove(temporary, ignored);
  Fd file(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  bool written =
      file.valid() && ::write(file.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
  if (!written || ::rename(temporary.c_str(), path.c_str()) != 0) {
    return Error{ErrorKind::kUnavailable,
                 fmt::format("cannot write {}: {}", path.string(), std::strerror(errno))};
  }
  return Done{};
}

// How TensorBoards run on this machine.
control::BoardSettings board_settings(const PlaneSettings& plane, std::string_view runtime) {
  control::BoardSettings settings;
  if (!plane.tensorboard.empty()) settings.program = plane.tensorboard;
  settings.pod_addresses = true;
  settings.plain_processes = runtime == "process";
  return settings;
}

// The port that the plane had when it was up last; 0 when it never was.
int port_before(const std::filesystem::path& file) {
  std::ifstream in(file);
  int port = 0;
  return in >> port && port > 0 && port < 65536 ? port : 0;
}

// Everything a plane consists of, in the order in which it must go away, last first.
class WholePlane final : public Plane {
 public:
  explicit WholePlane(PlaneOptions options) : options_(std::move(options)) {
    // Our scheduler is always there: jobs with a schedulingPolicy start whole.
    std::string& gangs = options_.settings.settings.gang_scheduler;
    if (gangs.empty()) gangs = "asked";
  }
  ~WholePlane() override { stop(Leave::kRunning); }

  Result<Done> begin();

  client::Client& client() override { return *client_; }
  server::PodAccess& pods() override { return node_->access(); }
  const server::Registry& registry() const override { return registry_; }
  std::string_view runtime() const override { return node_->runtime(); }
  std::string url() const override { return server_ ? server_->url() : ""; }
  std::map<std::string, PodUsage> usage(const std::vector<std::string>& pod_uids) override;
  std::vector<std::filesystem::path> writable_folders(const json::object& pod) override {
    return node_->writable_folders(pod);
  }
  std::vector<std::string> cannot_honour(const json::object& pod) override {
    return node_->cannot_honour(pod);
  }
  bool runs_on_image(const std::string& image) override { return node_->runs_on_image(image); }
  Result<Done> bring_image(const std::string& image) override { return node_->bring_image(image); }
  std::optional<std::string> failed() const override { return hub_->failed(); }
  void stop(Leave leave) override;

 private:
  Result<Done> open_hub();
  Result<Done> start_server();

  PlaneOptions options_;
  Fd lock_;
  std::unique_ptr<hub::Hub> hub_;
  std::unique_ptr<hub::HubClient> client_;
  std::unique_ptr<hub::HubWatches> watches_;
  server::Registry registry_;
  std::unique_ptr<PlaneNode> node_;
  std::unique_ptr<control::Operator> operator_;
  std::unique_ptr<control::Loop> operator_loop_;
  std::unique_ptr<control::Scheduler> scheduler_;
  std::unique_ptr<control::Loop> scheduler_loop_;
  std::unique_ptr<control::BoardKeeper> boards_;
  std::unique_ptr<control::Loop> boards_loop_;
  std::unique_ptr<control::SimulatedNodes> simulated_;
  std::unique_ptr<control::Loop> simulated_loop_;
  std::unique_ptr<server::Server> server_;
};

Result<Done> WholePlane::open_hub() {
  hub::Options options;
  options.file = options_.dir.store();
  options.clock = wall_clock;
  options.seed = random_seed();
  Result<std::unique_ptr<hub::Hub>> hub = hub::Hub::open(std::move(options));
  if (!hub.ok()) return hub.error();
  hub_ = std::move(hub).value();
  store::admit_builtins([this](const kube::Resource& resource, store::Admission admission) {
    hub_->set_admission(resource, std::move(admission));
  });
  for (const dialect::Dialect& dialect : all_dialects()) {
    hub_->set_admission(dialect.resource, job_admission(dialect, options_.settings.settings));
  }
  client_ = std::make_unique<hub::HubClient>(*hub_);
  watches_ = std::make_unique<hub::HubWatches>(*hub_);
  return Done{};
}

Result<Done> WholePlane::begin() {
  Result<Fd> lock = claim(options_.dir);
  if (!lock.ok()) return lock.error();
  lock_ = std::move(lock).value();
  // Before there is a second thread: an ordinary user becomes root in a namespace of his own.
  if (options_.settings.runtime != RuntimeChoice::kProcess) {
    Result<Done> scope = node::enter_user_scope(options_.dir.root);
    if (!scope.ok()) options_.no_limits = scope.error().message;
    Result<Done> entered = node::enter_user_namespace(options_.dir.root);
    if (!entered.ok()) options_.no_sandbox = entered.error();
  }
  if (Result<Done> opened = open_hub(); !opened.ok()) return opened;
  Result<std::unique_ptr<PlaneNode>> node = PlaneNode::start(options_, *client_, *watches_);
  if (!node.ok()) return node.error();
  node_ = std::move(node).value();

  control::OperatorOptions operator_options;
  operator_options.settings = options_.settings.settings;
  operator_options.at_rest = client::Form::kDocument;  // the hub holds them anyway
  std::span<const dialect::Dialect> dialects = all_dialects();
  operator_ = std::make_unique<control::Operator>(
      control::OperatorPorts{*client_, must_make_keys, wall_clock},
      std::vector(dialects.begin(), dialects.end()), std::move(operator_options));
  operator_loop_ = std::make_unique<control::Loop>(*operator_, *client_, *watches_, wall_clock);
  control::SchedulerOptions scheduler_options;
  scheduler_options.front.overcommit_cpu = options_.overcommit_cpu;
  scheduler_ = std::make_unique<control::Scheduler>(control::SchedulerPorts{*client_, wall_clock},
                                                    std::move(scheduler_options));
  scheduler_loop_ = std::make_unique<control::Loop>(*scheduler_, *client_, *watches_, wall_clock);
  operator_loop_->start();
  scheduler_loop_->start();
  boards_ = std::make_unique<control::BoardKeeper>(
      *client_, control::BoardOptions{board_settings(options_.settings, runtime()), "", {}});
  boards_loop_ = std::make_unique<control::Loop>(*boards_, *client_, *watches_, wall_clock);
  boards_loop_->start();
  simulated_ = std::make_unique<control::SimulatedNodes>(*client_, std::string(kNodeName));
  simulated_loop_ = std::make_unique<control::Loop>(*simulated_, *client_, *watches_, wall_clock);
  simulated_loop_->start();
  return options_.serve ? start_server() : Result<Done>(Done{});
}

Result<Done> WholePlane::start_server() {
  bool loopback =
      options_.address == "127.0.0.1" || options_.address == "::1" || options_.address == "localhost";
  std::vector<std::string> more_names;
  if (!loopback) more_names.push_back(options_.address);
  Result<server::TlsFiles> tls = server::ensure_tls_files(options_.dir.pki(), more_names, wall_clock());
  if (!tls.ok()) return tls.error();
  std::filesystem::path port_file = options_.dir.root / "port";
  server::ServerOptions server_options;
  server_options.address = options_.address;
  server_options.port = static_cast<uint16_t>(options_.port != 0 ? options_.port : port_before(port_file));
  server_options.tls = *tls;
  server_options.more_names = more_names;
  server_options.clock = wall_clock;
  Result<std::unique_ptr<server::Server>> server =
      server::Server::start(server_options, *hub_, registry_, &node_->access());
  if (!server.ok() && options_.port == 0 && server_options.port != 0) {
    // Somebody else has the port of last time: any other will do, the kubeconfig says which.
    server_options.port = 0;
    server = server::Server::start(server_options, *hub_, registry_, &node_->access());
  }
  if (!server.ok()) return server.error();
  server_ = std::move(server).value();
  if (Result<Done> kept = write_private(port_file, fmt::format("{}\n", server_->port())); !kept.ok())
    return kept;
  server::KubeconfigParts parts;
  parts.url = server_->url();
  parts.ca_certificate = tls->ca_certificate;
  parts.token = tls->token;
  return write_private(options_.dir.kubeconfig(), server::kubeconfig_text(parts));
}

std::map<std::string, PodUsage> WholePlane::usage(const std::vector<std::string>& pod_uids) {
  std::map<std::string, PodUsage> out;
  for (const std::string& uid : pod_uids) {
    std::vector<server::ContainerUsage> containers = node_->access().usage(uid);
    if (containers.empty()) continue;
    PodUsage& sum = out[uid];
    for (const server::ContainerUsage& one : containers) {
      sum.cpu_millis += one.usage.cpu_nanocores / 1'000'000;
      sum.memory_bytes += one.usage.memory_bytes;
    }
  }
  return out;
}

void WholePlane::stop(Leave leave) {
  if (server_) server_->stop();
  if (operator_loop_) operator_loop_->stop();
  if (scheduler_loop_) scheduler_loop_->stop();
  if (boards_loop_) boards_loop_->stop();
  if (simulated_loop_) simulated_loop_->stop();
  if (node_) node_->stop(leave);
}

}  // namespace

Result<std::unique_ptr<Plane>> Plane::start(PlaneOptions options) {
  // What a large request, list or event took is given back at once; the allocator would come to keep pieces
  // of up to 32 MB for the next.
  constexpr int kGivenBackBytes = 256 * 1024;
  ::mallopt(M_MMAP_THRESHOLD, kGivenBackBytes);
  auto plane = std::make_unique<WholePlane>(std::move(options));
  if (Result<Done> begun = plane->begin(); !begun.ok()) return begun.error();
  return std::unique_ptr<Plane>(std::move(plane));
}

Time wall_clock() {
  auto since_1970 = std::chrono::system_clock::now().time_since_epoch();
  return {std::chrono::duration_cast<std::chrono::milliseconds>(since_1970).count()};
}

Duration uptime() {
  timespec since_boot{};
  CHECK(clock_gettime(CLOCK_BOOTTIME, &since_boot) == 0);
  return std::chrono::duration_cast<Duration>(std::chrono::seconds{since_boot.tv_sec} +
                                              std::chrono::nanoseconds{since_boot.tv_nsec});
}

}  // namespace trainyard::cli
