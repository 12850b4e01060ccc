#include "cli/validate.h"

#include <fmt/format.h>

#include <set>

#include "cli/dialects.h"
#include "cli/lower.h"
#include "kube/access.h"
#include "kube/meta.h"

namespace trainyard::cli {
namespace {

// Whether the job is valid.
bool check_job(const Object& object, const dialect::Settings& settings, const Console& console) {
  dialect::LowerResult lowered = lower_document(object, settings);
  if (const auto* problems = std::get_if<std::vector<dialect::Problem>>(&lowered)) {
    for (const std::string& line : located(object, *problems)) console.err << line << "\n";
    return false;
  }
  for (const model::Advice& advice : std::get<model::JobSpec>(lowered).advice) {
    console.err << fmt::format("{}: warning: {}\n", object.place_of(""), advice.message);
  }
  console.out << fmt::format("{}: {}: valid\n", object.place_of(""), object.title());
  return true;
}

// "items[3], TFJob team-a/mnist: " for an item of a list, whose number tells nobody which job it is.
std::string place_in_list(const Object& object) {
  if (object.prefix.empty()) return "";
  std::string_view ns = kube::namespace_of(object.body);
  return fmt::format("{}, {} {}{}{}: ", object.prefix, kube::text_at(object.body, {"kind"}), ns,
                     ns.empty() ? "" : "/", kube::name_of(object.body));
}

}  // namespace

std::vector<std::string> located(const Object& object, const std::vector<dialect::Problem>& problems) {
  std::vector<std::string> lines;
  std::set<std::string> told;
  for (size_t i = 0; i < problems.size(); ++i) {
    if (lines.size() == kProblemsPrintedMax) {
      lines.push_back(fmt::format("{}: {}and {} more problems", object.place_of(""), place_in_list(object),
                                  problems.size() - i));
      break;
    }
    std::string line = fmt::format("{}: {}{}", object.place_of(problems[i].path), place_in_list(object),
                                   dialect::to_string(problems[i]));
    if (told.insert(line).second) lines.push_back(std::move(line));
  }
  return lines;
}

bool report_complaints(const Manifests& manifests, const Console& console) {
  for (const Complaint& complaint : manifests.complaints) console.err << complaint << "\n";
  return manifests.complaints.empty();
}

int validate(const Validate& command, const Console& console) {
  std::vector<TextFile> files = read_paths(command.paths, console.in);
  Manifests manifests = take_apart(files, all_dialects());
  bool fine = report_complaints(manifests, console);
  for (const Object& object : manifests.objects) {
    if (object.dialect == nullptr) {
      console.out << fmt::format("{}: {}: not a training job, passed over\n", object.place_of(""),
                                 object.title());
    } else {
      fine = check_job(object, command.settings, console) && fine;
    }
  }
  return fine ? kFine : kInputAtFault;
}

}  // namespace trainyard::cli
