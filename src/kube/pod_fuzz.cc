// Whatever the text: no crash, and both decoders read a document the same way.
#include "base/check.h"
#include "kube/objects.h"
#include "kube/pod.h"
#include "kube/yaml.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace trainyard;
  std::string_view text(reinterpret_cast<const char*>(data), size);
  static kube::PodDecoder decoder;
  (void)decoder.decode(text);
  Result<json::value> value = kube::parse_json(text);
  if (!value.ok() || !value.value().is_object()) return 0;
  const json::object& object = value.value().get_object();
  kube::Pod pod = kube::decode_pod(object);
  Result<kube::Pod> again = decoder.decode(json::serialize(object));
  CHECK(again.ok());
  CHECK(again.value() == pod);
  (void)kube::is_disrupted(pod);
  (void)kube::decode_pod_group(object);
  (void)kube::decode_queue(object);
  (void)kube::decode_tensor_board(object);
  return 0;
}
