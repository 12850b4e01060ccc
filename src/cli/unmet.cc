#include "cli/unmet.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include "cli/forewarn.h"
#include "kube/access.h"
#include "kube/meta.h"
#include "kube/pod_requests.h"
#include "node/env_plan.h"
#include "node/volume_plan.h"
#include "node/volumes.h"
#include "sched/amounts.h"
#include "sched/decode.h"
#include "sched/fit.h"
#include "sched/shape.h"

namespace trainyard::cli {
namespace {

constexpr int kRoomLooks = 200;
constexpr std::chrono::milliseconds kRoomLooksEvery{10};

struct Kind {
  std::string_view title;  // of documents, and for people
  const kube::Resource& resource;
  std::string_view word;  // before the slash in references_of()
  model::CompanionKind made_as;
};
const Kind kKinds[] = {
    {"Secret", kube::kSecrets, "secret", model::CompanionKind::kSecret},
    {"ConfigMap", kube::kConfigMaps, "configmap", model::CompanionKind::kConfigMap},
    {"PersistentVolumeClaim", kube::kPersistentVolumeClaims, "claim",
     model::CompanionKind::kPersistentVolumeClaim},
};

template <typename Visit>
void for_each_in(const json::object& object, std::initializer_list<std::string_view> path, Visit visit) {
  const json::array* list = kube::array_at(object, path);
  if (list == nullptr) return;
  for (const json::value& value : *list) {
    if (const json::object* entry = value.if_object()) visit(*entry);
  }
}

class References {
 public:
  explicit References(const json::object& pod) {
    for (std::string_view list : {"initContainers", "containers"}) {
      for_each_in(pod, {"spec", list}, [&](const json::object& container) { add_container(container); });
    }
    for_each_in(pod, {"spec", "volumes"}, [&](const json::object& volume) { add_volume(volume); });
  }
  std::vector<std::string> take() { return std::move(found_); }

 private:
  void add(std::string_view word, const json::object& holder, std::initializer_list<std::string_view> path,
           std::string_view name_key) {
    const json::object* at = kube::object_at(holder, path);
    if (at == nullptr || kube::bool_at(*at, {"optional"}).value_or(false)) return;
    std::string_view name = kube::text_at(*at, {name_key});
    std::string reference = fmt::format("{}/{}", word, name);
    bool known = std::find(found_.begin(), found_.end(), reference) != found_.end();
    if (!name.empty() && !known) found_.push_back(std::move(reference));
  }
  void add_container(const json::object& container) {
    for_each_in(container, {"env"}, [&](const json::object& variable) {
      add("secret", variable, {"valueFrom", "secretKeyRef"}, "name");
      add("configmap", variable, {"valueFrom", "configMapKeyRef"}, "name");
    });
    for_each_in(container, {"envFrom"}, [&](const json::object& source) {
      add("secret", source, {"secretRef"}, "name");
      add("configmap", source, {"configMapRef"}, "name");
    });
  }
  void add_volume(const json::object& volume) {
    add("secret", volume, {"secret"}, "secretName");
    add("configmap", volume, {"configMap"}, "name");
    add("claim", volume, {"persistentVolumeClaim"}, "claimName");
    for_each_in(volume, {"projected", "sources"}, [&](const json::object& source) {
      add("secret", source, {"secret"}, "name");
      add("configmap", source, {"configMap"}, "name");
    });
  }

  std::vector<std::string> found_;
};

class Keys {
 public:
  explicit Keys(const json::object& pod) {
    for (std::string_view list : {"initContainers", "containers"}) {
      for_each_in(pod, {"spec", list}, [&](const json::object& container) {
        for_each_in(container, {"env"}, [&](const json::object& variable) {
          add_ref("Secret", kube::object_at(variable, {"valueFrom", "secretKeyRef"}));
          add_ref("ConfigMap", kube::object_at(variable, {"valueFrom", "configMapKeyRef"}));
        });
      });
    }
    for_each_in(pod, {"spec", "volumes"}, [&](const json::object& volume) {
      add_items("Secret", kube::object_at(volume, {"secret"}), "secretName");
      add_items("ConfigMap", kube::object_at(volume, {"configMap"}), "name");
      for_each_in(volume, {"projected", "sources"}, [&](const json::object& source) {
        add_items("Secret", kube::object_at(source, {"secret"}), "name");
        add_items("ConfigMap", kube::object_at(source, {"configMap"}), "name");
      });
    });
  }
  std::vector<KeyReference> take() { return std::move(found_); }

