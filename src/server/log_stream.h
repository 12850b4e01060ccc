// A log as the bytes of an answer: pulled from its reader, again and again while following.
#pragma once

#include <memory>

#include "server/http.h"
#include "server/pod_access.h"

namespace trainyard::server {

std::shared_ptr<Stream> log_stream(std::unique_ptr<LogReader> reader);

}  // namespace trainyard::server
