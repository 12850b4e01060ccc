// Users: the people of a simulated world. They create jobs in all three dialects, change
// their minds, make mistakes and take them back, stop, resume and delete jobs, and lay
// hands on pods and services that are not theirs.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/rng.h"
#include "sim/blueprint.h"
#include "sim/cluster.h"
#include "sim/options.h"
#include "sim/trace.h"

namespace trainyard::sim {

class Users {
 public:
  Users(Cluster& cluster, Trace& trace, const Options& options);
  Users(const Users&) = delete;
  Users& operator=(const Users&) = delete;

  // The jobs that there will be; their kinds decide what the operators must know.
  const std::vector<Blueprint>& jobs() const { return jobs_; }
  // Puts everything they are going to do on the agenda.
  void start();
  // They take back what no job could live with, and go home.
  void settle();
  // After settle(): they make mistakes all the same, and take them back.
  void err_in_peace();
  void take_back();
  // Takes away the pods that belong to nobody.
  void clear_orphans();

  // By hand, for scripts.
  void create(const Blueprint& blueprint);
  void apply(const Blueprint& blueprint);
  void remove(const Blueprint& blueprint, kube::Propagation how = kube::Propagation::kBackground);
  void command(const Blueprint& blueprint, std::string_view action);
  void remove_pod(std::string_view name_end);
  void remove_service(std::string_view name_end);

 private:
  enum class Moved { kOwner, kLabels, kBoth };
  // What was given to another job.
  struct Given {
    const kube::Resource* resource;
    std::string name;
    std::string uid;
    const kube::Resource* taker_resource;
    std::string taker;
  };

  void act();
  void act_on(Blueprint& job, Fault what);
  void scale(Blueprint& job);
  void edit_policy(Blueprint& job);
  void recreate(const std::string& name);
  void clear_given();
  void strip(const Blueprint& job);
  void move(const Blueprint& job);
  // Gives what is named so to another job: its controller, its labels, or both.
  void give(const kube::Resource& resource, const std::string& name, const Blueprint& from,
            const Blueprint& to, Moved what);
  void make_foreign_pod(const Blueprint& job);
  std::vector<store::Object> named(const kube::Resource& resource, std::string_view prefix) const;
  store::Object any_pod_of(const Blueprint& job);
  Blueprint* job_named(const std::string& name);
  void say(std::string_view what);

  // Fixed.
  Cluster& cluster_;
  Trace& trace_;
  const Options& options_;
  // State.
  Rng rng_;
  std::vector<Blueprint> jobs_;
  std::map<std::string, Blueprint> first_;  // by name: the jobs as they were made
  std::vector<std::string> foreign_pods_;
  std::vector<Given> given_;
  int commands_ = 0;
  bool trouble_ = true;
};

}  // namespace trainyard::sim
