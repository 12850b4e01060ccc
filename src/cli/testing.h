// What the tests of this room share.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "kube/json.h"
#include "kube/yaml.h"

namespace trainyard::cli {

// What a command left behind.
struct Ran {
  int status = 0;
  std::string out;
  std::string err;
};

inline json::object parsed(std::string_view yaml) {
  Result<std::vector<kube::Document>> documents = kube::parse_yaml(yaml);
  EXPECT_TRUE(documents.ok()) << (documents.ok() ? "" : documents.error().message);
  return documents->front().body.get_object();
}

}  // namespace trainyard::cli
