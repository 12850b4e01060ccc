#include "server/pod_queries.h"

#include <fmt/format.h>

#include <charconv>

#include "kube/access.h"
#include "kube/meta.h"
#include "server/text.h"

namespace trainyard::server {
namespace {

constexpr size_t kPortsMax = 32;

Error bad_pod_query(std::string message) { return {ErrorKind::kInvalid, std::move(message)}; }

std::vector<std::string> names_in(const json::object& pod, std::string_view list) {
  std::vector<std::string> names;
  const json::array* containers = kube::array_at(pod, {"spec", list});
  if (containers == nullptr) return names;
  for (const json::value& container : *containers) {
    if (!container.is_object()) continue;
    names.emplace_back(kube::text_at(container.get_object(), {"name"}));
  }
  return names;
}

bool has(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

Result<std::string> container_of(const json::object& pod, std::string_view asked) {
  std::vector<std::string> main = names_in(pod, "containers");
  if (!asked.empty()) {
    for (std::string_view list : {"containers", "initContainers", "ephemeralContainers"}) {
      if (has(names_in(pod, list), asked)) return std::string(asked);
    }
    return bad_pod_query(
        fmt::format("container {} is not valid for pod {}", kube::shown(asked), kube::name_of(pod)));
  }
  std::string_view usual = kube::annotation_of(pod, "kubectl.kubernetes.io/default-container");
  if (has(main, usual)) return std::string(usual);
  if (main.size() == 1) return main.front();
  if (main.empty()) return bad_pod_query(fmt::format("pod {} has no containers", kube::name_of(pod)));
  return bad_pod_query(fmt::format("a container name must be specified for pod {}, choose one of: [{}]",
                                   kube::name_of(pod), fmt::join(main, " ")));
}

Result<LogQuery> log_of_query(const Query& query, Time now) {
  LogQuery log;
  for (auto [name, where] : {std::pair{"follow", &log.follow}, std::pair{"previous", &log.previous},
                             std::pair{"timestamps", &log.timestamps}}) {
    Result<bool> flag = query.flag(name);
    if (!flag.ok()) return flag.error();
    *where = *flag;
  }
  Result<std::optional<int64_t>> tail = query.number("tailLines");
  if (!tail.ok()) return tail.error();
  if (tail->value_or(0) < 0) return bad_pod_query("tailLines: must not be negative");
  log.tail_lines = *tail;
  Result<std::optional<int64_t>> limit = query.number("limitBytes");
  if (!limit.ok()) return limit.error();
  if (limit->value_or(1) < 1) return bad_pod_query("limitBytes: must be greater than 0");
  log.limit_bytes = *limit;
  Result<std::optional<int64_t>> since = query.number("sinceSeconds");
  if (!since.ok()) return since.error();
  if (since->has_value() && query.has("sinceTime"))
    return bad_pod_query("at most one of sinceTime or sinceSeconds");
  if (since->has_value() && **since < 1) return bad_pod_query("sinceSeconds: must be greater than 0");
  if (since->has_value()) log.since = now - seconds(std::min<int64_t>(**since, 1'000'000'000));
  if (!query.get("sinceTime").empty()) {
    log.since = parse_rfc3339(query.get("sinceTime"));
    if (!log.since) return bad_pod_query("sinceTime: a time is wanted, as RFC 3339 writes it");
  }
  return log;
}

Result<ExecQuery> exec_of_query(const Query& query, bool attach) {
  ExecQuery exec;
  for (auto [name, where] : {std::pair{"stdin", &exec.in}, std::pair{"stdout", &exec.out},
                             std::pair{"stderr", &exec.err}, std::pair{"tty", &exec.tty}}) {
    Result<bool> flag = query.flag(name);
    if (!flag.ok()) return flag.error();
    *where = *flag;
  }
  if (exec.tty) exec.err = false;
  if (!attach) {
    exec.command = query.all("command");
    if (exec.command.empty()) return bad_pod_query("you must specify at least 1 command for the container");
  }
  if (!exec.in && !exec.out && !exec.err)
    return bad_pod_query("you must specify at least one of stdin, stdout, stderr");
  return exec;
}

Result<std::vector<int>> ports_of_query(const Query& query) {
  std::vector<int> ports;
  for (const std::string& list : query.all("ports")) {
    for (std::string_view text : split_list(list)) {
      int port = 0;
      auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), port);
      if (failed != std::errc() || end != text.data() + text.size() || port < 1 || port > 65535) {
        return bad_pod_query(fmt::format("ports: {} is no port", kube::shown(text)));
      }
      ports.push_back(port);
    }
  }
  if (ports.empty()) return bad_pod_query("query parameter \"ports\" is required");
  if (ports.size() > kPortsMax) return bad_pod_query(fmt::format("ports: at most {}", kPortsMax));
  return ports;
}

std::optional<ChosenChannel> pick_channel(std::string_view offered) {
  if (offers(offered, "v5.channel.k8s.io")) return ChosenChannel{ChannelProtocol::kV5, "v5.channel.k8s.io"};
  if (offers(offered, "v4.channel.k8s.io")) return ChosenChannel{ChannelProtocol::kV4, "v4.channel.k8s.io"};
  return std::nullopt;
}

bool offers(std::string_view offered, std::string_view protocol) {
  for (std::string_view one : split_list(offered)) {
    if (one == protocol) return true;
  }
  return false;
}

}  // namespace trainyard::server
