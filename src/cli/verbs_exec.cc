#include "cli/verbs_exec.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/output_log.h"
#include "cli/verbs_find.h"
#include "cli/verbs_replicas.h"
#include "kube/meta.h"
#include "kube/pod.h"

namespace trainyard::cli {
namespace {

struct Place {
  std::string ns;
  std::string pod;
  std::string container;
};

Result<Place> place_in_pod(const std::string& name, const Cluster& cluster) {
  Result<client::Object> pod = client::get(cluster.client, kube::kPods, cluster.ns, name);
  if (!pod.ok()) return pod.error();
  return Place{cluster.ns, name, main_container_of(nullptr, **pod)};
}

Result<Place> place_in_job(const ExecIn& verb, const FoundJob& job, const Cluster& cluster) {
  Result<std::vector<client::Object>> pods = pods_of(cluster, job);
  if (!pods.ok()) return pods.error();
  Result<std::vector<ReplicaPod>> replicas = choose_replicas(job, *pods, verb.replica, true);
  if (!replicas.ok()) return replicas.error();
  if (replicas->size() > 1) {
    return Error{ErrorKind::kInvalid, fmt::format("there are {} such replicas of {}: say which with --index",
                                                  replicas->size(), job.title())};
  }
  const ReplicaPod& replica = replicas->front();
  if (replica.pod == nullptr) {
    return Error{ErrorKind::kNotFound, fmt::format("{} of {} has no pod now (see 'trainyard describe {}')",
                                                   replica.label, job.title(), job.title())};
  }
  return Place{job.ns(), replica.pod_name, replica.container};
}

// A job by its name, else a pod.
Result<Place> find_place(const ExecIn& verb, const Cluster& cluster) {
  for (std::string_view prefix : {"pod/", "pods/"}) {
    if (verb.job.starts_with(prefix)) return place_in_pod(verb.job.substr(prefix.size()), cluster);
  }
  Result<FoundJob> job = find_job(cluster, verb.job);
  if (job.ok()) return place_in_job(verb, *job, cluster);
  if (job.error().kind != ErrorKind::kNotFound || verb.job.find('/') != std::string::npos) return job.error();
  Result<Place> pod = place_in_pod(verb.job, cluster);
  if (!pod.ok() && pod.error().kind == ErrorKind::kNotFound) return job.error();
  return pod;
}

// Our terminal hands every key on while this lives.
class RawTerminal {
 public:
  explicit RawTerminal(bool wanted) {
    active_ = wanted && isatty(STDIN_FILENO) == 1 && tcgetattr(STDIN_FILENO, &before_) == 0;
    if (!active_) return;
    termios raw = before_;
    cfmakeraw(&raw);
    tcsetattr(STDIN_FILENO, TCSANOW, &raw);
  }
  ~RawTerminal() {
    if (active_) tcsetattr(STDIN_FILENO, TCSANOW, &before_);
  }
  RawTerminal(const RawTerminal&) = delete;
  RawTerminal& operator=(const RawTerminal&) = delete;

 private:
  bool active_ = false;
  termios before_{};
};

std::optional<std::pair<int, int>> terminal_size() {
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return std::nullopt;
  return std::pair<int, int>(size.ws_col, size.ws_row);
}

}  // namespace

int exec_in(const ExecIn& verb, const Cluster& cluster, const Console& console) {
  Result<Place> place = find_place(verb, cluster);
  if (!place.ok()) {
    console.err << place.error().message << "\n";
    return kInputAtFault;
  }
  std::string container = verb.container.empty() ? place->container : verb.container;
  client::ExecIo io;
  io.tty = verb.tty;
  io.in = verb.in ? STDIN_FILENO : -1;
  if (verb.tty) io.size = terminal_size();
  io.out = [&](std::string_view bytes) { console.out << bytes << std::flush; };
  io.err = [&](std::string_view bytes) { console.err << bytes << std::flush; };
  RawTerminal raw(verb.in && verb.tty);
  Result<int> code = cluster.pods.exec(
      exec_path(place->ns, place->pod, container, verb.command, verb.in, verb.tty), std::move(io));
  if (code.ok()) return *code;
  console.err << fmt::format("{}: {}\n", place->pod, code.error().message);
  return kInputAtFault;
}

}  // namespace trainyard::cli
