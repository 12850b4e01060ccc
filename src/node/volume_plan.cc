#include "node/volume_plan.h"

#include <algorithm>
#include <array>

#include "kube/access.h"
#include "kube/meta.h"

namespace trainyard::node {

using kube::text_at;

namespace {

Error bad_volume(std::string words) { return Error{ErrorKind::kInvalid, std::move(words)}; }

Error set_up_failed(std::string_view volume, const std::string& words) {
  return bad_volume(fmt::format("MountVolume.SetUp failed for volume \"{}\" : {}", volume, words));
}

class FilePlanner {
 public:
  FilePlanner(const json::object& pod, const Around& around) : pod_(pod), around_(around) {}

  // `source` is a secret, configMap or downwardAPI, in a volume or projected.
  Result<Done> add(std::string_view kind, const json::object& source, unsigned default_mode) {
    unsigned mode = static_cast<unsigned>(kube::int_at(source, {"defaultMode"}).value_or(default_mode));
    if (kind == "secret") return add_object(source, true, mode);
    if (kind == "configMap") return add_object(source, false, mode);
    if (kind == "downwardAPI") return add_fields(source, mode);
    return Done{};
  }

  std::vector<VolumeFile> files;

 private:
  Result<Done> add_file(std::string_view path, std::string content, unsigned mode) {
    std::optional<std::string> clean = clean_relative(path);
    if (!clean || clean->empty()) return bad_volume(fmt::format("invalid path \"{}\"", path));
    std::erase_if(files, [&](const VolumeFile& file) { return file.path == *clean; });
    files.push_back({*clean, std::move(content), mode});
    return Done{};
  }

  Result<Done> add_object(const json::object& source, bool is_secret, unsigned mode) {
    std::string name(text_at(source, {"secretName"}));
    if (name.empty()) name = text_at(source, {"name"});
    bool optional = kube::bool_at(source, {"optional"}).value_or(false);
    const auto& known = is_secret ? around_.secrets : around_.config_maps;
    auto found = known.find(name);
    if (found == known.end() || found->second == nullptr) {
      if (optional) return Done{};
      return bad_volume(fmt::format("{} \"{}\" not found", is_secret ? "secret" : "configmap", name));
    }
    Result<std::map<std::string, std::string>> contents = contents_of(found->second, is_secret);
    if (!contents.ok()) return contents.error();
    const json::array* items = kube::array_at(source, {"items"});
    if (items == nullptr) {
      for (const auto& [key, value] : *contents) {
        Result<Done> added = add_file(key, value, mode);
        if (!added.ok()) return added;
      }
      return Done{};
    }
    for (const json::value& entry : *items) {
      if (!entry.is_object()) continue;
      const json::object& item = entry.get_object();
      auto value = contents->find(std::string(text_at(item, {"key"})));
      if (value == contents->end()) {
        if (optional) continue;
        return bad_volume(fmt::format("references non-existent {} key: {}", is_secret ? "secret" : "config",
                                      text_at(item, {"key"})));
      }
      unsigned own = static_cast<unsigned>(kube::int_at(item, {"mode"}).value_or(mode));
      Result<Done> added = add_file(text_at(item, {"path"}), value->second, own);
      if (!added.ok()) return added;
    }
    return Done{};
  }

  Result<Done> add_fields(const json::object& source, unsigned mode) {
    const json::array* items = kube::array_at(source, {"items"});
    if (items == nullptr) return Done{};
    for (const json::value& entry : *items) {
      if (!entry.is_object()) continue;
      const json::object& item = entry.get_object();
      const json::object* resource = kube::object_at(item, {"resourceFieldRef"});
      Result<std::string> value = resource != nullptr
                                      ? resource_field_of(pod_, *resource, "", around_)
                                      : field_of(pod_, around_, text_at(item, {"fieldRef", "fieldPath"}));
      if (!value.ok()) return value.error();
      unsigned own = static_cast<unsigned>(kube::int_at(item, {"mode"}).value_or(mode));
      Result<Done> added = add_file(text_at(item, {"path"}), *value, own);
      if (!added.ok()) return added;
    }
    return Done{};
  }

