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

TEST(ViewTest, KeepsLessOfAnObjectOnlyWhereItIsKeptAsText) {
  std::vector<dialect::Dialect> dialects{toy()};
  for (const client::Stream& stream : make_view(dialects, {}, {}, client::Form::kText).streams) {
    EXPECT_NE(stream.keep, nullptr) << stream.resource.plural;
  }
  for (const client::Stream& stream : make_view(dialects, {}, {}, client::Form::kDocument).streams) {
    EXPECT_EQ(stream.keep, nullptr) << stream.resource.plural;
    EXPECT_EQ(stream.form, client::Form::kDocument);
  }
}

}  // namespace
}  // namespace trainyard::control::testing
