#include "control/view.h"

#include <gtest/gtest.h>

#include "control/fake_dialect.h"

namespace trainyard::control::testing {
namespace {

std::string shown(const View& view) {
  std::string text;
  for (const client::Stream& stream : view.streams) {
    text += fmt::format("{}[{}] ", stream.resource.plural, stream.labels.to_string());
  }
  return text;
}

TEST(ViewTest, WatchesJobsAndTheirChildrenByLabel) {
  std::vector<dialect::Dialect> dialects{toy()};
  View view = make_view(dialects, {});
  EXPECT_EQ(shown(view), "toys[] pods[toy] services[toy] ");
  EXPECT_EQ(view.dialects[0].services, 2);
  EXPECT_EQ(view.commands, -1);
}

TEST(ViewTest, WatchesWhatIsAroundWithoutReadingEverybodysSecrets) {
  std::vector<dialect::Dialect> dialects{toy()};
  View view = make_view(dialects, resources_around());
  EXPECT_EQ(view.streams[view.companions.at(model::CompanionKind::kSecret)].labels.to_string(),
            "trainyard.dev/companion");
  EXPECT_EQ(view.streams[view.companions.at(model::CompanionKind::kPersistentVolumeClaim)].labels.to_string(),
            "");
  EXPECT_EQ(view.gangs.size(), 4u);
  EXPECT_FALSE(view.synced());
}

}  // namespace
}  // namespace trainyard::control::testing
