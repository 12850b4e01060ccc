#include "server/handler.h"

#include "server/handler_testing.h"

namespace trainyard::server {
namespace {

TEST_F(HandlerTest, RefusesAsTheRealServerDoes) {
  ASSERT_EQ(call("POST", path(""), config_text("a")).status, 201);
  struct Row {
    std::string method, query, body, type;
    int status;
  };
  const std::string apply = "application/apply-patch+yaml", merge = "application/merge-patch+json";
  for (const Row& row : {
           Row{"PUT", "/a", R"({"data":{}})", "", 400},
           Row{"PATCH", "/a", R"({"metadata":{"name":"b"}})", merge, 400},
           Row{"PATCH", "/a", R"({"metadata":{"uid":"b"}})", merge, 422},
           Row{"PATCH", "/a?fieldValidation=Strict", R"({"datum":{}})", merge, 422},
           Row{"PATCH", "/a?force=true", "{}", merge, 422},
           Row{"PATCH", "/a?fieldManager=m", "{kind: ConfigMap}", apply, 400},
           Row{"PATCH", "/a?fieldManager=m",
               "{apiVersion: v1, kind: ConfigMap, metadata: {managedFields: []}}", apply, 400},
           Row{"PATCH", "/a", R"([{"op":"test","path":"/data/key","value":"x"}])",
               "application/json-patch+json", 422},
           Row{"DELETE", "/a", R"({"propagationPolicy":"Orphan","orphanDependents":true})",
               "application/json", 422},
       }) {
    EXPECT_EQ(call(row.method, path(row.query), row.body, row.type).status, row.status)
        << row.query << row.body;
  }
  const std::string told = text(call("POST", path(""), R"({"metadata":{"generateName":"A_"}})"), {"message"});
  EXPECT_TRUE(told.starts_with("ConfigMap \"A_")) << told;
}

TEST_F(HandlerTest, ADeletedCollectionIsAnsweredWithWhatWentWithIt) {
  for (const char* name : {"a", "b"}) ASSERT_EQ(call("POST", path(""), config_text(name)).status, 201);
  HttpResponse gone = call("DELETE", path(""));
  EXPECT_EQ(text(gone, {"kind"}), "ConfigMapList");
  EXPECT_EQ(kube::array_at(object_of(gone), {"items"})->size(), 2u);
  EXPECT_EQ(call("GET", path("/a")).status, 404);
}

TEST_F(HandlerTest, ALifeOfAnObject) {
  HttpResponse made = call("POST", path(""), config_text("a"));
  EXPECT_EQ(made.status, 201);
  EXPECT_EQ(text(made, {"metadata", "namespace"}), "default");
  EXPECT_EQ(call("POST", path(""), config_text("a")).status, 409);
  EXPECT_EQ(text(call("GET", path("/a")), {"data", "key"}), "value");
  EXPECT_EQ(call("PUT", path("/a"), config_text("a", "new")).status, 200);
  EXPECT_EQ(call("PUT", path("/a"), config_text("b")).status, 400);
  HttpResponse patched = call("PATCH", path("/a"), R"([{"op":"add","path":"/data/x","value":"1"}])",
                              "application/json-patch+json");
  EXPECT_EQ(text(patched, {"data", "x"}), "1");
  HttpResponse gone = call("DELETE", path("/a"));
  EXPECT_EQ(gone.status, 200);
  EXPECT_EQ(text(gone, {"status"}), "Success");
  EXPECT_EQ(text(gone, {"details", "uid"}), text(made, {"metadata", "uid"}));
  EXPECT_EQ(text(call("GET", path("/a")), {"reason"}), "NotFound");
  call("POST", std::string(kPodsPath), pod_text("p"));
  EXPECT_EQ(text(call("DELETE", std::string(kPodsPath) + "/p?gracePeriodSeconds=0"), {"kind"}), "Pod");
}

TEST_F(HandlerTest, WhatIsThereButNotThisWay) {
  struct Case {
    const char* method;
    const char* target;
    int status;
  };
  const Case kCases[] = {
      {"GET", "/api/v1/nonsense", 404},
      {"GET", "/apis/nonsense.io/v1/things", 404},
      {"GET", "/nowhere", 404},
      {"GET", "/api/v1/namespaces/default/nodes", 404},
      {"GET", "/api/v1/pods/p", 404},
      {"POST", "/api/v1/namespaces/default/pods/p", 405},
      {"PUT", "/api/v1/namespaces/default/pods", 405},
      {"OPTIONS", "/api/v1/pods", 405},
      {"POST", "/version", 405},
      {"POST", "/api/v1/configmaps", 400},
      {"GET", "/api/v1/namespaces/default/pods/p/nonsense", 404},
      {"GET", "/api/v1/namespaces/default/pods/p/status/nonsense", 404},
      {"GET", "/api/v1/pods?fieldSelector=spec.x%3D1", 400},
      {"GET", "/api/v1/pods?resourceVersion=99999", 504},
      {"GET", "/api/v1/pods?includeObject=Half", 400},
      {"GET", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", 405},
  };
  for (const Case& c : kCases) {
    HttpResponse response = call(c.method, c.target, std::string_view(c.method) == "POST" ? "{}" : "");
    EXPECT_EQ(response.status, c.status) << c.method << " " << c.target << " " << response.body;
    EXPECT_EQ(text(response, {"kind"}), "Status") << c.target;
  }
}

TEST_F(HandlerTest, BodiesOfManyTypes) {
  EXPECT_EQ(call("POST", path(""), "metadata: {name: yam}\ndata: {key: v}\n", "application/yaml").status,
            201);
  EXPECT_EQ(call("POST", path(""), "{", "application/json").status, 400);
  EXPECT_EQ(call("POST", path(""), "[]", "application/json").status, 400);
  EXPECT_EQ(call("POST", path(""), "", "application/json").status, 400);
  EXPECT_EQ(call("POST", path(""), "x", "text/html").status, 415);
  EXPECT_EQ(call("PATCH", path("/yam"), "{}", "application/json").status, 415);
  EXPECT_EQ(call("POST", path(""), R"({"kind":"Secret","metadata":{"name":"z"}})").status, 400);
  EXPECT_EQ(call("POST", path(""), R"({"metadata":{"name":"z","namespace":"other"}})").status, 400);
  // A custom kind takes no strategic patch.
  std::string jobs = "/apis/kubeflow.org/v1/namespaces/default/tfjobs";
  EXPECT_EQ(call("POST", jobs, R"({"metadata":{"name":"j"},"spec":{}})").status, 201);
  EXPECT_EQ(call("PATCH", jobs + "/j", "{}", "application/strategic-merge-patch+json").status, 415);
  EXPECT_EQ(
      call("PATCH", path("/yam"), R"({"data":{"k":"2"}})", "application/strategic-merge-patch+json").status,
      200);
}

TEST_F(HandlerTest, AnswersInManyForms) {
  call("POST", path(""), config_text("a"));
  HttpResponse yaml = call("GET", path("/a"), "", "", "application/yaml");
  EXPECT_EQ(yaml.content_type, "application/yaml");
  EXPECT_NE(yaml.body.find("key: value"), std::string::npos);
  HttpResponse table = call("GET", path(""), "", "", "application/json;as=Table;v=v1;g=meta.k8s.io");
  EXPECT_EQ(text(table, {"kind"}), "Table");
  HttpResponse one = call("GET", path("/a"), "", "", "application/json;as=Table;v=v1;g=meta.k8s.io");
  EXPECT_EQ(text(one, {"kind"}), "Table");
  HttpResponse meta =
      call("GET", path(""), "", "", "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io");
  EXPECT_EQ(text(meta, {"kind"}), "PartialObjectMetadataList");
  EXPECT_EQ(call("GET", path(""), "", "", "text/html").status, 406);
  HttpResponse list = call("GET", path(""));
  EXPECT_EQ(text(list, {"kind"}), "ConfigMapList");
  EXPECT_EQ(object_of(list).at("items").get_array().size(), 1u);
}

TEST_F(HandlerTest, ListsInPages) {
  for (const char* name : {"a", "b", "c"}) call("POST", path(""), config_text(name));
  HttpResponse first = call("GET", path("?limit=2"));
  EXPECT_EQ(object_of(first).at("items").get_array().size(), 2u);
  EXPECT_EQ(kube::int_at(object_of(first), {"metadata", "remainingItemCount"}), 1);
  std::string token = text(first, {"metadata", "continue"});
  ASSERT_FALSE(token.empty());
  HttpResponse second = call("GET", path("?limit=2&continue=" + kube::percent_encode(token)));
  EXPECT_EQ(object_of(second).at("items").get_array().size(), 1u);
  EXPECT_EQ(text(second, {"metadata", "continue"}), "");
  EXPECT_EQ(call("GET", path("?continue=nonsense")).status, 400);
}

TEST_F(HandlerTest, ListsAsTheyWereAtAVersion) {
  std::vector<std::string> versions;
  for (std::string name : {"a", "b", "c"}) {
    HttpResponse made = call("POST", path(""), config_text(name));
    versions.push_back(text(made, {"metadata", "resourceVersion"}));
  }
  auto listed = [&](const std::string& query) {
    HttpResponse response = call("GET", path("?resourceVersion=" + versions[1] + query));
    if (response.status != 200) return fmt::format("{}", response.status);
    json::object list = object_of(response);
    std::string names = std::string(kube::text_at(list, {"metadata", "resourceVersion"})) + ":";
    for (const json::value& item : *kube::array_at(list, {"items"})) {
      names += kube::name_of(item.get_object());
    }
    return names;
  };
  // The table of lists: exactly, or with a limit; otherwise nothing older.
  EXPECT_EQ(listed("&resourceVersionMatch=Exact"), versions[1] + ":ab");
  EXPECT_EQ(listed("&limit=1"), versions[1] + ":a");
  EXPECT_EQ(listed(""), versions[2] + ":abc");
  EXPECT_EQ(listed("&resourceVersionMatch=NotOlderThan&limit=5"), versions[2] + ":abc");
}

TEST_F(HandlerTest, MisspeltFieldsAreToldOrRefused) {
  std::string body = R"({"metadata":{"name":"a"},"dataa":{}})";
  HttpResponse strict = call("POST", path("?fieldValidation=Strict"), body);
  EXPECT_EQ(strict.status, 400);
  EXPECT_NE(strict.body.find("unknown field"), std::string::npos);
  HttpResponse warned = call("POST", path("?fieldValidation=Warn"), body);
  EXPECT_EQ(warned.status, 201);
  ASSERT_EQ(warned.headers.size(), 1u);
  EXPECT_EQ(warned.headers[0].value, R"(299 - "unknown field \"dataa\"")");
  EXPECT_TRUE(call("PUT", path("/a?fieldValidation=Ignore"), body).headers.empty());
}

TEST_F(HandlerTest, KindsThatNobodyActsOnAreToldOf) {
  HttpResponse made = call("POST", "/apis/apps/v1/namespaces/default/deployments",
                           R"({"metadata":{"name":"d"},"spec":{"selector":{"matchLabels":{"a":"b"}},
                               "template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}})");
  EXPECT_EQ(made.status, 201) << made.body;
  ASSERT_EQ(made.headers.size(), 1u);
  EXPECT_NE(made.headers[0].value.find("a Deployment is only kept here"), std::string::npos);
  HttpResponse quota = call("POST", "/api/v1/namespaces/default/resourcequotas",
                            R"({"metadata":{"name":"q"},"spec":{"hard":{"pods":"2"}}})");
  EXPECT_EQ(quota.status, 201) << quota.body;
  ASSERT_EQ(quota.headers.size(), 1u);
  EXPECT_NE(quota.headers[0].value.find("Trainyard does not enforce it"), std::string::npos);
}

TEST_F(HandlerTest, ADryRunChangesNothing) {
  EXPECT_EQ(call("POST", path("?dryRun=All"), config_text("a")).status, 201);
  EXPECT_EQ(call("GET", path("/a")).status, 404);
}

TEST_F(HandlerTest, EventsHaveTwoFaces) {
  std::string core = "/api/v1/namespaces/default/events";
  std::string other = "/apis/events.k8s.io/v1/namespaces/default/events";
  EXPECT_EQ(
      call("POST", core,
           R"({"metadata":{"name":"e"},"involvedObject":{"name":"p","namespace":"default"},"message":"m"})")
          .status,
      201);
  HttpResponse shown = call("GET", other + "/e");
  EXPECT_EQ(text(shown, {"note"}), "m");
  EXPECT_EQ(text(shown, {"apiVersion"}), "events.k8s.io/v1");
  EXPECT_EQ(call("POST", other, R"({"metadata":{"name":"f"},"regarding":{"name":"q"},"note":"n"})").status,
            201);
  EXPECT_EQ(text(call("GET", core + "/f"), {"involvedObject", "name"}), "q");
  EXPECT_EQ(
      call("PATCH", other + "/f?fieldValidation=Strict", R"({"note":"o"})", "application/merge-patch+json")
          .status,
      200);
  EXPECT_EQ(text(call("GET", core + "/f"), {"message"}), "o");
  HttpResponse found = call("GET", core + "?fieldSelector=involvedObject.name%3Dq");
  EXPECT_EQ(object_of(found).at("items").get_array().size(), 1u);
}

TEST_F(HandlerTest, OldVersionsOfTfJobAreTheSameObjects) {
  for (std::string version : {"v1beta2", "v1beta1", "v1alpha2"}) {
    std::string old = "kubeflow.org/" + version;
    std::string jobs = "/apis/" + old + "/namespaces/default/tfjobs";
    std::string newest = "/apis/kubeflow.org/v1/namespaces/default/tfjobs/" + version;
    std::string body = json::serialize(
        json::object{{"apiVersion", old},
                     {"kind", "TFJob"},
                     {"metadata", json::object{{"name", version}}},
                     {"spec", json::object{{"cleanPodPolicy", "All"}, {"tfReplicaSpecs", json::object{}}}}});
    HttpResponse made = call("POST", jobs + "?fieldValidation=Strict", body);
    ASSERT_EQ(made.status, 201) << made.body;
    EXPECT_EQ(text(made, {"apiVersion"}), old);
    EXPECT_EQ(text(call("GET", newest), {"apiVersion"}), "kubeflow.org/v1");
    EXPECT_EQ(text(call("GET", newest), {"spec", "cleanPodPolicy"}), "All");
    EXPECT_EQ(text(call("GET", jobs + "/" + version), {"apiVersion"}), old);
    HttpResponse list = call("GET", jobs);
    EXPECT_EQ(text(list, {"apiVersion"}), old);
    const json::object all = object_of(list);
    for (const json::value& each : all.at("items").get_array()) {
      EXPECT_EQ(kube::text_at(each.get_object(), {"apiVersion"}), old);
    }
    EXPECT_EQ(text(call("GET", jobs, "", "", "application/json;as=Table;v=v1;g=meta.k8s.io"), {"kind"}),
              "Table");
    EXPECT_EQ(call("POST", jobs, R"({"apiVersion":"kubeflow.org/v1","metadata":{"name":"z"}})").status, 400);
    EXPECT_EQ(call("PUT", jobs + "/" + version, body).status, 200);
    EXPECT_EQ(text(call("GET", newest), {"apiVersion"}), "kubeflow.org/v1");
  }
}

TEST_F(HandlerTest, OldVersionsOfTfJobArePatched) {
  std::string jobs = "/apis/kubeflow.org/v1beta1/namespaces/default/tfjobs/j";
  std::string newest = "/apis/kubeflow.org/v1/namespaces/default/tfjobs/j";
  HttpResponse applied = call("PATCH", jobs + "?fieldManager=me&fieldValidation=Strict",
                              "{apiVersion: kubeflow.org/v1beta1, kind: TFJob, spec: {backoffLimit: 1}}",
                              "application/apply-patch+yaml");
  ASSERT_EQ(applied.status, 201) << applied.body;
  EXPECT_EQ(text(applied, {"apiVersion"}), "kubeflow.org/v1beta1");
  struct Case {
    const char* type;
    const char* patch;
  };
  const Case kCases[] = {
      {"application/merge-patch+json", R"({"apiVersion":"kubeflow.org/v1beta1","spec":{"backoffLimit":2}})"},
      {"application/json-patch+json", R"([{"op":"test","path":"/apiVersion","value":"kubeflow.org/v1beta1"},
                                          {"op":"replace","path":"/spec/backoffLimit","value":3}])"},
      {"application/apply-patch+yaml",
       "{apiVersion: kubeflow.org/v1beta1, kind: TFJob, spec: {backoffLimit: 4}}"},
  };
  int64_t expected = 2;
  for (const Case& c : kCases) {
    bool is_apply = std::string_view(c.type) == "application/apply-patch+yaml";
    std::string query = is_apply ? "?fieldManager=me&force=true" : "?fieldManager=me";
    HttpResponse patched = call("PATCH", jobs + query, c.patch, c.type);
    EXPECT_EQ(patched.status, 200) << c.type << patched.body;
    EXPECT_EQ(text(patched, {"apiVersion"}), "kubeflow.org/v1beta1") << c.type;
    HttpResponse stored = call("GET", newest);
    EXPECT_EQ(kube::int_at(object_of(stored), {"spec", "backoffLimit"}), expected++) << c.type;
    EXPECT_EQ(text(stored, {"apiVersion"}), "kubeflow.org/v1") << c.type;
  }
  HttpResponse status = call("GET", jobs + "/status");
  EXPECT_EQ(text(status, {"apiVersion"}), "kubeflow.org/v1beta1");
  Outcome watch = ask("GET", "/apis/kubeflow.org/v1beta1/tfjobs?watch=true");
  ASSERT_TRUE(std::holds_alternative<StreamResponse>(watch));
  Stream& stream = *std::get<StreamResponse>(watch).stream;
  auto told = std::make_shared<std::promise<void>>();
  auto once = std::make_shared<std::once_flag>();
  stream.on_ready([told, once] { std::call_once(*once, [&] { told->set_value(); }); });
  std::string lines;
  pull(stream, lines);
  if (lines.empty()) {
    ASSERT_EQ(told->get_future().wait_for(std::chrono::seconds(kPatienceSeconds)), std::future_status::ready);
    pull(stream, lines);
  }
  EXPECT_TRUE(lines.starts_with(R"({"type":"ADDED")")) << lines;
  EXPECT_NE(lines.find(R"("apiVersion":"kubeflow.org/v1beta1")"), std::string::npos) << lines;
}

TEST_F(HandlerTest, WhoGivesNoNameIsCalledByTheProgramThatAsks) {
  const std::string config = R"({"apiVersion":"v1","kind":"ConfigMap","data":{"a":"1"}})";
  ASSERT_EQ(call("PATCH", path("/a?fieldManager=m"), config, "application/apply-patch+yaml").status, 201);
  auto manager_after = [&](std::string body, std::vector<Header> headers) {
    headers.push_back({"Content-Type", "application/merge-patch+json"});
    Outcome outcome = ask("PATCH", path("/a"), std::move(body), std::move(headers));
    const json::object after = object_of(std::get<HttpResponse>(outcome));
    const json::array* managers = kube::array_at(after, {"metadata", "managedFields"});
    return std::string(kube::text_at(managers->back().get_object(), {"manager"}));
  };
  EXPECT_EQ(manager_after(R"({"data":{"a":"2"}})", {{"User-Agent", "OpenAPI-Generator/35.0.0/python"}}),
            "OpenAPI-Generator");
  EXPECT_EQ(manager_after(R"({"data":{"a":"3"}})", {}), "unknown");
}

TEST_F(HandlerTest, APodThatMayNotBeBoundYetIsNot) {
  std::string pods(kPodsPath);
  call("POST", pods, R"({"metadata":{"name":"g"},"spec":{"schedulingGates":[{"name":"x"}],
      "containers":[{"name":"a","image":"i"}]}})");
  HttpResponse refused = call("POST", pods + "/g/binding", R"({"target":{"name":"n"}})");
  EXPECT_EQ(refused.status, 409);
  EXPECT_NE(text(refused, {"message"}).find("pod g has non-empty .spec.schedulingGates"), std::string::npos);
  call("POST", pods, pod_text("p"));
  EXPECT_EQ(call("POST", pods + "/p/binding?dryRun=All", R"({"target":{"name":"n"}})").status, 201);
  EXPECT_EQ(text(call("GET", pods + "/p"), {"spec", "nodeName"}), "");
}

