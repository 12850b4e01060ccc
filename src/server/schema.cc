#include "server/schema.h"

#include <fmt/format.h>

#include "base/check.h"
#include "base/hash.h"
#include "server/schema_text.h"

namespace trainyard::server {
namespace {

using KindKey = std::tuple<std::string_view, std::string_view, std::string_view>;

std::vector<std::string_view> known_texts() {
  return {kMetaSchemas, kPodSchemas,      kContainerSchemas, kVolumeSchemas,
          kCoreSchemas, kWorkloadSchemas, kPolicySchemas,    kJobSchemas};
}

std::map<KindKey, const SchemaType*> index_kinds(const Schemas& schemas) {
  std::map<KindKey, const SchemaType*> kinds;
  for (const auto& [name, type] : schemas.types) {
    if (type.is_kind()) kinds[KindKey(type.group, type.version, type.name)] = &type;
  }
  return kinds;
}

}  // namespace

std::string SchemaType::full_name() const { return fmt::format("{}.{}", package, name); }

const SchemaField* SchemaType::field(std::string_view wanted) const {
  for (const SchemaField& each : fields) {
    if (each.inlined) {
      if (const SchemaField* found = each.message->field(wanted)) return found;
    } else if (each.name == wanted) {
      return &each;
    }
  }
  return nullptr;
}

const SchemaField* SchemaType::field_numbered(int number) const {
  for (const SchemaField& each : fields) {
    if (each.number == number) return &each;
  }
  return nullptr;
}

const Schemas& known_schemas() {
  static const Schemas kKnown = [] {
    Result<Schemas> parsed = parse_schemas(known_texts());
    CHECK(parsed.ok());
    return std::move(parsed).value();
  }();
  return kKnown;
}

uint64_t schema_fingerprint() {
  static const uint64_t kFingerprint = [] {
    uint64_t hash = kFnvOffset;
    for (std::string_view text : known_texts()) hash = fnv1a(text, hash);
    return hash;
  }();
  return kFingerprint;
}

const SchemaType* schema_of(std::string_view group, std::string_view version, std::string_view kind) {
  static const std::map<KindKey, const SchemaType*> kKinds = index_kinds(known_schemas());
  auto found = kKinds.find(KindKey(group, version, kind));
  return found == kKinds.end() ? nullptr : found->second;
}

const SchemaType* schema_named(std::string_view full_name) {
  const auto& types = known_schemas().types;
  auto found = types.find(full_name);
  return found == types.end() ? nullptr : &found->second;
}

}  // namespace trainyard::server
