#include "client/in_process.h"

#include "store/store_suite.h"

namespace trainyard::client {
namespace {

constexpr Time kNow{1'700'000'000'000};

// The store behind the client: nothing is lost or changed on the way.
class BehindClient final : public store::Subject {
 public:
  Result<store::Answer> send(const kube::Request& request) override {
    Result<Reply> reply = client_.send(request);
    if (!reply.ok()) return reply.error();
    store::Answer answer{reply->object, reply->items, reply->revision, reply->continue_token, {}};
    for (const WatchEvent& event : reply->events) {
      answer.events.push_back({static_cast<store::ChangeKind>(event.kind), kube::version_of(*event.object),
                               event.object, nullptr});
    }
    return answer;
  }
  void collect_garbage() override {
    while (store_.collect_garbage(kNow) > 0) {
    }
  }

 private:
  store::Store store_;
  InProcess client_{store_, [] { return kNow; }};
};

}  // namespace
}  // namespace trainyard::client

namespace trainyard::store {
INSTANTIATE_TEST_SUITE_P(InProcess, StoreSuite, testing::Values(SubjectFactory([] {
                           return std::make_unique<client::BehindClient>();
                         })));
}  // namespace trainyard::store
