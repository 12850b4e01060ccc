// A small server for tests of HttpClient: what it answers, and how it misbehaves, is a
// function of the test's. Plain sockets and OpenSSL, a thread per connection, loopback
// alone. For tests only.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/fd.h"
#include "client/http_client.h"
#include "kube/objects.h"

namespace trainyard::client {

struct Pem {
  std::string certificate;
  std::string key;
};

// A certificate for these names ("DNS:a,IP:127.0.0.1"), signed by `issuer` or by itself.
class Certificates {
 public:
  // Authorities that one client is to tell apart have names of their own.
  explicit Certificates(const char* authority = "CN-authority") {
    authority_ = make(authority, "", true, nullptr, nullptr, ca_key_, ca_);
  }
  // An authority that another has signed.
  Certificates(const char* authority, const Certificates& above) {
    authority_ = make(authority, "", true, above.ca_, above.ca_key_, ca_key_, ca_);
  }
  ~Certificates() {
    X509_free(ca_);
    EVP_PKEY_free(ca_key_);
  }
  Certificates(const Certificates&) = delete;
  Certificates& operator=(const Certificates&) = delete;

  const std::string& authority() const { return authority_.certificate; }
  Pem issue(const char* name, const char* alternatives) {
    EVP_PKEY* key = nullptr;
    X509* certificate = nullptr;
    Pem pem = make(name, alternatives, false, ca_, ca_key_, key, certificate);
    X509_free(certificate);
    EVP_PKEY_free(key);
    return pem;
  }

 private:
  static std::string text_of(BIO* memory) {
    char* data = nullptr;
    long size = BIO_get_mem_data(memory, &data);
    std::string text(data, static_cast<size_t>(size));
    BIO_free(memory);
    return text;
  }
  static void extend(X509* certificate, X509* issuer, int which, const char* value) {
    X509V3_CTX context;
    X509V3_set_ctx_nodb(&context);
    X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
    X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, &context, which, value);
    X509_add_ext(certificate, extension, -1);
    X509_EXTENSION_free(extension);
  }
  static Pem make(const char* name, const std::string& alternatives, bool is_authority, X509* issuer,
                  EVP_PKEY* issuer_key, EVP_PKEY*& key, X509*& certificate) {
    key = EVP_EC_gen("P-256");
    certificate = X509_new();
    X509_set_version(certificate, 2);
    static std::atomic<long> serial{1};
    ASN1_INTEGER_set(X509_get_serialNumber(certificate), serial++);
    X509_gmtime_adj(X509_getm_notBefore(certificate), -3600);
    X509_gmtime_adj(X509_getm_notAfter(certificate), 86'400);
    X509_set_pubkey(certificate, key);
    X509_NAME* subject = X509_get_subject_name(certificate);
    X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC, reinterpret_cast<const unsigned char*>(name), -1,
                               -1, 0);
    X509_set_issuer_name(certificate, issuer == nullptr ? subject : X509_get_subject_name(issuer));
    extend(certificate, issuer == nullptr ? certificate : issuer, NID_basic_constraints,
           is_authority ? "critical,CA:TRUE" : "CA:FALSE");
    if (!alternatives.empty()) extend(certificate, issuer, NID_subject_alt_name, alternatives.c_str());
    X509_sign(certificate, issuer_key == nullptr ? key : issuer_key, EVP_sha256());
    BIO* memory = BIO_new(BIO_s_mem());
    PEM_write_bio_X509(memory, certificate);
    Pem pem{text_of(memory), ""};
    memory = BIO_new(BIO_s_mem());
    PEM_write_bio_PrivateKey(memory, key, nullptr, nullptr, 0, nullptr, nullptr);
    pem.key = text_of(memory);
    return pem;
  }

  EVP_PKEY* ca_key_ = nullptr;
  X509* ca_ = nullptr;
  Pem authority_;
};

// A request as it came.
struct Heard {
  std::string method;
  std::string target;
  std::map<std::string, std::string>
      headers;  // names in lower case; of several with one name all, with commas
  std::string body;
  std::string peer;  // the common name of the client's certificate, "" without one
};

// One accepted connection.
class Peer {
 public:
  explicit Peer(Fd fd) : fd_(std::move(fd)) {}
  ~Peer() { SSL_free(ssl_); }
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;

