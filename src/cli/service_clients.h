// ServiceClients: how a program that serves a cluster (the operator, the scheduler) reaches it
// and what it is called there.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "cli/service_command.h"
#include "client/http_client.h"

namespace trainyard::cli {

struct ServiceClients {
  std::unique_ptr<client::HttpClient> work;
  // Renewals of the lease have a connection of their own and give up before they come too late.
  std::unique_ptr<client::HttpClient> lease;
};

// Where the command says that the cluster is. Nothing is sent yet.
Result<ServiceClients> connect_service(const ServiceCommand& command, client::HttpOptions options);

// Our name in a lease unless one was given: the pod's that we run in ($TRAINYARD_POD), as its containers come
// one after the other, and who is started again there goes on with the lease of who was killed; else the
// host's name and something random.
std::string service_identity();

// Where the lease is: as asked for, else the namespace that we run in, else "default".
std::string lease_namespace(const std::string& asked, const client::HttpClient& client);

}  // namespace trainyard::cli
