// Gate: who may come in. Every request shows the token or a certificate of our authority;
// only the health pages are open. A request must call us by one of our own names, and one
// that a browser sends for another site is refused (DNS rebinding, cross-site requests).
// Thread-safe: nothing changes.
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/time.h"
#include "server/http.h"
#include "server/status.h"
#include "server/tokens.h"

namespace trainyard::server {

class Gate {
 public:
  Gate(std::string token, std::vector<std::string> names)
      : tokens_(std::move(token)), names_(std::move(names)) {}

  // Whether it is sent to us and by us: nullopt when all is well.
  std::optional<Status> check_address(const HttpRequest& request) const;
  // Who sends it; nullopt for nobody we know.
  std::optional<User> who(const HttpRequest& request, Time now) const;
  const Tokens& tokens() const { return tokens_; }

 private:
  Tokens tokens_;
  std::vector<std::string> names_;
};

// "localhost:80" and "[::1]:80" without the port; "" when it is no host at all.
std::string_view host_without_port(std::string_view host);

}  // namespace trainyard::server
