#include "cli/run_logs.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

namespace trainyard::cli {
namespace {

// Runs of one container, by number; what is asked for must be there.
class KeptRuns final : public server::PodAccess {
 public:
  Result<std::unique_ptr<server::LogReader>> logs(const server::PodRef&,
                                                  const server::LogQuery& query) override {
    auto found = runs.find(query.attempt.value_or(-1));
    if (found == runs.end()) return Error{ErrorKind::kNotFound, "no such run"};
    struct Reader final : server::LogReader {
      std::string text;
      bool endless = false;
      Result<bool> read(std::string& out) override {
        out += text;
        return endless;
      }
    };
    auto reader = std::make_unique<Reader>();
    reader->text = found->second;
    reader->endless = endless;
    return std::unique_ptr<server::LogReader>(std::move(reader));
  }
  Result<std::unique_ptr<server::ExecSession>> exec(const server::PodRef&,
                                                    const server::ExecQuery&) override {
    return Error{ErrorKind::kNotFound, "nothing runs"};
  }
  Result<Fd> connect(const server::PodRef&, int) override {
    return Error{ErrorKind::kNotFound, "nothing runs"};
  }
  std::vector<server::ContainerUsage> usage(const std::string&) override { return {}; }
  server::Usage node_usage() override { return {}; }

  std::map<int, std::string> runs;
  bool endless = false;  // each gives its text for ever
};

json::object pod_with(std::string_view container_status) {
  return json::parse(R"({"metadata": {"name": "p", "namespace": "d", "uid": "u"},
                                  "spec": {"containers": [{"name": "tensorflow"}]},
                                  "status": {"containerStatuses": [)" +
                     std::string(container_status) + "]}}")
      .get_object();
}

constexpr std::string_view kFirstRuns =
    R"({"name": "tensorflow", "restartCount": 0, "state": {"running": {}}})";
constexpr std::string_view kFirstEnded =
    R"({"name": "tensorflow", "restartCount": 0, "state": {"waiting": {}}, "lastState": {"terminated": {}}})";
constexpr std::string_view kSecondRuns =
    R"({"name": "tensorflow", "restartCount": 1, "state": {"running": {}}, "lastState": {"terminated": {}}})";

class RunLogsTest : public testing::Test {
 protected:
  void see(std::string_view status) {
    logs.follow(pod_with(status), "worker-0");
    logs.read();
  }

  KeptRuns access;
  std::vector<std::string> told;
  RunLogs logs{access, [this](const std::string& replica, std::string_view text) {
                 told.push_back(replica + ": " + std::string(text));
               }};
};

TEST_F(RunLogsTest, EveryRunIsToldOnceHoweverOftenItIsSeen) {
  access.runs = {{0, "first\n"}};
  see(kFirstRuns);
  see(kFirstRuns);
  see(kFirstEnded);
  access.runs[1] = "second\n";
  see(kFirstEnded);
  see(kSecondRuns);
  see(kSecondRuns);
  EXPECT_EQ(told, (std::vector<std::string>{"worker-0: first", "worker-0: second"}));
}

TEST_F(RunLogsTest, ARunWhoseLogIsNotThereYetIsToldLaterAndNotTheOneBeforeItAgain) {
  access.runs = {{0, "first\n"}};
  see(kFirstRuns);
  see(kSecondRuns);
  EXPECT_EQ(told, std::vector<std::string>{"worker-0: first"});
  access.runs[1] = "second\n";
  see(kSecondRuns);
  EXPECT_EQ(told, (std::vector<std::string>{"worker-0: first", "worker-0: second"}));
}

TEST_F(RunLogsTest, OneThatPrintsWithoutEndHoldsNobodyUp) {
  access.endless = true;
  access.runs = {{0, std::string(1'000, 'y') + "\n"}};
  logs.follow(pod_with(kFirstRuns), "worker-0");
  EXPECT_TRUE(logs.read());
  EXPECT_LE(told.size(), kRunLogBytesMax / 1'000 + 1);
  EXPECT_FALSE(logs.idle());
}

TEST_F(RunLogsTest, RunsNeverSeenAreFoundOnDiskAtTheEnd) {
  access.runs = {{0, "first\n"}, {1, "second\n"}, {2, "third, no end of line"}};
  see(kSecondRuns);
  std::string folder = testing::TempDir() + "run-logs-XXXXXX";
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  node::LogFolder kept(folder);
  for (int attempt : {0, 1, 2}) {
    std::filesystem::path file = kept.file("d", "p", "u", "tensorflow", attempt);
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << "";
  }
  logs.catch_up(pod_with(kSecondRuns), "worker-0", kept);
  logs.read();
  EXPECT_EQ(told, (std::vector<std::string>{"worker-0: first", "worker-0: second",
                                            "worker-0: third, no end of line"}));
  EXPECT_TRUE(logs.idle());
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace trainyard::cli
