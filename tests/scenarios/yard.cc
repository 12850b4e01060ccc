#include "yard.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <charconv>

#include "control/observe.h"
#include "dialect/shared/gang.h"
#include "dialect/t9k/t9k.h"
#include "dialect/tfjob/tfjob.h"
#include "dialect/volcano/volcano.h"
#include "engine/engine.h"
#include "kube/access.h"
#include "kube/objects.h"
#include "kube/yaml.h"
#include "words.h"

namespace trainyard::scenarios {
namespace {

constexpr std::string_view kNs = "ns";
constexpr int kTurnsMax = 50'000;

int64_t revision_in(std::string_view text) {
  int64_t revision = 0;
  std::from_chars(text.data(), text.data() + text.size(), revision);
  return revision;
}

kube::Resource resource_of_kind(const json::object& document, const std::vector<dialect::Dialect>& dialects) {
  if (const dialect::Dialect* found = dialect::find_dialect(dialects, document)) return found->resource;
  std::string_view kind = kube::text_at(document, {"kind"});
  for (const kube::Resource& known : {kube::kPods, kube::kServices, kube::kPersistentVolumeClaims,
                                      kube::kVolcanoPodGroups, kube::kConfigMaps}) {
    if (known.kind == kind) return known;
  }
  ADD_FAILURE() << "no resource for " << kind;
  return kube::kPods;
}

std::string first_container(const json::object& pod) {
  const json::array* containers = kube::array_at(pod, {"spec", "containers"});
  return std::string(kube::text_at(containers->front().get_object(), {"name"}));
}

json::object container_status(const json::object& pod, json::object state, int restarts, bool ready) {
  json::object status;
  status["name"] = first_container(pod);
  status["state"] = std::move(state);
  status["restartCount"] = restarts;
  status["ready"] = ready;
  return status;
}

json::object terminated(int code, Time at) {
  std::string time = format_rfc3339(at);
  return {{"terminated",
           {{"exitCode", code}, {"reason", code == 0 ? "Completed" : "Error"}, {"finishedAt", time}}}};
}

json::object condition_entry(std::string_view type, bool is_true, std::string_view reason = "") {
  json::object entry{{"type", kube::jview(type)}, {"status", is_true ? "True" : "False"}};
  if (!reason.empty()) entry["reason"] = kube::jview(reason);
  return entry;
}

// The pod's status after the word, as a kubelet or a controller would write it.
json::object status_after(const json::object& pod, const std::vector<std::string>& words, Time now) {
  const std::string& word = words.front();
  int number = words.size() > 1 ? std::atoi(words[1].c_str()) : 0;
  json::object status;
  json::array containers;
  json::array conditions;
  if (word == "Pending") {
    status["phase"] = "Pending";
    if (words.size() > 1) {
      containers.push_back(container_status(pod, {{"waiting", {{"reason", words[1]}}}}, 0, false));
    }
  } else if (word == "Running" || word == "Ready" || word == "Restarted") {
    status["phase"] = "Running";
    containers.push_back(container_status(pod, {{"running", {{"startedAt", format_rfc3339(now)}}}},
                                          word == "Restarted" ? number : 0, true));
    conditions.push_back(condition_entry("Ready", true));
  } else if (word == "Succeeded") {
    status["phase"] = "Succeeded";
    containers.push_back(container_status(pod, terminated(0, now), 0, false));
  } else if (word == "Failed" || word == "dies") {
    status["phase"] = word == "dies" && number == 0 ? "Succeeded" : "Failed";
    if (words.size() > 1) containers.push_back(container_status(pod, terminated(number, now), 0, false));
  } else if (word == "Unknown") {
    status["phase"] = "Unknown";
    status["reason"] = "NodeLost";
  } else if (word == "Evicted" || word == "NodeLost") {
    status["phase"] = "Failed";
    status["reason"] = word;
  } else if (word == "Preempted") {
    status["phase"] = "Failed";
    containers.push_back(container_status(pod, terminated(143, now), 0, false));
    conditions.push_back(condition_entry("DisruptionTarget", true, "PreemptionByScheduler"));
  } else {
    ADD_FAILURE() << "nothing is known of '" << word << "'";
  }
  if (!containers.empty()) status["containerStatuses"] = std::move(containers);
  if (!conditions.empty()) status["conditions"] = std::move(conditions);
  return status;
}

std::string shown_pod(const json::object& pod) {
  kube::Pod seen = kube::decode_pod(pod);
  std::string text(kube::name_of(seen.phase));
  if (seen.phase == kube::PodPhase::kFailed) {
    bool has_code = !seen.containers.empty() && seen.containers.front().terminated;
    text += fmt::format(
        "({})", has_code ? std::to_string(seen.containers.front().terminated->exit_code) : seen.reason);
  }
  std::string_view attempt = kube::annotation_of(pod, dialect::kAttemptAnnotation);
  if (!attempt.empty()) text += fmt::format("@{}", attempt);
  if (seen.is_deleting()) text += " leaving";
  return text;
}

}  // namespace

// ---- the tap --------------------------------------------------------------------

Result<client::Reply> Tap::send(kube::Request request) {
  bool is_event = request.resource.plural == kube::kEvents.plural;
  if (refuse) {
    if (std::optional<Error> error = refuse(request)) return *error;
  }
  requests += is_event ? 0 : 1;
  Result<client::Reply> reply = inner_.send(request);
  if (!client::is_write(request)) return reply;
  if (!is_event) {
    std::string line = kube::to_string(request);
    // A created object's name is in its body.
    if (const auto* made = std::get_if<kube::Create>(&request.verb)) {
      std::string name = fmt::format("{}/{}", request.ns, kube::name_of(made->body));
      if (line.find(name) == std::string::npos) line += " " + name;
    }
    writes.push_back(std::move(line));
  } else if (const auto* made = std::get_if<kube::Create>(&request.verb)) {
    events.push_back(fmt::format("{} {}: {}", kube::text_at(made->body, {"type"}),
                                 kube::text_at(made->body, {"reason"}),
                                 kube::text_at(made->body, {"message"})));
  }
  return reply;
}

// ---- the loop -------------------------------------------------------------------

Yard::Yard(dialect::Settings settings)
    : now(*parse_rfc3339("2026-01-05T09:00:00Z")),
      tap(store, [this] { return now; }),
      settings_(std::move(settings)),
      dialects_{dialect::tfjob(), dialect::t9k(), dialect::volcano()} {
  key_.ns = kNs;
  restart_operator();
}

Yard& Yard::restart_operator() {
  control::OperatorOptions options;
  options.settings = settings_;
  auto keys = [] { return dialect::KeyPair{"private", "ssh-rsa public"}; };
  operator_ = std::make_unique<control::Operator>(control::OperatorPorts{tap, keys, [this] { return now; }},
                                                  dialects_, options);
  lines_.assign(operator_->streams().size(), Line{});
  return settle();
}

// Lists and watches of the operator; whether anything came in.
bool Yard::feed() {
  bool moved = false;
  for (control::StreamRequest& wanted : operator_->requests(now)) {
    moved = true;
    if (std::holds_alternative<kube::List>(wanted.request.verb)) {
      ++tap.requests;
      operator_->on_list(wanted.stream, client::carry_out(store, std::move(wanted.request), now), now);
      continue;
    }
    int64_t version = revision_in(std::get<kube::Watch>(wanted.request.verb).version);
    lines_[wanted.stream] = {true, std::move(wanted.request), version};
  }
  for (size_t i = 0; i < lines_.size(); ++i) {
    Line& line = lines_[i];
    if (!line.open) continue;
    kube::Watch query = std::get<kube::Watch>(line.request.verb);
    query.version = std::to_string(line.version);
    auto events = store.watch(line.request.resource, line.request.ns, query);
    if (!events.ok()) {
      ADD_FAILURE() << "watch: " << events.error().message;
      continue;
    }
    for (const store::WatchEvent& event : *events) {
      moved = true;
      line.version = std::max(line.version, event.revision);
      operator_->on_event(static_cast<int>(i), client::to_watch_event(event), now);
    }
  }
  return moved;
}

// Nodes let go of pods that are to go, and the collector of what has no owner any more.
bool Yard::work_of_nodes() {
  bool moved = store.collect_garbage(now) > 0;
  if (nodes_are_slow_) return moved;
  auto all = store.list(kube::kPods, kNs);
  for (const store::Object& pod : all->items) {
    if (!kube::is_deleting(*pod) || held_.contains(std::string(kube::uid_of(*pod)))) continue;
    kube::DeleteOptions at_once;
    at_once.grace_seconds = 0;
    moved = store.remove(kube::kPods, kNs, kube::name_of(*pod), at_once, now).ok() || moved;
  }
  return moved;
}

Yard& Yard::settle() {
  for (int turn = 0; turn < kTurnsMax; ++turn) {
    bool moved = feed();
    if (moved) continue;
    if (operator_->run_one(now)) continue;
    if (!work_of_nodes()) return *this;
  }
  ADD_FAILURE() << "the world does not come to rest: " << pods();
  return *this;
}

Yard& Yard::after(int passed) {
  now = now + seconds(passed);
  return settle();
}

int Yard::cost_of(const std::function<void()>& deed) {
  size_t before = tap.writes.size();
  deed();
  return static_cast<int>(tap.writes.size() - before);
}

// ---- people ---------------------------------------------------------------------

const dialect::Dialect& Yard::dialect() const { return dialects_[key_.dialect]; }

Yard& Yard::submit(const std::string& yaml) {
  auto documents = kube::parse_yaml(yaml);
  if (!documents.ok()) {
    ADD_FAILURE() << documents.error().message << "\n" << yaml;
    return *this;
  }
  for (const kube::Document& document : *documents) {
    const json::object& body = document.body.get_object();
    kube::Resource resource = resource_of_kind(body, dialects_);
    Result<store::Object> made = store.create(resource, kNs, body, now);
    EXPECT_TRUE(made.ok()) << made.error().message;
    for (size_t i = 0; i < dialects_.size(); ++i) {
      if (dialects_[i].resource != resource) continue;
      key_.dialect = static_cast<int>(i);
      key_.name = kube::name_of(body);
    }
  }
  return settle();
}

Yard& Yard::edit(const std::string& yaml) {
  auto documents = kube::parse_yaml(yaml);
  EXPECT_TRUE(documents.ok()) << yaml;
  kube::Patch patch{.name = key_.name, .kind = kube::PatchKind::kMerge, .body = documents->front().body};
  auto changed = store.patch(dialect().resource, kNs, patch, now);
  EXPECT_TRUE(changed.ok()) << changed.error().message;
  return settle();
}

Yard& Yard::delete_job() {
  auto removed = store.remove(dialect().resource, kNs, key_.name, {}, now);
  EXPECT_TRUE(removed.ok()) << removed.error().message;
  return settle();
}

Yard& Yard::command(std::string_view action) {
  json::object body{{"apiVersion", "bus.volcano.sh/v1alpha1"}, {"kind", "Command"}};
  body["metadata"] = json::object{{"generateName", key_.name + "-command-"}, {"namespace", kube::jview(kNs)}};
  body["target"] = json::object{{"apiVersion", "batch.volcano.sh/v1alpha1"},
                                {"kind", "Job"},
                                {"name", key_.name},
                                {"uid", kube::jview(kube::uid_of(job()))}};
  body["action"] = kube::jview(action);
  auto made = store.create(kube::kVolcanoCommands, kNs, body, now);
  EXPECT_TRUE(made.ok()) << made.error().message;
  return settle();
}

// ---- machines -------------------------------------------------------------------

std::vector<std::string> Yard::chosen(std::string_view pattern) const {
  std::vector<std::string> names;
  std::string prefix = key_.name + "-";
  bool many = pattern.ends_with("*");
  std::string stem = prefix + std::string(many ? pattern.substr(0, pattern.size() - 1) : pattern);
  auto all = store.list(kube::kPods, kNs);
  for (const store::Object& pod : all->items) {
    std::string name(kube::name_of(*pod));
    if (many ? name.starts_with(stem) : name == stem) names.push_back(name);
  }
  EXPECT_FALSE(names.empty()) << "no pod " << pattern << " among: " << pods();
  return names;
}

void Yard::write_status(const std::string& pod, json::object status) {
  json::object body = *store.get(kube::kPods, kNs, pod).value();
  if (status["phase"] != "Pending" && kube::text_at(body, {"spec", "nodeName"}).empty()) {
    kube::ensure_object(body, {"spec"})["nodeName"] = "node-1";
    body = **store.update(kube::kPods, kNs, body, now);
  }
  body["status"] = std::move(status);
  auto written = store.update_status(kube::kPods, kNs, body, now);
  EXPECT_TRUE(written.ok()) << written.error().message;
}

void Yard::tell(const std::string& pod, const std::vector<std::string>& words) {
  const std::string& word = words.front();
  json::object body = *store.get(kube::kPods, kNs, pod).value();
  kube::DeleteOptions options;
  if (word == "leaves") {
    held_.insert(std::string(kube::uid_of(body)));
    auto removed = store.remove(kube::kPods, kNs, pod, options, now);
    EXPECT_TRUE(removed.ok()) << removed.error().message;
    return;
  }
  // A scheduler deletes what it preempts; that is why it ends.
  if (word == "Preempted") {
    EXPECT_TRUE(store.remove(kube::kPods, kNs, pod, options, now).ok());
  }
  if (word != "gone") write_status(pod, status_after(body, words, now));
  if (word != "gone" && word != "dies") return;
  options.grace_seconds = 0;
  auto removed = store.remove(kube::kPods, kNs, pod, options, now);
  EXPECT_TRUE(removed.ok()) << removed.error().message;
}

Yard& Yard::let(std::string_view script) {
  for (const std::string& sentence : split(script, ";")) {
    std::vector<std::string> words = split(sentence, " ");
    std::vector<std::string> names = chosen(words.front());
    words.erase(words.begin());
    for (const std::string& name : names) tell(name, words);
  }
  return settle();
}

Yard& Yard::gang_is(std::string_view phase) {
  json::object group = pod_group();
  group["status"] = json::object{{"phase", kube::jview(phase)}};
  // A PodGroup of Volcano has no status of its own: the whole object is written.
  auto written = store.update(kube::kVolcanoPodGroups, kNs, group, now);
  EXPECT_TRUE(written.ok()) << written.error().message;
  return settle();
}

// ---- what is to be seen ---------------------------------------------------------

std::string Yard::pods() const {
  std::string text;
  auto all = store.list(kube::kPods, kNs);
  for (const store::Object& pod : all->items) {
    std::string_view name = kube::name_of(*pod);
    if (name.starts_with(key_.name + "-")) name.remove_prefix(key_.name.size() + 1);
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, shown_pod(*pod));
  }
  return text;
}

