#include "sched/cluster.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

namespace trainyard::sched {
namespace {

using kube::SelectorOp;

std::optional<int64_t> number(std::string_view text) {
  int64_t out = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return out;
}

bool compares(const kube::Requirement& requirement, const std::string& value) {
  std::optional<int64_t> left = number(value);
  std::optional<int64_t> right =
      requirement.values.empty() ? std::nullopt : number(requirement.values.front());
  if (!left || !right) return false;
  return requirement.op == SelectorOp::kGreaterThan ? *left > *right : *left < *right;
}

std::string requirement_text(const kube::Requirement& requirement) {
  std::string list = fmt::format("({})", fmt::join(requirement.values, ","));
  std::string one = requirement.values.empty() ? "" : requirement.values.front();
  switch (requirement.op) {
    case SelectorOp::kEquals:
      return requirement.key + "=" + one;
    case SelectorOp::kNotEquals:
      return requirement.key + "!=" + one;
    case SelectorOp::kIn:
      return requirement.values.size() == 1 ? requirement.key + "=" + one : requirement.key + " in " + list;
    case SelectorOp::kNotIn:
      return requirement.key + " notin " + list;
    case SelectorOp::kExists:
      return requirement.key;
    case SelectorOp::kDoesNotExist:
      return "!" + requirement.key;
    case SelectorOp::kGreaterThan:
      return requirement.key + ">" + one;
    case SelectorOp::kLessThan:
      return requirement.key + "<" + one;
  }
  return "";
}

}  // namespace

bool holds(const kube::Requirement& requirement, const Labels& labels) {
  auto found = labels.find(requirement.key);
  bool there = found != labels.end();
  bool listed = there && std::find(requirement.values.begin(), requirement.values.end(), found->second) !=
                             requirement.values.end();
  switch (requirement.op) {
    case SelectorOp::kEquals:
    case SelectorOp::kIn:
      return listed;
    case SelectorOp::kNotEquals:
    case SelectorOp::kNotIn:
      return !listed;
    case SelectorOp::kExists:
      return there;
    case SelectorOp::kDoesNotExist:
      return !there;
    case SelectorOp::kGreaterThan:
    case SelectorOp::kLessThan:
      return there && compares(requirement, found->second);
  }
  return false;
}

bool hold_all(const std::vector<kube::Requirement>& requirements, const Labels& labels) {
  return std::all_of(requirements.begin(), requirements.end(),
                     [&](const kube::Requirement& one) { return holds(one, labels); });
}

std::string requirements_text(const std::vector<kube::Requirement>& requirements) {
  std::vector<std::string> texts;
  for (const kube::Requirement& one : requirements) texts.push_back(requirement_text(one));
  return fmt::format("{}", fmt::join(texts, ","));
}

}  // namespace trainyard::sched
