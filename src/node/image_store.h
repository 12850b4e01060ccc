// ImageStore: the images of this machine, kept by digest below one folder:
//   oci/                    an OCI layout with the blobs of all of them
//   roots/<digest>/rootfs   each unpacked once; roots/<digest>/image.json says how it is run
//   names.json              full name -> digest
//
// Several processes may use one store: what changes it holds the file `lock`, and names.json
// is replaced in one step. An image in names.json is whole. Any thread, one at a time.
//
// Brings images with skopeo and unpacks them with umoci; says so when they are missing.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "kube/json.h"
#include "node/image_name.h"
#include "node/oci_spec.h"

namespace trainyard::node {

struct Image {
  std::string name;    // in full
  std::string digest;  // "sha256:<hex>"
  std::filesystem::path root;
  ImageConfig config;
};

// What an image's configuration blob says. Pure.
ImageConfig read_image_config(const json::object& blob);

class ImageStore {
 public:
  using Progress = std::function<void(std::string_view line)>;

  explicit ImageStore(std::filesystem::path folder);

  // The image that a pod's `image` names; nullopt when it is not here.
  std::optional<Image> find(std::string_view written) const;
  std::vector<Image> list() const;  // by name

  // Brings it from its registry, again if it is here. Blocks until it is unpacked.
  Result<Image> pull(std::string_view written, const Progress& progress);
  // An OCI layout ("dir" or "dir:tag") or a plain folder that is to be a root file system.
  Result<Image> import(const std::filesystem::path& from, std::string_view name, const Progress& progress);
  // Forgets the name, and what no other name needs. kConflict while a container runs on it.
  Result<Done> remove(std::string_view written);

 private:
  std::filesystem::path layout() const { return folder_ / "oci"; }
  std::filesystem::path root_folder(std::string_view digest) const;
  std::map<std::string, std::string> names() const;
  Result<Done> write_names(const std::map<std::string, std::string>& names) const;
  Result<Image> open(const std::string& name, const std::string& digest) const;
  Result<json::object> blob(std::string_view digest) const;
  Result<std::string> digest_of_tag(std::string_view tag) const;
  Result<Done> unpack(const std::string& digest, const std::string& tag, const Progress& progress) const;
  // From a tag of the layout to an image with a name.
  Result<Image> adopt(const std::string& name, const std::string& tag, const Progress& progress);
  Result<Done> copy(const std::vector<std::string>& source, const std::string& tag,
                    const Progress& progress) const;
  Result<Done> pack(const std::filesystem::path& from, const std::string& tag,
                    const Progress& progress) const;

  std::filesystem::path folder_;
};

}  // namespace trainyard::node
