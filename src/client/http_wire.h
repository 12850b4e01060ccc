// What the bytes of an API server mean, as pure functions: answers to replies and errors,
// lines of a watch to events, the end of an exec to an exit code. No sockets here; see
// http_client.h.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"
#include "client/client.h"
#include "kube/request.h"

namespace trainyard::client {

// What an answer that is no success tells. `writes`: the request was to change something,
// so an answer that leaves open whether it did is kUnknown. The server's message is kept.
Error error_of(int status, std::string_view body, bool writes);

// The answer to a request that is no watch. Items of a list get the apiVersion and kind
// that servers leave out of them.
Result<Reply> reply_of(const kube::Request& request, int status, std::string_view body);

// One line of a watch; an ERROR event is an Error (kGone for 410). `heed`: how much of its object is read.
Result<WatchEvent> event_of(std::string_view line, kube::Heed heed = kube::Heed::kAll);

// The Status that ends an exec: its exit code, or why nothing ran.
Result<int> exit_code_of(std::string_view status);

// "5" or an HTTP date is given (dates are not waited for: nullopt).
std::optional<Duration> retry_after_of(std::string_view header);

// Cuts a stream of bytes into lines.
class LineSplitter {
 public:
  // Calls `line` for each whole line, without its end. False from `line` stops.
  bool feed(std::string_view bytes, const std::function<bool(std::string_view)>& line);
  // What came after the last line end.
  const std::string& rest() const { return rest_; }

 private:
  std::string rest_;
};

}  // namespace trainyard::client
