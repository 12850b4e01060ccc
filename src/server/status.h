// Status: how the API says what happened, in the words that clients match on. Pure values.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "kube/json.h"
#include "kube/meta.h"

namespace trainyard::server {

struct StatusCause {
  std::string reason;
  std::string message;
  std::string field;
  bool operator==(const StatusCause&) const = default;
};

struct Status {
  int code = 200;
  std::string reason;  // "" for a success
  std::string message;
  // Details: whom it is about. `kind` is the plural name for errors, as the real server has it.
  std::string name;
  std::string group;
  std::string kind;
  std::string uid;
  std::vector<StatusCause> causes;
  std::string continue_token;       // with which a list can go on that is too old
  int64_t retry_after_seconds = 0;  // above 0: also the header Retry-After

  bool operator==(const Status&) const = default;
};

json::object to_json(const Status& status);

// What an error of the hub is called. `name` is of the object that was asked for; "" for a
// collection. kInvalid is 422 Invalid here: what cannot even be read is bad_request().
// An apply's conflict ("Apply failed with ...") gets its causes. store::bad_request() is 400.
Status status_of(const Error& error, const kube::Resource& resource, std::string_view name);

// What is wrong with a query: 400, or with causes 422 about the options of that name
// ("ListOptions").
Status status_of_query(const Error& error, std::string_view options);

// A deletion that is done: Success with the object's name, plural and uid.
Status deleted(const kube::Resource& resource, std::string_view name, std::string_view uid);

Status bad_request(std::string message);  // 400
Status unauthorized();                    // 401
Status forbidden(std::string message);    // 403
Status path_not_found();                  // 404, no such URL
Status not_found(const kube::Resource& resource, std::string_view name);
Status method_not_allowed(const kube::Resource* resource, std::string_view verb);  // 405
// 406, with what would be acceptable.
Status not_acceptable(const std::vector<std::string_view>& media_types);
Status expired(std::string message);                                                                    // 410
Status body_too_large(int64_t bytes_max);                                                               // 413
Status unsupported_media_type(std::string_view was, const std::vector<std::string_view>& media_types);  // 415
Status invalid(const kube::Resource& resource, std::string_view name, std::string_view what,
               std::vector<StatusCause> causes = {});                        // 422
Status too_many_requests(std::string message, int64_t retry_after_seconds);  // 429
Status internal_error(std::string_view what);                                // 500
Status unavailable(std::string message);                                     // 503
Status timeout(std::string message, int64_t retry_after_seconds);            // 504
// A resourceVersion that is yet to come: 504 with the cause ResourceVersionTooLarge.
Status version_too_large(int64_t asked, int64_t current);

// How a command ended, on the error channel of exec: Success, or NonZeroExitCode with the code.
Status exit_status(int exit_code);

}  // namespace trainyard::server
