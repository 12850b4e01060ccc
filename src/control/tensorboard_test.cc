#include "control/tensorboard.h"

#include <gtest/gtest.h>

#include "client/in_process.h"
#include "kube/access.h"

namespace trainyard::control {
namespace {

const kube::Resource kBoardStreams[] = {kube::kTensorBoards, kube::kPods, kube::kServices};

// A store, a keeper and a clock in the hand of the test.
class BoardKeeperTest : public ::testing::Test {
 protected:
  void add_board(std::string_view name) {
    json::object spec{{"image", "tb"}, {"trainingLogFilesets", json::array{"t9k://pvc/c/log"}}};
    json::object board{{"apiVersion", "tensorstack.dev/v1beta1"},
                       {"kind", "TensorBoard"},
                       {"metadata", json::object{{"name", name}, {"namespace", "ns"}}},
                       {"spec", std::move(spec)}};
    ASSERT_TRUE(store_.create(kube::kTensorBoards, "ns", board, now_).ok());
  }
  void change_board(std::string_view name, std::string_view field, json::value value) {
    json::object board = **store_.get(kube::kTensorBoards, "ns", name);
    board["spec"].as_object()[kube::jview(field)] = std::move(value);
    ASSERT_TRUE(store_.update(kube::kTensorBoards, "ns", board, now_).ok());
  }
  void pod_runs(std::string_view name) {
    json::object pod = **store_.get(kube::kPods, "ns", name);
    json::array conditions{json::object{{"type", "Ready"}, {"status", "True"}}};
    pod["status"] = json::object{{"phase", "Running"}, {"conditions", std::move(conditions)}};
    ASSERT_TRUE(store_.update_status(kube::kPods, "ns", pod, now_).ok());
  }
  // Until there is nothing left to do.
  void settle() {
    for (int turn = 0; turn < 100; ++turn) {
      for (const StreamRequest& wanted : keeper_.requests(now_)) {
        if (const auto* watch = std::get_if<kube::Watch>(&wanted.request.verb)) {
          from_[wanted.stream] = std::stoll(watch->version);
        } else {
          keeper_.on_list(wanted.stream, client_.send(wanted.request), now_);
        }
      }
      for (auto& [stream, version] : from_) {
        auto events = store_.events_since(kBoardStreams[stream], version);
        ASSERT_TRUE(events.ok());
        for (const store::WatchEvent& event : *events) {
          version = event.revision;
          keeper_.on_event(stream, client::to_watch_event(event), now_);
        }
      }
      bool stepped = keeper_.step(now_);
      while (store_.collect_garbage(now_) > 0) {
      }
      std::optional<Time> next = keeper_.next_wake();
      if (!stepped && (!next || *next > now_)) return;
    }
    FAIL() << "the keeper never rests";
  }
  std::string phase(std::string_view name) {
    return std::string(kube::text_at(**store_.get(kube::kTensorBoards, "ns", name), {"status", "phase"}));
  }
  bool there(const kube::Resource& resource, std::string_view name) {
    return store_.get(resource, "ns", name).ok();
  }

