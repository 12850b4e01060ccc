#include "node/relocate.h"

#include <gtest/gtest.h>

namespace trainyard::node {
namespace {

TEST(Relocate, FindsPathsAndOnlyPaths) {
  std::vector<Mount> mounts(4);
  mounts[0].source = "/here/volume";
  mounts[0].target = "/data";
  mounts[1].source = "/here/inner";
  mounts[1].target = "/data/inner";
  mounts[2].memory = true;
  mounts[2].source = "/here/shm";
  mounts[2].target = "/dev/shm";
  mounts[3].memory = true;
  mounts[3].source = "/here/cache";
  mounts[3].target = "/cache";
  struct Case {
    std::string_view text;
    std::string_view wanted;
  };
  for (const Case& c : {
           Case{"/data", "/here/volume"},
           Case{"/data/x.py", "/here/volume/x.py"},
           Case{"--dir=/data/x", "--dir=/here/volume/x"},
           Case{"a:/data:/data/inner/b", "a:/here/volume:/here/inner/b"},
           Case{"cat /data/a > '/data/b'", "cat /here/volume/a > '/here/volume/b'"},
           Case{"/database /mnt/data x/data", "/database /mnt/data x/data"},
           Case{"/data/inners", "/here/volume/inners"},
           Case{"/dev/shm/x", "/dev/shm/x"},
           Case{"/cache/x", "/here/cache/x"},
           Case{"", ""},
       }) {
    EXPECT_EQ(relocated(c.text, mounts), c.wanted) << c.text;
  }
}

}  // namespace
}  // namespace trainyard::node
