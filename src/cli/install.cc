#include "cli/install.h"

#include "cli/commands.h"
#include "kube/yaml.h"

namespace trainyard::cli {

int install(const Install& command, const Console& console) {
  std::vector<json::value> documents;
  for (json::object& each : deploy::install_objects(command.options)) documents.emplace_back(std::move(each));
  console.out << kube::to_yaml_documents(documents);
  return kFine;
}

}  // namespace trainyard::cli