  // For a second time: within the TLS that there is.
  bool greet(SSL_CTX* context) {
    SSL* outer = std::exchange(ssl_, SSL_new(context));
    if (outer == nullptr) {
      SSL_set_fd(ssl_, fd_.get());
    } else {
      BIO* tunnel = BIO_new(BIO_f_ssl());
      BIO_set_ssl(tunnel, outer, BIO_CLOSE);
      SSL_set_bio(ssl_, tunnel, tunnel);
    }
    return SSL_accept(ssl_) == 1;
  }
  void send(std::string_view bytes) {
    if (ssl_ != nullptr) {
      SSL_write(ssl_, bytes.data(), static_cast<int>(bytes.size()));
    } else {
      ::send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    }
  }
  void answer(int status, const std::string& body, const std::string& more_headers = "") {
    send(fmt::format("HTTP/1.1 {} X\r\nContent-Type: application/json\r\nContent-Length: {}\r\n{}\r\n{}",
                     status, body.size(), more_headers, body));
  }
  void begin_chunks() { send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"); }
  void chunk(std::string_view bytes) { send(fmt::format("{:x}\r\n{}\r\n", bytes.size(), bytes)); }
  // What comes next, "" at the end.
  std::string receive() {
    char piece[4096];
    ssize_t got =
        ssl_ != nullptr ? SSL_read(ssl_, piece, sizeof piece) : recv(fd_.get(), piece, sizeof piece, 0);
    return got <= 0 ? "" : std::string(piece, static_cast<size_t>(got));
  }
  std::string exactly(size_t count) {
    while (buffered_.size() < count) {
      std::string more = receive();
      if (more.empty()) return "";
      buffered_ += more;
    }
    std::string taken = buffered_.substr(0, count);
    buffered_.erase(0, count);
    return taken;
  }
  // False at the end.
  bool hear(Heard& heard) {
    size_t end = 0;
    while ((end = buffered_.find("\r\n\r\n")) == std::string::npos) {
      std::string more = receive();
      if (more.empty()) return false;
      buffered_ += more;
    }
    std::string head = exactly(end + 4);
    heard = {};
    heard.method = head.substr(0, head.find(' '));
    size_t target = head.find(' ') + 1;
    heard.target = head.substr(target, head.find(' ', target) - target);
    for (size_t at = head.find("\r\n") + 2; at + 2 < head.size(); at = head.find("\r\n", at) + 2) {
      size_t colon = head.find(':', at);
      std::string name = head.substr(at, colon - at);
      for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
      std::string& value = heard.headers[name];
      if (!value.empty()) value += ", ";
      value += head.substr(colon + 2, head.find("\r\n", at) - colon - 2);
    }
    if (heard.headers.contains("content-length"))
      heard.body = exactly(std::stoul(heard.headers["content-length"]));
    heard.peer = peer_name();
    return true;
  }
  void hang_up() { shutdown(fd_.get(), SHUT_RDWR); }

 private:
  std::string peer_name() const {
    if (ssl_ == nullptr) return "";
    X509* certificate = SSL_get1_peer_certificate(ssl_);
    if (certificate == nullptr) return "";
    char name[100] = "";
    X509_NAME_get_text_by_NID(X509_get_subject_name(certificate), NID_commonName, name, sizeof name);
    X509_free(certificate);
    return name;
  }

  Fd fd_;
  SSL* ssl_ = nullptr;
  std::string buffered_;
};

// What a server shows of itself. REQUIRES: SSL_CTX_free.
inline SSL_CTX* server_context(const Pem& pem) {
  SSL_CTX* context = SSL_CTX_new(TLS_server_method());
  BIO* certificate = BIO_new_mem_buf(pem.certificate.data(), static_cast<int>(pem.certificate.size()));
  BIO* key = BIO_new_mem_buf(pem.key.data(), static_cast<int>(pem.key.size()));
  X509* x509 = PEM_read_bio_X509(certificate, nullptr, nullptr, nullptr);
  EVP_PKEY* pkey = PEM_read_bio_PrivateKey(key, nullptr, nullptr, nullptr);
  SSL_CTX_use_certificate(context, x509);
  SSL_CTX_use_PrivateKey(context, pkey);
  X509_free(x509);
  EVP_PKEY_free(pkey);
  BIO_free(certificate);
  BIO_free(key);
  return context;
}

class TestServer {
 public:
  // Answers one request; false: the connection is closed.
  using Handler = std::function<bool(Peer& peer, const Heard& heard)>;

