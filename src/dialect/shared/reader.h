// Reader: decodes one JSON object field by field and writes down every problem with
// its path. Absent and null fields are the same thing, as in Kubernetes. A Reader is
// a cheap view; it shares the caller's problem list. Never throws.
//
//   Reader spec = Reader::root(object, problems).child("spec");
//   int replicas = spec.whole("replicas", 0, kReplicasMax).value_or(1);
#pragma once

#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dialect/shared/problem.h"
#include "kube/json.h"

namespace trainyard::dialect {

class Reader {
 public:
  // REQUIRES: object and problems outlive every Reader made from it.
  static Reader root(const json::object& object, std::vector<Problem>& problems);
  // A Reader for an object found elsewhere, at the given path.
  Reader(const json::object* object, std::string path, std::vector<Problem>& problems);

  bool present() const { return object_ != nullptr; }
  const json::object& object() const;  // {} when not present
  const std::string& path() const { return path_; }
  std::string path_of(std::string_view key) const;

  bool has(std::string_view key) const;                // there, and not null
  const json::value* raw(std::string_view key) const;  // null when !has

  // Each notes a problem when the field is there with another type or out of bounds.
  Reader child(std::string_view key) const;                  // not present() when absent
  std::vector<Reader> children(std::string_view key) const;  // an array of objects
  const json::array* array(std::string_view key) const;
  std::optional<std::string> text(std::string_view key) const;
  std::optional<std::string> one_of(std::string_view key,
                                    std::initializer_list<std::string_view> allowed) const;
  std::optional<int64_t> whole(std::string_view key, int64_t low = std::numeric_limits<int32_t>::min(),
                               int64_t high = std::numeric_limits<int32_t>::max()) const;
  std::optional<bool> boolean(std::string_view key) const;
  std::optional<std::vector<std::string>> texts(std::string_view key) const;

  std::vector<Problem>& problems() const { return *problems_; }
  // Writes a problem at this object, or at one of its fields.
  void report(ProblemKind kind, std::string message) const;
  void report(std::string_view key, ProblemKind kind, std::string message) const;

 private:
  const json::object* object_;
  std::string path_;
  std::vector<Problem>* problems_;
};

// The key of a member while walking over an object; lives as long as the object.
inline std::string_view key_of(const json::key_value_pair& member) {
  return {member.key().data(), member.key().size()};
}

// A value as it is shown in a problem: compact JSON, cut at 80 characters.
std::string shown(const json::value& value);

}  // namespace trainyard::dialect
