// Whatever the text: no crash, and what was read can be written and read again.
#include "base/check.h"
#include "kube/yaml.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace trainyard;
  std::string_view text(reinterpret_cast<const char*>(data), size);
  Result<std::vector<kube::Document>> documents = kube::parse_yaml(text);
  if (!documents.ok()) {
    CHECK(documents.error().message.starts_with("line "));
    return 0;
  }
  for (const kube::Document& document : documents.value()) {
    document.lines.nearest("spec.tasks[0].name");
    std::string written = kube::to_yaml(document.body);
    Result<std::vector<kube::Document>> again = kube::parse_yaml(written, {.bytes_max = written.size()});
    CHECK(again.ok());
    CHECK(again.value().size() == 1);
    CHECK(again.value()[0].body == document.body);
  }
  return 0;
}
