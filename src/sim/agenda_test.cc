#include "sim/agenda.h"

#include <gtest/gtest.h>

#include <string>

namespace trainyard::sim {
namespace {

TEST(Agenda, GoesByTimeAndThenByOrder) {
  Agenda agenda(Time{1000});
  std::string story;
  agenda.in(Duration{20}, [&] { story += "c"; });
  agenda.in(Duration{10}, [&] { story += "a"; });
  agenda.in(Duration{10}, [&] { story += "b"; });
  while (!agenda.empty()) agenda.step();
  EXPECT_EQ(story, "abc");
  EXPECT_EQ(agenda.now(), Time{1020});
}

TEST(Agenda, TheNextDeedMayAddDeeds) {
  Agenda agenda(Time{0});
  int done = 0;
  agenda.in(Duration{5}, [&] { agenda.in(Duration{5}, [&] { ++done; }); });
  while (!agenda.empty()) agenda.step();
  EXPECT_EQ(done, 1);
  EXPECT_EQ(agenda.now(), Time{10});
}

TEST(Agenda, WhatIsLateHappensNow) {
  Agenda agenda(Time{100});
  agenda.at(Time{50}, [] {});
  EXPECT_EQ(agenda.next(), Time{100});
}

TEST(Agenda, TimeJumpsOverNothing) {
  Agenda agenda(Time{0});
  agenda.pass_to(Time{3'600'000});
  EXPECT_EQ(agenda.now(), Time{3'600'000});
}

}  // namespace
}  // namespace trainyard::sim