TEST_F(HandlerTest, Subresources) {
  std::string pods(kPodsPath);
  call("POST", pods, pod_text("p"));
  HttpResponse status =
      call("PATCH", pods + "/p/status", R"({"status":{"phase":"Running"}})", "application/merge-patch+json");
  EXPECT_EQ(text(status, {"status", "phase"}), "Running");
  EXPECT_EQ(call("POST", pods + "/p/binding", R"({"target":{"name":"n"}})").status, 201);
  EXPECT_EQ(text(call("GET", pods + "/p"), {"spec", "nodeName"}), "n");
  EXPECT_EQ(call("POST", pods + "/p/binding", R"({"target":{"name":"m"}})").status, 409);
  std::string bindings = "/api/v1/namespaces/default/bindings";
  call("POST", pods, pod_text("q"));
  EXPECT_EQ(call("POST", bindings, R"({"metadata":{"name":"q"},"target":{"kind":"Node","name":"n"}})").status,
            201);
  EXPECT_EQ(text(call("GET", pods + "/q"), {"spec", "nodeName"}), "n");
  EXPECT_EQ(call("POST", bindings, R"({"metadata":{"name":"q"},"target":{"name":"m"}})").status, 409);
  EXPECT_EQ(call("POST", bindings, R"({"metadata":{"name":"none"},"target":{"name":"n"}})").status, 404);
  EXPECT_EQ(call("GET", bindings).status, 405);
  for (std::string_view other :
       {R"({"metadata":{"name":"q"}})", R"({"kind":"Pod","metadata":{"name":"p"}})"}) {
    EXPECT_EQ(call("POST", pods + "/p/eviction", std::string(other)).status, 400) << other;
    EXPECT_EQ(call("POST", pods + "/p/binding", std::string(other)).status, 400) << other;
  }
  EXPECT_EQ(text(call("GET", pods + "/p"), {"metadata", "deletionTimestamp"}), "");
  EXPECT_EQ(call("POST", pods + "/p/eviction", R"({"metadata":{"name":"p"}})").status, 201);
  EXPECT_NE(text(call("GET", pods + "/p"), {"metadata", "deletionTimestamp"}), "");
  std::string jobs = "/apis/kubeflow.org/v1/namespaces/default/tfjobs";
  call("POST", jobs, R"({"metadata":{"name":"j"},"spec":{"tfReplicaSpecs":{"Worker":{"replicas":1}}}})");
  HttpResponse scaled =
      call("PATCH", jobs + "/j/scale", R"({"spec":{"replicas":4}})", "application/merge-patch+json");
  EXPECT_EQ(text(scaled, {"kind"}), "Scale");
  EXPECT_EQ(kube::int_at(object_of(scaled), {"spec", "replicas"}), 4);
  EXPECT_EQ(
      kube::int_at(object_of(call("GET", jobs + "/j")), {"spec", "tfReplicaSpecs", "Worker", "replicas"}), 4);
  // The job itself is no Scale: it would scale it to nothing.
  EXPECT_EQ(call("PUT", jobs + "/j/scale", call("GET", jobs + "/j").body).status, 400);
}

