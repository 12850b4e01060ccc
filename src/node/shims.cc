#include "node/shims.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>

#include "node/files.h"
#include "node/shim.h"
#include "node/shim_attach.h"

extern char** environ;

namespace trainyard::node {

namespace {

constexpr int kLostExitCode = 137;
constexpr Duration kDestroyPatience{15'000};
constexpr Duration kBeginPatience{2'000};

std::optional<int> attempt_of(const std::string& name) {
  int attempt = 0;
  auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), attempt);
  if (error != std::errc() || end != name.data() + name.size() || attempt < 0) return std::nullopt;
  return attempt;
}

std::vector<std::filesystem::path> entries_of(const std::filesystem::path& folder) {
  std::error_code error;
  std::vector<std::filesystem::path> found;
  for (std::filesystem::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    found.push_back(it->path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

std::optional<ShimState> read_state(const std::filesystem::path& folder) {
  Result<std::string> text = read_whole(folder / kShimStateFile);
  if (!text.ok()) return std::nullopt;
  Result<ShimState> state = read_shim_state(*text);
  if (!state.ok()) return std::nullopt;
  return *state;
}

// The attachment as the node holds it.
class Attached final : public ExecProcess {
 public:
  explicit Attached(Fd connection) : connection_(std::move(connection)) {
    exited = Fd(::fcntl(connection_.get(), F_DUPFD_CLOEXEC, 0));
  }
  void resize(int columns, int rows) override {
    send_fds(connection_.get(), fmt::format("resize {} {}", columns, rows), {});
  }
  std::optional<int> exit_code() override {
    if (code_) return code_;
    std::vector<Fd> none;
    bool closed = false;
    std::optional<std::string> text = receive_fds(connection_.get(), none, closed);
    if (text && text->starts_with("exit "))
      code_ = static_cast<int>(std::strtol(text->c_str() + 5, nullptr, 10));
    if (closed) code_ = kLostExitCode;
    return code_;
  }

 private:
  Fd connection_;
  std::optional<int> code_;
};

}  // namespace

struct Shims::Entry {
  std::filesystem::path folder;
  Fd life;                 // the reading end; not valid once the shim is gone
  bool begun = false;      // a shim has been on its way
  bool has_state = false;  // status.started is what the shim wrote
  ContainerStatus status;
};

namespace {

Fd open_life(const std::filesystem::path& folder) {
  return Fd(::open((folder / kShimLifeFifo).c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
}

bool is_alive(const Fd& life) {
  char ignored[16];
  ssize_t n = life.valid() ? ::read(life.get(), ignored, sizeof ignored) : 0;
  return n > 0 || (n < 0 && errno == EAGAIN);
}

}  // namespace

Shims::Shims(ShimsOptions options) : options_(std::move(options)), epoll_(::epoll_create1(EPOLL_CLOEXEC)) {
  scan();
}

// They leave as soon as they have forked; not waited for they would stay as zombies.
Shims::~Shims() {
  for (int pid : starters_) ::waitpid(pid, nullptr, 0);
}

std::filesystem::path Shims::folder(const ContainerId& id) const {
  return options_.root / id.pod_uid / "containers" / id.container / std::to_string(id.attempt);
}

int Shims::changes() const { return epoll_.get(); }

// Finds what an earlier life of the node started.
void Shims::scan() {
  for (const auto& pod : entries_of(options_.root)) {
    for (const auto& container : entries_of(pod / "containers")) {
      for (const auto& attempt : entries_of(container)) {
        std::optional<int> number = attempt_of(attempt.filename());
        if (!number) continue;
        ContainerId id{pod.filename(), container.filename(), *number};
        Entry entry;
        entry.folder = attempt;
        entry.status.id = id;
        watch(id, entry);
        refresh(entry);
        if (entry.begun) entries_.emplace(id, std::move(entry));
      }
    }
  }
}

// Holds the reading end of its FIFO: EOF means that nobody has the other end.
void Shims::watch(const ContainerId&, Entry& entry) {
  entry.life = open_life(entry.folder);
  if (!entry.life.valid()) return;
  epoll_event event{};
  event.events = EPOLLIN | EPOLLHUP;
  event.data.fd = entry.life.get();
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, entry.life.get(), &event);
}

void Shims::refresh(Entry& entry) {
  if (entry.status.phase == ContainerPhase::kExited) return;
  bool alive = is_alive(entry.life);
  if (alive && entry.has_state) return;
  std::optional<ShimState> state = read_state(entry.folder);
  entry.has_state = state.has_value();
  if (state) {
    entry.status.started = state->started;
    entry.status.phase = ContainerPhase::kRunning;
  }
  entry.begun = entry.begun || alive || state;
  if (alive) return;
  entry.life.reset();
  Result<std::string> exit_text = read_whole(entry.folder / kShimExitFile);
  Result<ShimExit> exit = exit_text.ok() ? read_shim_exit(*exit_text) : Result<ShimExit>(exit_text.error());
  if (exit.ok()) {
    entry.begun = true;
    entry.status.started = exit->started;
    entry.status.finished = exit->finished;
    entry.status.exit_code = exit->exit_code;
    entry.status.signal = exit->signal;
    entry.status.message = exit->message;
    entry.status.phase = ContainerPhase::kExited;
    return;
  }
  if (!entry.begun) return;
  // The shim is gone without a word: killed, or the machine went down.
  if (state && start_ticks_of(state->pid) == state->pid_start_ticks) {
    ::kill(static_cast<pid_t>(-state->pid), SIGKILL);
    ::kill(static_cast<pid_t>(state->pid), SIGKILL);
  }
  entry.status.phase = ContainerPhase::kExited;
  entry.status.exit_code = kLostExitCode;
  entry.status.finished = wall_clock();
  entry.status.message = "its watcher was killed: how the container ended is not known";
  ShimExit record{entry.status.started, entry.status.finished, kLostExitCode, 0, entry.status.message};
  (void)write_whole(entry.folder / kShimExitFile, to_text(record)).ok();
}

Result<Done> Shims::start(const ContainerId& id, const ShimPlan& plan) {
  std::lock_guard lock(mutex_);
  reap_starters();
  if (entries_.contains(id)) return Done{};
  Entry entry;
  entry.folder = folder(id);
  entry.status.id = id;
  Result<Done> made = make_folders(entry.folder);
  if (made.ok()) made = make_folders(std::filesystem::path(plan.log_file).parent_path());
  // A machine that loses power loses the container with its plan.
  if (made.ok()) made = write_soon(entry.folder / kShimPlanFile, to_text(plan));
  if (!made.ok()) return made;
  std::filesystem::path life = entry.folder / kShimLifeFifo;
  if (::mkfifo(life.c_str(), 0600) != 0 && errno != EEXIST) return error_of(errno, "mkfifo", life.native());
  watch(id, entry);
  Fd writer(::open(life.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC));
  if (!entry.life.valid() || !writer.valid()) return error_of(errno, "open", life.native());

  std::vector<std::string> words = options_.shim_argv;
  words.push_back(entry.folder / kShimPlanFile);
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  if (writer.get() == kShimLifeFd) writer.reset(::fcntl(writer.get(), F_DUPFD_CLOEXEC, kShimLifeFd + 1));
  ::posix_spawn_file_actions_adddup2(&actions, writer.get(), kShimLifeFd);
  pid_t pid = 0;
  int failed = ::posix_spawn(&pid, argv[0], &actions, nullptr, argv.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) return error_of(failed, "start a shim", argv[0]);
  starters_.push_back(pid);
  entry.begun = true;
  entry.status.started = wall_clock();
  entries_.emplace(id, std::move(entry));
  return Done{};
}

void Shims::reap_starters() {
  std::erase_if(starters_, [](int pid) { return ::waitpid(pid, nullptr, WNOHANG) != 0; });
}

std::vector<ContainerStatus> Shims::list(const std::string& pod_uid) {
  std::lock_guard lock(mutex_);
  std::vector<ContainerStatus> found;
  for (auto it = entries_.lower_bound({pod_uid, "", 0}); it != entries_.end(); ++it) {
    if (it->first.pod_uid != pod_uid) break;
    refresh(it->second);
    found.push_back(it->second.status);
  }
  return found;
}

std::vector<ContainerStatus> Shims::list() {
  std::lock_guard lock(mutex_);
  reap_starters();
  std::vector<ContainerStatus> all;
  for (auto& [id, entry] : entries_) {
    refresh(entry);
    all.push_back(entry.status);
  }
  return all;
}

std::optional<ContainerStatus> Shims::find(const ContainerId& id) {
  std::lock_guard lock(mutex_);
  auto found = entries_.find(id);
  if (found == entries_.end()) return std::nullopt;
  refresh(found->second);
  return found->second.status;
}

void Shims::drain_changes() {
  std::lock_guard lock(mutex_);
  reap_starters();
  for (auto& [id, entry] : entries_) refresh(entry);
}

std::optional<ShimState> Shims::state(const ContainerId& id) {
  std::optional<ContainerStatus> status = find(id);
  if (!status || status->phase != ContainerPhase::kRunning) return std::nullopt;
  return read_state(folder(id));
}

Result<ShimPlan> Shims::plan(const ContainerId& id) const {
  Result<std::string> text = read_whole(folder(id) / kShimPlanFile);
  if (!text.ok()) return text.error();
  return read_shim_plan(*text);
}

Result<Done> Shims::signal(const ContainerId& id, int signal, Reach reach) {
  std::optional<ShimState> running = state(id);
  // A shim that has just been started needs a moment to begin.
  for (int waited = 0; !running && waited < kBeginPatience.count(); waited += 5) {
    std::optional<ContainerStatus> status = find(id);
    if (!status || status->phase == ContainerPhase::kExited) break;
    ::poll(nullptr, 0, 5);
    running = state(id);
  }
  if (!running || start_ticks_of(running->pid) != running->pid_start_ticks) {
    return Error{ErrorKind::kNotFound, fmt::format("container {} does not run", id.container)};
  }
  pid_t pid = static_cast<pid_t>(running->pid);
  bool to_group = reach == Reach::kGroup && ::getpgid(pid) == pid;
  int failed = ::kill(to_group ? -pid : pid, signal);
  if (failed != 0 && errno != ESRCH) return error_of(errno, "kill", id.container);
  return Done{};
}

Result<std::unique_ptr<ExecProcess>> Shims::attach(const ContainerId& id, const ExecPlan& plan) {
  Result<Fd> connection = connect_to(folder(id) / kShimSocket, SOCK_SEQPACKET);
  if (!connection.ok()) return connection.error();
  auto attached = std::make_unique<Attached>(std::move(connection).value());
  std::string flags;
  std::vector<Fd> theirs;
  auto add = [&](char flag, Fd& ours, bool we_read) {
    int fds[2];
    if (::pipe2(fds, O_CLOEXEC | O_NONBLOCK) != 0) return;
    ours = Fd(fds[we_read ? 0 : 1]);
    theirs.emplace_back(fds[we_read ? 1 : 0]);
    flags += flag;
  };
  if (plan.in) add(kAttachIn, attached->in, false);
  add(kAttachOut, attached->out, true);
  if (!plan.tty) add(kAttachErr, attached->err, true);
  std::vector<int> fds;
  for (const Fd& fd : theirs) fds.push_back(fd.get());
  if (!send_fds(attached->exited.get(), "attach " + flags, fds))
    return error_of(errno, "attach to", id.container);
  return std::unique_ptr<ExecProcess>(std::move(attached));
}

Result<Done> Shims::remove(const ContainerId& id) {
  std::optional<ContainerStatus> status = find(id);
  if (!status) return Done{};
  if (status->phase != ContainerPhase::kExited) {
    return Error{ErrorKind::kConflict, fmt::format("container {} still runs", id.container)};
  }
  std::error_code error;
  std::filesystem::remove_all(folder(id), error);
  std::lock_guard lock(mutex_);
  entries_.erase(id);
  return Done{};
}

Result<Done> Shims::destroy(const std::string& pod_uid) {
  std::vector<ContainerId> ids;
  for (const ContainerStatus& status : list(pod_uid)) ids.push_back(status.id);
  for (int waited = 0;; waited += 10) {
    bool running = false;
    for (const ContainerId& id : ids) {
      std::optional<ContainerStatus> status = find(id);
      if (!status || status->phase == ContainerPhase::kExited) continue;
      running = true;
      (void)signal(id, SIGKILL, Reach::kGroup).ok();
    }
    if (!running) break;
    if (waited >= kDestroyPatience.count()) {
      return Error{ErrorKind::kUnavailable, fmt::format("pod {}: its processes do not end", pod_uid)};
    }
    ::poll(nullptr, 0, 10);
  }
  for (const ContainerId& id : ids) {
    Result<Done> removed = remove(id);
    if (!removed.ok()) return removed;
  }
  std::error_code error;
  std::filesystem::remove_all(options_.root / pod_uid / "containers", error);
  return Done{};
}

static bool has_one_that_runs(const std::filesystem::path& pod) {
  for (const auto& container : entries_of(pod / "containers")) {
    for (const auto& attempt : entries_of(container)) {
      if (is_alive(open_life(attempt))) return true;
    }
  }
  return false;
}

int pods_running_below(const std::filesystem::path& root) {
  int running = 0;
  for (const auto& pod : entries_of(root)) running += has_one_that_runs(pod) ? 1 : 0;
  return running;
}

}  // namespace trainyard::node
