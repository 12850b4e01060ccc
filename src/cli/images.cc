#include "cli/images.h"

#include <fmt/format.h>

#include "cli/complain.h"
#include "cli/data_dir.h"
#include "node/image_store.h"

namespace trainyard::cli {
namespace {

Result<node::ImageStore> store_of(const std::string& data_dir) {
  Result<DataDir> dir = data_dir_of(data_dir);
  if (!dir.ok()) return dir.error();
  return node::ImageStore(dir->images());
}

}  // namespace

int pull(const Pull& command, const Console& console) {
  Result<node::ImageStore> store = store_of(command.data_dir);
  if (!store.ok()) return complain(console, store.error());
  for (const std::string& name : command.images) {
    Result<node::Image> image =
        store.value().pull(name, [&](std::string_view line) { console.err << line << std::endl; });
    if (!image.ok()) return complain(console, image.error());
    console.out << fmt::format("{} {}\n", image->name, image->digest);
  }
  return kFine;
}

int import_image(const Import& command, const Console& console) {
  Result<node::ImageStore> store = store_of(command.data_dir);
  if (!store.ok()) return complain(console, store.error());
  Result<node::Image> image = store.value().import(
      command.path, command.name, [&](std::string_view line) { console.err << line << std::endl; });
  if (!image.ok()) return complain(console, image.error());
  console.out << fmt::format("{} {}\n", image->name, image->digest);
  return kFine;
}

int images(const Images& command, const Console& console) {
  Result<node::ImageStore> store = store_of(command.data_dir);
  if (!store.ok()) return complain(console, store.error());
  for (const node::Image& image : store->list())
    console.out << fmt::format("{}  {}\n", image.digest.substr(0, 19), image.name);
  return kFine;
}

}  // namespace trainyard::cli
