#include "server/server.h"

#include <fmt/format.h>
#include <openssl/ssl.h>

#include <algorithm>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <deque>
#include <map>
#include <mutex>
#include <thread>

#include "server/connection.h"
#include "server/crd_keeper.h"
#include "server/handler.h"

namespace trainyard::server {
namespace {

namespace net = boost::asio;
using tcp = net::ip::tcp;

constexpr std::chrono::milliseconds kAcceptPause{100};

// Throws what Boost throws; the caller turns it into an Error.
void set_up(net::ssl::context& tls, const TlsFiles& files) {
  tls.set_options(net::ssl::context::default_workarounds | net::ssl::context::no_compression);
  SSL_CTX_set_min_proto_version(tls.native_handle(), TLS1_2_VERSION);
  // Sessions are not resumed: nobody would gain, and client certificates would need care.
  SSL_CTX_set_session_cache_mode(tls.native_handle(), SSL_SESS_CACHE_OFF);
  SSL_CTX_set_options(tls.native_handle(), SSL_OP_NO_TICKET);
  SSL_CTX_set_num_tickets(tls.native_handle(), 0);
  tls.use_certificate_chain(net::buffer(files.server.certificate));
  tls.use_private_key(net::buffer(files.server.key), net::ssl::context::pem);
  // A client may show a certificate; one that is not ours ends the handshake.
  tls.add_certificate_authority(net::buffer(files.ca_certificate));
  tls.set_verify_mode(net::ssl::verify_peer);
}

HandlerOptions handler_options(const ServerOptions& options, net::io_context& io) {
  std::vector<std::string> names = own_names();
  names.insert(names.end(), options.more_names.begin(), options.more_names.end());
  names.push_back(options.address);
  return {.token = options.tls.token,
          .names = std::move(names),
          .git_version = options.git_version,
          .node_name = options.node_name,
          .in_flight_max = options.limits.in_flight_max,
          .bodies_bytes_max = options.limits.bodies_bytes_max,
          .unsent_bytes_max = options.limits.unsent_bytes_max,
          .clock = options.clock,
          .run = [&io](std::function<void()> step) { net::post(io, std::move(step)); }};
}

// A thread and what it runs, until it is told that nothing more will come.
class Worker {
 public:
  void start() {
    thread_ = std::thread([this] { io_.run(); });
  }
  // Waits for the end of what is under way.
  void finish() {
    work_.reset();
    if (thread_.joinable()) thread_.join();
  }
  net::io_context& io() { return io_; }

 private:
  net::io_context io_{1};
  net::executor_work_guard<Io> work_{net::make_work_guard(io_)};
  std::thread thread_;
};

// Each connection belongs to one of a few threads, so nothing of it needs a lock. What may
// take long, lists above all, is done by a thread that has no connections.
class TlsServer final : public Server {
 public:
  TlsServer(ServerOptions options, hub::Hub& hub, Registry& registry, PodAccess* pods)
      : options_(std::move(options)),
        workers_(static_cast<size_t>(options_.threads)),
        acceptor_(workers_.front().io().get_executor()),
        pause_(workers_.front().io()),
        handler_(handler_options(options_, slow_.io()), hub, registry, pods),
        crds_(hub, registry, options_.clock,
              [this](std::function<void()> step) { net::post(slow_.io(), std::move(step)); }) {
    set_up(tls_, options_.tls);
  }
  ~TlsServer() override { stop(); }

  Result<Done> open() {
    boost::system::error_code failed;
    net::ip::address address = net::ip::make_address(options_.address, failed);
    if (failed)
      return Error{ErrorKind::kInvalid,
                   fmt::format("'{}' is no IP address such as 127.0.0.1", options_.address)};
    tcp::endpoint endpoint(address, options_.port);
    acceptor_.open(endpoint.protocol(), failed);
    if (!failed) acceptor_.set_option(tcp::acceptor::reuse_address(true), failed);
    if (!failed) acceptor_.bind(endpoint, failed);
    if (!failed) acceptor_.listen(tcp::acceptor::max_listen_connections, failed);
    if (failed) {
      return Error{ErrorKind::kUnavailable, fmt::format("cannot listen on {}:{}: {}", options_.address,
                                                        options_.port, failed.message())};
    }
    port_ = acceptor_.local_endpoint().port();
    Result<Done> following = crds_.start();
    if (!following.ok()) return following;
    accept();
    for (Worker& worker : workers_) worker.start();
    slow_.start();
    return Done{};
  }

