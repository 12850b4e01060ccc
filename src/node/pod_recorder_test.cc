#include "node/pod_recorder.h"

#include <gtest/gtest.h>

#include "kube/access.h"

namespace trainyard::node {
namespace {

// Keeps what it is sent.
class Listener final : public client::Client {
 public:
  Result<client::Reply> send(kube::Request request) override {
    requests.push_back(std::move(request));
    return client::Reply{.object = std::make_shared<const json::object>()};
  }
  std::vector<kube::Request> requests;
};

TEST(PodRecorder, ALongMessageIsToldInPartAndTheSameAgainIsCounted) {
  Listener server;
  PodRecorder recorder("node");
  const json::object pod{{"metadata", json::object{{"name", "p"}, {"namespace", "ns"}, {"uid", "u"}}}};
  const PodEvent event{true, "InvalidEnvironmentVariableNames", "Keys [" + std::string(1'000'000, 'x')};
  recorder.tell(server, pod, event, Time{1});
  ASSERT_EQ(server.requests.size(), 1u);
  const auto* made = std::get_if<kube::Create>(&server.requests[0].verb);
  ASSERT_NE(made, nullptr);
  EXPECT_EQ(kube::text_at(made->body, {"message"}), event.message.substr(0, kEventMessageMax) + "...");
  recorder.tell(server, pod, event, Time{2});
  ASSERT_EQ(server.requests.size(), 2u);
  const auto* counted = std::get_if<kube::Patch>(&server.requests[1].verb);
  ASSERT_NE(counted, nullptr);
  EXPECT_EQ(counted->body.at("count"), json::value(2));
}

}  // namespace
}  // namespace trainyard::node
