// Whatever the text: no crash, and the canonical form means the same.
#include "base/check.h"
#include "kube/quantity.h"
#include "kube/selector.h"
#include "kube/yaml.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace trainyard;
  std::string_view text(reinterpret_cast<const char*>(data), size);
  const json::object object{{"metadata", {{"name", "a"}, {"labels", {{"a", "b"}, {"n", "5"}}}}}};
  if (Result<kube::LabelSelector> labels = kube::LabelSelector::parse(text); labels.ok()) {
    Result<kube::LabelSelector> again = kube::LabelSelector::parse(labels->to_string());
    CHECK(again.ok());
    CHECK(again.value() == labels.value());
    (void)labels->matches(object);
  }
  if (Result<kube::FieldSelector> fields = kube::FieldSelector::parse(text); fields.ok()) {
    Result<kube::FieldSelector> again = kube::FieldSelector::parse(fields->to_string());
    CHECK(again.ok());
    CHECK(again.value() == fields.value());
    (void)fields->matches(object);
  }
  if (Result<kube::Quantity> amount = kube::Quantity::parse(text); amount.ok()) {
    Result<kube::Quantity> again = kube::Quantity::parse(amount->to_string());
    CHECK(again.ok());
    CHECK(again.value() == amount.value());
    CHECK(again->to_string() == amount->to_string());
  }
  if (Result<json::value> value = kube::parse_json(text); value.ok()) {
    (void)kube::LabelSelector::from_json(value.value());
    (void)kube::Quantity::from_json(value.value());
  }
  return 0;
}
