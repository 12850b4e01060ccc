#include "store/metadata.h"

#include "base/check.h"
#include "kube/access.h"
#include "kube/member.h"
#include "kube/same.h"

namespace trainyard::store {

using kube::jview;

bool is_object_name(std::string_view name) {
  if (name.empty() || name.size() > kNameLengthMax) return false;
  auto is_alnum = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  char last = '.';
  for (char c : name) {
    if (c == '.' ? !is_alnum(last) : c == '-' ? last == '.' : !is_alnum(c)) return false;
    last = c;
  }
  return is_alnum(last);
}

namespace {

// What the metadata of a new object gets at most: a name, a namespace, a uid, a time, a generation, a
// version.
constexpr size_t kServersMembers = 6;

template <typename Value>
[[gnu::always_inline]] inline void set_member(json::object& in, std::string_view key, Value&& value) {
  if (json::value* there = kube::member_of(in, key)) {
    *there = std::forward<Value>(value);
  } else {
    in.emplace(jview(key), std::forward<Value>(value));
  }
}

}  // namespace

void prepare_new(json::object& body, const kube::Resource& resource, std::string_view ns,
                 std::string_view name, Time now) {
  if (kube::text_at(body, {"kind"}).empty()) body["kind"] = resource.kind;
  if (kube::text_at(body, {"apiVersion"}).empty()) body["apiVersion"] = resource.api_version();
  json::object& metadata = body["metadata"].get_object();
  for (std::string_view field : {"uid", "selfLink", "deletionTimestamp", "deletionGracePeriodSeconds",
                                 "managedFields", "resourceVersion", "namespace"}) {
    if (kube::member_of(metadata, field) != nullptr) metadata.erase(jview(field));
  }
  metadata.reserve(metadata.size() + kServersMembers);
  set_member(metadata, "name", jview(name));
  if (resource.namespaced) set_member(metadata, "namespace", jview(ns));
  set_member(metadata, "creationTimestamp", format_rfc3339(now));
  set_member(metadata, "generation", 1);
  // A node comes with its status, as a kubelet or a person declares it.
  if (resource.has_status && resource != kube::kNodes) body.erase("status");
  if (resource == kube::kPods) body["status"] = json::object{{"phase", "Pending"}};
}

json::object copy_of(const json::object& object) { return {object, json::storage_ptr()}; }

namespace {

// Whether both are the same text: most of what a write must leave alone comes back as it was.
bool is_text_of(const json::value& a, const json::value& b) {
  return a.is_string() && b.is_string() && a.get_string() == b.get_string();
}

// Inline, so that the keys of keep_identity(), which every update goes through, are known when compiling.
[[gnu::always_inline]] inline void keep_known_member(json::object& to, const json::object& from,
                                                     std::string_view member) {
  const json::value* value = kube::member_of(from, member);
  json::value* there = kube::member_of(to, member);
  if (value == nullptr) {
    if (there != nullptr) to.erase(jview(member));
  } else if (there == nullptr) {
    to.emplace(jview(member), *value);
  } else if (!is_text_of(*there, *value)) {
    *there = *value;
  }
}

}  // namespace

void keep_member(json::object& to, const json::object& from, std::string_view member) {
  keep_known_member(to, from, member);
}

void keep_identity(json::object& after, const json::object& before) {
  keep_known_member(after, before, "apiVersion");
  keep_known_member(after, before, "kind");
  json::object& metadata = after["metadata"].get_object();
  const json::object& old = before.at("metadata").get_object();
  keep_known_member(metadata, old, "name");
  keep_known_member(metadata, old, "generateName");
  keep_known_member(metadata, old, "namespace");
  keep_known_member(metadata, old, "uid");
  keep_known_member(metadata, old, "creationTimestamp");
  keep_known_member(metadata, old, "deletionTimestamp");
  keep_known_member(metadata, old, "generation");
  keep_known_member(metadata, old, "resourceVersion");
  keep_known_member(metadata, old, "deletionGracePeriodSeconds");
}

void set_version(json::object& object, int64_t revision) {
  json::value* metadata = kube::member_of(object, "metadata");
  CHECK(metadata != nullptr);
  set_member(metadata->get_object(), "resourceVersion", std::to_string(revision));
}

json::object with_status(const json::object& before, json::object body) {
  json::object after;
  after.reserve(before.size() + 1);
  json::value* status = body.if_contains("status");
  for (const json::key_value_pair& member : before) {
    if (member.key() != "status") {
      after.emplace(member.key(), member.value());
    } else if (status != nullptr) {
      after.emplace("status", std::move(*status));
    }
  }
  if (status != nullptr && !before.contains("status")) after.emplace("status", std::move(*status));
  return after;
}

bool same_member(const json::object& a, const json::object& b, std::string_view member) {
  const json::value* left = kube::member_of(a, member);
  const json::value* right = kube::member_of(b, member);
  return left == nullptr || right == nullptr ? left == right : kube::same(*left, *right);
}

bool adds_finalizer(const json::object& before, const json::object& after) {
  const json::array* list = kube::array_at(after, {"metadata", "finalizers"});
  if (list == nullptr) return false;
  return std::any_of(list->begin(), list->end(), [&](const json::value& entry) {
    return entry.is_string() && !kube::has_finalizer(before, kube::view(entry.get_string()));
  });
}

bool has_finalizers(const json::object& object) {
  const json::array* list = kube::array_at(object, {"metadata", "finalizers"});
  return list != nullptr && !list->empty();
}

void set_finalizer(json::object& object, std::string_view finalizer, bool present) {
  if (kube::has_finalizer(object, finalizer) == present) return;
  json::array& list = kube::ensure_array(object, {"metadata", "finalizers"});
  if (present) {
    list.emplace_back(jview(finalizer));
    return;
  }
  for (auto it = list.begin(); it != list.end();) {
    it = it->is_string() && kube::view(it->get_string()) == finalizer ? list.erase(it) : it + 1;
  }
  if (list.empty()) object["metadata"].get_object().erase("finalizers");
}

bool differs_beyond_status(const json::object& before, const json::object& after) {
  auto counts = [](json::string_view key) { return key != "metadata" && key != "status"; };
  auto covers = [&](const json::object& a, const json::object& b, bool compares) {
    return std::all_of(a.begin(), a.end(), [&](const json::key_value_pair& member) {
      if (!counts(member.key())) return true;
      const json::value* other = kube::member_of(b, kube::view(member.key()));
      return other != nullptr && (!compares || kube::same(*other, member.value()));
    });
  };
  return !covers(after, before, false) || !covers(before, after, true);
}

bool is_ready_to_go(const json::object& object) {
  if (!kube::is_deleting(object)) return false;
  // What a namespace's spec.finalizers name is its content.
  const json::array* content = kube::array_at(object, {"spec", "finalizers"});
  bool is_full_namespace =
      content != nullptr && !content->empty() && kube::text_at(object, {"kind"}) == "Namespace";
  return !has_finalizers(object) && !is_full_namespace &&
         kube::int_at(object, {"metadata", "deletionGracePeriodSeconds"}).value_or(0) == 0;
}

}  // namespace trainyard::store
