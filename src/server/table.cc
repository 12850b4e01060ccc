#include "server/table.h"

#include <fmt/format.h>

#include "kube/access.h"
#include "kube/meta.h"
#include "server/table_path.h"
#include "server/table_rows.h"

namespace trainyard::server {
namespace {

using kube::jview;

json::object definition(std::string_view name, std::string_view type, std::string_view format,
                        std::string_view description, int priority) {
  return {{"name", jview(name)},
          {"type", jview(type)},
          {"format", jview(format)},
          {"description", jview(description)},
          {"priority", priority}};
}

json::array definitions_of(const KindTable& table) {
  json::array out;
  for (const Column& column : table.columns) {
    out.push_back(definition(column.name, column.type, column.name == "Name" ? "name" : "",
                             column.description, column.priority));
  }
  return out;
}

constexpr Column kPlainColumns[] = {{"Name"}, {"Age"}};

json::array plain_cells(const json::object& object, Time now) {
  return {jview(kube::name_of(object)), age_of(object, now)};
}

constexpr KindTable kPlain{"", "", kPlainColumns, plain_cells};

json::array definitions_of(const std::vector<PrinterColumn>& columns) {
  json::array out{definition("Name", "string", "name", "Name of the object.", 0)};
  for (const PrinterColumn& column : columns) {
    out.push_back(definition(column.name, column.type, column.format, column.description, column.priority));
  }
  return out;
}

// One cell by path. Several values are joined, as the real server does.
json::value cell_of(const json::object& object, const PrinterColumn& column, Time now) {
  std::vector<const json::value*> found = find_path(object, column.json_path);
  if (found.empty() || found.front()->is_null()) return nullptr;
  if (column.type == "date") {
    const json::value& first = *found.front();
    return first.is_string() ? json::value(age_of(kube::view(first.get_string()), now))
                             : json::value(nullptr);
  }
  if (column.type != "string") return *found.front();
  std::string text;
  for (const json::value* each : found) {
    if (!text.empty()) text += ",";
    text += each->is_string() ? std::string(kube::view(each->get_string())) : json::serialize(*each);
  }
  return json::value(text);
}

json::array cells_of(const json::object& object, const std::vector<PrinterColumn>& columns, Time now) {
  json::array cells{jview(kube::name_of(object))};
  for (const PrinterColumn& column : columns) cells.push_back(cell_of(object, column, now));
  return cells;
}

json::value row_object(const json::object& object, const TableOptions& options) {
  switch (options.include) {
    case IncludeObject::kNone:
      return nullptr;
    case IncludeObject::kMetadata: {
      json::object partial = partial_metadata(object);
      if (options.v1beta1) partial["apiVersion"] = "meta.k8s.io/v1beta1";
      return partial;
    }
    case IncludeObject::kObject:
      return object;
  }
  return nullptr;
}

json::object metadata_of(const json::object& object) {
  const json::object* metadata = kube::object_at(object, {"metadata"});
  return metadata ? *metadata : json::object();
}

}  // namespace

std::optional<IncludeObject> include_object_of(std::string_view query) {
  if (query.empty() || query == "Metadata") return IncludeObject::kMetadata;
  if (query == "None") return IncludeObject::kNone;
  if (query == "Object") return IncludeObject::kObject;
  return std::nullopt;
}

json::object to_json(const ListMeta& meta) {
  json::object out;
  if (meta.revision > 0) out["resourceVersion"] = fmt::format("{}", meta.revision);
  if (!meta.continue_token.empty()) out["continue"] = meta.continue_token;
  if (meta.remaining) out["remainingItemCount"] = *meta.remaining;
  return out;
}

json::object table_of(const ApiResource& resource, std::span<const ObjectRef> objects, const ListMeta& meta,
                      const TableOptions& options) {
  const KindTable* table =
      resource.from_crd ? nullptr : kind_table(resource.resource.group, resource.resource.kind);
  bool by_path = table == nullptr && !resource.columns.empty();
  if (table == nullptr) table = &kPlain;

  json::array rows;
  rows.reserve(objects.size());
  for (const ObjectRef& object : objects) {
    json::object row{{"cells", by_path ? cells_of(*object, resource.columns, options.now)
                                       : table->cells(*object, options.now)}};
    json::value shown = row_object(*object, options);
    if (!shown.is_null()) row["object"] = std::move(shown);
    rows.push_back(std::move(row));
  }
  json::array definitions;
  if (options.columns) definitions = by_path ? definitions_of(resource.columns) : definitions_of(*table);
  return {{"kind", "Table"},
          {"apiVersion", options.v1beta1 ? "meta.k8s.io/v1beta1" : "meta.k8s.io/v1"},
          {"metadata", to_json(meta)},
          {"columnDefinitions", std::move(definitions)},
          {"rows", std::move(rows)}};
}

json::object partial_metadata(const json::object& object) {
  return {
      {"kind", "PartialObjectMetadata"}, {"apiVersion", "meta.k8s.io/v1"}, {"metadata", metadata_of(object)}};
}

json::object partial_metadata_list(std::span<const ObjectRef> objects, const ListMeta& meta) {
  json::array items;
  items.reserve(objects.size());
  for (const ObjectRef& object : objects) items.push_back(partial_metadata(*object));
  return {{"kind", "PartialObjectMetadataList"},
          {"apiVersion", "meta.k8s.io/v1"},
          {"metadata", to_json(meta)},
          {"items", std::move(items)}};
}

json::object list_of(const ApiResource& resource, std::span<const ObjectRef> objects, const ListMeta& meta) {
  json::array items;
  items.reserve(objects.size());
  for (const ObjectRef& object : objects) items.push_back(*object);
  return {{"kind", resource.list_kind},
          {"apiVersion", resource.resource.api_version()},
          {"metadata", to_json(meta)},
          {"items", std::move(items)}};
}

std::string human_duration(Duration age) {
  int64_t seconds = age.count() / 1000;
  if (seconds < -1) return "<invalid>";
  if (seconds < 120) return fmt::format("{}s", std::max<int64_t>(seconds, 0));
  auto with = [](int64_t whole, char unit, int64_t rest, char rest_unit) {
    return rest == 0 ? fmt::format("{}{}", whole, unit)
                     : fmt::format("{}{}{}{}", whole, unit, rest, rest_unit);
  };
  int64_t minutes = seconds / 60;
  if (minutes < 10) return with(minutes, 'm', seconds % 60, 's');
  if (minutes < 3 * 60) return fmt::format("{}m", minutes);
  int64_t hours = minutes / 60;
  if (hours < 8) return with(hours, 'h', minutes % 60, 'm');
  if (hours < 48) return fmt::format("{}h", hours);
  int64_t days = hours / 24;
  if (days < 8) return with(days, 'd', hours % 24, 'h');
  if (days < 2 * 365) return fmt::format("{}d", days);
  if (days < 8 * 365) return with(days / 365, 'y', days % 365, 'd');
  return fmt::format("{}y", days / 365);
}

}  // namespace trainyard::server
