#include "server/patched.h"

#include <fmt/format.h>

#include "kube/patch.h"
#include "server/nulls.h"
#include "server/validate_fields.h"
#include "store/errors.h"

namespace trainyard::server {
namespace {

constexpr std::string_view kTooLarge = "RequestEntityTooLarge";
constexpr size_t kBytesPerValue = 4;  // about what is around a value, in text

size_t text_bytes(const json::value& value);

size_t text_bytes(const json::object& object) {
  size_t bytes = kBytesPerValue;
  for (const json::key_value_pair& member : object) bytes += member.key().size() + text_bytes(member.value());
  return bytes;
}

// About; every value is counted.
size_t text_bytes(const json::value& value) {
  if (const json::object* object = value.if_object()) return text_bytes(*object);
  size_t bytes = kBytesPerValue;
  if (const json::string* text = value.if_string()) bytes += text->size();
  if (const json::array* list = value.if_array()) {
    for (const json::value& element : *list) bytes += text_bytes(element);
  }
  return bytes;
}

Error to_error(const ApiResource& resource, const Status& refusal) {
  const Status told = resource.built_in ? strict_patch_error(refusal) : refusal;
  Error error{ErrorKind::kInvalid, told.message};
  for (const StatusCause& cause : told.causes) {
    error.causes.push_back({cause.reason, cause.message, cause.field});
  }
  return error;
}

// What was there before the patch is let be: a writer within the plane let it in.
Result<Done> shape(const ApiResource& resource, json::object& object, const json::object& before) {
  const size_t bytes = text_bytes(object);
  if (bytes > kObjectBytesMax && bytes > text_bytes(before)) {
    return Error{ErrorKind::kInvalid,
                 fmt::format("the object would be too large: limit is {}", kObjectBytesMax),
                 {{std::string(kTooLarge), "", ""}}};
  }
  FieldProblems problems = resource.from_crd ? FieldProblems{} : field_problems(resource, object);
  if (problems.refusal || !problems.unknown.empty()) {
    FieldProblems old = field_problems(resource, before);
    if (problems.refusal && !old.refusal) return to_error(resource, *problems.refusal);
    if (problems.unknown != old.unknown) drop_unknown_fields(resource, object);
  }
  drop_nulls(resource, object);
  return Done{};
}

}  // namespace

bool is_object_too_large(const Error& error) {
  return error.causes.size() == 1 && error.causes.front().reason == kTooLarge;
}

void shape_patches(hub::Hub& hub, const Registry& registry) {
  for (const ApiResource* resource : registry.all()) {
    if (resource->backing != Backing::kStored || resource->from_crd) continue;
    if (resource->resource != resource->storage) continue;
    hub.set_shaping(resource->storage, [resource](json::object& object, const json::object& before) {
      return shape(*resource, object, before);
    });
  }
}

void shape_patches(hub::Hub& hub, const Registry& registry, const kube::Resource& resource) {
  hub.set_shaping(resource,
                  [&registry, resource](json::object& object, const json::object& before) -> Result<Done> {
                    const ApiResource* now = registry.find(resource.group, resource.version, resource.plural);
                    return now == nullptr ? Result<Done>(Done{}) : shape(*now, object, before);
                  });
}

std::vector<std::string> unknown_after(const ApiResource& resource, const json::object& before,
                                       const kube::Patch& patch) {
  if (resource.resource != resource.storage) return {};  // the hub has it in another form
  const bool operations = patch.kind == kube::PatchKind::kJson;
  Result<json::value> after = operations ? kube::apply_json_patch(before, patch.body)
                                         : kube::apply_strategic_patch(before, patch.body, resource.storage);
  if (!after.ok() || !after->is_object()) return {};
  FieldProblems problems = field_problems(resource, after->get_object());
  return problems.refusal ? std::vector<std::string>{} : std::move(problems.unknown);
}

}  // namespace trainyard::server
