// The svc plugin: pods get a hostname and subdomain, a headless Service resolves them,
// a ConfigMap lists the hosts of each task (mounted at /etc/volcano and, unless switched
// off, in the environment), and a NetworkPolicy keeps strangers out. Pure.
//
// ConfigMap keys of task my-ps: my_ps.host (one host per line, no newline at the end),
// VC_MY_PS_HOSTS (with commas), VC_MY_PS_NUM.
#pragma once

#include <vector>

#include "dialect/volcano/plugins.h"
#include "dialect/volcano/spec.h"
#include "kube/json.h"
#include "model/job_spec.h"

namespace trainyard::dialect::vc {

void apply(const SvcPlugin& plugin, const Spec& spec, json::object& pod);

std::vector<model::Companion> svc_companions(const SvcPlugin& plugin, const Spec& spec);

// `owner` is the reference to the job, {} when it was never stored.
json::object render_hosts(const Spec& spec, const json::object& owner);  // the ConfigMap
json::object render_job_service(const SvcPlugin& plugin, const Spec& spec, const json::object& owner);
json::object render_job_network_policy(const Spec& spec, const json::object& owner);

}  // namespace trainyard::dialect::vc
