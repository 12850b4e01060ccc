// Node::Agent: the node's thread and all that belongs to it. Its state is touched by that
// thread alone; others send it tasks (post, ask).
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <future>
#include <mutex>
#include <set>
#include <thread>

#include "client/cache.h"
#include "client/watcher.h"
#include "node/checks.h"
#include "node/devices.h"
#include "node/node.h"
#include "node/node_object.h"
#include "node/pod_machine.h"
#include "node/pod_recorder.h"
#include "node/volumes.h"
#include "node/work_pool.h"

namespace trainyard::node {

// What is known of a container whose log is asked for.
struct LogKnowledge {
  std::optional<int> attempt;  // the last that was started and is remembered
  std::string waits_for;       // while it has not: why; "" when nobody knows such a container
  std::string elsewhere;       // the other node that its pod is on
};

class Node::Agent {
 public:
  Agent(NodeOptions options, client::Client& client, client::WatchSource& watches, Runtime& runtime);
  ~Agent();

  void start();
  void stop(bool keep_pods);

  // Runs on the node's thread, later; false when the node does not run.
  bool post(std::function<void()> task);
  // The same, and waits for the answer; the fallback when the node does not run.
  template <typename T>
  T ask(std::function<T()> question, T fallback);

  const NodeOptions& options() const { return options_; }
  Runtime& runtime() { return runtime_; }
  // On the node's thread.
  Result<ContainerId> running_container(const PodRef& pod);
  LogKnowledge log_knowledge(const PodRef& pod);
  std::map<std::string, UsageRate> usage(const std::string& pod_uid);
  // Whether this attempt has ended and the next one is due.
  bool awaits_restart(const std::string& pod_uid, const std::string& container, int attempt);
  std::vector<std::string> cannot_honour(const json::object& pod);
  UsageRate machine_usage();

 private:
  // One pod on this node.
  struct Entry {
    Object pod;             // as last seen or written, whichever is newer
    bool writing = false;   // its status is on its way to the server
    bool removing = false;  // so is its deletion
    PodMachine machine;
    std::vector<VolumePlan> volumes;
    std::string ip;
    std::map<ContainerId, std::string> last_words;
    bool dirty = true;
    std::optional<Time> wake;
    bool busy = false;                  // the runtime prepares it or takes it away, on another thread
    bool over = false;                  // it has ended for good: what it asked for is free again
    bool finished = false;              // the runtime holds nothing of it any more
    std::optional<Time> destroy_after;  // it could not be taken away: when that is tried again
    bool admitted = false;
    Requests requests;  // of what is allocated, once admitted
    Allocation allocated;
    ResizeVerdict resize;  // of what is wanted besides
    uint64_t hosts = 0;    // digest of the names last told to the runtime
  };
  // A stream of objects that is followed.
  struct Follow {
    client::Watcher watcher;
    client::Cache cache;
    std::unique_ptr<client::OpenWatch> open;
    uint64_t generation = 0;
  };
  struct Sample {
    Time at;
    int64_t cpu_nanos = 0;
    int64_t rate = 0;
  };

  void run();
  bool is_stopping();
  void turn();
  void wait(std::optional<Time> until);
  std::optional<Time> next_wake() const;

  // Streams.
  void follow_all(Time now);
  void follow(size_t stream, Time now);
  void take_in(size_t stream, const std::vector<client::Output>& outputs, Time now);
  void see_pod(const Object& before, const Object& after);

