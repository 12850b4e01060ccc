// Strategic merge patch: a merge patch that knows which lists of the built-in kinds are
// maps in disguise, and by which field their elements are told apart.
#include "kube/access.h"
#include "kube/patch.h"

namespace trainyard::kube {
namespace {

constexpr std::string_view kPatchDirective = "$patch";
constexpr std::string_view kRetainKeys = "$retainKeys";
constexpr std::string_view kDeletePrefix = "$deleteFromPrimitiveList/";
constexpr std::string_view kOrderPrefix = "$setElementOrder/";

// How a list of that name is merged. `kind` narrows the row to one kind; "" is any.
struct ListRule {
  std::string_view kind;
  std::string_view field;
  std::string_view key;  // what tells elements apart; "" for a set of plain values
};

constexpr ListRule kListRules[] = {
    {"Service", "ports", "port"},
    {"Node", "addresses", "type"},
    {"Node", "podCIDRs", ""},
    {"ServiceAccount", "secrets", "name"},
    {"", "ports", "containerPort"},
    {"", "containers", "name"},
    {"", "initContainers", "name"},
    {"", "ephemeralContainers", "name"},
    {"", "volumes", "name"},
    {"", "env", "name"},
    {"", "volumeMounts", "mountPath"},
    {"", "volumeDevices", "devicePath"},
    {"", "imagePullSecrets", "name"},
    {"", "hostAliases", "ip"},
    {"", "podIPs", "ip"},
    {"", "hostIPs", "ip"},
    {"", "topologySpreadConstraints", "topologyKey"},
    {"", "schedulingGates", "name"},
    {"", "resourceClaims", "name"},
    {"", "resourceClaimStatuses", "name"},
    {"", "ownerReferences", "uid"},
    {"", "conditions", "type"},
    {"", "finalizers", ""},
};

constexpr std::string_view kBuiltInGroups[] = {"",
                                               "apps",
                                               "batch",
                                               "autoscaling",
                                               "policy",
                                               "networking.k8s.io",
                                               "coordination.k8s.io",
                                               "scheduling.k8s.io",
                                               "rbac.authorization.k8s.io",
                                               "storage.k8s.io",
                                               "discovery.k8s.io",
                                               "events.k8s.io",
                                               "node.k8s.io"};

const ListRule* rule_for(std::string_view kind, std::string_view field) {
  // The pull secrets of a ServiceAccount are one of the few lists that differ by kind.
  if (kind == "ServiceAccount" && field == "imagePullSecrets") return nullptr;
  for (const ListRule& rule : kListRules) {
    if (rule.field == field && (rule.kind.empty() || rule.kind == kind)) return &rule;
  }
  return nullptr;
}

std::string_view key_view(const json::key_value_pair& member) {
  return {member.key().data(), member.key().size()};
}

std::string_view directive_of(const json::value& value) {
  const json::object* object = value.if_object();
  return object ? text_at(*object, {kPatchDirective}) : std::string_view();
}

// Leaves the recursion when the patch is at fault; never leaves this file.
struct PatchRefusal {
  std::string why;
};

// What an element of a list is called: equal names, same element.
std::string identity(const json::value& element, std::string_view key) {
  if (key.empty()) return json::serialize(element);
  const json::object* object = element.if_object();
  const json::value* value = object ? object->if_contains(jview(key)) : nullptr;
  return value ? json::serialize(*value) : std::string();
}

class StrategicPatcher {
 public:
  explicit StrategicPatcher(std::string_view kind) : kind_(kind) {}

  json::value merge(const json::value& target, const json::value& patch, std::string_view field, int depth) {
    if (depth > kPatchDepthMax)
      throw PatchRefusal{fmt::format("the patch is nested more than {} deep", kPatchDepthMax)};
    if (patch.is_object()) {
      static const json::object kNothing;
      return merge_objects(target.is_object() ? target.get_object() : kNothing, patch.get_object(), depth);
    }
    const ListRule* rule = rule_for(kind_, field);
    if (!patch.is_array()) return patch;
    static const json::array kEmpty;
    const json::array& list = target.is_array() ? target.get_array() : kEmpty;
    if (rule == nullptr) return plain_list(patch.get_array(), depth);
    return merge_lists(list, patch.get_array(), *rule, nullptr, depth);
  }

 private:
  // A list that is replaced whole; directives in it mean nothing and are dropped.
  json::value plain_list(const json::array& patch, int depth) {
    json::array out;
    for (const json::value& element : patch) {
      if (!directive_of(element).empty()) continue;
      out.push_back(element.is_object() ? merge(nullptr, element, "", depth + 1) : element);
    }
    return out;
  }

