#include "dialect/volcano/plugins.h"

#include <fmt/format.h>

#include "dialect/volcano/flags.h"
#include "kube/access.h"

namespace trainyard::dialect::vc {
namespace {

constexpr int kPortMax = 65535;
constexpr std::string_view kSupported = "supported plugins: \"env\", \"ssh\", \"svc\", \"tensorflow\"";

void report_faults(const Reader& plugins, std::string_view name, const Flags& flags) {
  for (std::string& fault : flags.faults()) plugins.report(name, ProblemKind::kInvalid, std::move(fault));
}

SvcPlugin decode_svc(const Reader& plugins, const std::vector<std::string>& arguments) {
  Flags flags(arguments, {"publish-not-ready-addresses", "disable-network-policy", "inject-hosts-env"});
  SvcPlugin svc;
  svc.publish_not_ready = flags.boolean("publish-not-ready-addresses", false);
  svc.network_policy = !flags.boolean("disable-network-policy", false);
  svc.hosts_in_env = flags.boolean("inject-hosts-env", true);
  report_faults(plugins, "svc", flags);
  return svc;
}

SshPlugin decode_ssh(const Reader& plugins, const std::vector<std::string>& arguments) {
  Flags flags(arguments, {});
  SshPlugin ssh;
  ssh.path = flags.text("ssh-key-file-path", "/root/.ssh");
  ssh.private_key = flags.text("ssh-private-key", "");
  ssh.public_key = flags.text("ssh-public-key", "");
  ssh.port = flags.whole("ssh-port", 22, 1, kPortMax);
  report_faults(plugins, "ssh", flags);
  if (ssh.private_key.empty() != ssh.public_key.empty()) {
    plugins.report(
        "ssh", ProblemKind::kInvalid,
        "--ssh-private-key and --ssh-public-key belong together: give both, or neither and a pair is made");
  }
  if (!ssh.path.starts_with('/')) {
    plugins.report("ssh", ProblemKind::kInvalid, "--ssh-key-file-path must be an absolute path");
  }
  return ssh;
}

TensorFlowPlugin decode_tensorflow(const Reader& plugins, const std::vector<std::string>& arguments) {
  Flags flags(arguments, {});
  TensorFlowPlugin tensorflow;
  tensorflow.ps = flags.text("ps", "ps");
  tensorflow.worker = flags.text("worker", "worker");
  tensorflow.chief = flags.text("chief", "chief");
  tensorflow.evaluator = flags.text("evaluator", "evaluator");
  tensorflow.port = flags.whole("port", 2222, 1, kPortMax);
  report_faults(plugins, "tensorflow", flags);
  return tensorflow;
}

void refuse(const Reader& plugins, std::string_view name) {
  bool of_volcano = name == "pytorch" || name == "mpi" || name == "ray" || name == "hcclrank";
  plugins.problems().push_back(
      {plugins.path_of(name), ProblemKind::kUnsupported, fmt::format("\"{}\"", name),
       of_volcano ? fmt::format("Trainyard runs TensorFlow jobs and does not have Volcano's {} plugin; {}",
                                name, kSupported)
                  : std::string(kSupported)});
}

}  // namespace

std::vector<std::string_view> Plugins::names() const {
  std::vector<std::string_view> all;
  if (env) all.push_back("env");
  if (ssh) all.push_back("ssh");
  if (svc) all.push_back("svc");
  if (tensorflow) all.push_back("tensorflow");
  return all;
}

Plugins decode_plugins(const Reader& spec) {
  Plugins all;
  Reader plugins = spec.child("plugins");
  for (const auto& member : plugins.object()) {
    std::string_view name = kube::view(member.key());
    std::vector<std::string> arguments = plugins.texts(name).value_or(std::vector<std::string>{});
    if (name == "env") {
      report_faults(plugins, name, Flags(arguments, {}));
      all.env = EnvPlugin{};
    } else if (name == "svc") {
      all.svc = decode_svc(plugins, arguments);
    } else if (name == "ssh") {
      all.ssh = decode_ssh(plugins, arguments);
    } else if (name == "tensorflow") {
      all.tensorflow = decode_tensorflow(plugins, arguments);
    } else {
      refuse(plugins, name);
    }
  }
  return all;
}

}  // namespace trainyard::dialect::vc
