#include "hub/hub.h"

#include <future>
#include <thread>

#include "hub/testing.h"
#include "store/store_suite.h"

namespace trainyard::hub {
namespace {

// A hub behind the suite that every store passes.
class HubSubject final : public store::Subject {
 public:
  explicit HubSubject(bool on_disk) {
    hub_ = Hub::open(test_options(on_disk ? folder_ / "store.db" : std::filesystem::path())).value();
    json::object ns{{"metadata", json::object{{"name", "ns"}}}};
    CHECK(hub_->call({kube::kNamespaces, "", kube::Create{ns}}).ok());
  }

  Result<store::Answer> send(const kube::Request& request) override {
    if (const kube::Watch* query = std::get_if<kube::Watch>(&request.verb)) return watch(request, *query);
    Result<Answer> answer = hub_->call(request);
    if (!answer.ok()) return answer.error();
    return store::Answer{answer->object, answer->items, answer->revision, answer->continue_token, {}};
  }
  void collect_garbage() override {}  // the hub does it by itself, before it answers

 private:
  // Watches are told in the order they were opened, so the end of the second one's present
  // comes after everything that the first had to be told.
  Result<store::Answer> watch(const kube::Request& request, const kube::Watch& query) {
    Told told, marker;
    auto first = hub_->watch(request.resource, request.ns, query, told.sink());
    if (!first.ok()) return first.error();
    kube::Watch streaming;
    streaming.send_initial_events = true;
    streaming.fields.add("metadata.name", "none-of-that-name");
    auto second = hub_->watch(request.resource, request.ns, streaming, marker.sink());
    EXPECT_EQ(marker.await(1), "bookmark");
    return store::Answer{.events = told.events()};
  }

  TempDir folder_;
  std::unique_ptr<Hub> hub_;
};

}  // namespace
}  // namespace trainyard::hub

namespace trainyard::store {

INSTANTIATE_TEST_SUITE_P(
    Hub, StoreSuite,
    testing::Values(SubjectFactory([] { return std::make_unique<hub::HubSubject>(false); }),
                    SubjectFactory([] { return std::make_unique<hub::HubSubject>(true); })));

}  // namespace trainyard::store