 private:
  static bool is_optional(const json::object& holder) {
    return kube::bool_at(holder, {"optional"}).value_or(false);
  }
  void add(std::string_view kind, std::string_view name, std::string_view key, bool in_a_variable) {
    KeyReference reference{std::string(kind), std::string(name), std::string(key), in_a_variable};
    bool known = std::find(found_.begin(), found_.end(), reference) != found_.end();
    if (!name.empty() && !key.empty() && !known) found_.push_back(std::move(reference));
  }
  void add_ref(std::string_view kind, const json::object* ref) {
    if (ref == nullptr || is_optional(*ref)) return;
    add(kind, kube::text_at(*ref, {"name"}), kube::text_at(*ref, {"key"}), true);
  }
  void add_items(std::string_view kind, const json::object* source, std::string_view name_key) {
    if (source == nullptr || is_optional(*source)) return;
    for_each_in(*source, {"items"}, [&](const json::object& item) {
      add(kind, kube::text_at(*source, {name_key}), kube::text_at(item, {"key"}), false);
    });
  }

  std::vector<KeyReference> found_;
};

// "a, b and 3 more".
std::string keys_in_words(const std::map<std::string, std::string>& contents) {
  constexpr size_t kShown = 5;
  if (contents.empty()) return "none";
  std::string text;
  size_t shown = 0;
  for (auto it = contents.begin(); it != contents.end() && shown < kShown; ++it, ++shown) {
    text += fmt::format("{}{}", shown == 0 ? "" : ", ", it->first);
  }
  return contents.size() <= kShown ? text : fmt::format("{} and {} more", text, contents.size() - kShown);
}

std::string namespace_or_default(const json::object& body) {
  std::string ns(kube::namespace_of(body));
  return ns.empty() ? "default" : ns;
}

class Needs {
 public:
  Needs(Plane& plane, const std::vector<Object>& documents, const PlaneSettings& settings)
      : plane_(plane), documents_(documents), settings_(settings) {}

  void look_at(const Object& document) {
    dialect::LowerResult lowered = document.dialect->lower(document.body, settings_.settings);
    const auto* spec = std::get_if<model::JobSpec>(&lowered);
    if (spec == nullptr) return;
    if (!spec->managed)
      say(document, "spec.runPolicy.managedBy names another controller, and none runs here");
    if (spec->mode == model::RunMode::kPause) {
      say(document,
          "it is suspended from the start, and nobody can resume it here: take that out of the manifest");
    }
    if (std::none_of(spec->roles.begin(), spec->roles.end(),
                     [](const model::Role& role) { return role.replicas > 0; })) {
      say(document, "it has no replicas, and nobody can scale it here: it would never end");
    }
    for (const json::object& pod : sample_pods(document, settings_)) {
      for (const std::string& reference : references_of(pod)) look_for(document, *spec, reference);
      for (const KeyReference& reference : keys_of(pod)) look_for_key(document, reference);
      for (const std::string& words : oversized_variables(pod)) say(document, words);
      if (brings_nodes()) continue;
      look_for_node(document, pod);
      look_for_room(document, pod);
      look_for_commands(document, pod);
      look_for_volumes(document, pod);
    }
  }
  std::vector<std::string> take() { return std::move(said_); }

 private:
  void say(const Object& document, std::string_view what) {
    std::string line = fmt::format("{}: {}: {}", document.place_of(""), document.title(), what);
    if (std::find(said_.begin(), said_.end(), line) == said_.end()) said_.push_back(std::move(line));
  }

