#include "cli/connect.h"

#include <fmt/format.h>

#include <chrono>
#include <sstream>

#include "cli/data_dir.h"
#include "client/credentials.h"
#include "client/http_client.h"

namespace trainyard::cli {
namespace {

constexpr Duration kProbeTimeout{2'000};

Time wall_time() {
  auto since_1970 = std::chrono::system_clock::now().time_since_epoch();
  return {std::chrono::duration_cast<std::chrono::milliseconds>(since_1970).count()};
}

class HttpConnection final : public Connection {
 public:
  HttpConnection(std::unique_ptr<client::HttpClient> client, const Target& target,
                 std::filesystem::path kept_logs)
      : client_(std::move(client)),
        cluster_{*client_,
                 *client_,
                 *client_,
                 wall_time,
                 "",
                 target.all_namespaces,
                 !target.ns.empty(),
                 client_->access().where,
                 std::move(kept_logs)} {
    const std::string& of_context = client_->access().ns;
    cluster_.ns = !target.ns.empty() ? target.ns : (of_context.empty() ? "default" : of_context);
  }
  const Cluster& cluster() const override { return cluster_; }
  std::string server() const override { return client_->access().server; }

 private:
  std::unique_ptr<client::HttpClient> client_;
  Cluster cluster_;
};

Result<std::unique_ptr<Connection>> over_http(client::Access access, const Target& target,
                                              std::filesystem::path kept_logs) {
  Result<std::unique_ptr<client::HttpClient>> made = client::HttpClient::make(std::move(access));
  if (!made.ok()) return made.error();
  return std::unique_ptr<Connection>(
      std::make_unique<HttpConnection>(std::move(made).value(), target, std::move(kept_logs)));
}

// "Connection refused": where it was tried the sentence around it says.
std::string without_server(const std::string& message, const client::Access& access) {
  std::string before = fmt::format("cannot reach {} ({}): ", access.server, access.where);
  return message.starts_with(before) ? message.substr(before.size()) : message;
}

// The access of a plane that runs in this folder, or why there is none.
Result<client::Access> plane_access(const DataDir& dir, const client::Surroundings& around) {
  std::error_code ignored;
  if (!std::filesystem::exists(dir.kubeconfig(), ignored)) {
    return Error{ErrorKind::kUnavailable, fmt::format("no embedded plane has run in {}", dir.root.string())};
  }
  Result<client::Access> access = client::find_access(around, dir.kubeconfig().string(), "");
  if (!access.ok()) return access;
  access.value().where = fmt::format("the embedded plane of {}", dir.root.string());
  client::HttpOptions options;
  options.connect_timeout = kProbeTimeout;
  options.request_timeout = kProbeTimeout;
  options.retries_max = 0;
  Result<std::unique_ptr<client::HttpClient>> probe = client::HttpClient::make(*access, options);
  if (!probe.ok()) return probe.error();
  Result<std::string> version = probe.value()->read("/version");
  if (version.ok()) return access;
  return Error{ErrorKind::kUnavailable,
               fmt::format("the embedded plane of {} does not run ({})", dir.root.string(),
                           without_server(version.error().message, *access))};
}

// What a plane of this machine keeps of pods that are gone, when one of the files (as in $KUBECONFIG)
// that led to it is its own; "" otherwise.
std::filesystem::path logs_beside(const std::string& files, const client::Access& access,
                                  const client::Surroundings& around) {
  std::istringstream each(files);
  for (std::string file; std::getline(each, file, ':');) {
    DataDir dir{std::filesystem::path(file).parent_path()};
    std::error_code ignored;
    if (!std::filesystem::equivalent(file, dir.kubeconfig(), ignored)) continue;
    Result<client::Access> own = client::find_access(around, dir.kubeconfig().string(), "");
    if (!own.ok() || own->server != access.server) continue;
    if (std::filesystem::is_directory(dir.logs(), ignored)) return dir.logs();
  }
  return {};
}

}  // namespace

Result<std::unique_ptr<Connection>> connect(const Target& target) {
  client::Surroundings around = client::surroundings();
  if (!target.kubeconfig.empty() || !target.context.empty()) {
    Result<client::Access> access = client::find_access(around, target.kubeconfig, target.context);
    if (!access.ok()) return access.error();
    const std::string& files = target.kubeconfig.empty() ? around.kubeconfig : target.kubeconfig;
    return over_http(*access, target, logs_beside(files, *access, around));
  }
  Result<std::filesystem::path> folder =
      target.data_dir.empty() ? default_data_dir() : Result<std::filesystem::path>(target.data_dir);
  std::string no_plane = folder.ok() ? "" : folder.error().message;
  if (folder.ok()) {
    DataDir dir{*folder};
    Result<client::Access> plane = plane_access(dir, around);
    if (plane.ok()) return over_http(*plane, target, dir.logs());
    no_plane = plane.error().message;
  }
  if (!target.data_dir.empty()) {
    return Error{ErrorKind::kUnavailable, fmt::format("{}; start it with 'trainyard up --data-dir {}'",
                                                      no_plane, for_a_shell(target.data_dir))};
  }
  Result<client::Access> access = client::find_access(around, "", "");
  std::error_code ignored;
  if (folder.ok() && std::filesystem::equivalent(around.kubeconfig, DataDir{*folder}.kubeconfig(), ignored)) {
    return Error{ErrorKind::kUnavailable, no_plane + "; start it with 'trainyard up --detach'"};
  }
  if (access.ok()) return over_http(*access, target, logs_beside(around.kubeconfig, *access, around));
  return Error{
      access.error().kind,
      fmt::format("there is nothing to talk to: {}; {}.\nStart a plane on this machine with 'trainyard "
                  "up --detach', or name a cluster with --kubeconfig",
                  no_plane, access.error().message)};
}

}  // namespace trainyard::cli
