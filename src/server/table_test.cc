#include "server/table.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "kube/access.h"
#include "server/table_path.h"

namespace trainyard::server {
namespace {

const Time kTableTime = *parse_rfc3339("2026-11-16T12:00:00Z");

ObjectRef shared_object(std::string_view text) {
  return std::make_shared<const json::object>(json::parse(kube::jview(text)).as_object());
}

std::string cell_text(const json::value& cell) {
  if (cell.is_string()) return std::string(kube::view(cell.get_string()));
  return cell.is_null() ? "" : json::serialize(cell);
}

// The table as kubectl prints it, cells apart by " | ".
std::string printed(const ApiResource& resource, std::vector<ObjectRef> objects, bool wide = false) {
  json::object table = table_of(resource, objects, {}, TableOptions{.now = kTableTime});
  const json::array& columns = table["columnDefinitions"].as_array();
  std::vector<std::string> lines;
  auto add = [&](auto cell) {
    std::vector<std::string> cells;
    for (size_t i = 0; i < columns.size(); ++i) {
      if (wide || kube::int_at(columns[i].as_object(), {"priority"}) == 0) cells.push_back(cell(i));
    }
    lines.push_back(fmt::format("{}", fmt::join(cells, " | ")));
  };
  add([&](size_t i) { return std::string(kube::text_at(columns[i].as_object(), {"name"})); });
  for (const json::value& row : table["rows"].as_array()) {
    const json::array& cells = row.as_object().at("cells").as_array();
    EXPECT_EQ(cells.size(), columns.size());
    add([&](size_t i) { return cell_text(cells[i]); });
  }
  return fmt::format("{}", fmt::join(lines, "\n"));
}

const ApiResource& resource(std::string_view group, std::string_view version, std::string_view plural) {
  static const Registry kRegistry;
  const ApiResource* found = kRegistry.find(group, version, plural);
  CHECK(found != nullptr);
  return *found;
}

// What a row says of one pod: ready, status, restarts.
std::string pod_row(std::string_view spec, std::string_view status, std::string_view metadata = "") {
  std::string text =
      fmt::format(R"({{"metadata":{{"name":"p","creationTimestamp":"2026-11-16T11:57:00Z"{}}},)"
                  R"("spec":{{{}}},"status":{{{}}}}})",
                  metadata, spec, status);
  std::string table = printed(resource("", "v1", "pods"), {shared_object(text)});
  return table.substr(table.find('\n') + 1);
}

constexpr std::string_view kOne = R"("containers":[{"name":"a"}])";
constexpr std::string_view kTwoInit =
    R"("initContainers":[{"name":"i"},{"name":"j"}],"containers":[{"name":"a"}])";

TEST(Table, PodsSayHowTheyAre) {
  EXPECT_EQ(pod_row(kOne, R"("phase":"Pending")"), "p | 0/1 | Pending | 0 | 3m");
  EXPECT_EQ(pod_row(kOne, R"("phase":"Pending","containerStatuses":[
      {"name":"a","state":{"waiting":{"reason":"ContainerCreating"}}}])"),
            "p | 0/1 | ContainerCreating | 0 | 3m");
  EXPECT_EQ(pod_row(kOne, R"("phase":"Running","containerStatuses":[
      {"name":"a","ready":true,"state":{"running":{}}}])"),
            "p | 1/1 | Running | 0 | 3m");
  EXPECT_EQ(pod_row(kOne, R"("phase":"Succeeded","containerStatuses":[
      {"name":"a","ready":false,"state":{"terminated":{"reason":"Completed","exitCode":0}}}])"),
            "p | 0/1 | Completed | 0 | 3m");
  EXPECT_EQ(pod_row(kOne, R"("phase":"Failed","containerStatuses":[
      {"name":"a","state":{"terminated":{"reason":"OOMKilled","exitCode":137}}}])"),
            "p | 0/1 | OOMKilled | 0 | 3m");
  EXPECT_EQ(pod_row(kOne, R"("phase":"Failed","containerStatuses":[
      {"name":"a","state":{"terminated":{"exitCode":3}}}])"),
            "p | 0/1 | ExitCode:3 | 0 | 3m");
  EXPECT_EQ(pod_row(kOne, R"("phase":"Running","containerStatuses":[{"name":"a","restartCount":2,
      "lastState":{"terminated":{"finishedAt":"2026-11-16T11:55:00Z"}},
      "state":{"waiting":{"reason":"CrashLoopBackOff"}}}])"),
            "p | 0/1 | CrashLoopBackOff | 2 (5m ago) | 3m");
  EXPECT_EQ(pod_row(kOne, R"("phase":"Running","containerStatuses":[
      {"name":"a","ready":true,"state":{"running":{}}}])",
                    R"(,"deletionTimestamp":"2026-11-16T12:00:10Z")"),
            "p | 1/1 | Terminating | 0 | 3m");
  EXPECT_EQ(pod_row(kOne, R"("phase":"Failed","reason":"Evicted")"), "p | 0/1 | Evicted | 0 | 3m");
}

