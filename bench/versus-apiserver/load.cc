// Load on a Kubernetes API over HTTP/1.1 and TLS, the same for any server: kept connections, each with one
// request under way at any time, requests made beforehand as text. One thread serves all connections, so that
// the server is what is measured and not the switches between the threads of its clients.
//
//   plane_load creates PORT CA_FILE TOKEN CONNECTIONS SECONDS PREFIX
//   plane_load watch   PORT CA_FILE TOKEN EVENTS PREFIX
//
// creates: durable creates of pods (1.3 KB, gated so that nobody runs them); prints how many per
// second, the median and 99th percentile of their delay, and this program's own CPU seconds.
// watch: creates pods one after another; prints how long after the request left a watcher read of it,
// and how long after the answer came (negative: before).
#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/tcp.h>
#include <openssl/ssl.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

[[noreturn]] void give_up(const std::string& why) {
  fmt::print(stderr, "plane_load: {}\n", why);
  std::exit(1);
}

struct Target {
  int port = 0;
  std::string ca_file;
  std::string token;
};

// One connection. Blocking.
class Line {
 public:
  explicit Line(const Target& target) {
    context_ = SSL_CTX_new(TLS_client_method());
    if (SSL_CTX_load_verify_locations(context_, target.ca_file.c_str(), nullptr) != 1) {
      give_up("cannot read " + target.ca_file);
    }
    SSL_CTX_set_verify(context_, SSL_VERIFY_PEER, nullptr);
    SSL_CTX_set_read_ahead(context_, 1);  // a record in one read, not its header first
    socket_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(static_cast<uint16_t>(target.port));
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::connect(socket_, reinterpret_cast<sockaddr*>(&to), sizeof to) != 0) give_up("cannot connect");
    int on = 1;
    ::setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    ssl_ = SSL_new(context_);
    SSL_set_fd(ssl_, socket_);
    if (SSL_connect(ssl_) != 1) give_up("no TLS");
  }
  Line(const Line&) = delete;
  Line& operator=(const Line&) = delete;
  ~Line() {
    SSL_free(ssl_);
    ::close(socket_);
    SSL_CTX_free(context_);
  }

  void send(const std::string& text) {
    if (SSL_write(ssl_, text.data(), static_cast<int>(text.size())) <= 0) give_up("the connection broke");
  }
  // Whatever has come, at least one byte; "" at the end. Good until the next read.
  std::string_view some() {
    used_ = 0;
    return more() ? received() : std::string_view();
  }
  // Begins to read an answer.
  void expect() { used_ = 0; }
  // Reads what has come of the answer; whether that is all of it. Waits when nothing has come.
  bool take() {
    do {
      must_read_more();
      if (is_whole()) return true;
    } while (SSL_has_pending(ssl_) == 1);
    return false;
  }
  // Reads one whole answer and gives its status.
  int answer() {
    expect();
    while (!take()) {
    }
    return status();
  }
  // Of the last answer.
  int status() const { return std::atoi(buffer_.data() + sizeof "HTTP/1.1"); }
  std::string body() const { return std::string(received().substr(body_at_)); }
  int socket() const { return socket_; }

 private:
  std::string_view received() const { return {buffer_.data(), used_}; }

  bool is_whole() {
    const size_t head = received().find("\r\n\r\n");
    if (head == std::string_view::npos) return false;
    body_at_ = head + 4;
    if (std::optional<size_t> length = content_length(received().substr(0, head))) {
      return used_ >= body_at_ + *length;
    }
    return received().ends_with("0\r\n\r\n");
  }

  static std::optional<size_t> content_length(std::string_view header) {
    static constexpr std::string_view kName = "\r\ncontent-length:";
    auto found = std::search(header.begin(), header.end(), kName.begin(), kName.end(),
                             [](char a, char b) { return (a | 0x20) == (b | 0x20); });
    if (found == header.end()) return std::nullopt;
    return std::strtoul(&*found + kName.size(), nullptr, 10);
  }

  // False at the end.
  bool more() {
    if (buffer_.size() - used_ < kReadBytes) buffer_.resize(used_ + 2 * kReadBytes);
    int size = SSL_read(ssl_, buffer_.data() + used_, kReadBytes);
    if (size > 0) used_ += static_cast<size_t>(size);
    return size > 0;
  }
  void must_read_more() {
    if (!more()) give_up("the connection was closed");
  }

  static constexpr int kReadBytes = 16384;

  SSL_CTX* context_ = nullptr;
  SSL* ssl_ = nullptr;
  int socket_ = -1;
  std::string buffer_;
  size_t used_ = 0;  // of the buffer
  size_t body_at_ = 0;
};

