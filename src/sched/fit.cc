#include "sched/fit.h"

#include <fmt/format.h>

#include <algorithm>

namespace trainyard::sched {
namespace {

bool tolerates(const Toleration& toleration, const Taint& taint) {
  if (toleration.effect && *toleration.effect != taint.effect) return false;
  if (toleration.key.empty()) return toleration.exists;
  if (toleration.key != taint.key) return false;
  return toleration.exists || toleration.value == taint.value;
}

bool tolerated(const NodeRule& rule, const Taint& taint) {
  return std::any_of(rule.tolerations.begin(), rule.tolerations.end(),
                     [&](const Toleration& one) { return tolerates(one, taint); });
}

// The first taint that does not let the pod in.
const Taint* keeps_away(const NodeRule& rule, const Node& node) {
  for (const Taint& taint : node.taints) {
    if (taint.effect != TaintEffect::kPreferNoSchedule && !tolerated(rule, taint)) return &taint;
  }
  return nullptr;
}

std::string taint_text(const Taint& taint) {
  return fmt::format("{}{}{}:{}", taint.key, taint.value.empty() ? "" : "=", taint.value,
                     taint.effect == TaintEffect::kNoExecute ? "NoExecute" : "NoSchedule");
}

bool term_holds(const NodeTerm& term, const Node& node) {
  if (term.labels.empty() && term.fields.empty()) return false;  // as Kubernetes reads an empty term
  return hold_all(term.labels, node.labels) &&
         (term.fields.empty() || hold_all(term.fields, {{"metadata.name", node.name}}));
}

bool selected(const NodeRule& rule, const Node& node) {
  for (const auto& [key, value] : rule.selector) {
    auto found = node.labels.find(key);
    if (found == node.labels.end() || found->second != value) return false;
  }
  return rule.required.empty() || std::any_of(rule.required.begin(), rule.required.end(),
                                              [&](const NodeTerm& term) { return term_holds(term, node); });
}

std::string selector_text(const NodeRule& rule) {
  std::string text;
  auto append = [&](const std::string& part, std::string_view separator) {
    if (part.empty()) return;
    if (!text.empty()) text += separator;
    text += part;
  };
  for (const auto& [key, value] : rule.selector) append(key + "=" + value, ",");
  std::string terms;
  for (const NodeTerm& term : rule.required) {
    std::string all = requirements_text(term.labels);
    std::string fields = requirements_text(term.fields);
    if (!fields.empty()) all += (all.empty() ? "" : ",") + fields;
    if (!terms.empty()) terms += " or ";
    terms += all;
  }
  append(terms, ",");
  return text;
}

}  // namespace

std::optional<Unfit> unfit(const NodeRule& rule, const Queue* queue, const Node& node) {
  if (!node.ready) return Unfit::kNotReady;
  if (node.cordoned) return Unfit::kCordoned;
  if (!selected(rule, node)) return Unfit::kSelector;
  if (keeps_away(rule, node) != nullptr) return Unfit::kTaint;
  if (rule.allowed && !std::binary_search(rule.allowed->begin(), rule.allowed->end(), node.name)) {
    return Unfit::kVolume;
  }
  if (queue != nullptr && !hold_all(queue->node_selector, node.labels)) return Unfit::kQueueNodes;
  return std::nullopt;
}

std::optional<Unfit> kept_out(const NodeRule& rule, const Queue* queue, const Node& node) {
  bool wanted = selected(rule, node) && (queue == nullptr || hold_all(queue->node_selector, node.labels)) &&
                (!rule.allowed || std::binary_search(rule.allowed->begin(), rule.allowed->end(), node.name));
  return wanted ? unfit(rule, queue, node) : std::nullopt;
}

Liking liking(const NodeRule& rule, const Amounts& requests, const Node& node) {
  Liking out;
  for (const PreferredNodes& wish : rule.preferred) {
    if (term_holds(wish.term, node)) out.wished += wish.weight;
  }
  for (const Taint& taint : node.taints) {
    if (taint.effect == TaintEffect::kPreferNoSchedule && !tolerated(rule, taint)) ++out.shunned;
  }
  for (size_t r = kNamedResources; r < node.allocatable.size(); ++r) {
    if (node.allocatable[r] > 0 && amount_at(requests, static_cast<int>(r)) == 0) ++out.wasted;
  }
  return out;
}

bool likes_more(const Liking& a, const Liking& b) {
  if (a.wished != b.wished) return a.wished > b.wished;
  if (a.shunned != b.shunned) return a.shunned < b.shunned;
  return a.wasted < b.wasted;
}

std::string wanted_nodes_text(const NodeRule& rule, const Queue* queue) {
  std::string text = selector_text(rule);
  if (queue != nullptr && !queue->node_selector.empty()) {
    text += (text.empty() ? "" : ",") + requirements_text(queue->node_selector);
  }
  if (rule.allowed) text += text.empty() ? "that reach its volumes" : " that reach its volumes";
  return text;
}

std::string unfit_text(Unfit reason, const NodeRule& rule, const Queue* queue, const Node& node) {
  switch (reason) {
    case Unfit::kNotReady:
      return "not ready";
    case Unfit::kCordoned:
      return "cordoned";
    case Unfit::kSelector:
      return "not " + selector_text(rule);
    case Unfit::kTaint:
      return fmt::format("with taint {}, which it does not tolerate", taint_text(*keeps_away(rule, node)));
    case Unfit::kVolume:
      return "that do not reach its volume";
    case Unfit::kQueueNodes:
      return "not " + requirements_text(queue->node_selector) + " as its queue wants";
  }
  return "";
}

}  // namespace trainyard::sched
