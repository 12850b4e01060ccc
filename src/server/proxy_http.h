// The words of a proxied request: who is meant by ".../pods/http:name:port/proxy/path", what is
// sent on to it, and what its answer says. Pure.
//
// Credentials of the caller are for us: they are never sent on.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "kube/json.h"
#include "server/http.h"

namespace trainyard::server {

inline constexpr size_t kProxiedBytesMax = 64u << 20;

// "name", "name:port", "http:name:port"; kInvalid for https and for what makes no sense.
struct ProxyTarget {
  std::string name;
  std::string port;  // a number or a name, "" for the first that is declared
  bool operator==(const ProxyTarget&) const = default;
};
Result<ProxyTarget> proxy_target_of(std::string_view text);

// The number of a port of a pod: one that is given, one of that name, or the first declared (80
// when none is). nullopt: there is none of that name.
std::optional<int> pod_port_of(const json::object& pod, std::string_view port);
// Of a service: what its port (given by number or name, or the first) is called at its pods.
std::optional<std::string> service_target_port(const json::object& service, std::string_view port);

// What follows ".../proxy" in the request's own words, query included; "" when nothing does.
std::string_view path_behind_proxy(std::string_view target, std::string_view plural);

// The request as it is sent on, for a connection of its own.
std::string proxied_request(const HttpRequest& request, std::string_view path, std::string_view host);

// The answer, once it is whole. nullopt: more must come. kInvalid when it is no HTTP.
// `ended`: the other side has closed.
Result<std::optional<HttpResponse>> proxied_response(std::string_view bytes, bool ended, bool head);

}  // namespace trainyard::server
