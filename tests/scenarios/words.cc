#include "words.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "kube/access.h"
#include "kube/yaml.h"
#include "yard.h"

namespace trainyard::scenarios {
namespace {

std::string trimmed(std::string_view text) {
  size_t first = text.find_first_not_of(" \n");
  if (first == std::string_view::npos) return "";
  return std::string(text.substr(first, text.find_last_not_of(" \n") - first + 1));
}

// Splits at commas that are in no braces.
std::vector<std::string> split_list(std::string_view text) {
  std::vector<std::string> parts(1);
  int depth = 0;
  for (char c : text) {
    depth += c == '{' || c == '[' ? 1 : 0;
    depth -= c == '}' || c == ']' ? 1 : 0;
    if (c == ',' && depth == 0)
      parts.emplace_back();
    else
      parts.back() += c;
  }
  for (std::string& part : parts) part = trimmed(part);
  return parts;
}

// The part in braces at the end, without them; and the text without it.
std::string cut_braces(std::string& text) {
  size_t open = text.find('{');
  if (open == std::string::npos) return "";
  std::string inner = text.substr(open + 1, text.rfind('}') - open - 1);
  text = trimmed(text.substr(0, open));
  return inner;
}

}  // namespace

std::vector<std::string> split(std::string_view text, std::string_view separator) {
  std::vector<std::string> parts;
  while (true) {
    size_t at = text.find(separator);
    std::string part = trimmed(text.substr(0, at));
    if (!part.empty()) parts.push_back(std::move(part));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + separator.size());
  }
}

json::object parse(const std::string& yaml) {
  auto documents = kube::parse_yaml(yaml);
  EXPECT_TRUE(documents.ok()) << (documents.ok() ? "" : documents.error().message) << "\n" << yaml;
  if (!documents.ok() || documents->empty()) return {};
  return documents->front().body.get_object();
}

std::string env_of(const json::object& container, std::string_view name) {
  std::string value;
  const json::array* entries = kube::array_at(container, {"env"});
  if (entries == nullptr) return value;
  for (const json::value& entry : *entries) {
    if (kube::text_at(entry.get_object(), {"name"}) == name)
      value = kube::text_at(entry.get_object(), {"value"});
  }
  return value;
}

model::JobSpec lowered(const dialect::Dialect& dialect, const std::string& yaml,
                       const dialect::Settings& settings) {
  dialect::LowerResult result = dialect.lower(parse(yaml), settings);
  if (auto* wrong = std::get_if<std::vector<dialect::Problem>>(&result)) {
    ADD_FAILURE() << dialect::join(*wrong) << "\n" << yaml;
    return {};
  }
  return std::get<model::JobSpec>(std::move(result));
}

std::string problems(const dialect::Dialect& dialect, const std::string& yaml,
                     const dialect::Settings& settings) {
  dialect::LowerResult result = dialect.lower(parse(yaml), settings);
  std::string text;
  if (const auto* wrong = std::get_if<std::vector<dialect::Problem>>(&result)) {
    for (const dialect::Problem& one : *wrong) text += (text.empty() ? "" : "\n") + dialect::to_string(one);
  }
  return text;
}

std::string tfjob(std::string_view roles, std::string_view run_policy, std::string_view spec) {
  std::string text =
      "apiVersion: kubeflow.org/v1\n"
      "kind: TFJob\n"
      "metadata: {name: j, namespace: ns}\n"
      "spec:\n";
  if (!run_policy.empty()) text += fmt::format("  runPolicy: {{{}}}\n", run_policy);
  if (!spec.empty()) text += fmt::format("  {}\n", spec);
  text += "  tfReplicaSpecs:\n";
  for (const std::string& role : split_list(roles)) {
    std::vector<std::string> words = split(role, " ");
    text += fmt::format("    {}:\n      replicas: {}\n", words[0], words[1]);
    if (words.size() > 2) text += fmt::format("      restartPolicy: {}\n", words[2]);
    text += "      template: {spec: {containers: [{name: tensorflow, image: tf}]}}\n";
  }
  return text;
}

std::string vcjob(std::string_view tasks, std::string_view spec) {
  std::string text =
      "apiVersion: batch.volcano.sh/v1alpha1\n"
      "kind: Job\n"
      "metadata: {name: j, namespace: ns}\n"
      "spec:\n";
  if (!spec.empty()) text += fmt::format("  {}\n", spec);
  text += "  tasks:\n";
  for (std::string& task : split_list(tasks)) {
    std::string more = cut_braces(task);
    std::vector<std::string> words = split(task, " ");
    text += fmt::format("  - {{name: {}, replicas: {}{}{},\n", words[0], words[1], more.empty() ? "" : ", ",
                        more);
    text += "     template: {spec: {restartPolicy: Never, containers: [{name: tensorflow, image: tf}]}}}\n";
  }
  return text;
}

std::string with(std::string text, std::string_view part, std::string_view instead) {
  size_t at = text.find(part);
  EXPECT_NE(at, std::string::npos) << "no '" << part << "' in\n" << text;
  if (at != std::string::npos) text.replace(at, part.size(), instead);
  return text;
}

}  // namespace trainyard::scenarios