namespace trainyard::hub {
namespace {

std::unique_ptr<Hub> open_fake(const std::shared_ptr<Disk>& disk, Options options = test_options()) {
  return Hub::open(std::move(options), std::make_unique<FakeJournal>(disk)).value();
}

TEST(HubTest, TheNamespacesThatAreAlwaysThere) {
  std::unique_ptr<Hub> hub = Hub::open(test_options()).value();
  Result<Answer> all = hub->call({kube::kNamespaces, "", kube::List{}});
  ASSERT_TRUE(all.ok());
  std::string names;
  for (const Object& object : all->items) names += fmt::format("{} ", kube::name_of(*object));
  EXPECT_EQ(names, "default kube-node-lease kube-public kube-system ");
  Result<Answer> made = hub->call(create(config("a"), "nowhere"));
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.error().message, "namespaces \"nowhere\" not found");
}

TEST(HubTest, EveryNamespaceHasAServiceAccount) {
  const kube::Resource accounts{"", "v1", "ServiceAccount", "serviceaccounts", true, false};
  TempDir folder;
  for (bool on_disk : {false, true}) {
    std::unique_ptr<Hub> hub =
        Hub::open(test_options(on_disk ? folder / "store.db" : std::filesystem::path())).value();
    auto account = [&](std::string ns) { return hub->call({accounts, std::move(ns), kube::Get{"default"}}); };
    EXPECT_TRUE(account("default").ok());
    EXPECT_TRUE(account("kube-system").ok());
    json::object team{{"metadata", json::object{{"name", "team"}}}};
    ASSERT_TRUE(hub->call({kube::kNamespaces, "", kube::Create{team}}).ok());
    Result<Answer> first = account("team");
    ASSERT_TRUE(first.ok());
    ASSERT_TRUE(hub->call({accounts, "team", kube::Delete{"default", {}}}).ok());
    Result<Answer> second = account("team");
    ASSERT_TRUE(second.ok());
    EXPECT_NE(kube::uid_of(*first->object), kube::uid_of(*second->object));
    ASSERT_TRUE(hub->call({kube::kNamespaces, "", kube::Delete{"team", {}}}).ok());
    EXPECT_FALSE(hub->call({kube::kNamespaces, "", kube::Get{"team"}}).ok());
    EXPECT_EQ(hub->call({accounts, "", kube::List{}})->items.size(), 4u);
  }
}

TEST(HubTest, AWriteIsAnsweredAfterItsCommitAndNoReaderIsAheadOfIt) {
  auto disk = std::make_shared<Disk>();
  std::unique_ptr<Hub> hub = open_fake(disk);
  ASSERT_TRUE(hub->call(create(config("old"))).ok());
  Told told;
  auto watch = hub->watch(kube::kConfigMaps, "", {}, told.sink()).value();
  EXPECT_EQ(told.await(1), "added old");
  disk->hold(true);
  std::promise<Result<Answer>> written, read, listed;
  hub->submit(create(config("new")), [&](const Result<Answer>& answer) { written.set_value(answer); });
  disk->await_commit();
  hub->submit(get("new"), [&](const Result<Answer>& answer) { read.set_value(answer); });
  hub->submit(list(), [&](const Result<Answer>& answer) { listed.set_value(answer); });
  // What is on disk is shown meanwhile.
  EXPECT_TRUE(hub->call(get("old")).ok());
  std::future<Result<Answer>> write_done = written.get_future(), read_done = read.get_future(),
                              list_done = listed.get_future();
  EXPECT_EQ(write_done.wait_for(std::chrono::seconds(0)), std::future_status::timeout);
  EXPECT_EQ(read_done.wait_for(std::chrono::seconds(0)), std::future_status::timeout);
  EXPECT_EQ(list_done.wait_for(std::chrono::seconds(0)), std::future_status::timeout);
  EXPECT_EQ(told.events().size(), 1u);
  disk->hold(false);
  EXPECT_TRUE(write_done.get().ok());
  EXPECT_TRUE(read_done.get().ok());
  EXPECT_EQ(list_done.get()->items.size(), 2u);
  EXPECT_EQ(told.await(2), "added old; added new");
}

TEST(HubTest, WhatADiskRefusesNeverWas) {
  auto disk = std::make_shared<Disk>();
  std::unique_ptr<Hub> hub = open_fake(disk);
  ASSERT_TRUE(hub->call(create(config("a"))).ok());
  const std::map<std::string, std::string> before = contents(*hub);
  const int64_t revision = hub->revision();
  Told told;
  auto watch = hub->watch(kube::kConfigMaps, "", {}, told.sink()).value();
  disk->set_mode(Disk::Mode::kFull);
  Result<Answer> refused = hub->call(create(config("b")));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().kind, ErrorKind::kUnavailable);
  EXPECT_EQ(refused.error().message, "the disk is full");
  EXPECT_FALSE(hub->call(set("a", "other")).ok());
  EXPECT_FALSE(hub->call(remove("a")).ok());
  EXPECT_EQ(contents(*hub), before);
  EXPECT_EQ(hub->revision(), revision);
  EXPECT_EQ(hub->failed(), std::nullopt);
  disk->set_mode(Disk::Mode::kWell);
  EXPECT_TRUE(hub->call(create(config("b"))).ok());
  EXPECT_EQ(told.await(2), "added a; added b");
}

TEST(HubTest, ReadersOfWhatNeverWasSeeWhatIs) {
  auto disk = std::make_shared<Disk>();
  std::unique_ptr<Hub> hub = open_fake(disk);
  ASSERT_TRUE(hub->call(create(config("a"))).ok());
  disk->set_mode(Disk::Mode::kFull);
  disk->hold(true);
  std::promise<Result<Answer>> written, read;
  hub->submit(remove("a"), [&](const Result<Answer>& answer) { written.set_value(answer); });
  disk->await_commit();
  hub->submit(get("a"), [&](const Result<Answer>& answer) { read.set_value(answer); });
  disk->hold(false);
  EXPECT_FALSE(written.get_future().get().ok());
  Result<Answer> seen = read.get_future().get();
  ASSERT_TRUE(seen.ok()) << seen.error().message;
  EXPECT_EQ(kube::name_of(*seen->object), "a");
}

