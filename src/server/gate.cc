#include "server/gate.h"

#include "server/text.h"

namespace trainyard::server {
namespace {

bool is_port(std::string_view text) {
  return !text.empty() && text.size() <= 5 && text.find_first_not_of("0123456789") == std::string_view::npos;
}

// How often a header of that name is there.
size_t count(const HttpRequest& request, std::string_view name) {
  return static_cast<size_t>(
      std::count_if(request.headers.begin(), request.headers.end(),
                    [&](const Header& h) { return equals_ignoring_case(h.name, name); }));
}

std::string_view without_scheme(std::string_view origin) {
  for (std::string_view scheme : {"https://", "http://"}) {
    if (origin.starts_with(scheme)) return origin.substr(scheme.size());
  }
  return {};
}

}  // namespace

std::string_view host_without_port(std::string_view host) {
  if (host.starts_with('[')) {
    size_t end = host.find(']');
    if (end == std::string_view::npos) return {};
    std::string_view rest = host.substr(end + 1);
    if (!rest.empty() && (rest.front() != ':' || !is_port(rest.substr(1)))) return {};
    return host.substr(1, end - 1);
  }
  size_t colon = host.find(':');
  if (colon == std::string_view::npos) return host;
  return is_port(host.substr(colon + 1)) ? host.substr(0, colon) : std::string_view();
}

std::optional<Status> Gate::check_address(const HttpRequest& request) const {
  if (count(request, "host") != 1) return forbidden("the request must say once which host it is for");
  std::string_view host = request.header("host");
  std::string_view name = host_without_port(host);
  bool ours = !name.empty() && std::any_of(names_.begin(), names_.end(), [&](const std::string& own) {
    return equals_ignoring_case(own, name);
  });
  if (!ours) return forbidden("the request is for another host");
  if (count(request, "origin") == 0) return std::nullopt;
  if (!equals_ignoring_case(without_scheme(request.header("origin")), host)) {
    return forbidden("the request comes from another site");
  }
  return std::nullopt;
}

std::optional<User> Gate::who(const HttpRequest& request, Time now) const {
  constexpr std::string_view kBearer = "Bearer ";
  std::string_view authorization = request.header("authorization");
  if (authorization.size() > kBearer.size() &&
      equals_ignoring_case(authorization.substr(0, kBearer.size()), kBearer)) {
    return tokens_.user_of(trimmed(authorization.substr(kBearer.size())), now);
  }
  if (authorization.empty() && request.client_certificate) return administrator();
  return std::nullopt;
}

}  // namespace trainyard::server
