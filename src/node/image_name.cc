#include "node/image_name.h"

#include <fmt/format.h>

#include <algorithm>

#include "kube/access.h"

namespace trainyard::node {
namespace {

constexpr size_t kNameMax = 512;

bool is_lower(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }
bool is_word(char c) { return is_lower(c) || (c >= 'A' && c <= 'Z') || c == '_'; }

bool is_host(std::string_view text) {
  return text == "localhost" || text.find('.') != std::string_view::npos ||
         text.find(':') != std::string_view::npos;
}

bool valid_host(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return is_word(c) || c == '.' || c == '-' || c == ':' || c == '[' || c == ']';
  });
}

// Parts of lower-case letters and digits, separated inside by '.', '_' or '-', begun and ended by neither.
bool valid_repository(std::string_view text) {
  if (text.empty() || text.front() == '/' || text.back() == '/') return false;
  char before = '/';
  for (char c : text) {
    bool inner = c == '.' || c == '_' || c == '-';
    if (!is_lower(c) && !inner && c != '/') return false;
    if (c == '/' && !is_lower(before)) return false;
    if (inner && before == '/') return false;
    if (c == '.' && before == '.') return false;
    before = c;
  }
  return is_lower(before);
}

bool valid_tag(std::string_view text) {
  return !text.empty() && text.size() <= 128 && is_word(text.front()) &&
         std::all_of(text.begin(), text.end(), [](char c) { return is_word(c) || c == '.' || c == '-'; });
}

bool valid_digest(std::string_view text) {
  constexpr std::string_view kSha256 = "sha256:";
  if (!text.starts_with(kSha256) || text.size() != kSha256.size() + 64) return false;
  text.remove_prefix(kSha256.size());
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

}  // namespace

Result<ImageName> parse_image_name(std::string_view text) {
  auto refuse = [&](std::string_view why) {
    return Error{ErrorKind::kInvalid, fmt::format("image name \"{}\": {}", kube::shown(text), why)};
  };
  if (text.empty()) return refuse("is empty");
  if (text.size() > kNameMax) return refuse("is too long");
  ImageName name;
  std::string_view rest = text;
  if (size_t at = rest.find('@'); at != std::string_view::npos) {
    name.digest = rest.substr(at + 1);
    rest = rest.substr(0, at);
    if (!valid_digest(name.digest)) return refuse("its digest is not sha256: and 64 hexadecimal digits");
  }
  size_t slash = rest.rfind('/');
  size_t colon = rest.rfind(':');
  if (colon != std::string_view::npos && (slash == std::string_view::npos || colon > slash)) {
    name.tag = rest.substr(colon + 1);
    rest = rest.substr(0, colon);
    if (!valid_tag(name.tag)) return refuse("its tag has characters that a tag cannot have");
  }
  size_t first = rest.find('/');
  if (first != std::string_view::npos && is_host(rest.substr(0, first))) {
    name.host = rest.substr(0, first);
    rest.remove_prefix(first + 1);
    if (!valid_host(name.host)) return refuse("its registry is not a host");
  }
  if (name.host.empty() || name.host == "index.docker.io") name.host = "docker.io";
  name.repository = rest;
  if (name.host == "docker.io" && rest.find('/') == std::string_view::npos) {
    name.repository = fmt::format("library/{}", rest);
  }
  if (!valid_repository(name.repository)) return refuse("its name must be lower-case words between slashes");
  if (name.tag.empty() && name.digest.empty()) name.tag = "latest";
  return name;
}

std::string full_name(const ImageName& name) {
  if (!name.digest.empty()) return fmt::format("{}/{}@{}", name.host, name.repository, name.digest);
  return fmt::format("{}/{}:{}", name.host, name.repository, name.tag);
}

std::string name_by_digest(const ImageName& name, std::string_view digest) {
  return fmt::format("{}/{}@{}", name.host, name.repository, digest);
}

bool on_loopback(const ImageName& name) {
  std::string_view host = name.host;
  if (host.starts_with("[::1]")) return true;
  host = host.substr(0, host.find(':'));
  if (host == "localhost") return true;
  return host.starts_with("127.") &&
         std::all_of(host.begin(), host.end(), [](char c) { return (c >= '0' && c <= '9') || c == '.'; });
}

PullPolicy pull_policy(std::string_view written, const ImageName& name) {
  if (written == "Always") return PullPolicy::kAlways;
  if (written == "Never") return PullPolicy::kNever;
  if (written == "IfNotPresent") return PullPolicy::kIfNotPresent;
  return name.digest.empty() && name.tag == "latest" ? PullPolicy::kAlways : PullPolicy::kIfNotPresent;
}

ImageChoice choose_image(PullPolicy policy, bool is_here, bool may_pull) {
  switch (policy) {
    case PullPolicy::kAlways:
      if (may_pull) return ImageChoice::kPull;
      break;
    case PullPolicy::kIfNotPresent:
      if (may_pull && !is_here) return ImageChoice::kPull;
      break;
    case PullPolicy::kNever:
      break;
  }
  return is_here ? ImageChoice::kLocal : ImageChoice::kHostRoot;
}

}  // namespace trainyard::node