TEST(HubTest, AfterAFailedFsyncTheHubOnlyReads) {
  auto disk = std::make_shared<Disk>();
  std::unique_ptr<Hub> hub = open_fake(disk);
  ASSERT_TRUE(hub->call(create(config("a"))).ok());
  disk->set_mode(Disk::Mode::kBroken);
  EXPECT_EQ(hub->call(create(config("b"))).error().kind, ErrorKind::kUnknown);
  disk->set_mode(Disk::Mode::kWell);
  Result<Answer> refused = hub->call(create(config("c")));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error(), (Error{ErrorKind::kUnavailable, "fsync failed"}));
  EXPECT_EQ(hub->failed(), "fsync failed");
  EXPECT_TRUE(hub->call(get("a")).ok());
  EXPECT_EQ(hub->call(get("b")).error().kind, ErrorKind::kNotFound);
}

TEST(HubTest, WritesThatComeTogetherShareACommit) {
  auto disk = std::make_shared<Disk>();
  std::unique_ptr<Hub> hub = open_fake(disk);
  disk->hold(true);
  std::atomic<int> answered = 0;
  hub->submit(create(config("first")), [&](const Result<Answer>&) { ++answered; });
  disk->await_commit();
  for (int i = 0; i < 50; ++i) {
    hub->submit(create(config(fmt::format("c{}", i))), [&](const Result<Answer>& answer) {
      EXPECT_TRUE(answer.ok());
      ++answered;
    });
  }
  disk->hold(false);
  hub.reset();  // waits for what was submitted
  EXPECT_EQ(answered, 51);
  EXPECT_EQ(disk->rows.size(), 4u + 4u + 51u) << "namespaces, their accounts and what was written";
}

TEST(HubTest, TheAnswerToAWriteCarriesTheTextThatWentToDisk) {
  TempDir folder;
  std::unique_ptr<Hub> hub = Hub::open(test_options(folder / "store.db")).value();
  Result<Answer> made = hub->call(create(config("a")));
  ASSERT_TRUE(made.ok());
  EXPECT_EQ(made->text, json::serialize(*made->object));
  Result<Answer> changed = hub->call(set("a", "other"));
  EXPECT_EQ(changed->text, json::serialize(*changed->object));
  EXPECT_EQ(hub->call(set("a", "other"))->text, "");  // nothing was written
  EXPECT_EQ(hub->call(get("a"))->text, "");
  Result<Answer> removed = hub->call(remove("a"));
  EXPECT_EQ(removed->text, json::serialize(*removed->object));
}

TEST(HubTest, GarbageIsCollectedBeforeTheAnswer) {
  for (bool durable : {false, true}) {
    std::unique_ptr<Hub> hub =
        durable ? open_fake(std::make_shared<Disk>()) : Hub::open(test_options()).value();
    Object owner = hub->call(create(config("owner")))->object;
    json::object child = config("child");
    child["metadata"].get_object()["ownerReferences"] =
        json::array{kube::owner_reference("v1", "ConfigMap", "owner", kube::uid_of(*owner))};
    ASSERT_TRUE(hub->call(create(child)).ok());
    ASSERT_TRUE(hub->call(remove("owner")).ok());
    EXPECT_TRUE(contents(*hub).empty());
  }
}

TEST(HubTest, ADeletedNamespaceTakesItsContentAlong) {
  std::unique_ptr<Hub> hub = Hub::open(test_options()).value();
  json::object home{{"metadata", json::object{{"name", "home"}}}};
  ASSERT_TRUE(hub->call({kube::kNamespaces, "", kube::Create{home}}).ok());
  ASSERT_TRUE(hub->call(create(config("a"), "home")).ok());
  Result<Answer> removed = hub->call({kube::kNamespaces, "", kube::Delete{"home", {}}});
  ASSERT_TRUE(removed.ok());
  EXPECT_EQ(kube::text_at(*removed->object, {"status", "phase"}), "Terminating");
  EXPECT_TRUE(contents(*hub).empty());
  EXPECT_FALSE(hub->call({kube::kNamespaces, "", kube::Get{"home"}}).ok());
  EXPECT_EQ(hub->call({kube::kNamespaces, "", kube::Delete{"default", {}}}).error().kind,
            ErrorKind::kForbidden);
}

