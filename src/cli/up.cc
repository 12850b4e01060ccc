#include "cli/up.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <mutex>

#include "cli/complain.h"
#include "cli/data_dir.h"
#include "cli/disk_room.h"
#include "cli/interrupts.h"
#include "cli/plane.h"

namespace trainyard::cli {
namespace {

constexpr Duration kPollEvery{50};
constexpr Duration kTellEvery{5'000};
constexpr Duration kWatchEvery{1'000};

std::string greeting(const Plane& plane, const DataDir& dir) {
  return fmt::format(
      "Trainyard is up: {} ({} runtime)\n"
      "  export KUBECONFIG={}\n"
      "  kubectl get nodes\n",
      plane.url(), plane.runtime(), for_a_shell(dir.kubeconfig().string()));
}

// Runs the plane until somebody stops it. `ready` is told the greeting once it answers.
int serve(const Up& command, const DataDir& dir, const std::function<void(const std::string&)>& ready,
          const std::function<void(const std::string&)>& say) {
  Interrupts interrupts;
  PlaneOptions options;
  options.dir = dir;
  options.volumes = dir.volumes();
  options.images = dir.images();
  options.settings = command.plane;
  options.serve = true;
  options.address = command.address;
  options.port = command.port;
  options.say = say;
  Result<std::unique_ptr<Plane>> plane = Plane::start(std::move(options));
  if (!plane.ok()) {
    say(plane.error().message);
    return kInputAtFault;
  }
  ready(greeting(**plane, dir));
  DiskRoom disk(dir.root);
  std::optional<std::string> failed;
  while (interrupts.count() == 0 && !failed) {
    interrupts.sleep(kWatchEvery);
    failed = (*plane)->failed();
    if (std::optional<std::string> told = disk.look()) say(*told);
  }
  if (failed) say("the plane cannot go on: " + *failed);
  // A hang-up or a failed disk is no wish of the user's to stop training.
  bool leave = failed || interrupts.last() == SIGHUP;
  say(leave ? "going; replicas are left running" : "going down; replicas are being stopped");
  (*plane)->stop(leave ? Plane::Leave::kRunning : Plane::Leave::kStopped);
  return failed ? kInputAtFault : kFine;
}

// The background half of `up --detach`: tells the other end of the pipe how it went.
[[noreturn]] void serve_detached(const Up& command, const DataDir& dir, Fd tell) {
  ::setsid();
  std::error_code ignored;
  std::filesystem::create_directories(dir.root, ignored);
  Fd null(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  Fd log(::open(dir.log().c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  ::dup2(null.get(), STDIN_FILENO);
  ::dup2(log.valid() ? log.get() : null.get(), STDOUT_FILENO);
  ::dup2(log.valid() ? log.get() : null.get(), STDERR_FILENO);
  std::mutex speaking;
  auto write_to = [](int fd, const std::string& text) {
    if (fd >= 0 && ::write(fd, text.data(), text.size()) < 0) return;
  };
  auto say = [&](const std::string& text) {
    std::lock_guard lock(speaking);
    write_to(STDERR_FILENO, fmt::format("{} {}\n", format_rfc3339(wall_clock()), text));
    write_to(tell.get(), text + "\n");
  };
  auto ready = [&](const std::string& text) {
    std::lock_guard lock(speaking);
    write_to(tell.get(), text + '\0');
    tell.reset();
  };
  ::_exit(serve(command, dir, ready, say));
}

int up_detached(const Up& command, const DataDir& dir, const Console& console) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return complain(console, {ErrorKind::kUnavailable, "no pipe to be had"});
  Fd hear(ends[0]);
  Fd tell(ends[1]);
  pid_t child = ::fork();
  if (child < 0) return complain(console, {ErrorKind::kUnavailable, "no process to be had"});
  if (child == 0) serve_detached(command, dir, std::move(tell));
  tell.reset();
  std::string heard;
  char buffer[4096];
  for (ssize_t size; (size = ::read(hear.get(), buffer, sizeof buffer)) > 0;) heard.append(buffer, size);
  if (!heard.empty() && heard.back() == '\0') {
    heard.pop_back();
    console.out << heard;
    return kFine;
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  console.err << heard;
  return kInputAtFault;
}

}  // namespace

int up(const Up& command, const Console& console) {
  Result<DataDir> dir = data_dir_of(command.plane.data_dir);
  if (!dir.ok()) return complain(console, dir.error());
  if (int holder = holder_of(*dir); holder != 0) {
    return complain(console,
                    {ErrorKind::kAlreadyExists,
                     fmt::format("a plane is up already in {} (process {})", dir->root.string(), holder)});
  }
  if (command.detach) return up_detached(command, *dir, console);
  std::mutex speaking;
  return serve(
      command, *dir, [&](const std::string& text) { console.out << text << std::flush; },
      [&](const std::string& text) {
        std::lock_guard lock(speaking);
        console.err << text << std::endl;
      });
}

int down(const Down& command, const Console& console) {
  Result<DataDir> dir = data_dir_of(command.data_dir);
  if (!dir.ok()) return complain(console, dir.error());
  int holder = holder_of(*dir);
  if (holder == 0) {
    std::string orphans = orphans_in_words(*dir);
    console.out << fmt::format("no plane is up in {}\n", dir->root.string()) << orphans;
    return orphans.empty() || command.leave_running ? kFine : kInputAtFault;
  }
  if (::kill(holder, command.leave_running ? SIGHUP : SIGTERM) != 0) {
    return complain(console, {ErrorKind::kForbidden,
                              fmt::format("cannot stop process {}: {}", holder, std::strerror(errno))});
  }
  Duration waited{0};
  while (holder_of(*dir) == holder) {
    ::usleep(static_cast<useconds_t>(kPollEvery.count()) * 1000);
    waited += kPollEvery;
    if (waited.count() % kTellEvery.count() == 0) {
      console.err << fmt::format("waiting for replicas to stop, {} so far\n", format_duration(waited));
    }
  }
  console.out << "down\n";
  return kFine;
}

}  // namespace trainyard::cli
