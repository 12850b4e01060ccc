#include "node/sandbox_exec.h"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <atomic>
#include <charconv>
#include <cstdlib>

#include "node/files.h"
#include "node/process_runtime.h"
#include "node/sandbox_words.h"

namespace trainyard::node {
namespace {

constexpr int kPatienceMs = 1000;

class Inside final : public ExecProcess {
 public:
  Inside(std::unique_ptr<ExecProcess> outer, std::filesystem::path pid_file, bool tty)
      : outer_(std::move(outer)), pid_file_(std::move(pid_file)), tty_(tty) {
    in = std::move(outer_->in);
    out = std::move(outer_->out);
    err = std::move(outer_->err);
    exited = std::move(outer_->exited);
  }

  ~Inside() override {
    if (!outer_->exit_code()) kill_inside();
    ::unlink(pid_file_.c_str());
  }

  void resize(int columns, int rows) override {
    winsize size{};
    size.ws_col = static_cast<unsigned short>(columns);
    size.ws_row = static_cast<unsigned short>(rows);
    if (tty_) ::ioctl(out.get(), TIOCSWINSZ, &size);
  }

  std::optional<int> exit_code() override { return outer_->exit_code(); }

  // runc writes the pid down once the command runs; what it says before that are words of
  // its own.
  Result<bool> begun() override {
    if (failure_) return *failure_;
    std::optional<int> code = outer_->exit_code();  // first: it may begin and end in between
    if (::access(pid_file_.c_str(), F_OK) == 0) return true;
    if (!code) return false;
    std::string words;
    for (Fd* stream : {&out, &err}) {
      char buffer[4096];
      ssize_t n = 0;
      while (stream->valid() && (n = ::read(stream->get(), buffer, sizeof buffer)) > 0) {
        words.append(buffer, static_cast<size_t>(n));
      }
      stream->reset();
    }
    failure_ = Error{ErrorKind::kUnavailable, read_start_failure(words).message};
    return *failure_;
  }

 private:
  // Ending runc alone would leave the process that it started in the container. Its pid is
  // known once runc has started it.
  void kill_inside() {
    for (int waited = 0; waited < kPatienceMs && !outer_->exit_code(); waited += 5) {
      Result<std::string> text = read_whole(pid_file_);
      int pid = 0;
      if (text.ok()) std::from_chars(text->data(), text->data() + text->size(), pid);
      if (pid > 1) {
        ::kill(pid, SIGKILL);
        return;
      }
      ::poll(nullptr, 0, 5);
    }
  }

  std::unique_ptr<ExecProcess> outer_;
  std::filesystem::path pid_file_;
  bool tty_;
  std::optional<Error> failure_;
};

}  // namespace

std::string sandbox_name(const ContainerId& id) {
  return fmt::format("{}.{}.{}", id.pod_uid, id.container, id.attempt);
}

std::vector<std::pair<std::string, std::string>> tool_environment() {
  std::vector<std::pair<std::string, std::string>> env = {
      {"PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}};
  for (const char* name : {"XDG_RUNTIME_DIR", "HOME"}) {
    if (const char* value = std::getenv(name)) env.emplace_back(name, value);
  }
  return env;
}

Result<std::unique_ptr<ExecProcess>> sandbox_exec(const std::filesystem::path& runtime,
                                                  const std::filesystem::path& state,
                                                  const std::filesystem::path& bundle, const ContainerId& id,
                                                  const ExecPlan& plan) {
  static std::atomic<uint64_t> count = 0;
  std::filesystem::path pid_file = bundle / fmt::format("exec-{}-{}", ::getpid(), ++count);
  ShimPlan command;
  command.argv = {runtime.string(), "--root", state.string(), "exec", "--pid-file", pid_file.string()};
  // As containerd has it, so that shells and editors know their terminal.
  if (plan.tty) command.argv.insert(command.argv.end(), {"--tty", "--env", "TERM=xterm"});
  command.argv.push_back(sandbox_name(id));
  command.argv.insert(command.argv.end(), plan.argv.begin(), plan.argv.end());
  command.env = tool_environment();
  command.cwd = "/";
  command.tty = plan.tty;
  command.stdin_open = plan.in;
  Result<std::unique_ptr<ExecProcess>> outer = run_beside(command);
  if (!outer.ok()) return outer.error();
  return std::unique_ptr<ExecProcess>(
      std::make_unique<Inside>(std::move(outer).value(), std::move(pid_file), plan.tty));
}

}  // namespace trainyard::node
