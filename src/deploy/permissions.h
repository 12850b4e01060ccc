// What the operator and the scheduler ask the API for, and therefore may do: nothing else.
// One table, each row with its reason; and what people get. Pure data.
#pragma once

#include <string_view>
#include <vector>

#include "kube/json.h"

namespace trainyard::deploy {

enum class Program { kOperator, kScheduler };

// Where a rule holds: in the namespaces with jobs, in the whole cluster because what it
// is about has no namespace, or in the program's own namespace.
enum class Reach { kJobs, kCluster, kOwnNamespace };

struct Permission {
  Program program;
  Reach reach;
  std::vector<std::string_view> groups;
  std::vector<std::string_view> resources;
  std::vector<std::string_view> verbs;
  std::string_view why;
};

// `own_volcano_jobs` adds what Volcano's jobs need: their companions are Secrets and more.
std::vector<Permission> permissions(bool own_volcano_jobs);

// The rules of a Role or ClusterRole, in the table's order.
json::array rules_for(const std::vector<Permission>& permissions, Program program, Reach reach);

// What people may do in a namespace: see jobs and what they wait in, or change jobs and gangs. Queues are
// how a cluster is shared out, so who may edit a namespace may not change them.
json::array rules_for_people(bool edit);

}  // namespace trainyard::deploy
