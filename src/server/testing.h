// What the tests of this room share: a plane in memory behind a real port, a client that
// speaks TLS, HTTP and WebSocket byte by byte, and pods that do as they are told.
#pragma once

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <condition_variable>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "base/fd.h"
#include "hub/hub.h"
#include "kube/access.h"
#include "kube/request.h"
#include "kube/yaml.h"
#include "server/http.h"
#include "server/server.h"

namespace trainyard::server {

inline constexpr Time kTestNow{1'800'000'000'000};
inline constexpr int kPatienceSeconds = 20;  // of every wait: longer means that it hangs

class TempDir {
 public:
  TempDir() {
    std::string name = (std::filesystem::temp_directory_path() / "trainyard-server-XXXXXX").string();
    CHECK(::mkdtemp(name.data()) != nullptr);
    path_ = name;
  }
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;
  ~TempDir() { std::filesystem::remove_all(path_); }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

// The same for every test: making keys takes time.
inline const TlsFiles& test_tls() {
  static const TlsFiles kFiles = [] {
    TempDir folder;
    auto now = std::chrono::system_clock::now().time_since_epoch();
    Time time{std::chrono::duration_cast<Duration>(now).count()};
    return ensure_tls_files(folder.path(), {}, time).value();
  }();
  return kFiles;
}

inline std::pair<Fd, Fd> socket_pair() {
  int fds[2];
  CHECK(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) == 0);
  for (int fd : fds) {
    timeval patience{kPatienceSeconds, 0};
    ::setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  }
  return {Fd(fds[0]), Fd(fds[1])};
}

// Appends what the stream has now.
inline Stream::State pull(Stream& stream, std::string& out) {
  SharedText text;
  Stream::State state = stream.pull(text);
  if (text != nullptr) out += *text;
  return state;
}

inline void make_nonblocking(const Fd& fd) { ::fcntl(fd.get(), F_SETFL, O_NONBLOCK); }

// What is there until `size` bytes have come or the other side has ended.
inline std::string read_from(const Fd& fd, size_t size) {
  std::string text;
  while (text.size() < size) {
    char buffer[4096];
    ssize_t count = ::read(fd.get(), buffer, std::min(sizeof buffer, size - text.size()));
    if (count <= 0) break;
    text.append(buffer, static_cast<size_t>(count));
  }
  return text;
}

// The far ends of a session that a test plays the container of.
struct FakeProcess {
  ExecQuery query;
  Fd in, out, err;
  int columns = 0;
  std::function<void(Result<int>)> told;
  bool dropped = false;
};

class FakePods final : public PodAccess {
 public:
  Result<std::unique_ptr<LogReader>> logs(const PodRef& pod, const LogQuery& query) override {
    std::lock_guard lock(mutex_);
    last_pod = pod;
    last_log = query;
    if (log_error) return *log_error;
    struct Reader final : LogReader {
      FakePods* pods = nullptr;
      bool follow = false;
      size_t at = 0;
      Result<bool> read(std::string& out) override {
        std::lock_guard lock(pods->mutex_);
        out += pods->log.substr(at);
        at = pods->log.size();
        return follow && !pods->log_ended;
      }
    };
    auto reader = std::make_unique<Reader>();
    reader->pods = this;
    reader->follow = query.follow;
    return std::unique_ptr<LogReader>(std::move(reader));
  }

  Result<std::unique_ptr<ExecSession>> exec(const PodRef& pod, const ExecQuery& query) override {
    if (before_exec) before_exec();
    if (exec_error) return *exec_error;
    struct Session final : ExecSession {
      FakePods* pods = nullptr;
      ~Session() override {
        std::lock_guard lock(pods->mutex_);
        pods->process.dropped = true;
        pods->process.told = nullptr;  // it must not outlive the server
        pods->changed_.notify_all();
      }
      void resize(int columns, int) override {
        std::lock_guard lock(pods->mutex_);
        pods->process.columns = columns;
        pods->changed_.notify_all();
      }
      void on_exit(std::function<void(Result<int>)> told) override {
        std::lock_guard lock(pods->mutex_);
        pods->process.told = std::move(told);
        pods->changed_.notify_all();
      }
    };
    auto session = std::make_unique<Session>();
    session->pods = this;
    std::lock_guard lock(mutex_);
    last_pod = pod;
    process = {};
    process.query = query;
    std::tie(session->in, process.in) = socket_pair();
    std::tie(session->out, process.out) = socket_pair();
    std::tie(session->err, process.err) = socket_pair();
    for (const Fd* fd : {&session->in, &session->out, &session->err}) make_nonblocking(*fd);
    return std::unique_ptr<ExecSession>(std::move(session));
  }

