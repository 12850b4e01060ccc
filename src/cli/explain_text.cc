#include "cli/explain_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/rules_in_words.h"
#include "control/apply.h"
#include "dialect/shared/gang.h"
#include "dialect/t9k/overrides.h"
#include "kube/access.h"
#include "sched/gangs_from.h"

namespace trainyard::cli {
namespace {

constexpr size_t kTfConfigShownMax = 2000;
constexpr size_t kStepsShownMax = 40;

const json::object* main_container_of(const json::object& pod, std::string_view main_container) {
  const json::array* containers = kube::array_at(pod, {"spec", "containers"});
  if (containers == nullptr || containers->empty()) return nullptr;
  for (const json::value& container : *containers) {
    if (container.is_object() && kube::text_at(container.get_object(), {"name"}) == main_container) {
      return &container.get_object();
    }
  }
  return containers->front().if_object();
}

// The last of the name counts, as for Kubernetes.
std::string env_of(const json::object& container, std::string_view name) {
  std::string value;
  const json::array* env = kube::array_at(container, {"env"});
  if (env == nullptr) return value;
  for (const json::value& entry : *env) {
    if (entry.is_object() && kube::text_at(entry.get_object(), {"name"}) == name) {
      value = kube::text_at(entry.get_object(), {"value"});
    }
  }
  return value;
}

// "a-0", "a-0 and a-1", "a-0 to a-9".
std::string names_of(const model::JobSpec& spec, size_t role) {
  int replicas = spec.roles[role].replicas;
  std::string first = spec.pod_name({static_cast<int>(role), 0});
  std::string last = spec.pod_name({static_cast<int>(role), std::max(0, replicas - 1)});
  if (replicas == 0) return "none";
  if (replicas == 1) return first;
  return fmt::format("{} {} {}", first, replicas == 2 ? "and" : "to", last);
}

std::string ports_of(const json::object& service) {
  std::string text;
  const json::array* ports = kube::array_at(service, {"spec", "ports"});
  if (ports == nullptr) return text;
  for (const json::value& port : *ports) {
    if (!port.is_object()) continue;
    text +=
        fmt::format("{}{}", text.empty() ? "" : ", ", kube::int_at(port.get_object(), {"port"}).value_or(0));
  }
  return text;
}

std::string cause_in_words(const model::Cause& cause) {
  if (cause.kind == model::CauseKind::kNone) return "";
  std::string text(to_string(cause.kind));
  if (!cause.role.empty())
    text += fmt::format(" ({}-{}, exit code {})", cause.role, cause.index, cause.exit_code);
  if (!cause.detail.empty()) text += ": " + cause.detail;
  return text;
}

}  // namespace

void ExplainText::heading(std::string_view text) const {
  console_.out << (console_.bold ? fmt::format("\n\x1b[1m{}\x1b[0m\n", text) : fmt::format("\n{}\n", text));
}

void ExplainText::line(std::string_view text) const { console_.out << "  " << text << "\n"; }

void ExplainText::manifest(const Object& object) const {
  std::string space = spec_.name_space.empty() ? "" : fmt::format(" in namespace {}", spec_.name_space);
  int total = spec_.total_replicas();
  console_.out << fmt::format(
      "{}{} ({}): {} {} in {} {}\n", object.title(), space, kube::text_at(object.body, {"apiVersion"}), total,
      total == 1 ? "replica" : "replicas", spec_.roles.size(), spec_.roles.size() == 1 ? "role" : "roles");
  roles();
  pods();
  tf_config();
  around();
  rules();
  if (spec_.advice.empty()) return;
  heading("Advice");
  for (const model::Advice& advice : spec_.advice) line(advice.message);
}

void ExplainText::roles() const {
  heading("Roles");
  model::JobState state;
  state.roles.resize(spec_.roles.size());
  for (size_t i = 0; i < spec_.roles.size(); ++i) {
    const model::Role& role = spec_.roles[i];
    std::string image;
    if (role.replicas > 0) {
      json::object pod = dialect_.render_pod(spec_, settings_, {{static_cast<int>(i), 0}, 0, &state});
      if (const json::object* main = main_container_of(pod, dialect_.main_container)) {
        image = kube::text_at(*main, {"image"});
      }
    }
    line(fmt::format("{} x {}{}", role.replicas, role.name, image.empty() ? "" : "  " + image));
    if (std::string command = debug_command(role); !command.empty()) {
      line(fmt::format("    debug mode: it runs {} instead of the training", command));
    }
    for (const std::string& rule : replica_rules(spec_, role)) line("    " + rule);
  }
}

std::string ExplainText::debug_command(const model::Role& role) const {
  if (spec_.dialect != "t9k") return "";
  const std::optional<t9k::Override> mode = t9k::override_for(*spec_.source, role.name, /*resumes=*/0);
  if (!mode || !mode->command) return "";
  return fmt::format("{}", fmt::join(*mode->command, " "));
}

void ExplainText::pods() const {
  heading(spec_.service_per_replica ? "Pods, each with a service of its name" : "Pods");
  for (size_t i = 0; i < spec_.roles.size(); ++i) {
    std::string ports;
    if (spec_.service_per_replica && spec_.roles[i].replicas > 0) {
      ports = ports_of(dialect_.render_service(spec_, {static_cast<int>(i), 0}));
    }
    line(names_of(spec_, i) + (ports.empty() ? "" : fmt::format("  port {}", ports)));
  }
  if (spec_.uid.empty() && spec_.dialect == "t9k") {
    line("(the five characters after the job's name come from its uid, which it gets when it is created)");
  }
}

void ExplainText::tf_config() const {
  model::JobState state;
  state.roles.resize(spec_.roles.size());
  for (size_t i = 0; i < spec_.roles.size(); ++i) {
    if (spec_.roles[i].replicas == 0) continue;
    model::ReplicaId id{static_cast<int>(i), 0};
    json::object pod = dialect_.render_pod(spec_, settings_, {id, 0, &state});
    const json::object* main = main_container_of(pod, dialect_.main_container);
    std::string text = main == nullptr ? "" : env_of(*main, "TF_CONFIG");
    if (text.empty()) continue;
    const bool sparse = kube::bool_at(*spec_.source, {"spec", "enableDynamicWorker"}) == true;
    heading(fmt::format("TF_CONFIG of {} ({})", spec_.pod_name(id),
                        sparse ? "each lists itself and the parameter servers, which list themselves alone"
                               : "the others differ in task"));
    bool whole = text.size() <= kTfConfigShownMax;
    line(whole ? text
               : text.substr(0, kTfConfigShownMax) +
                     fmt::format("... ({} characters; -o yaml shows all)", text.size()));
    return;
  }
  heading("TF_CONFIG");
  line("none");
}

// Pods may name a PodGroup of the user's, of which the job says nothing.
std::string ExplainText::group_of_pods() const {
  model::JobState state;
  state.roles.resize(spec_.roles.size());
  for (size_t i = 0; i < spec_.roles.size(); ++i) {
    if (spec_.roles[i].replicas == 0) continue;
    sched::Shapes shapes;
    sched::PodSeen pod =
        sched::see_pod(dialect_.render_pod(spec_, settings_, {{static_cast<int>(i), 0}, 0, &state}), shapes);
    if (pod.naming == sched::GroupNaming::kNone) continue;
    return fmt::format("PodGroup {}, which is yours to make and which the pods name{}", pod.group,
                       pod.scheduler.empty() ? "" : fmt::format("; {} places them", pod.scheduler));
  }
  return "none: each pod is scheduled by itself";
}

void ExplainText::around() const {
  heading("Gang");
  std::string gang = gang_in_words(spec_);
  line(gang.empty() ? group_of_pods() : gang);
  if (spec_.companions.empty() && !spec_.tensorboard) return;
  heading("Other objects");
  for (const model::Companion& companion : spec_.companions) {
    line(fmt::format("{} {}{}", kind_title(companion.kind), companion.name,
                     companion.must_exist ? " (must exist; pods wait for it)" : ""));
  }
  if (spec_.tensorboard) line(fmt::format("TensorBoard {}", *spec_.tensorboard));
}

void ExplainText::rules() const {
  heading("Rules");
  for (const JobRule& rule : job_rules(spec_)) line(fmt::format("{:<10}{}", rule.subject, rule.text));
}

void ExplainText::outlook(const json::object& status, const model::Observation& seen, const model::Plan& plan,
                          Time now) const {
  heading("State");
  line(fmt::format("{}{}", to_string(plan.state.phase),
                   plan.state.result ? fmt::format(", {}", to_string(*plan.state.result)) : ""));
  if (std::string cause = cause_in_words(plan.state.cause); !cause.empty()) line("because " + cause);
  line(fmt::format("restarts {} charged, {} disruptions", plan.state.restarts, plan.state.disruptions));
  if (seen.deleting) line("being deleted: nothing is made for it any more");
  heading(fmt::format("Next, as of {}", format_rfc3339(now)));
  next_steps(status, seen, plan, now);
}

// All kinds of objects that the job has.
std::string ExplainText::kubectl_get() const {
  auto named = [](const kube::Resource& resource) {
    return resource.group.empty() ? std::string(resource.plural)
                                  : fmt::format("{}.{}", resource.plural, resource.group);
  };
  std::vector<std::string> kinds{named(dialect_.resource), "pods"};
  auto add = [&](std::string kind) {
    if (std::find(kinds.begin(), kinds.end(), kind) == kinds.end()) kinds.push_back(std::move(kind));
  };
  if (spec_.service_per_replica) add("services");
  if (spec_.gang) add(named(dialect::resource_of(spec_.gang->scheduler)));
  for (const model::Companion& companion : spec_.companions) add(named(control::resource_of(companion.kind)));
  if (spec_.tensorboard) add(named(kube::kTensorBoards));
  return fmt::format(" kubectl get {} -o yaml | trainyard explain -)", fmt::join(kinds, ","));
}

bool ExplainText::is_guess(const model::Step& step, const model::Observation& seen,
                           std::set<std::string>& not_given) const {
  std::string kind;
  if (std::holds_alternative<model::CreateService>(step) && seen.services.empty()) kind = "services";
  if (std::holds_alternative<model::UpsertGang>(step) && !seen.gang) kind = "PodGroup";
  if (std::holds_alternative<model::UpsertTensorBoard>(step) && !seen.tensorboard) kind = "TensorBoard";
  if (const auto* companion = std::get_if<model::UpsertCompanion>(&step)) {
    auto same = [&](const model::CompanionSeen& one) { return one.kind == companion->kind; };
    if (std::none_of(seen.companions.begin(), seen.companions.end(), same)) {
      kind = kind_title(companion->kind);
    }
  }
  if (!kind.empty()) not_given.insert(kind);
  return !kind.empty();
}

void ExplainText::next_steps(const json::object& status, const model::Observation& seen,
                             const model::Plan& plan, Time now) const {
  const bool has_pods = !seen.pods.empty();
  const bool at_rest = plan.state.finished() || seen.deleting || plan.state.phase == model::Phase::kPaused;
  const bool queued = plan.state.phase == model::Phase::kQueued && seen.gang;
  const bool expects_pods = !at_rest && !queued;
  if (!has_pods && expects_pods) {
    line("(No pods of this job were given, so the plan is for a world without them. Give them as well:");
    line(kubectl_get());
  }
  std::vector<std::string> steps;
  std::set<std::string> not_given;
  for (const model::Step& step : plan.steps) {
    if (has_pods && is_guess(step, seen, not_given)) continue;
    if (!std::holds_alternative<model::WriteState>(step)) {
      steps.push_back(to_string(spec_, step));
    } else if (control::is_news(plan.state, dialect_.project(seen, plan.state, status, now), status)) {
      steps.push_back("write status");
    }
  }
  if (!not_given.empty()) {
    line(fmt::format("(Not given, so it is not known whether it is there: {}. The whole of it:",
                     fmt::join(not_given, ", ")));
    line(kubectl_get());
  }
  for (size_t i = 0; i < std::min(steps.size(), kStepsShownMax); ++i) line(steps[i]);
  if (steps.size() > kStepsShownMax) line(fmt::format("... and {} more", steps.size() - kStepsShownMax));
  if (steps.empty()) line("nothing to do");
  for (const model::Wait& wait : plan.waits) {
    bool guess = wait.kind == model::WaitKind::kGangPending && not_given.contains("PodGroup");
    if (!guess) line("waits: " + wait.text);
  }
  if (plan.wake) line(fmt::format("looks again in {}", format_duration(*plan.wake - now)));
}

}  // namespace trainyard::cli