TEST(Table, PodsSayHowFarTheirInitContainersAre) {
  EXPECT_EQ(pod_row(kTwoInit, R"("phase":"Pending","initContainerStatuses":[
      {"name":"i","state":{"running":{}}},{"name":"j","state":{"waiting":{"reason":"PodInitializing"}}}])"),
            "p | 0/1 | Init:0/2 | 0 | 3m");
  EXPECT_EQ(pod_row(kTwoInit, R"("phase":"Pending","initContainerStatuses":[
      {"name":"i","state":{"terminated":{"exitCode":0}}},{"name":"j","state":{"running":{}}}])"),
            "p | 0/1 | Init:1/2 | 0 | 3m");
  EXPECT_EQ(pod_row(kTwoInit, R"("phase":"Pending","initContainerStatuses":[
      {"name":"i","restartCount":1,"state":{"terminated":{"reason":"Error","exitCode":1}}}])"),
            "p | 0/1 | Init:Error | 1 | 3m");
  EXPECT_EQ(pod_row(kTwoInit, R"("phase":"Pending","initContainerStatuses":[
      {"name":"i","restartCount":1,"state":{"waiting":{"reason":"CrashLoopBackOff"}}}])"),
            "p | 0/1 | Init:CrashLoopBackOff | 1 | 3m");
}

TEST(Table, ASidecarThatEndedLastDoesNotHideHowThePodEnded) {
  EXPECT_EQ(pod_row(R"("containers":[{"name":"a"}],"initContainers":[{"name":"s","restartPolicy":"Always"}])",
                    R"("phase":"Failed","conditions":[{"type":"Initialized","status":"True"}],
      "initContainerStatuses":[{"name":"s","restartCount":1,"started":false,"state":{"terminated":{"reason":"Error","exitCode":137}}}],
      "containerStatuses":[{"name":"a","state":{"terminated":{"reason":"OOMKilled","exitCode":137}}}])"),
            "p | 0/2 | OOMKilled | 1 | 3m");
}

TEST(Table, PodsShowMoreWhenWide) {
  ObjectRef pod = shared_object(R"({"metadata":{"name":"p","creationTimestamp":"2026-11-16T11:57:00Z"},
      "spec":{"nodeName":"n","containers":[{"name":"a"}]},"status":{"phase":"Pending","podIP":"10.0.0.1"}})");
  EXPECT_EQ(printed(resource("", "v1", "pods"), {pod}, true),
            "Name | Ready | Status | Restarts | Age | IP | Node | Nominated Node | Readiness Gates\n"
            "p | 0/1 | Pending | 0 | 3m | 10.0.0.1 | n | <none> | <none>");
}

