// Whatever an API server answers: no crash, and an answer or an error comes out of it.
// First byte: which of the readers; the rest: what it reads.
#include <cstddef>
#include <cstdint>

#include "base/check.h"
#include "client/http_wire.h"
#include "kube/meta.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace trainyard;
  if (size < 2) return 0;
  std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const kube::Request list{kube::kPods, "a", kube::List{}};
  const kube::Request get{kube::kPods, "a", kube::Get{"b"}};
  switch (data[0] % 6) {
    case 0:
      (void)client::reply_of(list, 200, text);
      break;
    case 1:
      (void)client::reply_of(get, 200, text);
      break;
    case 2:
      for (int status : {400, 403, 404, 409, 410, 429, 500}) CHECK(!client::reply_of(get, status, text).ok());
      break;
    case 3: {
      client::LineSplitter lines;
      size_t told = 0;
      (void)lines.feed(text, [&](std::string_view line) {
        // What is cut out of a text before it is read leaves one that can be read.
        if (client::event_of(line).ok()) CHECK(client::event_of(line, kube::Heed::kPod).ok());
        told += line.size() + 1;
        return true;
      });
      CHECK(told + lines.rest().size() == text.size());
      break;
    }
    case 4:
      (void)client::exit_code_of(text);
      break;
    case 5:
      (void)client::retry_after_of(text);
      break;
  }
  return 0;
}
