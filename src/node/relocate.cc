#include "node/relocate.h"

namespace trainyard::node {
namespace {

bool may_precede_a_path(char c) {
  return std::string_view(" \t\n=:,;'\"(<>|&`").find(c) != std::string_view::npos;
}

bool may_follow_a_target(char c) {
  return std::string_view("/ \t\n:,;'\")<>|&`").find(c) != std::string_view::npos;
}

}  // namespace

bool is_relocated(const Mount& mount) {
  bool shared_memory = mount.memory && mount.target == "/dev/shm";
  return !mount.source.empty() && mount.target != "/" && !shared_memory;
}

namespace {

// The mount whose target is at the start of `text`, the longest one; null when there is none.
const Mount* mount_at(std::string_view text, const std::vector<Mount>& mounts) {
  const Mount* best = nullptr;
  for (const Mount& mount : mounts) {
    if (!is_relocated(mount) || !text.starts_with(mount.target)) continue;
    bool ends = text.size() == mount.target.size() || may_follow_a_target(text[mount.target.size()]);
    if (ends && (best == nullptr || best->target.size() < mount.target.size())) best = &mount;
  }
  return best;
}

}  // namespace

std::string relocated(std::string_view text, const std::vector<Mount>& mounts) {
  std::string out;
  size_t at = 0;
  while (at < text.size()) {
    bool begins = text[at] == '/' && (at == 0 || may_precede_a_path(text[at - 1]));
    const Mount* mount = begins ? mount_at(text.substr(at), mounts) : nullptr;
    if (mount == nullptr) {
      out += text[at++];
      continue;
    }
    out += mount->source.string();
    at += mount->target.size();
  }
  return out;
}

}  // namespace trainyard::node