  json::value merge_objects(const json::object& target, const json::object& patch, int depth) {
    static const json::object kNothing;
    const json::object* base = &target;
    if (const json::value* directive = patch.if_contains(jview(kPatchDirective))) {
      std::string_view what = directive->is_string() ? view(directive->get_string()) : std::string_view();
      if (what == "delete") return json::object();
      if (what != "replace" && what != "merge") {
        throw PatchRefusal{fmt::format("$patch is \"{}\", not one of delete, replace, merge", shown(what))};
      }
      if (what == "replace") base = &kNothing;
    }
    std::optional<std::set<std::string>> retained = retained_keys(patch);
    json::object out;
    for (const json::key_value_pair& member : *base) {
      std::string_view key = key_view(member);
      if (retained && !retained->contains(std::string(key))) continue;
      const json::value* change = patch.if_contains(member.key());
      if (change != nullptr && change->is_null()) continue;
      out[member.key()] = merge_member(member.value(), change, key, patch, depth);
    }
    for (const json::key_value_pair& change : patch) {
      std::string_view key = key_view(change);
      if (key.starts_with('$')) {
        check_directive(key);
        continue;
      }
      if (base->contains(change.key()) || change.value().is_null()) continue;
      out[change.key()] = merge_member(nullptr, &change.value(), key, patch, depth);
    }
    return out;
  }

  static void check_directive(std::string_view key) {
    bool known = key == kPatchDirective || key == kRetainKeys || key.starts_with(kDeletePrefix) ||
                 key.starts_with(kOrderPrefix);
    if (!known) throw PatchRefusal{fmt::format("\"{}\" is not a directive", shown(key))};
  }

  static std::optional<std::set<std::string>> retained_keys(const json::object& patch) {
    const json::value* list = patch.if_contains(jview(kRetainKeys));
    if (list == nullptr) return std::nullopt;
    if (!list->is_array()) throw PatchRefusal{"$retainKeys must be a list"};
    std::set<std::string> out;
    for (const json::value& key : list->get_array()) {
      if (!key.is_string()) throw PatchRefusal{"$retainKeys must be a list of strings"};
      out.emplace(view(key.get_string()));
    }
    for (const json::key_value_pair& change : patch) {
      std::string_view key = key_view(change);
      if (key.starts_with('$') || change.value().is_null() || out.contains(std::string(key))) continue;
      throw PatchRefusal{fmt::format("\"{}\" is set but not in $retainKeys", shown(key))};
    }
    return out;
  }

  // One field: its change, if any, and the directives for it that stand beside it.
  json::value merge_member(const json::value& old, const json::value* change, std::string_view field,
                           const json::object& patch, int depth) {
    const json::array* removed = list_directive(patch, kDeletePrefix, field);
    const json::array* order = list_directive(patch, kOrderPrefix, field);
    if (removed == nullptr && order == nullptr) {
      return change == nullptr ? old : merge(old, *change, field, depth + 1);
    }
    static const json::array kEmpty;
    json::array kept = old.is_array() ? old.get_array() : kEmpty;
    if (removed != nullptr) kept = without(kept, *removed);
    const ListRule* rule = rule_for(kind_, field);
    if (rule == nullptr) return change == nullptr ? json::value(std::move(kept)) : *change;
    bool list_change = change != nullptr && change->is_array();
    return merge_lists(kept, list_change ? change->get_array() : kEmpty, *rule, order, depth + 1);
  }

  static const json::array* list_directive(const json::object& patch, std::string_view prefix,
                                           std::string_view field) {
    const json::value* found = patch.if_contains(jview(std::string(prefix) + std::string(field)));
    if (found == nullptr || found->is_null()) return nullptr;
    if (!found->is_array()) throw PatchRefusal{fmt::format("{}{} must be a list", prefix, shown(field))};
    return &found->get_array();
  }

  static json::array without(const json::array& list, const json::array& removed) {
    std::set<std::string> gone;
    for (const json::value& element : removed) gone.insert(json::serialize(element));
    json::array out;
    for (const json::value& element : list) {
      if (!gone.contains(json::serialize(element))) out.push_back(element);
    }
    return out;
  }

