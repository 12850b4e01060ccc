#include "node/shim_plan.h"

#include "kube/access.h"
#include "kube/json.h"
#include "kube/texts.h"
#include "kube/utf8.h"

namespace trainyard::node {

namespace {

Result<json::object> read_object(std::string_view text, std::string_view what) {
  boost::system::error_code error;
  json::value value = json::parse(kube::jview(text), error);
  if (error || !value.is_object()) {
    return Error{ErrorKind::kInvalid, fmt::format("{}: not a JSON object", what)};
  }
  return std::move(value.get_object());
}

Time time_at(const json::object& from, std::string_view key) {
  return Time{kube::int_at(from, {key}).value_or(0)};
}

}  // namespace

std::string to_text(const ShimPlan& plan) {
  json::array env;
  for (const auto& [name, value] : plan.env) env.push_back(json::array{name, value});
  json::object out{{"argv", kube::to_array(plan.argv)},
                   {"env", std::move(env)},
                   {"cwd", plan.cwd},
                   {"containerPidFile", plan.container_pid_file},
                   {"afterArgv", kube::to_array(plan.after_argv)},
                   {"cgroupProcs", kube::to_array(plan.cgroup_procs)},
                   {"logFile", plan.log_file},
                   {"logBytesMax", plan.log_bytes_max},
                   {"logFilesMax", plan.log_files_max},
                   {"tty", plan.tty},
                   {"consoleSocket", plan.console_socket},
                   {"stdinOpen", plan.stdin_open},
                   {"stdinOnce", plan.stdin_once}};
  if (plan.uid) out["uid"] = *plan.uid;
  if (plan.gid) out["gid"] = *plan.gid;
  return json::serialize(out);
}

std::string to_text(const ShimState& state) {
  return json::serialize(json::object{{"shimPid", state.shim_pid},
                                      {"pid", state.pid},
                                      {"pidStartTicks", state.pid_start_ticks},
                                      {"startedMs", state.started.ms}});
}

std::string to_text(const ShimExit& exit) {
  return json::serialize(json::object{{"startedMs", exit.started.ms},
                                      {"finishedMs", exit.finished.ms},
                                      {"exitCode", exit.exit_code},
                                      {"signal", exit.signal},
                                      {"message", kube::as_utf8(exit.message)}});
}

Result<ShimPlan> read_shim_plan(std::string_view text) {
  Result<json::object> read = read_object(text, "a shim's plan");
  if (!read.ok()) return read.error();
  const json::object& from = *read;
  ShimPlan plan;
  plan.argv = kube::texts_at(from, {"argv"});
  if (plan.argv.empty()) return Error{ErrorKind::kInvalid, "a shim's plan: no argv"};
  if (const json::array* env = kube::array_at(from, {"env"})) {
    for (const json::value& entry : *env) {
      const json::array* pair = entry.if_array();
      if (pair == nullptr || pair->size() != 2 || !(*pair)[0].is_string() || !(*pair)[1].is_string())
        continue;
      plan.env.emplace_back(kube::view((*pair)[0].get_string()), kube::view((*pair)[1].get_string()));
    }
  }
  plan.cwd = kube::text_at(from, {"cwd"});
  plan.uid = kube::int_at(from, {"uid"});
  plan.gid = kube::int_at(from, {"gid"});
  plan.container_pid_file = kube::text_at(from, {"containerPidFile"});
  plan.after_argv = kube::texts_at(from, {"afterArgv"});
  plan.cgroup_procs = kube::texts_at(from, {"cgroupProcs"});
  plan.log_file = kube::text_at(from, {"logFile"});
  plan.log_bytes_max = kube::int_at(from, {"logBytesMax"}).value_or(kLogBytesMax);
  plan.log_files_max = static_cast<int>(kube::int_at(from, {"logFilesMax"}).value_or(kLogFilesMax));
  plan.tty = kube::bool_at(from, {"tty"}).value_or(false);
  plan.console_socket = kube::text_at(from, {"consoleSocket"});
  plan.stdin_open = kube::bool_at(from, {"stdinOpen"}).value_or(false);
  plan.stdin_once = kube::bool_at(from, {"stdinOnce"}).value_or(false);
  return plan;
}

Result<ShimState> read_shim_state(std::string_view text) {
  Result<json::object> from = read_object(text, "a shim's state");
  if (!from.ok()) return from.error();
  ShimState state;
  state.shim_pid = kube::int_at(*from, {"shimPid"}).value_or(0);
  state.pid = kube::int_at(*from, {"pid"}).value_or(0);
  state.pid_start_ticks = kube::int_at(*from, {"pidStartTicks"}).value_or(0);
  state.started = time_at(*from, "startedMs");
  if (state.pid <= 1) return Error{ErrorKind::kInvalid, "a shim's state: no pid"};
  return state;
}

Result<ShimExit> read_shim_exit(std::string_view text) {
  Result<json::object> from = read_object(text, "a shim's exit record");
  if (!from.ok()) return from.error();
  ShimExit exit;
  exit.started = time_at(*from, "startedMs");
  exit.finished = time_at(*from, "finishedMs");
  exit.exit_code = static_cast<int>(kube::int_at(*from, {"exitCode"}).value_or(0));
  exit.signal = static_cast<int>(kube::int_at(*from, {"signal"}).value_or(0));
  exit.message = kube::text_at(*from, {"message"});
  return exit;
}

}  // namespace trainyard::node
