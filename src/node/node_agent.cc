#include "node/node_agent.h"

#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "kube/access.h"
#include "kube/meta.h"
#include "node/files.h"

namespace trainyard::node {

namespace {

constexpr size_t kPods = 0;
constexpr size_t kServices = 1;
constexpr Duration kIdleMax{10'000};
constexpr Duration kStatusEvery{300'000};

void keep_earlier(std::optional<Time>& earliest, std::optional<Time> other) {
  if (other && (!earliest || *other < *earliest)) earliest = other;
}

}  // namespace

Node::Agent::Agent(NodeOptions options, client::Client& client, client::WatchSource& watches,
                   Runtime& runtime)
    : options_(std::move(options)),
      client_(client),
      watches_(watches),
      runtime_(runtime),
      volumes_(options_.data_dir),
      logs_(options_.data_dir / "logs"),
      facts_(read_machine_facts()),
      wake_fd_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      recorder_(options_.name) {
  CHECK(options_.clock != nullptr);
  // What is elsewhere, or nowhere yet, is nothing to this node: of most pods it never hears.
  client::Stream own_pods{kube::kPods, {}, ""};
  own_pods.fields.add("spec.nodeName", options_.name);
  streams_.push_back({client::Watcher(std::move(own_pods)), {}, nullptr, 0});
  streams_.push_back({client::Watcher({kube::kServices, {}, ""}), {}, nullptr, 0});
  Result<std::string> text = read_whole(options_.data_dir / "gpus.json");
  if (!text.ok()) return;
  Result<DeviceLedger> ledger = DeviceLedger::from_text(*text);
  if (ledger.ok()) devices_ = *ledger;
}

Node::Agent::~Agent() { stop(true); }

void Node::Agent::start() {
  std::lock_guard lock(mutex_);
  CHECK(!thread_.joinable());
  stopping_ = false;
  runs_ = true;
  thread_ = std::thread([this] { run(); });
}

void Node::Agent::stop(bool keep_pods) {
  {
    std::lock_guard lock(mutex_);
    if (!thread_.joinable()) return;
    stopping_ = true;
    keep_pods_ = keep_pods;
  }
  (void)post([] {});
  thread_.join();
  std::lock_guard lock(mutex_);
  thread_ = {};
}

bool Node::Agent::is_stopping() {
  std::lock_guard lock(mutex_);
  return stopping_;
}

bool Node::Agent::post(std::function<void()> task) {
  bool is_first = false;
  {
    std::lock_guard lock(mutex_);
    if (!runs_) return false;
    is_first = tasks_.empty();
    tasks_.push_back(std::move(task));
  }
  // All that wait are taken together: whoever came first has woken the thread for the others too.
  if (!is_first) return true;
  uint64_t one = 1;
  [[maybe_unused]] ssize_t n = ::write(wake_fd_.get(), &one, sizeof one);
  return true;
}

void Node::Agent::run() {
  constexpr int kWriters = 8;
  constexpr int kMakers = 8;
  constexpr size_t kWaitingMax = 100'000;
  constexpr size_t kEventsWaitingMax = 5'000;
  writes_ = std::make_unique<WorkPool>(kWriters, kWaitingMax);
  events_ = std::make_unique<WorkPool>(1, kEventsWaitingMax);
  makers_ = std::make_unique<WorkPool>(kMakers, kWaitingMax);
  for (;;) {
    turn();
    if (is_stopping()) break;
    wait(next_wake());
  }
  for (Follow& stream : streams_) stream.open.reset();
  makers_.reset();
  writes_.reset();
  events_.reset();
  std::deque<std::function<void()>> unanswered;
  {
    std::lock_guard lock(mutex_);
    runs_ = false;
    unanswered.swap(tasks_);
    if (keep_pods_) return;
  }
  end_all();
}

void Node::Agent::turn() {
  std::deque<std::function<void()>> tasks;
  {
    std::lock_guard lock(mutex_);
    tasks.swap(tasks_);
  }
  for (const std::function<void()>& task : tasks) task();
  Time now = options_.clock();
  follow_all(now);
  if (streams_[kPods].cache.synced()) {
    if (!adopted_) adopt();
    keep_up(now);
    step_pods(options_.clock());
  }
  keep_registered(now);
}

// Sleeps until something happens: a task, a container, a check, or its time.
void Node::Agent::wait(std::optional<Time> until) {
  Duration pause = kIdleMax;
  if (until) pause = std::clamp(*until - options_.clock(), Duration{0}, kIdleMax);
  std::vector<pollfd> fds{{wake_fd_.get(), POLLIN, 0}, {runtime_.changes(), POLLIN, 0}};
  checks_.add_to(fds);
  ::poll(fds.data(), fds.size(), static_cast<int>(pause.count()));
  uint64_t ignored;
  [[maybe_unused]] ssize_t n = ::read(wake_fd_.get(), &ignored, sizeof ignored);
}

std::optional<Time> Node::Agent::next_wake() const {
  std::optional<Time> wake = next_lease_;
  keep_earlier(wake, next_upkeep_);
  for (const Follow& stream : streams_) keep_earlier(wake, stream.watcher.next_ask());
  keep_earlier(wake, checks_.deadline());
  for (const auto& [uid, entry] : entries_) {
    if (entry.busy) continue;
    keep_earlier(wake, entry.wake);
    if (entry.dirty && !gone_.contains(uid)) wake = Time{};
  }
  return wake;
}

// ---- streams ----------------------------------------------------------------------

void Node::Agent::follow_all(Time now) {
  for (size_t stream = 0; stream < streams_.size(); ++stream) follow(stream, now);
}

void Node::Agent::follow(size_t stream, Time now) {
  Follow& follow = streams_[stream];
  while (std::optional<kube::Request> request = follow.watcher.ask(now)) {
    uint64_t generation = ++follow.generation;
    follow.open.reset();
    if (!std::holds_alternative<kube::Watch>(request->verb)) {
      take_in(stream, follow.watcher.on_list(client_.send(std::move(*request)), now), now);
      continue;
    }
    // Both are called on a thread of the source's own.
    auto on_event = [this, stream, generation](client::WatchEvent event) {
      (void)post([this, stream, generation, event = std::move(event)] {
        if (streams_[stream].generation != generation) return;
        Time seen = options_.clock();
        take_in(stream, streams_[stream].watcher.on_event(event, seen), seen);
      });
    };
    auto on_closed = [this, stream, generation](const std::optional<Error>& error) {
      (void)post([this, stream, generation, error] {
        if (streams_[stream].generation == generation)
          streams_[stream].watcher.on_closed(error, options_.clock());
      });
    };
    follow.open = watches_.open(*request, {std::move(on_event), std::move(on_closed)});
    return;
  }
}

void Node::Agent::take_in(size_t stream, const std::vector<client::Output>& outputs, Time now) {
  for (const client::Output& output : outputs) {
    for (const client::Changed& changed : streams_[stream].cache.apply(output, now)) {
      if (stream == kPods) see_pod(changed.before(), changed.after);
      if (stream == kServices) hosts_dirty_ = true;
    }
  }
}

void Node::Agent::see_pod(const Object& before, const Object& after) {
  if (before != nullptr) {
    std::string uid(kube::uid_of(*before));
    bool same = after != nullptr && kube::uid_of(*after) == uid;
    if (!same && entries_.contains(uid)) gone_.insert(uid);
  }
  if (after == nullptr || kube::text_at(*after, {"spec", "nodeName"}) != options_.name) return;
  Entry& entry = entries_[std::string(kube::uid_of(*after))];
  refresh_pod(entry, after);
}

// Takes it unless it is older than what is known.
void Node::Agent::refresh_pod(Entry& entry, const Object& pod) {
  if (entry.pod != nullptr && kube::version_of(*entry.pod) > kube::version_of(*pod)) return;
  auto ip_of = [](const Object& each) {
    return each != nullptr ? kube::text_at(*each, {"status", "podIP"}) : std::string_view();
  };
  if (ip_of(entry.pod) != ip_of(pod)) hosts_dirty_ = true;
  entry.pod = pod;
  entry.dirty = true;
}

// ---- the Node object -----------------------------------------------------------------

void Node::Agent::keep_registered(Time now) {
  if (now < next_lease_ && next_lease_ - now <= kStatusEvery) return;
  bool well = true;
  Result<client::Object> node = client::get(client_, kNodes, "", options_.name);
  if (!node.ok() && node.error().kind == ErrorKind::kNotFound) {
    node = client::create(client_, kNodes, "", node_object(options_, facts_));
    registered_ = false;
  }
  well = node.ok();
  if (node.ok() && !registered_) {
    json::object body = **node;
    const json::object* before = kube::object_at(body, {"status"});
    body["status"] = node_status(options_, facts_, runtime_.name(), before, now);
    registered_ = client::update_status(client_, kNodes, "", std::move(body)).ok();
    well = registered_;
  }
  json::object lease = node_lease(options_, now);
  kube::Patch renewal{options_.name, kube::PatchKind::kMerge, json::object{{"spec", lease["spec"]}}};
  Result<client::Object> renewed = client::patch(client_, kube::kLeases, kLeaseNamespace, std::move(renewal));
  if (!renewed.ok() && renewed.error().kind == ErrorKind::kNotFound) {
    renewed = client::create(client_, kube::kLeases, kLeaseNamespace, std::move(lease));
  }
  next_lease_ = now + (well && renewed.ok() ? kLeaseEvery : seconds(1));
}

}  // namespace trainyard::node
