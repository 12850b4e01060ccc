#include "control/simulated_nodes.h"

#include <algorithm>

#include "kube/access.h"
#include "kube/meta.h"

namespace trainyard::control {
namespace {

constexpr size_t kPodsTogetherMax = 64;

kube::Request write_status(const kube::Resource& resource, const json::object& object, json::object status) {
  return {resource, std::string(kube::namespace_of(object)),
          kube::status_update(resource, object, std::move(status))};
}

kube::Request remove_now(const json::object& pod) {
  kube::DeleteOptions options;
  options.uid = std::string(kube::uid_of(pod));
  options.grace_seconds = 0;
  return {kube::kPods, std::string(kube::namespace_of(pod)),
          kube::Delete{std::string(kube::name_of(pod)), std::move(options)}};
}

std::string_view node_name_of(const json::object& pod) { return kube::text_at(pod, {"spec", "nodeName"}); }

// The pods that have a node, and another than `own`.
kube::FieldSelector elsewhere(std::string_view own) {
  Result<kube::FieldSelector> fields =
      kube::FieldSelector::parse(fmt::format("spec.nodeName!=,spec.nodeName!={}", own));
  CHECK(fields.ok());
  return std::move(fields).value();
}

}  // namespace

SimulatedNodes::SimulatedNodes(client::Client& client, std::string own)
    : client_(client), own_(std::move(own)), caches_(2) {
  watchers_.emplace_back(client::Stream{kube::kNodes, {}, ""});
  watchers_.emplace_back(
      client::Stream{.resource = kube::kPods, .labels = {}, .ns = "", .fields = elsewhere(own_)});
}

std::vector<StreamRequest> SimulatedNodes::requests(Time now) {
  std::vector<StreamRequest> wanted;
  for (int stream : {kNodeStream, kPodStream}) {
    if (auto request = watchers_[stream].ask(now)) wanted.push_back({stream, std::move(*request)});
  }
  return wanted;
}

void SimulatedNodes::on_list(int stream, const Result<client::Reply>& reply, Time now) {
  take_in(stream, watchers_[stream].on_list(reply, now), now);
}

void SimulatedNodes::on_event(int stream, const client::WatchEvent& event, Time now) {
  take_in(stream, watchers_[stream].on_event(event, now), now);
}

void SimulatedNodes::on_closed(int stream, const std::optional<Error>& error, Time now) {
  watchers_[stream].on_closed(error, now);
}

void SimulatedNodes::take_in(int stream, const std::vector<client::Output>& outputs, Time now) {
  for (const client::Output& output : outputs) {
    for (const client::Changed& changed : caches_[stream].apply(output, now)) {
      const client::Object seen = changed.after != nullptr ? changed.after : changed.before();
      client::ObjectKey key{std::string(kube::namespace_of(*seen)), std::string(kube::name_of(*seen))};
      if (changed.after == nullptr) queue_.forget(key);
      if (stream == kNodeStream) {
        gone_.erase(key.name);
        wake_pods_of(key.name, now);
        if (changed.after != nullptr && is_simulated(*seen)) queue_.add(key, now);
        continue;
      }
      if (changed.after != nullptr) queue_.add(key, now);
    }
  }
}

void SimulatedNodes::wake_pods_of(std::string_view node, Time now) {
  if (node == own_) return;
  for (const auto& [key, pod] : caches_[kPodStream].all()) {
    if (node_name_of(*pod.object()) == node) queue_.add(key, now);
  }
}

std::optional<Time> SimulatedNodes::gone_since(std::string_view node, Time now) {
  Result<client::Object> found = client::get(client_, kube::kNodes, "", node);
  if (!found.ok() && found.error().kind == ErrorKind::kNotFound) {
    return gone_.try_emplace(std::string(node), now).first->second;
  }
  if (auto known = gone_.find(node); known != gone_.end()) gone_.erase(known);
  return std::nullopt;
}

std::optional<kube::Request> SimulatedNodes::look_at_pod(const client::Object& pod, Time now) {
  client::Object node = caches_[kNodeStream].find("", node_name_of(*pod));
  SimulatedPlan plan;
  if (node != nullptr && is_simulated(*node) && !is_silent(*node)) {
    plan = plan_simulated_pod(*pod, now);
  } else if (node == nullptr) {
    std::optional<Time> since = gone_since(node_name_of(*pod), now);
    if (since && now < *since + kQuarantine) {
      plan.wake = *since + kQuarantine;
    } else if (since) {
      plan = plan_orphan(*pod, now);
    }
  }
  client::ObjectKey key{std::string(kube::namespace_of(*pod)), std::string(kube::name_of(*pod))};
  if (plan.wake) queue_.add(key, *plan.wake);
  if (plan.status) return write_status(kube::kPods, *pod, std::move(*plan.status));
  return plan.remove ? std::optional(remove_now(*pod)) : std::nullopt;
}

std::optional<kube::Request> SimulatedNodes::look_at(const client::ObjectKey& key, Time now) {
  client::Object object = caches_[key.ns.empty() ? kNodeStream : kPodStream].find(key.ns, key.name);
  if (object == nullptr) return std::nullopt;
  if (!key.ns.empty()) return look_at_pod(object, now);
  std::optional<json::object> status = simulated_node_status(*object, now);
  if (!status) return std::nullopt;
  return write_status(kube::kNodes, *object, std::move(*status));
}

bool SimulatedNodes::step(Time now) {
  if (!synced()) return false;
  std::vector<client::ObjectKey> keys;
  std::vector<kube::Request> requests;
  bool looked = false;
  while (keys.size() < kPodsTogetherMax) {
    std::optional<client::ObjectKey> key = queue_.take(now);
    if (!key) break;
    looked = true;
    queue_.done(*key);
    std::optional<kube::Request> request = look_at(*key, now);
    if (!request) continue;
    keys.push_back(*key);
    requests.push_back(std::move(*request));
  }
  if (requests.empty()) return looked;
  std::vector<Result<client::Reply>> replies = client_.send_all(std::move(requests));
  for (size_t i = 0; i < keys.size(); ++i) {
    bool settled = replies[i].ok() || replies[i].error().kind == ErrorKind::kNotFound;
    if (settled) {
      queue_.reset(keys[i]);
    } else {
      queue_.add(keys[i], queue_.back_off(keys[i], now));
    }
  }
  return true;
}

std::optional<Time> SimulatedNodes::next_wake() const {
  std::optional<Time> next;
  if (synced()) next = queue_.next();
  for (const client::Watcher& watcher : watchers_) {
    std::optional<Time> ask = watcher.next_ask();
    if (ask && (!next || *ask < *next)) next = ask;
  }
  return next;
}

}  // namespace trainyard::control
