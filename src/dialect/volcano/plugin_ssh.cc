#include "dialect/volcano/plugin_ssh.h"

#include <fmt/format.h>

#include "base/hash.h"
#include "dialect/volcano/containers.h"
#include "dialect/volcano/hosts.h"
#include "kube/meta.h"
#include "kube/objects.h"

namespace trainyard::dialect::vc {
namespace {

constexpr std::string_view kFolder = ".ssh";
constexpr std::string_view kFiles[] = {"id_rsa", "id_rsa.pub", "authorized_keys", "config"};
constexpr int kOwnerOnly = 0600;      // what sshd asks of root's folder
constexpr int kReadableByAll = 0644;  // elsewhere the container's user is not root

std::string secret_name(const Spec& spec) { return spec.name + "-ssh"; }

std::string ssh_config(const SshPlugin& plugin, const Spec& spec) {
  std::string config = "StrictHostKeyChecking no\nUserKnownHostsFile /dev/null\n";
  for (const Task& task : spec.tasks) {
    for (const std::string& host : hosts_of(spec, task)) {
      config += fmt::format("Host {}\n  HostName {}\n  Port {}\n", host.substr(0, host.find('.')), host,
                            plugin.port);
    }
  }
  return config;
}

}  // namespace

void apply(const SshPlugin& plugin, const Spec& spec, json::object& pod) {
  std::string name = secret_name(spec);
  json::array items;
  for (std::string_view file : kFiles) {
    items.push_back({{"key", std::string(file)}, {"path", fmt::format("{}/{}", kFolder, file)}});
  }
  json::object secret;
  secret["secretName"] = name;
  secret["items"] = std::move(items);
  secret["defaultMode"] = plugin.path == "/root/.ssh" ? kOwnerOnly : kReadableByAll;
  add_volume(pod, {{"name", name}, {"secret", std::move(secret)}});
  add_mount(pod, {{"name", name}, {"mountPath", plugin.path}, {"subPath", std::string(kFolder)}},
            Containers::kAll);
}

model::Companion ssh_companion(const Spec& spec) {
  std::string name = secret_name(spec);
  uint64_t digest = fnv1a(name);
  return {.kind = model::CompanionKind::kSecret, .name = std::move(name), .digest = digest};
}

json::object render_ssh_secret(const SshPlugin& plugin, const Spec& spec, const json::object& owner,
                               const KeyPair* keys) {
  std::string private_key = plugin.private_key;
  std::string public_key = plugin.public_key;
  if (private_key.empty() && keys != nullptr) {
    private_key = keys->private_pem;
    public_key = keys->public_ssh;
    if (!public_key.ends_with('\n')) public_key += '\n';  // a line of authorized_keys
  }
  kube::NewMeta meta{.name = secret_name(spec), .ns = spec.name_space};
  if (!owner.empty()) meta.owner = owner;
  return kube::secret(meta, {{"id_rsa", private_key},
                             {"id_rsa.pub", public_key},
                             {"authorized_keys", public_key},
                             {"config", ssh_config(plugin, spec)}});
}

}  // namespace trainyard::dialect::vc
