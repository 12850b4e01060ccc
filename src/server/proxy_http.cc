#include "server/proxy_http.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "kube/access.h"

namespace trainyard::server {
namespace {

constexpr int kPortDefault = 80;

std::string small_letters(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
  return out;
}

// Between the two ends of one connection, or not to be told to a pod.
bool stays_behind(std::string_view name) {
  static constexpr std::string_view kNames[] = {"connection",
                                                "keep-alive",
                                                "proxy-authenticate",
                                                "proxy-authorization",
                                                "te",
                                                "trailer",
                                                "upgrade",
                                                "transfer-encoding",
                                                "authorization",
                                                "cookie",
                                                "content-length",
                                                "host",
                                                "accept-encoding",
                                                "expect",
                                                "origin"};
  std::string small = small_letters(name);
  return std::find(std::begin(kNames), std::end(kNames), small) != std::end(kNames);
}

std::optional<int> port_number(std::string_view text) {
  int port = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc() || end != text.data() + text.size() || port <= 0 || port > 65535)
    return std::nullopt;
  return port;
}

// A body in chunks, put together; nullopt while more must come.
Result<std::optional<std::string>> unchunked(std::string_view bytes) {
  std::string body;
  while (true) {
    size_t line = bytes.find("\r\n");
    if (line == std::string_view::npos) return std::optional<std::string>();
    size_t size = 0;
    auto [end, error] = std::from_chars(bytes.data(), bytes.data() + line, size, 16);
    if (error != std::errc() || size > kProxiedBytesMax)
      return Error{ErrorKind::kInvalid, "its answer has a broken chunk"};
    bytes.remove_prefix(line + 2);
    if (size == 0) return std::optional(std::move(body));
    if (bytes.size() < size + 2) return std::optional<std::string>();
    body += bytes.substr(0, size);
    bytes.remove_prefix(size + 2);
  }
}

// Header lines into the answer. True: the body comes in chunks.
bool take_headers(std::string_view lines, HttpResponse& response, std::optional<size_t>& length) {
  bool chunked = false;
  while (!lines.empty()) {
    size_t end = std::min(lines.find("\r\n"), lines.size());
    std::string_view line = lines.substr(0, end);
    lines.remove_prefix(std::min(end + 2, lines.size()));
    size_t colon = line.find(':');
    if (colon == std::string_view::npos) continue;
    std::string name = small_letters(line.substr(0, colon));
    std::string_view value = line.substr(colon + 1);
    while (value.starts_with(' ')) value.remove_prefix(1);
    if (name == "transfer-encoding") chunked = small_letters(value).find("chunked") != std::string::npos;
    if (name == "content-length") {
      size_t size = 0;
      std::from_chars(value.data(), value.data() + value.size(), size);
      length = size;
    }
    if (name == "content-type") response.content_type = value;
    if (stays_behind(name) || name == "content-type" || name == "set-cookie") continue;
    response.headers.push_back({std::string(line.substr(0, colon)), std::string(value)});
  }
  return chunked;
}

}  // namespace

Result<ProxyTarget> proxy_target_of(std::string_view text) {
  auto wrong = [&](std::string_view why) {
    return Error{ErrorKind::kInvalid, fmt::format("\"{}\": {}", kube::shown(text), why)};
  };
  size_t colons = static_cast<size_t>(std::count(text.begin(), text.end(), ':'));
  std::string_view rest = text;
  if (colons == 2) {
    std::string_view scheme = text.substr(0, text.find(':'));
    if (scheme == "https") return wrong("only plain HTTP is proxied");
    if (!scheme.empty() && scheme != "http") return wrong("http:name:port is wanted");
    rest.remove_prefix(scheme.size() + 1);
  }
  if (colons > 2) return wrong("http:name:port is wanted");
  size_t colon = std::min(rest.find(':'), rest.size());
  ProxyTarget target{std::string(rest.substr(0, colon)),
                     std::string(rest.substr(std::min(colon + 1, rest.size())))};
  if (target.name.empty()) return wrong("a name is wanted");
  return target;
}

