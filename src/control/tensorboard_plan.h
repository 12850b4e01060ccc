// What is to be done for one TensorBoard object: its logs become volumes and a command
// line, it gets a pod and a service, its status tells how the pod is doing. Pure: equal
// inputs give equal plans, an unchanged world gives no steps.
//
// Children are called after the object, carry kBoardLabel and are owned by it, so they go
// when it goes. A pod that no longer is what the spec asks for is deleted first and made
// again once it is gone. A suspended TensorBoard keeps its service and loses its pod.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "dialect/shared/dialect.h"
#include "kube/json.h"

namespace trainyard::control {

inline constexpr int kBoardPort = 6006;
inline constexpr std::string_view kBoardLabel = "trainyard.dev/tensorboard";  // value: the children's name
inline constexpr Duration kBoardAgain{10'000};  // a pod that failed is replaced no sooner after its birth

// What whoever runs the controller sets once, for all TensorBoards.
struct BoardSettings {
  std::vector<std::string> program = {"tensorboard"};
  std::string image = "tensorflow/tensorflow:2.15.0";  // of those that name none
  // Where people find one: "https://host/boards/{namespace}/{name}/"; it is served below
  // that path. "" for the name of the service.
  std::string url;
  // People are on the machine of the pods and reach them by their addresses.
  bool pod_addresses = false;
  // Pods are plain processes of this machine: loopback only, and each with a port of its own.
  bool plain_processes = false;

  bool operator==(const BoardSettings&) const = default;
};

// Where logs are, as the program is told.
struct LogSource {
  std::string name;      // what its runs are called when there are several sources
  std::string location;  // a path in the container, or s3:// and the like
  bool operator==(const LogSource&) const = default;
};

// spec of a TensorBoard, decoded.
struct BoardSpec {
  std::string image;
  std::vector<LogSource> logs;      // in the order of the manifest, once each
  std::vector<std::string> claims;  // mounted at /logs/<claim>; in that order too
  std::string s3_secret;            // "" for none
  std::string queue;                // of the T9k scheduler, "" for the cluster's own scheduler
  bool suspended = false;
  bool operator==(const BoardSpec&) const = default;
};
// The error says which field is wrong.
Result<BoardSpec> read_board(const json::object& board, const BoardSettings& settings);

struct CreateBoardService {
  json::object body;
  bool operator==(const CreateBoardService&) const = default;
};
struct CreateBoardPod {
  json::object body;
  bool operator==(const CreateBoardPod&) const = default;
};
struct DeleteBoardPod {
  std::string name;
  std::string uid;
  bool operator==(const DeleteBoardPod&) const = default;
};
// `notes` are told once it is written.
struct WriteBoardStatus {
  json::object status;
  std::vector<dialect::EventText> notes;
  bool operator==(const WriteBoardStatus&) const = default;
};
using BoardStep = std::variant<DeleteBoardPod, CreateBoardService, CreateBoardPod, WriteBoardStatus>;

struct BoardPlan {
  std::vector<BoardStep> steps;  // any prefix is safe
  std::optional<Time> wake;
  bool operator==(const BoardPlan&) const = default;
};

// Children are null when they are not there; those of others are not to be given.
struct BoardSeen {
  const json::object* board = nullptr;
  const json::object* pod = nullptr;
  const json::object* service = nullptr;
  std::string_view refused = {};  // why one that is not there could not be made
};
BoardPlan plan_board(const BoardSeen& seen, const BoardSettings& settings, Time now);

// The name of its pod and its service: at most 63 characters, its own for each object.
std::string board_child_name(std::string_view board);
// The port that it listens at.
int board_port(const json::object& board, const BoardSettings& settings);

}  // namespace trainyard::control
