// Apply: carries out a Plan through the client, step by step in order, and stops at the
// first error. It never decides: what is done was decided by the engine on an
// Observation; what it adds is certainty that the Observation still holds.
//
// Neighbouring creates of one kind go out together where the client can do that, in rounds
// that grow; a round with an error is the last one. Everything else keeps its order.
// Touches nothing but what it is given, so it may run on any thread whose client and events
// take calls of several.
//
// Guarantees:
//  - no pod, service, gang or companion is made or deleted before the job object was
//    proved unchanged since it was observed: by a status write with its version as
//    precondition, or else by reading it again;
//  - the status is written only when it differs from what is stored;
//  - AlreadyExists is success when the object is this job's, of the same attempt; an
//    object whose labels or owner were stripped is taken back; somebody else's is an error;
//  - a delete names the uid; NotFound, or another uid under that name, is success;
//  - a write whose fate is unknown is looked at before anything else is done.
//
// Errors: kConflict when the view was old (`expected` then says what to wait for).
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "client/barrier.h"
#include "client/client.h"
#include "control/event_sink.h"
#include "control/key.h"
#include "control/view.h"
#include "dialect/shared/dialect.h"
#include "model/observation.h"
#include "model/plan.h"

namespace trainyard::control {

using MakeKeys = std::function<dialect::KeyPair()>;

// What is stored of the gang and the companions that a plan brings up to date, by stream and name.
using Stored = std::map<std::pair<int, std::string>, client::Object>;

// What apply works with. References outlive the call. Of the view only what never changes
// is read: which stream shows what.
struct ApplyContext {
  client::Client& client;
  EventSink& events;
  const MakeKeys& make_keys;
  const View& view;
  const dialect::Dialect& dialect;
  const dialect::Settings& settings;
  JobKey key;
  client::Object job;  // as observed
  Stored stored = {};
  bool shown = false;  // the status is known to say what the plan's state would make it say
};

struct Applied {
  std::optional<Error> error;              // of the step that failed; those after it were not done
  std::vector<client::Expected> expected;  // what the caches must show before the next pass
  bool state_written = false;              // the status changed on the server
  bool state_current = false;              // the plan's state is what the server has
  client::Object written;                  // the job as its status was written, when the server said so
  int64_t shown_in = 0;                    // the job's version whose status is the state's projection
  int writes = 0;                          // requests that asked for a change, Events aside
};

// Whether the status that a state was projected to is written over the one that is stored ({} for none).
bool is_news(const model::JobState& state, const json::object& status, const json::object& stored);

Applied apply(const ApplyContext& context, const model::Observation& seen, const model::Plan& plan, Time now);

}  // namespace trainyard::control
