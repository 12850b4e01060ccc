#include "cli/connect.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/nobodys_port.h"

namespace trainyard::cli {
namespace {

using ::testing::HasSubstr;

constexpr const char* kNobodyThere = R"(
apiVersion: v1
kind: Config
current-context: trainyard
clusters: [{{name: trainyard, cluster: {{server: "http://127.0.0.1:{}"}}}}]
contexts: [{{name: trainyard, context: {{cluster: trainyard, user: trainyard}}}}]
users: [{{name: trainyard, user: {{token: t}}}}]
)";

// As the guide has it: KUBECONFIG leads to the plane of this machine.
TEST(Connect, APlaneThatIsDownIsSaidToBe) {
  std::filesystem::path state = std::filesystem::path(testing::TempDir()) / "connect-test";
  std::filesystem::create_directories(state / "trainyard");
  std::filesystem::path kubeconfig = state / "trainyard" / "kubeconfig";
  NobodysPort port;
  std::ofstream(kubeconfig) << fmt::format(kNobodyThere, port.number());
  ::setenv("XDG_STATE_HOME", state.c_str(), 1);
  ::setenv("KUBECONFIG", kubeconfig.c_str(), 1);
  Result<std::unique_ptr<Connection>> connection = connect({});
  ::unsetenv("KUBECONFIG");
  ::unsetenv("XDG_STATE_HOME");
  std::filesystem::remove_all(state);
  ASSERT_FALSE(connection.ok());
  EXPECT_THAT(connection.error().message, HasSubstr("does not run (Connection refused)"));
  EXPECT_THAT(connection.error().message, HasSubstr("start it with 'trainyard up --detach'"));
}

}  // namespace
}  // namespace trainyard::cli
