#include "dialect/volcano/claims.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "base/hash.h"
#include "dialect/volcano/containers.h"
#include "kube/access.h"
#include "kube/meta.h"
#include "kube/objects.h"

namespace trainyard::dialect::vc {
namespace {

constexpr std::string_view kAlphabet = "0123456789abcdefghijklmnopqrstuvwxyz";

// Twelve characters that follow from the job, the purpose and the position.
std::string suffix(const Spec& spec, std::string_view purpose, size_t index) {
  std::string_view whose = spec.uid.empty() ? std::string_view(spec.name) : std::string_view(spec.uid);
  uint64_t hash = fnv1a(fmt::format("{}/{}/{}", whose, purpose, index));
  std::string text;
  while (text.size() < kSuffixLength) {
    text += kAlphabet[hash % kAlphabet.size()];
    hash /= kAlphabet.size();
  }
  return text;
}

}  // namespace

bool is_generated_claim(std::string_view job, std::string_view claim) {
  std::string stem = fmt::format("{}-pvc-", job);
  if (!claim.starts_with(stem) || claim.size() != stem.size() + kSuffixLength) return false;
  return claim.substr(stem.size()).find_first_not_of(kAlphabet) == std::string_view::npos;
}

std::vector<Claim> claims_of(const Spec& spec) {
  std::vector<Claim> claims;
  for (size_t i = 0; i < spec.volumes.size(); ++i) {
    const Volume& volume = spec.volumes[i];
    std::string name = volume.claim_name.empty()
                           ? fmt::format("{}-pvc-{}", spec.name, suffix(spec, "claim", i))
                           : volume.claim_name;
    auto same =
        std::find_if(claims.begin(), claims.end(), [&](const Claim& each) { return each.name == name; });
    if (same == claims.end()) {
      claims.push_back({.name = name,
                        .volume = fmt::format("{}-{}", spec.name, suffix(spec, "volume", i)),
                        .body = volume.claim});
      same = claims.end() - 1;
    }
    same->mount_paths.push_back(volume.mount_path);
  }
  return claims;
}

std::vector<model::Companion> claim_companions(const Spec& spec) {
  std::vector<model::Companion> companions;
  for (const Claim& claim : claims_of(spec)) {
    // A claim cannot be changed once it is there, so its digest never does.
    companions.push_back({.kind = model::CompanionKind::kPersistentVolumeClaim,
                          .name = claim.name,
                          .digest = claim.body == nullptr ? 0 : fnv1a(claim.name),
                          .outlives_run = true,
                          .must_exist = claim.body == nullptr});
  }
  return companions;
}

json::object render_claim(const Spec& spec, std::string_view name, const json::object& owner) {
  for (const Claim& claim : claims_of(spec)) {
    if (claim.name != name || claim.body == nullptr) continue;
    kube::NewMeta meta{.name = claim.name, .ns = spec.name_space};
    if (!owner.empty()) meta.owner = owner;
    json::object object = kube::new_object(kube::kPersistentVolumeClaims, meta);
    object["spec"] = *claim.body;
    return object;
  }
  CHECK(false);
  return {};
}

void mount_claims(const Spec& spec, json::object& pod) {
  for (const Claim& claim : claims_of(spec)) {
    json::object volume;
    volume["name"] = claim.volume;
    volume["persistentVolumeClaim"] = {{"claimName", claim.name}};
    add_volume(pod, std::move(volume));
    for (const std::string& path : claim.mount_paths) {
      add_mount(pod, {{"name", claim.volume}, {"mountPath", path}}, Containers::kMain);
    }
  }
}

}  // namespace trainyard::dialect::vc
