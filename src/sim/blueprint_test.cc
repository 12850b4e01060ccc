#include "sim/blueprint.h"

#include <gtest/gtest.h>

#include "dialect/t9k/t9k.h"
#include "dialect/tfjob/tfjob.h"
#include "dialect/volcano/volcano.h"
#include "sim/facts.h"

namespace trainyard::sim {
namespace {

const dialect::Dialect& dialect_of(Kind kind) {
  switch (kind) {
    case Kind::kTfJob:
      return dialect::tfjob();
    case Kind::kT9k:
      return dialect::t9k();
    case Kind::kVolcano:
      break;
  }
  return dialect::volcano();
}

TEST(Blueprint, IsReadAsItIsWritten) {
  for (const char* text :
       {"tfjob train worker=2 restart=ExitCode backoff=3 clean=All ttl=30 deadline=60 suspended",
        "tfjob train worker=2 ps=1 scope=job", "t9k a chief=1 gang hold board", "volcano c worker=1 keys",
        "tfjob b worker=3 all-workers dynamic invalid",
        "volcano v worker=2 policies=137:RestartJob,PodEvicted:RestartTask min-available=1 min-success=2"}) {
    EXPECT_EQ(to_string(parse_blueprint(text)), text);
  }
}

// A world of manifests that are refused would prove nothing.
TEST(Blueprint, RandomOnesAreValidInTheirDialect) {
  Rng rng(5);
  for (int i = 0; i < 3'000; ++i) {
    const auto kind = static_cast<Kind>(i % 3);
    const Blueprint blueprint = random_blueprint(rng, kind, "job", 3);
    const auto lowered = dialect_of(kind).lower(manifest_of(blueprint), {});
    const auto* problems = std::get_if<std::vector<dialect::Problem>>(&lowered);
    ASSERT_EQ(problems, nullptr) << to_string(blueprint) << "\n" << dialect::join(*problems);
  }
}

TEST(Blueprint, InvalidOnesAreRefused) {
  for (const char* text :
       {"tfjob a worker=1 invalid", "t9k a worker=1 invalid", "volcano a worker=1 invalid"}) {
    const Blueprint blueprint = parse_blueprint(text);
    const auto lowered = dialect_of(blueprint.kind).lower(manifest_of(blueprint), {});
    EXPECT_TRUE(std::holds_alternative<std::vector<dialect::Problem>>(lowered)) << text;
  }
}

TEST(Blueprint, TheCheckersReadTheManifestAsItWasMeant) {
  const Blueprint blueprint = parse_blueprint(
      "tfjob a chief=1 worker=2 restart=ExitCode backoff=3 clean=All ttl=30 deadline=60 suspended hold");
  const Wish wish = read_wish(Kind::kTfJob, manifest_of(blueprint));
  EXPECT_EQ(wish.replicas, (std::map<std::string, int>{{"chief", 1}, {"worker", 2}}));
  EXPECT_EQ(wish.restart, "ExitCode");
  EXPECT_EQ(wish.backoff, 3);
  EXPECT_EQ(wish.clean, "All");
  EXPECT_EQ(wish.ttl, 30);
  EXPECT_EQ(wish.deadline, 60);
  EXPECT_TRUE(wish.suspended);
  EXPECT_TRUE(wish.hold);
  EXPECT_TRUE(wish.valid);
  EXPECT_FALSE(read_wish(Kind::kTfJob, manifest_of(parse_blueprint("tfjob a worker=1 invalid"))).valid);
}

}  // namespace
}  // namespace trainyard::sim