  store::Store store_;
  Time now_{1'000'000};
  client::InProcess client_{store_, [this] { return now_; }};
  bool leads_ = true;
  BoardKeeper keeper_{client_, {{}, "", [this] { return leads_; }}};
  std::map<int, int64_t> from_;
};

TEST_F(BoardKeeperTest, AnObjectGetsItsPodAndItsServiceAndIsThenLeftInPeace) {
  add_board("b");
  settle();
  EXPECT_TRUE(there(kube::kServices, "b-tensorboard"));
  pod_runs("b-tensorboard");
  settle();
  EXPECT_EQ(phase("b"), "Running");
  int64_t revision = store_.revision();
  now_ = now_ + seconds(3600);
  settle();
  EXPECT_EQ(store_.revision(), revision);
}

TEST_F(BoardKeeperTest, WhatTheServerRefusesIsToldOf) {
  struct Refusing final : client::Client {
    explicit Refusing(client::Client& inner) : inner(inner) {}
    Result<client::Reply> send(kube::Request request) override {
      if (std::holds_alternative<kube::UpdateStatus>(request.verb))
        return Error{ErrorKind::kInvalid, "no such status"};
      return inner.send(std::move(request));
    }
    client::Client& inner;
  };
  Refusing refusing{client_};
  std::vector<std::string> told;
  BoardKeeper keeper(refusing, {{}, "", nullptr, [&](const client::ObjectKey& board, const Error& error) {
                                  told.push_back(board.ns + "/" + board.name + ": " + error.message);
                                }});
  add_board("b");
  for (const StreamRequest& wanted : keeper.requests(now_))
    keeper.on_list(wanted.stream, client_.send(wanted.request), now_);
  EXPECT_TRUE(keeper.step(now_));
  EXPECT_EQ(told, std::vector<std::string>{"ns/b: no such status"});
  now_ = now_ + seconds(600);
  EXPECT_TRUE(keeper.step(now_));
  EXPECT_EQ(told.size(), 1u) << "the same again is told once";
}

TEST_F(BoardKeeperTest, AChangedSpecReplacesThePod) {
  add_board("b");
  settle();
  pod_runs("b-tensorboard");
  settle();
  std::string before(kube::uid_of(**store_.get(kube::kPods, "ns", "b-tensorboard")));
  change_board("b", "image", "tb:2");
  settle();
  if (Result<client::Object> old = store_.get(kube::kPods, "ns", "b-tensorboard");
      old.ok() && kube::uid_of(**old) == before) {
    ASSERT_TRUE(store_.remove(kube::kPods, "ns", "b-tensorboard", {.grace_seconds = 0}, now_).ok());
    settle();
  }
  EXPECT_NE(kube::uid_of(**store_.get(kube::kPods, "ns", "b-tensorboard")), before);
}

TEST_F(BoardKeeperTest, ADeletedObjectTakesItsChildrenWithIt) {
  add_board("b");
  settle();
  ASSERT_TRUE(store_.remove(kube::kTensorBoards, "ns", "b", {}, now_).ok());
  settle();
  EXPECT_FALSE(there(kube::kServices, "b-tensorboard"));
  EXPECT_FALSE(there(kube::kPods, "b-tensorboard"));
}

TEST_F(BoardKeeperTest, SomebodyElsesServiceIsLeftAloneAndToldAbout) {
  json::object service{{"apiVersion", "v1"},
                       {"kind", "Service"},
                       {"metadata", json::object{{"name", "b-tensorboard"}, {"namespace", "ns"}}}};
  ASSERT_TRUE(store_.create(kube::kServices, "ns", service, now_).ok());
  add_board("b");
  settle();
  EXPECT_EQ(kube::controller_uid_of(**store_.get(kube::kServices, "ns", "b-tensorboard")), "");
  int told = 0;
  store::Page events = store_.list(kube::kEvents, "ns").value();
  for (const client::Object& event : events.items)
    told += kube::text_at(*event, {"reason"}) == "FailedCreate";
  EXPECT_EQ(told, 1);
  client::Object board = *store_.get(kube::kTensorBoards, "ns", "b");
  EXPECT_EQ(kube::text_at(*board, {"status", "phase"}), "Initializing");
  std::string conditions = json::serialize(board->at("status").at("conditions"));
  EXPECT_NE(conditions.find("already exists"), std::string::npos) << conditions;
  int64_t revision = store_.revision();
  settle();
  EXPECT_EQ(store_.revision(), revision) << "it is said once";
  ASSERT_TRUE(store_.remove(kube::kServices, "ns", "b-tensorboard", {}, now_).ok());
  now_ = now_ + seconds(130);
  settle();
  EXPECT_TRUE(there(kube::kPods, "b-tensorboard"));
  conditions =
      json::serialize(store_.get(kube::kTensorBoards, "ns", "b").value()->at("status").at("conditions"));
  EXPECT_EQ(conditions.find("already exists"), std::string::npos) << conditions;
}

TEST_F(BoardKeeperTest, WhoLosesTheLeadBetweenTwoWritesWritesNoMore) {
  add_board("b");
  int writes = 0;
  struct Counting final : client::Client {
    Counting(client::Client& inner, int& writes) : inner(inner), writes(writes) {}
    Result<client::Reply> send(kube::Request request) override {
      writes += client::is_write(request) && request.resource != kube::kEvents;
      return inner.send(std::move(request));
    }
    client::Client& inner;
    int& writes;
  };
  Counting counting(client_, writes);
  BoardKeeper keeper(counting, {{}, "", [&] { return writes == 0; }});
  for (const StreamRequest& wanted : keeper.requests(now_))
    keeper.on_list(wanted.stream, client_.send(wanted.request), now_);
  EXPECT_TRUE(keeper.step(now_));
  EXPECT_EQ(writes, 1);
  EXPECT_FALSE(there(kube::kPods, "b-tensorboard"));
}

// Says no to every status, as a server whose definition of the kind is another.
class NoStatuses final : public client::Client {
 public:
  explicit NoStatuses(client::Client& server) : server_(server) {}
  Result<client::Reply> send(kube::Request request) override {
    if (std::holds_alternative<kube::UpdateStatus>(request.verb)) {
      return Error{ErrorKind::kInvalid, "status.conditions[0].reason: Required value"};
    }
    return server_.send(std::move(request));
  }

 private:
  client::Client& server_;
};

TEST_F(BoardKeeperTest, AStatusThatIsRefusedIsToldAbout) {
  add_board("b");
  NoStatuses refusing(client_);
  BoardKeeper keeper(refusing, {});
  for (const StreamRequest& wanted : keeper.requests(now_)) {
    keeper.on_list(wanted.stream, client_.send(wanted.request), now_);
  }
  EXPECT_TRUE(keeper.step(now_));
  std::string told;
  store::Page events = store_.list(kube::kEvents, "ns").value();
  for (const client::Object& event : events.items) {
    if (kube::text_at(*event, {"type"}) == "Warning") told += kube::text_at(*event, {"reason"});
  }
  EXPECT_EQ(told, "FailedUpdateStatus");
}

TEST_F(BoardKeeperTest, WhoeverDoesNotLeadDoesNothing) {
  leads_ = false;
  add_board("b");
  settle();
  EXPECT_FALSE(there(kube::kPods, "b-tensorboard"));
  leads_ = true;
  now_ = now_ + seconds(5);
  settle();
  EXPECT_TRUE(there(kube::kPods, "b-tensorboard"));
}

}  // namespace
}  // namespace trainyard::control
