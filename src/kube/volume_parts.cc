#include "kube/volume_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "kube/access.h"
#include "kube/quantity.h"

namespace trainyard::kube {
namespace {

constexpr int64_t kModeMax = 0777;
constexpr int64_t kTokenSecondsMin = 600;
constexpr int64_t kTokenSecondsMax = int64_t{1} << 32;

// In the order in which the real server looks at them.
constexpr std::array<std::string_view, 30> kSources{
    "emptyDir",
    "hostPath",
    "gitRepo",
    "gcePersistentDisk",
    "awsElasticBlockStore",
    "secret",
    "nfs",
    "iscsi",
    "glusterfs",
    "flocker",
    "persistentVolumeClaim",
    "rbd",
    "cinder",
    "cephfs",
    "quobyte",
    "downwardAPI",
    "fc",
    "flexVolume",
    "configMap",
    "azureFile",
    "vsphereVolume",
    "photonPersistentDisk",
    "portworxVolume",
    "azureDisk",
    "storageos",
    "projected",
    "scaleIO",
    "csi",
    "ephemeral",
    "image",
};

constexpr std::array<std::string_view, 8> kHostPathTypes{
    "", "BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate", "File", "FileOrCreate", "Socket"};
constexpr std::array<std::string_view, 5> kFieldsForFiles{
    "metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace", "metadata.uid"};
constexpr std::array<std::string_view, 6> kResourcesForFiles{
    "limits.cpu",   "limits.ephemeral-storage",   "limits.memory",
    "requests.cpu", "requests.ephemeral-storage", "requests.memory"};

// Where files go that were named so far, below a projected volume.
using Paths = std::set<std::string, std::less<>>;

template <typename Visit>
void each_item(const json::object& source, Visit visit) {
  const json::array* items = array_at(source, {"items"});
  for (size_t i = 0; items != nullptr && i < items->size(); ++i) {
    if (const json::object* item = (*items)[i].if_object()) visit(*item, i);
  }
}

void need_text(const json::object& source, std::string_view member, const std::string& at,
               PartFaults& faults) {
  if (text_at(source, {member}).empty()) add_required(faults, fmt::format("{}.{}", at, member));
}

void check_mode(const json::object& source, std::string_view member, const std::string& at,
                PartFaults& faults) {
  const json::value* mode = source.if_contains(jview(member));
  std::optional<int64_t> number = mode == nullptr ? std::nullopt : as_whole(*mode);
  if (!number || (*number >= 0 && *number <= kModeMax)) return;
  add_invalid_value(faults, fmt::format("{}.{}", at, member), *mode,
                    "must be a number between 0 and 0777 (octal), both inclusive");
}

// A path that stays inside and is none of those that the node keeps for itself.
void check_file_path(std::string_view path, const std::string& at, PartFaults& faults) {
  check_descending(path, at, faults);
  if (path.starts_with("..") && !goes_up(path)) add_invalid(faults, at, path, "must not start with '..'");
}

void check_key_to_path(const json::object& item, const std::string& at, PartFaults& faults) {
  need_text(item, "key", at, faults);
  need_text(item, "path", at, faults);
  check_file_path(text_at(item, {"path"}), at + ".path", faults);
  check_mode(item, "mode", at, faults);
}

void check_resource_ref(const json::object& ref, const std::string& at, PartFaults& faults) {
  if (text_at(ref, {"containerName"}).empty()) return add_required(faults, at + ".containerName");
  std::string_view resource = text_at(ref, {"resource"});
  if (resource.empty()) return add_required(faults, at + ".resource");
  const bool is_known =
      std::find(kResourcesForFiles.begin(), kResourcesForFiles.end(), resource) != kResourcesForFiles.end() ||
      resource.starts_with("limits.hugepages-") || resource.starts_with("requests.hugepages-");
  if (!is_known) add_unsupported(faults, at + ".resource", resource, kResourcesForFiles);
}

// The real server does not say which item it is, so neither does `at`.
void check_downward_file(const json::object& item, const std::string& at, PartFaults& faults) {
  need_text(item, "path", at, faults);
  check_file_path(text_at(item, {"path"}), at + ".path", faults);
  const json::object* field = object_at(item, {"fieldRef"});
  const json::object* resource = object_at(item, {"resourceFieldRef"});
  if (field != nullptr) {
    check_field_ref(*field, kFieldsForFiles, at + ".fieldRef", faults);
    if (resource != nullptr) {
      add_invalid(faults, at, "resource",
                  "fieldRef and resourceFieldRef can not be specified simultaneously");
    }
  } else if (resource != nullptr) {
    check_resource_ref(*resource, at + ".resourceFieldRef", faults);
  } else {
    add_required(faults, at, "one of fieldRef and resourceFieldRef is required");
  }
  check_mode(item, "mode", at, faults);
}

// Two files in one place; `named`: what the real server calls the second.
void note_path(std::string_view path, std::string_view named, Paths& paths, PartFaults& faults) {
  if (path.empty() || paths.emplace(path).second) return;
  add_invalid(faults, "projected", named, "conflicting duplicate paths");
}

void check_token(const json::object& token, const std::string& at, PartFaults& faults) {
  const json::value* seconds = token.if_contains("expirationSeconds");
  std::optional<int64_t> number = seconds == nullptr ? std::nullopt : as_whole(*seconds);
  if (number && *number < kTokenSecondsMin) {
    add_invalid_value(faults, at + ".expirationSeconds", *seconds,
                      "may not specify a duration less than 10 minutes");
  }
  if (number && *number > kTokenSecondsMax) {
    add_invalid_value(faults, at + ".expirationSeconds", *seconds,
                      "may not specify a duration larger than 2^32 seconds");
  }
  need_text(token, "path", "projected", faults);
  check_file_path(text_at(token, {"path"}), "projected.path", faults);
}

void check_projection(const json::object& source, const std::string& at, Paths& paths, PartFaults& faults) {
  int sources = 0;
  for (std::string_view member : {"secret", "configMap"}) {
    const json::object* from = object_at(source, {member});
    if (from == nullptr) continue;
    ++sources;
    std::string below = fmt::format("{}.{}", at, member);
    need_text(*from, "name", below, faults);
    each_item(*from, [&](const json::object& item, size_t i) {
      check_key_to_path(item, fmt::format("{}.items[{}]", below, i), faults);
      note_path(text_at(item, {"path"}), text_at(*from, {"name"}), paths, faults);
    });
  }
  if (const json::object* from = object_at(source, {"downwardAPI"})) {
    ++sources;
    each_item(*from, [&](const json::object& item, size_t) {
      check_downward_file(item, at + ".downwardAPI", faults);
      note_path(text_at(item, {"path"}), text_at(item, {"path"}), paths, faults);
    });
  }
  if (const json::object* from = object_at(source, {"serviceAccountToken"})) {
    ++sources;
    check_token(*from, at + ".serviceAccountToken", faults);
  }
  if (is_there(source, "clusterTrustBundle")) ++sources;
  if (sources > 1) add_forbidden(faults, at, "may not specify more than 1 volume type per source");
}

void check_projected(const json::object& projected, PartFaults& faults) {
  check_mode(projected, "defaultMode", "projected", faults);
  const json::array* sources = array_at(projected, {"sources"});
  Paths paths;
  for (size_t i = 0; sources != nullptr && i < sources->size(); ++i) {
    const json::object* source = (*sources)[i].if_object();
    if (source != nullptr) check_projection(*source, fmt::format("projected.sources[{}]", i), paths, faults);
  }
}

void check_keys(const json::object& source, std::string_view name, const std::string& at,
                PartFaults& faults) {
  need_text(source, name, at, faults);
  check_mode(source, "defaultMode", at, faults);
  each_item(source, [&](const json::object& item, size_t i) {
    check_key_to_path(item, fmt::format("{}.items[{}]", at, i), faults);
  });
}

void check_host_path(const json::object& source, PartFaults& faults) {
  std::string_view path = text_at(source, {"path"});
  if (path.empty()) return add_required(faults, "hostPath.path");
  if (goes_up(path)) add_invalid(faults, "hostPath.path", path, "must not contain '..'");
  std::string_view type = text_at(source, {"type"});
  if (std::find(kHostPathTypes.begin(), kHostPathTypes.end(), type) == kHostPathTypes.end()) {
    add_unsupported(faults, "hostPath.type", type, kHostPathTypes);
  }
}

void check_empty_dir(const json::object& source, PartFaults& faults) {
  if (!is_there(source, "sizeLimit")) return;
  const json::value& limit = *source.if_contains("sizeLimit");
  Result<Quantity> size = Quantity::from_json(limit);
  if (!size.ok()) {
    add_invalid_value(faults, "emptyDir.sizeLimit", limit, "must be a quantity");
  } else if (size->is_negative()) {
    add_forbidden(faults, "emptyDir.sizeLimit", "SizeLimit field must be a valid resource quantity");
  }
}

void check_source(std::string_view kind, const json::object& source, PartFaults& faults) {
  const std::string at(kind);
  if (kind == "emptyDir") return check_empty_dir(source, faults);
  if (kind == "hostPath") return check_host_path(source, faults);
  if (kind == "secret") return check_keys(source, "secretName", at, faults);
  if (kind == "configMap") return check_keys(source, "name", at, faults);
  if (kind == "persistentVolumeClaim") return need_text(source, "claimName", at, faults);
  if (kind == "projected") return check_projected(source, faults);
  if (kind == "nfs") {
    need_text(source, "server", at, faults);
    need_text(source, "path", at, faults);
    std::string_view path = text_at(source, {"path"});
    if (!path.starts_with('/')) add_invalid(faults, "nfs.path", path, "must be an absolute path");
  }
  if (kind != "downwardAPI") return;
  check_mode(source, "defaultMode", at, faults);
  each_item(source, [&](const json::object& item, size_t) { check_downward_file(item, at, faults); });
}

}  // namespace

PartFaults volume_faults(const json::object& volume) {
  PartFaults faults;
  int sources = 0;
  for (std::string_view kind : kSources) {
    if (!is_there(volume, kind)) continue;
    if (++sources > 1) {
      add_forbidden(faults, std::string(kind), "may not specify more than 1 volume type");
    } else if (const json::object* source = object_at(volume, {kind})) {
      check_source(kind, *source, faults);
    }
  }
  return faults;
}

bool has_source(const json::object& volume) {
  return std::any_of(kSources.begin(), kSources.end(),
                     [&](std::string_view source) { return is_there(volume, source); });
}

}  // namespace trainyard::kube
