// The namespaces that the containers of a pod share: network, ipc and uts. They have no
// process of their own: files on which they are mounted keep them alive. Any thread.
#pragma once

#include <filesystem>
#include <string>

#include "base/fd.h"
#include "base/result.h"

namespace trainyard::node {

struct NamespaceFiles {
  std::filesystem::path network;
  std::filesystem::path ipc;
  std::filesystem::path uts;
};

NamespaceFiles namespace_files(const std::filesystem::path& folder);
// A file that holds a namespace, not one that a reboot left behind.
bool is_namespace(const std::filesystem::path& file);

// Idempotent. Without its own network the pod has no network file.
Result<Done> make_namespaces(const std::filesystem::path& folder, const std::string& hostname,
                             bool own_network);
// Idempotent.
Result<Done> remove_namespaces(const std::filesystem::path& folder);

// A connection to a port inside a network namespace (a file; "" for the caller's): to
// 127.0.0.1, and where nobody listens there to `ip`. The descriptor does not block.
Result<Fd> connect_in(const std::filesystem::path& network, const std::string& ip, int port);

}  // namespace trainyard::node
