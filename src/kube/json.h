// The JSON document type of the whole project, under one short name. Objects keep
// the order their keys were put in, so what is written is what was built.
#pragma once

#include <boost/json.hpp>

namespace trainyard {
namespace json = boost::json;
}
