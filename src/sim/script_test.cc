#include "sim/script.h"

#include <gtest/gtest.h>

#include <set>

namespace trainyard::sim {
namespace {

TEST(Script, IsReadLineByLine) {
  const Script script =
      parse_script("tfjob train worker=2\n20 exit worker-0 137\n50 apply tfjob train worker=3\n60 delete\n");
  EXPECT_EQ(to_string(script.job), "tfjob train worker=2");
  const std::vector<ScriptLine> expected{{seconds(20), "exit", "worker-0 137"},
                                         {seconds(50), "apply", "tfjob train worker=3"},
                                         {seconds(60), "delete", ""}};
  EXPECT_EQ(script.lines, expected);
}

TEST(Script, MayBeginWithAYard) {
  const Script script = parse_script("yard 2 10\nvolcano train worker=2\n5 cordon node-1\n");
  EXPECT_EQ(script.yard, (std::vector<int>{2, 10}));
  EXPECT_EQ(to_string(script.job), "volcano train worker=2");
  EXPECT_EQ(script.lines, (std::vector<ScriptLine>{{seconds(5), "cordon", "node-1"}}));
}

TEST(Script, ScenariosCoverEveryDialectAndHaveNamesOfTheirOwn) {
  std::set<std::string_view> names;
  std::set<Kind> kinds;
  for (const Scenario& scenario : scenarios()) {
    names.insert(scenario.name);
    kinds.insert(parse_script(scenario.text).job.kind);
  }
  EXPECT_EQ(names.size(), scenarios().size());
  EXPECT_GE(names.size(), 15u);
  EXPECT_EQ(kinds.size(), 3u);
}

}  // namespace
}  // namespace trainyard::sim