TEST_F(HandlerTest, PodsAreResizedBelowTheirPath) {
  std::string pods(kPodsPath);
  ASSERT_EQ(call("POST", pods, pod_text("p")).status, 201);
  const std::string more = R"({"spec":{"containers":[{"name":"c","resources":{"requests":{"cpu":"2"}}}]}})";
  const std::string strategic = "application/strategic-merge-patch+json";
  auto cpu = [&](const HttpResponse& response) {
    json::object pod = object_of(response);
    const json::array* containers = kube::array_at(pod, {"spec", "containers"});
    if (containers == nullptr) return std::string("none: ") + response.body;
    return std::string(kube::text_at(containers->at(0).as_object(), {"resources", "requests", "cpu"}));
  };
  EXPECT_EQ(cpu(call("PATCH", pods + "/p/resize?dryRun=All", more, strategic)), "2");
  EXPECT_EQ(cpu(call("GET", pods + "/p/resize")), "");
  HttpResponse resized = call("PATCH", pods + "/p/resize", more, strategic);
  EXPECT_EQ(cpu(resized), "2");
  EXPECT_EQ(cpu(call("PUT", pods + "/p/resize", resized.body)), "2");
  EXPECT_EQ(call("POST", pods + "/p/resize", resized.body).status, 405);
  EXPECT_EQ(call("PATCH", pods + "/q/resize", more, strategic).status, 404);
}

