#include "node/shim_attach.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "node/files.h"
#include "node/shim_child.h"

namespace trainyard::node {

namespace {

constexpr size_t kFdsPerMessageMax = 3;

struct Address {
  Fd folder;
  sockaddr_un name{};
};

Result<Address> address_of(const std::filesystem::path& socket) {
  Address address;
  address.folder = Fd(::open(socket.parent_path().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!address.folder.valid()) return error_of(errno, "open", socket.parent_path().native());
  std::string path = fmt::format("/proc/self/fd/{}/{}", address.folder.get(), socket.filename().native());
  if (path.size() >= sizeof address.name.sun_path) return error_of(ENAMETOOLONG, "socket", socket.native());
  address.name.sun_family = AF_UNIX;
  std::memcpy(address.name.sun_path, path.c_str(), path.size() + 1);
  return address;
}

const sockaddr* generic(const sockaddr_un& name) { return reinterpret_cast<const sockaddr*>(&name); }

bool write_some(int fd, std::string_view& bytes) {
  while (!bytes.empty()) {
    ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno == EAGAIN;
    bytes.remove_prefix(static_cast<size_t>(n));
  }
  return true;
}

short events_for(const std::vector<pollfd>& fds, int fd) {
  if (fd < 0) return 0;
  for (const pollfd& entry : fds) {
    if (entry.fd == fd) return entry.revents;
  }
  return 0;
}

}  // namespace

Result<Fd> listen_at(const std::filesystem::path& socket, int type) {
  Result<Address> address = address_of(socket);
  if (!address.ok()) return address.error();
  Fd fd(::socket(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  ::unlink(socket.c_str());
  if (!fd.valid() || ::bind(fd.get(), generic(address->name), sizeof address->name) != 0 ||
      ::listen(fd.get(), 16) != 0) {
    return error_of(errno, "listen", socket.native());
  }
  return fd;
}

Result<Fd> connect_to(const std::filesystem::path& socket, int type) {
  Result<Address> address = address_of(socket);
  if (!address.ok()) return address.error();
  Fd fd(::socket(AF_UNIX, type | SOCK_CLOEXEC, 0));
  if (!fd.valid() || ::connect(fd.get(), generic(address->name), sizeof address->name) != 0) {
    return error_of(errno, "connect", socket.native());
  }
  set_nonblocking(fd.get());
  return fd;
}

bool send_fds(int socket, std::string_view text, const std::vector<int>& fds) {
  iovec part{const_cast<char*>(text.data()), text.size()};
  alignas(cmsghdr) char control[CMSG_SPACE(kFdsPerMessageMax * sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (!fds.empty() && fds.size() <= kFdsPerMessageMax) {
    message.msg_control = control;
    message.msg_controllen = CMSG_SPACE(fds.size() * sizeof(int));
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(fds.size() * sizeof(int));
    std::memcpy(CMSG_DATA(header), fds.data(), fds.size() * sizeof(int));
  }
  return ::sendmsg(socket, &message, MSG_NOSIGNAL) == static_cast<ssize_t>(text.size());
}

std::optional<std::string> receive_fds(int socket, std::vector<Fd>& fds, bool& closed) {
  char text[4096];
  iovec part{text, sizeof text};
  alignas(cmsghdr) char control[CMSG_SPACE(kFdsPerMessageMax * sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  ssize_t n = ::recvmsg(socket, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
  closed = n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR);
  if (n <= 0) return std::nullopt;
  for (cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr; header = CMSG_NXTHDR(&message, header)) {
    if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
    size_t count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (size_t i = 0; i < count; ++i) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(header) + i * sizeof(int), sizeof fd);
      fds.emplace_back(fd);
    }
  }
  return std::string(text, static_cast<size_t>(n));
}

Attachments::Attachments(const std::filesystem::path& socket, bool stdin_once) : stdin_once_(stdin_once) {
  Result<Fd> listener = listen_at(socket, SOCK_SEQPACKET);
  // Without it nobody can attach; the container runs all the same.
  if (listener.ok()) listener_ = std::move(listener).value();
}

void Attachments::set_stdin(Fd in, bool tty) {
  stdin_ = std::move(in);
  tty_ = tty;
  if (stdin_.valid()) set_nonblocking(stdin_.get());
}

void Attachments::await_console(const std::filesystem::path& socket) {
  Result<Fd> listener = listen_at(socket, SOCK_STREAM);
  if (listener.ok()) console_listener_ = std::move(listener).value();
}

std::optional<Fd> Attachments::take_console() { return std::exchange(console_, std::nullopt); }

void Attachments::add_to(std::vector<pollfd>& fds) const {
  if (listener_.valid()) fds.push_back({listener_.get(), POLLIN, 0});
  if (console_listener_.valid()) fds.push_back({console_listener_.get(), POLLIN, 0});
  if (stdin_.valid() && !waiting_.empty()) fds.push_back({stdin_.get(), POLLOUT, 0});
  for (const Guest& guest : guests_) {
    fds.push_back({guest.connection.get(), POLLIN, 0});
    if (guest.in.valid() && waiting_.empty()) fds.push_back({guest.in.get(), POLLIN, 0});
  }
}

void Attachments::handle(const std::vector<pollfd>& fds) {
  flush_stdin();
  for (Guest& guest : guests_) {
    if (events_for(fds, guest.in.get()) != 0) feed(guest);
    if (events_for(fds, guest.connection.get()) != 0) hear(guest);
  }
  guests_.remove_if([](const Guest& guest) { return guest.gone; });
  if (events_for(fds, console_listener_.get()) != 0) meet_console();
  if (events_for(fds, listener_.get()) != 0) greet();
}

void Attachments::greet() {
  int fd = ::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (fd < 0) return;
  guests_.emplace_back().connection = Fd(fd);
}

// The terminal comes in the first message.
void Attachments::meet_console() {
  Fd connection(::accept4(console_listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
  if (!connection.valid()) return;
  pollfd wait{connection.get(), POLLIN, 0};
  ::poll(&wait, 1, 5000);
  std::vector<Fd> fds;
  bool closed = false;
  (void)receive_fds(connection.get(), fds, closed);
  if (fds.empty()) return;
  set_nonblocking(fds.front().get());
  console_ = std::move(fds.front());
  console_listener_.reset();
}

void Attachments::hear(Guest& guest) {
  std::vector<Fd> fds;
  std::optional<std::string> text = receive_fds(guest.connection.get(), fds, guest.gone);
  if (!text) return;
  if (text->starts_with("resize ")) {
    winsize size{};
    char* end = nullptr;
    size.ws_col = static_cast<unsigned short>(std::strtol(text->c_str() + 7, &end, 10));
    size.ws_row = static_cast<unsigned short>(std::strtol(end, nullptr, 10));
    if (tty_ && stdin_.valid()) ::ioctl(stdin_.get(), TIOCSWINSZ, &size);
    return;
  }
  if (!text->starts_with("attach ")) return;
  size_t next = 0;
  for (char flag : text->substr(7)) {
    if (next >= fds.size()) return;
    set_nonblocking(fds[next].get());
    if (flag == kAttachIn) guest.in = std::move(fds[next++]);
    if (flag == kAttachOut) guest.out = std::move(fds[next++]);
    if (flag == kAttachErr) guest.err = std::move(fds[next++]);
  }
}

void Attachments::feed(Guest& guest) {
  char buffer[16384];
  ssize_t n = ::read(guest.in.get(), buffer, sizeof buffer);
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (n <= 0) {
    guest.in.reset();
    stdin_done_ = stdin_done_ || stdin_once_;
  } else if (stdin_.valid()) {
    waiting_.append(buffer, static_cast<size_t>(n));
  }
  flush_stdin();
}

void Attachments::flush_stdin() {
  std::string_view rest = waiting_;
  if (!stdin_.valid() || !write_some(stdin_.get(), rest)) rest = {};
  waiting_.erase(0, waiting_.size() - rest.size());
  if (waiting_.empty() && stdin_done_ && !tty_) stdin_.reset();
}

void Attachments::tell(bool err, std::string_view bytes) {
  for (Guest& guest : guests_) {
    Fd& to = err ? guest.err : guest.out;
    std::string_view rest = bytes;
    if (to.valid() && !write_some(to.get(), rest)) to.reset();
  }
}

void Attachments::finish(int exit_code) {
  for (Guest& guest : guests_) {
    guest.out.reset();
    guest.err.reset();
    send_fds(guest.connection.get(), fmt::format("exit {}", exit_code), {});
  }
}

}  // namespace trainyard::node
