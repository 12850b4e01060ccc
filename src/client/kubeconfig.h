// Kubeconfig: how to reach a cluster and who we are there, read from the YAML that every
// Kubernetes tool shares. Pure: texts in, one Access out; files and programs that it
// names are for credentials.h.
//
// Several files are merged as kubectl does: of two entries with one name the first counts,
// and the first current-context that is set. A path in a file is relative to that file's
// folder. Only what the chosen context names is judged, so a broken entry elsewhere does
// no harm. Every error names the file and the entry.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "kube/json.h"

namespace trainyard::client {

struct ConfigText {
  std::string path;
  std::string text;
};

// Something secret or signed: given in place, or the file that holds it. At most one is set.
struct Material {
  std::string data;
  std::string file;

  bool empty() const { return data.empty() && file.empty(); }
  bool operator==(const Material&) const = default;
};

// A program that gives out credentials (client.authentication.k8s.io), as EKS and GKE use.
struct ExecPlugin {
  std::string api_version;
  std::string command;
  std::vector<std::string> args;
  std::vector<std::pair<std::string, std::string>> env;
  std::string install_hint;
  bool provides_cluster_info = false;
  bool may_ask = true;         // interactiveMode other than Never
  bool must_ask = false;       // interactiveMode Always: of no use without a terminal
  json::value cluster_config;  // what the cluster's entry keeps for plugins; null for nothing

  bool operator==(const ExecPlugin&) const = default;
};

// Everything that is needed to talk to one API server.
struct Access {
  std::string where;   // for errors: "context 'lab' of /home/a/.kube/config"
  std::string server;  // "https://host:6443" or with a path behind it
  std::string ns;      // the context's namespace, "" when it has none
  std::string tls_server_name;
  bool insecure = false;
  std::string proxy_url;  // "" for none
  Material ca;            // empty: the system's
  Material certificate;
  Material key;
  Material token;
  std::optional<ExecPlugin> exec;
  std::string as_user;  // impersonation: whom we speak for; without a user none of the others is set
  std::string as_uid;
  std::vector<std::string> as_groups;
  std::vector<std::pair<std::string, std::string>> as_extra;

  bool operator==(const Access&) const = default;
};

// `context` "" stands for the current one. kInvalid otherwise.
Result<Access> read_kubeconfig(const std::vector<ConfigText>& files, std::string_view context);

// The ExecCredential that a plugin is told in KUBERNETES_EXEC_INFO; `ca_data` is PEM.
// REQUIRES: access.exec.
std::string exec_info(const Access& access, std::string_view ca_data, bool interactive);

struct ExecCredential {
  std::string token;
  std::string certificate;  // PEM
  std::string key;
  std::optional<Time> expires;

  bool operator==(const ExecCredential&) const = default;
};
// What a plugin printed. kInvalid when it is no ExecCredential of that version.
Result<ExecCredential> read_exec_credential(std::string_view printed, std::string_view api_version);

// The parts of a server's or proxy's URL.
struct Endpoint {
  bool tls = true;
  std::string host;  // without brackets
  std::string port;
  std::string path;       // "" or "/prefix", without a slash at the end
  std::string user_info;  // "user:password", as it is meant: %40 is an @
  bool socks = false;     // of a proxy: it speaks SOCKS5, not HTTP

  bool operator==(const Endpoint&) const = default;
};
Result<Endpoint> read_url(std::string_view url);
// http://host:port, https://host:port (the proxy itself speaks TLS), socks5://host:port (or socks5h), or
// host:port alone, which means the first.
Result<Endpoint> read_proxy_url(std::string_view url);
// "host:port", with brackets around an IPv6 address.
std::string authority_of(const Endpoint& endpoint);

// The proxy of a server: its own proxy-url, else what the environment says (the values of
// https_proxy or http_proxy, and of no_proxy). "" for none; loopback never has one.
std::string proxy_for(const Access& access, std::string_view environment_proxy, std::string_view no_proxy);

}  // namespace trainyard::client
