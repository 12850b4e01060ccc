#include "control/rbac_hint.h"

#include <gtest/gtest.h>

namespace trainyard::control {
namespace {

TEST(RbacHint, SaysWhatToGrant) {
  struct Row {
    std::string message;
    std::string hint;  // "" when it is not about rights
  };
  for (const Row& row : std::vector<Row>{
           {"pods is forbidden: User \"system:serviceaccount:yard:op\" cannot create resource \"pods\" in "
            "API "
            "group \"\" in the namespace \"team\"",
            "grant verbs [create] on resources [pods] of apiGroups [\"\"] in namespace team, by a Role and a "
            "RoleBinding"},
           {"tfjobs.kubeflow.org is forbidden: User \"u\" cannot list resource \"tfjobs\" in API group "
            "\"kubeflow.org\" at the cluster scope",
            "grant verbs [list, watch] on resources [tfjobs] of apiGroups [\"kubeflow.org\"] in the whole "
            "cluster, by a ClusterRole and a ClusterRoleBinding"},
           {"tfjobs.kubeflow.org \"j\" is forbidden: User \"u\" cannot update resource \"tfjobs/status\" in "
            "API "
            "group \"kubeflow.org\" in the namespace \"a\"",
            "grant verbs [update] on resources [tfjobs/status] of apiGroups [\"kubeflow.org\"] in namespace "
            "a, "
            "by a Role and a RoleBinding"},
           {"pods \"a\" is forbidden: exceeded quota: q, requested: pods=1, used: pods=2, limited: pods=2",
            ""},
           {"", ""},
       }) {
    std::optional<MissingRight> missing = missing_right(row.message);
    EXPECT_EQ(missing ? what_to_grant(*missing) : "", row.hint);
  }
}

}  // namespace
}  // namespace trainyard::control