// The operations of a patch have no types; what they leave has.
TEST_F(HandlerTest, WhatAPatchLeavesIsHeldToItsKind) {
  ASSERT_EQ(call("POST", path(""), config_text("a")).status, 201);
  const std::string operations = "application/json-patch+json";
  auto patch = [&](const std::string& value, const std::string& where, const std::string& query = "") {
    return call("PATCH", path("/a" + query),
                R"([{"op":"add","path":")" + where + R"(","value":)" + value + "}]", operations);
  };
  HttpResponse mistyped = patch("1", "/data/x");
  EXPECT_EQ(mistyped.status, 422);
  EXPECT_NE(mistyped.body.find("cannot unmarshal number into Go struct field ConfigMap.data of type string"),
            std::string::npos)
      << mistyped.body;
  EXPECT_EQ(patch("1", "/datum", "?fieldValidation=Strict").status, 422);
  HttpResponse warned = patch("1", "/datum");
  EXPECT_EQ(warned.status, 200);
  ASSERT_EQ(warned.headers.size(), 1u);
  EXPECT_EQ(warned.headers[0].value, R"(299 - "unknown field \"datum\"")");
  EXPECT_FALSE(object_of(warned).contains("datum"));
  EXPECT_TRUE(patch("1", "/datum", "?fieldValidation=Ignore").headers.empty());
  HttpResponse empty = patch("null", "/immutable");
  EXPECT_EQ(empty.status, 200);
  EXPECT_FALSE(object_of(empty).contains("immutable"));
}

