#include "hub/hub_client.h"

#include "hub/testing.h"
#include "kube/yaml.h"

namespace trainyard::hub {
namespace {

class HubClientTest : public testing::Test {
 protected:
  std::unique_ptr<Hub> hub_ = Hub::open(test_options()).value();
  HubClient client_{*hub_};
  HubWatches watches_{*hub_};

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> told_;
  client::WatchSink sink() {
    auto say = [this](std::string text) {
      std::lock_guard lock(mutex_);
      told_.push_back(std::move(text));
      changed_.notify_all();
    };
    return {[say](client::WatchEvent event) {
              say(fmt::format("{} {}", static_cast<int>(event.kind), kube::name_of(*event.object)));
            },
            [say](const std::optional<Error>& error) { say(error ? error->message : "closed"); }};
  }
  std::vector<std::string> await(size_t count) {
    std::unique_lock lock(mutex_);
    EXPECT_TRUE(changed_.wait_for(lock, kPatience, [&] { return told_.size() >= count; }));
    return told_;
  }
};

TEST_F(HubClientTest, Calls) {
  Result<client::Object> made = client::create(client_, kube::kConfigMaps, "default", config("a"));
  ASSERT_TRUE(made.ok()) << made.error().message;
  EXPECT_EQ(**client::get(client_, kube::kConfigMaps, "default", "a"), **made);
  Result<client::Reply> all = client::list(client_, kube::kConfigMaps, "default");
  ASSERT_TRUE(all.ok());
  EXPECT_EQ(all->items.size(), 1u);
  EXPECT_EQ(all->revision, hub_->revision());
  EXPECT_TRUE(client::remove(client_, kube::kConfigMaps, "default", "a", {}).ok());
  EXPECT_EQ(client::get(client_, kube::kConfigMaps, "default", "a").error().kind, ErrorKind::kNotFound);
  EXPECT_EQ(client_.send({kube::kConfigMaps, "", kube::Watch{}}).error().kind, ErrorKind::kInvalid);
}

// A program may have said it, or a message may have been cut in the middle of a character.
TEST_F(HubClientTest, WhatIsWrittenCanBeReadAgain) {
  json::object made = config("a");
  made["data"] = json::object{{"key", "\xFF"}};
  ASSERT_TRUE(client::create(client_, kube::kConfigMaps, "default", made).ok());
  auto patched = [&](std::string_view text) {
    kube::Patch patch{"a", kube::PatchKind::kMerge, {{"data", json::object{{"more", text}}}}};
    return client::patch(client_, kube::kConfigMaps, "default", std::move(patch));
  };
  Result<client::Object> object = patched("cut \xC3");
  ASSERT_TRUE(object.ok()) << object.error().message;
  Result<json::value> read = kube::parse_json(json::serialize(**object));
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read->at("data"), (json::value{{"key", "\uFFFD"}, {"more", "cut \uFFFD"}}));
}

TEST_F(HubClientTest, Watches) {
  auto watch = watches_.open({kube::kConfigMaps, "default", kube::Watch{}}, sink());
  ASSERT_TRUE(client::create(client_, kube::kConfigMaps, "default", config("a")).ok());
  ASSERT_TRUE(client::remove(client_, kube::kConfigMaps, "default", "a", {}).ok());
  EXPECT_EQ(await(2), (std::vector<std::string>{"0 a", "2 a"}));
  hub_.reset();
  EXPECT_EQ(await(3).back(), "closed");
}

TEST_F(HubClientTest, AWatchThatCannotBeIsClosedAtOnce) {
  kube::Watch query;
  query.version = "12345";
  auto watch = watches_.open({kube::kConfigMaps, "default", query}, sink());
  EXPECT_EQ(await(1), (std::vector<std::string>{
                          fmt::format("Too large resource version: 12345, current: {}", hub_->revision())}));
}

}  // namespace
}  // namespace trainyard::hub
