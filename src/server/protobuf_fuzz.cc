// Whatever the bytes: no crash, and what comes out is JSON that can be written and read again.
#include "base/check.h"
#include "kube/access.h"
#include "server/protobuf.h"
#include "server/validate_fields.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace trainyard;
  std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (Result<json::object> decoded = server::decode_protobuf(bytes); decoded.ok()) {
    boost::system::error_code error;
    (void)json::parse(json::serialize(*decoded), error);
    CHECK(!error);
  }
  (void)server::duplicate_fields(bytes);
  return 0;
}