  void look_for(const Object& document, const model::JobSpec& spec, const std::string& reference) {
    size_t slash = reference.find('/');
    const Kind& kind = *std::find_if(std::begin(kKinds), std::end(kKinds), [&](const Kind& one) {
      return one.word == std::string_view(reference).substr(0, slash);
    });
    std::string name = reference.substr(slash + 1);
    std::string ns = namespace_or_default(document.body);
    bool made = std::any_of(spec.companions.begin(), spec.companions.end(), [&](const model::Companion& one) {
      return one.kind == kind.made_as && one.name == name && !one.must_exist;
    });
    bool given = std::any_of(documents_.begin(), documents_.end(), [&](const Object& one) {
      return kube::text_at(one.body, {"kind"}) == kind.title && kube::name_of(one.body) == name &&
             namespace_or_default(one.body) == ns;
    });
    if (made || given || client::get(plane_.client(), kind.resource, ns, name).ok()) return;
    say(document, fmt::format("needs {} {}, which is in none of the documents", kind.title, name));
  }

  // What is not there at all is told by look_for().
  void look_for_key(const Object& document, const KeyReference& reference) {
    std::string ns = namespace_or_default(document.body);
    auto given = std::find_if(documents_.begin(), documents_.end(), [&](const Object& one) {
      return kube::text_at(one.body, {"kind"}) == reference.kind &&
             kube::name_of(one.body) == reference.name && namespace_or_default(one.body) == ns;
    });
    if (given == documents_.end()) return;
    auto read = reference.in_a_variable ? node::variables_of : node::contents_of;
    Result<std::map<std::string, std::string>> contents =
        read(std::make_shared<const json::object>(given->body), reference.kind == "Secret");
    if (!contents.ok() || contents->contains(reference.key)) return;
    say(document, fmt::format("needs key {} of {} {}, which has {}", reference.key, reference.kind,
                              reference.name, keys_in_words(*contents)));
  }

  void look_for_volumes(const Object& document, const json::object& pod) {
    for (const auto& [name, kind] : foreign_volumes(pod)) {
      say(document, fmt::format("volume {} is of kind {}, which is not to be had here; a hostPath or a "
                                "PersistentVolumeClaim may stand in for it",
                                name, kind));
    }
    for_each_in(pod, {"spec", "volumes"}, [&](const json::object& volume) {
      const json::object* host = kube::object_at(volume, {"hostPath"});
      if (host == nullptr) return;
      std::string unfit = node::unfit_host_path(
          {std::string(kube::text_at(*host, {"path"})), std::string(kube::text_at(*host, {"type"}))});
      if (!unfit.empty()) say(document, fmt::format("volume {}: {}", kube::text_at(volume, {"name"}), unfit));
    });
  }

  void look_for_commands(const Object& document, const json::object& pod) {
    for (const auto& [name, image] : without_command(pod)) {
      if (plane_.runs_on_image(image)) continue;
      std::string_view why = plane_.runtime() == "process" ? "plain processes do not use its image"
                                                           : "its image is not here to give one";
      std::string_view hint = plane_.runtime() == "process" ? "" : "; --pull brings it";
      say(document, fmt::format("container {} has no command, and {} ({}{})", name, why, image, hint));
    }
  }

  bool brings_nodes() const {
    return std::any_of(documents_.begin(), documents_.end(),
                       [](const Object& one) { return kube::text_at(one.body, {"kind"}) == "Node"; });
  }

  // The nodes that say what they have; empty when none does.
  const std::vector<client::Object>& nodes() {
    for (int look = 0; nodes_.empty() && look < kRoomLooks; ++look) {
      if (look > 0) std::this_thread::sleep_for(kRoomLooksEvery);
      Result<client::Reply> listed = client::list(plane_.client(), kube::kNodes, "");
      if (!listed.ok()) continue;
      for (const client::Object& node : listed->items) {
        if (kube::object_at(*node, {"status", "allocatable"}) != nullptr) nodes_.push_back(node);
      }
    }
    return nodes_;
  }

  void look_for_node(const Object& document, const json::object& pod) {
    std::optional<std::string> wanted;
    for (const client::Object& node : nodes()) {
      wanted = wanted_elsewhere(pod, *node);
      if (!wanted) return;
    }
    if (!wanted) return;
    say(document, fmt::format("a pod wants a node {}, and this machine is none: take its nodeSelector or "
                              "nodeAffinity out of the manifest",
                              *wanted));
  }