std::string Yard::services() const {
  std::string text;
  auto all = store.list(kube::kServices, kNs);
  for (const store::Object& service : all->items) {
    std::string_view name = kube::name_of(*service);
    if (name.starts_with(key_.name + "-")) name.remove_prefix(key_.name.size() + 1);
    text += fmt::format("{}{}", text.empty() ? "" : ", ", name);
  }
  return text;
}

bool Yard::has_job() const { return store.get(dialect().resource, kNs, key_.name).ok(); }

json::object Yard::job() const {
  auto found = store.get(dialect().resource, kNs, key_.name);
  EXPECT_TRUE(found.ok()) << "no job " << key_.name;
  return found.ok() ? **found : json::object{};
}

json::object Yard::pod(std::string_view label) const {
  auto found = store.get(kube::kPods, kNs, fmt::format("{}-{}", key_.name, label));
  EXPECT_TRUE(found.ok()) << "no pod " << label << " among: " << pods();
  return found.ok() ? **found : json::object{};
}

json::object Yard::service(std::string_view label) const {
  auto found = store.get(kube::kServices, kNs, fmt::format("{}-{}", key_.name, label));
  EXPECT_TRUE(found.ok()) << "no service " << label << " among: " << services();
  return found.ok() ? **found : json::object{};
}

