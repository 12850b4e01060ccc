// The volumes of a job: which claims its pods mount, under which names. Pure.
//
// Volcano draws a claim's and a volume's name at random and writes the claim's back into
// the manifest. Ours have the same form, <job>-pvc-<12 of 0-9a-z> and <job>-<12 of
// 0-9a-z>, but follow from the job's uid and the entry's position: nothing is written
// back, and a claim is found again whatever was lost.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "dialect/volcano/spec.h"
#include "kube/json.h"
#include "model/job_spec.h"

namespace trainyard::dialect::vc {

inline constexpr size_t kSuffixLength = 12;

// Whether it is a name that we or Volcano give to claims of that job.
bool is_generated_claim(std::string_view job, std::string_view claim);

// A claim that pods mount, once, however often the manifest mounts it.
struct Claim {
  std::string name;
  std::string volume;                  // the name of the volume in the pods
  const json::object* body = nullptr;  // its spec, when it is ours to make
  std::vector<std::string> mount_paths;
};
std::vector<Claim> claims_of(const Spec& spec);

std::vector<model::Companion> claim_companions(const Spec& spec);
// The PersistentVolumeClaim of that name. REQUIRES: it is one of the spec's that is ours to make.
json::object render_claim(const Spec& spec, std::string_view name, const json::object& owner);

// Adds the volumes to the pod and mounts them in its main containers.
void mount_claims(const Spec& spec, json::object& pod);

}  // namespace trainyard::dialect::vc
