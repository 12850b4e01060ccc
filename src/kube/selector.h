// Selectors: which objects a query is about. Label selectors (the text form and the
// LabelSelector object form) and field selectors. Pure values; parsing reports what is
// wrong (kInvalid), matching never fails.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "kube/json.h"

namespace trainyard::kube {

enum class SelectorOp { kEquals, kNotEquals, kIn, kNotIn, kExists, kDoesNotExist, kGreaterThan, kLessThan };

struct Requirement {
  std::string key;
  SelectorOp op = SelectorOp::kExists;
  std::vector<std::string> values;  // sorted, without repetition

  bool operator==(const Requirement&) const = default;
};

class LabelSelector {
 public:
  LabelSelector() = default;  // matches everything
  static LabelSelector nothing();
  // Exactly these labels: {{"app", "a"}, ...}.
  static LabelSelector equals(const std::vector<std::pair<std::string, std::string>>& labels);

  // "a=b,c!=d,e in (f,g),!h,i notin (j),k>5"; "" matches everything.
  static Result<LabelSelector> parse(std::string_view text);
  // {matchLabels, matchExpressions}: {} matches everything, null matches nothing.
  static Result<LabelSelector> from_json(const json::value& selector);

  // Whether the object's metadata.labels fit.
  bool matches(const json::object& object) const;
  // Whether these labels fit; null is the same as no labels.
  bool matches_labels(const json::object* labels) const;
  bool matches_everything() const { return !nothing_ && requirements_.empty(); }
  const std::vector<Requirement>& requirements() const { return requirements_; }

  // Canonical: by key, then operator. A selector of nothing has no text form and gives "".
  std::string to_string() const;
  bool operator==(const LabelSelector&) const = default;

 private:
  bool nothing_ = false;
  std::vector<Requirement> requirements_;
};

// "metadata.name=a,status.phase!=Running"; any dotted path to a scalar. A field that is
// not there reads as "". Commas, equal signs and backslashes in values are escaped by '\'.
class FieldSelector {
 public:
  struct Term {
    std::string path;
    bool equal = true;
    std::string value;

    bool operator==(const Term&) const = default;
  };

  FieldSelector() = default;  // matches everything
  static Result<FieldSelector> parse(std::string_view text);
  FieldSelector& add(std::string_view path, std::string_view value);

  bool matches(const json::object& object) const;
  const std::vector<Term>& terms() const { return terms_; }
  std::string to_string() const;
  bool operator==(const FieldSelector&) const = default;

 private:
  std::vector<Term> terms_;
};

// What the API server demands of a label.
bool is_label_key(std::string_view key);
bool is_label_value(std::string_view value);

}  // namespace trainyard::kube