bool Yard::has_pod_group() const { return !store.list(kube::kVolcanoPodGroups, kNs)->items.empty(); }

json::object Yard::pod_group() const {
  auto all = store.list(kube::kVolcanoPodGroups, kNs);
  EXPECT_EQ(all->items.size(), 1u);
  return all->items.empty() ? json::object{} : *all->items.front();
}

std::string Yard::status(std::initializer_list<std::string_view> path) const {
  json::object whole = job();
  const json::object* status = kube::object_at(whole, {"status"});
  const json::value* found = status == nullptr ? nullptr : kube::find(*status, path);
  return found == nullptr ? "" : json::serialize(*found);
}

std::string Yard::conditions() const {
  std::string text;
  for (const kube::Condition& one : kube::decode_conditions(job())) {
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", one.type, one.status);
  }
  return text;
}

std::string Yard::condition(std::string_view type) const {
  std::vector<kube::Condition> all = kube::decode_conditions(job());
  const kube::Condition* found = kube::find_condition(all, type);
  return found == nullptr ? "" : fmt::format("{} {}: {}", found->status, found->reason, found->message);
}

std::string Yard::replicas() const {
  std::string text;
  json::object whole = job();
  const json::object* statuses = kube::object_at(whole, {"status", "replicaStatuses"});
  if (statuses == nullptr) return text;
  for (const auto& role : *statuses) {
    text += fmt::format("{}{}", text.empty() ? "" : ", ", kube::view(role.key()));
    for (const auto& count : role.value().get_object()) {
      text += fmt::format(" {}={}", kube::view(count.key()), json::serialize(count.value()));
    }
  }
  return text;
}

