#include "node/env_plan.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "kube/access.h"
#include "kube/meta.h"
#include "kube/objects.h"

namespace trainyard::node {

using kube::text_at;

namespace {

Error bad_env(std::string words) { return Error{ErrorKind::kInvalid, std::move(words)}; }

std::string upper_name(std::string_view name) {
  std::string out;
  for (char c : name) out += c == '-' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return out;
}

bool is_env_name(std::string_view name) {
  if (name.empty() || (name[0] >= '0' && name[0] <= '9')) return false;
  return std::none_of(name.begin(), name.end(), [](char c) { return c == '=' || c <= ' ' || c == 127; });
}

// The x of labels['x'] when the path is about `what`.
std::optional<std::string_view> subscript(std::string_view path, std::string_view what) {
  if (!path.starts_with(what) || !path.substr(what.size()).starts_with("['") || !path.ends_with("']")) {
    return std::nullopt;
  }
  return path.substr(what.size() + 2, path.size() - what.size() - 4);
}

// All of them, one per line, as a file of the downward API holds them.
std::string all_pairs(const json::object* pairs) {
  std::map<std::string_view, std::string_view> sorted;
  if (pairs != nullptr) {
    for (const auto& pair : *pairs) {
      if (pair.value().is_string()) sorted[kube::view(pair.key())] = kube::view(pair.value().get_string());
    }
  }
  std::string out;
  for (const auto& [key, value] : sorted) {
    if (!out.empty()) out += '\n';
    out += fmt::format("{}={}", key, json::serialize(json::string(kube::jview(value))));
  }
  return out;
}

class EnvPlanner {
 public:
  EnvPlanner(const json::object& pod, const json::object& container, const Around& around)
      : pod_(pod), container_(container), around_(around) {}

  Result<Env> run() {
    for (auto& [name, value] : service_env(around_.services)) {
      if (Result<Done> done = set(name, value); !done.ok()) return done.error();
    }
    if (const json::array* sources = kube::array_at(container_, {"envFrom"})) {
      for (const json::value& entry : *sources) {
        Result<Done> done = entry.is_object() ? add_from(entry.get_object()) : Done{};
        if (!done.ok()) return done.error();
      }
    }
    if (const json::array* entries = kube::array_at(container_, {"env"})) {
      for (const json::value& entry : *entries) {
        Result<Done> done = entry.is_object() ? add(entry.get_object()) : Done{};
        if (!done.ok()) return done.error();
      }
    }
    Env env;
    for (const std::string& name : order_) env.emplace_back(name, values_[name]);
    return env;
  }
  std::vector<std::string> take_left_out() { return std::move(left_out_); }

 private:
  Result<Done> set(const std::string& name, std::string value) {
    bytes_ += name.size() + value.size();
    if (bytes_ > kEnvironmentMax) {
      return bad_env(
          fmt::format("the environment is larger than {} bytes at {}", kEnvironmentMax, kube::shown(name)));
    }
    if (!values_.contains(name)) order_.push_back(name);
    values_[name] = std::move(value);
    return Done{};
  }

  Result<Done> add_from(const json::object& source) {
    std::string prefix(text_at(source, {"prefix"}));
    for (bool is_secret : {false, true}) {
      const json::object* ref = kube::object_at(source, {is_secret ? "secretRef" : "configMapRef"});
      if (ref == nullptr) continue;
      Result<std::map<std::string, std::string>> contents = read(*ref, is_secret);
      if (!contents.ok()) return contents.error();
      std::vector<std::string> no_names;
      for (const auto& [key, value] : *contents) {
        if (!is_env_name(prefix + key)) {
          no_names.push_back(prefix + key);
          continue;
        }
        if (Result<Done> done = set(prefix + key, value); !done.ok()) return done;
      }
      if (no_names.empty()) continue;
      left_out_.push_back(
          fmt::format("Keys [{}] from the EnvFrom {} {}/{} were skipped since they are considered invalid "
                      "environment variable names.",
                      fmt::join(no_names, ", "), is_secret ? "secret" : "configMap", kube::namespace_of(pod_),
                      text_at(*ref, {"name"})));
    }
    return Done{};
  }

  // What a reference names; empty when it is optional and not there.
  Result<std::map<std::string, std::string>> read(const json::object& ref, bool is_secret) {
    std::string name(text_at(ref, {"name"}));
    const auto& known = is_secret ? around_.secrets : around_.config_maps;
    auto found = known.find(name);
    if (found != known.end() && found->second != nullptr) return variables_of(found->second, is_secret);
    if (kube::bool_at(ref, {"optional"}).value_or(false)) return std::map<std::string, std::string>{};
    return bad_env(fmt::format("{} \"{}\" not found", is_secret ? "secret" : "configmap", name));
  }

