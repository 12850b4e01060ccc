// Attachments: who else wants the container's streams. A listening socket in the shim's
// folder; a client sends "attach" with descriptors for what it wants (see kAttach...),
// then "resize <columns> <rows>"; at the end it is told "exit <code>". A client that does
// not read fast enough loses output, the container is never held up.
// Also takes the terminal that an OCI runtime hands over. Part of the shim's one thread.
#pragma once

#include <poll.h>

#include <filesystem>
#include <list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/fd.h"
#include "base/result.h"

namespace trainyard::node {

// The flags after the word "attach": which descriptors come with it, in this order.
inline constexpr char kAttachIn = 'i';
inline constexpr char kAttachOut = 'o';
inline constexpr char kAttachErr = 'e';

// A socket's path may be longer than a socket's address: it is reached through its folder.
Result<Fd> listen_at(const std::filesystem::path& socket, int type);
Result<Fd> connect_to(const std::filesystem::path& socket, int type);
// One message with descriptors.
bool send_fds(int socket, std::string_view text, const std::vector<int>& fds);
// nullopt: nothing there now or the other side is gone (`closed`).
std::optional<std::string> receive_fds(int socket, std::vector<Fd>& fds, bool& closed);

class Attachments {
 public:
  Attachments(const std::filesystem::path& socket, bool stdin_once);

  void set_stdin(Fd in, bool tty);
  void await_console(const std::filesystem::path& socket);
  std::optional<Fd> take_console();

  // The turn of the loop: what to poll, and what came of it. Only own entries are touched.
  void add_to(std::vector<pollfd>& fds) const;
  void handle(const std::vector<pollfd>& fds);

  void tell(bool err, std::string_view bytes);
  void finish(int exit_code);

 private:
  struct Guest {
    Fd connection;
    Fd in, out, err;
    bool gone = false;
  };
  void greet();
  void hear(Guest& guest);
  void feed(Guest& guest);
  void flush_stdin();
  void meet_console();

  // Fixed.
  bool stdin_once_;
  // State.
  Fd listener_;
  Fd console_listener_;
  std::optional<Fd> console_;
  Fd stdin_;
  bool tty_ = false;
  bool stdin_done_ = false;  // close it once what waits has been written
  std::string waiting_;      // for room in stdin
  std::list<Guest> guests_;
};

}  // namespace trainyard::node
