// EventSink: where the words about a job go that people read as Kubernetes Events. A port:
// bodies send at once (recorder.h) or from a queue beside the work (event_queue.h).
//
// Best effort: nothing that is told here fails, or waits for, what it tells about.
#pragma once

#include "base/time.h"
#include "dialect/shared/dialect.h"
#include "kube/json.h"

namespace trainyard::control {

class EventSink {
 public:
  virtual ~EventSink() = default;
  // `about` is the job; `component` the source that users see.
  virtual void tell(const json::object& about, std::string_view component, const dialect::EventText& text,
                    Time now) = 0;
};

}  // namespace trainyard::control
