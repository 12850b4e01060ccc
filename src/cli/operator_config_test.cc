#include "cli/operator_config.h"

#include <gtest/gtest.h>

namespace trainyard::cli {
namespace {

const std::vector<std::string_view> kKnown = {"namespace", "workers", "leader-elect", "cluster-domain"};

TEST(OperatorConfig, FlagsAsYaml) {
  Result<std::vector<ConfigEntry>> read = read_operator_config("c.yaml",
                                                               "# ours\n"
                                                               "namespace: [a, b]\n"
                                                               "workers: 4\n"
                                                               "leader-elect: no\n"
                                                               "cluster-domain: cluster.local\n",
                                                               kKnown);
  ASSERT_TRUE(read.ok()) << read.error().message;
  std::vector<ConfigEntry> want = {{"namespace", {"a", "b"}, 2},
                                   {"workers", {"4"}, 3},
                                   {"leader-elect", {"false"}, 4},
                                   {"cluster-domain", {"cluster.local"}, 5}};
  EXPECT_EQ(*read, want);
}

TEST(OperatorConfig, WhatIsWrongNamesItsLine) {
  struct Row {
    std::string text;
    std::string message;
  };
  for (const Row& row : std::vector<Row>{
           {"workers: 4\nnamespaces: a\n", "c.yaml:2: unknown name 'namespaces'; did you mean 'namespace'?"},
           {"color: red\n", "c.yaml:1: unknown name 'color'"},
           {"\nworkers: {a: 1}\n", "c.yaml:2: 'workers' takes a text, a number, true or false, or a list"},
           {"- workers\n", "c.yaml:1: not a map of names to values"},
           {"workers: 1\n---\nworkers: 2\n", "c.yaml:3: a second document"},
       }) {
    Result<std::vector<ConfigEntry>> read = read_operator_config("c.yaml", row.text, kKnown);
    ASSERT_FALSE(read.ok()) << row.text;
    EXPECT_EQ(read.error().message, row.message);
  }
  EXPECT_TRUE(read_operator_config("c.yaml", "", kKnown)->empty());
}

}  // namespace
}  // namespace trainyard::cli
