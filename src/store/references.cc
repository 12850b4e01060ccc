#include "store/references.h"

#include <algorithm>

#include "kube/access.h"
#include "kube/patch.h"
#include "kube/selector.h"
#include "store/errors.h"
#include "store/metadata.h"

namespace trainyard::store {
namespace {

using kube::jview;
using kube::text_at;

constexpr std::string_view kFinalizers = "metadata.finalizers";
constexpr std::string_view kOwners = "metadata.ownerReferences";
constexpr std::string_view kEmpty = "must not be empty";

bool is_standard_finalizer(std::string_view name) {
  return name == "kubernetes" || name == kOrphanFinalizer || name == kForegroundFinalizer;
}

void check_finalizers(const json::array& list, bool built_in, Causes& causes) {
  for (size_t i = 0; i < list.size(); ++i) {
    const json::value& entry = list[i];
    std::string_view name = entry.is_string() ? kube::view(entry.get_string()) : std::string_view{};
    if (!kube::is_label_key(name)) {
      causes.push_back(invalid_value(kFinalizers, entry,
                                     "name part must consist of alphanumeric characters, '-', '_' or '.', "
                                     "and must start and end with an alphanumeric character"));
    } else if (built_in && name.find('/') == name.npos && !is_standard_finalizer(name)) {
      causes.push_back(invalid_value(fmt::format("{}[{}]", kFinalizers, i), entry,
                                     "name is neither a standard finalizer name nor is it fully qualified"));
    }
  }
  auto has = [&](std::string_view name) {
    return std::any_of(list.begin(), list.end(), [&](const json::value& entry) {
      return entry.is_string() && kube::view(entry.get_string()) == name;
    });
  };
  if (has(kOrphanFinalizer) && has(kForegroundFinalizer)) {
    causes.push_back(invalid_value(
        kFinalizers, json::value(list),
        fmt::format("finalizer {} and {} cannot be both set", kOrphanFinalizer, kForegroundFinalizer)));
  }
}

void check_owner(const json::object& owner, Causes& causes) {
  for (std::string_view field : {"apiVersion", "kind", "name", "uid"}) {
    if (!text_at(owner, {field}).empty()) continue;
    causes.push_back(invalid_value(fmt::format("{}.{}", kOwners, field), json::value(""),
                                   field == "apiVersion" ? "version must not be empty" : kEmpty));
  }
  if (text_at(owner, {"apiVersion"}) == "v1" && text_at(owner, {"kind"}) == "Event") {
    causes.push_back(
        invalid_value(kOwners, json::value(owner), "/v1, Kind=Event is disallowed from being an owner"));
  }
}

void check_owners(const json::array& list, Causes& causes) {
  const json::object* controller = nullptr;
  for (const json::value& entry : list) {
    const json::object* owner = entry.if_object();
    if (owner == nullptr) {
      causes.push_back(invalid_value(kOwners, entry, "must be an object"));
      continue;
    }
    check_owner(*owner, causes);
    if (!kube::bool_at(*owner, {"controller"}).value_or(false)) continue;
    if (controller != nullptr) {
      causes.push_back(invalid_value(
          kOwners, json::value(list),
          fmt::format("Only one reference can have Controller set to true. Found \"true\" in references for "
                      "{} and {}",
                      kube::shown(text_at(*controller, {"name"})), kube::shown(text_at(*owner, {"name"})))));
    }
    controller = owner;
  }
}

}  // namespace

Causes check_references(const json::object& object, const json::object* before,
                        const kube::Resource& resource) {
  Causes causes;
  const json::object& metadata = object.at("metadata").get_object();
  const json::object* old = before == nullptr ? nullptr : kube::object_at(*before, {"metadata"});
  auto is_new = [&](std::string_view member) {
    return metadata.contains(jview(member)) && (old == nullptr || !same_member(metadata, *old, member));
  };
  if (const json::array* list = kube::array_at(metadata, {"ownerReferences"});
      list != nullptr && is_new("ownerReferences")) {
    check_owners(*list, causes);
  }
  if (const json::array* list = kube::array_at(metadata, {"finalizers"});
      list != nullptr && is_new("finalizers")) {
    check_finalizers(*list, kube::is_built_in(resource), causes);
  }
  return causes;
}

}  // namespace trainyard::store
