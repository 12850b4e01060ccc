#include "client/packed.h"

#include "base/match.h"
#include "kube/meta.h"

namespace trainyard::client {

Packed::Packed(const Object& object, Form form) : version_(kube::version_of(*object)), held_(object) {
  if (form == Form::kDocument) return;
  // A copy has no room to spare; what serialize() returns has as much as it has text.
  const std::string text = json::serialize(*object);
  held_ = std::string(text.begin(), text.end());
}

Object Packed::object() const {
  return std::visit(
      Match{
          [](const Object& whole) { return whole; },
          [](const std::string& text) -> Object {
            return std::make_shared<const json::object>(std::move(json::parse(text).as_object()));
          },
      },
      held_);
}

}  // namespace trainyard::client
