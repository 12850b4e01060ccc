// Lists of texts, as JSON holds them and as we do. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kube/access.h"
#include "kube/json.h"

namespace trainyard::kube {

// The texts in the list at `path`; whatever is no text is left out.
inline std::vector<std::string> texts_at(const json::object& from,
                                         std::initializer_list<std::string_view> path) {
  std::vector<std::string> texts;
  const json::array* list = array_at(from, path);
  if (list == nullptr) return texts;
  for (const json::value& each : *list) {
    if (each.is_string()) texts.emplace_back(view(each.get_string()));
  }
  return texts;
}

inline json::array to_array(const std::vector<std::string>& texts) {
  json::array out;
  out.reserve(texts.size());
  for (const std::string& text : texts) out.emplace_back(text);
  return out;
}

}  // namespace trainyard::kube
