#include "transport/deadline.h"

#include <gtest/gtest.h>

#include <optional>

namespace trainyard::transport {
namespace {

using std::chrono::milliseconds;

class DeadlineTest : public testing::Test {
 protected:
  // Until nothing is waited for any more.
  void run() {
    io.restart();
    io.run();
  }

  boost::asio::io_context io{1};
  int times_over = 0;
  std::optional<Deadline> deadline{std::in_place, io.get_executor(), [this] { ++times_over; }};
};

TEST_F(DeadlineTest, PassesOnce) {
  deadline->set(Duration{1});
  run();
  EXPECT_EQ(times_over, 1);
  deadline->set(Duration{1});
  run();
  EXPECT_EQ(times_over, 2);
}

TEST_F(DeadlineTest, MovesOnAndBack) {
  auto begun = std::chrono::steady_clock::now();
  deadline->set(Duration{1});
  deadline->set(Duration{30});
  run();
  EXPECT_EQ(times_over, 1);
  EXPECT_GE(std::chrono::steady_clock::now() - begun, milliseconds(30));
  deadline->set(Duration{3'600'000});
  deadline->set(Duration{1});
  run();  // would take an hour
  EXPECT_EQ(times_over, 2);
}

TEST_F(DeadlineTest, IsNotToldOnceItIsClearedOrGone) {
  deadline->set(Duration{1});
  deadline->clear();
  run();
  deadline->set(Duration{1});
  boost::asio::post(io, [this] {
    std::this_thread::sleep_for(milliseconds(5));  // it has passed, and is about to be told
    deadline.reset();
  });
  run();
  EXPECT_EQ(times_over, 0);
}

}  // namespace
}  // namespace trainyard::transport
