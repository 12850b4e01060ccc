#include "cli/lower.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/nearest_word.h"
#include "dialect/shared/reader.h"
#include "kube/access.h"
#include "server/misfits.h"

namespace trainyard::cli {
namespace {

using dialect::Problem;
using dialect::ProblemKind;
using server::Misfit;
using server::SchemaType;

// The oldest TFJobs have a schema that no server serves.
const SchemaType* schema_of(const json::object& body) {
  std::string_view api_version = kube::text_at(body, {"apiVersion"});
  if (api_version == "kubeflow.org/v1alpha1") return server::schema_named("org.kubeflow.v1alpha1.TFJob");
  size_t slash = api_version.find('/');
  if (slash == api_version.npos) return nullptr;
  return server::schema_of(api_version.substr(0, slash), api_version.substr(slash + 1),
                           kube::text_at(body, {"kind"}));
}

void add_names(const SchemaType& type, std::vector<std::string_view>& names) {
  for (const server::SchemaField& field : type.fields) {
    if (field.inlined) {
      add_names(*field.message, names);
    } else {
      names.push_back(field.name);
    }
  }
}

std::string about_unknown(const Misfit& misfit) {
  std::vector<std::string_view> names;
  add_names(*misfit.owner, names);
  std::string_view last = misfit.path;
  last = last.substr(last.rfind('.') + 1);
  std::string near = nearest_word(last, names);
  if (near.empty()) return "there is no such field";
  return fmt::format("there is no such field: did you mean \"{}\"?", near);
}

std::string about_type(const Misfit& misfit) {
  std::string_view wanted = misfit.wanted_plainly;
  if (wanted == "integer" && misfit.value->is_number() && !misfit.value->is_double())
    return fmt::format("is too large or too small for an {}", misfit.wanted);
  if (wanted == "integer") return "must be a whole number";
  if (wanted == "integer,string") return "must be a whole number or a string";
  if (wanted == "boolean") return "must be true or false";
  return fmt::format("must be {} {}", wanted == "array" || wanted == "object" ? "an" : "a", wanted);
}

// The role of a TFJob as its dialect writes it: "spec.tfReplicaSpecs[Worker].replicas".
std::string in_dialects_words(std::string path) {
  constexpr std::string_view kRoles = "spec.tfReplicaSpecs.";
  if (!path.starts_with(kRoles)) return path;
  size_t end = std::min(path.find('.', kRoles.size()), path.size());
  path.insert(end, "]");
  path[kRoles.size() - 1] = '[';
  return path;
}

}  // namespace

dialect::LowerResult lower_document(const Object& object, const dialect::Settings& settings) {
  dialect::LowerResult lowered = object.dialect->lower(object.body, settings);
  const SchemaType* schema = schema_of(object.body);
  if (schema == nullptr) return lowered;
  std::vector<Problem> problems;
  if (auto* found = std::get_if<std::vector<Problem>>(&lowered)) problems = std::move(*found);
  const size_t of_dialect = problems.size();
  for (const Misfit& misfit : server::misfits(*schema, object.body)) {
    if (misfit.path == "status" || misfit.path.starts_with("status.")) continue;
    std::string path = in_dialects_words(misfit.path);
    if (misfit.is_unknown()) {
      problems.push_back({path, ProblemKind::kForbidden, "", about_unknown(misfit)});
      continue;
    }
    auto end = problems.begin() + static_cast<std::ptrdiff_t>(of_dialect);
    const bool told =
        std::any_of(problems.begin(), end, [&](const Problem& one) { return one.path == path; });
    if (!told)
      problems.push_back({path, ProblemKind::kType, dialect::shown(*misfit.value), about_type(misfit)});
  }
  if (problems.empty()) return lowered;
  return problems;
}

}  // namespace trainyard::cli
