#include "client/client.h"

#include <gtest/gtest.h>

namespace trainyard::client {
namespace {

// Answers everything with an empty reply.
class Mute final : public Client {
 public:
  Result<Reply> send(kube::Request request) override {
    sent.push_back(std::move(request));
    return Reply{};
  }
  std::vector<kube::Request> sent;
};

TEST(ClientTest, AnAnswerWithoutAnObjectIsOfUnknownFate) {
  Mute mute;
  EXPECT_EQ(create(mute, kube::kPods, "ns", {}).error().kind, ErrorKind::kUnknown);
  EXPECT_TRUE(remove(mute, kube::kPods, "ns", "a", {}).ok());
  EXPECT_EQ(mute.sent.size(), 2u);
  EXPECT_EQ(mute.sent[1].ns, "ns");
}

TEST(ClientTest, WhatWrites) {
  auto writes = [](kube::Verb verb) { return is_write({kube::kPods, "ns", std::move(verb)}); };
  EXPECT_FALSE(writes(kube::Get{}));
  EXPECT_FALSE(writes(kube::List{}));
  EXPECT_FALSE(writes(kube::Watch{}));
  EXPECT_TRUE(writes(kube::Create{}));
  EXPECT_TRUE(writes(kube::UpdateStatus{}));
  EXPECT_TRUE(writes(kube::Delete{}));
  EXPECT_TRUE(writes(kube::DeleteCollection{}));
}

}  // namespace
}  // namespace trainyard::client
