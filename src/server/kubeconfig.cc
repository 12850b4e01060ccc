#include "server/kubeconfig.h"

#include "kube/json.h"
#include "kube/objects.h"
#include "kube/yaml.h"

namespace trainyard::server {

std::string kubeconfig_text(const KubeconfigParts& parts) {
  json::object cluster{{"server", parts.url},
                       {"certificate-authority-data", kube::encode_base64(parts.ca_certificate)}};
  json::object context{{"cluster", parts.name}, {"namespace", parts.ns}, {"user", parts.name}};
  json::object config{
      {"apiVersion", "v1"},
      {"kind", "Config"},
      {"clusters", json::array{json::object{{"name", parts.name}, {"cluster", std::move(cluster)}}}},
      {"contexts", json::array{json::object{{"name", parts.name}, {"context", std::move(context)}}}},
      {"current-context", parts.name},
      {"users",
       json::array{json::object{{"name", parts.name}, {"user", json::object{{"token", parts.token}}}}}},
  };
  return kube::to_yaml(config);
}

}  // namespace trainyard::server