  // Pods: decided about, and told to the server (node_pods.cc).
  void step_pods(Time now);
  void step(const std::string& uid, Entry& entry, Time now);
  void admit(Entry& entry, Time now);
  void give_back(const std::string& uid, Entry& entry);
  // What the pod wants to become (node_pods_resizing.cc).
  struct Held {
    Requests requests;
    int pods = 0;
  };
  Held held_beside(const Entry& entry) const;  // by the other pods
  Object allocated_pod(const Entry& entry) const;
  void consider_resize(Entry& entry, Time now);
  void tell_unenforced(const Entry& entry, const Allocation& wanted, Time now);
  void wake_deferred();
  PodView view_of(Entry& entry, const std::vector<ContainerStatus>& containers, Time now);
  void read_last_words(Entry& entry, const ContainerStatus& status);
  void carry_out(Entry& entry, const Action& action, Time now);
  bool write_status(Entry& entry, json::object status);
  void on_written(const std::string& uid, const Result<client::Object>& written);
  void remove_object(const Entry& entry);
  void tell_hosts();
  void tell(const Entry& entry, const PodEvent& event, Time now);
  void refresh_pod(Entry& entry, const Object& pod);
  std::vector<ContainerStatus> containers_of_pod(const std::string& uid) const;

  // Pods: made and taken away (node_pods_making.cc).
  void adopt();
  void prepare(Entry& entry);
  void on_prepared(const std::string& uid, const Result<std::string>& ip);
  Result<Done> set_up_volumes(const std::string& uid, Entry& entry);
  void start_container(Entry& entry, const StartContainer& what, Time now);
  Result<ContainerPlan> plan_start(Entry& entry, const StartContainer& what, std::string& reason);
  Result<Around> around_of(const Entry& entry);
  Result<Done> bind_claims(const Entry& entry);
  void tell_size(const json::object& claim);
  void finish(const std::string& uid, Entry& entry);
  void on_destroyed(const std::string& uid, bool is_gone);
  void drop(const std::string& uid, Time now);
  // Ends whatever the runtime has.
  void end_all();

  // What is looked at now and then (node_upkeep.cc).
  void keep_up(Time now);
  void refresh_files(const std::string& uid, Entry& entry);
  void measure(const std::string& uid, const Entry& entry);
  void prune(Time now);

  // The Node object (node_agent.cc).
  void keep_registered(Time now);

  // Fixed.
  const NodeOptions options_;
  client::Client& client_;
  client::WatchSource& watches_;
  Runtime& runtime_;
  const Volumes volumes_;
  const LogFolder logs_;
  MachineFacts facts_;
  // Shared with other threads.
  std::mutex mutex_;
  std::deque<std::function<void()>> tasks_;
  Fd wake_fd_;
  bool runs_ = false;  // tasks are taken
  bool stopping_ = false;
  bool keep_pods_ = true;
  std::thread thread_;
  // State.
  std::vector<Follow> streams_;           // pods, services
  std::map<std::string, Entry> entries_;  // by uid
  std::set<std::string> gone_;
  std::map<std::string, std::vector<ContainerStatus>> seen_;  // by pod's uid
  Checks checks_;
  PodRecorder recorder_;  // on the thread of events_
  DeviceLedger devices_;
  std::map<ContainerId, Sample> samples_;
  std::set<std::string> told_claims_;  // uids of those whose size was spoken of
  bool adopted_ = false;
  bool hosts_dirty_ = false;
  bool registered_ = false;
  Time next_lease_;
  Time next_upkeep_;
  Time next_prune_;
  std::pair<int64_t, int64_t> machine_ticks_{0, 0};  // busy, all
  // While the node runs: calls that wait for the server wait together.
  std::unique_ptr<WorkPool> writes_;
  std::unique_ptr<WorkPool> events_;
  std::unique_ptr<WorkPool> makers_;  // of pods: the kernel lets them wait most of the time
};

template <typename T>
T Node::Agent::ask(std::function<T()> question, T fallback) {
  auto answer = std::make_shared<std::promise<T>>();
  std::future<T> future = answer->get_future();
  bool posted = post([answer, question = std::move(question)] { answer->set_value(question()); });
  if (!posted) return fallback;
  answer.reset();
  try {
    return future.get();
  } catch (const std::future_error&) {
    return fallback;  // the node stopped before it came to it
  }
}

}  // namespace trainyard::node
