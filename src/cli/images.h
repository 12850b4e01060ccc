// `trainyard pull`, `import` and `images`: the images of this machine.
#pragma once

#include "cli/commands.h"
#include "cli/console.h"

namespace trainyard::cli {

int pull(const Pull& command, const Console& console);
int import_image(const Import& command, const Console& console);
int images(const Images& command, const Console& console);

}  // namespace trainyard::cli
