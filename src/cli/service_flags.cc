#include "cli/service_flags.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

namespace trainyard::cli {

void ServiceFlags::add_cluster(CLI::App& app, ServiceCommand& command) {
  app.add_option(
      "--kubeconfig", command.kubeconfig,
      "The file that leads to the cluster; by default $KUBECONFIG, ~/.kube/config or, in a pod, its "
      "service account");
  app.add_option("--context", command.context, "The context of the kubeconfig; by default the current one");
  app.add_option("--master", command.server,
                 "The API server's address, such as https://10.0.0.1:6443, in place of the kubeconfig's");
}

void ServiceFlags::add_lease(CLI::App& app, ServiceCommand& command, const std::string& several) {
  app.add_flag("--leader-elect,!--no-leader-elect", command.leader_elect,
               fmt::format("Only one of several {} works, the others stand by (the default)", several));
  app.add_option("--leader-election-namespace", command.lease_ns,
                 "Where the Lease is; by default the namespace that we run in");
  app.add_option("--leader-election-id", command.lease_name, "The Lease's name")->capture_default_str();
  app.add_option(
      "--identity", command.identity,
      "Our name in the Lease, which no other may have; by default $TRAINYARD_POD, or the host's name and "
      "something random");
}

void ServiceFlags::add_connections(CLI::App& app, ServiceCommand& command, const std::string& about) {
  app.add_option("--connections", command.connections, about)
      ->capture_default_str()
      ->check(CLI::Range(1, 256));
}

namespace {

// Zap takes numbers too: the larger, the more is said. 1 is its debug.
std::string level_of_number(std::string word) {
  bool number = !word.empty() && word[0] != '0' && word.find_first_not_of("0123456789") == std::string::npos;
  return number ? "debug" : word;
}

}  // namespace

void ServiceFlags::add_outlook(CLI::App& app, ServiceCommand& command) {
  app.add_option("--metrics-addr,--metrics-bind-address", command.metrics_address,
                 "Where /metrics is served; 0 for nowhere")
      ->capture_default_str();
  app.add_option("--health-addr,--health-probe-bind-address", command.health_address,
                 "Where /healthz and /readyz are served; 0 for nowhere")
      ->capture_default_str();
  app.add_option("--log-level,--zap-log-level", log_level_, "debug, info, warn or error")
      ->capture_default_str()
      ->transform(CLI::IsMember({"debug", "info", "warn", "error", "panic"}, CLI::ignore_case))
      ->transform(level_of_number);
  app.add_option("--log-format,--zap-encoder", log_form_, "text or json")
      ->capture_default_str()
      ->transform(CLI::IsMember({"text", "console", "json"}, CLI::ignore_case));
}

void ServiceFlags::read(ServiceCommand& command) const {
  command.log_level = log_level_ == "debug"                            ? LogLevel::kDebug
                      : log_level_ == "warn"                           ? LogLevel::kWarning
                      : log_level_ == "error" || log_level_ == "panic" ? LogLevel::kError
                                                                       : LogLevel::kInfo;
  command.log_form = log_form_ == "json" ? LogForm::kJson : LogForm::kText;
}

}  // namespace trainyard::cli
