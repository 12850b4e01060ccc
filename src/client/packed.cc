#include "client/packed.h"

#include "base/hash.h"
#include "base/match.h"
#include "client/document_arena.h"
#include "kube/access.h"
#include "kube/meta.h"

namespace trainyard::client {

namespace {

Object parsed(const std::string& text) {
  DocumentArena arena(2 * text.size());
  return arena.whole(std::move(json::parse(text, DocumentArena::storage()).as_object()));
}

// In the order in which it is written: whoever writes otherwise is not recognised.
uint64_t digest(const json::value& value, uint64_t seed) {
  const auto brief = [&](uint64_t number) { return (seed ^ number) * 0x9e3779b97f4a7c15u; };
  if (const json::string* text = value.if_string()) return fnv1a(kube::view(*text), brief(text->size()));
  if (const json::array* items = value.if_array()) {
    seed = brief(items->size());
    for (const json::value& item : *items) seed = digest(item, seed);
    return seed;
  }
  const json::object* members = value.if_object();
  if (members == nullptr) return fnv1a(json::serialize(value), seed);
  seed = brief(members->size());
  for (const json::key_value_pair& member : *members) {
    seed = digest(member.value(), fnv1a(kube::view(member.key()), brief(member.key().size())));
  }
  return seed;
}

}  // namespace

Packed::Packed(const Object& object, Form form, Patterns* patterns)
    : version_(kube::version_of(*object)), held_(object) {
  if (form == Form::kText) shorten(patterns);
}

void Packed::shorten(Patterns* patterns) {
  const auto* whole = std::get_if<Object>(&held_);
  if (whole == nullptr) return;
  const std::string text = json::serialize(**whole);
  std::optional<Alike> alike;
  if (patterns != nullptr) alike = patterns->shorten(text);
  if (alike) {
    held_ = std::move(*alike);
  } else {
    // A copy has no room to spare; what serialize() returns has as much as it has text.
    held_ = std::string(text.begin(), text.end());
  }
}

void Packed::note_kin() {
  const Object document = object();
  kin_ = fnv1a(kube::uid_of(*document));
  for (std::string_view part : {"labels", "ownerReferences"}) {
    const json::value* found = kube::find(*document, {"metadata", part});
    kin_ = found == nullptr ? fnv1a(part, kin_) : digest(*found, kin_);
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
