#include "node/not_honoured.h"

#include <fmt/format.h>

#include <algorithm>

#include "kube/access.h"
#include "node/pod_plan.h"

namespace trainyard::node {

using kube::text_at;

namespace {

class Words {
 public:
  void say(std::string text) {
    if (std::find(words_.begin(), words_.end(), text) == words_.end()) words_.push_back(std::move(text));
  }
  std::vector<std::string> take() { return std::move(words_); }

 private:
  std::vector<std::string> words_;
};

// Of the pod or of a container: what confines a process beyond namespaces and capabilities.
void look_at_security(const json::object& holder, Words& words) {
  for (const auto& [field, title] :
       {std::pair("seccompProfile", "seccomp"), std::pair("appArmorProfile", "AppArmor")}) {
    std::string_view type = text_at(holder, {"securityContext", field, "type"});
    if (type.empty() || type == "Unconfined") continue;
    words.say(fmt::format("the {} profile {} is not applied", title, type));
  }
  if (kube::object_at(holder, {"securityContext", "seLinuxOptions"}) != nullptr) {
    words.say("seLinuxOptions are not applied");
  }
}

void look_at_spec(const json::object& spec, Words& words) {
  if (kube::object_at(spec, {"dnsConfig"}) != nullptr || text_at(spec, {"dnsPolicy"}) == "None") {
    words.say("dnsPolicy and dnsConfig are not applied: names are looked up as on this machine");
  }
  for (const char* shared : {"hostPID", "hostIPC", "shareProcessNamespace"}) {
    if (kube::bool_at(spec, {shared}).value_or(false)) words.say(fmt::format("{} is not applied", shared));
  }
  if (std::string_view name = text_at(spec, {"runtimeClassName"}); !name.empty()) {
    words.say(fmt::format("runtimeClassName {} is not applied: there is one runtime here", name));
  }
  if (kube::bool_at(spec, {"setHostnameAsFQDN"}).value_or(false)) {
    words.say("setHostnameAsFQDN is not applied: the name of the host is the short one");
  }
  if (!kube::bool_at(spec, {"hostUsers"}).value_or(true)) words.say("hostUsers: false is not applied");
  for (const json::value& claim : kube::or_empty(kube::array_at(spec, {"resourceClaims"}))) {
    if (!claim.is_object()) continue;
    words.say(fmt::format("resourceClaim {} is not applied", text_at(claim.get_object(), {"name"})));
  }
}

void look_at_volume(const json::object& volume, Words& words) {
  if (std::string_view medium = text_at(volume, {"emptyDir", "medium"}); medium.starts_with("HugePages")) {
    words.say(fmt::format("volume {}: there are no huge pages here: it is an ordinary folder",
                          text_at(volume, {"name"})));
  }
  const json::array* sources = kube::array_at(volume, {"projected", "sources"});
  for (const json::value& source : kube::or_empty(sources)) {
    const json::object* token =
        source.is_object() ? kube::object_at(source.get_object(), {"serviceAccountToken"}) : nullptr;
    if (token == nullptr) continue;
    words.say(fmt::format("volume {}: there are no tokens of service accounts here: it has no file {}",
                          text_at(volume, {"name"}), text_at(*token, {"path"})));
  }
}

void look_at_container(const json::object& container, bool host_network, Words& words) {
  std::string_view name = text_at(container, {"name"});
  if (kube::find(container, {"resources", "limits", "ephemeral-storage"}) != nullptr) {
    words.say(fmt::format("container {}: the limit of ephemeral-storage is not enforced", name));
  }
  for (const json::value& port : kube::or_empty(kube::array_at(container, {"ports"}))) {
    if (!port.is_object()) continue;
    std::optional<int64_t> host = kube::int_at(port.get_object(), {"hostPort"});
    if (!host || host_network) continue;
    words.say(fmt::format("container {}: hostPort {} is not opened on this machine", name, *host));
  }
  for (const json::value& device : kube::or_empty(kube::array_at(container, {"volumeDevices"}))) {
    if (!device.is_object()) continue;
    words.say(fmt::format("container {}: there are no block devices of volumes here: it has no {}", name,
                          text_at(device.get_object(), {"devicePath"})));
  }
  for (const json::value& mount : kube::or_empty(kube::array_at(container, {"volumeMounts"}))) {
    if (!mount.is_object()) continue;
    std::string_view propagation = text_at(mount.get_object(), {"mountPropagation"});
    if (propagation.empty() || propagation == "None") continue;
    words.say(fmt::format("container {}: mountPropagation {} is not applied to {}", name, propagation,
                          text_at(mount.get_object(), {"mountPath"})));
  }
}

}  // namespace

std::vector<std::string> not_honoured(const json::object& pod) {
  Words words;
  if (const json::object* spec = kube::object_at(pod, {"spec"})) {
    look_at_security(*spec, words);
    look_at_spec(*spec, words);
  }
  for (const json::value& volume : kube::or_empty(kube::array_at(pod, {"spec", "volumes"}))) {
    if (volume.is_object()) look_at_volume(volume.get_object(), words);
  }
  bool host_network = kube::bool_at(pod, {"spec", "hostNetwork"}).value_or(false);
  for (bool init : {true, false}) {
    for (const json::object* container : containers_of(pod, init)) {
      look_at_security(*container, words);
      look_at_container(*container, host_network, words);
    }
  }
  return words.take();
}

}  // namespace trainyard::node
