#include "node/checks.h"

#include <gtest/gtest.h>

#include "node/process_runtime.h"
#include "node/testing.h"
#include "transport/testing.h"

namespace trainyard::node {
namespace {

// "ok", or why not.
std::string verdict(CheckKind kind, const std::string& scheme, const std::string& reply, bool tls) {
  testing::TempFolder folder;
  ProcessRuntime runtime(testing::process_options(folder.path()));
  transport::Answering server(reply, tls);
  Checks checks;
  RunCheck check{"a", 0, kind,
                 json::object{{"httpGet", json::object{{"port", server.port}, {"scheme", scheme}}}},
                 Duration{testing::kPatienceMs}};
  checks.begin({"uid", "a", 0}, check, json::object{{"name", "a"}}, runtime, Time{0});
  for (;;) {
    std::vector<pollfd> fds;
    checks.add_to(fds);
    if (!fds.empty() && ::poll(fds.data(), fds.size(), testing::kPatienceMs) == 0) return "never";
    std::vector<CheckResult> ended = checks.poll(Time{0});
    if (!ended.empty()) return ended[0].ok ? "ok" : ended[0].words;
  }
}

TEST(Checks, WhatAPortAnswers) {
  const std::string good = "HTTP/1.1 204 No Content\r\n\r\n";
  const std::string bad = "HTTP/1.1 503 Busy\r\n\r\n";
  struct Row {
    CheckKind kind;
    std::string scheme, reply;
    bool tls;
    std::string expected;
  };
  const Row rows[] = {
      {CheckKind::kReadiness, "HTTP", good, false, "ok"},
      {CheckKind::kReadiness, "HTTP", bad, false, "HTTP probe failed with statuscode: 503"},
      {CheckKind::kReadiness, "HTTP", "", false, "EOF"},
      {CheckKind::kReadiness, "HTTPS", good, true, "ok"},
      {CheckKind::kLiveness, "HTTPS", bad, true, "HTTP probe failed with statuscode: 503"},
      {CheckKind::kReadiness, "HTTPS", "", true, "EOF"},
      {CheckKind::kReadiness, "HTTPS", good, false, "wrong version number"},
      // A hook is to tell, not to ask.
      {CheckKind::kPostStart, "HTTP", bad, false, "ok"},
      {CheckKind::kPreStop, "HTTPS", bad, true, "ok"},
      {CheckKind::kPostStart, "HTTP", "SSH-2.0\r\n", false, "HTTP probe failed with statuscode: 0"},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(verdict(row.kind, row.scheme, row.reply, row.tls), row.expected)
        << name_of(row.kind) << " " << row.scheme << " " << row.reply;
  }
}

}  // namespace
}  // namespace trainyard::node
