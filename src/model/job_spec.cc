#include "model/job_spec.h"

#include <array>
#include <charconv>

namespace trainyard::model {

int JobSpec::total_replicas() const {
  int total = 0;
  for (const Role& role : roles) total += role.replicas;
  return total;
}

std::string JobSpec::pod_name(ReplicaId id) const {
  const std::string& role = roles.at(id.role).name;
  const std::string index = std::to_string(id.index);
  std::string name;
  name.reserve(pod_prefix.size() + role.size() + index.size() + 2);
  return name.append(pod_prefix).append(1, '-').append(role).append(1, '-').append(index);
}

bool JobSpec::is_pod_name(ReplicaId id, std::string_view name) const {
  auto take = [&name](std::string_view part) {
    bool begins = name.starts_with(part);
    if (begins) name.remove_prefix(part.size());
    return begins;
  };
  if (!take(pod_prefix) || !take("-") || !take(roles.at(id.role).name) || !take("-")) return false;
  std::array<char, 12> digits;
  auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(), id.index);
  return error == std::errc{} && name == std::string_view(digits.data(), end);
}

int JobSpec::role_named(std::string_view role) const {
  for (size_t i = 0; i < roles.size(); ++i) {
    if (roles[i].name == role) return static_cast<int>(i);
  }
  return -1;
}

bool same_intent(const JobSpec& a, const JobSpec& b) {
  auto untitled = [](std::vector<Role> roles) {
    for (Role& role : roles) role.title.clear();
    return roles;
  };
  return untitled(a.roles) == untitled(b.roles) && a.success == b.success && a.running_min == b.running_min &&
         a.budget == b.budget && a.cleanup == b.cleanup && a.mode == b.mode && a.pause == b.pause &&
         a.active_deadline == b.active_deadline && a.ttl_after_finished == b.ttl_after_finished &&
         a.gang == b.gang && a.service_per_replica == b.service_per_replica && a.companions == b.companions &&
         a.tensorboard.has_value() == b.tensorboard.has_value() && a.managed == b.managed &&
         a.holds_deletion == b.holds_deletion;
}

}  // namespace trainyard::model
