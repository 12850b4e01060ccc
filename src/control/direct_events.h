// DirectEvents: Events sent at once, one after the other, through a client. Used by one
// thread: for the simulator, and where the server is a store in this process.
#pragma once

#include "control/event_sink.h"
#include "control/recorder.h"

namespace trainyard::control {

class DirectEvents final : public EventSink {
 public:
  // `client` outlives it.
  explicit DirectEvents(client::Client& client) : client_(client) {}

  void tell(const json::object& about, std::string_view component, const dialect::EventText& text,
            Time now) override {
    recorder_.tell(client_, about, component, text, now);
  }

 private:
  client::Client& client_;
  Recorder recorder_;
};

}  // namespace trainyard::control
