#include "cli/convert.h"

#include <fmt/format.h>

#include "cli/dialects.h"
#include "cli/lower.h"
#include "cli/manifest.h"
#include "cli/portable.h"
#include "cli/validate.h"
#include "kube/access.h"

namespace trainyard::cli {
namespace {

Portable take_out(const dialect::Dialect& dialect, const model::JobSpec& spec) {
  if (dialect.name == "tfjob") return from_tfjob(spec);
  if (dialect.name == "t9k") return from_t9k(spec);
  return from_volcano(spec);
}

Result<json::object> write_as(std::string_view dialect, Portable& job) {
  if (dialect == "tfjob") return to_tfjob(job);
  if (dialect == "t9k") return to_t9k(job);
  return to_volcano(job);
}

// The same dialect: the normal form, in the version that is written today.
json::object normal_form(const dialect::Dialect& dialect, const model::JobSpec& spec) {
  json::object object = *spec.source;
  object.erase("status");
  object["apiVersion"] = kube::jview(dialect.resource.api_version());
  object["metadata"] = written_metadata(object);
  return object;
}

std::string comments(const Object& from, const dialect::Dialect& to, std::vector<std::string> lost) {
  if (kube::find(from.body, {"status"}) != nullptr) lost.push_back("status: a converted job starts anew");
  std::string text = fmt::format("# {}, converted from {} to {}.\n", from.title(),
                                 kube::text_at(from.body, {"apiVersion"}), to.resource.api_version());
  if (!lost.empty()) text += "# Not carried over, or different:\n";
  for (const std::string& line : lost) text += fmt::format("# - {}\n", line);
  return text;
}

// The document with its comments, or the lines to complain with.
struct Converted {
  std::string text;
  std::vector<std::string> complaints;
};

// What is wrong with what would be written, fields that its kind does not have among it.
std::vector<std::string> faults_of(const Object& from, const dialect::Dialect& target, json::object written) {
  Object object;
  object.body = std::move(written);
  object.dialect = &target;
  std::vector<std::string> lines;
  dialect::LowerResult lowered = lower_document(object, {});
  if (auto* problems = std::get_if<std::vector<dialect::Problem>>(&lowered)) {
    for (const dialect::Problem& problem : *problems) {
      lines.push_back(fmt::format("{}: {}: as {} it would not be valid: {}", from.place_of(""), from.title(),
                                  target.resource.kind, dialect::to_string(problem)));
    }
  }
  return lines;
}

Converted convert_job(const Object& object, const dialect::Dialect& target) {
  dialect::LowerResult lowered = lower_document(object, {});
  if (auto* problems = std::get_if<std::vector<dialect::Problem>>(&lowered))
    return {"", located(object, *problems)};
  const model::JobSpec& spec = std::get<model::JobSpec>(lowered);
  if (object.dialect->name == target.name) {
    json::object body = normal_form(target, spec);
    std::vector<std::string> faults = faults_of(object, target, body);
    if (!faults.empty()) return {"", std::move(faults)};
    std::string comment = fmt::format("# {}, written out in full.\n", object.title());
    return {comment + kube::to_yaml(json::value(std::move(body))), {}};
  }
  Portable job = take_out(*object.dialect, spec);
  Result<json::object> written = write_as(target.name, job);
  if (!written.ok()) {
    return {"", {fmt::format("{}: {}: {}", object.place_of(""), object.title(), written.error().message)}};
  }
  std::vector<std::string> faults = faults_of(object, target, written.value());
  if (!faults.empty()) return {"", std::move(faults)};
  return {comments(object, target, job.lost) + kube::to_yaml(json::value(std::move(written.value()))), {}};
}

}  // namespace

int convert(const Convert& command, const Console& console) {
  std::vector<TextFile> files = read_paths(command.paths, console.in);
  Manifests manifests = take_apart(files, all_dialects());
  bool fine = report_complaints(manifests, console);
  const dialect::Dialect& target = dialect_named(command.to);
  bool first = true;
  bool any_job = false;
  for (const Object& object : manifests.objects) {
    Converted converted;
    if (object.dialect == nullptr) {
      converted.text = kube::to_yaml(json::value(object.body));
    } else {
      any_job = true;
      converted = convert_job(object, target);
    }
    for (const std::string& line : converted.complaints) console.err << line << "\n";
    fine = fine && converted.complaints.empty();
    if (converted.text.empty()) continue;
    console.out << (first ? "" : "---\n") << converted.text;
    first = false;
  }
  if (!any_job && fine) {
    console.err << no_job_in_words(manifests) << "\n";
    return kInputAtFault;
  }
  return fine ? kFine : kInputAtFault;
}

}  // namespace trainyard::cli