  // TLS when a certificate is given; clients' certificates are asked for and must be `authority`'s.
  // `before` speaks on a new connection first; false: it is closed.
  explicit TestServer(Handler handler, const Pem* pem = nullptr, const std::string& authority = "",
                      std::function<bool(Peer&)> before = nullptr)
      : handler_(std::move(handler)), before_(std::move(before)) {
    if (pem != nullptr) use_tls(*pem, authority);
    listener_ = Fd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    CHECK(bind(listener_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
    listen(listener_.get(), 64);
    getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    acceptor_ = std::thread([this] { accept_all(); });
  }
  ~TestServer() {
    stopping_ = true;
    shutdown(listener_.get(), SHUT_RDWR);
    acceptor_.join();
    {
      std::scoped_lock lock(mutex_);
      for (Peer* peer : open_) peer->hang_up();
    }
    for (std::thread& thread : threads_) thread.join();
    SSL_CTX_free(context_);
  }
  TestServer(const TestServer&) = delete;
  TestServer& operator=(const TestServer&) = delete;

  int port() const { return port_; }
  int connections() const { return connections_; }
  std::string url() const {
    return fmt::format("{}://127.0.0.1:{}", context_ == nullptr ? "http" : "https", port_);
  }

 private:
  void use_tls(const Pem& pem, const std::string& authority) {
    context_ = server_context(pem);
    if (authority.empty()) return;
    BIO* ca = BIO_new_mem_buf(authority.data(), static_cast<int>(authority.size()));
    X509* x509 = PEM_read_bio_X509(ca, nullptr, nullptr, nullptr);
    X509_STORE_add_cert(SSL_CTX_get_cert_store(context_), x509);
    X509_free(x509);
    BIO_free(ca);
    SSL_CTX_set_verify(context_, SSL_VERIFY_PEER, nullptr);
  }
  void accept_all() {
    while (!stopping_) {
      int fd = accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC);
      if (fd < 0) continue;
      ++connections_;
      threads_.emplace_back([this, fd] { serve(Fd(fd)); });
    }
  }
  void serve(Fd fd) {
    Peer peer(std::move(fd));
    {
      std::scoped_lock lock(mutex_);
      if (stopping_) return;
      open_.push_back(&peer);
    }
    if ((!before_ || before_(peer)) && (context_ == nullptr || peer.greet(context_))) {
      Heard heard;
      while (peer.hear(heard) && handler_(peer, heard)) {
      }
    }
    std::scoped_lock lock(mutex_);
    open_.remove(&peer);
  }

  // Fixed.
  Handler handler_;
  std::function<bool(Peer&)> before_;
  SSL_CTX* context_ = nullptr;
  Fd listener_;
  int port_ = 0;
  // State.
  std::atomic<bool> stopping_{false};
  std::atomic<int> connections_{0};
  std::mutex mutex_;
  std::list<Peer*> open_;
  std::list<std::thread> threads_;  // of the acceptor, then of the destructor
  std::thread acceptor_;
};

// ---- what tests send and wait for ------------------------------------------------------

inline constexpr const char* kHeardPod =
    R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","namespace":"ns","resourceVersion":"5"}})";

inline Access access_to(const TestServer& server) {
  Access access;
  access.where = "context 'test' of f";
  access.server = server.url();
  return access;
}

inline std::unique_ptr<HttpClient> client_of(const Access& access, HttpOptions options = {}) {
  Result<std::unique_ptr<HttpClient>> made = HttpClient::make(access, std::move(options));
  CHECK(made.ok());
  return std::move(made).value();
}

inline kube::Request get_pod() { return {kube::kPods, "ns", kube::Get{"p"}}; }
inline kube::Request create_pod() {
  return {kube::kPods, "ns", kube::Create{json::parse(kHeardPod).get_object()}};
}

inline constexpr std::chrono::seconds kMailPatience{20};

// Things told on another thread, waited for.
template <typename T>
class Mailbox {
 public:
  void put(T item) {
    std::scoped_lock lock(mutex_);
    items_.push_back(std::move(item));
    changed_.notify_all();
  }
  std::optional<T> take() {
    std::unique_lock lock(mutex_);
    if (!changed_.wait_for(lock, kMailPatience, [&] { return !items_.empty(); })) return std::nullopt;
    T item = std::move(items_.front());
    items_.pop_front();
    return item;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<T> items_;
};

}  // namespace trainyard::client
