#include "cli/command_line_plane.h"

#include <CLI/CLI.hpp>

namespace trainyard::cli {

struct PlaneCommands::Raw {
  PlaneSettings plane;
  std::vector<std::string> paths;
  std::string runtime = "auto";
  std::string address = "127.0.0.1";
  int port = 0;
  bool detach = false;
  bool quiet = false;
  bool leave_running = false;
  std::vector<std::string> images;
  std::string folder;
  std::string name;
};

namespace {

void add_data_dir(CLI::App& command, std::string& data_dir) {
  command.add_option("--data-dir", data_dir,
                     "Where everything is kept; by default trainyard in the state folder of the user");
}

void add_plane_settings(CLI::App& command, PlaneSettings& plane, std::string& runtime) {
  add_data_dir(command, plane.data_dir);
  command
      .add_option("--runtime", runtime,
                  "How pods run: sandbox (own namespaces and address; runc or crun to say by which program), "
                  "process (plain processes), auto (sandbox where it works)")
      ->capture_default_str()
      ->check(CLI::IsMember({"auto", "sandbox", "runc", "crun", "process"}));
  command.add_option("--gpus", plane.gpus, "How many GPUs to offer; by default those that are found")
      ->check(CLI::Range(0, 1024));
  command.add_flag("--pull", plane.pull, "Bring images that are not here, instead of the host's own root");
  command
      .add_option("--tensorboard-command", plane.tensorboard,
                  "Program of TensorBoards (tensorboardSpec), where it is not called tensorboard; may be "
                  "given again for further words")
      ->allow_extra_args(false);
  command
      .add_option("--log-days", plane.log_days,
                  "Keep logs of replicas for so many days; pods may be gone long before")
      ->capture_default_str()
      ->check(CLI::Range(0, 36500));
  command
      .add_option("--log-megabytes", plane.log_megabytes,
                  "Keep no more logs than this, the newest; what still runs is never cut off")
      ->capture_default_str()
      ->check(CLI::Range(1, 1 << 30));
  add_settings(command, plane.settings);
}

RuntimeChoice choice_of(std::string_view text) {
  if (text == "sandbox") return RuntimeChoice::kSandbox;
  if (text == "runc") return RuntimeChoice::kRunc;
  if (text == "crun") return RuntimeChoice::kCrun;
  return text == "process" ? RuntimeChoice::kProcess : RuntimeChoice::kAuto;
}

}  // namespace

void add_settings(CLI::App& command, dialect::Settings& settings) {
  command.add_option("--cluster-domain", settings.cluster_domain,
                     "Domain that host names in TF_CONFIG end in, as the cluster is set up");
  command.add_option(
      "--gang-scheduler-name", settings.gang_scheduler,
      "Gang scheduler of TFJobs: volcano, kube-batch, trainyard, or the name of a scheduler-plugins profile; "
      "asked: for those alone that ask for a gang");
  command
      .add_option("--clean-pod-policy", settings.default_clean_policy,
                  "What TFJobs without a cleanPodPolicy get: Running (the default), All or None")
      ->check(CLI::IsMember({"Running", "All", "None"}));
  command.add_flag("--evaluator-in-cluster", settings.evaluator_in_cluster,
                   "List the evaluator in TF_CONFIG's cluster, as Kubeflow 1.9 does");
}

void add_paths(CLI::App& command, std::vector<std::string>& paths) {
  command
      .add_option("-f,--filename,PATH", paths,
                  "A file, a directory (its .yaml, .yml and .json files) or - for standard input")
      ->required()
      ->type_name("");
}

PlaneCommands::PlaneCommands() : raw_(std::make_unique<Raw>()) {}
PlaneCommands::~PlaneCommands() = default;

const std::vector<std::string_view>& PlaneCommands::names() {
  static const std::vector<std::string_view> kNames = {"run",  "up",     "down",  "status",
                                                       "pull", "import", "images"};
  return kNames;
}

void PlaneCommands::describe(CLI::App& app) {
  CLI::App* run = app.add_subcommand("run", "Run jobs on this machine now and show them until they end");
  add_paths(*run, raw_->paths);
  add_plane_settings(*run, raw_->plane, raw_->runtime);
  run->add_flag("-q,--quiet", raw_->quiet, "Do not show what the replicas print");
  run->footer(
      "Other documents in the files (ConfigMaps, Secrets, claims) are created before the jobs.\n"
      "Ctrl-C stops the jobs gracefully, a second one kills them.\n"
      "Exit status: 0 every job succeeded; the exit code of the replica that failed a job; 130 stopped.\n\n"
      "Examples:\n"
      "  trainyard run job.yaml\n"
      "  trainyard run --runtime process --quiet job.yaml");
  CLI::App* up = app.add_subcommand("up", "Start the embedded plane: an API that kubectl can use");
  add_plane_settings(*up, raw_->plane, raw_->runtime);
  up->add_option("--address", raw_->address, "The address to listen on")->capture_default_str();
  up->add_option("--port", raw_->port,
                 "The port to listen on; by default the one it had before, or a free one")
      ->check(CLI::Range(0, 65535));
  up->add_flag("-d,--detach", raw_->detach, "Go to the background once it answers");
  up->footer(
      "Examples:\n"
      "  trainyard up --detach\n"
      "  export KUBECONFIG=~/.local/state/trainyard/kubeconfig; kubectl get nodes");
  CLI::App* down = app.add_subcommand("down", "Stop the embedded plane");
  add_data_dir(*down, raw_->plane.data_dir);
  down->add_flag("--leave-running", raw_->leave_running,
                 "Leave the replicas running; the next 'up' takes them over");
  down->footer(
      "Replicas are stopped with their grace; their jobs go on with the next 'up'. One with restartPolicy "
      "Never\n"
      "that runs is not started again, so its job may fail: --leave-running spares it.\n\n"
      "Examples:\n"
      "  trainyard down\n"
      "  trainyard down --leave-running");
  CLI::App* status = app.add_subcommand("status", "Tell whether the embedded plane runs");
  add_data_dir(*status, raw_->plane.data_dir);
  status->footer(
      "Exit status: 0 it is up, 1 it is not.\n\n"
      "Examples:\n"
      "  trainyard status");
  CLI::App* pull = app.add_subcommand("pull", "Bring images to this machine (needs skopeo and umoci)");
  add_data_dir(*pull, raw_->plane.data_dir);
  pull->add_option("IMAGE", raw_->images, "An image's name")->required()->type_name("");
  pull->footer(
      "Examples:\n"
      "  trainyard pull tensorflow/tensorflow:2.15.0");
  CLI::App* import = app.add_subcommand("import", "Take a folder or an OCI layout as an image");
  add_data_dir(*import, raw_->plane.data_dir);
  import->add_option("PATH", raw_->folder, "The folder; LAYOUT:TAG takes one image of an OCI layout")
      ->required()
      ->type_name("");
  import->add_option("NAME", raw_->name, "What manifests call the image")->required()->type_name("");
  import->footer(
      "Examples:\n"
      "  trainyard import ./rootfs example/trainer:1");
  CLI::App* images = app.add_subcommand("images", "List the images that are here");
  add_data_dir(*images, raw_->plane.data_dir);
  images->footer(
      "Examples:\n"
      "  trainyard images");
  CLI::App* shim = app.add_subcommand("shim", "Watch one container")->group("");
  shim->add_option("PLAN", raw_->name)->required();
}

std::optional<Command> PlaneCommands::read(std::string_view name) const {
  PlaneSettings plane = raw_->plane;
  plane.runtime = choice_of(raw_->runtime);
  if (name == "run") return RunJobs{raw_->paths, plane, raw_->quiet};
  if (name == "up") return Up{plane, raw_->address, raw_->port, raw_->detach};
  if (name == "down") return Down{plane.data_dir, raw_->leave_running};
  if (name == "status") return PlaneStatus{plane.data_dir};
  if (name == "pull") return Pull{plane.data_dir, raw_->images};
  if (name == "import") return Import{plane.data_dir, raw_->folder, raw_->name};
  if (name == "images") return Images{plane.data_dir};
  if (name == "shim") return Shim{raw_->name};
  return std::nullopt;
}

}  // namespace trainyard::cli
