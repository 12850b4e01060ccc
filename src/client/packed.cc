#include "client/packed.h"

#include "base/match.h"
#include "client/document_arena.h"
#include "kube/meta.h"

namespace trainyard::client {

namespace {

Object parsed(const std::string& text) {
  DocumentArena arena(2 * text.size());
  return arena.whole(std::move(json::parse(text, DocumentArena::storage()).as_object()));
}

}  // namespace

Packed::Packed(const Object& object, Form form, Patterns* patterns)
    : version_(kube::version_of(*object)), held_(object) {
  if (form == Form::kDocument) return;
  const std::string text = json::serialize(*object);
  std::optional<Alike> alike;
  if (patterns != nullptr) alike = patterns->shorten(text);
  if (alike) {
    held_ = std::move(*alike);
  } else {
    // A copy has no room to spare; what serialize() returns has as much as it has text.
    held_ = std::string(text.begin(), text.end());
  }
}

Object Packed::object() const {
  return std::visit(Match{
                        [](const Object& whole) { return whole; },
                        [](const std::string& text) { return parsed(text); },
                        [](const Alike& alike) { return parsed(alike.text()); },
                    },
                    held_);
}

}  // namespace trainyard::client
