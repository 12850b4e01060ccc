#include "node/pod_plan.h"

#include <gtest/gtest.h>

#include "kube/json.h"
#include "node/testing.h"

namespace trainyard::node {
namespace {

using testing::object;
using testing::parse;

json::object pod_with(std::string_view container, std::string_view more = "") {
  return parse(fmt::format(R"j({{"metadata":{{"name":"p","namespace":"ns","uid":"u"}},
      "spec":{{"containers":[{}]{}}}}})j",
                           container, more));
}

TEST(PlanContainer, CommandAndArgs) {
  struct Case {
    std::string container;
    std::vector<std::string> argv;
    bool args_only;
  };
  const Case cases[] = {
      {R"j({"name":"a","command":["python","t.py"],"args":["--n","$(N)"],"env":[{"name":"N","value":"4"}]})j",
       {"python", "t.py", "--n", "4"},
       false},
      {R"j({"name":"a","args":["--x","$$(N)"]})j", {"--x", "$(N)"}, true},
      {R"j({"name":"a"})j", {}, true},
  };
  for (const Case& each : cases) {
    json::object pod = pod_with(each.container);
    Result<ContainerWish> wish = plan_container(pod, *find_container(pod, "a"), {});
    ASSERT_TRUE(wish.ok());
    EXPECT_EQ(wish->plan.argv, each.argv) << each.container;
    EXPECT_EQ(wish->plan.argv_is_args_only, each.args_only) << each.container;
  }
}

TEST(PlanContainer, LimitsSecurityAndTheRest) {
  json::object pod = pod_with(
      R"j({"name":"a","image":"tf:2","workingDir":"/w","tty":true,"stdin":true,
      "resources":{"limits":{"cpu":"1500m","memory":"2Gi","nvidia.com/gpu":2},"requests":{"cpu":"250m"}},
      "securityContext":{"runAsUser":1000,"readOnlyRootFilesystem":true,"runAsNonRoot":true,
        "allowPrivilegeEscalation":false,"capabilities":{"add":["SYS_PTRACE"],"drop":["ALL"]}}})j",
      R"j(,"securityContext":{"runAsUser":5,"runAsGroup":6,"fsGroup":7,"supplementalGroups":[8]},"hostname":"h")j");
  Result<ContainerWish> wish = plan_container(pod, *find_container(pod, "a"), {});
  ASSERT_TRUE(wish.ok());
  EXPECT_EQ(wish->plan.limits.cpu_millis, 1500);
  EXPECT_EQ(wish->plan.limits.memory_bytes, int64_t{2} << 30);
  EXPECT_EQ(wish->plan.limits.cpu_request_millis, 250);
  EXPECT_EQ(wish->plan.run_as_user, 1000);
  EXPECT_EQ(wish->plan.run_as_group, 6);
  EXPECT_EQ(wish->plan.more_groups, (std::vector<int64_t>{8, 7}));
  EXPECT_TRUE(wish->plan.read_only_root);
  EXPECT_TRUE(wish->plan.non_root);
  EXPECT_TRUE(wish->plan.no_new_privileges);
  EXPECT_EQ(wish->plan.capabilities, (CapabilityWishes{{"SYS_PTRACE"}, {"ALL"}}));
  EXPECT_TRUE(wish->plan.tty);
  EXPECT_EQ(wish->plan.working_dir, "/w");
  EXPECT_EQ(wish->gpus, 2);
  EXPECT_EQ(wish->termination_path, "/dev/termination-log");
  EXPECT_EQ(wish->plan.env, (Env{{"HOSTNAME", "h"}}));
}

TEST(PlanContainer, RefusesRootWhereItIsForbidden) {
  json::object pod = pod_with(R"j({"name":"a","securityContext":{"runAsUser":0,"runAsNonRoot":true}})j");
  EXPECT_EQ(plan_container(pod, *find_container(pod, "a"), {}).error().message,
            "container's runAsUser breaks non-root policy");
}

TEST(PlanContainer, RefusesCapabilitiesThatThereAreNot) {
  json::object pod = pod_with(R"j({"name":"a","securityContext":{"capabilities":{"add":["SYS_PTRACED"]}}})j");
  EXPECT_EQ(plan_container(pod, *find_container(pod, "a"), {}).error().message,
            "there is no capability SYS_PTRACED");
}

TEST(PlanPod, NamesAndNetwork) {
  PodPlan plan =
      plan_pod(parse(R"j({"metadata":{"name":"p","namespace":"ns","uid":"u"},"spec":{"hostNetwork":true,
      "securityContext":{"sysctls":[{"name":"net.core.somaxconn","value":"1024"}]}}})j"),
               "cluster.local");
  EXPECT_EQ(plan.hostname, "p");
  EXPECT_EQ(plan.fqdn, "");
  EXPECT_TRUE(plan.host_network);
  EXPECT_EQ(plan.sysctls.at("net.core.somaxconn"), "1024");
}

