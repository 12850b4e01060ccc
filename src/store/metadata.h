// The rules of metadata: what the server sets, what nobody may change, when an object
// counts as changed and when it may go. Pure functions on documents.
#pragma once

#include <cstddef>
#include <string_view>

#include "base/time.h"
#include "kube/json.h"
#include "kube/meta.h"

namespace trainyard::store {

inline constexpr size_t kNameLengthMax = 253;
inline constexpr size_t kGeneratedPrefixMax = 58;  // what is kept of a generateName
inline constexpr std::string_view kSubdomainRule =
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must "
    "start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
inline constexpr std::string_view kForegroundFinalizer = "foregroundDeletion";
inline constexpr std::string_view kOrphanFinalizer = "orphan";

// A lower case DNS subdomain.
bool is_object_name(std::string_view name);

// Completes what is to be created: everything but uid and resourceVersion.
void prepare_new(json::object& body, const kube::Resource& resource, std::string_view ns,
                 std::string_view name, Time now);

// A copy with memory of its own, for the next version of an object: where the object lies it would keep
// all that was read with it.
json::object copy_of(const json::object& object);

// Puts back what an update may not change: apiVersion, kind and the server's own metadata.
void keep_identity(json::object& after, const json::object& before);
// REQUIRES: it has metadata.
void set_version(json::object& object, int64_t revision);
// Makes one member of `to` what it is in `from`, absent if it is absent there.
void keep_member(json::object& to, const json::object& from, std::string_view member);
// `before` with the status of `body`, absent if it is absent there.
json::object with_status(const json::object& before, json::object body);
// Whether one member is the same in both, or in neither.
bool same_member(const json::object& a, const json::object& b, std::string_view member);

bool adds_finalizer(const json::object& before, const json::object& after);
bool has_finalizers(const json::object& object);
void set_finalizer(json::object& object, std::string_view finalizer, bool present);

// Whether something outside metadata and status differs.
bool differs_beyond_status(const json::object& before, const json::object& after);

// Whether an object that is being deleted has nothing left that holds it.
bool is_ready_to_go(const json::object& object);

}  // namespace trainyard::store