  const json::object& pod_;
  const Around& around_;
};

constexpr unsigned kFileModeDefault = 0644;
constexpr std::array<std::string_view, 7> kOurKinds = {
    "emptyDir", "hostPath", "persistentVolumeClaim", "secret", "configMap", "downwardAPI", "projected"};

Result<FileVolume> plan_files(const json::object& pod, const Around& around, const json::object& volume) {
  FilePlanner planner(pod, around);
  for (std::string_view kind : {"secret", "configMap", "downwardAPI"}) {
    const json::object* source = kube::object_at(volume, {kind});
    if (source == nullptr) continue;
    Result<Done> added = planner.add(kind, *source, kFileModeDefault);
    if (!added.ok()) return added.error();
  }
  if (const json::object* projected = kube::object_at(volume, {"projected"})) {
    unsigned mode =
        static_cast<unsigned>(kube::int_at(*projected, {"defaultMode"}).value_or(kFileModeDefault));
    const json::array* sources = kube::array_at(*projected, {"sources"});
    for (const json::value& entry : kube::or_empty(sources)) {
      if (!entry.is_object()) continue;
      for (const auto& source : entry.get_object()) {
        if (!source.value().is_object()) continue;
        Result<Done> added = planner.add(kube::view(source.key()), source.value().get_object(), mode);
        if (!added.ok()) return added.error();
      }
    }
  }
  std::sort(planner.files.begin(), planner.files.end(),
            [](const VolumeFile& a, const VolumeFile& b) { return a.path < b.path; });
  return FileVolume{std::move(planner.files)};
}

Result<VolumePlan> plan_volume(const json::object& pod, const Around& around, const json::object& volume) {
  VolumePlan plan{std::string(text_at(volume, {"name"})), EmptyVolume{}};
  if (const json::object* empty = kube::object_at(volume, {"emptyDir"})) {
    EmptyVolume kind;
    kind.memory = text_at(*empty, {"medium"}) == "Memory";
    if (const json::value* limit = kube::find(*empty, {"sizeLimit"})) {
      Result<kube::Quantity> bytes = kube::Quantity::from_json(*limit);
      if (bytes.ok() && !bytes->is_zero()) kind.bytes_max = bytes->value();
    }
    plan.kind = kind;
    return plan;
  }
  if (const json::object* host = kube::object_at(volume, {"hostPath"})) {
    std::string path(text_at(*host, {"path"}));
    if (!path.starts_with('/')) return set_up_failed(plan.name, "hostPath is not absolute");
    plan.kind = HostVolume{path, std::string(text_at(*host, {"type"}))};
    return plan;
  }
  if (const json::object* claim = kube::object_at(volume, {"persistentVolumeClaim"})) {
    plan.kind = ClaimVolume{std::string(text_at(*claim, {"claimName"})),
                            kube::bool_at(*claim, {"readOnly"}).value_or(false)};
    return plan;
  }
  for (std::string_view kind : {"secret", "configMap", "downwardAPI", "projected"}) {
    if (kube::object_at(volume, {kind}) == nullptr) continue;
    Result<FileVolume> files = plan_files(pod, around, volume);
    if (!files.ok()) return set_up_failed(plan.name, files.error().message);
    plan.kind = *files;
    return plan;
  }
  if (std::string kind = foreign_volume_kind(volume); !kind.empty()) {
    return set_up_failed(plan.name, fmt::format("volumes of kind {} are not to be had on this node", kind));
  }
  return plan;  // without a source: an emptyDir
}

}  // namespace

std::string foreign_volume_kind(const json::object& volume) {
  for (const auto& member : volume) {
    std::string_view key = kube::view(member.key());
    if (key == "name") continue;
    bool ours = std::find(kOurKinds.begin(), kOurKinds.end(), key) != kOurKinds.end();
    return ours ? "" : std::string(key);
  }
  return "";
}

std::optional<std::string> clean_relative(std::string_view path) {
  if (path.starts_with('/') || path.find('\0') != std::string_view::npos) return std::nullopt;
  std::string out;
  for (size_t at = 0; at <= path.size();) {
    size_t end = std::min(path.find('/', at), path.size());
    std::string_view part = path.substr(at, end - at);
    at = end + 1;
    if (part.empty() || part == ".") continue;
    if (part == "..") return std::nullopt;
    if (!out.empty()) out += '/';
    out += part;
  }
  return out;
}

Result<std::vector<VolumePlan>> plan_volumes(const json::object& pod, const Around& around) {
  std::vector<VolumePlan> plans;
  const json::array* volumes = kube::array_at(pod, {"spec", "volumes"});
  if (volumes == nullptr) return plans;
  for (const json::value& entry : *volumes) {
    if (!entry.is_object()) continue;
    Result<VolumePlan> plan = plan_volume(pod, around, entry.get_object());
    if (!plan.ok()) return plan.error();
    plans.push_back(*plan);
  }
  return plans;
}

Result<std::vector<MountWish>> plan_mounts(const json::object& container, const Env& env) {
  std::vector<MountWish> wishes;
  const json::array* mounts = kube::array_at(container, {"volumeMounts"});
  if (mounts == nullptr) return wishes;
  std::map<std::string, std::string> values(env.begin(), env.end());
  for (const json::value& entry : *mounts) {
    if (!entry.is_object()) continue;
    const json::object& mount = entry.get_object();
    MountWish wish;
    wish.volume = text_at(mount, {"name"});
    std::string_view target = text_at(mount, {"mountPath"});
    std::optional<std::string> clean = clean_relative(target.starts_with('/') ? target.substr(1) : target);
    if (!clean) return bad_volume(fmt::format("invalid mountPath \"{}\"", target));
    wish.target = "/" + *clean;
    std::string expression(text_at(mount, {"subPathExpr"}));
    std::string wanted =
        expression.empty() ? std::string(text_at(mount, {"subPath"})) : expand(expression, values);
    std::optional<std::string> sub_path = clean_relative(wanted);
    if (!sub_path) return bad_volume(fmt::format("subPath \"{}\" must not leave its volume", wanted));
    wish.sub_path = *sub_path;
    wish.read_only = kube::bool_at(mount, {"readOnly"}).value_or(false);
    wishes.push_back(std::move(wish));
  }
  std::sort(wishes.begin(), wishes.end(),
            [](const MountWish& a, const MountWish& b) { return a.target < b.target; });
  return wishes;
}

}  // namespace trainyard::node