  Result<Fd> connect(const PodRef&, int port) override {
    if (before_connect) before_connect();
    std::lock_guard lock(mutex_);
    if (port == 1) return Error{ErrorKind::kUnavailable, "nobody listens"};
    auto [near, far] = socket_pair();
    make_nonblocking(near);
    connected[port] = std::move(far);
    changed_.notify_all();
    return std::move(near);
  }

  std::vector<ContainerUsage> usage(const std::string&) override { return used; }
  Usage node_usage() override { return {1'500'000'000, 1 << 30}; }

  // Waits until `is_so`, called under the lock.
  bool await(const std::function<bool()>& is_so) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(kPatienceSeconds), is_so);
  }
  void append_log(std::string_view text, bool ended) {
    std::lock_guard lock(mutex_);
    log += text;
    log_ended = ended;
  }

  std::vector<ContainerUsage> used{{"c", {250'000'000, 1 << 20}}};
  std::string log;
  bool log_ended = false;
  std::optional<Error> log_error;
  std::optional<Error> exec_error;
  std::function<void()> before_exec;
  std::function<void()> before_connect;
  PodRef last_pod;
  LogQuery last_log;
  FakeProcess process;
  std::map<int, Fd> connected;  // the pod's ends

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
};

struct Reply {
  int status = 0;                              // 0: the connection ended instead
  std::map<std::string, std::string> headers;  // names in lower case
  std::string body;

  json::object object() const {
    Result<json::value> value = kube::parse_json(body);
    return value.ok() && value->is_object() ? value->get_object() : json::object{};
  }
};

struct ClientOptions {
  std::string token = test_tls().token;  // "" for none
  std::optional<KeyPair> certificate;
  std::string host = "localhost";
};

// One connection, used by one thread. Reads give up after kPatienceSeconds.
class TestClient {
 public:
  explicit TestClient(uint16_t port, ClientOptions options = {});
  TestClient(const TestClient&) = delete;
  TestClient& operator=(const TestClient&) = delete;
  ~TestClient() { SSL_free(ssl_); }

  bool connected() const { return ssl_ != nullptr; }
  // False when the other side has gone.
  bool send(std::string_view bytes);
  // At least one byte; "" at the end.
  std::string receive();
  bool ended() { return buffer_.empty() && receive_more() == false; }

  Reply call(std::string_view method, std::string_view target, std::string_view body = "",
             std::string_view type = "application/json",
             const std::map<std::string, std::string>& headers = {});
  void start(std::string_view method, std::string_view target, std::string_view body = "",
             std::string_view type = "application/json",
             const std::map<std::string, std::string>& headers = {});
  // The status line and headers, and the body unless it is chunked.
  Reply read_head();
  Reply read_reply();
  // The next chunk; nullopt when the connection broke, "" at the proper end.
  std::optional<std::string> read_chunk();
  // The next line of a stream of chunks; nullopt at the end, proper or not.
  std::optional<std::string> read_line();
  void send_message(std::string_view message);
  // The next data frame; nullopt when the WebSocket was closed.
  std::optional<std::string> read_message();
  // Closes without a word.
  void drop() { fd_.reset(); }

 private:
  bool receive_more();
  bool have(size_t size);
  std::string take(size_t size);

