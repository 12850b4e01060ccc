// The cells of one row, for the kinds whose columns are more than paths. Pure.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/time.h"
#include "kube/json.h"
#include "kube/meta.h"

namespace trainyard::server {

struct Column {
  std::string_view name;
  std::string_view type = "string";
  int priority = 0;
  std::string_view description = "";
};

struct KindTable {
  std::string_view group;
  std::string_view kind;
  std::span<const Column> columns;
  json::array (*cells)(const json::object& object, Time now);
};

// The table of a built-in kind; null when it is Name and Age.
const KindTable* kind_table(std::string_view group, std::string_view kind);

inline json::string_view name_cell(const json::object& object) { return kube::jview(kube::name_of(object)); }
// "5m", "<unknown>" when the time is not there or not a time.
std::string age_of(std::string_view rfc3339, Time now);
std::string age_of(const json::object& object, Time now);  // since its creation

// "a=b,c=d", "<none>".
std::string labels_text(const json::object* labels);
// The text, or "<none>" when it is empty.
std::string or_none(std::string_view text);

// The containers' names and images of a pod template, each list joined by commas.
std::string container_names(const json::object& object, std::string_view field);
// "app=web,tier in (a,b)", "<none>"; of a selector or of plain labels.
std::string selector_text(const json::object* selector);

json::array pod_cells(const json::object& pod, Time now);
// Tables of workload controllers, for kind_table().
std::span<const KindTable> workload_tables();

}  // namespace trainyard::server