TEST(PlanPod, ASubdomainGivesAWholeName) {
  json::object pod =
      parse(R"j({"metadata":{"name":"p","namespace":"ns"},"spec":{"hostname":"h","subdomain":"sub"}})j");
  EXPECT_EQ(plan_pod(pod, "example.org").fqdn, "h.sub.ns.svc.example.org");
}

TEST(ReferencesOf, FindsAllThatMustBeRead) {
  json::object pod =
      parse(R"j({"spec":{"initContainers":[{"name":"i","envFrom":[{"secretRef":{"name":"s1"}}]}],
      "containers":[{"name":"a","env":[{"name":"x","valueFrom":{"configMapKeyRef":{"name":"c1"}}},
        {"name":"y","valueFrom":{"secretKeyRef":{"name":"s2"}}}],"envFrom":[{"configMapRef":{"name":"c2"}}]}],
      "volumes":[{"name":"v","secret":{"secretName":"s3"}},{"name":"w","configMap":{"name":"c3"}},
        {"name":"z","projected":{"sources":[{"secret":{"name":"s4"}},{"configMap":{"name":"c4"}}]}}]}})j");
  References wanted{{"c1", "c2", "c3", "c4"}, {"s1", "s2", "s3", "s4"}};
  EXPECT_EQ(references_of(pod), wanted);
}

TEST(UnfitName, NamesThatWouldLeaveTheirFolder) {
  EXPECT_EQ(unfit_name(pod_with(R"j({"name":"a"})j", R"j(,"volumes":[{"name":"v"}])j")), "");
  const std::pair<std::string, std::string> cases[] = {
      {R"j({"name":"../a"})j", ""},
      {R"j({"name":".."})j", ""},
      {R"j({"name":""})j", ""},
      {R"j({"name":"a\u0007"})j", ""},
      {R"j({"name":"a"})j", R"j(,"volumes":[{"name":"../../etc"}])j"},
      {R"j({"name":"a"})j", R"j(,"volumes":[{"name":"v","persistentVolumeClaim":{"claimName":"../x"}}])j"},
  };
  for (const auto& [container, more] : cases) {
    EXPECT_NE(unfit_name(pod_with(container, more)), "") << container << more;
  }
}

TEST(RequestsOf, TakesTheLargerOfSumAndInit) {
  json::object pod = pod_with(
      R"j({"name":"a","resources":{"requests":{"cpu":"500m","memory":"100"}}},
      {"name":"b","resources":{"limits":{"cpu":"500m","nvidia.com/gpu":1}}})j",
      R"j(,"initContainers":[{"name":"i","resources":{"requests":{"cpu":"2"}}}])j");
  EXPECT_EQ(requests_of(pod), (Requests{2000, 100, 1}));
}

TEST(Lacking, NamesTheResource) {
  Requests capacity{4000, 1000, 2};
  EXPECT_EQ(lacking({1000, 0, 0}, {3000, 0, 0}, capacity), "");
  EXPECT_EQ(lacking({1001, 0, 0}, {3000, 0, 0}, capacity), "cpu");
  EXPECT_EQ(lacking({0, 1, 0}, {9999, 1000, 0}, capacity), "memory");
  EXPECT_EQ(lacking({0, 0, 1}, {0, 0, 2}, capacity), "nvidia.com/gpu");
}

std::string volumes_in_words(std::string_view volume, const Around& around) {
  json::object pod = parse(fmt::format(
      R"j({{"metadata":{{"name":"p","labels":{{"l":"1"}}}},"spec":{{"volumes":[{}]}}}})j", volume));
  Result<std::vector<VolumePlan>> plans = plan_volumes(pod, around);
  if (!plans.ok()) return "error: " + plans.error().message;
  std::string words;
  for (const VolumePlan& plan : *plans) {
    const FileVolume* files = std::get_if<FileVolume>(&plan.kind);
    if (files == nullptr) continue;
    for (const VolumeFile& file : files->files) {
      words += fmt::format("{}{}={} {:o}", words.empty() ? "" : ", ", file.path, file.content, file.mode);
    }
  }
  return words;
}

