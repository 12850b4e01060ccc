// The kubeconfig that leads kubectl and the official clients to this plane. Pure.
#pragma once

#include <string>
#include <string_view>

namespace trainyard::server {

struct KubeconfigParts {
  std::string name = "trainyard";  // of cluster, user and context
  std::string url;                 // "https://127.0.0.1:6443"
  std::string ca_certificate;      // PEM, embedded
  std::string token;
  std::string ns = "default";
};

// YAML.
std::string kubeconfig_text(const KubeconfigParts& parts);

}  // namespace trainyard::server