  void check_element(const json::value& element, const ListRule& rule) const {
    if (rule.key.empty()) {
      if (!element.is_primitive()) throw PatchRefusal{fmt::format("{} holds plain values only", rule.field)};
      return;
    }
    if (!element.is_object()) throw PatchRefusal{fmt::format("{} holds objects only", rule.field)};
    if (!element.get_object().contains(jview(rule.key))) {
      throw PatchRefusal{fmt::format("an element of {} lacks its key \"{}\"", rule.field, rule.key)};
    }
  }

  json::value merge_lists(const json::array& list, const json::array& patch, const ListRule& rule,
                          const json::array* order, int depth) {
    json::array changes;
    std::set<std::string> deleted;
    bool replaced = false;
    for (const json::value& element : patch) {
      std::string_view directive = directive_of(element);
      if (directive == "replace") {
        replaced = true;
        // With the key it replaces that element, alone it replaces the whole list.
        if (element.get_object().size() > 1) changes.push_back(element);
      } else if (directive == "delete") {
        check_element(element, rule);
        deleted.insert(identity(element, rule.key));
      } else {
        check_element(element, rule);
        changes.push_back(element);
      }
    }
    if (replaced) return merge_elements({}, changes, rule, {}, depth);
    return merge_elements(list, changes, rule, order ? *order : changes, depth, deleted);
  }

  json::array merge_elements(const json::array& list, const json::array& changes, const ListRule& rule,
                             const json::array& order, int depth, const std::set<std::string>& deleted = {}) {
    json::array merged;
    std::map<std::string, size_t> place;  // of each element of `merged`
    std::map<std::string, size_t> before;
    for (const json::value& element : list) {
      std::string name = identity(element, rule.key);
      before.emplace(name, before.size());
      if (deleted.contains(name)) continue;
      if (rule.key.empty() && place.contains(name)) continue;
      place.emplace(std::move(name), merged.size());
      merged.push_back(element);
    }
    for (const json::value& change : changes) {
      auto [found, added] = place.emplace(identity(change, rule.key), merged.size());
      if (added) {
        merged.push_back(rule.key.empty() ? change : merge(nullptr, change, "", depth + 1));
      } else if (!rule.key.empty()) {
        merged[found->second] = merge(merged[found->second], change, "", depth + 1);
      }
    }
    return arrange(std::move(merged), rule, order, before);
  }

  // Elements the patch names come in its order; the others keep their place among the old
  // ones as far as that is possible, as the API server arranges them.
  static json::array arrange(json::array merged, const ListRule& rule, const json::array& order,
                             const std::map<std::string, size_t>& before) {
    std::map<std::string, size_t> rank;
    for (const json::value& element : order) rank.emplace(identity(element, rule.key), rank.size());
    struct Item {
      size_t rank = 0;
      std::optional<size_t> old;
      json::value* value = nullptr;
    };
    std::vector<Item> named, others;
    for (json::value& element : merged) {
      std::string name = identity(element, rule.key);
      auto old = before.find(name);
      Item item{0, old == before.end() ? std::nullopt : std::optional(old->second), &element};
      auto ranked = rank.find(name);
      if (ranked == rank.end()) {
        others.push_back(item);
      } else {
        item.rank = ranked->second;
        named.push_back(item);
      }
    }
    std::stable_sort(named.begin(), named.end(),
                     [](const Item& a, const Item& b) { return a.rank < b.rank; });
    json::array out;
    size_t left = 0;
    for (const Item& item : named) {
      while (left < others.size() && item.old && others[left].old && *others[left].old < *item.old) {
        out.push_back(std::move(*others[left++].value));
      }
      out.push_back(std::move(*item.value));
    }
    while (left < others.size()) out.push_back(std::move(*others[left++].value));
    return out;
  }

  std::string_view kind_;
};

}  // namespace

bool is_built_in(const Resource& resource) {
  return std::find(std::begin(kBuiltInGroups), std::end(kBuiltInGroups), resource.group) !=
         std::end(kBuiltInGroups);
}

Result<json::value> apply_strategic_patch(const json::value& target, const json::value& patch,
                                          const Resource& resource) {
  if (!is_built_in(resource)) {
    return Error{ErrorKind::kInvalid,
                 fmt::format("{} is a custom resource: it takes no strategic merge patch", resource.kind)};
  }
  if (!target.is_object() || !patch.is_object()) {
    return Error{ErrorKind::kInvalid, "a strategic merge patch is an object and applies to one"};
  }
  try {
    return StrategicPatcher(resource.kind).merge(target, patch, "", 1);
  } catch (const PatchRefusal& refusal) {
    return Error{ErrorKind::kInvalid, refusal.why};
  }
}

}  // namespace trainyard::kube
