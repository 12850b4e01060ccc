// Tokens: the administrator's one, and those that service accounts ask for, which are
// signed by it (JWT, HS256) and so need no memory. Comparing takes the same time whatever
// differs. Thread-safe: nothing changes.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"
#include "server/reviews.h"

namespace trainyard::server {

class Tokens {
 public:
  // REQUIRES: `secret` is not empty.
  explicit Tokens(std::string secret);

  // Who comes with this token; nullopt for nobody.
  std::optional<User> user_of(std::string_view token, Time now) const;
  // For system:serviceaccount:<ns>:<name>.
  std::string issue(std::string_view ns, std::string_view account, std::string_view uid, Time now,
                    Time expires) const;

 private:
  std::string secret_;
};

// The one that the administrator's token and certificate stand for.
User administrator();

}  // namespace trainyard::server