  Result<Done> add(const json::object& entry) {
    std::string name(text_at(entry, {"name"}));
    const json::object* from = kube::object_at(entry, {"valueFrom"});
    if (from == nullptr) return set(name, expand(text_at(entry, {"value"}), values_));
    if (const json::object* ref = kube::object_at(*from, {"fieldRef"})) {
      return put(name, field_of(pod_, around_, text_at(*ref, {"fieldPath"})));
    }
    if (const json::object* ref = kube::object_at(*from, {"resourceFieldRef"})) {
      return put(name, resource_field_of(pod_, *ref, text_at(container_, {"name"}), around_));
    }
    for (bool is_secret : {false, true}) {
      const json::object* ref = kube::object_at(*from, {is_secret ? "secretKeyRef" : "configMapKeyRef"});
      if (ref != nullptr) return add_key(name, *ref, is_secret);
    }
    return Done{};
  }

  Result<Done> put(const std::string& name, const Result<std::string>& value) {
    if (!value.ok()) return value.error();
    return set(name, *value);
  }

  Result<Done> add_key(const std::string& name, const json::object& ref, bool is_secret) {
    Result<std::map<std::string, std::string>> contents = read(ref, is_secret);
    if (!contents.ok()) return contents.error();
    std::string key(text_at(ref, {"key"}));
    auto found = contents->find(key);
    if (found != contents->end()) return set(name, found->second);
    if (kube::bool_at(ref, {"optional"}).value_or(false)) return Done{};
    return bad_env(fmt::format("couldn't find key {} in {} {}/{}", key, is_secret ? "Secret" : "ConfigMap",
                               kube::namespace_of(pod_), text_at(ref, {"name"})));
  }

