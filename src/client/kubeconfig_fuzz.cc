// Whatever stands in a kubeconfig, in a URL or comes out of a plugin: no crash.
#include <cstddef>
#include <cstdint>

#include "client/kubeconfig.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace trainyard::client;
  std::string_view text(reinterpret_cast<const char*>(data), size);
  if (auto access = read_kubeconfig({{"/home/a/.kube/config", std::string(text)}}, ""); access.ok()) {
    (void)read_url(access->server);
    (void)proxy_for(*access, "http://proxy:3128", "localhost,.svc,10.0.0.0/8");
    if (access->exec) (void)exec_info(*access, "PEM", false);
  }
  (void)read_url(text);
  (void)read_exec_credential(text, "client.authentication.k8s.io/v1");
  return 0;
}
