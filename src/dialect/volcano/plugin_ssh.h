// The ssh plugin: a Secret with one key pair for all pods of the job and an ssh config
// that names them, mounted into every container. Pure: the key pair is made at the edge
// and handed in, once; its Secret is never written anew, because running pods hold the
// old keys and would not see the new ones.
#pragma once

#include "dialect/shared/dialect.h"
#include "dialect/volcano/plugins.h"
#include "dialect/volcano/spec.h"
#include "kube/json.h"
#include "model/job_spec.h"

namespace trainyard::dialect::vc {

void apply(const SshPlugin& plugin, const Spec& spec, json::object& pod);

model::Companion ssh_companion(const Spec& spec);

// `keys` is used when the manifest has no pair of its own; null stands for an empty one.
json::object render_ssh_secret(const SshPlugin& plugin, const Spec& spec, const json::object& owner,
                               const KeyPair* keys);

}  // namespace trainyard::dialect::vc