TEST_F(HandlerTest, AccountsGetTokensThatWork) {
  std::string accounts = "/api/v1/namespaces/default/serviceaccounts";
  call("POST", accounts, R"({"metadata":{"name":"s"}})");
  HttpResponse issued = call("POST", accounts + "/s/token", R"({"spec":{}})");
  ASSERT_EQ(issued.status, 201) << issued.body;
  std::string token = text(issued, {"status", "token"});
  json::object review{{"spec", json::object{{"token", token}}}};
  HttpResponse reviewed =
      call("POST", "/apis/authentication.k8s.io/v1/tokenreviews", json::serialize(review));
  EXPECT_EQ(text(reviewed, {"status", "user", "username"}), "system:serviceaccount:default:s");
  EXPECT_EQ(call("POST", accounts + "/s/token", R"({"spec":{"expirationSeconds":1}})").status, 422);
  EXPECT_EQ(call("POST", accounts + "/default/token", R"({"spec":{}})").status, 201)
      << "every namespace has this one";
}

TEST_F(HandlerTest, Usage) {
  call("POST", std::string(kPodsPath), pod_text("p"));
  HttpResponse pods = call("GET", "/apis/metrics.k8s.io/v1beta1/namespaces/default/pods");
  EXPECT_EQ(text(pods, {"kind"}), "PodMetricsList");
  json::object first = object_of(pods).at("items").get_array().at(0).get_object();
  EXPECT_EQ(kube::text_at(first, {"metadata", "name"}), "p");
  EXPECT_EQ(first.at("containers").get_array().size(), 1u);
  pods_.used = {{"lost", {0, -1024}}, {"c", {0, 1 << 20}}, {"new", {0, 0}}};
  HttpResponse one = call("GET", "/apis/metrics.k8s.io/v1beta1/namespaces/default/pods/p");
  const json::object shown = object_of(one);
  ASSERT_EQ(shown.at("containers").get_array().size(), 1u) << "what is not known is left out";
  EXPECT_EQ(kube::text_at(shown.at("containers").get_array().at(0).get_object(), {"name"}), "c");
  pods_.used = {{"c", {-5, 1 << 20}}};
  EXPECT_EQ(call("GET", "/apis/metrics.k8s.io/v1beta1/namespaces/default/pods/p").status, 404);
  call("POST", "/api/v1/nodes", R"({"metadata":{"name":"trainyard","labels":{"zone":"a"}}})");
  call("POST", "/api/v1/nodes", R"({"metadata":{"name":"simulated","labels":{"zone":"a"}}})");
  for (std::string version : {"v1beta1", "v1"}) {
    HttpResponse node = call("GET", "/apis/metrics.k8s.io/" + version + "/nodes/trainyard");
    EXPECT_EQ(text(node, {"apiVersion"}), "metrics.k8s.io/" + version);
    EXPECT_EQ(text(node, {"usage", "cpu"}), "1500000000n");
  }
  EXPECT_EQ(call("GET", "/apis/metrics.k8s.io/v1beta1/nodes/other").status, 404);
  EXPECT_EQ(call("GET", "/apis/metrics.k8s.io/v1beta1/nodes/simulated").status, 404);
}