std::string pod(const std::string& name) {
  std::string env;
  for (int i = 0; i < 6; ++i) {
    env += fmt::format(
        R"({}{{"name":"VARIABLE_{}","value":"some value of that variable, long enough to count"}})",
        i == 0 ? "" : ",", i);
  }
  return fmt::format(
      R"({{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"{}","labels":{{)"
      R"("training.kubeflow.org/job-name":"mnist","training.kubeflow.org/replica-type":"worker",)"
      R"("training.kubeflow.org/replica-index":"3"}}}},"spec":{{"restartPolicy":"Never",)"
      R"("schedulingGates":[{{"name":"example.com/never"}}],"containers":[{{"name":"tensorflow",)"
      R"("image":"tensorflow/tensorflow:2.12.0","command":["python","/train.py"],"env":[{}]}}]}}}})",
      name, env);
}

std::string create(const Target& target, const std::string& name) {
  std::string body = pod(name);
  return fmt::format(
      "POST /api/v1/namespaces/default/pods HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nAuthorization: Bearer {}\r\n"
      "Content-Type: application/json\r\nAccept: application/json\r\nContent-Length: {}\r\n\r\n{}",
      target.port, target.token, body.size(), body);
}

// Creates of pods that differ in the number at the end of their name, which is written into one text.
class Creates {
 public:
  Creates(const Target& target, const std::string& prefix)
      : text_(create(target, prefix + std::string(kDigits, '0'))),
        number_(text_.find(prefix + std::string(kDigits, '0')) + prefix.size()) {}

  const std::string& number(int i) {
    fmt::format_to(text_.begin() + static_cast<std::ptrdiff_t>(number_), "{:0{}}", i, kDigits);
    return text_;
  }

 private:
  static constexpr int kDigits = 8;
  std::string text_;
  size_t number_;
};

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

double at(std::vector<double>& sorted, double part) {
  std::sort(sorted.begin(), sorted.end());
  return sorted.empty() ? 0 : sorted[static_cast<size_t>(part * static_cast<double>(sorted.size() - 1))];
}

// A connection that creates one pod after the other.
struct Creator {
  Line line;
  Creates requests;
  int made = 0;
  Clock::time_point sent;

  Creator(const Target& target, const std::string& prefix) : line(target), requests(target, prefix) {}

  void send_next() {
    sent = Clock::now();
    line.send(requests.number(made++));
    line.expect();
  }
};

// How long each took, in milliseconds.
std::vector<double> create_until(std::vector<std::unique_ptr<Creator>>& creators, Clock::time_point end) {
  std::vector<double> delays;
  const int ready = ::epoll_create1(EPOLL_CLOEXEC);
  for (const std::unique_ptr<Creator>& creator : creators) {
    epoll_event wanted{EPOLLIN, {.ptr = creator.get()}};
    if (::epoll_ctl(ready, EPOLL_CTL_ADD, creator->line.socket(), &wanted) != 0) give_up("cannot wait");
    creator->send_next();
  }
  std::vector<epoll_event> events(creators.size());
  for (size_t busy = creators.size(); busy > 0;) {
    const int count = ::epoll_wait(ready, events.data(), static_cast<int>(events.size()), -1);
    for (int i = 0; i < count; ++i) {
      Creator& creator = *static_cast<Creator*>(events[static_cast<size_t>(i)].data.ptr);
      if (!creator.line.take()) continue;
      if (int status = creator.line.status(); status != 201) {
        give_up(fmt::format("answered {}: {}", status, creator.line.body()));
      }
      delays.push_back(seconds_since(creator.sent) * 1e3);
      if (Clock::now() < end) {
        creator.send_next();
      } else {
        --busy;
      }
    }
  }
  ::close(ready);
  return delays;
}

