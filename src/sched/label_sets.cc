#include "sched/label_sets.h"

#include <charconv>
#include <string_view>

#include "base/check.h"
#include "kube/access.h"

namespace trainyard::sched {
namespace {

// Labels that tell members apart ("replica-index") would give each a set of its own; only those that
// somebody's affinity could ask for matter, and nobody asks for an index.
bool tells_members_apart(std::string_view key) {
  for (std::string_view suffix : {"replica-index", "task-index", "pod-index", "completion-index"}) {
    if (key.ends_with(suffix)) return true;
  }
  return false;
}

// Keys and values in turn, each behind its length: no two sets give the same text.
void add_text(std::string& out, std::string_view part) {
  out.append(std::to_string(part.size())).append(":").append(part);
}

std::string_view take_text(std::string_view& rest) {
  size_t length = 0;
  const char* colon = std::from_chars(rest.data(), rest.data() + rest.size(), length).ptr;
  rest.remove_prefix(static_cast<size_t>(colon - rest.data()) + 1);
  CHECK(length <= rest.size());
  const std::string_view part = rest.substr(0, length);
  rest.remove_prefix(length);
  return part;
}

}  // namespace

int LabelSets::number(const json::object& pod) {
  std::string text;
  if (const json::object* labels = kube::object_at(pod, {"metadata", "labels"})) {
    for (const json::key_value_pair& label : *labels) {
      const std::string_view key = kube::view(label.key());
      if (tells_members_apart(key) || !label.value().is_string()) continue;
      add_text(text, key);
      add_text(text, kube::view(label.value().get_string()));
    }
  }
  auto known = by_text_.find(text);
  if (known == by_text_.end()) {
    known = by_text_.emplace(std::string(text.begin(), text.end()), size()).first;
    texts_.push_back(&known->first);
  }
  return known->second;
}

Labels LabelSets::at(int number) const {
  Labels out;
  for (std::string_view rest = *texts_[static_cast<size_t>(number)]; !rest.empty();) {
    const std::string_view key = take_text(rest);
    out[std::string(key)] = take_text(rest);
  }
  return out;
}

std::vector<int> LabelSets::keep(const std::vector<bool>& used) {
  std::vector<int> renamed(texts_.size(), -1);
  std::vector<const std::string*> kept;
  for (size_t i = 0; i < texts_.size(); ++i) {
    if (i < used.size() && used[i]) {
      renamed[i] = static_cast<int>(kept.size());
      kept.push_back(texts_[i]);
    }
  }
  texts_ = std::move(kept);
  std::erase_if(by_text_, [&](const auto& entry) { return renamed[static_cast<size_t>(entry.second)] < 0; });
  for (auto& [text, number] : by_text_) number = renamed[static_cast<size_t>(number)];
  return renamed;
}

}  // namespace trainyard::sched