std::string Yard::phase() const { return std::string(kube::text_at(job(), {"status", "state", "phase"})); }

std::string Yard::tf_config(std::string_view label) const {
  json::object whole = pod(label);
  const json::array* containers = kube::array_at(whole, {"spec", "containers"});
  return containers == nullptr ? "" : env_of(containers->front().get_object(), "TF_CONFIG");
}

std::string Yard::events(std::string_view containing) const {
  std::string text;
  for (const std::string& line : tap.events) {
    if (line.find(containing) == std::string::npos) continue;
    text += fmt::format("{}{}", text.empty() ? "" : "\n", line);
  }
  return text;
}

model::Plan Yard::plan() const {
  json::object object = job();
  dialect::LowerResult lowered = dialect().lower(object, settings_);
  if (!std::holds_alternative<model::JobSpec>(lowered)) {
    ADD_FAILURE() << dialect::join(std::get<std::vector<dialect::Problem>>(lowered));
    return {};
  }
  model::JobSpec spec = std::get<model::JobSpec>(std::move(lowered));
  model::JobState state = dialect().recall(spec, object);
  model::Observation seen =
      control::observe(operator_->view(), key_, dialect(), object, std::move(spec), std::move(state));
  return engine::plan(seen, now);
}

std::string Yard::waits(model::WaitKind kind) const {
  for (const model::Wait& wait : plan().waits) {
    if (wait.kind == kind) return wait.text;
  }
  return "";
}

}  // namespace trainyard::scenarios