TEST(Table, JobsShowTheirState) {
  EXPECT_EQ(printed(resource("kubeflow.org", "v1", "tfjobs"),
                    {shared_object(R"({"metadata":{"name":"j","creationTimestamp":"2026-11-16T10:00:00Z"},
                        "status":{"conditions":[{"type":"Created"},{"type":"Running"}]}})"),
                     shared_object(R"({"metadata":{"name":"new"}})")}),
            "Name | State | Age\nj | Running | 120m\nnew |  | ");
  EXPECT_EQ(printed(resource("batch.tensorstack.dev", "v1beta1", "tensorflowtrainingjobs"),
                    {shared_object(R"({"metadata":{"name":"t","creationTimestamp":"2026-11-14T10:00:00Z"},
                        "status":{"phase":"Succeeded"}})")}),
            "Name | Phase | Age\nt | Succeeded | 2d2h");
  EXPECT_EQ(printed(resource("batch.volcano.sh", "v1alpha1", "jobs"),
                    {shared_object(R"({"metadata":{"name":"v","creationTimestamp":"2026-11-16T11:59:30Z"},
                        "spec":{"queue":"q"},"status":{"state":{"phase":"Running"},"minAvailable":3,"running":3}})")},
                    true),
            "Name | STATUS | minAvailable | RUNNINGS | AGE | QUEUE\nv | Running | 3 | 3 | 30s | q");
}

