#include "control/tensorboard_plan.h"

#include <algorithm>

#include "base/check.h"
#include "base/hash.h"
#include "kube/access.h"
#include "kube/meta.h"
#include "kube/objects.h"

namespace trainyard::control {

using kube::text_at;

namespace {

constexpr std::string_view kBoardSuffix = "-tensorboard";
constexpr size_t kBoardNameMax = 63;
// Ports of plain processes, below those that the kernel hands out by itself.
constexpr int kOwnPortMin = 16'006;
constexpr int kOwnPortCount = 3'000;

std::string replace_word(std::string text, std::string_view word, std::string_view by) {
  for (size_t at = 0; (at = text.find(word, at)) != std::string::npos; at += by.size())
    text.replace(at, word.size(), by);
  return text;
}

std::string public_url(const json::object& board, const BoardSettings& settings) {
  std::string url = replace_word(settings.url, "{namespace}", kube::namespace_of(board));
  return replace_word(std::move(url), "{name}", kube::name_of(board));
}

// The path of a URL without its last slash; "" for none.
std::string path_prefix(std::string_view url) {
  size_t host = url.find("://");
  size_t slash = host == std::string_view::npos ? url.find('/') : url.find('/', host + 3);
  if (slash == std::string_view::npos) return "";
  url.remove_prefix(slash);
  while (url.ends_with('/')) url.remove_suffix(1);
  return std::string(url);
}

std::string url_of(const json::object& board, const json::object* pod, const BoardSettings& settings) {
  if (!settings.url.empty()) return public_url(board, settings);
  int port = board_port(board, settings);
  std::string_view ip = pod != nullptr ? text_at(*pod, {"status", "podIP"}) : std::string_view();
  if (settings.pod_addresses) return ip.empty() ? "" : fmt::format("http://{}:{}/", ip, port);
  return fmt::format("http://{}.{}.svc:{}/", board_child_name(kube::name_of(board)),
                     kube::namespace_of(board), port);
}

kube::NewMeta child_meta(const json::object& board) {
  std::string name = board_child_name(kube::name_of(board));
  kube::NewMeta meta{.name = name, .ns = std::string(kube::namespace_of(board))};
  meta.labels = {{"tensorstack.dev/component", "tensorboard"}, {std::string(kBoardLabel), name}};
  meta.owner = kube::owner_reference(kube::kTensorBoards.api_version(), kube::kTensorBoards.kind,
                                     kube::name_of(board), kube::uid_of(board));
  return meta;
}

json::object render_board_service(const json::object& board, const BoardSettings& settings) {
  json::object service = kube::new_object(kube::kServices, child_meta(board));
  int port = board_port(board, settings);
  json::object selector{{kube::jview(kBoardLabel), board_child_name(kube::name_of(board))}};
  service["spec"] = json::object{
      {"selector", std::move(selector)},
      {"ports", json::array{json::object{
                    {"name", "http"}, {"port", port}, {"targetPort", port}, {"protocol", "TCP"}}}}};
  return service;
}

json::array board_args(const json::object& board, const BoardSpec& spec, const BoardSettings& settings) {
  std::string logs = "--logdir=" + spec.logs[0].location;
  if (spec.logs.size() > 1) {
    logs = "--logdir_spec=";
    for (const LogSource& source : spec.logs) {
      if (&source != &spec.logs[0]) logs += ',';
      logs += source.name + ":" + source.location;
    }
  }
  json::array args{json::value(logs)};
  args.emplace_back(settings.plain_processes ? "--host=127.0.0.1" : "--bind_all");
  args.emplace_back(fmt::format("--port={}", board_port(board, settings)));
  std::string prefix = path_prefix(public_url(board, settings));
  if (!prefix.empty()) args.emplace_back("--path_prefix=" + prefix);
  return args;
}

json::object secret_env(std::string_view name, const std::string& secret, std::string_view key,
                        bool optional) {
  json::object from{{"name", secret}, {"key", kube::jview(key)}};
  if (optional) from["optional"] = true;
  return json::object{{"name", kube::jview(name)},
                      {"valueFrom", json::object{{"secretKeyRef", std::move(from)}}}};
}

json::object board_container(const json::object& board, const BoardSpec& spec,
                             const BoardSettings& settings) {
  json::array command, mounts;
  for (const std::string& word : settings.program) command.emplace_back(word);
  for (size_t i = 0; i < spec.claims.size(); ++i) {
    mounts.push_back(json::object{
        {"name", fmt::format("logs-{}", i)}, {"mountPath", "/logs/" + spec.claims[i]}, {"readOnly", true}});
  }
  int port = board_port(board, settings);
  std::string prefix = path_prefix(public_url(board, settings));
  json::object probe{{"httpGet", json::object{{"path", prefix + "/"}, {"port", port}}},
                     {"periodSeconds", 2},
                     {"timeoutSeconds", 5}};
  json::object container{{"name", "tensorboard"},
                         {"image", spec.image},
                         {"command", std::move(command)},
                         {"args", board_args(board, spec, settings)},
                         {"ports", json::array{json::object{{"name", "http"}, {"containerPort", port}}}},
                         {"readinessProbe", std::move(probe)}};
  if (!mounts.empty()) container["volumeMounts"] = std::move(mounts);
  if (!spec.s3_secret.empty()) {
    // Old readers take the endpoint from S3_ENDPOINT, new ones from AWS_ENDPOINT_URL.
    container["env"] =
        json::array{secret_env("AWS_ACCESS_KEY_ID", spec.s3_secret, "accessKeyID", false),
                    secret_env("AWS_SECRET_ACCESS_KEY", spec.s3_secret, "secretAccessKey", false),
                    secret_env("S3_ENDPOINT", spec.s3_secret, "endpoint", true),
                    secret_env("AWS_ENDPOINT_URL", spec.s3_secret, "endpoint", true)};
  }
  if (const json::object* resources = kube::object_at(board, {"spec", "resources"}))
    container["resources"] = *resources;
  return container;
}

json::object render_board_pod(const json::object& board, const BoardSpec& spec,
                              const BoardSettings& settings) {
  kube::NewMeta meta = child_meta(board);
  json::object body{{"restartPolicy", "Always"},
                    {"terminationGracePeriodSeconds", 5},
                    {"automountServiceAccountToken", false},
                    {"containers", json::array{board_container(board, spec, settings)}}};
  json::array volumes;
  for (size_t i = 0; i < spec.claims.size(); ++i) {
    volumes.push_back(json::object{{"name", fmt::format("logs-{}", i)},
                                   {"persistentVolumeClaim", json::object{{"claimName", spec.claims[i]}}}});
  }
  if (!volumes.empty()) body["volumes"] = std::move(volumes);
  if (!spec.queue.empty()) {
    body["schedulerName"] = "t9k-scheduler";
    meta.labels.emplace_back("scheduler.tensorstack.dev/queue", spec.queue);
  }
  json::object pod = kube::new_object(kube::kPods, meta);
  std::string digest = fmt::format("{:016x}", fnv1a(json::serialize(body), fnv1a(spec.queue)));
  kube::ensure_object(pod, {"metadata", "annotations"})[kube::jview(dialect::kDigestAnnotation)] = digest;
  pod["spec"] = std::move(body);
  return pod;
}

const json::object* pod_condition(const json::object& pod, std::string_view type) {
  const json::array* conditions = kube::array_at(pod, {"status", "conditions"});
  for (size_t i = 0; conditions != nullptr && i < conditions->size(); ++i) {
    const json::object* one = (*conditions)[i].if_object();
    if (one != nullptr && text_at(*one, {"type"}) == type) return one;
  }
  return nullptr;
}

bool pod_is_ready(const json::object& pod) {
  const json::object* ready = pod_condition(pod, "Ready");
  return ready != nullptr && text_at(*ready, {"status"}) == "True" && !kube::is_deleting(pod);
}

// Why a pod is not ready, for people.
std::string why_pod_waits(const json::object* pod) {
  if (pod == nullptr) return "the pod is being created";
  if (kube::is_deleting(*pod)) return "the pod is being replaced";
  std::string_view phase = text_at(*pod, {"status", "phase"});
  if (phase == "Failed" || phase == "Succeeded") {
    return fmt::format("the pod has ended: {} {}", text_at(*pod, {"status", "reason"}),
                       text_at(*pod, {"status", "message"}));
  }
  const json::object* scheduled = pod_condition(*pod, "PodScheduled");
  if (scheduled != nullptr && text_at(*scheduled, {"status"}) == "False")
    return fmt::format("the pod waits: {}", text_at(*scheduled, {"message"}));
  const json::array* containers = kube::array_at(*pod, {"status", "containerStatuses"});
  for (size_t i = 0; containers != nullptr && i < containers->size(); ++i) {
    const json::object* one = (*containers)[i].if_object();
    const json::object* waits = one != nullptr ? kube::object_at(*one, {"state", "waiting"}) : nullptr;
    std::string_view reason = waits != nullptr ? text_at(*waits, {"reason"}) : std::string_view();
    if (reason.empty() || reason == "ContainerCreating" || reason == "PodInitializing") continue;
    return fmt::format("the container waits: {}", reason);
  }
  return "the pod is starting";
}

// How it is doing, before it is written down.
struct BoardState {
  std::string_view phase;
  bool ready = false;
  std::string message;
};

BoardState board_state_of(const BoardSeen& seen, const Result<BoardSpec>& spec) {
  if (!spec.ok()) return {"Initializing", false, spec.error().message};
  if (spec->suspended) {
    return {"Paused", false, seen.pod == nullptr ? "TensorBoard is suspended" : "the pod is being stopped"};
  }
  if (!seen.refused.empty()) return {"Initializing", false, std::string(seen.refused)};
  if (seen.pod != nullptr && pod_is_ready(*seen.pod)) return {"Running", true, "TensorBoard is ready"};
  return {"Initializing", false, why_pod_waits(seen.pod)};
}

// Conditions with Ready as it is now; the time of a change is kept while nothing changes.
json::array with_ready(const json::object& status, const BoardState& state, Time now) {
  json::array out;
  json::object ready{{"type", "Ready"},
                     {"status", state.ready ? "True" : "False"},
                     {"message", state.message},
                     {"lastTransitionTime", format_rfc3339(now)},
                     {"lastProbeTime", format_rfc3339(now)}};
  const json::array* before = kube::array_at(status, {"conditions"});
  for (size_t i = 0; before != nullptr && i < before->size(); ++i) {
    const json::object* one = (*before)[i].if_object();
    if (one == nullptr || text_at(*one, {"type"}) != "Ready") {
      out.push_back((*before)[i]);
      continue;
    }
    bool same = text_at(*one, {"status"}) == kube::view(ready.at("status").get_string());
    if (!same) continue;
    for (std::string_view key : {"lastTransitionTime", "lastProbeTime"}) {
      std::string_view time = text_at(*one, {key});
      if (!time.empty()) ready[kube::jview(key)] = kube::jview(time);
    }
  }
  out.push_back(std::move(ready));
  return out;
}

// The words that were last written about it.
std::string_view message_before(const json::object& status) {
  const json::array* conditions = kube::array_at(status, {"conditions"});
  for (size_t i = 0; conditions != nullptr && i < conditions->size(); ++i) {
    const json::object* one = (*conditions)[i].if_object();
    if (one != nullptr && text_at(*one, {"type"}) == "Ready") return text_at(*one, {"message"});
  }
  return "";
}

std::optional<WriteBoardStatus> plan_status(const BoardSeen& seen, const Result<BoardSpec>& spec,
                                            const BoardSettings& settings, Time now) {
  const json::object* before = kube::object_at(*seen.board, {"status"});
  json::object status = before != nullptr ? *before : json::object();
  BoardState state = board_state_of(seen, spec);
  std::string_view message = message_before(status);
  WriteBoardStatus write;
  if (!spec.ok() && message != state.message) write.notes.push_back({true, "InvalidSpec", state.message});
  std::string url = spec.ok() && !spec->suspended ? url_of(*seen.board, seen.pod, settings) : "";
  if (state.ready && text_at(status, {"phase"}) != state.phase)
    write.notes.push_back({false, "Ready", fmt::format("TensorBoard is ready at {}", url)});
  json::array conditions = with_ready(status, state, now);
  status["phase"] = kube::jview(state.phase);
  status["conditions"] = std::move(conditions);
  status["url"] = url;
  if (url.empty()) status.erase("url");
  status.erase("pod");
  if (seen.pod != nullptr) {
    json::object reference{{"name", kube::jview(kube::name_of(*seen.pod))},
                           {"uid", kube::jview(kube::uid_of(*seen.pod))}};
    status["pod"] = json::object{{"reference", std::move(reference)},
                                 {"phase", kube::jview(text_at(*seen.pod, {"status", "phase"}))}};
  }
  if (before != nullptr && *before == status) return std::nullopt;
  write.status = std::move(status);
  return write;
}

// Deletes a pod that must go or makes the one that is missing.
void plan_pod(const BoardSeen& seen, const BoardSpec& spec, const BoardSettings& settings, Time now,
              BoardPlan& plan) {
  if (seen.pod == nullptr) {
    if (!spec.suspended) plan.steps.push_back(CreateBoardPod{render_board_pod(*seen.board, spec, settings)});
    return;
  }
  if (kube::is_deleting(*seen.pod)) return;
  json::object wanted = render_board_pod(*seen.board, spec, settings);
  std::string_view phase = text_at(*seen.pod, {"status", "phase"});
  bool ended = phase == "Failed" || phase == "Succeeded";
  bool outdated = kube::annotation_of(*seen.pod, dialect::kDigestAnnotation) !=
                  kube::annotation_of(wanted, dialect::kDigestAnnotation);
  if (ended && !outdated && !spec.suspended) {
    Time again = kube::creation_time_of(*seen.pod).value_or(Time{}) + kBoardAgain;
    if (again > now) {
      plan.wake = again;
      return;
    }
  }
  if (!ended && !outdated && !spec.suspended) return;
  plan.steps.push_back(
      DeleteBoardPod{std::string(kube::name_of(*seen.pod)), std::string(kube::uid_of(*seen.pod))});
}

}  // namespace

std::string board_child_name(std::string_view board) {
  std::string name = fmt::format("{}{}", board, kBoardSuffix);
  bool label = name.size() <= kBoardNameMax && name.find('.') == std::string::npos;
  if (label) return name;
  constexpr size_t kDigestLength = 9;  // "-" and 8 digits
  std::string head(board.substr(0, kBoardNameMax - kBoardSuffix.size() - kDigestLength));
  std::replace(head.begin(), head.end(), '.', '-');
  return fmt::format("{}-{:08x}{}", head, static_cast<uint32_t>(fnv1a(board)), kBoardSuffix);
}

int board_port(const json::object& board, const BoardSettings& settings) {
  if (!settings.plain_processes) return kBoardPort;
  return kOwnPortMin + static_cast<int>(fnv1a(kube::uid_of(board)) % kOwnPortCount);
}

BoardPlan plan_board(const BoardSeen& seen, const BoardSettings& settings, Time now) {
  CHECK(seen.board != nullptr);
  BoardPlan plan;
  if (kube::is_deleting(*seen.board)) return plan;
  Result<BoardSpec> spec = read_board(*seen.board, settings);
  if (spec.ok()) {
    if (seen.service == nullptr)
      plan.steps.push_back(CreateBoardService{render_board_service(*seen.board, settings)});
    plan_pod(seen, *spec, settings, now, plan);
  }
  if (auto status = plan_status(seen, spec, settings, now)) plan.steps.push_back(std::move(*status));
  return plan;
}

}  // namespace trainyard::control
