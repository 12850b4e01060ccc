#include "layers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace trainyard::layers {
namespace {

using ::testing::ElementsAre;

const std::filesystem::path kRoot = TRAINYARD_SOURCE_DIR;

TEST(Layers, EveryIncludeKeepsToTheTable) {
  for (const std::string& finding : check(kRoot / "src")) ADD_FAILURE() << "src/" << finding;
}

TEST(Layers, TheBadSampleIsFlagged) {
  EXPECT_THAT(
      check(kRoot / "tests/layers/bad_sample"),
      ElementsAre(
          "circle/one/CMakeLists.txt:1: room 'one' requires itself in a circle",
          "circle/two/CMakeLists.txt:1: room 'two' requires itself in a circle",
          "high/CMakeLists.txt:1: there is no room 'cellar'",
          "low/low.cc:1: room 'low' may not include 'high' (\"high/high.h\"); it may include: nothing",
          "low/low.cc:2: \"beside.h\" is in no room; write the path from src/",
          "low/low.cc:3: <yaml-cpp/yaml.h> belongs to room 'kube'; use what that room offers",
          "stray.cc:1: lies in no room: its folder has no trainyard_room()"));
}

}  // namespace
}  // namespace trainyard::layers
