#include "sched/cluster.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "kube/requirement.h"

namespace trainyard::sched {
namespace {

using kube::SelectorOp;

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

std::optional<int64_t> most_of(const Queue& queue, int resource) {
  int64_t stated = amount_at(queue.capacity, resource);
  if (stated == 0) return std::nullopt;
  return std::max<int64_t>(0, stated);
}

bool holds(const kube::Requirement& requirement, const Labels& labels) {
  auto found = labels.find(requirement.key);
  if (found == labels.end()) return kube::holds(requirement, std::nullopt);
  return kube::holds(requirement, found->second);
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