TEST(Table, OtherKindsHaveTheColumnsUsersKnow) {
  EXPECT_EQ(printed(resource("", "v1", "services"),
                    {shared_object(R"({"metadata":{"name":"s","creationTimestamp":"2026-11-16T11:00:00Z"},
                        "spec":{"clusterIP":"None","ports":[{"port":2222},{"port":80,"nodePort":30080,"protocol":"UDP"}]}})")}),
            "Name | Type | Cluster-IP | External-IP | Port(s) | Age\n"
            "s | ClusterIP | None | <none> | 2222/TCP,80:30080/UDP | 60m");
  EXPECT_EQ(
      printed(
          resource("", "v1", "events"),
          {shared_object(R"({"metadata":{"name":"e"},"type":"Normal","reason":"Created","message":"made it",
                        "involvedObject":{"kind":"TFJob","name":"j"},"lastTimestamp":"2026-11-16T11:59:00Z"})")}),
      "Last Seen | Type | Reason | Object | Message\n60s | Normal | Created | tfjob/j | made it");
  EXPECT_EQ(
      printed(resource("events.k8s.io", "v1", "events"),
              {shared_object(R"({"metadata":{"name":"e"},"type":"Normal","reason":"Created","note":"made it",
                        "regarding":{"kind":"TFJob","name":"j"},"eventTime":"2026-11-16T11:59:00.000000Z"})")}),
      "Last Seen | Type | Reason | Object | Message\n60s | Normal | Created | tfjob/j | made it");
  EXPECT_EQ(printed(resource("", "v1", "nodes"),
                    {shared_object(R"({"metadata":{"name":"n","creationTimestamp":"2026-11-16T04:30:00Z"},
                        "spec":{"unschedulable":true},"status":{"conditions":[{"type":"Ready","status":"True"}],
                        "nodeInfo":{"kubeletVersion":"v1.33.0"}}})")}),
            "Name | Status | Roles | Age | Version\nn | Ready,SchedulingDisabled | <none> | 7h30m | v1.33.0");
  EXPECT_EQ(printed(resource("", "v1", "persistentvolumeclaims"),
                    {shared_object(R"({"metadata":{"name":"c","creationTimestamp":"2026-11-16T11:59:59Z"},
                        "spec":{"volumeName":"v","storageClassName":"local"},
                        "status":{"phase":"Bound","capacity":{"storage":"1Gi"},"accessModes":["ReadWriteOnce"]}})")}),
            "Name | Status | Volume | Capacity | Access Modes | StorageClass | VolumeAttributesClass | Age\n"
            "c | Bound | v | 1Gi | RWO | local | <unset> | 1s");
  EXPECT_EQ(printed(resource("batch", "v1", "jobs"),
                    {shared_object(R"({"metadata":{"name":"b","creationTimestamp":"2026-11-16T11:50:00Z"},
                        "spec":{"completions":2},"status":{"succeeded":2,"startTime":"2026-11-16T11:50:00Z",
                        "completionTime":"2026-11-16T11:52:05Z","conditions":[{"type":"Complete","status":"True"}]}})")}),
            "Name | Status | Completions | Duration | Age\nb | Complete | 2/2 | 2m5s | 10m");
}

TEST(Table, EveryKindHasAsManyCellsAsColumns) {
  Registry registry;
  for (const ApiResource* each : registry.all()) {
    std::string text = printed(*each, {shared_object(R"({"metadata":{"name":"x"}})")}, true);
    EXPECT_NE(text.find('\n'), std::string::npos) << each->resource.plural;
  }
}

TEST(Table, RowsCarryWhatWasAskedFor) {
  ObjectRef map =
      shared_object(R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"m"},"data":{"a":"b"}})");
  auto row_with = [&](IncludeObject include) {
    json::object table = table_of(resource("", "v1", "configmaps"), std::vector{map}, ListMeta{7, "next", 3},
                                  TableOptions{.include = include, .now = kTableTime});
    EXPECT_EQ(json::serialize(table["metadata"]),
              R"({"resourceVersion":"7","continue":"next","remainingItemCount":3})");
    const json::value* object = table["rows"].as_array()[0].as_object().if_contains("object");
    return object ? json::serialize(*object) : "";
  };
  EXPECT_EQ(row_with(IncludeObject::kNone), "");
  EXPECT_EQ(row_with(IncludeObject::kMetadata),
            R"({"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{"name":"m"}})");
  EXPECT_EQ(row_with(IncludeObject::kObject), json::serialize(*map));
  EXPECT_EQ(include_object_of("Everything"), std::nullopt);
  EXPECT_EQ(kube::text_at(list_of(resource("", "v1", "configmaps"), std::vector{map}, {}), {"kind"}),
            "ConfigMapList");
}

TEST(Table, AgesAreShort) {
  struct Case {
    int64_t seconds;
    std::string_view text;
  };
  const Case cases[] = {{-5, "<invalid>"},     {-1, "0s"},          {0, "0s"},       {119, "119s"},
                        {120, "2m"},           {200, "3m20s"},      {600, "10m"},    {10'799, "179m"},
                        {10'800, "3h"},        {12'600, "3h30m"},   {28'800, "8h"},  {169'200, "47h"},
                        {172'800, "2d"},       {273'600, "3d4h"},   {691'200, "8d"}, {63'072'000, "2y"},
                        {63'936'000, "2y10d"}, {315'360'000, "10y"}};
  for (const Case& each : cases) EXPECT_EQ(human_duration(seconds(each.seconds)), each.text);
}

TEST(TablePath, FindsWhatColumnsName) {
  json::object from =
      json::parse(R"({"spec":{"n":3,"a.b":"dot"},"list":[{"t":"x","s":"1"},{"t":"y","s":"2"}]})").as_object();
  auto found = [&](std::string_view path) {
    std::vector<std::string> texts;
    for (const json::value* each : find_path(from, path)) texts.push_back(cell_text(*each));
    return fmt::format("{}", fmt::join(texts, ","));
  };
  EXPECT_EQ(found(".spec.n"), "3");
  EXPECT_EQ(found("{.spec.n}"), "3");
  EXPECT_EQ(found(".spec['a.b']"), "dot");
  EXPECT_EQ(found(R"(.spec.a\.b)"), "dot");
  EXPECT_EQ(found(".list[0].t"), "x");
  EXPECT_EQ(found(".list[-1:].t"), "y");
  EXPECT_EQ(found(".list[*].t"), "x,y");
  EXPECT_EQ(found(R"(.list[?(@.t=="y")].s)"), "2");
  EXPECT_EQ(found(R"(.list[?(@.t!='y')].s)"), "1");
  EXPECT_EQ(found(".list[5].t"), "");
  EXPECT_EQ(found(".nothing.here"), "");
  for (std::string_view broken : {"", ".", "[", ".a[", ".list[x]", "..", ".list[?(]", ".a[']"}) {
    EXPECT_EQ(found(broken), "") << broken;
  }
  EXPECT_EQ(keys_of_path(".spec.n"), (std::vector<std::string>{"spec", "n"}));
  EXPECT_TRUE(keys_of_path(".list[0]").empty());
}

}  // namespace
}  // namespace trainyard::server
