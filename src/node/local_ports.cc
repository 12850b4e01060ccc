#include "node/local_ports.h"

#include <algorithm>
#include <charconv>

#include "base/hash.h"
#include "kube/access.h"
#include "kube/json.h"

namespace trainyard::node {

namespace {

std::optional<json::object> parse_object(std::string_view text) {
  boost::system::error_code error;
  json::value value = json::parse(kube::jview(text), error);
  if (error || !value.is_object()) return std::nullopt;
  return std::move(value.get_object());
}

void collect(const json::value& tasks, std::set<std::string>& addresses) {
  auto add = [&](const json::value& entry) {
    if (!entry.is_string()) return;
    std::string_view text = kube::view(entry.get_string());
    if (port_of(text)) addresses.emplace(text);
  };
  if (const json::array* list = tasks.if_array()) {
    for (const json::value& entry : *list) add(entry);
  } else if (const json::object* sparse = tasks.if_object()) {
    for (const auto& entry : *sparse) add(entry.value());
  } else {
    add(tasks);
  }
}

bool is_name_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.';
}

}  // namespace

std::optional<int> port_of(std::string_view address) {
  size_t colon = address.rfind(':');
  if (colon == std::string_view::npos || colon == 0) return std::nullopt;
  int port = 0;
  const char* last = address.data() + address.size();
  auto [end, error] = std::from_chars(address.data() + colon + 1, last, port);
  if (error != std::errc() || end != last || port <= 0 || port > 65535) return std::nullopt;
  return port;
}

std::vector<std::string> addresses_in(std::string_view tf_config) {
  std::optional<json::object> config = parse_object(tf_config);
  std::set<std::string> addresses;
  if (!config) return {};
  for (std::string_view key : {"cluster", "sparseCluster"}) {
    const json::object* cluster = kube::object_at(*config, {key});
    if (cluster == nullptr) continue;
    for (const auto& role : *cluster) collect(role.value(), addresses);
  }
  return {addresses.begin(), addresses.end()};
}

std::optional<std::string> own_address(std::string_view tf_config) {
  std::optional<json::object> config = parse_object(tf_config);
  if (!config) return std::nullopt;
  std::string_view type = kube::text_at(*config, {"task", "type"});
  int64_t index = kube::int_at(*config, {"task", "index"}).value_or(0);
  const json::value* tasks = kube::find(*config, {"cluster", type});
  if (tasks == nullptr) return std::nullopt;
  const json::value* mine = nullptr;
  if (const json::array* list = tasks->if_array()) {
    if (index >= 0 && static_cast<size_t>(index) < list->size()) mine = &(*list)[static_cast<size_t>(index)];
  } else if (const json::object* sparse = tasks->if_object()) {
    mine = sparse->if_contains(std::to_string(index));
  }
  if (mine == nullptr || !mine->is_string()) return std::nullopt;
  return std::string(kube::view(mine->get_string()));
}

std::string replace_addresses(std::string_view text, const std::map<std::string, std::string>& local) {
  std::string out;
  auto in_address = [](char c) { return is_name_char(c) || c == ':'; };
  for (size_t at = 0; at < text.size();) {
    size_t end = at;
    while (end < text.size() && in_address(text[end])) ++end;
    if (end == at) {
      out += text[at++];
      continue;
    }
    std::string word(text.substr(at, end - at));
    auto found = local.find(word);
    out += found == local.end() ? word : found->second;
    at = end;
  }
  return out;
}

Result<std::vector<int>> LocalPorts::claim(const std::vector<std::string>& addresses,
                                           const std::string& pod_uid,
                                           const std::function<bool(int)>& is_free) {
  constexpr int kCount = kLocalPortMax - kLocalPortMin + 1;
  std::map<std::string, int> ports = ports_;
  std::set<int> taken;
  for (const auto& [address, port] : ports) taken.insert(port);
  std::vector<int> claimed;
  for (const std::string& address : addresses) {
    auto found = ports.find(address);
    int first = static_cast<int>(fnv1a(address) % kCount);
    for (int i = 0; found == ports.end() && i < kCount; ++i) {
      int port = kLocalPortMin + (first + i) % kCount;
      if (taken.contains(port) || !is_free(port)) continue;
      taken.insert(port);
      found = ports.emplace(address, port).first;
    }
    if (found == ports.end()) {
      return Error{ErrorKind::kUnavailable, fmt::format("no port is free for {}", address)};
    }
    claimed.push_back(found->second);
  }
  ports_ = std::move(ports);
  std::vector<std::string> sorted = addresses;
  std::sort(sorted.begin(), sorted.end());
  auto same = [&](const Cluster& cluster) { return cluster.addresses == sorted; };
  auto cluster = std::find_if(clusters_.begin(), clusters_.end(), same);
  if (cluster == clusters_.end()) cluster = clusters_.insert(clusters_.end(), Cluster{std::move(sorted), {}});
  cluster->users.insert(pod_uid);
  return claimed;
}

void LocalPorts::release(const std::string& pod_uid) {
  bool some_gone = false;
  for (Cluster& cluster : clusters_) {
    cluster.users.erase(pod_uid);
    some_gone = some_gone || cluster.users.empty();
  }
  if (!some_gone) return;
  std::erase_if(clusters_, [](const Cluster& cluster) { return cluster.users.empty(); });
  std::set<std::string_view> used;
  for (const Cluster& cluster : clusters_) used.insert(cluster.addresses.begin(), cluster.addresses.end());
  std::erase_if(ports_, [&](const auto& entry) { return !used.contains(entry.first); });
}

std::optional<int> LocalPorts::find(const std::string& address) const {
  auto found = ports_.find(address);
  if (found == ports_.end()) return std::nullopt;
  return found->second;
}

std::string LocalPorts::to_text() const {
  json::array clusters;
  for (const Cluster& cluster : clusters_) {
    json::object addresses;
    for (const std::string& address : cluster.addresses) addresses[address] = ports_.at(address);
    json::array users;
    for (const std::string& user : cluster.users) users.emplace_back(user);
    clusters.push_back(json::object{{"addresses", std::move(addresses)}, {"users", std::move(users)}});
  }
  return json::serialize(json::object{{"clusters", std::move(clusters)}});
}

Result<LocalPorts> LocalPorts::from_text(std::string_view text) {
  std::optional<json::object> from = parse_object(text);
  const json::array* clusters = from ? kube::array_at(*from, {"clusters"}) : nullptr;
  if (clusters == nullptr) return Error{ErrorKind::kInvalid, "ports: not what was written"};
  LocalPorts ports;
  for (const json::value& each : *clusters) {
    if (!each.is_object()) continue;
    Cluster cluster;
    if (const json::object* addresses = kube::object_at(each.get_object(), {"addresses"})) {
      for (const auto& address : *addresses) {
        std::string name(kube::view(address.key()));
        ports.ports_[name] = static_cast<int>(kube::as_whole(address.value()).value_or(0));
        cluster.addresses.push_back(std::move(name));
      }
    }
    if (const json::array* users = kube::array_at(each.get_object(), {"users"})) {
      for (const json::value& user : *users) {
        if (user.is_string()) cluster.users.emplace(kube::view(user.get_string()));
      }
    }
    ports.clusters_.push_back(std::move(cluster));
  }
  return ports;
}

}  // namespace trainyard::node
