#include "store/builtin.h"

#include "kube/access.h"
#include "kube/objects.h"
#include "kube/quantity.h"
#include "kube/selector.h"
#include "store/errors.h"
#include "store/metadata.h"
#include "store/resize.h"

namespace trainyard::store {

using kube::jview;
using kube::text_at;
using kube::view;

namespace {

constexpr size_t kDataBytesMax = 1'048'576;
constexpr size_t kAnnotationsBytesMax = 256 * 1024;  // names and values together
constexpr std::string_view kDataKeyRule =
    "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or "
    "'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";
constexpr std::string_view kLabelRule =
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must "
    "start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used "
    "for "
    "validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";

bool is_data_key(std::string_view key) {
  return !key.empty() && key.size() <= 253 && key != "." && key != ".." &&
         key.find_first_not_of("-._abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789") ==
             key.npos;
}

bool is_immutable(const json::object* before) {
  return before != nullptr && kube::bool_at(*before, {"immutable"}).value_or(false);
}

Cause too_long(std::string_view field, size_t bytes_max) {
  return {"FieldValueTooLong", fmt::format("Too long: may not be more than {} bytes", bytes_max),
          std::string(field)};
}

// The keys and the size of data and binaryData, and that they are text.
void check_data(const json::object& object, Causes& causes) {
  size_t bytes = 0;
  for (std::string_view field : {"data", "binaryData"}) {
    const json::object* data = kube::object_at(object, {field});
    if (data == nullptr) continue;
    for (const json::key_value_pair& entry : *data) {
      std::string path = fmt::format("{}[{}]", field, kube::shown(view(entry.key())));
      if (!is_data_key(view(entry.key()))) {
        causes.push_back(invalid_value(path, json::value(entry.key()), kDataKeyRule));
      }
      if (!entry.value().is_string()) {
        causes.push_back(invalid_value(path, entry.value(), "must be a string"));
        continue;
      }
      bytes += entry.key().size() + entry.value().get_string().size();
    }
  }
  if (bytes > kDataBytesMax) {
    causes.push_back(too_long("data", kDataBytesMax));
  }
}

void check_immutable(const json::object& object, const json::object* before, Causes& causes) {
  if (!is_immutable(before)) return;
  if (!kube::bool_at(object, {"immutable"}).value_or(false)) {
    causes.push_back(forbidden_value("immutable", "field is immutable when `immutable` is set"));
  }
  for (std::string_view field : {"data", "binaryData"}) {
    if (same_member(object, *before, field)) continue;
    causes.push_back(forbidden_value(field, "field is immutable when `immutable` is set"));
  }
}

Admission checked(const kube::Resource& resource,
                  const std::function<Causes(json::object&, const json::object*)>& admit) {
  return
      [resource, admit](json::object& object, const json::object* before, kube::Part part) -> Result<Done> {
        Causes causes;
        check_labels(object, causes);
        if (causes.empty()) {
          causes = part == kube::Part::kResize ? admit_resize(object, *before) : admit(object, before);
        }
        if (causes.empty()) return Done{};
        return invalid_object(resource, kube::name_of(object), std::move(causes));
      };
}

}  // namespace

void set_default(json::object& in, std::string_view member, json::value value) {
  json::value& slot = in[jview(member)];
  if (slot.is_null()) slot = std::move(value);
}

bool is_dns_label(std::string_view text, bool starts_with_letter) {
  auto is_alnum = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  if (text.empty() || text.size() > 63 || !is_alnum(text.front()) || !is_alnum(text.back())) return false;
  if (starts_with_letter && text.front() <= '9') return false;
  return std::all_of(text.begin(), text.end(), [&](char c) { return c == '-' || is_alnum(c); });
}

void check_labels(const json::object& object, Causes& causes) {
  for (std::string_view field : {"labels", "annotations"}) {
    const json::value* all = kube::find(object, {"metadata", field});
    if (all == nullptr || all->is_null()) continue;
    std::string path = fmt::format("metadata.{}", field);
    if (!all->is_object()) {
      causes.push_back(invalid_value(path, *all, "must be an object"));
      continue;
    }
    size_t bytes = 0;
    for (const json::key_value_pair& entry : all->get_object()) {
      bytes += entry.key().size() + (entry.value().is_string() ? entry.value().get_string().size() : 0);
      if (!kube::is_label_key(view(entry.key()))) {
        causes.push_back(
            invalid_value(path, json::value(entry.key()),
                          "name part must consist of alphanumeric characters, '-', '_' or '.', and "
                          "must start and end with an alphanumeric character"));
      }
      if (!entry.value().is_string()) {
        causes.push_back(invalid_value(path, entry.value(), "must be a string"));
      } else if (field == "labels" && !kube::is_label_value(view(entry.value().get_string()))) {
        causes.push_back(invalid_value(path, entry.value(), kLabelRule));
      }
    }
    if (field == "annotations" && bytes > kAnnotationsBytesMax)
      causes.push_back(too_long(path, kAnnotationsBytesMax));
  }
}

Causes admit_config_map(json::object& config_map, const json::object* before) {
  Causes causes;
  check_data(config_map, causes);
  check_immutable(config_map, before, causes);
  return causes;
}

Causes admit_secret(json::object& secret, const json::object* before) {
  Causes causes;
  if (const json::object* clear = kube::object_at(secret, {"stringData"})) {
    const json::object copy = *clear;
    json::object& data = kube::ensure_object(secret, {"data"});
    for (const json::key_value_pair& entry : copy) {
      if (!entry.value().is_string()) {
        causes.push_back(invalid_value("stringData", entry.value(), "must be a string"));
        continue;
      }
      data[entry.key()] = kube::encode_base64(view(entry.value().get_string()));
    }
  }
  secret.erase("stringData");
  set_default(secret, "type", "Opaque");
  check_data(secret, causes);
  if (const json::object* data = kube::object_at(secret, {"data"})) {
    for (const json::key_value_pair& entry : *data) {
      if (!entry.value().is_string() || kube::decode_base64(view(entry.value().get_string()))) continue;
      // The value itself is a secret and is not repeated.
      causes.push_back({"FieldValueInvalid", "Invalid value: illegal base64 data",
                        fmt::format("data[{}]", kube::shown(view(entry.key())))});
    }
  }
  check_immutable(secret, before, causes);
  if (before != nullptr && !same_member(secret, *before, "type")) {
    causes.push_back(invalid_value("type", secret["type"], "field is immutable"));
  }
  return causes;
}

Causes admit_volume_claim(json::object& claim, const json::object* before) {
  Causes causes;
  json::object& spec = kube::ensure_object(claim, {"spec"});
  set_default(spec, "volumeMode", "Filesystem");
  const json::array* modes = kube::array_at(claim, {"spec", "accessModes"});
  if (modes == nullptr || modes->empty()) {
    causes.push_back(required("spec.accessModes", "at least 1 access mode is required"));
  }
  const json::value* storage = kube::find(claim, {"spec", "resources", "requests", "storage"});
  if (storage == nullptr) {
    causes.push_back(required("spec.resources[storage]"));
  } else if (!kube::Quantity::from_json(*storage).ok()) {
    causes.push_back(invalid_value("spec.resources[storage]", *storage, "must be a quantity"));
  }
  if (!causes.empty()) return causes;
  if (before == nullptr) {
    // A claim is a folder of this machine: bound as soon as it is asked for.
    claim["status"] = json::object{
        {"phase", "Bound"}, {"accessModes", *modes}, {"capacity", json::object{{"storage", *storage}}}};
    set_default(kube::ensure_object(claim, {"spec"}), "volumeName",
                json::value(fmt::format("{}-{}", kube::namespace_of(claim), kube::name_of(claim))));
    return causes;
  }
  json::object now = spec;
  json::object then = *kube::object_at(*before, {"spec"});
  now.erase("resources");
  then.erase("resources");
  if (now != then) {
    causes.push_back(forbidden_value("spec",
                                     "spec is immutable after creation except resources.requests and "
                                     "volumeAttributesClassName for bound claims"));
  }
  return causes;
}

Causes admit_event(json::object& event, const json::object*) {
  std::string_view about = text_at(event, {"involvedObject", "namespace"});
  std::string_view own = kube::namespace_of(event);
  if (about.empty() || about == own) return {};
  return {
      invalid_value("involvedObject.namespace", json::value(jview(about)), "does not match event.namespace")};
}

Causes admit_lease(json::object& lease, const json::object*) {
  Causes causes;
  for (std::string_view field : {"leaseDurationSeconds", "leaseTransitions"}) {
    const json::value* value = kube::find(lease, {"spec", field});
    if (value == nullptr || value->is_null()) continue;
    const bool is_duration = field == "leaseDurationSeconds";
    if (kube::as_whole(*value).value_or(-1) < (is_duration ? 1 : 0)) {
      causes.push_back(
          invalid_value(fmt::format("spec.{}", field), *value,
                        is_duration ? "must be greater than 0" : "must be greater than or equal to 0"));
    }
  }
  return causes;
}

Causes admit_priority_class(json::object& priority_class, const json::object* before) {
  Causes causes;
  set_default(priority_class, "preemptionPolicy", "PreemptLowerPriority");
  set_default(priority_class, "value", 0);
  if (!kube::as_whole(priority_class["value"])) {
    causes.push_back(invalid_value("value", priority_class["value"], "must be a whole number"));
  }
  if (before != nullptr && !same_member(priority_class, *before, "value")) {
    causes.push_back(forbidden_value("value", "may not be changed in an update."));
  }
  return causes;
}

void admit_builtins(const std::function<void(const kube::Resource&, Admission)>& add) {
  auto nothing = [](json::object&, const json::object*) { return Causes{}; };
  add(kube::kPods, checked(kube::kPods, admit_pod));
  add(kube::kServices, checked(kube::kServices, admit_service));
  add(kube::kConfigMaps, checked(kube::kConfigMaps, admit_config_map));
  add(kube::kSecrets, checked(kube::kSecrets, admit_secret));
  add(kube::kPersistentVolumeClaims, checked(kube::kPersistentVolumeClaims, admit_volume_claim));
  add(kube::kEvents, checked(kube::kEvents, admit_event));
  add(kube::kLeases, checked(kube::kLeases, admit_lease));
  add(kube::kNamespaces, checked(kube::kNamespaces, nothing));
  add(kube::kNodes, checked(kube::kNodes, nothing));
  add(kPriorityClasses, checked(kPriorityClasses, admit_priority_class));
  add(kCustomResourceDefinitions, checked(kCustomResourceDefinitions, admit_custom_resource_definition));
}

}  // namespace trainyard::store
