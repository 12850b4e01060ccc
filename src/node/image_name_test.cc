#include "node/image_name.h"

#include <gtest/gtest.h>

namespace trainyard::node {
namespace {

TEST(ImageName, IsWrittenInFull) {
  struct Case {
    const char* written;
    const char* full;
  };
  const std::string digest = "sha256:" + std::string(64, 'a');
  for (const Case& c : std::initializer_list<Case>{
           {"busybox", "docker.io/library/busybox:latest"},
           {"tensorflow/tensorflow:2.15.0-gpu", "docker.io/tensorflow/tensorflow:2.15.0-gpu"},
           {"gcr.io/kubeflow-ci/tf-mnist-with-summaries:1.0",
            "gcr.io/kubeflow-ci/tf-mnist-with-summaries:1.0"},
           {"localhost:5000/a/b", "localhost:5000/a/b:latest"},
           {"localhost/x:1", "localhost/x:1"},
           {"127.0.0.1:5000/x:1_a.b-c", "127.0.0.1:5000/x:1_a.b-c"},
           {"index.docker.io/library/redis", "docker.io/library/redis:latest"},
           {"docker.io/redis", "docker.io/library/redis:latest"},
           {"a-b/c.d__e:x", "docker.io/a-b/c.d__e:x"},
       }) {
    Result<ImageName> name = parse_image_name(c.written);
    ASSERT_TRUE(name.ok()) << c.written << ": " << name.error().message;
    EXPECT_EQ(full_name(*name), c.full);
    EXPECT_EQ(*parse_image_name(full_name(*name)), *name);
  }
  EXPECT_EQ(full_name(*parse_image_name("busybox:1.36@" + digest)), "docker.io/library/busybox@" + digest);
}

TEST(ImageName, RefusesWhatIsNone) {
  for (const char* written :
       {"", "Busybox", "a//b", "/a", "a/", "a:", "a:b c", "a@sha256:12", "a@md5:aa", "../../etc", "a/../b",
        "-a", "a:-x", "host.name/A", "a\nb", "--flag", "ho st.x/a"}) {
    Result<ImageName> name = parse_image_name(written);
    ASSERT_FALSE(name.ok()) << written;
    EXPECT_EQ(name.error().kind, ErrorKind::kInvalid);
  }
}

TEST(ImageName, KnowsRegistriesOfThisMachine) {
  EXPECT_TRUE(on_loopback(*parse_image_name("localhost:5000/a")));
  EXPECT_TRUE(on_loopback(*parse_image_name("127.0.0.1:5000/a")));
  EXPECT_TRUE(on_loopback(*parse_image_name("127.1.2.3/a")));
  EXPECT_FALSE(on_loopback(*parse_image_name("127.evil.example/a")));
  EXPECT_FALSE(on_loopback(*parse_image_name("localhost.example:5000/a")));
  EXPECT_FALSE(on_loopback(*parse_image_name("busybox")));
}

TEST(ImageName, TheSameByDigest) {
  EXPECT_EQ(name_by_digest(*parse_image_name("busybox:1.36"), "sha256:ab"),
            "docker.io/library/busybox@sha256:ab");
  EXPECT_EQ(name_by_digest(*parse_image_name("localhost:5000/a/b"), "sha256:ab"),
            "localhost:5000/a/b@sha256:ab");
}

TEST(ImageName, PolicyDefaultsByTag) {
  EXPECT_EQ(pull_policy("", *parse_image_name("a")), PullPolicy::kAlways);
  EXPECT_EQ(pull_policy("", *parse_image_name("a:latest")), PullPolicy::kAlways);
  EXPECT_EQ(pull_policy("", *parse_image_name("a:1")), PullPolicy::kIfNotPresent);
  EXPECT_EQ(pull_policy("", *parse_image_name("a@sha256:" + std::string(64, '0'))),
            PullPolicy::kIfNotPresent);
  EXPECT_EQ(pull_policy("Never", *parse_image_name("a")), PullPolicy::kNever);
  EXPECT_EQ(pull_policy("IfNotPresent", *parse_image_name("a")), PullPolicy::kIfNotPresent);
  EXPECT_EQ(pull_policy("Always", *parse_image_name("a:1")), PullPolicy::kAlways);
}

TEST(ImageName, ChoosesWhatToRunOn) {
  struct Case {
    PullPolicy policy;
    bool is_here;
    bool may_pull;
    ImageChoice choice;
  };
  for (const Case& c : std::initializer_list<Case>{
           {PullPolicy::kAlways, true, true, ImageChoice::kPull},
           {PullPolicy::kAlways, true, false, ImageChoice::kLocal},
           {PullPolicy::kAlways, false, false, ImageChoice::kHostRoot},
           {PullPolicy::kIfNotPresent, true, true, ImageChoice::kLocal},
           {PullPolicy::kIfNotPresent, false, true, ImageChoice::kPull},
           {PullPolicy::kIfNotPresent, false, false, ImageChoice::kHostRoot},
           {PullPolicy::kNever, true, true, ImageChoice::kLocal},
           {PullPolicy::kNever, false, true, ImageChoice::kHostRoot},
       }) {
    EXPECT_EQ(choose_image(c.policy, c.is_here, c.may_pull), c.choice);
  }
}

}  // namespace
}  // namespace trainyard::node
