// Call: one request on its way to an answer: what was understood of it so far, and how to
// answer. Shared by the steps that a request takes through the hub; one step runs at a time.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "kube/json.h"
#include "kube/request.h"
#include "server/http.h"
#include "server/negotiate.h"
#include "server/registry.h"
#include "server/reviews.h"
#include "server/route.h"
#include "server/status.h"
#include "server/table.h"
#include "server/uri.h"

namespace trainyard::server {

struct Call {
  HttpRequest request;
  Uri uri;
  User user;
  Time now;
  Respond respond;
  Run run;  // where the answer is made, unless that takes long
  // Of requests about a resource.
  ResourcePath path;
  const ApiResource* api = nullptr;
  ObjectForm form;
  IncludeObject include = IncludeObject::kMetadata;
  std::vector<std::string> warnings;  // told in Warning headers

  const Query& query() const { return uri.query; }
};
using CallRef = std::shared_ptr<Call>;

// How much of a Warning is sent.
inline constexpr size_t kWarningsMax = 20;
inline constexpr size_t kWarningLengthMax = 512;

// What a request to write says besides its body: its query, and by what program it was sent.
Result<kube::WriteOptions> write_options_of(const Call& call,
                                            std::optional<kube::PatchKind> patch = std::nullopt);

HttpResponse response_of(const Status& status);
HttpResponse response_of(const json::value& body, int status = 200);

// Each answers the call; nothing else may after it.
void refuse(const CallRef& call, const Status& status);
void answer(const CallRef& call, HttpResponse response);
void answer(const CallRef& call, const json::value& body, int status = 200);
// In the form that the client asked for.
// `text` is the object as JSON, where somebody has it already.
void answer_object(const CallRef& call, const ObjectRef& object, int status = 200, std::string text = "");
void answer_list(const CallRef& call, const std::vector<ObjectRef>& items, const ListMeta& meta);

// The object as this version of the API shows it; the same one when nothing differs.
ObjectRef presented(const ApiResource& api, const ObjectRef& object);

// A text that may stand in a Warning header, in quotes.
std::string quoted_warning(std::string_view text);

}  // namespace trainyard::server
