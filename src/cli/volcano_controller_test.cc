#include "cli/volcano_controller.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "kube/json.h"

namespace trainyard::cli {
namespace {

// Pods by namespace, "" for those of the whole cluster; some namespaces nobody may see.
class Pods final : public client::Client {
 public:
  Result<client::Reply> send(kube::Request request) override {
    if (hidden.contains(request.ns)) return Error{ErrorKind::kForbidden, "cannot list pods"};
    client::Reply reply;
    for (const char* pod : pods[request.ns]) {
      reply.items.push_back(std::make_shared<const json::object>(json::parse(pod).as_object()));
    }
    return reply;
  }

  std::map<std::string, std::vector<const char*>> pods;
  std::set<std::string> hidden;
};

constexpr const char* kTheirs = R"({"metadata":{"namespace":"volcano-system","name":"c"}})";
constexpr const char* kOver =
    R"({"metadata":{"namespace":"volcano-system","name":"b"},"status":{"phase":"Failed"}})";
constexpr const char* kNear = R"({"metadata":{"namespace":"b","name":"c"}})";

TEST(VolcanoController, IsLookedForInTheWholeCluster) {
  Pods client;
  EXPECT_EQ(*find_volcano_controller(client, {"a"}), "");
  client.pods[""] = {kOver};
  EXPECT_EQ(*find_volcano_controller(client, {"a"}), "");
  client.pods[""] = {kOver, kTheirs};
  EXPECT_EQ(*find_volcano_controller(client, {"a"}), "volcano-system/c");
}

TEST(VolcanoController, IsLookedForWhereOneMayLook) {
  Pods client;
  client.hidden = {""};
  EXPECT_EQ(*find_volcano_controller(client, {"a", "b"}), "");
  client.pods["b"] = {kNear};
  EXPECT_EQ(*find_volcano_controller(client, {"a", "b"}), "b/c");
  EXPECT_FALSE(find_volcano_controller(client, {}).ok());
  client.hidden.insert("a");
  EXPECT_FALSE(find_volcano_controller(client, {"a", "b"}).ok());
}

TEST(VolcanoController, ThatComesLaterIsGivenItsJobs) {
  using enum VolcanoController;
  EXPECT_TRUE(must_begin_anew(kAbsent, kRuns));
  EXPECT_TRUE(must_begin_anew(kUnknown, kRuns));
  EXPECT_TRUE(must_begin_anew(kUnknown, kAbsent));
  for (VolcanoController now : {kAbsent, kRuns, kUnknown}) EXPECT_FALSE(must_begin_anew(kRuns, now));
  EXPECT_FALSE(must_begin_anew(kAbsent, kUnknown));
  EXPECT_FALSE(must_begin_anew(kAbsent, kAbsent));
  EXPECT_FALSE(must_begin_anew(kUnknown, kUnknown));
}

}  // namespace
}  // namespace trainyard::cli
