// Boost.JSON, compiled into programs that do little else than handle documents.
#include <boost/json/src.hpp>
