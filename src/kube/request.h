// Request: one call to the Kubernetes API as a value: what is wanted, not how it is
// sent. Bodies of the client turn it into HTTP or hand it to a store. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "kube/json.h"
#include "kube/meta.h"
#include "kube/selector.h"

namespace trainyard::kube {

// kApply is server-side apply: the body is what one field manager wants.
enum class PatchKind { kJson, kMerge, kStrategic, kApply };
// What of an object a write is about: the whole but its status, the status alone, or the
// resources of a pod's containers (pods/resize).
enum class Part { kMain, kStatus, kResize };
enum class Propagation { kBackground, kForeground, kOrphan };

struct Get {
  std::string name;
  bool operator==(const Get&) const = default;
};

struct List {
  LabelSelector labels;
  FieldSelector fields;
  int64_t limit = 0;           // 0: all
  std::string continue_token;  // of the page before
  std::string version;         // resourceVersion; "" for the newest, "0" for any
  std::string version_match;   // resourceVersionMatch: "", "Exact", "NotOlderThan"
  bool operator==(const List&) const = default;
};

struct Watch {
  LabelSelector labels;
  FieldSelector fields;
  std::string version;  // from just after this one
  bool bookmarks = true;
  bool send_initial_events = false;  // a streaming list: resourceVersionMatch=NotOlderThan
  int64_t timeout_seconds = 0;       // 0: the server decides
  bool operator==(const Watch&) const = default;
};

struct Create {
  json::object body;
  bool operator==(const Create&) const = default;
};

// Replaces the object; body's metadata.resourceVersion, when set, is a precondition.
struct Update {
  json::object body;
  Part part = Part::kMain;  // or kResize; a status has its own verb
  bool operator==(const Update&) const = default;
};

struct UpdateStatus {
  json::object body;
  bool operator==(const UpdateStatus&) const = default;
};

struct Patch {
  std::string name;
  PatchKind kind = PatchKind::kMerge;
  json::value body;
  Part part = Part::kMain;
  bool operator==(const Patch&) const = default;
};

struct DeleteOptions {
  std::string uid;      // precondition, "" for none
  std::string version;  // precondition, "" for none
  Propagation propagation = Propagation::kBackground;
  std::optional<int64_t> grace_seconds;
  bool operator==(const DeleteOptions&) const = default;
};

struct Delete {
  std::string name;
  DeleteOptions options;
  bool operator==(const Delete&) const = default;
};

struct DeleteCollection {
  LabelSelector labels;
  FieldSelector fields;
  DeleteOptions options;
  bool operator==(const DeleteCollection&) const = default;
};

// What a write may say besides its body.
struct WriteOptions {
  bool dry_run = false;
  std::string field_manager;     // who writes; required by an apply
  std::string program;           // what writes, where nobody says who: "OpenAPI-Generator"
  std::string field_validation;  // "", "Ignore", "Warn", "Strict"
  bool force = false;            // of an apply: take fields over from others
  bool operator==(const WriteOptions&) const = default;
};

using Verb = std::variant<Get, List, Watch, Create, Update, UpdateStatus, Patch, Delete, DeleteCollection>;

// How much is read of an object that the answer has: all of it; who it is, which for a write is its name,
// namespace, uid and version, and for a list or watch its metadata; of a pod that a list or watch tells of
// what decode_pod() reads; or nothing. A client may answer with more.
enum class Heed { kAll, kIdentity, kPod, kNothing };

struct Request {
  Resource resource;
  std::string ns;  // "" for all namespaces, and for kinds that have none
  Verb verb;
  WriteOptions options = {};  // of writes
  Heed heed = Heed::kAll;
  bool operator==(const Request&) const = default;
};

// A write whose answer nobody reads but for its success.
inline Request unheeded(const Resource& resource, std::string ns, Verb verb) {
  return {resource, std::move(ns), std::move(verb), {}, Heed::kNothing};
}

// The URL's path and query: "/api/v1/namespaces/a/pods?labelSelector=app%3Db".
std::string path_of(const Request& request);
// "GET", "POST", "PUT", "PATCH", "DELETE".
std::string_view method_of(const Request& request);
// What is sent, as JSON; "" for nothing. For a delete its options.
std::string body_of(const Request& request);
// "application/json" or the patch's own type; "" when there is no body.
std::string_view content_type_of(const Request& request);
// "delete pods a/b", for errors and logs.
std::string to_string(const Request& request);

// Writes the status of an object as it was seen, at that version. The rest of the object is not
// repeated: a server takes nothing but the status from it.
UpdateStatus status_update(const Resource& resource, const json::object& seen, json::object status);

std::string_view name_of(Propagation propagation);
// Of the subresource: "", "status", "resize".
std::string_view name_of(Part part);

// Everything but letters, digits and "-._~" as %XX.
std::string percent_encode(std::string_view text);

}  // namespace trainyard::kube
