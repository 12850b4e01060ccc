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
  for (size_t at = 0; at < text.size();) {
    const std::pair<const std::string, std::string>* hit = nullptr;
    bool starts = at == 0 || !is_name_char(text[at - 1]);
    for (auto it = local.begin(); starts && it != local.end(); ++it) {
      if (!text.substr(at).starts_with(it->first)) continue;
      size_t end = at + it->first.size();
      if (end == text.size() || !is_name_char(text[end])) hit = &*it;
    }
    if (hit == nullptr) {
      out += text[at++];
    } else {
      out += hit->second;
      at += hit->first.size();
    }
  }
  return out;
}

Result<int> LocalPorts::claim(const std::string& address, const std::string& pod_uid,
                              const std::function<bool(int)>& is_free) {
  auto found = entries_.find(address);
  if (found != entries_.end()) {
    found->second.users.insert(pod_uid);
    return found->second.port;
  }
  std::set<int> taken;
  for (const auto& [other, entry] : entries_) taken.insert(entry.port);
  constexpr int kCount = kLocalPortMax - kLocalPortMin + 1;
  int first = static_cast<int>(fnv1a(address) % kCount);
  for (int i = 0; i < kCount; ++i) {
    int port = kLocalPortMin + (first + i) % kCount;
    if (taken.contains(port) || !is_free(port)) continue;
    entries_[address] = Entry{port, {pod_uid}};
    return port;
  }
  return Error{ErrorKind::kUnavailable, fmt::format("no port is free for {}", address)};
}

void LocalPorts::release(const std::string& pod_uid) {
  for (auto it = entries_.begin(); it != entries_.end();) {
    it->second.users.erase(pod_uid);
    it = it->second.users.empty() ? entries_.erase(it) : std::next(it);
  }
}

std::optional<int> LocalPorts::find(const std::string& address) const {
  auto found = entries_.find(address);
  if (found == entries_.end()) return std::nullopt;
  return found->second.port;
}

std::string LocalPorts::to_text() const {
  json::object out;
  for (const auto& [address, entry] : entries_) {
    json::array users;
    for (const std::string& user : entry.users) users.emplace_back(user);
    out[address] = json::object{{"port", entry.port}, {"users", std::move(users)}};
  }
  return json::serialize(out);
}

Result<LocalPorts> LocalPorts::from_text(std::string_view text) {
  std::optional<json::object> from = parse_object(text);
  if (!from) return Error{ErrorKind::kInvalid, "ports: not a JSON object"};
  LocalPorts ports;
  for (const auto& member : *from) {
    const json::object* entry = member.value().if_object();
    if (entry == nullptr) continue;
    Entry& mine = ports.entries_[std::string(kube::view(member.key()))];
    mine.port = static_cast<int>(kube::int_at(*entry, {"port"}).value_or(0));
    if (const json::array* users = kube::array_at(*entry, {"users"})) {
      for (const json::value& user : *users) {
        if (user.is_string()) mine.users.emplace(kube::view(user.get_string()));
      }
    }
  }
  return ports;
}

}  // namespace trainyard::node
