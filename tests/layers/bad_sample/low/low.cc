#include "high/high.h"
#include "beside.h"
#include <yaml-cpp/yaml.h>
#include <string>