  // CPUs are shared out here, whatever was asked for.
  void look_for_room(const Object& document, const json::object& pod) {
    for (const auto& [name, wanted] : kube::requests_of(pod)) {
      if (name == "cpu" || wanted == 0) continue;
      int64_t has = 0;
      for (const client::Object& node : nodes()) {
        Result<kube::Quantity> there =
            kube::Quantity::parse(kube::text_at(*node, {"status", "allocatable", name}));
        if (there.ok()) has = std::max(has, kube::to_amount(name, *there));
      }
      if (nodes_.empty() || has >= wanted) continue;
      std::string_view hint = name == "nvidia.com/gpu" ? "; --gpus declares them" : "";
      say(document, fmt::format("a pod needs {}; this machine has {}{}", sched::amount_phrase(name, wanted),
                                sched::amount_text(name, has), hint));
    }
  }

  Plane& plane_;
  const std::vector<Object>& documents_;
  const PlaneSettings& settings_;
  std::vector<client::Object> nodes_;
  std::vector<std::string> said_;
};

}  // namespace

std::vector<std::string> references_of(const json::object& pod) { return References(pod).take(); }

std::vector<KeyReference> keys_of(const json::object& pod) { return Keys(pod).take(); }

std::vector<std::pair<std::string, std::string>> foreign_volumes(const json::object& pod) {
  std::vector<std::pair<std::string, std::string>> found;
  for_each_in(pod, {"spec", "volumes"}, [&](const json::object& volume) {
    std::string kind = node::foreign_volume_kind(volume);
    if (!kind.empty()) found.emplace_back(kube::text_at(volume, {"name"}), kind);
  });
  return found;
}

std::optional<std::string> wanted_elsewhere(const json::object& pod, const json::object& node) {
  sched::Node here;
  here.name = kube::name_of(node);
  here.labels = sched::decode_labels(kube::object_at(node, {"metadata", "labels"}));
  const sched::NodeRule rule = sched::shape_of(pod).rule;
  if (sched::unfit(rule, nullptr, here) != sched::Unfit::kSelector) return std::nullopt;
  return sched::wanted_nodes_text(rule, nullptr);
}

std::vector<std::string> oversized_variables(const json::object& pod) {
  constexpr size_t kVariableMax = 128 * 1024;  // NAME=VALUE and the byte that ends it: Linux's MAX_ARG_STRLEN
  std::vector<std::string> words;
  for_each_in(pod, {"spec", "containers"}, [&](const json::object& container) {
    for_each_in(container, {"env"}, [&](const json::object& variable) {
      std::string_view name = kube::text_at(variable, {"name"});
      size_t size = name.size() + 1 + kube::text_at(variable, {"value"}).size() + 1;
      if (size <= kVariableMax) return;
      words.push_back(
          fmt::format("{} takes {} bytes, and Linux gives a program {} at most in one variable: "
                      "fewer replicas, or shorter names",
                      name, size, kVariableMax));
    });
  });
  return words;
}

std::vector<std::pair<std::string, std::string>> without_command(const json::object& pod) {
  std::vector<std::pair<std::string, std::string>> found;
  for (std::string_view list : {"initContainers", "containers"}) {
    for_each_in(pod, {"spec", list}, [&](const json::object& container) {
      for (std::string_view words : {"command", "args"}) {
        const json::array* line = kube::array_at(container, {words});
        if (line != nullptr && !line->empty()) return;
      }
      found.emplace_back(kube::text_at(container, {"name"}), kube::text_at(container, {"image"}));
    });
  }
  return found;
}

std::vector<std::string> unmet_needs(Plane& plane, const std::vector<Object>& documents,
                                     const PlaneSettings& settings) {
  Needs needs(plane, documents, settings);
  for (const Object& document : documents) {
    if (document.dialect != nullptr) needs.look_at(document);
  }
  return needs.take();
}

}  // namespace trainyard::cli
