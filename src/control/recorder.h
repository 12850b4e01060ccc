// Recorder: tells people what happened, as Event objects. The same words about the same
// object become one Event with a rising count. Resource: owned by one operator.
//
// Best effort: an Event that cannot be written is dropped, never retried, and never
// fails what it tells about.
#pragma once

#include <map>
#include <string>
#include <tuple>

#include "base/time.h"
#include "client/client.h"
#include "dialect/shared/dialect.h"

namespace trainyard::control {

inline constexpr size_t kEventsRememberedMax = 4096;

class Recorder {
 public:
  Recorder() = default;
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  void tell(client::Client& client, const json::object& about, std::string_view component,
            const dialect::EventText& text, Time now);

 private:
  // uid, type, reason, message, component
  using Words = std::tuple<std::string, bool, std::string, std::string, std::string>;
  struct Told {
    std::string name;
    int count = 0;
    uint64_t turn = 0;
  };
  bool tell_again(client::Client& client, std::string_view ns, Told& told, Time now);
  void make_room();

  std::map<Words, Told> told_;
  std::map<uint64_t, Words> oldest_;  // by turn
  uint64_t turns_ = 0;
};

}  // namespace trainyard::control
