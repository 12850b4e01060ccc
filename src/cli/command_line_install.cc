#include "cli/command_line_install.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <map>
#include <string>

#include "store/builtin.h"

namespace trainyard::cli {

struct InstallCommand::Raw {
  Install command;
  std::string gang;
};

namespace {

const std::map<std::string, deploy::Gang>& gangs() {
  static const std::map<std::string, deploy::Gang> kGangs = {
      {"", deploy::Gang::kNone},
      {"volcano", deploy::Gang::kVolcano},
      {"kube-batch", deploy::Gang::kKubeBatch},
      {"coscheduling", deploy::Gang::kCoscheduling},
      {"t9k", deploy::Gang::kT9k},
      {"trainyard", deploy::Gang::kTrainyard},
  };
  return kGangs;
}

// What is wrong with it, "" for nothing: no server would take what is printed.
std::string wrong_namespace(const std::string& name) {
  if (store::is_dns_label(name)) return "";
  return fmt::format("'{}' is no name of a namespace: {}", name, store::kDnsLabelRule);
}

std::string wrong_image(const std::string& image) {
  const bool is_one = !image.empty() && image.find_first_of(" \t\n") == std::string::npos;
  return is_one ? "" : fmt::format("'{}' is no image", image);
}

}  // namespace

InstallCommand::InstallCommand() : raw_(std::make_unique<Raw>()) {}
InstallCommand::~InstallCommand() = default;

void InstallCommand::describe(CLI::App& app) {
  deploy::InstallOptions& options = raw_->command.options;
  CLI::App* command =
      app.add_subcommand("install", "Print what a Kubernetes cluster needs: CRDs, rights, the operator");
  command->add_option("-n,--namespace", options.name_space, "The namespace that the operator runs in")
      ->capture_default_str()
      ->check(CLI::Validator(wrong_namespace, ""));
  command->add_option("--image", options.image, "The image that is run")
      ->capture_default_str()
      ->check(CLI::Validator(wrong_image, ""));
  command->add_flag("--namespaced", options.namespaced,
                    "Look after jobs of that namespace alone, with no rights beyond it");
  command
      ->add_option(
          "--gang", raw_->gang,
          "Who places the pods of a TFJob together: volcano, kube-batch, coscheduling, t9k or trainyard; "
          "trainyard is our own scheduler, with the kinds and under the names of the others")
      ->check(CLI::IsMember({"volcano", "kube-batch", "coscheduling", "t9k", "trainyard"}));
  command->add_flag("--scheduler", options.scheduler, "Trainyard's own gang scheduler as well");
  command->add_flag("--with-volcano-crds", options.volcano_crds,
                    "Volcano's kinds as well, and look after its Jobs; only for clusters without Volcano");
  command
      ->add_option(
          "--api-port", options.api_ports,
          "A port of the API server that the network policy lets through, beside 443, 6443, 8443 and "
          "16443; several times or with commas for several")
      ->delimiter(',')
      ->check(CLI::Range(1, 65535));
  command->add_flag("--crds-only", options.crds_only, "Nothing but CustomResourceDefinitions");
  command->footer(
      "It prints YAML and changes nothing.\n\n"
      "Examples:\n"
      "  trainyard install | kubectl apply -f -\n"
      "  trainyard install --gang volcano --image registry.example.org/trainyard:1 | kubectl apply -f -\n"
      "  trainyard install --namespaced --namespace team-a | kubectl diff -f -");
}

Install InstallCommand::read() const {
  Install command = raw_->command;
  command.options.gang = gangs().at(raw_->gang);
  return command;
}

}  // namespace trainyard::cli