TEST_F(HandlerTest, UsageIsSelectedAsWhatIsMeasured) {
  call("POST", "/api/v1/nodes", R"({"metadata":{"name":"trainyard","labels":{"zone":"a"}}})");
  call("POST", std::string(kPodsPath), pod_text("p"));
  call("POST", std::string(kPodsPath), pod_text("q"));
  auto names = [&](const std::string& what) {
    const json::object told = object_of(call("GET", "/apis/metrics.k8s.io/v1beta1/" + what));
    std::string out;
    for (const json::value& item : kube::or_empty(kube::array_at(told, {"items"})))
      out += std::string(kube::name_of(item.get_object())) + " ";
    return out;
  };
  EXPECT_EQ(names("nodes"), "trainyard ");
  EXPECT_EQ(names("nodes?labelSelector=zone%3Da"), "trainyard ");
  EXPECT_EQ(names("nodes?labelSelector=zone%3Db"), "");
  EXPECT_EQ(names("namespaces/default/pods"), "p q ");
  EXPECT_EQ(names("namespaces/default/pods?fieldSelector=metadata.name%3Dq"), "q ");
  EXPECT_EQ(names("pods?fieldSelector=spec.nodeName%3Delsewhere"), "");
  EXPECT_EQ(call("GET", "/apis/metrics.k8s.io/v1beta1/pods?fieldSelector=spec.color%3Dred").status, 400);
}

