#include "control/binder.h"

#include <algorithm>

#include "base/match.h"
#include "kube/access.h"
#include "kube/meta.h"

namespace trainyard::control {
namespace {

constexpr Duration kRetryAfter{1'000};

// The words without what is in brackets: amounts that are free change with every other pod, and
// a backlog that is told each time would cost a write for each of its pods.
std::string gist(std::string_view message) {
  std::string out;
  int depth = 0;
  for (char c : message) {
    if (c == '(') ++depth;
    if (depth == 0) out += c;
    if (c == ')') --depth;
  }
  return out;
}

bool says(const json::object& pod, const std::string& message) {
  const json::array* conditions = kube::array_at(pod, {"status", "conditions"});
  if (conditions == nullptr) return false;
  return std::any_of(conditions->begin(), conditions->end(), [&](const json::value& value) {
    const json::object* condition = value.if_object();
    return condition != nullptr && kube::text_at(*condition, {"type"}) == "PodScheduled" &&
           gist(kube::text_at(*condition, {"message"})) == gist(message);
  });
}

json::array with_condition(const json::object& pod, json::object condition) {
  json::array out;
  if (const json::array* before = kube::array_at(pod, {"status", "conditions"})) {
    for (const json::value& value : *before) {
      const json::object* one = value.if_object();
      if (one == nullptr || kube::text_at(*one, {"type"}) != "PodScheduled") out.push_back(value);
    }
  }
  out.push_back(std::move(condition));
  return out;
}

}  // namespace

Binder::Binder(client::Client& client, PlacementOptions options)
    : client_(client), options_(options), caches_(3) {
  watchers_.emplace_back(client::Stream{kube::kPods, {}, ""});
  watchers_.emplace_back(client::Stream{kube::kNodes, {}, ""});
  watchers_.emplace_back(client::Stream{kube::kVolcanoPodGroups, {}, ""});
}

std::vector<StreamRequest> Binder::requests(Time now) {
  std::vector<StreamRequest> wanted;
  for (int stream : {kPodStream, kNodeStream, kGroupStream}) {
    if (auto request = watchers_[stream].ask(now)) wanted.push_back({stream, std::move(*request)});
  }
  return wanted;
}

void Binder::on_list(int stream, const Result<client::Reply>& reply, Time now) {
  take_in(stream, watchers_[stream].on_list(reply, now), now);
}

void Binder::on_event(int stream, const client::WatchEvent& event, Time now) {
  take_in(stream, watchers_[stream].on_event(event, now), now);
}

void Binder::on_closed(int stream, const std::optional<Error>& error, Time now) {
  watchers_[stream].on_closed(error, now);
}

void Binder::take_in(int stream, const std::vector<client::Output>& outputs, Time now) {
  for (const client::Output& output : outputs) {
    for (const client::Changed& changed : caches_[stream].apply(output, now)) {
      dirty_ = true;
      if (stream != kPodStream) continue;
      const client::Object& seen = changed.after != nullptr ? changed.after : changed.before;
      bool bound = !kube::text_at(*seen, {"spec", "nodeName"}).empty();
      if (changed.after == nullptr || bound) assumed_.erase(std::string(kube::uid_of(*seen)));
      // What vanished is nobody's concern here: a new pod is a new decision.
      caches_[stream].settle_vanished(kube::controller_uid_of(*seen));
      caches_[stream].forget_if([](std::string_view, const client::Tombstone&) { return true; });
    }
  }
}

bool Binder::step(Time now) {
  bool due = dirty_ || (retry_ && *retry_ <= now);
  bool synced =
      std::all_of(caches_.begin(), caches_.end(), [](const client::Cache& c) { return c.synced(); });
  if (!due || !synced) return false;
  dirty_ = false;
  retry_.reset();
  for (const auto& [key, group] : caches_[kGroupStream].all()) {
    if (!admit(*group)) retry_ = now + kRetryAfter;
  }
  std::vector<const json::object*> pods, nodes;
  for (const auto& [key, pod] : caches_[kPodStream].all()) pods.push_back(pod.get());
  for (const auto& [key, node] : caches_[kNodeStream].all()) nodes.push_back(node.get());
  for (const Placed& placed : place(pods, nodes, assumed_, options_)) {
    bool settled = std::visit(Match{
                                  [&](const Bind& where) { return bind(placed, where, now); },
                                  [&](const Wait& why) { return tell(placed, why, now); },
                              },
                              placed.where);
    if (!settled) retry_ = now + kRetryAfter;
  }
  return true;
}

bool Binder::admit(const json::object& group) {
  std::string_view phase = kube::text_at(group, {"status", "phase"});
  if (!phase.empty() && phase != "Pending") return true;
  json::object body{{"metadata", json::object{{"uid", kube::jview(kube::uid_of(group))}}},
                    {"status", json::object{{"phase", "Inqueue"}}}};
  Result<client::Object> admitted =
      client::patch(client_, kube::kVolcanoPodGroups, kube::namespace_of(group),
                    {std::string(kube::name_of(group)), kube::PatchKind::kMerge, std::move(body)});
  return admitted.ok() || admitted.error().kind == ErrorKind::kNotFound;
}

bool Binder::bind(const Placed& placed, const Bind& where, Time now) {
  json::object body{{"metadata", json::object{{"uid", placed.uid}}},
                    {"spec", json::object{{"nodeName", where.node}}}};
  Result<client::Object> bound =
      client::patch(client_, kube::kPods, placed.ns, {placed.pod, kube::PatchKind::kMerge, std::move(body)});
  if (bound.ok()) {
    assumed_[placed.uid] = where.node;
    recorder_.tell(client_, **bound, "default-scheduler",
                   {false, "Scheduled",
                    fmt::format("Successfully assigned {}/{} to {}", placed.ns, placed.pod, where.node)},
                   now);
    return true;
  }
  return bound.error().kind == ErrorKind::kNotFound;
}

bool Binder::tell(const Placed& placed, const Wait& why, Time now) {
  client::Object pod = caches_[kPodStream].find(placed.ns, placed.pod);
  if (pod == nullptr || says(*pod, why.message)) return true;
  json::object condition{{"type", "PodScheduled"},
                         {"status", "False"},
                         {"reason", "Unschedulable"},
                         {"message", why.message},
                         {"lastTransitionTime", format_rfc3339(now)}};
  json::object body{{"metadata", json::object{{"uid", placed.uid}}},
                    {"status", json::object{{"conditions", with_condition(*pod, std::move(condition))}}}};
  Result<client::Object> told = client::patch(client_, kube::kPods, placed.ns,
                                              {placed.pod, kube::PatchKind::kMerge, std::move(body), true});
  if (told.ok())
    recorder_.tell(client_, **told, "default-scheduler", {true, "FailedScheduling", why.message}, now);
  return told.ok() || told.error().kind == ErrorKind::kNotFound;
}

std::optional<Time> Binder::next_wake() const {
  std::optional<Time> next = retry_;
  if (dirty_) next = Time{0};
  for (const client::Watcher& watcher : watchers_) {
    std::optional<Time> ask = watcher.next_ask();
    if (ask && (!next || *ask < *next)) next = ask;
  }
  return next;
}

}  // namespace trainyard::control