  const json::object& pod_;
  const json::object& container_;
  const Around& around_;
  std::vector<std::string> order_;
  std::map<std::string, std::string> values_;
  std::vector<std::string> left_out_;
  size_t bytes_ = 0;  // of all that was set
};

const json::object* container_named(const json::object& pod, std::string_view name) {
  for (std::string_view list : {"containers", "initContainers"}) {
    const json::array* containers = kube::array_at(pod, {"spec", list});
    if (containers == nullptr) continue;
    for (const json::value& entry : *containers) {
      if (entry.is_object() && text_at(entry.get_object(), {"name"}) == name) return &entry.get_object();
    }
  }
  return nullptr;
}

}  // namespace

std::string expand(std::string_view text, const std::map<std::string, std::string>& values) {
  std::string out;
  for (size_t at = 0; at < text.size() && out.size() <= std::max(kProgramTextMax, text.size()); ++at) {
    if (text[at] != '$' || at + 1 == text.size()) {
      out += text[at];
      continue;
    }
    char next = text[at + 1];
    size_t close = next == '(' ? text.find(')', at) : std::string_view::npos;
    if (next == '$') {
      out += '$';
      ++at;
    } else if (close != std::string_view::npos) {
      std::string name(text.substr(at + 2, close - at - 2));
      auto found = values.find(name);
      out += found == values.end() ? fmt::format("$({})", name) : found->second;
      at = close;
    } else {
      out += '$';
    }
  }
  return out;
}

Result<std::string> field_of(const json::object& pod, const Around& around, std::string_view path) {
  if (path == "metadata.name") return std::string(kube::name_of(pod));
  if (path == "metadata.namespace") return std::string(kube::namespace_of(pod));
  if (path == "metadata.uid") return std::string(kube::uid_of(pod));
  if (path == "metadata.labels") return all_pairs(kube::object_at(pod, {"metadata", "labels"}));
  if (path == "metadata.annotations") return all_pairs(kube::object_at(pod, {"metadata", "annotations"}));
  if (auto key = subscript(path, "metadata.labels")) return std::string(kube::label_of(pod, *key));
  if (auto key = subscript(path, "metadata.annotations")) return std::string(kube::annotation_of(pod, *key));
  if (path == "spec.nodeName") return around.node_name;
  if (path == "spec.serviceAccountName") return std::string(text_at(pod, {"spec", "serviceAccountName"}));
  if (path == "status.hostIP" || path == "status.hostIPs") return around.host_ip;
  if (path == "status.podIP" || path == "status.podIPs") return around.pod_ip;
  return bad_env(fmt::format("unsupported fieldPath: {}", path));
}

Result<std::string> resource_field_of(const json::object& pod, const json::object& reference,
                                      std::string_view own_container, const Around& around) {
  std::string_view named = text_at(reference, {"containerName"});
  const json::object* container = container_named(pod, named.empty() ? own_container : named);
  std::string_view resource = text_at(reference, {"resource"});
  size_t dot = resource.find('.');
  std::string_view kind = resource.substr(0, dot);
  if (container == nullptr || dot == std::string_view::npos || (kind != "limits" && kind != "requests")) {
    return bad_env(fmt::format("unsupported container resource: {}", resource));
  }
  std::string_view what = resource.substr(dot + 1);
  const json::value* wanted = kube::find(*container, {"resources", kind, what});
  kube::Quantity amount;
  if (wanted != nullptr) {
    Result<kube::Quantity> read = kube::Quantity::from_json(*wanted);
    if (!read.ok()) return read.error();
    amount = *read;
  } else if (kind == "limits" && what == "cpu") {
    amount = kube::Quantity::of_milli(around.node_cpu_millis);
  } else if (kind == "limits" && what == "memory") {
    amount = kube::Quantity::of_whole(around.node_memory_bytes);
  } else if (kind == "limits" && what == "ephemeral-storage") {
    amount = kube::Quantity::of_whole(around.node_disk_bytes);
  }
  const json::value* divisor = kube::find(reference, {"divisor"});
  kube::Quantity by = kube::Quantity::of_whole(1);
  if (divisor != nullptr) {
    Result<kube::Quantity> read = kube::Quantity::from_json(*divisor);
    if (!read.ok()) return read.error();
    if (!read->is_zero()) by = *read;
  }
  if (what == "cpu") {
    int64_t step = std::max<int64_t>(1, by.value_milli());
    return std::to_string((amount.value_milli() + step - 1) / step);
  }
  int64_t step = std::max<int64_t>(1, by.value());
  return std::to_string((amount.value() + step - 1) / step);
}

Env service_env(const std::vector<Object>& services) {
  Env env;
  for (const Object& service : services) {
    std::string_view address = text_at(*service, {"spec", "clusterIP"});
    const json::array* ports = kube::array_at(*service, {"spec", "ports"});
    if (address.empty() || address == "None" || ports == nullptr || ports->empty()) continue;
    // Its address leads nowhere, its name to a pod.
    std::string host = fmt::format("{}.{}.svc", kube::name_of(*service), kube::namespace_of(*service));
    std::string name = upper_name(kube::name_of(*service));
    env.emplace_back(name + "_SERVICE_HOST", host);
    bool first = true;
    for (const json::value& entry : *ports) {
      const json::object* port = entry.if_object();
      if (port == nullptr) continue;
      int64_t own = kube::int_at(*port, {"port"}).value_or(0);
      std::string number = std::to_string(own);
      std::string there = std::to_string(kube::int_at(*port, {"targetPort"}).value_or(own));
      std::string protocol(text_at(*port, {"protocol"}));
      if (protocol.empty()) protocol = "TCP";
      std::string lower = protocol;
      for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
      std::string url = fmt::format("{}://{}:{}", lower, host, there);
      if (first) {
        env.emplace_back(name + "_SERVICE_PORT", there);
        env.emplace_back(name + "_PORT", url);
      }
      std::string_view port_name = text_at(*port, {"name"});
      if (!port_name.empty()) env.emplace_back(name + "_SERVICE_PORT_" + upper_name(port_name), there);
      std::string prefix = fmt::format("{}_PORT_{}_{}", name, number, protocol);
      env.emplace_back(prefix, url);
      env.emplace_back(prefix + "_PROTO", lower);
      env.emplace_back(prefix + "_PORT", there);
      env.emplace_back(prefix + "_ADDR", host);
      first = false;
    }
  }
  return env;
}

static Result<Done> decode(const Object& source, std::string_view list, bool base64,
                           std::map<std::string, std::string>& contents) {
  const json::object* data = kube::object_at(*source, {list});
  if (data == nullptr) return Done{};
  for (const auto& entry : *data) {
    if (!entry.value().is_string()) continue;
    std::string_view text = kube::view(entry.value().get_string());
    std::optional<std::string> value = base64 ? kube::decode_base64(text) : std::string(text);
    if (!value) return bad_env(fmt::format("key {} is not base64", kube::view(entry.key())));
    contents[std::string(kube::view(entry.key()))] = std::move(*value);
  }
  return Done{};
}

Result<std::map<std::string, std::string>> variables_of(const Object& source, bool is_secret) {
  std::map<std::string, std::string> contents;
  Result<Done> done = decode(source, "data", is_secret, contents);
  if (done.ok() && is_secret) done = decode(source, "stringData", false, contents);
  if (!done.ok()) return done.error();
  return contents;
}

Result<std::map<std::string, std::string>> contents_of(const Object& source, bool is_secret) {
  Result<std::map<std::string, std::string>> variables = variables_of(source, is_secret);
  if (!variables.ok() || is_secret) return variables;
  std::map<std::string, std::string> contents = *variables;
  if (Result<Done> more = decode(source, "binaryData", true, contents); !more.ok()) return more.error();
  return contents;
}

Result<Env> plan_env(const json::object& pod, const json::object& container, const Around& around,
                     std::vector<std::string>* left_out) {
  EnvPlanner planner(pod, container, around);
  Result<Env> env = planner.run();
  if (left_out != nullptr) *left_out = planner.take_left_out();
  return env;
}

}  // namespace trainyard::node
