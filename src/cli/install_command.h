// Install: `trainyard install` as it was asked for. Value.
#pragma once

#include "deploy/install.h"

namespace trainyard::cli {

struct Install {
  deploy::InstallOptions options;

  bool operator==(const Install&) const = default;
};

}  // namespace trainyard::cli
