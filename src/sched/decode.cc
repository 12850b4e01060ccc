#include "sched/decode.h"

#include <algorithm>
#include <optional>

#include "kube/access.h"

namespace trainyard::sched {
namespace {

std::optional<kube::SelectorOp> operator_of(std::string_view text) {
  if (text == "In") return kube::SelectorOp::kIn;
  if (text == "NotIn") return kube::SelectorOp::kNotIn;
  if (text == "Exists") return kube::SelectorOp::kExists;
  if (text == "DoesNotExist") return kube::SelectorOp::kDoesNotExist;
  if (text == "Gt") return kube::SelectorOp::kGreaterThan;
  if (text == "Lt") return kube::SelectorOp::kLessThan;
  return std::nullopt;
}

}  // namespace

std::vector<std::string> decode_texts(const json::array* list) {
  std::vector<std::string> out;
  if (list == nullptr) return out;
  for (const json::value& entry : *list) {
    if (entry.is_string()) out.emplace_back(kube::view(entry.get_string()));
  }
  std::sort(out.begin(), out.end());
  return out;
}

Labels decode_labels(const json::object* labels) {
  Labels out;
  if (labels == nullptr) return out;
  for (const auto& member : *labels) {
    if (!member.value().is_string()) continue;
    out[std::string(kube::view(member.key()))] = kube::view(member.value().get_string());
  }
  return out;
}

std::vector<kube::Requirement> decode_requirements(const json::array* expressions) {
  std::vector<kube::Requirement> out;
  for (size_t i = 0; expressions != nullptr && i < expressions->size(); ++i) {
    const json::object* one = (*expressions)[i].if_object();
    if (one == nullptr) continue;
    std::optional<kube::SelectorOp> op = operator_of(kube::text_at(*one, {"operator"}));
    if (!op) continue;
    out.push_back(
        {std::string(kube::text_at(*one, {"key"})), *op, decode_texts(kube::array_at(*one, {"values"}))});
  }
  return out;
}

NodeTerm decode_node_term(const json::object& term) {
  return {decode_requirements(kube::array_at(term, {"matchExpressions"})),
          decode_requirements(kube::array_at(term, {"matchFields"}))};
}

std::vector<kube::Requirement> decode_selector(const json::value& selector) {
  Result<kube::LabelSelector> read = kube::LabelSelector::from_json(selector);
  bool none = !read.ok() || (!read->matches_everything() && read->requirements().empty());
  if (!none) return read->requirements();
  return {{"", kube::SelectorOp::kExists, {}}};
}

}  // namespace trainyard::sched
