// The operator with workers: passes on threads of their own, creates that go out together.
#include <condition_variable>

#include "control/testing.h"

namespace trainyard::control::testing {
namespace {

constexpr std::chrono::seconds kPatience{20};

// A store behind a lock: a client of any number of threads that takes eight requests at once.
class SharedStore final : public client::Client {
 public:
  explicit SharedStore(const Time& now) : inner_(store, [&now] { return now; }) {}

  Result<client::Reply> send(kube::Request request) override {
    std::lock_guard lock(mutex);
    return inner_.send(std::move(request));
  }
  std::vector<Result<client::Reply>> send_all(std::vector<kube::Request> requests) override {
    size_t count = requests.size();
    std::vector<Result<client::Reply>> replies = Client::send_all(std::move(requests));
    std::lock_guard lock(mutex);
    largest = std::max(largest, count);
    return replies;
  }
  int parallel_max() const override { return 8; }

  std::mutex mutex;
  store::Store store;
  size_t largest = 0;

 private:
  client::InProcess inner_;
};

class CountedEvents final : public EventSink {
 public:
  void tell(const json::object&, std::string_view, const dialect::EventText& text, Time) override {
    std::lock_guard lock(mutex_);
    ++told_[text.reason];
  }
  int count(const std::string& reason) {
    std::lock_guard lock(mutex_);
    return told_[reason];
  }

 private:
  std::mutex mutex_;
  std::map<std::string, int> told_;
};

class BusyYard {
 public:
  explicit BusyYard(OperatorOptions options = {}) {
    OperatorPorts ports{client, [] { return dialect::KeyPair{"private", "public"}; }, [this] { return now; }};
    ports.uptime = [this] { return now - Time{}; };
    ports.workers = &workers;
    ports.events = &events;
    op = std::make_unique<Operator>(std::move(ports), std::vector<dialect::Dialect>{toy()},
                                    std::move(options));
    op->set_waker([this] {
      std::lock_guard lock(mutex_);
      woken_ = true;
      changed_.notify_all();
    });
    watched_.assign(op->streams().size(), -1);
  }
  ~BusyYard() { workers.stop(); }

  void submit(const std::string& name, int replicas, const std::string& ns = "ns") {
    std::lock_guard lock(client.mutex);
    json::object body{{"metadata", json::object{{"name", name}}},
                      {"spec", json::object{{"workers", replicas}}}};
    ASSERT_TRUE(client.store.create(kToys, ns, std::move(body), now).ok());
  }
  void carry() {
    for (const StreamRequest& wanted : op->requests(now)) {
      if (const auto* watch = std::get_if<kube::Watch>(&wanted.request.verb)) {
        watched_[wanted.stream] = std::stoll(watch->version);
      } else {
        op->on_list(wanted.stream, client.send(wanted.request), now);
      }
    }
    for (size_t i = 0; i < watched_.size(); ++i) {
      const client::Stream& what = op->streams()[i];
      if (watched_[i] < 0) continue;
      std::vector<store::WatchEvent> told;
      {
        std::lock_guard lock(client.mutex);
        kube::Watch query{.labels = what.labels, .fields = {}, .version = std::to_string(watched_[i])};
        told = client.store.watch(what.resource, what.ns, query).value();
      }
      for (const store::WatchEvent& event : told) {
        op->on_event(static_cast<int>(i), client::to_watch_event(event), now);
        watched_[i] = event.revision;
      }
    }
  }
  // Until nothing is due and nothing is under way. `ready` says that it may be over.
  void settle(const std::function<bool()>& ready = [] { return true; }) {
    auto deadline = std::chrono::steady_clock::now() + kPatience;
    while (std::chrono::steady_clock::now() < deadline) {
      carry();
      if (op->run_one(now)) continue;
      if (op->in_flight() == 0 && ready()) return;
      std::unique_lock lock(mutex_);
      changed_.wait_for(lock, std::chrono::milliseconds(50), [this] { return woken_; });
      woken_ = false;
    }
    FAIL() << "it does not come to rest";
  }
  size_t count(const kube::Resource& resource, std::string_view ns = "ns") {
    std::lock_guard lock(client.mutex);
    return client.store.list(resource, ns).value().items.size();
  }

  Time now{1'700'000'000'000};
  SharedStore client{now};
  CountedEvents events;
  Workers workers{4};
  std::unique_ptr<Operator> op;

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool woken_ = false;
  std::vector<int64_t> watched_;
};

TEST(OperatorWorkersTest, ManyJobsAtOnceAndEachReplicaOnce) {
  BusyYard yard;
  for (int i = 0; i < 20; ++i) yard.submit(fmt::format("j{}", i), 5);
  yard.settle();
  EXPECT_EQ(yard.count(kube::kPods), 100u);
  EXPECT_EQ(yard.events.count("PodCreated"), 100);
  EXPECT_EQ(yard.op->counts().errors, 0);
  EXPECT_EQ(yard.client.largest, 5u);
  int64_t writes = yard.op->counts().writes;
  yard.settle();
  EXPECT_EQ(yard.op->counts().writes, writes);
}

TEST(OperatorWorkersTest, LargeJobsGoOutInBatchesThatTheClientTakes) {
  BusyYard yard;
  yard.submit("large", 50);
  yard.settle();
  EXPECT_EQ(yard.count(kube::kPods), 50u);
  EXPECT_EQ(yard.client.largest, 8u);
}

TEST(OperatorWorkersTest, TheLeaseIsTakenBesideTheWorkAndHandedOver) {
  OperatorOptions options;
  options.elects_leader = true;
  options.lease_ns = "ns";
  BusyYard yard(options);
  yard.submit("j", 2);
  yard.settle([&] { return yard.op->leads(); });
  yard.settle();
  EXPECT_EQ(yard.count(kube::kPods), 2u);
  yard.workers.stop();
  yard.op->hand_over(yard.now);
  EXPECT_FALSE(yard.op->leads());
  client::Object lease = yard.client.store.get(kube::kLeases, "ns", "trainyard-operator").value();
  EXPECT_EQ(kube::text_at(*lease, {"spec", "holderIdentity"}), "");
}

TEST(OperatorWorkersTest, OnlyTheNamespacesThatAreNamed) {
  OperatorOptions options;
  options.namespaces = {"b", "a"};
  BusyYard yard(options);
  for (const char* ns : {"a", "b", "c"}) yard.submit("j", 2, ns);
  yard.settle();
  EXPECT_EQ(yard.count(kube::kPods, "a"), 2u);
  EXPECT_EQ(yard.count(kube::kPods, "b"), 2u);
  EXPECT_EQ(yard.count(kube::kPods, "c"), 0u);
}

}  // namespace
}  // namespace trainyard::control::testing