  uint16_t port() const override { return port_; }
  std::string url() const override {
    bool v6 = options_.address.find(':') != std::string::npos;
    return fmt::format("https://{}{}{}:{}", v6 ? "[" : "", options_.address, v6 ? "]" : "", port_);
  }

  void stop() override {
    std::call_once(stopped_, [this] {
      crds_.stop();
      net::post(acceptor_.get_executor(), [this] {
        boost::system::error_code ignored;
        acceptor_.close(ignored);
        pause_.cancel();
      });
      {
        std::lock_guard lock(mutex_);
        stopping_ = true;
        for (auto& [id, connection] : connections_) connection->stop();
      }
      for (Worker& worker : workers_) worker.finish();
      slow_.finish();
    });
  }

 private:
  void accept() {
    Worker& next = workers_[accepted_++ % workers_.size()];
    acceptor_.async_accept(next.io().get_executor(), [this](boost::system::error_code error, Socket socket) {
      if (!acceptor_.is_open()) return;
      if (error) return accept_later();
      take(std::move(socket));
      accept();
    });
  }

  // Who waits to be taken while there are no files for it would be offered again at once, for ever.
  void accept_later() {
    handler_.counters().failed_accepts += 1;
    pause_.expires_after(kAcceptPause);
    pause_.async_wait([this](boost::system::error_code) {
      if (acceptor_.is_open()) accept();
    });
  }

  void take(Socket socket) {
    boost::system::error_code ignored;
    socket.set_option(tcp::no_delay(true), ignored);
    std::lock_guard lock(mutex_);
    // Where there is no room the socket is closed as it goes out of scope.
    if (stopping_ || !make_room()) return;
    uint64_t id = ++last_id_;
    connections_[id] = serve(std::move(socket), tls_, handler_, options_.limits, [this, id] { forget(id); });
  }

  // Whether there is room for one more. Of strangers the one that has been here longest goes: who says
  // nothing can keep nobody out. REQUIRES: mutex_ is held.
  bool make_room() {
    if (static_cast<int64_t>(connections_.size()) < options_.limits.connections_max) return true;
    auto stranger = std::find_if(connections_.begin(), connections_.end(),
                                 [](const auto& each) { return !each.second->is_known(); });
    if (stranger == connections_.end()) return false;
    stranger->second->cut();
    connections_.erase(stranger);
    return true;
  }

  void forget(uint64_t id) {
    std::shared_ptr<LiveConnection> last;
    std::lock_guard lock(mutex_);
    auto found = connections_.find(id);
    if (found == connections_.end()) return;
    last = std::move(found->second);
    connections_.erase(found);
  }

  // Fixed. The order matters: what is below uses what is above.
  ServerOptions options_;
  net::ssl::context tls_{net::ssl::context::tls_server};
  Worker slow_;
  std::deque<Worker> workers_;
  net::basic_socket_acceptor<tcp, Io> acceptor_;
  net::steady_timer pause_;  // of the acceptor's thread
  Handler handler_;
  CrdKeeper crds_;
  uint16_t port_ = 0;
  // State.
  std::once_flag stopped_;
  std::mutex mutex_;
  std::map<uint64_t, std::shared_ptr<LiveConnection>> connections_;
  uint64_t last_id_ = 0;
  size_t accepted_ = 0;
  bool stopping_ = false;
};

}  // namespace

Result<std::unique_ptr<Server>> Server::start(ServerOptions options, hub::Hub& hub, Registry& registry,
                                              PodAccess* pods) {
  try {
    auto server = std::make_unique<TlsServer>(std::move(options), hub, registry, pods);
    Result<Done> opened = server->open();
    if (!opened.ok()) return opened.error();
    return std::unique_ptr<Server>(std::move(server));
  } catch (const boost::system::system_error& error) {
    return Error{ErrorKind::kInvalid, fmt::format("the certificates cannot be used: {}", error.what())};
  }
}

}  // namespace trainyard::server
