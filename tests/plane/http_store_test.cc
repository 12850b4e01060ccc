// The client over HTTP and the server, together: the suite of every store, through real
// TLS on loopback, and what goes beyond objects.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <condition_variable>
#include <mutex>
#include <thread>

#include "client/http_client.h"
#include "server/testing.h"
#include "store/store_suite.h"

namespace trainyard {
namespace {

constexpr std::chrono::seconds kPatience{20};

client::Access access_to(const server::TestPlane& plane) {
  client::Access access;
  access.where = "the test";
  access.server = plane.server->url();
  access.ca.data = server::test_tls().ca_certificate;
  access.token.data = server::test_tls().token;
  return access;
}

// Everything that a watch tells until the server ends it.
class WholeWatch {
 public:
  Result<std::vector<client::WatchEvent>> read(client::WatchSource& source, const kube::Request& request) {
    client::WatchSink sink{[this](client::WatchEvent event) {
                             std::scoped_lock lock(mutex_);
                             events_.push_back(std::move(event));
                           },
                           [this](const std::optional<Error>& error) {
                             std::scoped_lock lock(mutex_);
                             error_ = error;
                             closed_ = true;
                             changed_.notify_all();
                           }};
    std::unique_ptr<client::OpenWatch> watch = source.open(request, sink);
    std::unique_lock lock(mutex_);
    if (!changed_.wait_for(lock, kPatience, [&] { return closed_; })) {
      return Error{ErrorKind::kUnknown, "the watch does not end"};
    }
    if (error_) return *error_;
    return events_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool closed_ = false;
  std::optional<Error> error_;
  std::vector<client::WatchEvent> events_;
};

class BehindHttp final : public store::Subject {
 public:
  BehindHttp() : client_(client::HttpClient::make(access_to(plane_)).value()) {
    json::object body{{"metadata", json::object{{"name", "ns"}}}};
    kube::Resource namespaces{"", "v1", "Namespace", "namespaces", false};
    EXPECT_TRUE(client_->send({namespaces, "", kube::Create{body}}).ok());
  }
  Result<store::Answer> send(const kube::Request& request) override {
    if (std::holds_alternative<kube::Watch>(request.verb)) return watch(request);
    Result<client::Reply> reply = client_->send(request);
    if (!reply.ok()) return reply.error();
    return store::Answer{reply->object, reply->items, reply->revision, reply->continue_token, {}};
  }
  void collect_garbage() override {}  // the hub does it before it answers

 private:
  Result<store::Answer> watch(kube::Request request) {
    std::get<kube::Watch>(request.verb).timeout_seconds = 1;
    WholeWatch whole;
    Result<std::vector<client::WatchEvent>> events = whole.read(*client_, request);
    if (!events.ok()) return events.error();
    store::Answer answer;
    for (const client::WatchEvent& event : *events) {
      answer.events.push_back({static_cast<store::ChangeKind>(event.kind), kube::version_of(*event.object),
                               event.object, nullptr});
    }
    return answer;
  }

  server::TestPlane plane_;
  std::unique_ptr<client::HttpClient> client_;
};

class Plane : public testing::Test {
 protected:
  void SetUp() override {
    json::object pod{
        {"apiVersion", "v1"},
        {"kind", "Pod"},
        {"metadata", json::object{{"name", "p"}}},
        {"spec", json::object{{"nodeName", "trainyard"},
                              {"containers", json::array{json::object{{"name", "c"}, {"image", "i"}}}}}}};
    ASSERT_TRUE(client_->send({kube::kPods, "default", kube::Create{pod}}).ok());
  }

  server::TestPlane plane_;
  std::unique_ptr<client::HttpClient> client_ = client::HttpClient::make(access_to(plane_)).value();
};

TEST_F(Plane, LogsComeWhole) {
  plane_.pods.log = "step 1\nstep 2\n";
  Result<std::string> log = client_->read("/api/v1/namespaces/default/pods/p/log?tailLines=5");
  ASSERT_TRUE(log.ok()) << log.error().message;
  EXPECT_EQ(*log, "step 1\nstep 2\n");
  Result<std::string> none = client_->read("/api/v1/namespaces/default/pods/nobody/log");
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().kind, ErrorKind::kNotFound);
}

TEST_F(Plane, ACommandRunsAndItsExitCodeComesBack) {
  std::string out;
  client::ExecIo io;
  io.out = [&](std::string_view bytes) { out += bytes; };
  std::thread process([&] {
    ASSERT_TRUE(plane_.pods.await([&] { return plane_.pods.process.told != nullptr; }));
    EXPECT_EQ(write(plane_.pods.process.out.get(), "hello", 5), 5);
    plane_.pods.process.out.reset();
    plane_.pods.process.err.reset();
    std::function<void(Result<int>)> told = plane_.pods.process.told;
    told(7);
  });
  Result<int> code =
      client_->exec("/api/v1/namespaces/default/pods/p/exec?command=ls&stdout=true&stderr=true", io);
  process.join();
  ASSERT_TRUE(code.ok()) << code.error().message;
  EXPECT_EQ(*code, 7);
  EXPECT_EQ(out, "hello");
}

TEST_F(Plane, StrangersAreRefused) {
  client::Access access = access_to(plane_);
  access.token.data = "wrong";
  Result<client::Reply> refused =
      client::HttpClient::make(access).value()->send({kube::kPods, "", kube::List{}});
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().kind, ErrorKind::kForbidden);
  access.token = {};
  access.certificate.data = server::test_tls().admin.certificate;
  access.key.data = server::test_tls().admin.key;
  Result<client::Reply> known =
      client::HttpClient::make(access).value()->send({kube::kPods, "", kube::List{}});
  EXPECT_TRUE(known.ok()) << known.error().message;
}

}  // namespace
}  // namespace trainyard

namespace trainyard::store {
INSTANTIATE_TEST_SUITE_P(ClientAndServer, StoreSuite,
                         testing::Values(SubjectFactory([] { return std::make_unique<BehindHttp>(); })));
}  // namespace trainyard::store