TEST(PlanVolumes, FilesOfSecretsAndTheLike) {
  Around around;
  around.secrets["s"] = object(R"j({"data":{"a":"QQ==","b":"Qg=="}})j");
  around.config_maps["c"] = object(R"j({"data":{"x":"X"}})j");
  const std::pair<std::string, std::string> cases[] = {
      {R"j({"name":"v","secret":{"secretName":"s"}})j", "a=A 644, b=B 644"},
      {R"j({"name":"v","secret":{"secretName":"s","defaultMode":256,"items":[{"key":"b","path":"d/e","mode":511}]}})j",
       "d/e=B 777"},
      {R"j({"name":"v","configMap":{"name":"c"}})j", "x=X 644"},
      {R"j({"name":"v","configMap":{"name":"no","optional":true}})j", ""},
      {R"j({"name":"v","projected":{"defaultMode":384,"sources":[{"secret":{"name":"s"}},{"configMap":{"name":"c"}},
        {"downwardAPI":{"items":[{"path":"n","fieldRef":{"fieldPath":"metadata.name"}}]}}]}})j",
       "a=A 600, b=B 600, n=p 600, x=X 600"},
      {R"j({"name":"v","secret":{"secretName":"no"}})j",
       R"j(error: MountVolume.SetUp failed for volume "v" : secret "no" not found)j"},
      {R"j({"name":"v","configMap":{"name":"c","items":[{"key":"q","path":"q"}]}})j",
       R"j(error: MountVolume.SetUp failed for volume "v" : references non-existent config key: q)j"},
      {R"j({"name":"v","configMap":{"name":"c","items":[{"key":"x","path":"../q"}]}})j",
       R"j(error: MountVolume.SetUp failed for volume "v" : invalid path "../q")j"},
      {R"j({"name":"v","nfs":{"server":"x"}})j",
       R"j(error: MountVolume.SetUp failed for volume "v" : volumes of kind nfs are not to be had on this node)j"},
      {R"j({"name":"v","hostPath":{"path":"relative"}})j",
       R"j(error: MountVolume.SetUp failed for volume "v" : hostPath is not absolute)j"},
  };
  for (const auto& [volume, wanted] : cases) EXPECT_EQ(volumes_in_words(volume, around), wanted) << volume;
}

TEST(PlanVolumes, TheOtherKinds) {
  json::object pod = parse(R"j({"spec":{"volumes":[{"name":"e","emptyDir":{}},{"name":"n"},
      {"name":"m","emptyDir":{"medium":"Memory","sizeLimit":"1Mi"}},{"name":"h","hostPath":{"path":"/x","type":"File"}},
      {"name":"c","persistentVolumeClaim":{"claimName":"data","readOnly":true}}]}})j");
  std::vector<VolumePlan> wanted{{"e", EmptyVolume{}},
                                 {"n", EmptyVolume{}},
                                 {"m", EmptyVolume{true, 1 << 20}},
                                 {"h", HostVolume{"/x", "File"}},
                                 {"c", ClaimVolume{"data", true}}};
  Result<std::vector<VolumePlan>> plans = plan_volumes(pod, {});
  ASSERT_TRUE(plans.ok());
  EXPECT_EQ(*plans, wanted);
}

TEST(PlanVolumes, KindsOfOtherMachinesAreNamed) {
  EXPECT_EQ(foreign_volume_kind(parse(R"j({"name":"d","nfs":{"server":"s","path":"/"}})j")), "nfs");
  EXPECT_EQ(foreign_volume_kind(parse(R"j({"name":"d","hostPath":{"path":"/"}})j")), "");
  EXPECT_EQ(foreign_volume_kind(parse(R"j({"name":"d"})j")), "");
}

TEST(PlanMounts, SortsCleansAndRefuses) {
  json::object container =
      parse(R"j({"volumeMounts":[{"name":"b","mountPath":"/b//c/"},{"name":"a","mountPath":"/b",
      "subPathExpr":"$(POD)/x","readOnly":true}]})j");
  Result<std::vector<MountWish>> wishes = plan_mounts(container, {{"POD", "p"}});
  ASSERT_TRUE(wishes.ok());
  EXPECT_EQ(*wishes, (std::vector<MountWish>{{"a", "/b", "p/x", true}, {"b", "/b/c", "", false}}));
  for (std::string bad :
       {R"j({"name":"a","mountPath":"/a","subPath":"../x"})j",
        R"j({"name":"a","mountPath":"/a","subPath":"/x"})j", R"j({"name":"a","mountPath":"/a/../b"})j",
        R"j({"name":"a","mountPath":"/a","subPath":"x/../../y"})j"}) {
    EXPECT_FALSE(plan_mounts(parse(R"j({"volumeMounts":[)j" + bad + "]}"), {}).ok()) << bad;
  }
}

TEST(CleanRelative, Paths) {
  EXPECT_EQ(clean_relative("a//b/./c/"), "a/b/c");
  EXPECT_EQ(clean_relative(""), "");
  EXPECT_EQ(clean_relative("a/.."), std::nullopt);
  EXPECT_EQ(clean_relative("/a"), std::nullopt);
  EXPECT_EQ(clean_relative(std::string_view("a\0b", 3)), std::nullopt);
}

}  // namespace
}  // namespace trainyard::node
