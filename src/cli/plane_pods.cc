#include "cli/plane_pods.h"

#include <poll.h>
#include <sys/eventfd.h>

#include <thread>

namespace trainyard::cli {
namespace {

node::PodRef to_node(const server::PodRef& pod) { return {pod.ns, pod.name, pod.uid, pod.container}; }

class NodeLog final : public server::LogReader {
 public:
  explicit NodeLog(std::unique_ptr<node::LogReader> reader) : reader_(std::move(reader)) {}
  Result<bool> read(std::string& out) override { return reader_->read(out); }

 private:
  std::unique_ptr<node::LogReader> reader_;
};

// A command in a container, with a thread that waits for its end.
class Session final : public server::ExecSession {
 public:
  explicit Session(std::unique_ptr<node::ExecProcess> process)
      : process_(std::move(process)), gone_(::eventfd(0, EFD_CLOEXEC)) {
    in = std::move(process_->in);
    out = std::move(process_->out);
    err = std::move(process_->err);
  }
  ~Session() override {
    uint64_t one = 1;
    if (::write(gone_.get(), &one, sizeof one) > 0 && waiter_.joinable()) waiter_.join();
  }

  void resize(int columns, int rows) override { process_->resize(columns, rows); }

  void on_exit(std::function<void(Result<int>)> told) override {
    waiter_ = std::thread([this, told = std::move(told)] {
      pollfd waits[2] = {{process_->exited.get(), POLLIN, 0}, {gone_.get(), POLLIN, 0}};
      while (::poll(waits, 2, -1) < 0 && errno == EINTR) {
      }
      if (waits[1].revents != 0) return;
      if (Result<bool> begun = process_->begun(); !begun.ok()) return told(begun.error());
      std::optional<int> code = process_->exit_code();
      told(code ? Result<int>(*code) : Error{ErrorKind::kUnknown, "the command ended, nobody knows how"});
    });
  }

 private:
  std::unique_ptr<node::ExecProcess> process_;
  Fd gone_;
  std::thread waiter_;
};

}  // namespace

Result<std::unique_ptr<server::LogReader>> NodeAccess::logs(const server::PodRef& pod,
                                                            const server::LogQuery& query) {
  node::LogQuery asked;
  asked.follow = query.follow;
  asked.previous = query.previous;
  asked.attempt = query.attempt;
  asked.timestamps = query.timestamps;
  asked.tail_lines = query.tail_lines;
  asked.limit_bytes = query.limit_bytes;
  asked.since = query.since;
  Result<std::unique_ptr<node::LogReader>> reader = node_.logs(to_node(pod), asked);
  if (!reader.ok()) return reader.error();
  return std::unique_ptr<server::LogReader>(std::make_unique<NodeLog>(std::move(reader).value()));
}

Result<std::unique_ptr<server::ExecSession>> NodeAccess::exec(const server::PodRef& pod,
                                                              const server::ExecQuery& query) {
  Result<std::unique_ptr<node::ExecProcess>> process =
      node_.exec(to_node(pod), {query.command, query.in, query.tty});
  if (!process.ok()) return process.error();
  return std::unique_ptr<server::ExecSession>(std::make_unique<Session>(std::move(process).value()));
}

Result<Fd> NodeAccess::connect(const server::PodRef& pod, int port) {
  return node_.connect(to_node(pod), port);
}

std::vector<server::ContainerUsage> NodeAccess::usage(const std::string& pod_uid) {
  std::vector<server::ContainerUsage> out;
  for (const auto& [container, rate] : node_.usage(pod_uid)) {
    out.push_back({container, {rate.cpu_nanocores, rate.memory_bytes}});
  }
  return out;
}

server::Usage NodeAccess::node_usage() {
  node::UsageRate rate = node_.node_usage();
  return {rate.cpu_nanocores, rate.memory_bytes};
}

}  // namespace trainyard::cli
