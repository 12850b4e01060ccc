// WatchStream: an open watch of the hub as the bytes of an answer: one JSON document for
// each event, each on its line. Thread-safe.
//
// Events wait as references and become text when they are pulled; the text of a large one is shared with
// the other streams that send it. A reader that stays more than kWatchBacklogMax events behind, or more
// than kWatchBacklogBytesMax of them (what the watch began with not counted), is cut off, and so is one
// for whose next event there is no room: clients list anew.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "hub/hub.h"
#include "server/http.h"
#include "server/line_cache.h"
#include "server/negotiate.h"
#include "server/registry.h"
#include "server/table.h"

namespace trainyard::server {

inline constexpr size_t kWatchBacklogMax = 10'000;
inline constexpr size_t kWatchBacklogBytesMax = 16 * 1024 * 1024;  // as text; one event may be larger

// How a client wants to see events.
struct WatchView {
  const ApiResource* api = nullptr;
  ObjectForm form;
  IncludeObject include = IncludeObject::kMetadata;
  std::function<Time()> clock;
};

// kGone, kInvalid: as the hub says. The lines outlive the stream.
Result<std::shared_ptr<Stream>> open_watch(hub::Hub& hub, LineCache& lines, std::string_view ns,
                                           const kube::Watch& query, WatchView view);

// One event as its line. `first`: the first of a stream, which alone has a table's columns.
std::string event_line(const WatchView& view, const hub::WatchEvent& event, bool first);
// The line that ends a watch that cannot go on.
std::string error_line(const WatchView& view, const Error& error);

}  // namespace trainyard::server
