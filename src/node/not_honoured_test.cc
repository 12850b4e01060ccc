#include "node/not_honoured.h"

#include <gtest/gtest.h>

#include "node/testing.h"

namespace trainyard::node {
namespace {

using testing::parse;
using Words = std::vector<std::string>;

TEST(NotHonoured, NothingOfAPlainPod) {
  EXPECT_EQ(not_honoured(parse(R"j({"spec":{"dnsPolicy":"ClusterFirst","hostNetwork":true,"hostPID":false,
      "securityContext":{"seccompProfile":{"type":"Unconfined"},"fsGroup":1},
      "volumes":[{"name":"v","projected":{"sources":[{"secret":{"name":"s"}}]}}],
      "containers":[{"name":"a","ports":[{"containerPort":1,"hostPort":1}],
        "resources":{"limits":{"cpu":"1"}}}]}})j")),
            Words{});
}

TEST(NotHonoured, EachThingIsToldOnce) {
  EXPECT_EQ(not_honoured(
                parse(R"j({"spec":{"dnsPolicy":"None","dnsConfig":{"nameservers":["9.9.9.9"]},"hostPID":true,
      "shareProcessNamespace":true,
      "securityContext":{"seccompProfile":{"type":"RuntimeDefault"}},
      "volumes":[{"name":"v","projected":{"sources":[{"serviceAccountToken":{"path":"t"}}]}}],
      "initContainers":[{"name":"i","securityContext":{"seLinuxOptions":{"level":"s0"}}}],
      "containers":[{"name":"a","ports":[{"containerPort":1},{"containerPort":2,"hostPort":3}],
        "securityContext":{"seccompProfile":{"type":"RuntimeDefault"},"appArmorProfile":{"type":"Localhost"}},
        "resources":{"limits":{"ephemeral-storage":"1Gi"}}}]}})j")),
            (Words{"the seccomp profile RuntimeDefault is not applied",
                   "dnsPolicy and dnsConfig are not applied: names are looked up as on this machine",
                   "hostPID is not applied", "shareProcessNamespace is not applied",
                   "volume v: there are no tokens of service accounts here: it has no file t",
                   "seLinuxOptions are not applied", "the AppArmor profile Localhost is not applied",
                   "container a: the limit of ephemeral-storage is not enforced",
                   "container a: hostPort 3 is not opened on this machine"}));
}

TEST(NotHonoured, WhatMachinesHaveThatThisOneIsNot) {
  EXPECT_EQ(
      not_honoured(parse(R"j({"spec":{"runtimeClassName":"gvisor","setHostnameAsFQDN":true,"hostUsers":false,
      "resourceClaims":[{"name":"r"}],
      "volumes":[{"name":"h","emptyDir":{"medium":"HugePages-2Mi"}},{"name":"m","emptyDir":{"medium":"Memory"}}],
      "containers":[{"name":"a","volumeDevices":[{"name":"p","devicePath":"/dev/xvda"}],
        "volumeMounts":[{"name":"m","mountPath":"/m","mountPropagation":"None"},
                        {"name":"h","mountPath":"/h","mountPropagation":"HostToContainer"}]}]}})j")),
      (Words{"runtimeClassName gvisor is not applied: there is one runtime here",
             "setHostnameAsFQDN is not applied: the name of the host is the short one",
             "hostUsers: false is not applied", "resourceClaim r is not applied",
             "volume h: there are no huge pages here: it is an ordinary folder",
             "container a: there are no block devices of volumes here: it has no /dev/xvda",
             "container a: mountPropagation HostToContainer is not applied to /h"}));
}

}  // namespace
}  // namespace trainyard::node
