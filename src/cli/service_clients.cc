#include "cli/service_clients.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <random>

#include "client/credentials.h"

namespace trainyard::cli {
namespace {

// A renewal that takes longer than this comes too late anyway.
constexpr Duration kLeaseTimeout{4'000};

}  // namespace

Result<ServiceClients> connect_service(const ServiceCommand& command, client::HttpOptions options) {
  Result<client::Access> access =
      client::find_access(client::surroundings(), command.kubeconfig, command.context);
  // An address may be all that there is, as with kubectl proxy.
  if (!access.ok() && command.kubeconfig.empty() && !command.server.empty()) access = client::Access{};
  if (!access.ok()) return access.error();
  if (!command.server.empty()) {
    access.value().server = command.server;
    access.value().where = "--master";
  }
  ServiceClients clients;
  Result<std::unique_ptr<client::HttpClient>> made = client::HttpClient::make(*access, options);
  if (!made.ok()) return made.error();
  clients.work = std::move(made).value();
  options.connect_timeout = kLeaseTimeout;
  options.request_timeout = kLeaseTimeout;
  options.retries_max = 0;
  options.may_write = nullptr;  // who does not lead asks for the lead
  made = client::HttpClient::make(*access, options);
  if (!made.ok()) return made.error();
  clients.lease = std::move(made).value();
  return clients;
}

std::string service_identity() {
  if (const char* pod = std::getenv("TRAINYARD_POD"); pod != nullptr && *pod != '\0') return pod;
  char host[256] = "trainyard";
  ::gethostname(host, sizeof host - 1);
  std::random_device device;
  return fmt::format("{}_{:08x}", host, device());
}

std::string lease_namespace(const std::string& asked, const client::HttpClient& client) {
  if (!asked.empty()) return asked;
  return client.access().ns.empty() ? "default" : client.access().ns;
}

}  // namespace trainyard::cli
