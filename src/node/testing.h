// For tests of this room: temporary folders, waiting with a deadline, plans in one line.
#pragma once

#include <gtest/gtest.h>
#include <poll.h>
#include <stdlib.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <vector>

#include "client/client.h"
#include "kube/access.h"
#include "node/process_runtime.h"
#include "node/runtime.h"

namespace trainyard::node::testing {

inline constexpr int kPatienceMs = 20'000;

class TempFolder {
 public:
  TempFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "trainyard-node-XXXXXX").native();
    CHECK(::mkdtemp(name.data()) != nullptr);
    path_ = name;
  }
  ~TempFolder() {
    std::error_code error;
    std::filesystem::remove_all(path_, error);
  }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

// The OCI runtime that sandboxes of tests are made with; "" for the one that suits the machine.
inline std::string wanted_oci_runtime() {
  const char* name = std::getenv("TRAINYARD_TEST_OCI_RUNTIME");
  return name == nullptr ? "" : name;
}

inline std::string text_of(const std::filesystem::path& file) {
  // A process that ends while its file is read makes that an error: then it is as far as it came.
  std::ostringstream out;
  out << std::ifstream(file).rdbuf();
  return out.str();
}

inline json::object parse(std::string_view text) { return json::parse(kube::jview(text)).as_object(); }
inline client::Object object(std::string_view text) {
  return std::make_shared<const json::object>(parse(text));
}

// Whether it came true in time; looked at again whenever `fd` is readable, and now and then.
inline bool eventually(const std::function<bool()>& is_true, int fd = -1) {
  auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(kPatienceMs);
  while (!is_true()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    pollfd wait{fd, POLLIN, 0};
    ::poll(&wait, 1, 5);
  }
  return true;
}

inline ProcessRuntimeOptions process_options(const std::filesystem::path& data) {
  return {data, {TRAINYARD_TEST_SHIM}, {{"PATH", "/usr/bin:/bin"}}};
}

inline ContainerPlan shell(const std::filesystem::path& data, const ContainerId& id, std::string script) {
  ContainerPlan plan;
  plan.id = id;
  plan.argv = {"/bin/sh", "-c", std::move(script)};
  plan.log_file = data / "logs" / id.pod_uid / id.container / (std::to_string(id.attempt) + ".log");
  return plan;
}

}  // namespace trainyard::node::testing
