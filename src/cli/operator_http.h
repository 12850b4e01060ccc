// OperatorHttp: a listener that answers GET with small pages of text, for probes and for
// Prometheus. Plain HTTP, one page per connection, one thread for all. Resource.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <thread>

#include "base/fd.h"
#include "base/result.h"

namespace trainyard::cli {

struct Page {
  int status = 200;
  std::string body;
  std::string_view type = "text/plain; charset=utf-8";
};

// "host:port", ":port" for every address, "[::1]:port". kInvalid otherwise.
struct ListenAddress {
  std::string host;  // "" for every address
  int port = 0;

  bool operator==(const ListenAddress&) const = default;
};
Result<ListenAddress> read_listen_address(std::string_view text);

class OperatorHttp {
 public:
  // `answer` is asked on the listener's thread with the path, without its query.
  using Answer = std::function<Page(std::string_view path)>;
  static Result<std::unique_ptr<OperatorHttp>> start(std::string_view address, Answer answer);
  ~OperatorHttp();
  OperatorHttp(const OperatorHttp&) = delete;
  OperatorHttp& operator=(const OperatorHttp&) = delete;

  int port() const { return port_; }

 private:
  OperatorHttp() = default;
  void run();

  Answer answer_;
  Fd listener_;
  Fd stop_read_;
  Fd stop_write_;
  int port_ = 0;
  std::thread thread_;
};

}  // namespace trainyard::cli