TEST_F(HandlerTest, LogsAreStreams) {
  call("POST", std::string(kPodsPath), pod_text("p"));
  pods_.log = "one\ntwo\n";
  Outcome outcome = ask("GET", std::string(kPodsPath) + "/p/log?tailLines=2");
  ASSERT_TRUE(std::holds_alternative<StreamResponse>(outcome));
  std::string text;
  EXPECT_EQ(pull(*std::get<StreamResponse>(outcome).stream, text), Stream::State::kEnded);
  EXPECT_EQ(text, "one\ntwo\n");
  EXPECT_EQ(pods_.last_log.tail_lines, 2);
  EXPECT_EQ(pods_.last_pod.container, "c");
  EXPECT_EQ(call("GET", std::string(kPodsPath) + "/p/log?container=x").status, 400);
  EXPECT_EQ(call("GET", std::string(kPodsPath) + "/none/log").status, 404);
  pods_.log_error = Error{ErrorKind::kInvalid, "container \"c\" in pod \"p\" is waiting to start"};
  EXPECT_EQ(call("GET", std::string(kPodsPath) + "/p/log").status, 400);
  // Nobody has given it to a node, so no node knows it.
  pods_.log_error = Error{ErrorKind::kNotFound, "container \"c\" in pod \"p\" not found"};
  HttpResponse early = call("GET", std::string(kPodsPath) + "/p/log");
  EXPECT_EQ(early.status, 400);
  EXPECT_EQ(HandlerTest::text(early, {"reason"}), "BadRequest");
  EXPECT_EQ(HandlerTest::text(early, {"message"}),
            "container \"c\" in pod \"p\" is waiting to start: ContainerCreating");
  call("PATCH", std::string(kPodsPath) + "/p/status", R"({"status":{"phase":"Failed"}})",
       "application/merge-patch+json");
  EXPECT_EQ(call("GET", std::string(kPodsPath) + "/p/log").status, 404);
}

