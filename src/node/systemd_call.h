// One request to systemd, in the wire format of D-Bus over systemd's own socket: neither a bus
// nor a library lies in between. Little-endian, as this machine is.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/result.h"

namespace trainyard::node {

// A scope unit: systemd moves the process into a control group of that name and leaves what is
// below it to the process (Delegate=yes).
struct ScopeRequest {
  std::string unit;         // "trainyard-0a1b2c3d-4711.scope"
  std::string description;  // for `systemctl --user status`
  uint32_t pid = 0;
};

// The call StartTransientUnit of systemd's manager. Pure.
std::string scope_message(const ScopeRequest& request);

// How many bytes the message has that begins with `head` (16 of them); 0 when it is none. Pure.
size_t message_size(std::string_view head);
// A whole message as the answer to our call: Done, the error it tells, or kConflict when it is
// none (a signal). Pure.
Result<Done> read_answer(std::string_view message);

// Asks the systemd that listens at `socket` and waits for its answer, a few seconds at most.
// The scope itself comes a moment later. kUnavailable or kForbidden with the reason.
Result<Done> ask_for_scope(const std::filesystem::path& socket, const ScopeRequest& request);

}  // namespace trainyard::node
