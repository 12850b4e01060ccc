#include "dialect/volcano/flags.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace trainyard::dialect::vc {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(Flags, ReadsEveryWayToWriteThem) {
  Flags flags({"--ps=server", "-worker=node", "-port", "2223", "--quiet", "--loud=false"}, {"quiet", "loud"});
  EXPECT_EQ(flags.text("ps", "ps"), "server");
  EXPECT_EQ(flags.text("worker", "worker"), "node");
  EXPECT_EQ(flags.text("chief", "chief"), "chief");
  EXPECT_EQ(flags.whole("port", 2222, 1, 65535), 2223);
  EXPECT_TRUE(flags.boolean("quiet", false));
  EXPECT_FALSE(flags.boolean("loud", true));
  EXPECT_THAT(flags.faults(), IsEmpty());
}

TEST(Flags, TellsEveryFault) {
  Flags flags({"port=1", "--port=99999", "--other=1", "--quiet=maybe", "--last"}, {"quiet"});
  EXPECT_EQ(flags.whole("port", 2222, 1, 65535), 2222);
  EXPECT_TRUE(flags.boolean("quiet", true));
  EXPECT_THAT(flags.faults(), ElementsAre("port=1 is not a flag: flags are written --name=value",
                                          "--last needs a value: write --last=value",
                                          "--port=99999 must be a whole number from 1 to 65535",
                                          "--quiet=maybe must be true or false",
                                          "--other is not known: this plugin takes --last, --port, --quiet"));
}

TEST(Flags, APluginWithoutFlagsSaysSo) {
  Flags flags({"--x=1", "-", "--"}, {});
  EXPECT_THAT(flags.faults(), ElementsAre("- is not a flag: flags are written --name=value",
                                          "-- is not a flag: flags are written --name=value",
                                          "--x is not known: this plugin takes no flags"));
}

}  // namespace
}  // namespace trainyard::dialect::vc
