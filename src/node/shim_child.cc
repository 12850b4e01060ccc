#include "node/shim_child.h"

#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <variant>

#include "kube/access.h"
#include "node/pipe.h"

namespace trainyard::node {

namespace {

// Where starting a process went wrong, told through a pipe that exec closes.
enum class Stage : int { kCgroup, kSession, kStreams, kUser, kFolder, kExec };

struct Report {
  Stage stage = Stage::kExec;
  int error = 0;
};

struct Streams {
  Fd in, out, err;  // the child's ends
};

[[noreturn]] void give_up(int report, Stage stage) {
  Report words{stage, errno};
  [[maybe_unused]] ssize_t n = ::write(report, &words, sizeof words);
  ::_exit(127);
}

void reset_signals() {
  for (int signal = 1; signal < NSIG; ++signal) ::signal(signal, SIG_DFL);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

bool take_user(const ShimPlan& plan) {
  if (!plan.uid && !plan.gid) return true;
  gid_t gid = static_cast<gid_t>(plan.gid.value_or(::getgid()));
  uid_t uid = static_cast<uid_t>(plan.uid.value_or(::getuid()));
  if (uid == ::getuid() && gid == ::getgid()) return true;
  return ::setgroups(0, nullptr) == 0 && ::setgid(gid) == 0 && ::setuid(uid) == 0;
}

[[noreturn]] void become(const ShimPlan& plan, const std::string& file, const Streams& streams, int report) {
  for (const std::string& procs : plan.cgroup_procs) {
    Fd fd(::open(procs.c_str(), O_WRONLY | O_CLOEXEC));
    if (!fd.valid() || ::write(fd.get(), "0", 1) != 1) give_up(report, Stage::kCgroup);
  }
  if (::setsid() < 0) give_up(report, Stage::kSession);
  if (plan.tty && plan.container_pid_file.empty() && ::ioctl(streams.in.get(), TIOCSCTTY, 0) != 0) {
    give_up(report, Stage::kSession);
  }
  if (::dup2(streams.in.get(), 0) < 0 || ::dup2(streams.out.get(), 1) < 0 ||
      ::dup2(streams.err.get(), 2) < 0) {
    give_up(report, Stage::kStreams);
  }
  if (!take_user(plan)) give_up(report, Stage::kUser);
  if (!plan.cwd.empty() && ::chdir(plan.cwd.c_str()) != 0) give_up(report, Stage::kFolder);
  reset_signals();
  ::umask(022);
  // A container without its shim would be nobody's.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  std::vector<char*> argv;
  for (const std::string& word : plan.argv) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  std::vector<std::string> pairs;
  for (const auto& [name, value] : plan.env) pairs.push_back(name + "=" + value);
  std::vector<char*> env;
  for (const std::string& pair : pairs) env.push_back(const_cast<char*>(pair.c_str()));
  env.push_back(nullptr);
  ::execve(file.c_str(), argv.data(), env.data());
  give_up(report, Stage::kExec);
}

StartFailure failure_of(const ShimPlan& plan, const Report& report) {
  const char* why = std::strerror(report.error);
  switch (report.stage) {
    case Stage::kCgroup:
      return {128, fmt::format("cannot join its cgroup: {}", why)};
    case Stage::kSession:
      return {128, fmt::format("cannot have a session of its own: {}", why)};
    case Stage::kStreams:
      return {128, fmt::format("cannot take its streams: {}", why)};
    case Stage::kUser:
      return {128, fmt::format("cannot run as user {}: {}", plan.uid.value_or(0), why)};
    case Stage::kFolder:
      return {128, fmt::format("chdir to cwd (\"{}\") failed: {}", kube::shown(plan.cwd), why)};
    case Stage::kExec:
      return {report.error == ENOENT ? 127 : 126,
              fmt::format("exec: \"{}\": {}", kube::shown(plan.argv.front()), why)};
  }
  return {128, why};
}

// Makes the streams: the child's ends go to `theirs`, ours stay in the result.
std::optional<Child> make_streams(const ShimPlan& plan, Streams& theirs) {
  Child child;
  if (plan.tty && plan.container_pid_file.empty()) {
    child.out = Fd(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
    if (!child.out.valid() || ::grantpt(child.out.get()) != 0 || ::unlockpt(child.out.get()) != 0) return {};
    char name[128];
    if (::ptsname_r(child.out.get(), name, sizeof name) != 0) return {};
    theirs.in = Fd(::open(name, O_RDWR | O_NOCTTY | O_CLOEXEC));
    theirs.out = Fd(::fcntl(theirs.in.get(), F_DUPFD_CLOEXEC, 0));
    theirs.err = Fd(::fcntl(theirs.in.get(), F_DUPFD_CLOEXEC, 0));
    child.in = Fd(::fcntl(child.out.get(), F_DUPFD_CLOEXEC, 0));
    child.tty = true;
    return child;
  }
  std::optional<Pipe> out = make_pipe();
  std::optional<Pipe> err = make_pipe();
  if (!out || !err) return {};
  child.out = std::move(out->read);
  child.err = std::move(err->read);
  theirs.out = std::move(out->write);
  theirs.err = std::move(err->write);
  if (!plan.stdin_open) {
    theirs.in = Fd(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    return child;
  }
  std::optional<Pipe> in = make_pipe();
  if (!in) return {};
  child.in = std::move(in->write);
  theirs.in = std::move(in->read);
  return child;
}

}  // namespace

void set_nonblocking(int fd) { ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK); }

Result<std::string> find_command(const std::string& command,
                                 const std::vector<std::pair<std::string, std::string>>& env) {
  if (command.find('/') != std::string::npos) return command;
  std::string path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
  for (const auto& [name, value] : env) {
    if (name == "PATH") path = value;
  }
  for (size_t at = 0; at <= path.size();) {
    size_t end = std::min(path.find(':', at), path.size());
    std::string file = path.substr(at, end - at) + "/" + command;
    if (end > at && ::access(file.c_str(), X_OK) == 0) return file;
    at = end + 1;
  }
  return Error{ErrorKind::kNotFound,
               fmt::format("exec: \"{}\": executable file not found in $PATH", kube::shown(command))};
}

std::variant<Child, StartFailure> start_child(const ShimPlan& plan) {
  Result<std::string> file = find_command(plan.argv.front(), plan.env);
  if (!file.ok()) return StartFailure{127, file.error().message};
  Streams theirs;
  std::optional<Child> child = make_streams(plan, theirs);
  std::optional<Pipe> report = make_pipe();
  if (!child || !report) return StartFailure{128, fmt::format("no streams: {}", std::strerror(errno))};
  child->pid = ::fork();
  if (child->pid < 0) return StartFailure{128, fmt::format("fork: {}", std::strerror(errno))};
  if (child->pid == 0) become(plan, *file, theirs, report->write.get());
  report->write.reset();
  Report words;
  ssize_t n = 0;
  while ((n = ::read(report->read.get(), &words, sizeof words)) < 0 && errno == EINTR) {
  }
  if (n == static_cast<ssize_t>(sizeof words)) {
    ::waitpid(child->pid, nullptr, 0);
    return failure_of(plan, words);
  }
  for (const Fd* fd : {&child->in, &child->out, &child->err}) {
    if (fd->valid()) set_nonblocking(fd->get());
  }
  return std::move(*child);
}

}  // namespace trainyard::node
