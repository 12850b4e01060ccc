#include "cli/habits.h"

#include <algorithm>
#include <iterator>

namespace trainyard::cli {
namespace {

constexpr std::string_view kKubectlDoes = "kubectl does it, with a plane ('trainyard up') as with a cluster";

struct Habit {
  std::string_view word;
  std::string_view instead;
};

// What people bring from kubectl, docker and batch systems.
constexpr Habit kCommandHabits[] = {
    {"apply", "'trainyard submit -f FILE' creates jobs; 'kubectl apply' works with a plane"},
    {"create", "'trainyard submit -f FILE' creates jobs"},
    {"start", "'trainyard run FILE' runs a job here and now, 'trainyard up' starts a plane"},
    {"ps", "'trainyard get' lists jobs"},
    {"ls", "'trainyard get' lists jobs"},
    {"list", "'trainyard get' lists jobs"},
    {"jobs", "'trainyard get' lists jobs"},
    {"stop",
     "'trainyard pause JOB' stops a job so that it can go on, 'trainyard delete JOB' for good, "
     "'trainyard down' the plane"},
    {"suspend", "'trainyard pause JOB' does it"},
    {"kill", "'trainyard delete JOB' ends a job"},
    {"cancel", "'trainyard delete JOB' ends a job"},
    {"rm", "'trainyard delete JOB' ends a job"},
    {"remove", "'trainyard delete JOB' ends a job"},
    {"attach", "'trainyard logs -f JOB' follows what it prints"},
    {"api-resources", kKubectlDoes},
    {"annotate", kKubectlDoes},
    {"cp", kKubectlDoes},
    {"debug", kKubectlDoes},
    {"diff", kKubectlDoes},
    {"edit", kKubectlDoes},
    {"label", kKubectlDoes},
    {"patch", kKubectlDoes},
    {"port-forward", kKubectlDoes},
    {"replace", kKubectlDoes},
};

struct OptionHabit {
  std::string_view command;
  std::string_view option;
  std::string_view instead;
};

constexpr OptionHabit kOptionHabits[] = {
    {"delete", "-f", "jobs are deleted by name; 'kubectl delete -f FILE' works with a plane"},
    {"delete", "--filename", "jobs are deleted by name; 'kubectl delete -f FILE' works with a plane"},
    {"delete", "-l", "jobs are deleted by name, such as those of: trainyard get -o name -l team=a"},
    {"delete", "--selector", "jobs are deleted by name, such as those of: trainyard get -o name -l team=a"},
    {"delete", "--all", "jobs are deleted by name, such as those of: trainyard get -o name"},
    {"logs", "-l", "logs are those of one job, --all of all its replicas"},
    {"logs", "--all-containers", "logs are those of one container: -c NAME"},
    {"scale", "--replicas", "a role has a size: trainyard scale JOB worker=4"},
    {"run", "-n", "a run has a plane of its own: metadata.namespace says where a job is"},
    {"run", "--namespace", "a run has a plane of its own: metadata.namespace says where a job is"},
    {"run", "-d", "'trainyard up --detach', then 'trainyard submit FILE', runs jobs in the background"},
    {"run", "--detach", "'trainyard up --detach', then 'trainyard submit FILE', runs jobs in the background"},
};

}  // namespace

std::string_view habit_of_command(std::string_view word) {
  const Habit* found = std::find_if(std::begin(kCommandHabits), std::end(kCommandHabits),
                                    [&](const Habit& habit) { return habit.word == word; });
  return found == std::end(kCommandHabits) ? "" : found->instead;
}

std::string_view habit_of_option(std::string_view command, std::string_view option) {
  const OptionHabit* found = std::find_if(
      std::begin(kOptionHabits), std::end(kOptionHabits),
      [&](const OptionHabit& habit) { return habit.command == command && habit.option == option; });
  return found == std::end(kOptionHabits) ? "" : found->instead;
}

}  // namespace trainyard::cli
