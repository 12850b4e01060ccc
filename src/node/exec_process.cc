// Commands that run beside a container, as direct children of the node.
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "node/files.h"
#include "node/process_runtime.h"
#include "node/shim_child.h"

namespace trainyard::node {

namespace {

constexpr int kConnectPatienceMs = 2000;

class Beside final : public ExecProcess {
 public:
  explicit Beside(Child child) : pid_(child.pid) {
    // The holder may take the streams away; the size of the terminal is still set here.
    if (child.tty) terminal_ = Fd(::fcntl(child.out.get(), F_DUPFD_CLOEXEC, 0));
    in = std::move(child.in);
    out = std::move(child.out);
    err = std::move(child.err);
    exited = Fd(static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0)));
  }
  ~Beside() override {
    if (code_) return;
    ::kill(-pid_, SIGKILL);
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  void resize(int columns, int rows) override {
    winsize size{};
    size.ws_col = static_cast<unsigned short>(columns);
    size.ws_row = static_cast<unsigned short>(rows);
    if (terminal_.valid()) ::ioctl(terminal_.get(), TIOCSWINSZ, &size);
  }
  std::optional<int> exit_code() override {
    int status = 0;
    if (!code_ && ::waitpid(pid_, &status, WNOHANG) == pid_) {
      code_ = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    }
    return code_;
  }

 private:
  pid_t pid_;
  Fd terminal_;
  std::optional<int> code_;
};

}  // namespace

Result<std::unique_ptr<ExecProcess>> run_beside(const ShimPlan& plan) {
  std::variant<Child, StartFailure> started = start_child(plan);
  if (auto* failure = std::get_if<StartFailure>(&started)) {
    return Error{ErrorKind::kInvalid, failure->message};
  }
  return std::unique_ptr<ExecProcess>(std::make_unique<Beside>(std::move(std::get<Child>(started))));
}

Result<Fd> connect_tcp(const std::string& ip, int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  if (::inet_pton(AF_INET, ip.c_str(), &address.sin_addr) != 1) {
    return Error{ErrorKind::kInvalid, fmt::format("{} is not an address", ip)};
  }
  Fd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd.valid()) return error_of(errno, "socket", ip);
  std::string where = fmt::format("{}:{}", ip, port);
  if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) return fd;
  if (errno != EINPROGRESS) return error_of(errno, "connect to", where);
  pollfd wait{fd.get(), POLLOUT, 0};
  if (::poll(&wait, 1, kConnectPatienceMs) <= 0) return error_of(ETIMEDOUT, "connect to", where);
  int failed = 0;
  socklen_t size = sizeof failed;
  ::getsockopt(fd.get(), SOL_SOCKET, SO_ERROR, &failed, &size);
  if (failed != 0) return error_of(failed, "connect to", where);
  return fd;
}

}  // namespace trainyard::node