TEST(HubTest, OldEventsGo) {
  Options options = test_options();
  auto now = std::make_shared<std::atomic<int64_t>>(kTestNow.ms);
  options.clock = [now] { return Time{now->load()}; };
  auto disk = std::make_shared<Disk>();
  std::unique_ptr<Hub> hub = open_fake(disk, options);
  json::object event{{"metadata", json::object{{"name", "e"}}}, {"reason", "Testing"}};
  ASSERT_TRUE(hub->call({kube::kEvents, "default", kube::Create{event}}).ok());
  hub.reset();
  *now += Duration(std::chrono::hours(2)).count();
  hub = open_fake(disk, options);
  Told told;
  auto watch = hub->watch(kube::kEvents, "", {}, told.sink()).value();
  ASSERT_TRUE(hub->call(create(config("anything"))).ok());
  EXPECT_TRUE(hub->call({kube::kEvents, "", kube::List{}})->items.empty());
}

TEST(HubTest, ALogThatIsTooLongIsCompactedAndOldWatchesAreGone) {
  auto disk = std::make_shared<Disk>();
  Options options = test_options();
  options.keep_revisions = 10;
  std::unique_ptr<Hub> hub = open_fake(disk, options);
  ASSERT_TRUE(hub->call(create(config("a"))).ok());
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(hub->call(set("a", std::to_string(i))).ok());
  ASSERT_TRUE(hub->call(create(config("gone"))).ok());
  ASSERT_TRUE(hub->call(remove("gone")).ok());
  Told told;
  EXPECT_EQ(hub->watch(kube::kConfigMaps, "", {.version = "5"}, told.sink()).error().kind, ErrorKind::kGone);
  EXPECT_LT(disk->rows.size(), 40u);
  const std::map<std::string, std::string> before = contents(*hub);
  const int64_t revision = hub->revision();
  hub.reset();
  hub = open_fake(disk, options);
  EXPECT_EQ(contents(*hub), before);
  EXPECT_EQ(hub->revision(), revision);
  EXPECT_EQ(hub->watch(kube::kConfigMaps, "", {.version = "5"}, told.sink()).error().kind, ErrorKind::kGone);
  auto watch = hub->watch(kube::kConfigMaps, "", {.version = std::to_string(revision - 3)}, told.sink());
  ASSERT_TRUE(watch.ok());
  EXPECT_EQ(told.await(3), "modified a; added gone; deleted gone");
}

