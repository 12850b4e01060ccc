#include "node/shim.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <ctime>
#include <map>

#include "node/files.h"
#include "node/log_writer.h"
#include "node/shim_attach.h"
#include "node/shim_child.h"
#include "node/shim_plan.h"

namespace trainyard::node {

namespace {

constexpr Duration kStragglerPatience{10'000};
constexpr size_t kStarterWordsMax = 4096;

int64_t nanos_now() {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<int64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

void nap_ms(int ms) { ::poll(nullptr, 0, ms); }

// Every process that was left to us.
std::vector<pid_t> children() {
  Result<std::string> text = read_whole(fmt::format("/proc/self/task/{}/children", ::getpid()));
  std::vector<pid_t> pids;
  if (!text.ok()) return pids;
  const char* at = text->c_str();
  for (char* end = nullptr;; at = end) {
    long pid = std::strtol(at, &end, 10);
    if (end == at) return pids;
    pids.push_back(static_cast<pid_t>(pid));
  }
}

class Shim {
 public:
  Shim(std::filesystem::path folder, ShimPlan plan)
      : folder_(std::move(folder)),
        plan_(std::move(plan)),
        log_(plan_.log_file, plan_.log_bytes_max, plan_.log_files_max),
        attachments_(folder_ / kShimSocket, plan_.stdin_once) {}

  int run();

 private:
  bool starts_another() const { return !plan_.container_pid_file.empty(); }
  bool begin();
  void note_running();
  void loop();
  void poll_once(std::vector<pollfd>& fds);
  void copy(Fd& from, LogStream stream);
  void reap();
  void on_ended(pid_t pid, int status);
  void on_starter_ended(int status);
  void end_stragglers();
  void run_after();
  void write_exit();

  // Fixed.
  std::filesystem::path folder_;
  ShimPlan plan_;
  // State.
  LogWriter log_;
  Attachments attachments_;
  Fd signals_;
  Child child_;
  pid_t main_ = 0;  // the container's first process; 0: not known yet
  bool ended_ = false;
  std::map<pid_t, int> early_;  // ends of processes seen before we knew who is who
  std::string starter_words_;
  ShimExit exit_;
};

bool Shim::begin() {
  sigset_t all;
  ::sigfillset(&all);
  ::sigprocmask(SIG_SETMASK, &all, nullptr);
  sigset_t child;
  ::sigemptyset(&child);
  ::sigaddset(&child, SIGCHLD);
  signals_ = Fd(::signalfd(-1, &child, SFD_NONBLOCK | SFD_CLOEXEC));
  if (!plan_.console_socket.empty()) attachments_.await_console(plan_.console_socket);
  exit_.started = wall_clock();
  std::variant<Child, StartFailure> started = start_child(plan_);
  if (auto* failure = std::get_if<StartFailure>(&started)) {
    exit_.exit_code = failure->exit_code;
    exit_.message = failure->message;
    return false;
  }
  child_ = std::move(std::get<Child>(started));
  attachments_.set_stdin(std::move(child_.in), child_.tty);
  if (!starts_another()) {
    main_ = child_.pid;
    note_running();
  }
  return true;
}

void Shim::note_running() {
  exit_.started = wall_clock();
  ShimState state{::getpid(), main_, start_ticks_of(main_).value_or(0), exit_.started};
  // Losing it with the power loses the container as well.
  (void)write_soon(folder_ / kShimStateFile, to_text(state)).ok();
  // Wakes the node; one that is not there reads the file when it comes back.
  [[maybe_unused]] ssize_t n = ::write(kShimLifeFd, "\n", 1);
}

void Shim::copy(Fd& from, LogStream stream) {
  char buffer[65536];
  for (int round = 0; round < 16 && from.valid(); ++round) {
    ssize_t n = ::read(from.get(), buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) return;
    // A terminal that nobody holds any more answers with an I/O error.
    if (n <= 0) return from.reset();
    std::string_view bytes(buffer, static_cast<size_t>(n));
    if (starts_another() && main_ == 0 && stream == LogStream::kErr) {
      starter_words_.append(
          bytes.substr(0, kStarterWordsMax - std::min(kStarterWordsMax, starter_words_.size())));
    }
    log_.write(stream, bytes, nanos_now());
    attachments_.tell(stream == LogStream::kErr, bytes);
  }
}

void Shim::poll_once(std::vector<pollfd>& fds) {
  fds.clear();
  fds.push_back({signals_.get(), POLLIN, 0});
  fds.push_back({child_.out.get(), POLLIN, 0});
  fds.push_back({child_.err.get(), POLLIN, 0});
  attachments_.add_to(fds);
  if (::poll(fds.data(), fds.size(), -1) < 0) return;
  if (fds[1].revents != 0) copy(child_.out, LogStream::kOut);
  if (fds[2].revents != 0) copy(child_.err, LogStream::kErr);
  attachments_.handle(fds);
  if (std::optional<Fd> console = attachments_.take_console()) {
    child_.out = std::move(*console);
    attachments_.set_stdin(Fd(::fcntl(child_.out.get(), F_DUPFD_CLOEXEC, 0)), true);
  }
  if (fds[0].revents != 0) {
    signalfd_siginfo ignored;
    while (::read(signals_.get(), &ignored, sizeof ignored) > 0) {
    }
    reap();
  }
}

void Shim::reap() {
  for (;;) {
    siginfo_t info{};
    if (::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == 0) return;
    // While the leader is not reaped its number still means its group and nobody else's.
    if (info.si_pid == main_ && !starts_another()) ::kill(-main_, SIGKILL);
    int status = 0;
    if (::waitpid(info.si_pid, &status, 0) == info.si_pid) on_ended(info.si_pid, status);
  }
}

void Shim::on_ended(pid_t pid, int status) {
  if (starts_another() && main_ == 0) {
    if (pid == child_.pid) return on_starter_ended(status);
    early_[pid] = status;
    return;
  }
  if (pid != main_) return;
  ended_ = true;
  exit_.finished = wall_clock();
  if (WIFSIGNALED(status)) {
    exit_.signal = WTERMSIG(status);
    exit_.exit_code = 128 + exit_.signal;
  } else {
    exit_.exit_code = WEXITSTATUS(status);
  }
}

void Shim::on_starter_ended(int status) {
  Result<std::string> pid = read_whole(plan_.container_pid_file);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0 && pid.ok()) {
    main_ = static_cast<pid_t>(std::strtol(pid->c_str(), nullptr, 10));
  }
  if (main_ > 1) {
    note_running();
    auto early = early_.find(main_);
    if (early != early_.end()) on_ended(main_, early->second);
    early_.clear();
    return;
  }
  ended_ = true;
  copy(child_.err, LogStream::kErr);
  exit_.exit_code = 128;
  exit_.message = starter_words_.empty() ? fmt::format("{} failed", plan_.argv.front()) : starter_words_;
}

void Shim::loop() {
  std::vector<pollfd> fds;
  while (!ended_) poll_once(fds);
}

// What the container started and did not wait for dies with it, as in a pid namespace.
void Shim::end_stragglers() {
  for (int round = 0; round < kStragglerPatience.count() / 10; ++round) {
    for (pid_t pid : children()) ::kill(pid, SIGKILL);
    pid_t ended = 0;
    while ((ended = ::waitpid(-1, nullptr, WNOHANG)) > 0) {
    }
    if (ended < 0 && errno == ECHILD) return;
    nap_ms(10);
  }
}

void Shim::run_after() {
  if (plan_.after_argv.empty()) return;
  ShimPlan after;
  after.argv = plan_.after_argv;
  after.env = plan_.env;
  std::variant<Child, StartFailure> started = start_child(after);
  auto* child = std::get_if<Child>(&started);
  if (child == nullptr) return;
  child->out.reset();
  child->err.reset();
  ::waitpid(child->pid, nullptr, 0);
}

void Shim::write_exit() {
  if (exit_.finished.ms == 0) exit_.finished = wall_clock();
  // Without it the exit code is lost: try for as long as there is hope (a full disk).
  for (int round = 0; round < 600; ++round) {
    if (write_whole(folder_ / kShimExitFile, to_text(exit_)).ok()) return;
    if (::access(folder_.c_str(), F_OK) != 0) return;
    nap_ms(1000);
  }
}

int Shim::run() {
  if (begin()) loop();
  end_stragglers();
  copy(child_.out, LogStream::kOut);
  copy(child_.err, LogStream::kErr);
  log_.finish(nanos_now());
  run_after();
  write_exit();
  attachments_.finish(exit_.exit_code);
  return 0;
}

void leave_the_node() {
  ::setsid();
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  ::prctl(PR_SET_NAME, "trainyard-shim");
  ::fcntl(kShimLifeFd, F_SETFD, FD_CLOEXEC);
  ::syscall(SYS_close_range, kShimLifeFd + 1, ~0U, 0);
  Fd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  for (int fd : {0, 1, 2}) ::dup2(null.get(), fd);
  ::signal(SIGPIPE, SIG_IGN);
}

}  // namespace

int shim_main(const std::string& plan_file) {
  pid_t pid = ::fork();
  if (pid != 0) return pid < 0 ? 1 : 0;
  leave_the_node();
  std::filesystem::path folder = std::filesystem::path(plan_file).parent_path();
  if (::chdir(folder.c_str()) != 0) ::_exit(1);
  Result<std::string> text = read_whole(plan_file);
  if (!text.ok()) ::_exit(1);
  Result<ShimPlan> plan = read_shim_plan(*text);
  if (!plan.ok()) ::_exit(1);
  Shim shim(folder, std::move(plan).value());
  ::_exit(shim.run());
}

}  // namespace trainyard::node