double own_cpu_seconds() {
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  return static_cast<double>(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
         static_cast<double>(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
}

void creates(const Target& target, int connections, double seconds, const std::string& prefix) {
  std::vector<std::unique_ptr<Creator>> creators;
  for (int n = 0; n < connections; ++n) {
    creators.push_back(std::make_unique<Creator>(target, fmt::format("{}-{}-", prefix, n)));
  }
  const Clock::time_point start = Clock::now();
  const auto span = std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  std::vector<double> delays = create_until(creators, start + span);
  const double taken = seconds_since(start);
  fmt::print("{:.1f} {:.3f} {:.3f} {:.2f}\n", static_cast<double>(delays.size()) / taken, at(delays, 0.5),
             at(delays, 0.99), own_cpu_seconds());
}

// Reads the stream and notes when each name came by.
void follow(Line& line, const std::string& prefix, int events, std::map<int, Clock::time_point>& seen) {
  const std::string wanted = fmt::format("\"name\":\"{}-", prefix);
  std::string text;
  while (static_cast<int>(seen.size()) < events) {
    std::string_view next = line.some();
    if (next.empty()) give_up("the watch ended");
    Clock::time_point now = Clock::now();
    text += next;
    size_t from = 0;
    for (size_t found; (found = text.find(wanted, from)) != std::string::npos; from = found + wanted.size()) {
      seen.emplace(std::atoi(text.c_str() + found + wanted.size()), now);
    }
    if (text.size() > 100) text.erase(0, text.size() - 100);
  }
}

std::string version_in(const std::string& object) {
  const std::string member = R"("resourceVersion":")";
  size_t from = object.find(member) + member.size();
  return object.substr(from, object.find('"', from) - from);
}

// From now on: what was there before is not read first.
void watch(const Target& target, int events, const std::string& prefix) {
  Line line(target);
  line.send(create(target, "before-" + prefix));
  if (line.answer() != 201) give_up(line.body());
  Line stream(target);
  stream.send(
      fmt::format("GET /api/v1/namespaces/default/pods?watch=1&resourceVersion={} HTTP/1.1\r\nHost: "
                  "127.0.0.1:{}\r\nAuthorization: Bearer {}\r\nAccept: application/json\r\n\r\n",
                  version_in(line.body()), target.port, target.token));
  std::map<int, Clock::time_point> seen;
  std::thread follower([&] { follow(stream, prefix, events, seen); });
  std::map<int, Clock::time_point> sent;
  std::map<int, Clock::time_point> answered;
  for (int i = 0; i < events; ++i) {
    sent[i] = Clock::now();
    line.send(create(target, fmt::format("{}-{}", prefix, i)));
    if (line.answer() != 201) give_up(line.body());
    answered[i] = Clock::now();
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  follower.join();
  std::vector<double> after_sent;
  std::vector<double> after_answer;
  for (int i = 0; i < events; ++i) {
    after_sent.push_back(std::chrono::duration<double, std::milli>(seen[i] - sent[i]).count());
    after_answer.push_back(std::chrono::duration<double, std::milli>(seen[i] - answered[i]).count());
  }
  fmt::print("{:.3f} {:.3f} {:.3f} {:.3f}\n", at(after_sent, 0.5), at(after_sent, 0.99),
             at(after_answer, 0.5), at(after_answer, 0.99));
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  if (what == "creates" && argc == 8) {
    creates({std::atoi(argv[2]), argv[3], argv[4]}, std::atoi(argv[5]), std::atof(argv[6]), argv[7]);
  } else if (what == "watch" && argc == 7) {
    watch({std::atoi(argv[2]), argv[3], argv[4]}, std::atoi(argv[5]), argv[6]);
  } else {
    give_up("usage: creates PORT CA TOKEN CONNECTIONS SECONDS PREFIX | watch PORT CA TOKEN EVENTS PREFIX");
  }
}