TEST(HubTest, ALogThatIsTooLargeIsCompacted) {
  auto disk = std::make_shared<Disk>();
  Options options = test_options();
  options.keep_bytes = 100'000;
  std::unique_ptr<Hub> hub = open_fake(disk, options);
  ASSERT_TRUE(hub->call(create(config("a"))).ok());
  const int64_t first = hub->revision();
  for (int i = 0; i < 50; ++i) {
    ASSERT_TRUE(hub->call(set("a", std::string(10'000, static_cast<char>('a' + i % 2)))).ok());
  }
  Told told;
  auto since = [&](int64_t revision) {
    return hub->watch(kube::kConfigMaps, "", {.version = std::to_string(revision)}, told.sink());
  };
  EXPECT_EQ(since(first).error().kind, ErrorKind::kGone);
  EXPECT_EQ(since(hub->revision() - 15).error().kind, ErrorKind::kGone);
  EXPECT_TRUE(since(hub->revision() - 3).ok());
  EXPECT_LT(disk->rows.size(), 40u);
}

TEST(HubTest, WhoIsToldThatAnObjectStoppedToMatchIsToldOfTheSameDocument) {
  std::unique_ptr<Hub> hub = Hub::open(test_options()).value();
  auto labelled = [](std::string_view value) {
    return kube::Request{
        kube::kConfigMaps, "default",
        kube::Patch{"a", kube::PatchKind::kMerge,
                    json::object{{"metadata", json::object{{"labels", json::object{{"k", value}}}}}}}};
  };
  ASSERT_TRUE(hub->call(create(config("a"))).ok());
  ASSERT_TRUE(hub->call(labelled("1")).ok());
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<Object> left;
  std::vector<std::unique_ptr<Subscription>> watches;
  for (int i = 0; i < 3; ++i) {
    kube::Watch query;
    query.labels = kube::LabelSelector::parse("k=1").value();
    WatchSink sink{.on_events = [&](const std::vector<WatchEvent>& events) {
      std::lock_guard lock(mutex);
      for (const WatchEvent& event : events) {
        if (event.kind == store::ChangeKind::kDeleted) left.push_back(event.object);
      }
      changed.notify_all();
    }};
    watches.push_back(hub->watch(kube::kConfigMaps, "", query, std::move(sink)).value());
  }
  ASSERT_TRUE(hub->call(labelled("2")).ok());
  std::unique_lock lock(mutex);
  ASSERT_TRUE(changed.wait_for(lock, kPatience, [&] { return left.size() == 3; }));
  EXPECT_EQ(left[0], left[1]);
  EXPECT_EQ(left[0], left[2]);
}

TEST(HubTest, WhatIsOldIsCompactedEvenIfItIsLittle) {
  for (bool durable : {false, true}) {
    Options options = test_options();
    auto now = std::make_shared<std::atomic<int64_t>>(kTestNow.ms);
    options.clock = [now] { return Time{now->load()}; };
    options.keep_for = std::chrono::minutes{10};
    auto disk = std::make_shared<Disk>();
    std::unique_ptr<Hub> hub = durable ? open_fake(disk, options) : Hub::open(options).value();
    Told told;
    auto watch = hub->watch(kube::kConfigMaps, "", {}, told.sink()).value();
    for (int i = 0; i < 200; ++i) ASSERT_TRUE(hub->call(create(config(fmt::format("c{}", i)))).ok());
    const int64_t old = hub->revision();
    for (int minute = 0; minute < 12; ++minute) {
      *now += 60'000;
      ASSERT_TRUE(hub->call(set("c1", std::to_string(minute))).ok());
      told.await(201 + minute);  // nothing goes before it is told
    }
    EXPECT_EQ(hub->watch(kube::kConfigMaps, "", {.version = "50"}, told.sink()).error().kind,
              ErrorKind::kGone);
    EXPECT_TRUE(hub->watch(kube::kConfigMaps, "", {.version = std::to_string(old + 5)}, told.sink()).ok());
    EXPECT_EQ(contents(*hub).size(), 200u);
  }
}

TEST(HubTest, AStreamingListEndsWithABookmark) {
  std::unique_ptr<Hub> hub = Hub::open(test_options()).value();
  ASSERT_TRUE(hub->call(create(config("b"))).ok());
  ASSERT_TRUE(hub->call(create(config("a"))).ok());
  Told told;
  kube::Watch query;
  query.send_initial_events = true;
  auto watch = hub->watch(kube::kConfigMaps, "default", query, told.sink()).value();
  EXPECT_EQ(told.await(3), "added b; added a; bookmark");
  EXPECT_EQ(kube::annotation_of(*told.events()[2].object, "k8s.io/initial-events-end"), "true");
  ASSERT_TRUE(hub->call(remove("a")).ok());
  EXPECT_EQ(told.await(4), "added b; added a; bookmark; deleted a");
}

// Who watches one kind goes on after the end of a watch without what has become of all the others.
TEST(HubTest, AWatchThatIsAboutToEndTellsHowFarItIs) {
  std::unique_ptr<Hub> hub = Hub::open(test_options()).value();
  Told told;
  kube::Watch query;
  query.version = std::to_string(hub->revision());
  query.timeout_seconds = 3;
  const auto begin = std::chrono::steady_clock::now();
  auto watch = hub->watch(kube::kSecrets, "default", query, told.sink()).value();
  ASSERT_TRUE(hub->call(create(config("a"))).ok());
  EXPECT_EQ(told.await(1), "bookmark");
  EXPECT_EQ(told.events()[0].revision, hub->revision());
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
}

TEST(HubTest, WatchesOfTheFutureAndOfUnknownFieldsAreRefused) {
  std::unique_ptr<Hub> hub = Hub::open(test_options()).value();
  Told told;
  Result<std::unique_ptr<Subscription>> future =
      hub->watch(kube::kConfigMaps, "", {.version = "1000"}, told.sink());
  ASSERT_FALSE(future.ok());
  EXPECT_EQ(future.error().causes.at(0).reason, "ResourceVersionTooLarge");
  kube::Watch query;
  query.fields.add("spec.color", "red");
  EXPECT_EQ(hub->watch(kube::kConfigMaps, "", query, told.sink()).error().message,
            "field label not supported: spec.color");
}

TEST(HubTest, ADroppedWatchIsNotToldAndAClosedHubSaysSo) {
  std::unique_ptr<Hub> hub = Hub::open(test_options()).value();
  Told dropped, open;
  auto first = hub->watch(kube::kConfigMaps, "", {}, dropped.sink()).value();
  auto second = hub->watch(kube::kConfigMaps, "", {}, open.sink()).value();
  ASSERT_TRUE(hub->call(create(config("a"))).ok());
  EXPECT_EQ(open.await(1), "added a");
  first.reset();
  ASSERT_TRUE(hub->call(create(config("b"))).ok());
  EXPECT_EQ(open.await(2), "added a; added b");
  EXPECT_EQ(dropped.events().size(), 1u);
  hub.reset();
  EXPECT_EQ(open.await_closed(), std::nullopt);
}

TEST(HubTest, AWatchMayDropItselfWhileItIsTold) {
  std::unique_ptr<Hub> hub = Hub::open(test_options()).value();
  std::unique_ptr<Subscription> own;
  std::promise<void> told;
  own = hub->watch(kube::kConfigMaps, "", {.version = std::to_string(hub->revision())},
                   {[&](const std::vector<WatchEvent>&) {
                      own.reset();
                      told.set_value();
                    },
                    [](const std::optional<Error>&) {}})
            .value();
  ASSERT_TRUE(hub->call(create(config("a"))).ok());
  ASSERT_EQ(told.get_future().wait_for(kPatience), std::future_status::ready);
  ASSERT_TRUE(hub->call(create(config("b"))).ok());
}

TEST(HubTest, DryRunsLeaveNothing) {
  std::unique_ptr<Hub> hub = Hub::open(test_options()).value();
  const int64_t revision = hub->revision();
  kube::Request request = create(config("a"));
  request.options.dry_run = true;
  Result<Answer> answer = hub->call(request);
  ASSERT_TRUE(answer.ok());
  EXPECT_EQ(kube::name_of(*answer->object), "a");
  EXPECT_EQ(kube::version_of(*answer->object), 0);
  EXPECT_EQ(hub->revision(), revision);
  EXPECT_TRUE(contents(*hub).empty());
}

TEST(HubTest, ManyThreadsAtOnce) {
  for (bool durable : {false, true}) {
    std::unique_ptr<Hub> hub =
        durable ? open_fake(std::make_shared<Disk>()) : Hub::open(test_options()).value();
    Told told;
    auto watch = hub->watch(kube::kConfigMaps, "", {}, told.sink()).value();
    std::vector<std::thread> threads;
    for (int thread = 0; thread < 4; ++thread) {
      threads.emplace_back([&hub, thread] {
        for (int i = 0; i < 50; ++i) {
          std::string name = fmt::format("t{}-{}", thread, i);
          EXPECT_TRUE(hub->call(create(config(name))).ok());
          EXPECT_TRUE(hub->call(get(name)).ok());
          if (i % 2 == 0) {
            EXPECT_TRUE(hub->call(remove(name)).ok());
          }
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(contents(*hub).size(), 100u);
    told.await(300);
    int64_t last = 0;
    for (const WatchEvent& event : told.events()) {
      EXPECT_GT(event.revision, last);
      last = event.revision;
    }
  }
}

}  // namespace
}  // namespace trainyard::hub
