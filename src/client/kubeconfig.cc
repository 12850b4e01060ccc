#include "client/kubeconfig.h"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <charconv>
#include <filesystem>

#include "kube/access.h"
#include "kube/objects.h"
#include "kube/yaml.h"

namespace trainyard::client {
namespace {

Error invalid(std::string message) { return {ErrorKind::kInvalid, std::move(message)}; }

// One entry of clusters, users or contexts, and the file it stands in.
struct Entry {
  std::string title;  // "cluster 'lab' of FILE"
  std::string folder;
  json::object body;
};

struct Parsed {
  std::string path;
  json::object body;
};

Result<std::vector<Parsed>> parse_all(const std::vector<ConfigText>& files) {
  std::vector<Parsed> all;
  for (const ConfigText& file : files) {
    Result<std::vector<kube::Document>> documents = kube::parse_yaml(file.text);
    if (!documents.ok()) return invalid(fmt::format("{}: {}", file.path, documents.error().message));
    if (documents->empty()) continue;
    const json::object* body = documents->front().body.if_object();
    if (body == nullptr) return invalid(fmt::format("{}: this is not a kubeconfig", file.path));
    std::string_view kind = kube::text_at(*body, {"kind"});
    if (!kind.empty() && kind != "Config") {
      return invalid(fmt::format("{}: kind is '{}', a kubeconfig's is Config", file.path, kube::shown(kind)));
    }
    all.push_back({file.path, *body});
  }
  return all;
}

std::vector<std::string> names_in(const std::vector<Parsed>& files, std::string_view list) {
  std::vector<std::string> names;
  for (const Parsed& file : files) {
    const json::array* entries = kube::array_at(file.body, {list});
    if (entries == nullptr) continue;
    for (const json::value& entry : *entries) {
      if (entry.is_object()) names.emplace_back(kube::text_at(entry.get_object(), {"name"}));
    }
  }
  return names;
}

// `list` is "clusters", `inner` "cluster".
Result<Entry> find_entry(const std::vector<Parsed>& files, std::string_view list, std::string_view inner,
                         std::string_view name, std::string_view wanted_by) {
  for (const Parsed& file : files) {
    const json::array* entries = kube::array_at(file.body, {list});
    if (entries == nullptr) continue;
    for (const json::value& value : *entries) {
      const json::object* entry = value.if_object();
      if (entry == nullptr || kube::text_at(*entry, {"name"}) != name) continue;
      const json::object* body = kube::object_at(*entry, {inner});
      return Entry{fmt::format("{} '{}' of {}", inner, name, file.path),
                   std::filesystem::path(file.path).parent_path().string(),
                   body == nullptr ? json::object{} : *body};
    }
  }
  return invalid(fmt::format("{}: there is no {} '{}'", wanted_by, inner, name));
}

std::string text_in(const Entry& entry, std::string_view key) {
  return std::string(kube::text_at(entry.body, {key}));
}

std::string in_folder(const std::string& folder, const std::string& path) {
  if (path.empty() || path.front() == '/' || folder.empty()) return path;
  return (std::filesystem::path(folder) / path).lexically_normal().string();
}

// KEY-data holds base64, KEY the path of a file; data wins, as in kubectl.
Result<Material> material(const Entry& entry, const std::string& key) {
  std::string encoded = text_in(entry, key + "-data");
  if (encoded.empty()) return Material{"", in_folder(entry.folder, text_in(entry, key))};
  std::optional<std::string> decoded = kube::decode_base64(encoded);
  if (!decoded) return invalid(fmt::format("{}: {}-data is not base64", entry.title, key));
  return Material{*decoded, ""};
}

std::vector<std::string> texts_in(const json::array* list) {
  std::vector<std::string> texts;
  for (const json::value& text : kube::or_empty(list)) {
    if (text.is_string()) texts.emplace_back(kube::view(text.get_string()));
  }
  return texts;
}

Result<ExecPlugin> exec_plugin(const Entry& user, const json::object& exec) {
  ExecPlugin plugin;
  plugin.api_version = kube::text_at(exec, {"apiVersion"});
  plugin.command = kube::text_at(exec, {"command"});
  plugin.install_hint = kube::text_at(exec, {"installHint"});
  plugin.provides_cluster_info = kube::bool_at(exec, {"provideClusterInfo"}).value_or(false);
  std::string_view mode = kube::text_at(exec, {"interactiveMode"});
  plugin.may_ask = mode != "Never";
  plugin.must_ask = mode == "Always";
  if (!mode.empty() && mode != "Never" && mode != "IfAvailable" && mode != "Always") {
    return invalid(fmt::format("{}: exec.interactiveMode is '{}'; there are Never, IfAvailable and Always",
                               user.title, kube::shown(mode)));
  }
  if (plugin.api_version != "client.authentication.k8s.io/v1" &&
      plugin.api_version != "client.authentication.k8s.io/v1beta1") {
    return invalid(
        fmt::format("{}: exec.apiVersion is '{}'; client.authentication.k8s.io/v1 and v1beta1 are understood",
                    user.title, kube::shown(plugin.api_version)));
  }
  if (plugin.command.empty()) return invalid(fmt::format("{}: exec.command is missing", user.title));
  if (plugin.command.find('/') != std::string::npos) {
    plugin.command = in_folder(user.folder, plugin.command);
  }
  plugin.args = texts_in(kube::array_at(exec, {"args"}));
  if (const json::array* env = kube::array_at(exec, {"env"})) {
    for (const json::value& pair : *env) {
      if (!pair.is_object()) continue;
      plugin.env.emplace_back(kube::text_at(pair.get_object(), {"name"}),
                              kube::text_at(pair.get_object(), {"value"}));
    }
  }
  return plugin;
}

Result<Done> refuse_old_ways(const Entry& user) {
  if (!text_in(user, "username").empty() || !text_in(user, "password").empty()) {
    return invalid(fmt::format(
        "{}: username and password are no longer taken by any Kubernetes (since 1.19); use a token, a client "
        "certificate or an exec plugin",
        user.title));
  }
  if (kube::object_at(user.body, {"auth-provider"}) != nullptr) {
    return invalid(
        fmt::format("{}: auth-provider '{}' is gone from Kubernetes (since 1.26); use its exec plugin",
                    user.title, kube::shown(kube::text_at(user.body, {"auth-provider", "name"}))));
  }
  return Done{};
}

Result<Done> read_impersonation(const Entry& user, Access& access) {
  access.as_user = text_in(user, "as");
  access.as_uid = text_in(user, "as-uid");
  access.as_groups = texts_in(kube::array_at(user.body, {"as-groups"}));
  if (const json::object* extra = kube::object_at(user.body, {"as-user-extra"})) {
    for (const json::key_value_pair& one : *extra) {
      for (std::string& value : texts_in(one.value().if_array())) {
        access.as_extra.emplace_back(kube::view(one.key()), std::move(value));
      }
    }
  }
  bool more = !access.as_uid.empty() || !access.as_groups.empty() || !access.as_extra.empty();
  if (access.as_user.empty() && more) {
    return invalid(
        fmt::format("{}: as-uid, as-groups and as-user-extra need an 'as' that they belong to", user.title));
  }
  return Done{};
}

Result<Done> read_user(const Entry& user, Access& access) {
  if (Result<Done> refused = refuse_old_ways(user); !refused.ok()) return refused;
  Result<Material> certificate = material(user, "client-certificate");
  if (!certificate.ok()) return certificate.error();
  Result<Material> key = material(user, "client-key");
  if (!key.ok()) return key.error();
  access.certificate = *certificate;
  access.key = *key;
  if (access.certificate.empty() != access.key.empty()) {
    return invalid(fmt::format("{}: {} is missing", user.title,
                               access.key.empty() ? "client-key" : "client-certificate"));
  }
  std::string token = text_in(user, "token");
  std::string token_file = in_folder(user.folder, text_in(user, "tokenFile"));
  access.token = token_file.empty() ? Material{token, ""} : Material{"", token_file};
  if (Result<Done> read = read_impersonation(user, access); !read.ok()) return read;
  // Who has a token or a certificate already needs no plugin: kubectl asks none either.
  const bool is_known = !access.token.empty() || !access.certificate.empty();
  const json::object* exec = kube::object_at(user.body, {"exec"});
  if (exec != nullptr && !is_known) {
    Result<ExecPlugin> plugin = exec_plugin(user, *exec);
    if (!plugin.ok()) return plugin.error();
    access.exec = *plugin;
  }
  return Done{};
}

json::value plugin_config(const Entry& cluster) {
  const json::array* extensions = kube::array_at(cluster.body, {"extensions"});
  if (extensions == nullptr) return nullptr;
  for (const json::value& value : *extensions) {
    const json::object* extension = value.if_object();
    if (extension == nullptr) continue;
    if (kube::text_at(*extension, {"name"}) != "client.authentication.k8s.io/exec") continue;
    if (const json::value* config = extension->if_contains("extension")) return *config;
  }
  return nullptr;
}

Result<Done> read_cluster(const Entry& cluster, Access& access) {
  access.server = text_in(cluster, "server");
  if (access.server.empty()) return invalid(fmt::format("{}: server is missing", cluster.title));
  if (Result<Endpoint> url = read_url(access.server); !url.ok()) {
    return invalid(fmt::format("{}: server: {}", cluster.title, url.error().message));
  }
  Result<Material> ca = material(cluster, "certificate-authority");
  if (!ca.ok()) return ca.error();
  access.ca = *ca;
  access.insecure = kube::bool_at(cluster.body, {"insecure-skip-tls-verify"}).value_or(false);
  if (access.insecure && !access.ca.empty()) {
    return invalid(fmt::format("{}: insecure-skip-tls-verify and a certificate-authority exclude one another",
                               cluster.title));
  }
  access.tls_server_name = text_in(cluster, "tls-server-name");
  access.proxy_url = text_in(cluster, "proxy-url");
  if (access.proxy_url.empty()) return Done{};
  if (Result<Endpoint> url = read_proxy_url(access.proxy_url); !url.ok()) {
    return invalid(fmt::format("{}: proxy-url: {}", cluster.title, url.error().message));
  }
  return Done{};
}

std::string list_of(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += fmt::format("{}{}", text.empty() ? "" : ", ", name);
  return text.empty() ? "none" : text;
}

std::string paths_of(const std::vector<ConfigText>& files) {
  std::vector<std::string> paths;
  for (const ConfigText& file : files) paths.push_back(file.path);
  return list_of(paths);
}

// "%40" is an "@": in a URL what would mean something else is written so.
std::string without_percents(std::string_view text) {
  std::string plain;
  for (size_t i = 0; i < text.size(); ++i) {
    unsigned char byte = 0;
    const char* digits = text.data() + i + 1;
    bool coded = text[i] == '%' && i + 2 < text.size() &&
                 std::from_chars(digits, digits + 2, byte, 16).ptr == digits + 2;
    plain += coded ? static_cast<char>(byte) : text[i];
    if (coded) i += 2;
  }
  return plain;
}

bool is_loopback(std::string_view host) {
  return host == "localhost" || host == "::1" || host.starts_with("127.");
}

// The bytes of an IPv4 or IPv6 address; "" for what is none.
std::string address_bytes(const std::string& text) {
  unsigned char bytes[16];
  for (int family : {AF_INET, AF_INET6}) {
    if (::inet_pton(family, text.c_str(), bytes) == 1) {
      return {reinterpret_cast<char*>(bytes), family == AF_INET ? size_t{4} : size_t{16}};
    }
  }
  return "";
}

// Whether the address is of the network: "10.0.0.0/8", "fd00::/8".
bool is_in_network(std::string_view host, std::string_view network) {
  size_t slash = network.find('/');
  if (slash == std::string_view::npos) return false;
  std::string address = address_bytes(std::string(host));
  std::string base = address_bytes(std::string(network.substr(0, slash)));
  std::string_view digits = network.substr(slash + 1);
  size_t bits = 0;
  auto [end, wrong] = std::from_chars(digits.data(), digits.data() + digits.size(), bits);
  if (wrong != std::errc() || end != digits.data() + digits.size()) return false;
  if (address.empty() || address.size() != base.size() || bits > 8 * base.size()) return false;
  for (size_t i = 0; i < bits; ++i) {
    int mask = 0x80 >> (i % 8);
    if ((address[i / 8] & mask) != (base[i / 8] & mask)) return false;
  }
  return true;
}

// Whether a no_proxy list covers the host: "*", "host", ".domain", "*.domain", "domain" or a network.
bool is_excepted(std::string_view host, std::string_view no_proxy) {
  while (!no_proxy.empty()) {
    size_t comma = std::min(no_proxy.find(','), no_proxy.size());
    std::string_view item = no_proxy.substr(0, comma);
    no_proxy.remove_prefix(std::min(comma + 1, no_proxy.size()));
    while (item.starts_with(' ')) item.remove_prefix(1);
    while (item.ends_with(' ')) item.remove_suffix(1);
    if (item.empty()) continue;
    if (item == "*" || item == host || is_in_network(host, item)) return true;
    if (item.starts_with("*.")) item.remove_prefix(1);
    std::string suffix = item.starts_with('.') ? std::string(item) : "." + std::string(item);
    if (host.ends_with(suffix)) return true;
  }
  return false;
}

}  // namespace

Result<Access> read_kubeconfig(const std::vector<ConfigText>& files, std::string_view context) {
  Result<std::vector<Parsed>> parsed = parse_all(files);
  if (!parsed.ok()) return parsed.error();
  std::string name(context);
  for (const Parsed& file : *parsed) {
    if (name.empty()) name = kube::text_at(file.body, {"current-context"});
  }
  std::string contexts = list_of(names_in(*parsed, "contexts"));
  if (name.empty()) {
    return invalid(fmt::format("{}: no current-context is set; choose one with --context (there are: {})",
                               paths_of(files), contexts));
  }
  Result<Entry> chosen = find_entry(*parsed, "contexts", "context", name, paths_of(files));
  if (!chosen.ok()) return invalid(fmt::format("{} (there are: {})", chosen.error().message, contexts));
  Access access;
  access.where = chosen->title;
  access.ns = text_in(*chosen, "namespace");
  Result<Entry> cluster =
      find_entry(*parsed, "clusters", "cluster", text_in(*chosen, "cluster"), chosen->title);
  if (!cluster.ok()) return cluster.error();
  if (Result<Done> read = read_cluster(*cluster, access); !read.ok()) return read.error();
  std::string user_name = text_in(*chosen, "user");
  if (user_name.empty()) return access;
  Result<Entry> user = find_entry(*parsed, "users", "user", user_name, chosen->title);
  if (!user.ok()) return user.error();
  if (Result<Done> read = read_user(*user, access); !read.ok()) return read.error();
  if (access.exec) access.exec->cluster_config = plugin_config(*cluster);
  return access;
}

std::string exec_info(const Access& access, std::string_view ca_data, bool interactive) {
  CHECK(access.exec.has_value());
  json::object spec{{"interactive", interactive}};
  if (access.exec->provides_cluster_info) {
    json::object cluster{{"server", access.server}};
    if (!access.tls_server_name.empty()) cluster["tls-server-name"] = access.tls_server_name;
    if (access.insecure) cluster["insecure-skip-tls-verify"] = true;
    if (!ca_data.empty()) cluster["certificate-authority-data"] = kube::encode_base64(ca_data);
    if (!access.proxy_url.empty()) cluster["proxy-url"] = access.proxy_url;
    if (!access.exec->cluster_config.is_null()) cluster["config"] = access.exec->cluster_config;
    spec["cluster"] = std::move(cluster);
  }
  return json::serialize(json::object{
      {"apiVersion", access.exec->api_version}, {"kind", "ExecCredential"}, {"spec", std::move(spec)}});
}

Result<ExecCredential> read_exec_credential(std::string_view printed, std::string_view api_version) {
  Result<json::value> parsed = kube::parse_json(printed);
  if (!parsed.ok() || !parsed->is_object()) return invalid("it printed no JSON object");
  const json::object& body = parsed->get_object();
  if (kube::text_at(body, {"kind"}) != "ExecCredential") return invalid("it printed no ExecCredential");
  if (kube::text_at(body, {"apiVersion"}) != api_version) {
    return invalid(fmt::format("it printed an ExecCredential of {}, the kubeconfig says {}",
                               kube::shown(kube::text_at(body, {"apiVersion"})), api_version));
  }
  ExecCredential credential;
  credential.token = kube::text_at(body, {"status", "token"});
  credential.certificate = kube::text_at(body, {"status", "clientCertificateData"});
  credential.key = kube::text_at(body, {"status", "clientKeyData"});
  if (credential.certificate.empty() != credential.key.empty()) {
    return invalid("it printed a client certificate without its key, or a key without its certificate");
  }
  if (credential.token.empty() && credential.certificate.empty()) {
    return invalid("it printed neither a token nor a client certificate");
  }
  std::string_view expires = kube::text_at(body, {"status", "expirationTimestamp"});
  if (!expires.empty()) {
    credential.expires = parse_rfc3339(expires);
    if (!credential.expires) return invalid("its expirationTimestamp is not an RFC 3339 time");
  }
  return credential;
}

namespace {

// `rest` is what follows the scheme in `url`.
Result<Endpoint> read_authority(std::string_view url, std::string_view rest, Endpoint endpoint,
                                std::string_view usual_port) {
  size_t slash = std::min(rest.find('/'), rest.size());
  std::string_view authority = rest.substr(0, slash);
  std::string_view path = rest.substr(slash);
  while (path.ends_with('/')) path.remove_suffix(1);
  if (size_t at = authority.rfind('@'); at != std::string_view::npos) {
    endpoint.user_info = without_percents(authority.substr(0, at));
    authority.remove_prefix(at + 1);
  }
  size_t bracket = authority.rfind(']');
  size_t colon = authority.rfind(':');
  bool has_port = colon != std::string_view::npos && (bracket == std::string_view::npos || colon > bracket);
  endpoint.port = has_port ? authority.substr(colon + 1) : usual_port;
  std::string_view host = has_port ? authority.substr(0, colon) : authority;
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  endpoint.host = host;
  endpoint.path = path;
  bool digits = !endpoint.port.empty() && endpoint.port.size() <= 5 &&
                endpoint.port.find_first_not_of("0123456789") == std::string::npos;
  bool clean = url.find_first_of(" \t\r\n?#") == std::string_view::npos;
  if (endpoint.host.empty() || !digits || !clean) {
    return invalid(fmt::format("'{}' is not a URL such as https://host:6443", kube::shown(url)));
  }
  return endpoint;
}

}  // namespace

Result<Endpoint> read_url(std::string_view url) {
  Endpoint endpoint;
  std::string_view rest = url;
  if (rest.starts_with("https://")) {
    rest.remove_prefix(8);
  } else if (rest.starts_with("http://")) {
    rest.remove_prefix(7);
    endpoint.tls = false;
  } else if (rest.find("://") != std::string_view::npos) {
    return invalid(fmt::format("'{}' is neither http nor https", kube::shown(url)));
  }
  return read_authority(url, rest, endpoint, endpoint.tls ? "443" : "80");
}

Result<Endpoint> read_proxy_url(std::string_view url) {
  size_t end = url.find("://");
  std::string_view scheme = end == std::string_view::npos ? "http" : url.substr(0, end);
  std::string_view rest = end == std::string_view::npos ? url : url.substr(end + 3);
  Endpoint endpoint;
  endpoint.tls = scheme == "https";
  endpoint.socks = scheme == "socks5" || scheme == "socks5h";
  if (!endpoint.tls && !endpoint.socks && scheme != "http") {
    return invalid(
        fmt::format("the proxy '{}' is none of http://host:port, https://host:port and socks5://host:port",
                    kube::shown(url)));
  }
  const char* usual_port = endpoint.tls ? "443" : "80";
  return read_authority(url, rest, endpoint, endpoint.socks ? "1080" : usual_port);
}

std::string authority_of(const Endpoint& endpoint) {
  bool six = endpoint.host.find(':') != std::string::npos;
  return fmt::format("{}:{}", six ? fmt::format("[{}]", endpoint.host) : endpoint.host, endpoint.port);
}

std::string proxy_for(const Access& access, std::string_view environment_proxy, std::string_view no_proxy) {
  if (!access.proxy_url.empty()) return access.proxy_url;
  Result<Endpoint> server = read_url(access.server);
  if (!server.ok() || is_loopback(server->host) || is_excepted(server->host, no_proxy)) return "";
  return std::string(environment_proxy);
}

}  // namespace trainyard::client
