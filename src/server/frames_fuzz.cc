// Whatever comes through a tunnel: no crash, no more memory than the limits allow, and it
// makes no difference in which pieces it comes.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "server/channels.h"
#include "server/spdy.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace trainyard::server;
  std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (std::optional<Frame> frame = frame_of(bytes)) {
    CHECK(framed(frame->channel, frame->data) == bytes);
    (void)terminal_size_of(frame->data);
  }
  spdy::Decoder whole;
  auto at_once = whole.feed(bytes);
  spdy::Decoder pieces;
  std::vector<spdy::Frame> one_by_one;
  bool ok = true;
  for (size_t at = 0; at < bytes.size() && ok; at += 7) {
    auto some = pieces.feed(bytes.substr(at, 7));
    ok = some.ok();
    if (ok) one_by_one.insert(one_by_one.end(), some->begin(), some->end());
  }
  CHECK(ok == at_once.ok());
  if (ok) CHECK(one_by_one == *at_once);
  return 0;
}
