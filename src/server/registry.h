// Registry: every API resource that is served: the built-in ones, the job kinds, and
// whatever CustomResourceDefinitions add while the plane runs.
//
// Thread-safe. An entry, once handed out, stays where it is and unchanged for the life of
// the registry, even when its CRD is changed or removed: so `resource` may be put into
// requests, which keep views of its text. `generation()` rises with every change of what
// is served: caches of discovery and OpenAPI documents are keyed on it.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "kube/json.h"
#include "kube/meta.h"

namespace trainyard::server {

// A column of `kubectl get` that is read from the object by a path.
struct PrinterColumn {
  std::string name;
  std::string type;  // "string", "integer", "number", "boolean", "date"
  std::string json_path;
  int priority = 0;  // above 0: only with -o wide
  std::string format;
  std::string description;
  bool operator==(const PrinterColumn&) const = default;
};

// "pods/log". `kind` is what is sent to it or comes back, of the parent's group and version
// unless said otherwise.
struct Subresource {
  std::string name;
  std::string kind;
  std::vector<std::string> verbs;
  std::string group;
  std::string version;
  bool operator==(const Subresource&) const = default;
};

// Where a custom resource keeps what `kubectl scale` changes (paths such as ".spec.replicas").
struct ScalePaths {
  std::string spec_replicas;
  std::string status_replicas;
  std::string label_selector;  // "" when there is none
  bool operator==(const ScalePaths&) const = default;
};

enum class Backing {
  kStored,   // objects in the hub
  kReview,   // a POST is answered at once, nothing is kept
  kMetrics,  // made up from what the node measures
};

struct ApiResource {
  kube::Resource resource;  // views of the text below
  kube::Resource storage;   // what the hub is asked for: v1 events for those of events.k8s.io
  Backing backing = Backing::kStored;
  // A kind of Kubernetes itself: takes strategic merge patches and protobuf bodies.
  bool built_in = false;
  bool from_crd = false;
  std::string singular;
  std::string list_kind;
  std::vector<std::string> short_names;
  std::vector<std::string> categories;
  std::vector<std::string> verbs;
  std::vector<Subresource> subresources;
  std::vector<PrinterColumn> columns;  // empty: the kind's own table, or Name and Age
  std::optional<ScalePaths> scale;
  // A CRD's own openAPIV3Schema; null for the kinds that schema.h knows.
  std::shared_ptr<const json::object> schema;

  bool has_verb(std::string_view verb) const;
  const Subresource* subresource(std::string_view name) const;

  std::string text[5];  // group, version, kind, plural, storage version
};

// An entry with its names, its text in place and the verbs of a stored resource.
std::unique_ptr<ApiResource> make_entry(std::string_view group, std::string_view version,
                                        std::string_view kind, std::string_view plural, bool namespaced);
// The subresource of that name as every resource has it: status, scale, log and so on.
// REQUIRES: one of those that registry_builtin.cc lists.
Subresource standard_subresource(std::string_view name, std::string_view parent_kind);

class Registry {
 public:
  Registry();
  Registry(const Registry&) = delete;
  Registry& operator=(const Registry&) = delete;

  // Null when it is not served. `group` is "" for the core group.
  const ApiResource* find(std::string_view group, std::string_view version, std::string_view plural) const;
  const ApiResource* find_kind(std::string_view group, std::string_view version, std::string_view kind) const;
  bool serves(std::string_view group, std::string_view version) const;

  // Order: groups as clients should prefer them ("" first), versions newest first, plurals.
  std::vector<const ApiResource*> all() const;
  uint64_t generation() const { return generation_.load(); }

  // Serves what a CustomResourceDefinition describes (again, when it was there). What the
  // registry serves by itself is kept as it is. kInvalid, with the field, when the CRD
  // cannot be served.
  Result<Done> put_crd(const json::object& crd);
  void remove_crd(std::string_view crd_name);

 private:
  using Key = std::tuple<std::string, std::string, std::string>;  // group, version, plural

  // What one CRD added, and the text of the spec it was read from.
  struct Served {
    std::string spec;
    std::vector<Key> keys;
  };

  void add(std::unique_ptr<ApiResource> entry);
  void withdraw(const Served& served);

  // State.
  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<ApiResource>> entries_;  // all there ever were
  std::map<Key, const ApiResource*> served_;
  std::map<std::string, Served, std::less<>> of_crd_;
  std::atomic<uint64_t> generation_{1};
};

// The API's own entries, in no order. Pure.
std::vector<std::unique_ptr<ApiResource>> built_in_resources();

// What a CRD asks for, one entry for each version served. Pure. kInvalid as put_crd.
Result<std::vector<std::unique_ptr<ApiResource>>> resources_of_crd(const json::object& crd);

// The status that an accepted CRD has: accepted names, NamesAccepted and Established true,
// the stored version. `now` is the transition time of conditions that were not there.
json::object status_of_crd(const json::object& crd, Time now);

}  // namespace trainyard::server