  ClientOptions options_;
  Fd fd_;
  SSL* ssl_ = nullptr;
  std::string buffer_;
  std::string lines_;
};

inline TestClient::TestClient(uint16_t port, ClientOptions options) : options_(std::move(options)) {
  ::signal(SIGPIPE, SIG_IGN);  // OpenSSL writes where the server may have closed
  fd_ = Fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  timeval patience{kPatienceSeconds, 0};
  ::setsockopt(fd_.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  ::setsockopt(fd_.get(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(fd_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) return;
  SSL_CTX* context = SSL_CTX_new(TLS_client_method());
  BIO* ca = BIO_new_mem_buf(test_tls().ca_certificate.data(), -1);
  X509* authority = PEM_read_bio_X509(ca, nullptr, nullptr, nullptr);
  X509_STORE_add_cert(SSL_CTX_get_cert_store(context), authority);
  X509_free(authority);
  BIO_free(ca);
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
  ssl_ = SSL_new(context);
  SSL_CTX_free(context);
  SSL_set1_host(ssl_, "localhost");
  if (options_.certificate) {
    BIO* text = BIO_new_mem_buf(options_.certificate->certificate.data(), -1);
    X509* own = PEM_read_bio_X509(text, nullptr, nullptr, nullptr);
    BIO_free(text);
    text = BIO_new_mem_buf(options_.certificate->key.data(), -1);
    EVP_PKEY* key = PEM_read_bio_PrivateKey(text, nullptr, nullptr, nullptr);
    BIO_free(text);
    SSL_use_certificate(ssl_, own);
    SSL_use_PrivateKey(ssl_, key);
    X509_free(own);
    EVP_PKEY_free(key);
  }
  SSL_set_fd(ssl_, fd_.get());
  if (SSL_connect(ssl_) != 1) {
    SSL_free(ssl_);
    ssl_ = nullptr;
  }
}

inline bool TestClient::send(std::string_view bytes) {
  return ssl_ != nullptr && SSL_write(ssl_, bytes.data(), static_cast<int>(bytes.size())) > 0;
}

inline bool TestClient::receive_more() {
  char bytes[16384];
  int count = ssl_ == nullptr ? 0 : SSL_read(ssl_, bytes, sizeof bytes);
  if (count <= 0) return false;
  buffer_.append(bytes, static_cast<size_t>(count));
  return true;
}

inline std::string TestClient::receive() {
  if (buffer_.empty()) receive_more();
  return std::exchange(buffer_, "");
}

inline bool TestClient::have(size_t size) {
  while (buffer_.size() < size) {
    if (!receive_more()) return false;
  }
  return true;
}

inline std::string TestClient::take(size_t size) {
  std::string text = buffer_.substr(0, size);
  buffer_.erase(0, size);
  return text;
}

inline void TestClient::start(std::string_view method, std::string_view target, std::string_view body,
                              std::string_view type, const std::map<std::string, std::string>& headers) {
  std::string text = fmt::format("{} {} HTTP/1.1\r\nHost: {}\r\n", method, target, options_.host);
  if (!options_.token.empty()) text += fmt::format("Authorization: Bearer {}\r\n", options_.token);
  if (!body.empty()) text += fmt::format("Content-Type: {}\r\nContent-Length: {}\r\n", type, body.size());
  for (const auto& [name, value] : headers) text += fmt::format("{}: {}\r\n", name, value);
  send(text + "\r\n" + std::string(body));
}

inline Reply TestClient::read_head() {
  Reply reply;
  size_t end = 0;
  while ((end = buffer_.find("\r\n\r\n")) == std::string::npos) {
    if (!receive_more()) return reply;
  }
  std::string head = take(end + 4);
  reply.status = std::stoi(head.substr(9, 3));
  size_t at = head.find("\r\n") + 2;
  while (at + 2 < head.size()) {
    size_t line_end = head.find("\r\n", at);
    std::string line = head.substr(at, line_end - at);
    size_t colon = line.find(':');
    std::string name = line.substr(0, colon);
    std::transform(name.begin(), name.end(), name.begin(), ::tolower);
    std::string& value = reply.headers[name];
    value += (value.empty() ? "" : "; ") + line.substr(std::min(colon + 2, line.size()));
    at = line_end + 2;
  }
  auto length = reply.headers.find("content-length");
  if (length != reply.headers.end() && have(std::stoul(length->second)))
    reply.body = take(std::stoul(length->second));
  return reply;
}

inline Reply TestClient::read_reply() {
  Reply reply = read_head();
  if (!reply.headers.contains("transfer-encoding")) return reply;
  while (std::optional<std::string> chunk = read_chunk()) {
    if (chunk->empty()) break;
    reply.body += *chunk;
  }
  return reply;
}

inline Reply TestClient::call(std::string_view method, std::string_view target, std::string_view body,
                              std::string_view type, const std::map<std::string, std::string>& headers) {
  start(method, target, body, type, headers);
  return read_reply();
}

inline std::optional<std::string> TestClient::read_chunk() {
  size_t end = 0;
  while ((end = buffer_.find("\r\n")) == std::string::npos) {
    if (!receive_more()) return std::nullopt;
  }
  size_t size = std::stoul(take(end + 2), nullptr, 16);
  if (!have(size + 2)) return std::nullopt;
  std::string chunk = take(size);
  take(2);
  return chunk;
}

inline std::optional<std::string> TestClient::read_line() {
  size_t end = 0;
  while ((end = lines_.find('\n')) == std::string::npos) {
    std::optional<std::string> chunk = read_chunk();
    if (!chunk || chunk->empty()) return std::nullopt;
    lines_ += *chunk;
  }
  std::string line = lines_.substr(0, end);
  lines_.erase(0, end + 1);
  return line;
}

inline void TestClient::send_message(std::string_view message) {
  std::string frame = "\x82";  // binary, final
  if (message.size() < 126) {
    frame += static_cast<char>(0x80 | message.size());
  } else {
    const bool is_long = message.size() > 0xffff;
    frame += static_cast<char>(0x80 | (is_long ? 127 : 126));
    for (int shift = is_long ? 56 : 8; shift >= 0; shift -= 8) {
      frame += static_cast<char>(static_cast<uint64_t>(message.size()) >> shift & 0xff);
    }
  }
  frame += std::string(4, '\0');  // a mask of zeros changes nothing
  send(frame + std::string(message));
}

inline std::optional<std::string> TestClient::read_message() {
  while (have(2)) {
    std::string head = take(2);
    size_t size = static_cast<unsigned char>(head[1]) & 0x7f;
    if (size >= 126) {
      size_t bytes = size == 126 ? 2 : 8;
      if (!have(bytes)) return std::nullopt;
      size = 0;
      for (char c : take(bytes)) size = size << 8 | static_cast<unsigned char>(c);
    }
    if (!have(size)) return std::nullopt;
    std::string payload = take(size);
    int code = head[0] & 0x0f;
    if (code == 8) {
      send(std::string("\x88\x80\x00\x00\x00\x00", 6));  // so that the other side need not wait
      return std::nullopt;
    }
    if (code == 1 || code == 2) return payload;
  }
  return std::nullopt;
}

// A hub in memory and a server in front of it.
class TestPlane {
 public:
  explicit TestPlane(ServerLimits limits = {}) {
    hub::Options options;
    options.clock = [] { return kTestNow; };
    hub = hub::Hub::open(std::move(options)).value();
    ServerOptions server_options;
    server_options.tls = test_tls();
    server_options.clock = [] { return kTestNow; };
    server_options.limits = limits;
    Result<std::unique_ptr<Server>> started = Server::start(server_options, *hub, registry, &pods);
    CHECK(started.ok());
    server = std::move(started).value();
  }

  std::unique_ptr<TestClient> client(ClientOptions options = {}) {
    return std::make_unique<TestClient>(server->port(), std::move(options));
  }
  Reply call(std::string_view method, std::string_view target, std::string_view body = "",
             std::string_view type = "application/json",
             const std::map<std::string, std::string>& headers = {}) {
    return client()->call(method, target, body, type, headers);
  }

  std::unique_ptr<hub::Hub> hub;
  Registry registry;
  FakePods pods;
  std::unique_ptr<Server> server;
};

inline std::string config_text(std::string_view name, std::string_view value = "value") {
  return fmt::format(
      R"({{"apiVersion":"v1","kind":"ConfigMap","metadata":{{"name":"{}"}},"data":{{"key":"{}"}}}})", name,
      value);
}
inline std::string pod_text(std::string_view name) {
  return fmt::format(
      R"({{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"{}"}},"spec":{{"containers":[{{"name":"c","image":"i"}}]}}}})",
      name);
}

inline constexpr std::string_view kConfigMapsPath = "/api/v1/namespaces/default/configmaps";
inline constexpr std::string_view kPodsPath = "/api/v1/namespaces/default/pods";

}  // namespace trainyard::server
