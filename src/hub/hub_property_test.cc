// Random requests, disks that fill up, break and lie, and kills at random moments: what
// was acknowledged is there, what was refused is not.
#include <future>

#include "base/rng.h"
#include "hub/hub.h"
#include "hub/testing.h"

namespace trainyard::hub {
namespace {

using Value = std::optional<std::string>;  // nullopt: there is no such object

// What each object may be, as far as the answers tell. Thread-safe.
class Model {
 public:
  void answered(const std::string& name, const Value& value, const Result<Answer>& answer) {
    std::lock_guard lock(mutex_);
    std::set<Value>& may = may_[name];
    if (may.empty()) may.insert(std::nullopt);
    if (answer.ok()) {
      may = {value};
    } else if (answer.error().kind == ErrorKind::kUnknown) {
      may.insert(value);
    }
  }
  // Compares with what is there, after which nothing is in doubt.
  void check(Hub& hub, uint64_t seed) {
    std::map<std::string, Value> there;
    Result<Answer> all = hub.call(list());
    ASSERT_TRUE(all.ok());
    for (const Object& object : all->items) {
      there[std::string(kube::name_of(*object))] = std::string(kube::text_at(*object, {"data", "key"}));
    }
    std::lock_guard lock(mutex_);
    for (const auto& [name, value] : there) EXPECT_TRUE(may_.contains(name)) << seed << " " << name;
    for (auto& [name, may] : may_) {
      Value now = there.contains(name) ? there[name] : std::nullopt;
      EXPECT_TRUE(may.contains(now)) << "seed " << seed << " " << name << " is " << now.value_or("not there");
      may = {now};
    }
  }

 private:
  std::mutex mutex_;
  std::map<std::string, std::set<Value>> may_;
};

class Life {
 public:
  explicit Life(uint64_t seed) : seed_(seed), rng_(seed) {}

  void live() {
    reopen();
    for (int step = 0; step < 60 && !testing::Test::HasFailure(); ++step) {
      uint64_t what = rng_.below(12);
      if (what == 0) {
        disk_->set_mode(Disk::Mode::kFull);
        burst();
        disk_->set_mode(Disk::Mode::kWell);
      } else if (what == 1) {
        die(rng_.chance(50) ? Disk::Mode::kBroken : Disk::Mode::kLying);
      } else if (what == 2) {
        reopen();
      } else {
        burst();
      }
      model_.check(*hub_, seed_);
    }
  }

 private:
  void reopen() {
    hub_.reset();
    disk_->set_mode(Disk::Mode::kWell);
    Options options = test_options();
    options.keep_revisions = 8;
    hub_ = Hub::open(options, std::make_unique<FakeJournal>(disk_)).value();
  }

  void submit_one(std::vector<std::future<void>>& done) {
    std::string name = fmt::format("n{}", rng_.below(6));
    std::string value = std::to_string(++values_);
    uint64_t what = rng_.below(3);
    Value after = what == 2 ? Value() : Value(value);
    kube::Request request = what == 0   ? create(config(name, value))
                            : what == 1 ? set(name, value)
                                        : remove(name);
    auto promise = std::make_shared<std::promise<void>>();
    done.push_back(promise->get_future());
    hub_->submit(std::move(request), [this, name, after, promise](const Result<Answer>& answer) {
      model_.answered(name, after, answer);
      promise->set_value();
    });
  }
  void burst() {
    std::vector<std::future<void>> done;
    for (uint64_t i = rng_.below(6) + 1; i > 0; --i) submit_one(done);
    for (std::future<void>& one : done) ASSERT_EQ(one.wait_for(kPatience), std::future_status::ready);
  }
  // Requests are under way when the disk goes bad; what had been committed before is kept.
  void die(Disk::Mode mode) {
    std::vector<std::future<void>> done;
    disk_->hold(true);
    for (uint64_t i = rng_.below(4) + 1; i > 0; --i) submit_one(done);
    if (rng_.chance(50)) disk_->set_mode(mode);
    for (uint64_t i = rng_.below(4); i > 0; --i) submit_one(done);
    disk_->hold(false);
    if (rng_.chance(50)) disk_->set_mode(mode);
    for (uint64_t i = rng_.below(4); i > 0; --i) submit_one(done);
    reopen_after(done);
  }
  void reopen_after(std::vector<std::future<void>>& done) {
    hub_.reset();  // answers everything
    for (std::future<void>& one : done) ASSERT_EQ(one.wait_for(kPatience), std::future_status::ready);
    reopen();
  }

  uint64_t seed_;
  Rng rng_;
  uint64_t values_ = 0;
  std::shared_ptr<Disk> disk_ = std::make_shared<Disk>();
  Model model_;
  std::unique_ptr<Hub> hub_;
};

TEST(HubPropertyTest, WhatWasAcknowledgedIsThere) {
  for (uint64_t seed = 1; seed <= 40 && !HasFailure(); ++seed) Life(seed).live();
}

}  // namespace
}  // namespace trainyard::hub
