// World: one job, its children and the clock, just large enough to replay a recording.
// The dialect and the engine are the real ones; the API server is a few maps. Pods are
// moved by hand. Deletion is complete at once, unless the pod is bound to a node: then it
// stays, terminating, until it is removed. Single-threaded; time moves only when told.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "dialect/shared/dialect.h"
#include "model/plan.h"

namespace trainyard::recorded {

// What a pod is told to be. Every container runs or has ended as the pod has; `exit_code`
// is the main container's.
struct PodFate {
  std::string phase;  // "Pending", "Running", "Succeeded", "Failed"
  std::optional<int> exit_code;
  int restarts = 0;
  std::string reason;       // of the pod: "Evicted"
  bool main_ended = false;  // the main container has ended though the pod runs
};

class World {
 public:
  World(const dialect::Dialect& dialect, dialect::Settings settings, std::string name_space);
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  // ---- what people do; each ends with settle() ----
  // The problems, when the manifest is refused; then nothing was stored.
  std::vector<dialect::Problem> create(json::object manifest);
  // A merge patch of the job; refused as create() is, and also by validate_update.
  std::vector<dialect::Problem> patch(const json::value& patch);
  void delete_job(bool orphan);
  void delete_pod(const std::string& name);
  // A pod that was terminating is gone.
  void remove_pod(const std::string& name);
  void delete_service(const std::string& name);
  void delete_gang();
  void add_command(json::object command);
  void add_foreign_pod(json::object pod);
  // An object that is there without us, such as a claim.
  void add_companion(model::CompanionKind kind, json::object object);

  // ---- what machines do ----
  // Takes effect with the next settle(), so that several pods can change at once.
  void set_pod(const std::string& name, const PodFate& fate);
  void bind_pod(const std::string& name) { bound_.insert(name); }
  bool is_bound(const std::string& name) const { return bound_.contains(name); }
  void set_gang_phase(std::string_view phase);
  // Lets time pass, with every pass that the engine asked to be woken for.
  void advance(Duration by);
  // Passes until nothing changes any more.
  void settle();

  // ---- what is to be seen ----
  const std::optional<json::object>& job() const { return job_; }
  const json::object& status() const;  // {} when there is none
  const std::map<std::string, json::object>& pods() const { return pods_; }
  const std::map<std::string, json::object>& services() const { return services_; }
  const std::optional<json::object>& gang() const { return gang_; }
  const std::map<std::pair<model::CompanionKind, std::string>, json::object>& companions() const {
    return companions_;
  }
  // How often a pod (service) of that name has been made.
  int pod_incarnation(const std::string& name) const;
  int service_incarnation(const std::string& name) const;
  // Events since the last call, in order.
  std::vector<dialect::EventText> take_events();
  // Every status that was written since the last call.
  std::vector<json::object> take_history();
  std::vector<model::Wait> waits() const { return waits_; }
  Time now() const { return now_; }

 private:
  struct Pass;
  bool pass();
  model::Observation observe(model::JobSpec spec) const;
  void carry_out(Pass& pass, const model::AddFinalizer& step);
  void carry_out(Pass& pass, const model::WriteState& step);
  void carry_out(Pass& pass, const model::DeletePod& gone);
  void carry_out(Pass& pass, const model::DeleteService& gone);
  void carry_out(Pass& pass, const model::DeleteCompanion& gone);
  void carry_out(Pass& pass, const model::DeleteGang& gone);
  void carry_out(Pass& pass, const model::DeleteCommand& gone);
  void carry_out(Pass& pass, const model::UpsertGang& step);
  void carry_out(Pass& pass, const model::UpsertCompanion& wanted);
  void carry_out(Pass& pass, const model::UpsertTensorBoard& step);
  void carry_out(Pass& pass, const model::CreateService& wanted);
  void carry_out(Pass& pass, const model::CreatePod& step);
  void carry_out(Pass& pass, const model::DropFinalizer& step);
  void carry_out(Pass& pass, const model::DeleteJob& step);
  void told(Pass& pass, model::NoteKind kind, const std::string& object);
  void remove_children(const std::string& uid);
  void tell(const model::JobSpec& spec, const model::Note& note);
  std::string next_uid();

  // Fixed.
  const dialect::Dialect& dialect_;
  dialect::Settings settings_;
  std::string name_space_;
  // State.
  Time now_;
  int uids_ = 0;
  std::optional<json::object> job_;
  std::map<std::string, json::object> pods_;
  std::map<std::string, json::object> services_;
  std::map<std::pair<model::CompanionKind, std::string>, json::object> companions_;
  std::optional<json::object> gang_;
  std::vector<json::object> commands_;
  std::vector<json::object> tombstones_;  // deleted pods that no pass has seen yet
  std::set<std::string> bound_;
  std::map<std::string, int> pods_made_;
  std::map<std::string, int> services_made_;
  std::optional<Time> wake_;
  std::vector<dialect::EventText> events_;
  std::vector<json::object> history_;
  std::vector<model::Wait> waits_;
};

}  // namespace trainyard::recorded
