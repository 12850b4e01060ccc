// Recorder: tells people what happened, as Event objects. The same words about the same
// object become one Event with a rising count. Resource: owned by one operator.
//
// tell() is best effort: an Event that cannot be written is dropped, never retried, and never
// fails what it tells about. Who sends several at once, or tries again, has prepare(), request_of() and
// answer().
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "base/time.h"
#include "client/client.h"
#include "dialect/shared/dialect.h"

namespace trainyard::control {

inline constexpr size_t kEventsRememberedMax = 4096;

// Which object an Event is about.
struct Reference {
  std::string api_version;
  std::string kind;
  std::string ns;
  std::string name;
  std::string uid;
  std::string version;
};
Reference reference_of(const json::object& object);

class Recorder {
 public:
  Recorder() = default;
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  // Stands for what is said, about whom and by whom: two hashes of it, as thousands are remembered.
  using Words = std::pair<uint64_t, uint64_t>;
  // One Event to be sent, which stays the same however often it is tried, and what is remembered once the
  // server has it.
  struct Telling {
    Words words;
    std::string name;  // of the Event
    bool again = false;
    uint64_t turn = 0;
    int count = 1;
  };

  void tell(client::Client& client, const json::object& about, std::string_view component,
            const dialect::EventText& text, Time now);

  Telling prepare(const Reference& about, std::string_view component, const dialect::EventText& text,
                  Time now);
  // What is sent for it. REQUIRES: what it was prepared with.
  static kube::Request request_of(const Telling& telling, const Reference& about, std::string_view component,
                                  const dialect::EventText& text, Time now);
  // What became of it. False: what was to be told again has expired at the server and is
  // forgotten here; prepared once more, it is told as if for the first time.
  bool answer(const Telling& telling, const Result<client::Reply>& reply);

 private:
  struct Told {
    std::string name;
    int count = 0;
    uint64_t turn = 0;
  };
  void forget(std::map<Words, Told>::iterator told);

  std::map<Words, Told> told_;
  std::map<uint64_t, Words> oldest_;  // by turn
  uint64_t turns_ = 0;
};

}  // namespace trainyard::control