TEST_F(HandlerTest, ATunnelNeedsAWebSocketOfOurs) {
  call("POST", std::string(kPodsPath), pod_text("p"));
  std::string target = std::string(kPodsPath) + "/p/exec?command=ls&stdout=true";
  EXPECT_EQ(call("GET", target).status, 400);
  Outcome spdy = ask("POST", target, "", {{"Upgrade", "SPDY/3.1"}, {"Connection", "Upgrade"}});
  EXPECT_EQ(std::get<HttpResponse>(spdy).status, 400);
  EXPECT_NE(std::get<HttpResponse>(spdy).body.find("WebSocket"), std::string::npos);
  Outcome unknown = ask("GET", target, "", {{"Sec-WebSocket-Protocol", "chat"}}, true);
  EXPECT_EQ(std::get<HttpResponse>(unknown).status, 400);
  Outcome agreed = ask("GET", target, "", {{"Sec-WebSocket-Protocol", "v5.channel.k8s.io"}}, true);
  ASSERT_TRUE(std::holds_alternative<UpgradeResponse>(agreed));
  EXPECT_EQ(std::get<UpgradeResponse>(agreed).subprotocol, "v5.channel.k8s.io");
}

// Refused a WebSocket, kubectl asks for SPDY and shows the answer to that.
TEST_F(HandlerTest, WhoAsksForSpdyIsToldFirstWhatElseIsWrong) {
  auto told = [&](std::string_view target) {
    Outcome outcome = ask("POST", std::string(kPodsPath) + std::string(target), "",
                          {{"Upgrade", "SPDY/3.1"}, {"Connection", "Upgrade"}});
    const HttpResponse& response = std::get<HttpResponse>(outcome);
    return fmt::format("{} {}", response.status, HandlerTest::text(response, {"message"}));
  };
  EXPECT_EQ(told("/none/exec?command=ls&stdout=true"), "404 pods \"none\" not found");
  EXPECT_EQ(told("/none/portforward"), "404 pods \"none\" not found");
  call("POST", std::string(kPodsPath), pod_text("p"));
  EXPECT_EQ(told("/p/exec?command=ls&stdout=true&container=x"), "400 container x is not valid for pod p");
  call("PATCH", std::string(kPodsPath) + "/p/status",
       R"({"status":{"phase":"Pending","containerStatuses":[{"name":"c","state":{"waiting":{}}}]}})",
       "application/merge-patch+json");
  EXPECT_EQ(told("/p/exec?command=ls&stdout=true"),
            "400 container \"c\" in pod \"p\" is waiting to start: ContainerCreating");
  call(
      "PATCH", std::string(kPodsPath) + "/p/status",
      R"({"status":{"phase":"Running","containerStatuses":[{"name":"c","state":{"terminated":{"exitCode":1}}}]}})",
      "application/merge-patch+json");
  EXPECT_EQ(told("/p/exec?command=ls&stdout=true"), "400 container c of pod default/p does not run");
}

TEST_F(HandlerTest, WhoCannotGoIntoAContainerIsNotToldThatThePodIsMissing) {
  call("POST", std::string(kPodsPath), pod_text("p"));
  pods_.exec_error = Error{ErrorKind::kNotFound, "container c of pod default/p does not run"};
  auto told = [&] {
    Outcome outcome = ask("GET", std::string(kPodsPath) + "/p/exec?command=ls&stdout=true", "",
                          {{"Sec-WebSocket-Protocol", "v5.channel.k8s.io"}}, true);
    EXPECT_EQ(std::get<HttpResponse>(outcome).status, 400);
    return text(std::get<HttpResponse>(outcome), {"message"});
  };
  EXPECT_EQ(told(), "container \"c\" in pod \"p\" is waiting to start: ContainerCreating");
  call("PATCH", std::string(kPodsPath) + "/p/status", R"({"status":{"phase":"Running"}})",
       "application/merge-patch+json");
  EXPECT_EQ(told(), "container c of pod default/p does not run");
}

TEST_F(HandlerTest, WithoutANodeNothingRuns) {
  handler_ = std::make_unique<Handler>(
      HandlerOptions{.token = "token", .names = {"localhost"}, .clock = [] { return kTestNow; }}, *hub_,
      registry_, nullptr);
  call("POST", std::string(kPodsPath), pod_text("p"));
  EXPECT_EQ(call("GET", std::string(kPodsPath) + "/p/log").status, 503);
  EXPECT_EQ(call("GET", "/apis/metrics.k8s.io/v1beta1/nodes").status, 503);
}

}  // namespace
}  // namespace trainyard::server
