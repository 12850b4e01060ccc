#include "dialect/shared/log_places.h"

#include <gtest/gtest.h>

namespace trainyard::dialect {
namespace {

TEST(LogPlaces, SayWhatTheyAreNot) {
  EXPECT_EQ(fileset_fault("t9k://pvc/logs/a"), "");
  EXPECT_EQ(fileset_fault("t9k://minio/key/bucket"), "");
  EXPECT_EQ(fileset_fault("s3://bucket"),
            "\"s3://bucket\" is neither t9k://pvc/<claim>/<path> nor t9k://minio/<secret>/<bucket>");
  EXPECT_EQ(log_url_fault("https://host/logs"), "");
  EXPECT_EQ(log_url_fault("host/logs"), "\"host/logs\" is not an address");
  EXPECT_EQ(log_url_fault("http://a,http://b"), "\"http://a,http://b\" is not an address");
}

}  // namespace
}  // namespace trainyard::dialect