std::optional<int> pod_port_of(const json::object& pod, std::string_view port) {
  if (std::optional<int> number = port_number(port)) return number;
  const json::array* containers = kube::array_at(pod, {"spec", "containers"});
  for (size_t i = 0; containers != nullptr && i < containers->size(); ++i) {
    const json::object* container = (*containers)[i].if_object();
    const json::array* ports = container != nullptr ? kube::array_at(*container, {"ports"}) : nullptr;
    for (size_t j = 0; ports != nullptr && j < ports->size(); ++j) {
      const json::object* one = (*ports)[j].if_object();
      if (one == nullptr || (!port.empty() && kube::text_at(*one, {"name"}) != port)) continue;
      if (std::optional<int64_t> number = kube::int_at(*one, {"containerPort"}))
        return static_cast<int>(*number);
    }
  }
  if (port.empty()) return kPortDefault;
  return std::nullopt;
}

std::optional<std::string> service_target_port(const json::object& service, std::string_view port) {
  const json::array* ports = kube::array_at(service, {"spec", "ports"});
  for (size_t i = 0; ports != nullptr && i < ports->size(); ++i) {
    const json::object* one = (*ports)[i].if_object();
    if (one == nullptr) continue;
    std::string number = fmt::to_string(kube::int_at(*one, {"port"}).value_or(0));
    if (!port.empty() && port != number && port != kube::text_at(*one, {"name"})) continue;
    const json::value* target = kube::find(*one, {"targetPort"});
    if (target == nullptr) return number;
    if (std::optional<int64_t> whole = kube::as_whole(*target)) return fmt::to_string(*whole);
    return target->is_string() ? std::string(kube::view(target->get_string())) : number;
  }
  return std::nullopt;
}

std::string_view path_behind_proxy(std::string_view target, std::string_view plural) {
  size_t at = target.find(fmt::format("/{}/", plural));
  if (at == std::string_view::npos) return "";
  at = target.find('/', at + plural.size() + 2);  // after the name
  constexpr std::string_view kProxy = "/proxy";
  if (at == std::string_view::npos || target.substr(at, kProxy.size()) != kProxy) return "";
  return target.substr(at + kProxy.size());
}

std::string proxied_request(const HttpRequest& request, std::string_view path, std::string_view host) {
  std::string text =
      fmt::format("{} {} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n", request.method, path, host);
  for (const Header& header : request.headers) {
    if (!stays_behind(header.name)) text += fmt::format("{}: {}\r\n", header.name, header.value);
  }
  if (!request.body.empty() || request.method == "POST" || request.method == "PUT")
    text += fmt::format("Content-Length: {}\r\n", request.body.size());
  return text + "\r\n" + request.body;
}

Result<std::optional<HttpResponse>> proxied_response(std::string_view bytes, bool ended, bool head) {
  auto wrong = [](std::string_view why) { return Error{ErrorKind::kInvalid, std::string(why)}; };
  size_t blank = bytes.find("\r\n\r\n");
  if (blank == std::string_view::npos) {
    if (ended || bytes.size() > kHeaderBytesMax) return wrong("its answer is not HTTP");
    return std::optional<HttpResponse>();
  }
  std::string_view first = bytes.substr(0, bytes.find("\r\n"));
  HttpResponse response;
  bool http = first.starts_with("HTTP/1.") && first.size() >= 12;
  if (http) std::from_chars(first.data() + 9, first.data() + 12, response.status);
  if (!http || response.status < 100 || response.status > 599) return wrong("its answer is not HTTP");
  if (response.status < 200) return proxied_response(bytes.substr(blank + 4), ended, head);
  std::optional<size_t> length;
  size_t lines = first.size() + 2;
  response.content_type.clear();
  std::string_view names = lines < blank ? bytes.substr(lines, blank - lines) : std::string_view();
  bool chunked = take_headers(names, response, length);
  std::string_view body = bytes.substr(blank + 4);
  if (head || response.status == 204 || response.status == 304) return std::optional(std::move(response));
  if (chunked) {
    Result<std::optional<std::string>> whole = unchunked(body);
    if (!whole.ok()) return whole.error();
    if (!whole->has_value())
      return ended ? Result<std::optional<HttpResponse>>(wrong("its answer was cut off"))
                   : std::optional<HttpResponse>();
    response.body = std::move(*whole.value());
    return std::optional(std::move(response));
  }
  bool whole = length ? body.size() >= *length : ended;
  if (!whole)
    return ended ? Result<std::optional<HttpResponse>>(wrong("its answer was cut off"))
                 : std::optional<HttpResponse>();
  response.body = length ? body.substr(0, *length) : body;
  return std::optional(std::move(response));
}

}  // namespace trainyard::server
