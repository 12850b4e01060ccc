#include "cli/run_logs.h"

#include "kube/access.h"
#include "kube/meta.h"

namespace trainyard::cli {

void RunLogs::follow(const json::object& pod, const std::string& replica) {
  const json::array* containers = kube::array_at(pod, {"spec", "containers"});
  size_t container_count = containers == nullptr ? 1 : containers->size();
  for (std::string_view list : {"initContainerStatuses", "containerStatuses"}) {
    const json::array* statuses = kube::array_at(pod, {"status", list});
    if (statuses == nullptr) continue;
    for (const json::value& value : *statuses) {
      const json::object* status = value.if_object();
      if (status == nullptr) continue;
      bool begun = kube::find(*status, {"state", "running"}) != nullptr ||
                   kube::find(*status, {"state", "terminated"}) != nullptr;
      Key key{std::string(kube::uid_of(pod)), std::string(kube::text_at(*status, {"name"})),
              kube::int_at(*status, {"restartCount"}).value_or(0)};
      bool alone = container_count == 1 && list == "containerStatuses";
      std::string who = alone ? replica : fmt::format("{}/{}", replica, std::get<1>(key));
      // One that ended at once was not seen to begin. Restarts are counted when they are done.
      if (kube::find(*status, {"lastState", "terminated"}) != nullptr) {
        Key ended = key;
        if (begun) --std::get<2>(ended);
        open(pod, ended, who, false);
      }
      if (begun) open(pod, key, who, true);
    }
  }
}

void RunLogs::catch_up(const json::object& pod, const std::string& replica, const node::LogFolder& kept) {
  const json::array* containers = kube::array_at(pod, {"spec", "containers"});
  for (size_t i = 0; containers != nullptr && i < containers->size(); ++i) {
    const json::object* container = (*containers)[i].if_object();
    if (container == nullptr) continue;
    std::string name(kube::text_at(*container, {"name"}));
    std::string who = containers->size() == 1 ? replica : fmt::format("{}/{}", replica, name);
    for (int attempt : kept.attempts(kube::namespace_of(pod), kube::name_of(pod), kube::uid_of(pod), name)) {
      open(pod, {std::string(kube::uid_of(pod)), name, attempt}, who, false);
    }
  }
}

void RunLogs::open(const json::object& pod, const Key& key, const std::string& who, bool follow) {
  if (begun_.contains(key)) return;
  server::LogQuery query;
  query.follow = follow;
  query.attempt = static_cast<int>(std::get<2>(key));
  Result<std::unique_ptr<server::LogReader>> reader =
      access_.logs({std::string(kube::namespace_of(pod)), std::string(kube::name_of(pod)), std::get<0>(key),
                    std::get<1>(key)},
                   query);
  // Not there yet, or gone already: the next state of the pod asks again.
  if (!reader.ok()) return;
  begun_.insert(key);
  open_[key] = {who, std::move(reader).value(), {}};
}

bool RunLogs::take_chunk(Open& open, size_t& taken) {
  auto tell = [&](std::string_view line) { line_(open.replica, line); };
  std::string text;
  Result<bool> goes_on = open.reader->read(text);
  taken += text.size();
  open.lines.feed(text, tell);
  if (goes_on.ok() && *goes_on) return true;
  open.lines.finish(tell);
  return false;
}

bool RunLogs::read() {
  size_t total = 0;
  while (true) {
    const size_t before = total;
    for (auto it = open_.begin(); it != open_.end();) {
      it = take_chunk(it->second, total) ? std::next(it) : open_.erase(it);
    }
    if (total == before) return false;
    if (total >= kRunLogBytesMax) return true;
  }
}

}  // namespace trainyard::cli
