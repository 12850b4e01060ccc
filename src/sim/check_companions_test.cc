// Each checker of companions is shown a history in which its invariant is broken, and one
// in which it is not.
#include <gtest/gtest.h>

#include "kube/access.h"
#include "sim/blueprint.h"
#include "sim/checkers.h"

namespace trainyard::sim {
namespace {

constexpr Author kPerson{Hand::kUser, -1};
constexpr Author kLeader{Hand::kOperator, 0};

class CompanionCheckersTest : public ::testing::Test {
 protected:
  CompanionCheckersTest() {
    cluster_.listen([this](const Change& change) { checkers_.on_change(change); });
  }

  void make_job(std::string_view text) {
    const Blueprint blueprint = parse_blueprint(text);
    const kube::Resource& resource = resource_of(blueprint.kind);
    const store::Object job = cluster_.create(kPerson, resource, manifest_of(blueprint));
    owner_ = kube::owner_reference(resource.api_version(), resource.kind, "train", kube::uid_of(*job));
    begin_pass();
  }
  void begin_pass() {
    const int64_t revision = cluster_.store().revision();
    checkers_.pass_begins(0, {revision, revision, 0});
  }
  // Made by the operator for the job, or for nobody.
  void make(const kube::Resource& resource, std::string_view data, bool owned = true) {
    json::object metadata{{"name", "child"}, {"namespace", "default"}};
    if (owned) metadata["ownerReferences"] = json::array{owner_};
    cluster_.create(kLeader, resource,
                    {{"apiVersion", resource.api_version()},
                     {"kind", resource.kind},
                     {"metadata", std::move(metadata)},
                     {"data", json::object{{"id_rsa", kube::jview(data)}}}});
  }
  void rewrite(const kube::Resource& resource, std::string_view data, std::string_view label) {
    json::object body = *cluster_.find(resource, "child");
    body["data"] = json::object{{"id_rsa", kube::jview(data)}};
    kube::ensure_object(body, {"metadata", "labels"})["a"] = kube::jview(label);
    cluster_.update(kLeader, resource, std::move(body));
  }
  std::string broken() const {
    return checkers_.violations().empty() ? "" : checkers_.violations().front().checker;
  }

  Options options_;
  Agenda agenda_{Time{1'800'000'000'000}};
  Cluster cluster_{1, agenda_};
  Checkers checkers_{options_, cluster_};
  json::object owner_;
};

TEST_F(CompanionCheckersTest, KeysStay) {
  make_job("volcano train worker=1 keys");
  make(kube::kSecrets, "one");
  rewrite(kube::kSecrets, "one", "b");
  EXPECT_EQ(broken(), "");
  rewrite(kube::kSecrets, "another", "b");
  EXPECT_EQ(broken(), "keys-stay");
}

TEST_F(CompanionCheckersTest, BoardsAreOfAJobThatAskedForOne) {
  make_job("t9k train worker=1 board");
  make(kube::kTensorBoards, "");
  EXPECT_EQ(broken(), "");
  cluster_.remove(kLeader, kube::kTensorBoards, "child");
  EXPECT_EQ(broken(), "board-stays");
}

TEST_F(CompanionCheckersTest, BoardOfNobody) {
  make_job("t9k train worker=1 board");
  make(kube::kTensorBoards, "", false);
  EXPECT_EQ(broken(), "no-board-without-job");
}

TEST_F(CompanionCheckersTest, BoardThatNobodyAskedFor) {
  make_job("t9k train worker=1");
  make(kube::kTensorBoards, "");
  EXPECT_EQ(broken(), "board-was-asked-for");
}

TEST_F(CompanionCheckersTest, OrphansStay) {
  make_job("t9k train worker=1");
  make(kube::kServices, "");
  const std::string uid(kube::uid_of(*cluster_.find(kube::kServices, "child")));
  const kube::Request request{kube::kServices, "default", kube::Delete{"child", {.uid = uid}}};
  checkers_.on_request(0, request);
  EXPECT_EQ(broken(), "");
  cluster_.remove(kPerson, kube::kT9kJobs, "train", {.propagation = kube::Propagation::kOrphan});
  checkers_.on_request(0, request);
  EXPECT_EQ(broken(), "") << "the pass began before";
  begin_pass();
  checkers_.on_request(0, request);
  EXPECT_EQ(broken(), "orphans-stay");
}

}  // namespace
}  // namespace trainyard::sim
